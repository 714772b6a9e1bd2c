/*
 * Functions without a body here have declarations, and these may promise const. Bitcode has no
 * source types of such functions, so the index of the sources tells.
 */
#include "technique/mutability/declared.h"
#include "base/map.h"
#include "base/mem.h"
#include "ast/ast.h"
#include <assert.h>
#include <stdlib.h>

struct Declared {
    AstIndex *ix;
    Map by_name;             /* -> AstFunction; `several` if there are two of a name */
};

static const AstFunction several;

Declared *declared_new(Session *s)
{
    AstIndex *ix = session_open_ast(s, session_workspace(s), session_root(s), NULL, 0, &(Err){ 0 });
    if (!ix)
        return NULL;
    Declared *d = xcalloc(1, sizeof *d);
    d->ix = ix;
    for (size_t i = 0; i < ix->nfunctions; i++) {
        const AstFunction *f = ix->functions[i];
        if (f->kind == AST_FUNCTION && !f->internal && f->name)
            map_put(&d->by_name, f->name,
                    map_has(&d->by_name, f->name) ? (void *)&several : (void *)f);
    }
    return d;
}

void declared_free(Declared *d)
{
    if (!d)
        return;
    map_release(&d->by_name);
    ast_close(d->ix);
    free(d);
}

static bool is_const(const AstFunction *f, unsigned nparams, unsigned param)
{
    if (!f->prototyped || f->nparams != nparams || param >= nparams)
        return false;
    const AstType *t = f->params[param].type;
    return t && t->kind == AST_POINTER && t->pointee && t->pointee->is_const;
}

bool declared_takes_const(const char *function, unsigned nparams, unsigned param, void *declared)
{
    const Declared *d = declared;
    assert(d && function);
    const AstFunction *f = map_get(&d->by_name, function);
    return f && is_const(f, nparams, param);
}
