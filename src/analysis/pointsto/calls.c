/*
 * The call graph is read off the points-to answer, which has solved calls and
 * pointers together. Components come from Tarjan's algorithm.
 */
#include "analysis/pointsto/calls.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "analysis/pointsto/pointsto.h"
#include "program/program_llvm.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef Vec(const Function *) Functions;

typedef struct FunctionCalls {
    size_t first_site, nsites;
    Functions callers, callees;
    size_t component;
    bool recursive;
} FunctionCalls;

struct Calls {
    const Program *program;
    Summaries *summaries;
    PointsTo *pt;
    Arena arena;
    Vec(CallSite) sites;
    FunctionCalls *functions;    /* by Function.index */
    size_t nfunctions, ncomponents;
};

/* ---- reading */

static const Function **functions_of(Calls *c, const LLVMValueRef *values, size_t n, size_t *found)
{
    const Function **out = arena_array(&c->arena, const Function *, n + 1);

    *found = 0;
    for (size_t i = 0; i < n; i++) {
        const Function *fn = program_function_of(c->program, values[i]);
        if (fn && !fn->intrinsic)
            out[(*found)++] = fn;
    }
    return out;
}

static void add_site(Calls *c, const Function *caller, LLVMValueRef inst)
{
    size_t n;
    const LLVMValueRef *t = pointsto_targets(c->pt, inst, &n);
    LLVMValueRef callee = LLVMGetCalledValue(inst);
    CallSite s = { .caller = caller, .indirect = !LLVMIsAConstant(callee) };

    if (LLVMIsAInlineAsm(callee))
        return;
    s.targets = functions_of(c, t, n, &s.ntargets);
    if (!s.ntargets && !s.indirect)
        return;                                    /* an intrinsic */
    t = pointsto_callbacks(c->pt, inst, &n);
    s.callbacks = functions_of(c, t, n, &s.ncallbacks);
    SourcePlace at = program_place(c->program, inst);
    s.file = at.file;
    s.line = at.line;
    s.column = at.column;
    vec_push(&c->sites, s);
}

static void read_sites(Calls *c, const Function *fn)
{
    LLVMValueRef v = program_function_value(c->program, fn);
    FunctionCalls *fc = &c->functions[fn->index];

    fc->first_site = c->sites.len;
    for (LLVMBasicBlockRef b = v ? LLVMGetFirstBasicBlock(v) : NULL; b;
         b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsACallInst(i) || LLVMIsAInvokeInst(i) || LLVMIsACallBrInst(i))
                add_site(c, fn, i);
    fc->nsites = c->sites.len - fc->first_site;
}

/* ---- callers and callees */

static void link_functions(Calls *c, const Function *from, const Function *const *to, size_t n,
                           bool *seen)
{
    for (size_t i = 0; i < n; i++) {
        if (seen[to[i]->index])
            continue;
        seen[to[i]->index] = true;
        vec_push(&c->functions[from->index].callees, to[i]);
    }
}

static int by_index(const void *x, const void *y)
{
    const Function *a = *(const Function *const *)x, *b = *(const Function *const *)y;

    return (a->index > b->index) - (a->index < b->index);
}

static void link_all(Calls *c)
{
    size_t n;
    const Function *const *fns = program_functions(c->program, &n);
    bool *seen = xcalloc(c->nfunctions + 1, 1);

    for (size_t i = 0; i < n; i++) {
        FunctionCalls *fc = &c->functions[fns[i]->index];
        memset(seen, 0, c->nfunctions);
        for (size_t k = 0; k < fc->nsites; k++) {
            const CallSite *s = &c->sites.items[fc->first_site + k];
            link_functions(c, fns[i], s->targets, s->ntargets, seen);
            link_functions(c, fns[i], s->callbacks, s->ncallbacks, seen);
        }
        if (fc->callees.len)
            qsort(fc->callees.items, fc->callees.len, sizeof(Function *), by_index);
        for (size_t k = 0; k < fc->callees.len; k++) {
            const Function *to = fc->callees.items[k];
            vec_push(&c->functions[to->index].callers, fns[i]);
        }
    }
    free(seen);
}

