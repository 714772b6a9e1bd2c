/*
 * A pure function as one expression: its branches become selects.
 *
 *     return l <= x && x < r;      a = l <= x; b = x < r; return a ? b : false;
 *
 * In a concolic run its result is then one expression, and who asks it has one
 * condition. All its blocks run, whichever way it would go: so it may have no
 * loop, write nothing and call nothing, and its loads must be allowed on every way.
 */
#include "weave/weave_int.h"
#include <assert.h>
#include <llvm-c/DebugInfo.h>
#include <string.h>

typedef Vec(LLVMBasicBlockRef) Blocks;

typedef struct Flat {
    Woven *w;
    LLVMValueRef fn;
    Blocks order;                    /* each behind those that lead to it */
    Map values;                      /* old value or block ─▶ new value or condition */
    const char *problem;
} Flat;

static void *find(const Flat *f, const void *key) { return map_getn(&f->values, &key, sizeof key); }

static void set(Flat *f, const void *key, void *value)
{
    map_putn(&f->values, &key, sizeof key, value);
}

static bool may_stay(LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMStore:
    case LLVMAlloca:
    case LLVMInvoke:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMFence:
    case LLVMSwitch:
    case LLVMIndirectBr:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem: return false;
    case LLVMCall: {
        size_t n;
        LLVMValueRef callee = LLVMGetCalledValue(i);
        return LLVMIsAFunction(callee) && str_starts(LLVMGetValueName2(callee, &n), "llvm.dbg.");
    }
    case LLVMLoad: return !LLVMGetVolatile(i);
    default: return true;
    }
}

/* Depth first; a block that is met again on the way to itself is a loop. */
static void visit(Flat *f, LLVMBasicBlockRef b, Map *state)
{
    enum { OPEN = 1, DONE };
    uintptr_t seen = (uintptr_t)map_getn(state, &b, sizeof b);
    if (seen == OPEN)
        f->problem = "it has a loop";
    if (seen || f->problem)
        return;
    map_putn(state, &b, sizeof b, (void *)OPEN);
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        if (!may_stay(i))
            f->problem = "it writes, calls or divides";
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
    for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++)
        visit(f, LLVMGetSuccessor(end, k), state);
    map_putn(state, &b, sizeof b, (void *)DONE);
    vec_push(&f->order, b);          /* the last one first: read backwards */
}

static LLVMValueRef new_of(const Flat *f, LLVMValueRef old)
{
    void *v = find(f, old);
    return v ? v : old;
}

/* When does `from` go on to `to`? */
static LLVMValueRef edge(Flat *f, LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
    LLVMBuilderRef b = f->w->builder;
    LLVMValueRef end = LLVMGetBasicBlockTerminator(from), here = find(f, from);
    assert(here);
    if (LLVMGetNumSuccessors(end) == 1 || LLVMGetSuccessor(end, 0) == LLVMGetSuccessor(end, 1))
        return here;
    LLVMValueRef c = new_of(f, LLVMGetCondition(end));
    if (LLVMGetSuccessor(end, 0) != to)
        c = LLVMBuildNot(b, c, "");
    return LLVMBuildAnd(b, here, c, "");
}

static LLVMValueRef condition_of(Flat *f, size_t place)
{
    Woven *w = f->w;
    LLVMBasicBlockRef b = f->order.items[place];
    LLVMValueRef all = NULL;
    if (place == f->order.len - 1)
        return weave_int(w, w->i1, 1);
    for (size_t k = f->order.len; k-- > place + 1;) {
        LLVMBasicBlockRef from = f->order.items[k];
        LLVMValueRef end = LLVMGetBasicBlockTerminator(from);
        bool leads = false;
        for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++)
            leads |= LLVMGetSuccessor(end, s) == b;
        if (!leads)
            continue;
        LLVMValueRef e = edge(f, from, b);
        all = all ? LLVMBuildOr(w->builder, all, e, "") : e;
    }
    return all ? all : weave_int(w, w->i1, 0);
}

