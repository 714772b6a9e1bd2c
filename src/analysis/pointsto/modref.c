/*
 * Each function's own loads and stores first; then callees' sets are added to
 * their callers' until nothing changes. Components of the call graph would save
 * rounds, but sets only grow along call edges, and a worklist visits a function
 * again only if a callee has grown.
 */
#include "analysis/pointsto/modref.h"
#include "base/mem.h"
#include "analysis/pointsto/pt_answer.h"
#include "analysis/pointsto/pt_int.h"
#include <assert.h>
#include <string.h>

typedef struct Touched {
    PtBits bits[2];              /* by ModRefKind */
    Vec(uint32_t) flat[2];       /* the same, once somebody has asked */
    Vec(uint32_t) callers;       /* indices of functions */
    Vec(uint32_t) stack;         /* its objects */
    bool queued;
} Touched;

/* What code outside of the program can get at without being given anything. It
 * is large and the same for each call of such code, so it is found once. */
typedef struct World {
    PtBits locs, objects;
} World;

struct ModRef {
    const PointsTo *pt;
    const Summaries *summaries;
    Touched *functions;          /* by index in PtValues */
    size_t n;
    World world;
    Vec(uint32_t) answer;
};

/* ---- what one instruction touches */

static void touch_all(const PointsTo *pt, PtBits *to, uint32_t object)
{
    PtRange r = pt->objects.items[object].locs;

    assert(object < pt->objects.len && r.start + r.n <= pt->locs.len);
    for (uint32_t i = 0; i < r.n; i++)
        ptbits_add(to, r.start + i);
}

static void touch(const PointsTo *pt, PtBits *to, LLVMValueRef p, bool whole)
{
    PtSet s = pointsto_value(pt, p, 0);
    uint32_t done = UINT32_MAX;

    for (size_t i = 0; i < s.n; i++) {
        uint32_t object = pt->locs.items[s.locs[i]].object;
        if (pt->shown[object].kind == PT_FUNCTION || (whole && object == done))
            continue;
        ptbits_add(to, s.locs[i]);
        if (whole)
            touch_all(pt, to, object);
        done = object;
    }
}

/* All that can be reached from what is in `to`; what `r` has seen is left out. */
static void touch_reachable(const PointsTo *pt, PtReach *r, PtBits *to)
{
    uint32_t o = UINT32_MAX;

    for (PtIter i = ptbits_first(to); i.on; ptbits_next(&i)) {
        if (pt->locs.items[i.x].object != o)
            ptreach_add(r, pt->locs.items[i.x].object);
        o = pt->locs.items[i.x].object;
    }
    while (ptreach_next(pt, r, &o))
        touch_all(pt, to, o);
}

static void find_world(const PointsTo *pt, World *world)
{
    PtReach r = { 0 };

    for (uint32_t o = 0; o < pt->objects.len; o++)
        if (pt->shown[o].kind == PT_EXTERNAL)
            touch_all(pt, &world->locs, o);
    touch_reachable(pt, &r, &world->locs);
    ptbits_union(&world->objects, &r.seen, NULL);
    ptreach_release(&r);
}

static void external_unknown(const ModRef *mr, LLVMValueRef call, PtBits bits[2])
{
    PtBits reach = { 0 };
    PtReach r = { 0 };

    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
        touch(mr->pt, &reach, LLVMGetOperand(call, i), true);
    ptbits_union(&r.seen, &mr->world.objects, NULL);
    touch_reachable(mr->pt, &r, &reach);
    ptreach_release(&r);
    for (int kind = 0; kind < 2; kind++) {
        ptbits_union(&bits[kind], &mr->world.locs, NULL);
        ptbits_union(&bits[kind], &reach, NULL);
    }
    ptbits_release(&reach);
}