/* ---- components */

typedef struct Visit {
    size_t fn, next;
} Visit;

typedef struct Tarjan {
    Calls *c;
    size_t *index, *low, count;
    bool *on_stack;
    Vec(size_t) stack;
    Vec(Visit) visits;
} Tarjan;

static void visit(Tarjan *t, size_t fn)
{
    Visit v = { fn, 0 };

    t->index[fn] = t->low[fn] = ++t->count;
    t->on_stack[fn] = true;
    vec_push(&t->stack, fn);
    vec_push(&t->visits, v);
}

static void finish(Tarjan *t, size_t fn)
{
    FunctionCalls *all = t->c->functions;
    size_t size = 0, member;

    if (t->low[fn] == t->index[fn]) {
        do {
            assert(t->stack.len);            /* `fn` itself is on it */
            member = t->stack.items[--t->stack.len];
            t->on_stack[member] = false;
            all[member].component = t->c->ncomponents;
            all[member].recursive |= member != fn || size;
            size++;
        } while (member != fn);
        all[fn].recursive |= size > 1;
        t->c->ncomponents++;
    }
    t->visits.len--;
    if (t->visits.len) {
        size_t up = t->visits.items[t->visits.len - 1].fn;
        if (t->low[fn] < t->low[up])
            t->low[up] = t->low[fn];
    }
}

static void walk(Tarjan *t, size_t root)
{
    visit(t, root);
    while (t->visits.len) {
        Visit *v = &t->visits.items[t->visits.len - 1];
        FunctionCalls *fc = &t->c->functions[v->fn];
        if (v->next == fc->callees.len) {
            finish(t, v->fn);
            continue;
        }
        size_t to = fc->callees.items[v->next++]->index;
        if (to == v->fn)
            fc->recursive = true;
        if (!t->index[to])
            visit(t, to);
        else if (t->on_stack[to] && t->index[to] < t->low[v->fn])
            t->low[v->fn] = t->index[to];
    }
}

static void find_components(Calls *c)
{
    Tarjan t = { .c = c };
    size_t n;
    const Function *const *fns = program_functions(c->program, &n);

    t.index = xcalloc(c->nfunctions + 1, sizeof *t.index);
    t.low = xcalloc(c->nfunctions + 1, sizeof *t.low);
    t.on_stack = xcalloc(c->nfunctions + 1, 1);
    for (size_t i = 0; i < n; i++)
        if (!t.index[fns[i]->index])
            walk(&t, fns[i]->index);
    assert(!t.stack.len && !t.visits.len && c->ncomponents <= n);
    free(t.index);
    free(t.low);
    free(t.on_stack);
    vec_release(&t.stack);
    vec_release(&t.visits);
}

/* ---- opening */

static bool read_summaries(Calls *c, const CallsPlan *plan, Err *err)
{
    char *folder = path_join(plan->share, "summaries");
    char *own = plan->root ? path_join(plan->root, "sundew.summaries") : NULL;
    bool ok = summaries_read_folder(c->summaries, folder, err);

    if (ok && own && file_exists(own))
        ok = summaries_read(c->summaries, own, err);
    for (size_t i = 0; ok && plan->summaries && plan->summaries[i]; i++)
        ok = summaries_read(c->summaries, plan->summaries[i], err);
    free(folder);
    free(own);
    return ok;
}

