/*
 * A function with a body as a line of a summary file (docs/summaries.md), for
 * programs that have only its object code.
 *
 *     list_len l:r
 *     list_put l:rw x:rk ; *l+?=unknown *l+?=x
 *
 * A summary promises that nothing else happens, so a function whose effects the
 * format can't express gets none. What it stores that is not an argument (memory
 * it allocated, say) is `unknown` to others.
 */
#include "analysis/mutability/mutability_int.h"
#include <assert.h>
#include <ctype.h>

typedef struct Writer {
    const Mutability *m;
    const Body *b;
    const char *why;             /* there is no summary; NULL: all is well */
    unsigned *use;               /* by IR argument: SUMMARY_READ … */
    Str effects;
} Writer;

static bool refuse(Writer *w, const char *why)
{
    if (!w->why)
        w->why = why;
    return false;
}

/* ---- names of arguments */

static const Param *param_of(const Writer *w, uint32_t arg)
{
    const Function *fn = w->b->fn;

    for (unsigned i = 0; i < fn->nparams; i++)
        if (arg >= fn->params[i].first_arg && arg < fn->params[i].first_arg + fn->params[i].nargs)
            return &fn->params[i];
    return NULL;
}

static bool is_free_name(const char *s)
{
    static const char *const taken[] = { "new", "static", "ret", "unknown", "public" };

    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!strcmp(s, taken[i]))
            return false;
    if (!isalpha((unsigned char)*s))
        return false;
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && *s != '_')
            return false;
    return true;
}

static void add_name(const Writer *w, uint32_t arg, Str *out)
{
    const Param *p = param_of(w, arg);

    if (p && p->nargs == 1 && is_free_name(p->name))
        str_add(out, p->name);
    else
        str_addf(out, "a%u", arg);
}

/* ---- what types tell */

static bool holds_pointer(const Type *t, unsigned depth)
{
    t = type_plain(t);
    if (t->kind == TYPE_POINTER || depth > 8)
        return true;
    if (t->kind == TYPE_ARRAY)
        return holds_pointer(t->target, depth + 1);
    if (!type_is_record(t))
        return t->kind != TYPE_SCALAR && t->kind != TYPE_ENUM;
    for (unsigned i = 0; i < t->nfields; i++)
        if (holds_pointer(t->fields[i].type, depth + 1))
            return true;
    return !t->nfields;          /* not known here */
}

/* May pointers be stored in what it points to? */
static bool may_hold_pointers(const Type *t)
{
    t = t ? type_plain(t) : NULL;
    return !t || t->kind != TYPE_POINTER || holds_pointer(t->target, 0);
}

/* ---- effects */

static void add_effect(Writer *w, const char *text)
{
    Str one = { 0 };

    str_addf(&one, " %s ", text);
    str_addc(&w->effects, ' ');
    if (!w->effects.len || !strstr(str_c(&w->effects), str_c(&one)))
        str_add(&w->effects, text);
    str_addc(&w->effects, ' ');
    str_release(&one);
}

static void add_store(Writer *w, const Path *to, const Path *from)
{
    Str text = { 0 };

    str_addc(&text, '*');
    if (to)
        add_name(w, to->root, &text);
    else
        str_add(&text, "ret");
    str_add(&text, "+?=");
    if (!from)
        str_add(&text, "unknown");
    else if (root_is_global(from->root))
        str_add(&text, "static");
    else
        add_name(w, from->root, &text);
    if (from && from->off)
        str_add(&text, "+?");
    add_effect(w, str_c(&text));
    str_release(&text);
}

static bool is_own(const Path *p) { return !p->depth && !p->deeper; }

/* A store of something that is no pointer. */
static bool stores_number(const Effect *e)
{
    LLVMValueRef i = e->origin;

    if (!i || !LLVMIsAStoreInst(i))
        return false;
    LLVMTypeRef t = LLVMTypeOf(LLVMGetOperand(i, 0));
    LLVMTypeKind k = LLVMGetTypeKind(t);
    return k == LLVMFloatTypeKind || k == LLVMDoubleTypeKind ||
           (k == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) < 64);
}