/* All that can be reached from the argument: a summary is not more exact. */
static void written_further(const PointsTo *pt, LLVMValueRef call, const Summary *s,
                            const SummaryTerm *t, PtBits *written)
{
    unsigned first = t->kind == SUMMARY_REST ? (unsigned)s->nparams : t->param;
    unsigned n = LLVMGetNumArgOperands(call);

    for (unsigned i = first; i < (t->kind == SUMMARY_REST ? n : first + 1) && i < n; i++) {
        PtBits all = { 0 };
        PtReach r = { 0 };
        touch(pt, &all, LLVMGetOperand(call, i), true);
        touch_reachable(pt, &r, &all);
        ptbits_union(written, &all, NULL);
        ptreach_release(&r);
        ptbits_release(&all);
    }
}

static void external_known(const PointsTo *pt, LLVMValueRef call, const Summary *s, PtBits bits[2])
{
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        unsigned use = i < s->nparams ? s->params[i].use : s->rest;
        PtBits here = { 0 };
        PtReach r = { 0 };
        if (!(use & (SUMMARY_READ | SUMMARY_CHANGES)))
            continue;
        touch(pt, &here, LLVMGetOperand(call, i), true);
        if (use & SUMMARY_DEEP)
            touch_reachable(pt, &r, &here);
        ptreach_release(&r);
        if (use & SUMMARY_READ)
            ptbits_union(&bits[MODREF_READ], &here, NULL);
        if (use & SUMMARY_CHANGES)
            ptbits_union(&bits[MODREF_WRITE], &here, NULL);
        ptbits_release(&here);
    }
    for (size_t i = 0; i < s->nwrites; i++)
        written_further(pt, call, s, &s->writes[i], &bits[MODREF_WRITE]);
}

static void external(const ModRef *mr, LLVMValueRef call, LLVMValueRef fn, PtBits bits[2])
{
    size_t n;
    const char *name = LLVMGetValueName2(fn, &n);
    const Summary *s = summaries_find(mr->summaries, name);

    if (!strncmp(name, "llvm.mem", 8)) {
        touch(mr->pt, &bits[MODREF_WRITE], LLVMGetOperand(call, 0), true);
        if (strncmp(name, "llvm.memset", 11))
            touch(mr->pt, &bits[MODREF_READ], LLVMGetOperand(call, 1), true);
    } else if (!strncmp(name, "llvm.va_", 8)) {
        touch(mr->pt, &bits[MODREF_WRITE], LLVMGetOperand(call, 0), true);
    } else if (pt_is_intrinsic(name)) {
        if (!pt_is_known_intrinsic(call))
            external_unknown(mr, call, bits);
    } else if (s) {
        external_known(mr->pt, call, s, bits);
    } else {
        external_unknown(mr, call, bits);
    }
}

static bool is_call(LLVMValueRef i)
{
    return LLVMIsACallInst(i) || LLVMIsAInvokeInst(i) || LLVMIsACallBrInst(i);
}

/* The part of a call that isn't a function with a body. */
static void touch_call(const ModRef *mr, LLVMValueRef call, PtBits bits[2])
{
    size_t n;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    const LLVMValueRef *t = pointsto_targets(mr->pt, call, &n);

    if (pointsto_calls_outside(mr->pt, call) || pointsto_hands_outside(mr->pt, mr->summaries, call))
        external_unknown(mr, call, bits);
    else if (LLVMIsAFunction(callee) && LLVMIsDeclaration(callee))
        external(mr, call, callee, bits);
    else
        for (size_t i = 0; i < n; i++)
            if (LLVMIsDeclaration(t[i]))
                external(mr, call, t[i], bits);
}

static void touch_instruction(ModRef *mr, Touched *f, LLVMValueRef i)
{
    if (LLVMIsALoadInst(i)) {
        touch(mr->pt, &f->bits[MODREF_READ], LLVMGetOperand(i, 0), false);
    } else if (LLVMIsAStoreInst(i)) {
        touch(mr->pt, &f->bits[MODREF_WRITE], LLVMGetOperand(i, 1), false);
    } else if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i)) {
        touch(mr->pt, &f->bits[MODREF_READ], LLVMGetOperand(i, 0), false);
        touch(mr->pt, &f->bits[MODREF_WRITE], LLVMGetOperand(i, 0), false);
    } else if (is_call(i)) {
        touch_call(mr, i, f->bits);
    }
}