static LLVMValueRef select_phi(Flat *f, LLVMValueRef phi)
{
    LLVMBasicBlockRef here = LLVMGetInstructionParent(phi);
    LLVMValueRef v = new_of(f, LLVMGetIncomingValue(phi, 0));
    for (unsigned k = 1; k < LLVMCountIncoming(phi); k++)
        v = LLVMBuildSelect(f->w->builder, edge(f, LLVMGetIncomingBlock(phi, k), here),
                            new_of(f, LLVMGetIncomingValue(phi, k)), v, "");
    return v;
}

static void copy_instruction(Flat *f, LLVMValueRef i, LLVMMetadataRef line)
{
    LLVMValueRef c = LLVMInstructionClone(i);
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        LLVMSetOperand(c, (unsigned)k, new_of(f, LLVMGetOperand(i, (unsigned)k)));
    LLVMInsertIntoBuilder(f->w->builder, c);
    LLVMInstructionSetDebugLoc(c, line);
    set(f, i, c);
}

/* All blocks one after the other in a new one; the result. */
static LLVMValueRef flatten(Flat *f, LLVMMetadataRef line)
{
    LLVMValueRef result = NULL;
    for (size_t place = f->order.len; place-- > 0;) {
        LLVMBasicBlockRef b = f->order.items[place];
        set(f, b, condition_of(f, place));
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (LLVMIsAPHINode(i))
                set(f, i, select_phi(f, i));
            else if (LLVMIsAReturnInst(i)) {
                LLVMValueRef v = new_of(f, LLVMGetOperand(i, 0));
                result = result ? LLVMBuildSelect(f->w->builder, find(f, b), v, result, "") : v;
            } else if (!LLVMIsATerminatorInst(i) && !LLVMIsACallInst(i))
                copy_instruction(f, i, line);
        }
    }
    return result;
}

static void replace_body(Flat *f)
{
    Woven *w = f->w;
    LLVMMetadataRef line = weave_line_of(w, f->fn);
    LLVMBasicBlockRef first = LLVMGetEntryBasicBlock(f->fn);
    LLVMBasicBlockRef flat = LLVMInsertBasicBlockInContext(w->ctx, first, "flat");
    LLVMPositionBuilderAtEnd(w->builder, flat);
    LLVMSetCurrentDebugLocation2(w->builder, line);
    LLVMBuildRet(w->builder, flatten(f, line));
    for (size_t i = 0; i < f->order.len; i++)          /* uses go first */
        for (LLVMValueRef v = LLVMGetFirstInstruction(f->order.items[i]); v;
             v = LLVMGetNextInstruction(v))
            if (LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMVoidTypeKind)
                LLVMReplaceAllUsesWith(v, LLVMGetUndef(LLVMTypeOf(v)));
    for (size_t i = 0; i < f->order.len; i++)
        LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(f->order.items[i]));
    for (size_t i = 0; i < f->order.len; i++)
        LLVMDeleteBasicBlock(f->order.items[i]);
}

bool weave_summarise(Woven *w, const char *symbol, Err *err)
{
    Flat f = { .w = w, .fn = LLVMGetNamedFunction(w->module, symbol) };
    Map state = { 0 };
    if (!f.fn || LLVMIsDeclaration(f.fn))
        return err_set(err, "there is no function %s", symbol);
    if (LLVMGetReturnType(LLVMGlobalGetValueType(f.fn)) == w->void_)
        f.problem = "it returns nothing";
    if (!f.problem)
        visit(&f, LLVMGetEntryBasicBlock(f.fn), &state);
    if (!f.problem && f.order.len > 1)
        replace_body(&f);
    vec_release(&f.order);
    map_release(&f.values);
    map_release(&state);
    return !f.problem || err_set(err, "%s() can't be one condition: %s", symbol, f.problem);
}
