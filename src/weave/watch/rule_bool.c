/*
 * & and | where && and || were meant: the right operand is computed in any case.
 *
 * Both operands are 0 or 1 (a comparison, !, a predicate). The instructions between
 * the left operand and the operator are the right one: the region.
 *
 *     if ((q != NULL) & (q->n > 0))     the left tests what the right reads:
 *                                       was this parameter or field ever NULL?
 *     if ((i < n) & take(&s))           the right has effects: did they happen
 *                                       while the left alone decided?
 */
#include "weave/watch/rules_int.h"
#include <assert.h>
#include <inttypes.h>

/* Calls that change nothing anybody would miss. */
static const char *const harmless[] = { "malloc", "calloc", "free", "getenv", "strdup", NULL };

static LLVMValueRef comparison(LLVMValueRef v)
{
    while (LLVMIsAZExtInst(v) || LLVMIsATruncInst(v))
        v = LLVMGetOperand(v, 0);
    return LLVMIsAICmpInst(v) ? v : NULL;
}

/* The pointer that the left operand compares with NULL so that the right one should only
 * be computed if it is not. */
static LLVMValueRef tested_pointer(LLVMValueRef i)
{
    LLVMValueRef c = comparison(LLVMGetOperand(i, 0));
    bool is_and = LLVMGetInstructionOpcode(i) == LLVMAnd;
    if (!c || !LLVMIsAConstantPointerNull(LLVMGetOperand(c, 1)))
        return NULL;
    return LLVMGetICmpPredicate(c) == (is_and ? LLVMIntNE : LLVMIntEQ) ? LLVMGetOperand(c, 0)
                                                                       : NULL;
}

static bool is_impure_call(Watch *watch, LLVMValueRef i)
{
    LLVMValueRef f = watch_callee_value(i);
    if (!LLVMIsACallInst(i))
        return false;
    if (!f)
        return true;
    if (str_starts(watch_name(f), "llvm."))
        return false;
    if (LLVMIsDeclaration(f))
        return !watch_is_named(i, harmless) && !str_starts(watch_name(f), "str") &&
               !str_starts(watch_name(f), "mem") && !str_starts(watch_name(f), "is") &&
               !str_starts(watch_name(f), "__ctype") && !str_starts(watch_name(f), "__errno") &&
               !str_starts(watch_name(f), "to");
    return !watch_is_pure(watch, f);
}

/* A local variable changes: a value of the region is used behind the operator. */
static bool changes_local(LLVMValueRef v, LLVMValueRef i)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if (op != LLVMAdd && op != LLVMSub)
        return false;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMGetInstructionParent(user) != LLVMGetInstructionParent(i) || LLVMIsAPHINode(user))
            return true;
    }
    return false;
}

enum { READS = 1, CALLS = 2, STORES = 4, CHANGES = 8 };

/* What the right operand does; `null_read` gets whether it reads through `p`. */
static unsigned look_at_region(Watch *watch, LLVMValueRef i, LLVMValueRef p, bool *null_read)
{
    LLVMValueRef left = LLVMGetOperand(i, 0), v = LLVMGetNextInstruction(left);
    unsigned what = 0;
    for (; v && v != i; v = LLVMGetNextInstruction(v)) {
        if (LLVMIsALoadInst(v) && !LLVMIsAAllocaInst(watch_base(LLVMGetOperand(v, 0)))) {
            what |= READS;
            if (p && watch_same(watch_base(LLVMGetOperand(v, 0)), p, 6) &&
                (!LLVMIsALoadInst(p) || LLVMGetOperand(v, 0) != LLVMGetOperand(p, 0)))
                *null_read = true;
        }
        if (LLVMIsACallInst(v) && is_impure_call(watch, v))
            what |= CALLS;
        else if (LLVMIsAStoreInst(v) && !LLVMIsAAllocaInst(watch_base(LLVMGetOperand(v, 1))))
            what |= STORES;
        else if (changes_local(v, i))
            what |= CHANGES;
        else if (LLVMIsACallInst(v) && watch_callee(v) && !str_starts(watch_callee(v), "llvm."))
            what |= READS;
    }
    return v ? what : 0;
}

static bool is_condition(LLVMValueRef i)
{
    for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u))
        if (LLVMIsAICmpInst(LLVMGetUser(u)) || LLVMIsABranchInst(LLVMGetUser(u)))
            return true;
    return false;
}

static void find(Watch *watch, LLVMValueRef i)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    if ((op != LLVMAnd && op != LLVMOr) || !is_condition(i))
        return;
    LLVMValueRef a = LLVMGetOperand(i, 0), b = LLVMGetOperand(i, 1);
    if (LLVMIsAConstant(a) || LLVMIsAConstant(b) || !watch_is_boolean(watch, a, 4) ||
        !watch_is_boolean(watch, b, 4) || !LLVMIsAInstruction(a) ||
        LLVMGetInstructionParent(a) != LLVMGetInstructionParent(i))
        return;
    LLVMValueRef p = tested_pointer(i);
    bool null_read = false;
    unsigned what = look_at_region(watch, i, p, &null_read);
    if (!what)
        return;
    WatchSite *s = watch_add(watch, i, SITE_SUSPECT, "", op == LLVMAnd ? "&" : "|");
    s->group = s->key;
    s->at[1] = null_read ? p : NULL;
    s->fact[0] = what;
    watch_place(s, a);
}

/* ---- probes */