/* memcpy(to, from, …) of two arguments: *to=*from. */
static bool is_block_copy(const Effect *e)
{
    size_t n;
    LLVMValueRef f = e->origin && LLVMIsACallInst(e->origin) ? LLVMGetCalledValue(e->origin) : NULL;
    const char *name = f && LLVMIsAFunction(f) ? LLVMGetValueName2(f, &n) : "";

    return (strstr(name, "memcpy") || strstr(name, "memmove")) && e->path.depth == 1 &&
           !e->path.deeper && !e->dest.depth && !e->dest.deeper && root_is_argument(e->path.root) &&
           root_is_argument(e->dest.root);
}

static bool see_write(Writer *w, const Effect *e)
{
    const Path *p = &e->path;

    if (root_is_global(p->root))
        return is_own(p) || refuse(w, "writes through what it keeps");
    if (!root_is_argument(p->root) || p->root >= w->b->nargs)
        return refuse(w, "writes memory of which nothing is known");
    const Param *param = param_of(w, p->root);
    const Type *t = param ? param->type : NULL;
    if (is_own(p)) {
        w->use[p->root] |= e->kind == EFFECT_FREE ? SUMMARY_FREE : SUMMARY_WRITE;
        if (e->kind == EFFECT_WRITE && !stores_number(e) && may_hold_pointers(t))
            add_store(w, p, NULL);
    } else {
        w->use[p->root] |= SUMMARY_WRITE | SUMMARY_DEEP;
        const Type *own = t && type_plain(t)->kind == TYPE_POINTER ? type_plain(t)->target : NULL;
        if (!stores_number(e) && (!own || may_hold_pointers(own)))
            return refuse(w, "may store pointers further away");
    }
    return true;
}

static bool see_store(Writer *w, const Effect *e)
{
    if (is_block_copy(e)) {
        Str text = { 0 };
        str_addc(&text, '*');
        add_name(w, e->dest.root, &text);
        str_add(&text, "=*");
        add_name(w, e->path.root, &text);
        add_effect(w, str_c(&text));
        str_release(&text);
        return true;
    }
    if (!is_own(&e->path))
        return refuse(w, "keeps what lies further away");
    if (root_is_argument(e->path.root))
        w->use[e->path.root] |= SUMMARY_KEEP;
    else if (!root_is_global(e->path.root))
        return refuse(w, "keeps something of which nothing is known");
    if (root_is_global(e->dest.root))
        return true;
    if (!root_is_argument(e->dest.root) || !is_own(&e->dest) || e->dest.root >= w->b->nargs)
        return refuse(w, "stores a pointer further away");
    add_store(w, &e->dest, &e->path);
    return true;
}

static bool see_effect(Writer *w, const Effect *e)
{
    if (e->path.root == w->b->nargs)
        return refuse(w, "has variadic arguments");
    switch (e->kind) {
    case EFFECT_WRITE:
    case EFFECT_FREE: return see_write(w, e);
    case EFFECT_STORE: return see_store(w, e);
    case EFFECT_RETURN:
        if (!is_own(&e->path) || !root_is_argument(e->path.root))
            return refuse(w, "hands out what lies further away");
        w->use[e->path.root] |= SUMMARY_KEEP;
        add_store(w, NULL, &e->path);
        return true;
    case EFFECT_REASON: return refuse(w, mut_reason_name(e->reason));
    }
    return true;
}

