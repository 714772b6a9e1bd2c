/*
 * Stage M: a reference was stored where others may load it. Points-to names the
 * places it went to; every load from such a place that can run between the
 * store and the end of the call may give the reference back. These loads and
 * all that comes of them are followed until there is nothing new, or something
 * writes.
 *
 * Loads count that stand behind the store in the function that stores, behind
 * the call in each of its callers up to the function in question, and all loads
 * in functions called from these places on. A reference is followed on two levels: the
 * pointer to the parameter's own object, and pointers to what lies deeper.
 */
#include "program/mut_int.h"

enum { OWN = 1, DEEP = 2 };
enum { MOST_STEPS = 30000 };

typedef struct Group {
    PtSet from;
    Vec(LLVMValueRef) insts;     /* loads, memcpys: all that load from there */
} Group;

typedef struct LoadIndex {
    Vec(Group) groups;
    PtTable group_of;            /* address of a set's members -> group */
    Vec(uint32_t) *by_object;    /* groups */
    Vec(LLVMValueRef) *calls_of; /* by Function.index: calls that may call it */
    Vec(LLVMValueRef) unknown;   /* calls of functions of which nothing is known */
} LoadIndex;

/* An operation after which the reference may be loaded. */
typedef struct Point {
    Body *b;
    uint32_t op;
} Point;

typedef struct Search {
    Mutability *m;
    Body *b;
    LoadIndex *ix;
    bool *scope;                 /* by Function.index: runs after a store */
    Vec(Point) after;            /* what comes behind these runs too */
    PtBits cells[3];             /* by OWN, DEEP */
    PtTable taint;               /* value -> OWN | DEEP */
    Vec(LLVMValueRef) work;
    Vec(uint32_t) fresh[3];      /* cells not yet looked for in groups */
    size_t steps;
    MemoryAnswer answer;
} Search;

/* --- the index */

static void index_load(Mutability *m, LoadIndex *ix, LLVMValueRef inst, LLVMValueRef from)
{
    PtSet s = pointsto_value(m->pt, from, 0);
    uint32_t last = NONE;

    if (!s.n)
        return;
    uint32_t g = pttable_get(&ix->group_of, (uintptr_t)s.locs);
    if (g == NONE) {
        g = (uint32_t)ix->groups.len;
        pttable_put(&ix->group_of, (uintptr_t)s.locs, g);
        Group *new = vec_grow(&ix->groups);
        new->from = s;
        for (size_t i = 0; i < s.n; i++) {
            uint32_t o = m->pt->locs.items[s.locs[i]].object;
            if (o != last)
                vec_push(&ix->by_object[o], g);
            last = o;
        }
    }
    vec_push(&ix->groups.items[g].insts, inst);
}

static void index_call(Mutability *m, LoadIndex *ix, LLVMValueRef call)
{
    size_t n;
    const LLVMValueRef *t = pointsto_targets(m->pt, call, &n);
    bool known = n > 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t f = pttable_get(&m->body_of, (uintptr_t)t[i]);
        size_t len;
        if (f != NONE)
            vec_push(&ix->calls_of[f], call);
        else if (!summaries_find(m->summaries, LLVMGetValueName2(t[i], &len)))
            known = false;
    }
    if (!known)
        vec_push(&ix->unknown, call);
}

static LoadIndex *index_new(Mutability *m)
{
    LoadIndex *ix = xcalloc(1, sizeof *ix);

    ix->by_object = xcalloc(m->pt->objects.len + 1, sizeof *ix->by_object);
    ix->calls_of = xcalloc(m->nbodies + 1, sizeof *ix->calls_of);
    for (size_t k = 0; k < m->nbodies; k++) {
        Body *b = &m->bodies[k];
        for (size_t i = 0; b->fn && i < b->ops.len; i++) {
            const Op *o = &b->ops.items[i];
            if (o->kind == OP_LOAD && o->dst != NONE && o->pointer)
                index_load(m, ix, o->inst, LLVMGetOperand(o->inst, 0));
            else if (o->kind == OP_MEMCPY && o->pointer)
                index_load(m, ix, o->inst, LLVMGetOperand(o->inst, 1));
            else if (o->kind == OP_CALL)
                index_call(m, ix, o->inst);
        }
    }
    return ix;
}

