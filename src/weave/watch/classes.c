/*
 * Evidence classes: what a value was elsewhere, and what other functions do with such a parameter.
 *
 * print_line(text, line->len) gets what the field holds. If the field was 9 in another function, then
 * print_line() may get 9, too, and a condition on its parameter can be tried for 9. The class is the field
 * that all callers pass, and that they do not look at before.
 */
#include "weave/watch/watch_int.h"
#include <assert.h>

enum { DEPTH = 6 };

/* Arithmetic that can be done again: it traps nowhere. */
static bool is_arithmetic(LLVMValueRef v)
{
    int64_t by;
    if (LLVMIsAZExtInst(v) || LLVMIsASExtInst(v) || LLVMIsATruncInst(v) || LLVMIsAICmpInst(v))
        return true;
    if (!LLVMIsABinaryOperator(v))
        return false;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor: return true;
    case LLVMSDiv:
    case LLVMUDiv:
    case LLVMSRem:
    case LLVMURem:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
        return watch_constant(LLVMGetOperand(v, 1), &by) && by > 0 &&
               by < (int64_t)LLVMGetIntTypeWidth(LLVMTypeOf(v));
    default: return false;
    }
}

static bool find_leaf(LLVMValueRef v, LLVMValueRef *leaf, unsigned depth)
{
    if (LLVMIsAConstantInt(v))
        return true;
    if (is_arithmetic(v)) {
        bool fine = depth > 0;
        for (int k = 0; fine && k < LLVMGetNumOperands(v); k++)
            fine = find_leaf(LLVMGetOperand(v, (unsigned)k), leaf, depth - 1);
        return fine;
    }
    if (*leaf && *leaf != v)
        return false;
    *leaf = v;
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMIntegerTypeKind;
}

LLVMValueRef watch_leaf(LLVMValueRef v)
{
    LLVMValueRef leaf = NULL;
    return find_leaf(v, &leaf, DEPTH) ? leaf : NULL;
}

/* Does anything decide by the value, or by a number that is made of it? */
static bool is_compared(LLVMValueRef v, unsigned depth)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        if (LLVMIsAICmpInst(i) || LLVMIsASwitchInst(i) ||
            (depth && is_arithmetic(i) && is_compared(i, depth - 1)))
            return true;
    }
    return false;
}

/* Does the caller look at the field, or at another one of the object that it passes the field of? */
static bool is_looked_at(Watch *watch, LLVMValueRef passed, const char *field)
{
    LLVMValueRef object = watch_base(LLVMGetOperand(passed, 0)), fn = watch_function_of(passed);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!LLVMIsALoadInst(i) || !is_compared(i, DEPTH))
                continue;
            const char *other = watch_field(watch, LLVMGetOperand(i, 0));
            if (other && (!strcmp(other, field) ||
                          watch_same(watch_base(LLVMGetOperand(i, 0)), object, DEPTH)))
                return true;
        }
    return false;
}

const char *watch_values_class(Watch *watch, LLVMValueRef sum)
{
    LLVMValueRef leaf = watch_leaf(sum);
    if (!leaf || !LLVMIsAArgument(leaf))
        return "";
    LLVMValueRef fn = LLVMGetParamParent(leaf);
    unsigned n = watch_position(fn, leaf);
    const char *class = "";
    if (!watch_knows_callers(watch, fn))
        return "";
    for (LLVMUseRef u = LLVMGetFirstUse(fn); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef call = LLVMGetUser(u);
        LLVMValueRef v = n < LLVMGetNumArgOperands(call) ? LLVMGetOperand(call, n) : NULL;
        const char *field =
            v && LLVMIsALoadInst(v) ? watch_field(watch, LLVMGetOperand(v, 0)) : NULL;
        if (!field || (*class && strcmp(class, field) != 0) || is_looked_at(watch, v, field))
            return "";
        class = field;
    }
    return class;
}

/* ---- the same arithmetic for another value */

static LLVMValueRef again(Watch *watch, LLVMValueRef v, LLVMValueRef leaf, LLVMValueRef with)
{
    LLVMBuilderRef b = watch->w->builder;
    if (v == leaf)
        return with;
    if (!is_arithmetic(v))
        return v;
    LLVMValueRef x = again(watch, LLVMGetOperand(v, 0), leaf, with);
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if (LLVMGetNumOperands(v) == 1)
        return LLVMBuildCast(b, op, x, LLVMTypeOf(v), "");
    LLVMValueRef y = again(watch, LLVMGetOperand(v, 1), leaf, with);
    return LLVMIsAICmpInst(v) ? LLVMBuildICmp(b, LLVMGetICmpPredicate(v), x, y, "")
                              : LLVMBuildBinOp(b, op, x, y, "");
}

static bool can_reach(LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
    return from == to ||
           watch_is_behind(LLVMGetFirstInstruction(from), LLVMGetBasicBlockTerminator(to), NULL);
}

/* Would the value have come to the block? Each branch that it decides alone must go that way. */
static LLVMValueRef way_holds(Watch *watch, LLVMBasicBlockRef to, LLVMValueRef leaf,
                              LLVMValueRef with)
{
    Woven *w = watch->w;
    LLVMValueRef fn = LLVMGetBasicBlockParent(to), holds = weave_int(w, w->i1, 1);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        if (b == to || !LLVMIsABranchInst(end) || !LLVMIsConditional(end) ||
            watch_leaf(LLVMGetCondition(end)) != leaf)
            continue;
        bool yes = can_reach(LLVMGetSuccessor(end, 0), to),
             no = can_reach(LLVMGetSuccessor(end, 1), to);
        if (yes == no)
            continue;
        LLVMValueRef c = again(watch, LLVMGetCondition(end), leaf, with);
        holds = LLVMBuildAnd(w->builder, holds, yes ? c : LLVMBuildNot(w->builder, c, ""), "");
    }
    return holds;
}

void watch_try_elsewhere(Watch *watch, const WatchSite *s, unsigned slot, LLVMValueRef v,
                         LLVMIntPredicate p, LLVMBasicBlockRef at)
{
    Woven *w = watch->w;
    LLVMValueRef leaf = watch_leaf(v), zero = LLVMConstNull(LLVMTypeOf(v));
    const WatchUses *uses = watch_uses(watch, s->kind, false);
    assert(leaf);
    for (size_t k = 0; k < uses->all.len; k++) {
        LLVMValueRef i = uses->all.items[k], other = LLVMIsALoadInst(i) ? i : LLVMGetOperand(i, 0);
        if (LLVMTypeOf(other) != LLVMTypeOf(leaf))
            continue;
        if (LLVMIsALoadInst(i))
            watch_go_after(watch, i);
        else
            watch_go_before(watch, i);
        LLVMValueRef bad = LLVMBuildICmp(w->builder, p, again(watch, v, leaf, other), zero, "");
        bad = LLVMBuildAnd(w->builder, bad, way_holds(watch, at, leaf, other), "");
        LLVMValueRef args[] = { watch_slot_value(watch, s, slot), watch_i64(watch, other, true),
                                LLVMBuildZExt(w->builder, bad, w->i32, "") };
        watch_call(watch, "sundew_watch_value", w->void_, args, 3);
    }
}