/* The one thing that it returns; NULL: several, or none that has a name here. */
static bool add_result(Writer *w, Str *out)
{
    const Flow *f = &w->b->flow;
    const Type *t = w->b->fn->returns ? type_plain(w->b->fn->returns) : NULL;

    if (!t || t->kind == TYPE_VOID || t->kind == TYPE_SCALAR || t->kind == TYPE_ENUM)
        return true;
    if (t->kind != TYPE_POINTER || f->returns.len + f->fresh > 1)
        return refuse(w, "returns one of several things");
    if (f->fresh) {
        str_add(out, " -> unknown");     /* fresh, or somebody else's */
        return true;
    }
    if (!f->returns.len)
        return refuse(w, "returns something that was not followed");
    const Path *p = &f->returns.items[0];
    if (root_is_global(p->root) && is_own(p)) {
        str_add(out, " -> static");
        return true;
    }
    if (!root_is_argument(p->root) || !is_own(p) || p->root >= w->b->nargs)
        return refuse(w, "returns what lies further away");
    str_add(out, " -> ");
    add_name(w, p->root, out);
    if (p->off)
        str_add(out, "+?");
    return true;
}

/* A call whose target comes from outside can do anything. */
static bool calls_out(const Mutability *m, const Function *fn, bool *seen)
{
    size_t n;

    if (seen[fn->index])
        return false;
    seen[fn->index] = true;
    const Body *b = &m->bodies[fn->index];
    for (uint32_t i = 0; b->fn && i < b->ops.len; i++) {
        const Op *o = &b->ops.items[i];
        if (o->kind == OP_CALL && !LLVMIsAFunction(LLVMGetCalledValue(o->inst)))
            return true;
    }
    const Function *const *to = calls_callees(m->calls, fn, &n);
    for (size_t i = 0; i < n; i++)
        if (calls_out(m, to[i], seen))
            return true;
    return false;
}

static void add_letters(unsigned use, Str *out)
{
    static const struct {
        unsigned use;
        char letter;
    } letters[] = {
        { SUMMARY_READ, 'r' }, { SUMMARY_WRITE, 'w' }, { SUMMARY_FREE, 'f' },
        { SUMMARY_KEEP, 'k' }, { SUMMARY_DEEP, 'd' },
    };

    if (use)
        str_addc(out, ':');
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (use & letters[i].use)
            str_addc(out, letters[i].letter);
}

static void add_line(Writer *w, Str *out)
{
    const Body *b = w->b;

    str_add(out, b->fn->name);
    for (uint32_t i = 0; i < b->nargs; i++) {
        LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(b->value, i)));
        bool pointer = kind == LLVMPointerTypeKind;
        if (pointer && (b->flow.reads[i] || b->flow.passed[i] || w->use[i]))
            w->use[i] |= SUMMARY_READ;
        str_addc(out, ' ');
        add_name(w, i, out);
        add_letters(pointer ? w->use[i] : 0, out);
    }
}

bool mutability_summary(const Mutability *m, const Function *fn, Str *out, const char **why)
{
    assert(fn->index < m->nbodies);
    const Body *b = &m->bodies[fn->index];
    Writer w = { .m = m, .b = b };
    Str result = { 0 };

    *why = "has no body";
    if (!b->fn || !(m->plan.stages & MUT_BY_P))
        return false;
    bool *seen = xcalloc(m->nbodies + 1, sizeof *seen);
    w.use = xcalloc(b->nargs + 1, sizeof *w.use);
    if (fn->variadic)
        refuse(&w, "has variadic arguments");
    if (fn->returns_in_memory)
        refuse(&w, "returns a struct");
    if (calls_out(m, fn, seen))
        refuse(&w, "calls a function by a pointer");
    for (size_t i = 0; !w.why && i < b->flow.effects.len; i++)
        see_effect(&w, &b->flow.effects.items[i]);
    bool ok = !w.why && add_result(&w, &result);
    if (ok) {
        add_line(&w, out);
        str_add(out, str_c(&result));
        if (w.effects.len || fn->noreturn)
            str_add(out, " ;");
        char *rest = NULL, *text = xstrdup(str_c(&w.effects));
        for (char *e = strtok_r(text, " ", &rest); e; e = strtok_r(NULL, " ", &rest))
            str_addf(out, " %s", e);
        free(text);
        str_add(out, fn->noreturn ? " noreturn\n" : "\n");
    }
    *why = w.why;
    free(w.use);
    free(seen);
    str_release(&w.effects);
    str_release(&result);
    return ok;
}