void mut_memory_release(Mutability *m)
{
    LoadIndex *ix = m->loads;

    if (!ix)
        return;
    for (size_t i = 0; i < ix->groups.len; i++)
        vec_release(&ix->groups.items[i].insts);
    vec_release(&ix->groups);
    pttable_release(&ix->group_of);
    for (size_t i = 0; i < m->pt->objects.len; i++)
        vec_release(&ix->by_object[i]);
    free(ix->by_object);
    for (size_t i = 0; i < m->nbodies; i++)
        vec_release(&ix->calls_of[i]);
    free(ix->calls_of);
    vec_release(&ix->unknown);
    free(ix);
}

/* --- what is followed */

static void fail(Search *s, unsigned kind, LLVMValueRef by)
{
    if (s->answer.deep)
        s->answer.obstacle = by;
    s->answer.deep = false;
    if (kind & OWN) {
        if (s->answer.own)
            s->answer.own_obstacle = by;
        s->answer.own = false;
    }
}

static void taint(Search *s, LLVMValueRef v, unsigned kind)
{
    uint32_t old = pttable_get(&s->taint, (uintptr_t)v);
    uint32_t now = (old == NONE ? 0 : old) | kind;

    if (now == old)
        return;
    pttable_put(&s->taint, (uintptr_t)v, now);
    vec_push(&s->work, v);
}

static void add_cell(Search *s, uint32_t loc, unsigned kind)
{
    if (ptbits_add(&s->cells[kind], loc))
        vec_push(&s->fresh[kind], loc);
}

/* The reference is stored there: in one place, or anywhere in the object. */
static void add_cells(Search *s, LLVMValueRef address, bool whole, unsigned kind)
{
    const PointsTo *pt = s->m->pt;
    PtSet set = pointsto_value(pt, address, 0);

    for (size_t i = 0; i < set.n; i++) {
        PtLoc l = pt->locs.items[set.locs[i]];
        PtRange r = pt->objects.items[l.object].locs;
        if (pt->shown[l.object].kind == PT_EXTERNAL && kind)
            s->steps += 1000;        /* much is possible out there */
        bool all = whole || l.offset == ANY;
        for (uint32_t k = r.start; k < r.start + r.n; k++)
            if (all || k == set.locs[i] || pt->locs.items[k].offset == ANY)
                add_cell(s, k, kind);
    }
}

/* --- scope */

static void run_function(Search *s, const Function *fn)
{
    Vec(const Function *) work = { 0 };

    vec_push(&work, fn);
    while (work.len) {
        const Function *f = work.items[--work.len];
        size_t n;
        if (s->scope[f->index])
            continue;
        s->scope[f->index] = true;
        const Function *const *to = calls_callees(s->m->calls, f, &n);
        for (size_t i = 0; i < n; i++)
            if (!s->scope[to[i]->index])
                vec_push(&work, to[i]);
    }
    vec_release(&work);
}

static uint32_t op_of(const Body *b, LLVMValueRef inst)
{
    for (uint32_t i = 0; i < b->ops.len; i++)
        if (b->ops.items[i].inst == inst)
            return i;
    return 0;
}

/* All that may run after this operation. */
static void run_after(Search *s, Body *b, uint32_t op)
{
    for (size_t i = 0; i < s->after.len; i++)
        if (s->after.items[i].b == b && s->after.items[i].op == op)
            return;
    vec_push(&s->after, ((Point){ b, op }));
    for (uint32_t i = 0; i < b->ops.len; i++) {
        size_t n, k;
        if (b->ops.items[i].kind != OP_CALL || !mut_comes_later(b, op, i))
            continue;
        const LLVMValueRef *t = pointsto_targets(s->m->pt, b->ops.items[i].inst, &n);
        const LLVMValueRef *c = pointsto_callbacks(s->m->pt, b->ops.items[i].inst, &k);
        for (size_t j = 0; j < n + k; j++) {
            const Function *f = program_function_of(s->m->program, j < n ? t[j] : c[j - n]);
            if (f && !f->intrinsic)
                run_function(s, f);
        }
    }
}

/* From the call down to the store. */
static void run_after_effect(Search *s, Body *b, const Effect *e)
{
    for (int guard = 0; b && e; guard++) {
        Body *g = e->callee && e->next != NONE ? mut_body(s->m, e->callee) : NULL;
        run_after(s, b, op_of(b, e->inst));
        if (guard == 64 || (g && e->next >= g->flow.effects.len)) {
            run_function(s, g->fn);  /* a long way: all of it */
            return;
        }
        e = g ? &g->flow.effects.items[e->next] : NULL;
        b = g;
    }
}