static void probe_effect(Watch *watch, LLVMValueRef before)
{
    watch_go_before(watch, before);
    watch_call(watch, "sundew_watch_effect", watch->w->void_, NULL, 0);
}

/* Stores and calls of a function that a region calls; each function once. */
static void probe_callee(Watch *watch, LLVMValueRef f, unsigned depth)
{
    char *key = xprintf("effects %s", watch_name(f));
    bool done = !map_put(&watch->ordinals, key, watch);
    free(key);
    if (done || !depth)
        return;
    Vec(LLVMValueRef) all = { 0 };
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            vec_push(&all, i);
    for (size_t k = 0; k < all.len; k++) {
        LLVMValueRef i = all.items[k], callee = watch_callee_value(i);
        bool store = LLVMIsAStoreInst(i) && !LLVMIsAAllocaInst(watch_base(LLVMGetOperand(i, 1)));
        if (callee && !LLVMIsDeclaration(callee))
            probe_callee(watch, callee, depth - 1);
        else if (store || is_impure_call(watch, i))
            probe_effect(watch, i);
    }
    vec_release(&all);
}

static void probe_region(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    LLVMValueRef i = s->at[0], left = LLVMGetOperand(i, 0);
    assert(LLVMGetInstructionParent(left) == LLVMGetInstructionParent(i));
    Vec(LLVMValueRef) region = { 0 };
    for (LLVMValueRef v = LLVMGetNextInstruction(left); v && v != i; v = LLVMGetNextInstruction(v))
        vec_push(&region, v);
    for (size_t k = 0; k < region.len; k++) {
        LLVMValueRef v = region.items[k], f = watch_callee_value(v);
        if (LLVMIsAStoreInst(v) || changes_local(v, i))
            probe_effect(watch, v);
        else if (f && !LLVMIsDeclaration(f))
            probe_callee(watch, f, 4);
        else if (LLVMIsACallInst(v) && is_impure_call(watch, v))
            probe_effect(watch, v);
    }
    vec_release(&region);
    bool is_and = LLVMGetInstructionOpcode(i) == LLVMAnd;
    watch_go_after(watch, left);
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(left));
    LLVMValueRef decides =
        LLVMBuildICmp(w->builder, is_and ? LLVMIntEQ : LLVMIntNE, left, zero, "");
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0),
                            LLVMBuildZExt(w->builder, decides, w->i32, "") };
    watch_call(watch, "sundew_watch_region", w->void_, args, 2);
    LLVMValueRef counts[] = { watch_slot_value(watch, s, 2), weave_int(w, w->i64, 0), args[1] };
    watch_call(watch, "sundew_watch_value", w->void_, counts, 3);
    watch_go_before(watch, i);
    watch_call(watch, "sundew_watch_region_end", w->void_, args, 1);
}

static void probe_pointer(Watch *watch, WatchSite *s, LLVMValueRef p)
{
    Woven *w = watch->w;
    LLVMValueRef null = LLVMBuildZExt(w->builder, LLVMBuildIsNull(w->builder, p, ""), w->i32, "");
    LLVMValueRef args[] = { watch_slot_value(watch, s, 1), weave_int(w, w->i64, 0), null };
    watch_call(watch, "sundew_watch_value", w->void_, args, 3);
}

/* All loads of the field, wherever they stand. */
static void probe_field(Watch *watch, WatchSite *s, const char *field)
{
    const WatchUses *uses = watch_uses(watch, field, false);
    for (size_t k = 0; k < uses->all.len; k++) {
        LLVMValueRef i = uses->all.items[k];
        if (!LLVMIsALoadInst(i) || LLVMTypeOf(i) != watch->w->ptr)
            continue;
        watch_go_after(watch, i);
        probe_pointer(watch, s, i);
    }
}

static void probe(Watch *watch, WatchSite *s)
{
    LLVMValueRef p = s->at[1];
    const char *field = p && LLVMIsALoadInst(p) ? watch_field(watch, LLVMGetOperand(p, 0)) : NULL;
    probe_region(watch, s);
    if (p && LLVMIsAArgument(p)) {
        weave_go_to_entry(watch->w, watch_function_of(s->at[0]));
        probe_pointer(watch, s, p);
    } else if (field) {
        probe_field(watch, s, field);
    } else if (p) {
        watch_go_after(watch, p);
        probe_pointer(watch, s, p);
    }
}

static void join(const WatchSite *s, const struct sundew_watch_slot *self, const WatchEvidence *all,
                 WatchJudgement *out)
{
    const struct sundew_watch_slot *null = watch_slot(all, s, 1);
    /* Effects matter only where the left side alone decides. */
    out->opportunities = s->at[1] ? self->n : watch_slot(all, s, 2)->bad;
    out->idle = self->n > 0;
    out->missing = s->at[1] ? "a test in which the pointer is NULL"
                            : "a test in which the left side alone decides";
    if (self->bad)
        watch_say(out, GRADE_STRONG, s, self,
                  "the right side of %s had effects although the left side alone decided",
                  s->subject);
    if (self->n && null->bad)
        watch_say(
            out, GRADE_PREDICTIVE, s, null,
            "the pointer that the left side tests and the right side reads was NULL in %" PRIu64
            " of %" PRIu64 " cases",
            null->bad, null->n);
}

const WatchRule rule_bool = {
    .family = "non-short-circuit",
    .objection = "the right side is harmless, computing it always was intended",
    .opportunity = "evaluations",
    .slots = 3,
    .instruction = find,
    .probe = probe,
    .join = join,
};