Calls *calls_open(const Program *p, const CallsPlan *plan, Err *err)
{
    Calls *c = xcalloc(1, sizeof *c);
    size_t n;
    const Function *const *fns = program_functions(p, &n);
    char *kept = plan->kept ? program_cache_path(p, "pointsto") : NULL;
    PointsToPlan pp = { .open_world = plan->open_world, .cache = kept };

    c->program = p;
    c->summaries = summaries_new();
    c->nfunctions = program_index_limit(p);
    c->functions = xcalloc(c->nfunctions + 1, sizeof *c->functions);
    if (!read_summaries(c, plan, err) || !program_load_module(p, err))
        goto fail;
    c->pt = pointsto_new(program_module(p), c->summaries, &pp);
    for (size_t i = 0; i < n; i++)
        read_sites(c, fns[i]);
    link_all(c);
    find_components(c);
    free(kept);
    return c;

fail:
    free(kept);
    calls_close(c);
    err_ctx(err, "calls");
    return NULL;
}

void calls_close(Calls *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->nfunctions; i++) {
        vec_release(&c->functions[i].callers);
        vec_release(&c->functions[i].callees);
    }
    free(c->functions);
    vec_release(&c->sites);
    pointsto_free(c->pt);
    summaries_free(c->summaries);
    arena_release(&c->arena);
    free(c);
}

/* ---- asking */

const CallSite *calls_sites(const Calls *c, const Function *fn, size_t *n)
{
    *n = fn ? c->functions[fn->index].nsites : c->sites.len;
    return c->sites.items + (fn ? c->functions[fn->index].first_site : 0);
}

const Function *const *calls_callees(const Calls *c, const Function *fn, size_t *n)
{
    assert(fn->index < c->nfunctions);
    *n = c->functions[fn->index].callees.len;
    return c->functions[fn->index].callees.items;
}

const Function *const *calls_callers(const Calls *c, const Function *fn, size_t *n)
{
    assert(fn->index < c->nfunctions);
    *n = c->functions[fn->index].callers.len;
    return c->functions[fn->index].callers.items;
}

bool calls_from_outside(const Calls *c, const Function *fn)
{
    return pointsto_called_from_outside(c->pt, program_function_value(c->program, fn));
}

size_t calls_component(const Calls *c, const Function *fn)
{
    return c->functions[fn->index].component;
}

bool calls_is_recursive(const Calls *c, const Function *fn)
{
    return c->functions[fn->index].recursive;
}

const Summaries *calls_summaries(const Calls *c) { return c->summaries; }

const PointsTo *calls_pointsto(const Calls *c) { return c->pt; }

bool calls_strangers(const Calls *c) { return pointsto_stats(c->pt)->unknown_externals > 0; }

const Strings *calls_notes(const Calls *c) { return pointsto_notes(c->pt); }

/* ---- the dump */

static void dump_set(const Calls *c, PtSet set, Str *out)
{
    str_addc(out, '{');
    for (size_t i = 0; i < set.n && i < 100; i++) {
        str_add(out, i ? ", " : "");
        pointsto_describe(c->pt, set.locs[i], out);
    }
    str_addf(out, set.n > 100 ? ", … %zu more}\n" : "}\n", set.n - 100);
}

static void dump_value(const Calls *c, LLVMValueRef v, Str *out)
{
    PtSet set = pointsto_value(c->pt, v, 0);

    if (!set.n)
        return;
    char *text = LLVMPrintValueToString(v);
    char *cut = strstr(text, ", !dbg");
    if (cut)
        *cut = 0;
    str_add(out, "  ");
    escape_terminal_z(out, text + strspn(text, " "));
    str_add(out, "\n      ");
    dump_set(c, set, out);
    LLVMDisposeMessage(text);
}

void calls_dump_pointsto(const Calls *c, const Function *fn, Str *out)
{
    LLVMValueRef v = program_function_value(c->program, fn);

    escape_terminal_z(out, fn->name);
    str_add(out, ":\n");
    for (unsigned i = 0; v && i < LLVMCountParams(v); i++)
        dump_value(c, LLVMGetParam(v, i), out);
    for (LLVMBasicBlockRef b = v ? LLVMGetFirstBasicBlock(v) : NULL; b;
         b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            dump_value(c, i, out);
}