/* ---- closing over calls */

static uint32_t index_of(const ModRef *mr, LLVMValueRef fn)
{
    return pttable_get(&mr->pt->v.function_index, (uintptr_t)fn);
}

static void add_caller(ModRef *mr, LLVMValueRef callee, uint32_t caller)
{
    uint32_t i = index_of(mr, callee);

    if (i != NONE && !LLVMIsDeclaration(callee))
        vec_push(&mr->functions[i].callers, caller);
}

static void read_function(ModRef *mr, uint32_t index)
{
    LLVMValueRef fn = mr->pt->v.functions.items[index].fn;

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            size_t n, m;
            touch_instruction(mr, &mr->functions[index], i);
            if (!is_call(i))
                continue;
            const LLVMValueRef *t = pointsto_targets(mr->pt, i, &n);
            const LLVMValueRef *c = pointsto_callbacks(mr->pt, i, &m);
            for (size_t k = 0; k < n; k++)
                add_caller(mr, t[k], index);
            for (size_t k = 0; k < m; k++)
                add_caller(mr, c[k], index);
        }
}

static void find_stacks(ModRef *mr)
{
    for (uint32_t o = 0; o < mr->pt->objects.len; o++) {
        const PtObject *shown = &mr->pt->shown[o];
        if (shown->kind != PT_STACK)
            continue;
        uint32_t f = index_of(mr, LLVMGetBasicBlockParent(LLVMGetInstructionParent(shown->site)));
        if (f != NONE)
            vec_push(&mr->functions[f].stack, o);
    }
}

/* What callers see: all but the function's own stack. */
static void seen_by_callers(const ModRef *mr, uint32_t index, int kind, PtBits *out)
{
    const Touched *f = &mr->functions[index];
    PtBits all = { 0 };

    ptbits_union(&all, &f->bits[kind], NULL);
    for (size_t i = 0; i < f->stack.len; i++) {
        PtRange r = mr->pt->objects.items[f->stack.items[i]].locs;
        for (uint32_t k = r.start; k < r.start + r.n; k++)
            ptbits_remove(&all, k);
    }
    ptbits_union(out, &all, NULL);
    ptbits_release(&all);
}

static void close_over_calls(ModRef *mr)
{
    Vec(uint32_t) work = { 0 };

    for (uint32_t i = 0; i < mr->n; i++) {
        mr->functions[i].queued = true;
        vec_push(&work, i);
    }
    while (work.len) {
        uint32_t f = work.items[--work.len];
        mr->functions[f].queued = false;
        for (int kind = 0; kind < 2; kind++) {
            PtBits out = { 0 };
            seen_by_callers(mr, f, kind, &out);
            for (size_t i = 0; i < mr->functions[f].callers.len; i++) {
                uint32_t up = mr->functions[f].callers.items[i];
                if (ptbits_union(&mr->functions[up].bits[kind], &out, NULL) &&
                    !mr->functions[up].queued) {
                    mr->functions[up].queued = true;
                    vec_push(&work, up);
                }
            }
            ptbits_release(&out);
        }
    }
    vec_release(&work);
}

ModRef *modref_new(const PointsTo *pt, const Summaries *s)
{
    ModRef *mr = xcalloc(1, sizeof *mr);

    mr->pt = pt;
    mr->summaries = s;
    mr->n = pt->v.functions.len;
    mr->functions = xcalloc(mr->n + 1, sizeof *mr->functions);
    find_world(pt, &mr->world);
    find_stacks(mr);
    for (uint32_t i = 0; i < mr->n; i++)
        read_function(mr, i);
    close_over_calls(mr);
    return mr;
}