static LLVMValueRef function_of(LLVMValueRef inst)
{
    return LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst));
}

static bool in_scope(Search *s, LLVMValueRef inst)
{
    uint32_t f = pttable_get(&s->m->body_of, (uintptr_t)function_of(inst));

    if (f == NONE)
        return false;
    if (s->scope[f])
        return true;
    Body *b = &s->m->bodies[f];
    uint32_t op = NONE;
    for (size_t i = 0; i < s->after.len; i++) {
        if (s->after.items[i].b != b)
            continue;
        op = op == NONE ? op_of(b, inst) : op;
        if (mut_comes_later(b, s->after.items[i].op, op))
            return true;
    }
    return false;
}

/* --- uses */

static void stored_by(Search *s, LLVMValueRef origin, unsigned kind)
{
    size_t n;

    if (origin && LLVMIsAStoreInst(origin)) {
        add_cells(s, LLVMGetOperand(origin, 1), false, kind);
    } else if (origin && LLVMIsACallInst(origin) &&
               LLVMIsAFunction(LLVMGetCalledValue(origin)) &&
               str_starts(LLVMGetValueName2(LLVMGetCalledValue(origin), &n), "llvm.mem")) {
        add_cells(s, LLVMGetOperand(origin, 0), true, kind);
    } else {
        fail(s, kind, origin);
    }
}

static unsigned level(const Path *p, unsigned kind)
{
    return p->depth ? DEEP : kind;
}

static void use_by_body(Search *s, LLVMValueRef call, const Body *g, unsigned arg,
                        unsigned kind)
{
    for (size_t i = 0; i < g->flow.effects.len; i++) {
        const Effect *e = &g->flow.effects.items[i];
        Path p = e->path;
        if (arg >= g->nargs && p.root == g->nargs && p.depth)
            p.depth--;
        else if (p.root != arg)
            continue;
        unsigned k = level(&p, kind);
        if (e->kind == EFFECT_STORE)
            stored_by(s, e->origin, k);
        else
            fail(s, k, e->origin ? e->origin : call);
    }
    for (uint32_t i = 0; i < g->flow.returns.len; i++)
        if (g->flow.returns.items[i].root == arg)
            taint(s, call, level(&g->flow.returns.items[i], kind));
}

static bool names(const SummaryTerm *t, unsigned arg)
{
    return t->kind == SUMMARY_PARAM && t->param == arg;
}

static void use_by_library(Search *s, LLVMValueRef call, const Summary *lib, unsigned arg,
                           unsigned kind)
{
    unsigned use = mut_use(s->m, lib, call, arg);

    if (use & (SUMMARY_WRITE | SUMMARY_FREE | SUMMARY_KEEP))
        fail(s, kind, call);
    if (names(&lib->ret, arg))
        taint(s, call, lib->ret.stars ? DEEP : kind);
    for (size_t i = 0; i < lib->nassigns; i++) {
        const SummaryAssign *x = &lib->assigns[i];
        if (!names(&x->from, arg))
            continue;
        if (x->to.kind == SUMMARY_PARAM && x->to.stars == 1)
            add_cells(s, LLVMGetOperand(call, x->to.param), true,
                      x->from.stars ? DEEP : kind);
        else
            fail(s, kind, call);
    }
    for (size_t i = 0; i < lib->ncallbacks; i++)
        for (unsigned k = 0; k < lib->callbacks[i].nargs; k++) {
            size_t n;
            const LLVMValueRef *fns = pointsto_callbacks(s->m->pt, call, &n);
            if (!names(&lib->callbacks[i].args[k], arg))
                continue;
            for (size_t j = 0; j < n; j++) {
                const Body *g = mut_body(s->m, fns[j]);
                if (g)
                    use_by_body(s, call, g, k, kind);
                else
                    fail(s, kind, call);
            }
        }
}

static void use_by_intrinsic(Search *s, LLVMValueRef call, const char *name, unsigned arg,
                             unsigned kind)
{
    bool copies = str_starts(name, "llvm.memcpy") || str_starts(name, "llvm.memmove");

    if (copies && arg == 1)
        add_cells(s, LLVMGetOperand(call, 0), true, DEEP);
    else if ((copies || str_starts(name, "llvm.memset")) && !arg)
        fail(s, kind, call);
    else if (!str_starts(name, "llvm.dbg") && !str_starts(name, "llvm.lifetime"))
        taint(s, call, kind);
}

