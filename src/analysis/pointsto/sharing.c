/*
 * The roots, then all that can be reached from them. Pointers that a thread returns, or keeps
 * under a key, count as handed to others, too: that is simple, and costs little.
 */
#include "analysis/pointsto/sharing.h"
#include "analysis/pointsto/pt_answer.h"
#include "base/mem.h"
#include <assert.h>
#include <stdlib.h>

struct Sharing {
    const PointsTo *pt;
    const Summaries *summaries;
    PtReach reach;
};

static void add_all(Sharing *s, LLVMValueRef pointer)
{
    PtSet set = pointsto_value(s->pt, pointer, 0);
    for (size_t i = 0; i < set.n; i++)
        ptreach_add(&s->reach, pointsto_location(s->pt, set.locs[i]).object);
}

static bool is_root(const PtObject *o)
{
    switch (o->kind) {
    case PT_GLOBAL: return !o->site || !LLVMIsThreadLocal(o->site);
    case PT_LIBRARY:
    case PT_ARGV:
    case PT_EXTERNAL: return true;
    default: return false;
    }
}

/* ---- what calls hand to others */

/* Does the state of a library take it in? */
static bool is_kept_in_state(const Summary *sum, unsigned param, bool rest)
{
    for (size_t i = 0; i < sum->nassigns; i++) {
        const SummaryTerm *from = &sum->assigns[i].from;
        if (sum->assigns[i].to.kind == SUMMARY_STATE &&
            (rest ? from->kind == SUMMARY_REST
                  : from->kind == SUMMARY_PARAM && from->param == param))
            return true;
    }
    return false;
}

/* What runs later (a thread, a timer) may have it from there. */
static bool hands_over(const Summary *sum, unsigned param)
{
    bool rest = param >= sum->nparams;
    unsigned use = rest ? sum->rest : sum->params[param].use;
    return (sum->later && use != SUMMARY_WRITE) || use & SUMMARY_KEEP ||
           (use & SUMMARY_LEAVES && !(use & SUMMARY_TEXT)) || is_kept_in_state(sum, param, rest);
}

/* Without a summary all escapes anyway: to the outside, which is a root. */
static void look_at_target(Sharing *s, LLVMValueRef call, LLVMValueRef target)
{
    size_t n;
    const Summary *sum = LLVMIsDeclaration(target)
                             ? summaries_find(s->summaries, LLVMGetValueName2(target, &n))
                             : NULL;
    for (unsigned k = 0; sum && k < LLVMGetNumArgOperands(call); k++)
        if (hands_over(sum, k))
            add_all(s, LLVMGetOperand(call, k));
}

static void look_at_call(Sharing *s, LLVMValueRef call)
{
    size_t n;
    if (LLVMIsAInlineAsm(LLVMGetCalledValue(call)))
        for (unsigned k = 0; k < LLVMGetNumArgOperands(call); k++)
            add_all(s, LLVMGetOperand(call, k));
    const LLVMValueRef *targets = pointsto_targets(s->pt, call, &n);
    for (size_t i = 0; i < n; i++)
        look_at_target(s, call, targets[i]);
}

static void look_at_calls(Sharing *s, LLVMModuleRef m)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                if (LLVMIsACallInst(i) || LLVMIsAInvokeInst(i) || LLVMIsACallBrInst(i))
                    look_at_call(s, i);
}

/* ---- together */

Sharing *sharing_new(const PointsTo *pt, const Summaries *summaries, LLVMModuleRef m)
{
    Sharing *s = xcalloc(1, sizeof *s);
    uint32_t o;
    assert(pt && summaries && m);
    s->pt = pt;
    s->summaries = summaries;
    for (o = 0; o < pointsto_nobjects(pt); o++)
        if (is_root(pointsto_object(pt, o)))
            ptreach_add(&s->reach, o);
    look_at_calls(s, m);
    while (ptreach_next(pt, &s->reach, &o))
        ptreach_add(&s->reach, pointsto_part_of(pt, o));
    return s;
}

void sharing_free(Sharing *s)
{
    if (s)
        ptreach_release(&s->reach);
    free(s);
}

bool sharing_may_be(const Sharing *s, LLVMValueRef address)
{
    PtSet set = pointsto_value(s->pt, address, 0);
    assert(s->reach.work.len == 0);
    for (size_t i = 0; i < set.n; i++) {
        uint32_t o = pointsto_location(s->pt, set.locs[i]).object;
        if (ptbits_has(&s->reach.seen, o) || ptbits_has(&s->reach.seen, pointsto_part_of(s->pt, o)))
            return true;
    }
    return set.n == 0;
}
