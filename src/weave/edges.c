/* Numbering: functions in the order of the module, each with its entry and then
 * its branches in the order of its blocks; sites of instructions behind all of
 * them, in the same order. */
#include "weave/edges.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "program/program_llvm.h"
#include "weave/edges_llvm.h"
#include <assert.h>
#include <stdlib.h>

typedef struct Numbered {
    const Function *fn;
    LLVMValueRef value;
    uint32_t entry;              /* first edge */
    uint32_t site;               /* of the first instruction */
    uint32_t ninstructions;
} Numbered;

struct Edges {
    const Program *p;
    Vec(EdgeInfo) all;
    Vec(Numbered) functions;
    Map by_symbol;               /* -> index + 1 in functions */
    Map sites;                   /* number -> EdgeInfo, made when asked for */
    Arena arena;
};

uint32_t edges_leaving(LLVMValueRef t)
{
    if (!t)
        return 0;
    switch (LLVMGetInstructionOpcode(t)) {
    case LLVMBr: return LLVMIsConditional(t) ? 2 : 0;
    case LLVMSwitch: return LLVMGetNumSuccessors(t);     /* the default is the first */
    default: return 0;
    }
}

static void add_edges(Edges *e, const Function *fn, LLVMValueRef t)
{
    uint32_t n = edges_leaving(t), site = (uint32_t)e->all.len;
    SourcePlace at = program_place(e->p, t);
    for (uint32_t k = 0; k < n; k++)
        vec_push(&e->all, ((EdgeInfo){ .fn = fn,
                                       .file = at.file,
                                       .line = at.line,
                                       .column = at.column,
                                       .site = site,
                                       .outcome = k }));
}

static void add_function(Edges *e, const Function *fn, LLVMValueRef value)
{
    Numbered n = { .fn = fn, .value = value, .entry = (uint32_t)e->all.len };
    vec_push(&e->all, ((EdgeInfo){ .fn = fn,
                                   .file = fn->file,
                                   .line = fn->line,
                                   .column = fn->column,
                                   .site = n.entry,
                                   .entry = true }));
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(value); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            n.ninstructions++;
        add_edges(e, fn, LLVMGetBasicBlockTerminator(b));
    }
    vec_push(&e->functions, n);
    map_put(&e->by_symbol, fn->symbol, (void *)(uintptr_t)e->functions.len);
}

Edges *edges_new(const Program *p, Err *err)
{
    if (!program_load_module(p, err))
        return NULL;
    Edges *e = xcalloc(1, sizeof *e);
    LLVMModuleRef m = program_module(p);
    e->p = p;
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        const Function *fn = program_function_of(p, f);
        if (fn && !LLVMIsDeclaration(f))
            add_function(e, fn, f);
    }
    assert(e->all.len < NO_EDGE);
    uint32_t site = (uint32_t)e->all.len;
    for (size_t i = 0; i < e->functions.len; i++) {
        e->functions.items[i].site = site;
        site += e->functions.items[i].ninstructions;
    }
    return e;
}

void edges_free(Edges *e)
{
    if (!e)
        return;
    vec_release(&e->all);
    vec_release(&e->functions);
    map_release(&e->by_symbol);
    map_release(&e->sites);
    arena_release(&e->arena);
    free(e);
}

size_t edges_count(const Edges *e) { return e->all.len; }

/* ---- sites */

static const Numbered *function_with_site(const Edges *e, uint32_t site)
{
    size_t low = 0, high = e->functions.len;
    while (low < high) {
        size_t mid = (low + high) / 2;
        const Numbered *n = &e->functions.items[mid];
        if (site < n->site)
            high = mid;
        else if (site - n->site >= n->ninstructions)
            low = mid + 1;
        else
            return n;
    }
    return NULL;
}

static LLVMValueRef instruction_at(const Numbered *n, uint32_t site)
{
    uint32_t k = n->site;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(n->value); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (k++ == site)
                return i;
    return NULL;
}

static const EdgeInfo *site_at(const Edges *edges, uint32_t site)
{
    Edges *e = (Edges *)edges;               /* what was asked for is kept */
    const Numbered *n = function_with_site(e, site);
    EdgeInfo *info = map_getn(&e->sites, &site, sizeof site);
    if (info || !n)
        return info;
    SourcePlace at = program_place(e->p, instruction_at(n, site));
    info = arena_new(&e->arena, EdgeInfo);
    *info = (EdgeInfo){
        .fn = n->fn, .file = at.file, .line = at.line, .column = at.column, .site = site
    };
    map_putn(&e->sites, &site, sizeof site, info);
    return info;
}

const EdgeInfo *edges_at(const Edges *e, uint32_t edge)
{
    return edge < e->all.len ? &e->all.items[edge] : site_at(e, edge);
}

static const Numbered *numbered(const Edges *e, const char *symbol)
{
    uintptr_t n = (uintptr_t)map_get(&e->by_symbol, symbol);
    return n ? &e->functions.items[n - 1] : NULL;
}

uint32_t edges_entry(const Edges *e, const char *symbol)
{
    const Numbered *n = numbered(e, symbol);
    return n ? n->entry : NO_EDGE;
}

uint32_t edges_first_site(const Edges *e, const char *symbol)
{
    const Numbered *n = numbered(e, symbol);
    return n ? n->site : NO_EDGE;
}

/* ---- what can be reached */

static void reach(const Calls *calls, const Function *from, bool *seen)
{
    Vec(const Function *) todo = { 0 };
    vec_push(&todo, from);
    while (todo.len) {
        const Function *fn = todo.items[--todo.len];
        size_t n = 0;
        const Function *const *callees = seen[fn->index] ? NULL : calls_callees(calls, fn, &n);
        seen[fn->index] = true;
        for (size_t i = 0; i < n; i++)
            vec_push(&todo, callees[i]);
    }
    vec_release(&todo);
}

size_t edges_reachable(const Edges *e, const Calls *calls, const char *entry)
{
    bool *seen = xcalloc(program_index_limit(e->p), sizeof *seen);
    const Function *fn = entry ? program_function(e->p, entry) : NULL;
    size_t n = 0;
    if (fn)
        reach(calls, fn, seen);
    for (size_t i = 0; !entry && i < e->functions.len; i++)
        if (calls_from_outside(calls, e->functions.items[i].fn))
            reach(calls, e->functions.items[i].fn, seen);
    for (size_t i = 0; i < e->all.len; i++)
        n += seen[e->all.items[i].fn->index];
    free(seen);
    return n;
}