static void use_by_call(Search *s, LLVMValueRef call, unsigned arg, unsigned kind)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    size_t n, len;

    if (LLVMIsAInlineAsm(callee)) {
        fail(s, kind, call);
        return;
    }
    if (LLVMIsAFunction(callee) &&
        str_starts(LLVMGetValueName2(callee, &len), "llvm.")) {
        use_by_intrinsic(s, call, LLVMGetValueName2(callee, &len), arg, kind);
        return;
    }
    const LLVMValueRef *t = pointsto_targets(s->m->pt, call, &n);
    for (size_t i = 0; i < n; i++) {
        const Body *g = mut_body(s->m, t[i]);
        const Summary *lib =
            g ? NULL : summaries_find(s->m->summaries, LLVMGetValueName2(t[i], &len));
        if (g)
            use_by_body(s, call, g, arg, kind);
        else if (lib)
            use_by_library(s, call, lib, arg, kind);
        else
            fail(s, kind, call);
    }
    if (!n)
        fail(s, kind, call);
}

/* The call on the way to the store returns what the store kept. */
static bool is_on_the_way(Search *s, LLVMValueRef call)
{
    for (size_t i = 0; i < s->after.len; i++)
        if (s->after.items[i].b->ops.items[s->after.items[i].op].inst == call)
            return true;
    return in_scope(s, call);
}

static void use_by_return(Search *s, LLVMValueRef ret, unsigned kind)
{
    LLVMValueRef fn = function_of(ret);
    uint32_t f = pttable_get(&s->m->body_of, (uintptr_t)fn);

    if (fn == s->b->value && !s->scope[s->b->fn->index])
        return;                      /* the call is over */
    for (size_t i = 0; f != NONE && i < s->ix->calls_of[f].len; i++)
        if (is_on_the_way(s, s->ix->calls_of[f].items[i]))
            taint(s, s->ix->calls_of[f].items[i], kind);
}

static void use(Search *s, LLVMValueRef v, LLVMValueRef user, unsigned kind)
{
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMLoad:
        taint(s, user, DEEP);
        break;
    case LLVMStore:
        if (LLVMGetOperand(user, 1) == v)
            fail(s, kind, user);
        if (LLVMGetOperand(user, 0) == v)
            add_cells(s, LLVMGetOperand(user, 1), false, kind);
        break;
    case LLVMAtomicRMW: case LLVMAtomicCmpXchg:
        if (LLVMGetOperand(user, 0) == v)
            fail(s, kind, user);
        else
            add_cells(s, LLVMGetOperand(user, 0), false, kind);
        break;
    case LLVMCall: case LLVMInvoke: case LLVMCallBr:
        for (unsigned i = 0; i < LLVMGetNumArgOperands(user); i++)
            if (LLVMGetOperand(user, i) == v)
                use_by_call(s, user, i, kind);
        break;
    case LLVMRet:
        use_by_return(s, user, kind);
        break;
    case LLVMICmp: case LLVMFCmp: case LLVMTrunc: case LLVMBr: case LLVMSwitch:
        break;
    default:
        taint(s, user, kind);
    }
}

/* --- the search */

static void loaded(Search *s, LLVMValueRef inst, unsigned kind)
{
    if (++s->steps > MOST_STEPS || !in_scope(s, inst))
        return;
    if (LLVMIsACallInst(inst))       /* a memcpy from there */
        add_cells(s, LLVMGetOperand(inst, 0), true, kind);
    else
        taint(s, inst, kind);
}

static bool holds(const Group *g, uint32_t loc)
{
    size_t low = 0, high = g->from.n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (g->from.locs[mid] == loc)
            return true;
        if (g->from.locs[mid] < loc)
            low = mid + 1;
        else
            high = mid;
    }
    return false;
}

static void load_from(Search *s, uint32_t loc, unsigned kind)
{
    uint32_t o = s->m->pt->locs.items[loc].object;

    for (size_t i = 0; i < s->ix->by_object[o].len; i++) {
        const Group *g = &s->ix->groups.items[s->ix->by_object[o].items[i]];
        bool here = holds(g, loc);
        s->steps++;
        for (size_t k = 0; k < g->insts.len; k++)
            if (here || LLVMIsACallInst(g->insts.items[k]))
                loaded(s, g->insts.items[k], kind);
    }
}