void modref_free(ModRef *mr)
{
    if (!mr)
        return;
    for (size_t i = 0; i < mr->n; i++) {
        Touched *f = &mr->functions[i];
        for (int kind = 0; kind < 2; kind++) {
            ptbits_release(&f->bits[kind]);
            vec_release(&f->flat[kind]);
        }
        vec_release(&f->callers);
        vec_release(&f->stack);
    }
    ptbits_release(&mr->world.locs);
    ptbits_release(&mr->world.objects);
    free(mr->functions);
    vec_release(&mr->answer);
    free(mr);
}

/* ---- asking */

const PtBits *modref_function_bits(const ModRef *mr, LLVMValueRef fn, ModRefKind kind)
{
    static const PtBits none;
    uint32_t i = index_of(mr, fn);

    return i == NONE ? &none : &mr->functions[i].bits[kind];
}

PtSet modref_function(ModRef *mr, LLVMValueRef fn, ModRefKind kind)
{
    uint32_t i = index_of(mr, fn);

    if (i == NONE)
        return (PtSet){ 0 };
    Touched *f = &mr->functions[i];
    if (!f->flat[kind].len)
        for (PtIter k = ptbits_first(&f->bits[kind]); k.on; ptbits_next(&k))
            vec_push(&f->flat[kind], k.x);
    return (PtSet){ f->flat[kind].items, f->flat[kind].len };
}

static void touched_by_call(const ModRef *mr, LLVMValueRef call, ModRefKind kind, PtBits bits[2])
{
    size_t n, m;
    const LLVMValueRef *t = pointsto_targets(mr->pt, call, &n);
    const LLVMValueRef *c = pointsto_callbacks(mr->pt, call, &m);

    touch_call(mr, call, bits);
    for (size_t i = 0; i < n + m; i++) {
        LLVMValueRef fn = i < n ? t[i] : c[i - n];
        uint32_t f = index_of(mr, fn);
        if (f != NONE && !LLVMIsDeclaration(fn))
            seen_by_callers(mr, f, kind, &bits[kind]);
    }
}

PtSet modref_call(ModRef *mr, LLVMValueRef call, ModRefKind kind)
{
    PtBits bits[2] = { { 0 } };

    touched_by_call(mr, call, kind, bits);
    mr->answer.len = 0;
    for (PtIter i = ptbits_first(&bits[kind]); i.on; ptbits_next(&i))
        vec_push(&mr->answer, i.x);
    ptbits_release(&bits[0]);
    ptbits_release(&bits[1]);
    return (PtSet){ mr->answer.items, mr->answer.len };
}

const PtBits *modref_world(const ModRef *mr) { return &mr->world.locs; }

bool modref_call_meets(const ModRef *mr, LLVMValueRef call, const PtBits *locs, ModRefKind kind)
{
    PtBits bits[2] = { { 0 } };

    if (!locs->len)
        return false;
    touched_by_call(mr, call, kind, bits);
    bool meet = ptbits_meet(&bits[kind], locs);
    ptbits_release(&bits[0]);
    ptbits_release(&bits[1]);
    return meet;
}

bool modref_call_touches(ModRef *mr, LLVMValueRef call, LLVMValueRef p, uint64_t n, ModRefKind kind)
{
    PtSet touched = modref_call(mr, call, kind);
    PtSet mine = pointsto_value(mr->pt, p, 0);

    for (size_t i = 0; i < touched.n; i++)
        for (size_t k = 0; k < mine.n; k++) {
            PtLoc a = mr->pt->locs.items[touched.locs[i]];
            PtLoc b = mr->pt->locs.items[mine.locs[k]];
            if (a.object != b.object)
                continue;
            if (!n || a.offset == ANY || b.offset == ANY ||
                (a.offset > b.offset - 8 && a.offset < b.offset + (int64_t)n))
                return true;
        }
    return false;
}
