/*
 * Each function's own loads and stores first; then callees' sets are added to
 * their callers' until nothing changes. Components of the call graph would save
 * rounds, but sets only grow along call edges, and a worklist visits a function
 * again only if a callee has grown.
 */
#include "program/modref.h"
#include "base/mem.h"
#include "program/pt_answer.h"
#include <string.h>

typedef struct Touched {
    PtBits bits[2];              /* by ModRefKind */
    Vec(uint32_t) flat[2];
    Vec(uint32_t) callers;       /* indices of functions */
    bool queued;
} Touched;

struct ModRef {
    const PointsTo *pt;
    const Summaries *summaries;
    Touched *functions;          /* by index in PtValues */
    size_t n;
    Vec(uint32_t) answer;
};

/* --- what one instruction touches */

static void touch_all(const PointsTo *pt, PtBits *to, uint32_t object)
{
    PtRange r = pt->objects.items[object].locs;

    for (uint32_t i = 0; i < r.n; i++)
        ptbits_add(to, r.start + i);
}

static void touch(const PointsTo *pt, PtBits *to, LLVMValueRef p, bool whole)
{
    PtSet s = pointsto_value(pt, p, 0);

    for (size_t i = 0; i < s.n; i++) {
        if (pt->shown[pt->locs.items[s.locs[i]].object].kind == PT_FUNCTION)
            continue;
        ptbits_add(to, s.locs[i]);
        if (whole)
            touch_all(pt, to, pt->locs.items[s.locs[i]].object);
    }
}

/* All that can be reached from what is in `to`. */
static void touch_reachable(const PointsTo *pt, PtBits *to)
{
    Vec(uint32_t) work = { 0 };
    PtBits objects = { 0 };

    for (PtIter i = ptbits_first(to); i.on; ptbits_next(&i))
        vec_push(&work, pt->locs.items[i.x].object);
    while (work.len) {
        uint32_t o = work.items[--work.len];
        if (!ptbits_add(&objects, o))
            continue;
        PtRange r = pt->objects.items[o].locs;
        for (uint32_t k = r.start; k < r.start + r.n; k++) {
            PtSet s = pointsto_content(pt, k);
            ptbits_add(to, k);
            for (size_t i = 0; i < s.n; i++)
                vec_push(&work, pt->locs.items[s.locs[i]].object);
        }
    }
    ptbits_release(&objects);
    vec_release(&work);
}

static void external_unknown(const PointsTo *pt, LLVMValueRef call, PtBits bits[2])
{
    PtBits reach = { 0 };

    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
        touch(pt, &reach, LLVMGetOperand(call, i), true);
    for (uint32_t o = 0; o < pt->objects.len; o++)
        if (pt->shown[o].kind == PT_EXTERNAL)
            touch_all(pt, &reach, o);
    touch_reachable(pt, &reach);
    ptbits_union(&bits[MODREF_READ], &reach, NULL);
    ptbits_union(&bits[MODREF_WRITE], &reach, NULL);
    ptbits_release(&reach);
}

static void external_known(const PointsTo *pt, LLVMValueRef call, const Summary *s,
                           PtBits bits[2])
{
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        unsigned use = i < s->nparams ? s->params[i].use : s->rest;
        PtBits here = { 0 };
        if (!(use & (SUMMARY_READ | SUMMARY_WRITE | SUMMARY_FREE)))
            continue;
        touch(pt, &here, LLVMGetOperand(call, i), true);
        if (use & SUMMARY_DEEP)
            touch_reachable(pt, &here);
        if (use & SUMMARY_READ)
            ptbits_union(&bits[MODREF_READ], &here, NULL);
        if (use & (SUMMARY_WRITE | SUMMARY_FREE))
            ptbits_union(&bits[MODREF_WRITE], &here, NULL);
        ptbits_release(&here);
    }
}

static void external(const ModRef *mr, LLVMValueRef call, LLVMValueRef fn,
                     PtBits bits[2])
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
    } else if (!strncmp(name, "llvm.", 5)) {
        return;
    } else if (s) {
        external_known(mr->pt, call, s, bits);
    } else {
        external_unknown(mr->pt, call, bits);
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

    if (LLVMIsAInlineAsm(callee) || (!n && !LLVMIsAConstant(callee)))
        external_unknown(mr->pt, call, bits);
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

/* --- closing over calls */

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

/* What callers see: all but the function's own stack. */
static void seen_by_callers(const ModRef *mr, uint32_t index, int kind, PtBits *out)
{
    LLVMValueRef fn = mr->pt->v.functions.items[index].fn;

    for (PtIter i = ptbits_first(&mr->functions[index].bits[kind]); i.on; ptbits_next(&i)) {
        const PtObject *o = &mr->pt->shown[mr->pt->locs.items[i.x].object];
        if (o->kind != PT_STACK ||
            LLVMGetBasicBlockParent(LLVMGetInstructionParent(o->site)) != fn)
            ptbits_add(out, i.x);
    }
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
    for (uint32_t i = 0; i < mr->n; i++)
        read_function(mr, i);
    close_over_calls(mr);
    for (uint32_t i = 0; i < mr->n; i++)
        for (int kind = 0; kind < 2; kind++)
            for (PtIter k = ptbits_first(&mr->functions[i].bits[kind]); k.on; ptbits_next(&k))
                vec_push(&mr->functions[i].flat[kind], k.x);
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
    }
    free(mr->functions);
    vec_release(&mr->answer);
    free(mr);
}

/* --- asking */

PtSet modref_function(const ModRef *mr, LLVMValueRef fn, ModRefKind kind)
{
    uint32_t i = index_of(mr, fn);

    if (i == NONE)
        return (PtSet){ 0 };
    return (PtSet){ mr->functions[i].flat[kind].items, mr->functions[i].flat[kind].len };
}

PtSet modref_call(ModRef *mr, LLVMValueRef call, ModRefKind kind)
{
    PtBits bits[2] = { { 0 } };
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
    mr->answer.len = 0;
    for (PtIter i = ptbits_first(&bits[kind]); i.on; ptbits_next(&i))
        vec_push(&mr->answer, i.x);
    ptbits_release(&bits[0]);
    ptbits_release(&bits[1]);
    return (PtSet){ mr->answer.items, mr->answer.len };
}

bool modref_call_touches(ModRef *mr, LLVMValueRef call, LLVMValueRef p, uint64_t n,
                         ModRefKind kind)
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