/* Code that nobody knows may load it too, if it can get there. */
static void unknown_calls(Search *s)
{
    for (size_t i = 0; i < s->ix->unknown.len && s->answer.deep; i++) {
        LLVMValueRef call = s->ix->unknown.items[i];
        if (!in_scope(s, call))
            continue;
        s->steps += 100;
        PtSet r = modref_call(s->m->modref, call, MODREF_READ);
        for (size_t k = 0; k < r.n; k++) {
            if (ptbits_has(&s->cells[OWN], r.locs[k]))
                fail(s, OWN, call);
            else if (ptbits_has(&s->cells[DEEP], r.locs[k]))
                fail(s, DEEP, call);
        }
    }
}

static bool go_on(Search *s)
{
    if (s->steps <= MOST_STEPS)
        return s->answer.deep || s->answer.own;
    fail(s, OWN | DEEP, s->answer.obstacle);
    return false;
}

static void search(Search *s)
{
    while (go_on(s)) {
        if (s->work.len) {
            LLVMValueRef v = s->work.items[--s->work.len];
            unsigned kind = pttable_get(&s->taint, (uintptr_t)v);
            for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
                s->steps++;
                if (kind & OWN)
                    use(s, v, LLVMGetUser(u), OWN);
                if (kind & DEEP)
                    use(s, v, LLVMGetUser(u), DEEP);
            }
        } else if (s->fresh[OWN].len) {
            load_from(s, s->fresh[OWN].items[--s->fresh[OWN].len], OWN);
        } else if (s->fresh[DEEP].len) {
            load_from(s, s->fresh[DEEP].items[--s->fresh[DEEP].len], DEEP);
        } else {
            break;
        }
    }
    unknown_calls(s);
}

MemoryAnswer mut_memory(Mutability *m, Body *b, unsigned first, unsigned n)
{
    if (!m->loads)
        m->loads = index_new(m);
    Search s = { .m = m, .b = b, .ix = m->loads, .answer = { true, true, NULL, NULL } };

    s.scope = xcalloc(m->nbodies + 1, sizeof(bool));
    for (size_t i = 0; i < b->flow.effects.len; i++) {
        const Effect *e = &b->flow.effects.items[i];
        if (e->kind != EFFECT_STORE || e->path.root < first || e->path.root >= first + n)
            continue;
        run_after_effect(&s, b, e);
        stored_by(&s, e->origin, level(&e->path, OWN));
    }
    search(&s);
    free(s.scope);
    vec_release(&s.after);
    vec_release(&s.work);
    pttable_release(&s.taint);
    for (int k = OWN; k <= DEEP; k++) {
        ptbits_release(&s.cells[k]);
        vec_release(&s.fresh[k]);
    }
    return s.answer;
}

/* --- changed by whatever pointer */

void mut_unchanged(const Mutability *m, LLVMValueRef fn, LLVMValueRef arg, bool *own,
                   bool *deep)
{
    const PointsTo *pt = m->pt;
    PtSet written = modref_function(m->modref, fn, MODREF_WRITE);
    PtSet start = pointsto_value(pt, arg, 0);
    PtBits changed = { 0 }, seen = { 0 };
    Vec(uint32_t) work = { 0 };

    *own = *deep = start.n > 0;
    for (size_t i = 0; i < written.n; i++)
        ptbits_add(&changed, pt->locs.items[written.locs[i]].object);
    for (size_t i = 0; i < start.n; i++) {
        uint32_t o = pt->locs.items[start.locs[i]].object;
        if (ptbits_has(&changed, o))
            *own = *deep = false;
        vec_push(&work, o);
    }
    while (*deep && work.len) {
        uint32_t o = work.items[--work.len];
        if (!ptbits_add(&seen, o))
            continue;
        if (ptbits_has(&changed, o))
            *deep = false;
        PtRange r = pt->objects.items[o].locs;
        for (uint32_t k = r.start; *deep && k < r.start + r.n; k++) {
            PtSet s = pointsto_content(pt, k);
            for (size_t i = 0; i < s.n; i++) {
                uint32_t to = pt->locs.items[s.locs[i]].object;
                if (!ptbits_has(&seen, to))
                    vec_push(&work, to);
            }
        }
    }
    ptbits_release(&changed);
    ptbits_release(&seen);
    vec_release(&work);
}
