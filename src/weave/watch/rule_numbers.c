/* Tests for overflow that the compiler may delete, products that size an allocation,
 * comparisons of signed with unsigned numbers. */
#include "weave/watch/rules_int.h"
#include <inttypes.h>

/* ---- if (k + 100 < k): without overflow it is never true, and overflow is undefined.
 *
 * The flag "no signed wrap" on the addition is what the optimiser goes by; a program that
 * is built with -fwrapv has none, and is not suspect. */

/* Equal, or loads of one place in a block, and nothing between them may write. */
static bool is_one_value(LLVMValueRef a, LLVMValueRef b)
{
    bool after_a = false, after_b = false, written = false;
    if (a == b)
        return true;
    if (!LLVMIsALoadInst(a) || !LLVMIsALoadInst(b) || !watch_same(a, b, 6) ||
        LLVMGetInstructionParent(a) != LLVMGetInstructionParent(b))
        return false;
    for (LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetInstructionParent(a));
         i && !(after_a && after_b); i = LLVMGetNextInstruction(i)) {
        after_a |= i == a;
        after_b |= i == b;
        written |= after_a != after_b && (LLVMIsAStoreInst(i) || LLVMIsACallInst(i));
    }
    return !written;
}

static bool is_sum_of(LLVMValueRef sum, LLVMValueRef part)
{
    return LLVMIsABinaryOperator(sum) && LLVMGetInstructionOpcode(sum) == LLVMAdd &&
           LLVMGetNSW(sum) &&
           (is_one_value(LLVMGetOperand(sum, 0), part) ||
            is_one_value(LLVMGetOperand(sum, 1), part));
}

/* limit += base; if (limit > base): asks whether what was added is positive. */
static bool asks_for_sign(LLVMValueRef sum)
{
    return !LLVMIsAConstant(LLVMGetOperand(sum, 0)) && !LLVMIsAConstant(LLVMGetOperand(sum, 1));
}

static void find_overflow_test(Watch *watch, LLVMValueRef i)
{
    if (!LLVMIsAICmpInst(i))
        return;
    LLVMIntPredicate p = LLVMGetICmpPredicate(i);
    if (p != LLVMIntSLT && p != LLVMIntSGT && p != LLVMIntSLE && p != LLVMIntSGE)
        return;
    LLVMValueRef a = LLVMGetOperand(i, 0), b = LLVMGetOperand(i, 1);
    if (LLVMIsAConstant(a) || LLVMIsAConstant(b) || (!is_sum_of(a, b) && !is_sum_of(b, a)))
        return;
    if ((p == LLVMIntSGT && is_sum_of(a, b) && asks_for_sign(a)) ||
        (p == LLVMIntSLT && is_sum_of(b, a) && asks_for_sign(b)))
        return;
    WatchSite *s = watch_add(watch, i, SITE_SUSPECT, "", "comparison");
    s->group = s->key;
}

static void join_overflow_test(const WatchSite *s, const struct sundew_watch_slot *self,
                               const WatchEvidence *all, WatchJudgement *out)
{
    (void)all;
    out->opportunities = self->n;
    if (self->n)
        watch_say(out, GRADE_STRONG, s, self,
                  "the test was executed (%" PRIu64
                  " times), and an optimising compiler deletes it: signed overflow is undefined",
                  self->n);
}

const WatchRule rule_overflow_test = {
    .family = "overflow-test",
    .objection = "the test works",
    .opportunity = "tests",
    .instruction = find_overflow_test,
    .probe = watch_probe_hit,
    .join = join_overflow_test,
};

/* ---- malloc(width * height) */

static LLVMValueRef product(LLVMValueRef v)
{
    while (LLVMIsASExtInst(v) || LLVMIsAZExtInst(v))
        v = LLVMGetOperand(v, 0);
    return LLVMIsABinaryOperator(v) && LLVMGetInstructionOpcode(v) == LLVMMul ? v : NULL;
}

static bool is_divided(LLVMValueRef v)
{
    if (LLVMIsAConstant(v))          /* it has users everywhere */
        return false;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMOpcode op = LLVMGetInstructionOpcode(LLVMGetUser(u));
        if (op == LLVMUDiv || op == LLVMSDiv || LLVMIsAICmpInst(LLVMGetUser(u)))
            return true;
    }
    return false;
}

static void find_malloc_product(Watch *watch, LLVMValueRef i)
{
    static const char *const names[] = { "malloc", "realloc", NULL };
    if (!watch_is_named(i, names))
        return;
    LLVMValueRef m = product(LLVMGetOperand(i, LLVMGetNumArgOperands(i) - 1));
    if (!m)
        return;
    LLVMValueRef a = LLVMGetOperand(m, 0), b = LLVMGetOperand(m, 1);
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(m));
    bool checked = is_divided(a) || is_divided(b);
    bool constant = LLVMIsAConstant(a) || LLVMIsAConstant(b);
    WatchSite *s =
        watch_add(watch, i, checked || (constant && bits == 64) ? SITE_LOOSE : SITE_SUSPECT, "",
                  watch_callee(i));
    s->group = s->key;
    s->at[1] = m;
    s->fact[0] = bits;
    s->fact[1] = LLVMGetNSW(m) != 0;
    watch_place(s, m);
}

static void probe_malloc_product(Watch *watch, WatchSite *s)
{
    LLVMValueRef m = s->at[1];
    watch_go_after(watch, m);
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0),
                            watch_i64(watch, LLVMGetOperand(m, 0), s->fact[1]),
                            watch_i64(watch, LLVMGetOperand(m, 1), s->fact[1]) };
    watch_call(watch, "sundew_watch_pair", watch->w->void_, args, 3);
}

static void join_malloc_product(const WatchSite *s, const struct sundew_watch_slot *self,
                                const WatchEvidence *all, WatchJudgement *out)
{
    (void)all;
    out->opportunities = self->n;
    out->missing = "a test with larger numbers";
    if (!self->n || self->low > self->high || self->low2 > self->high2 || self->high < 0 ||
        self->high2 < 0)
        return;
    unsigned __int128 most = (unsigned __int128)self->high * (uint64_t)self->high2;
    uint64_t limit = s->fact[0] == 64 ? UINT64_MAX : s->fact[1] ? INT32_MAX : UINT32_MAX;
    if (most > limit)
        watch_say(out, GRADE_PREDICTIVE, s, self,
                  "the operands went up to %" PRId64 " and %" PRId64
                  ", in different calls; their product does not fit into %" PRId64 " bits",
                  self->high, self->high2, s->fact[0]);
}

const WatchRule rule_malloc_product = {
    .family = "malloc-product",
    .objection = "the numbers are small",
    .opportunity = "allocations",
    .instruction = find_malloc_product,
    .probe = probe_malloc_product,
    .join = join_malloc_product,
};

/* ---- signed against unsigned: only where another tool warns; such code is common */

static void find_sign_compare(Watch *watch, LLVMValueRef i)
{
    if (!LLVMIsAICmpInst(i) ||
        LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(i, 0))) != LLVMIntegerTypeKind)
        return;
    LLVMIntPredicate p = LLVMGetICmpPredicate(i);
    LLVMValueRef a = LLVMGetOperand(i, 0), b = LLVMGetOperand(i, 1);
    bool is_unsigned = p == LLVMIntULT || p == LLVMIntULE || p == LLVMIntUGT || p == LLVMIntUGE;
    if (!is_unsigned || (!LLVMIsASExtInst(a) && !LLVMIsASExtInst(b)))
        return;
    WatchSite *s = watch_add(watch, i, SITE_LOOSE, "", "comparison");
    s->group = s->key;
    s->at[1] = LLVMIsASExtInst(a) ? a : b;
    s->fact[1] = watch_outside(watch, s->at[1], i, -1);
    s->kind = watch_values_class(watch, s->at[1]);
}

/* Would it be negative for what the parameter's field was elsewhere? */
static void try_elsewhere(Watch *watch, WatchSite *s)
{
    if (*s->kind)
        watch_try_elsewhere(watch, s, 1, s->at[1], LLVMIntSLT, LLVMGetInstructionParent(s->at[0]));
}

static void probe_sign_compare(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    LLVMValueRef v = LLVMGetOperand(s->at[1], 0);
    watch_go_before(watch, s->at[0]);
    LLVMValueRef negative =
        LLVMBuildICmp(w->builder, LLVMIntSLT, v, LLVMConstNull(LLVMTypeOf(v)), "");
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0), watch_i64(watch, v, true),
                            LLVMBuildZExt(w->builder, negative, w->i32, "") };
    watch_call(watch, "sundew_watch_value", w->void_, args, 3);
    try_elsewhere(watch, s);
}

static void join_sign_compare(const WatchSite *s, const struct sundew_watch_slot *self,
                              const WatchEvidence *all, WatchJudgement *out)
{
    const struct sundew_watch_slot *elsewhere = watch_slot(all, s, 1);
    out->opportunities = self->n;
    watch_leave_open((WatchOutside)s->fact[1], out,
                     "a test in which the signed number is negative");
    if (self->n && elsewhere->bad)
        watch_say(out, GRADE_PREDICTIVE, s, elsewhere,
                  "%s() gets what %s is, which was %" PRId64
                  " elsewhere: then the signed operand is negative",
                  s->function, s->kind, elsewhere->value);
    if (self->bad)
        watch_say(out, GRADE_STRONG, s, self,
                  "the signed operand was %" PRId64 ", which is taken for a large number",
                  self->value);
}

const WatchRule rule_sign_compare = {
    .family = "sign-compare",
    .objection = "the signed number is never negative",
    .opportunity = "comparisons",
    .slots = 2,
    .instruction = find_sign_compare,
    .probe = probe_sign_compare,
    .join = join_sign_compare,
};

/* ---- the same where both are equally wide, or compared for equality. The code does not tell which
 * of two is the signed one: then a sign leaves it open. */

static bool may_be_signed(LLVMValueRef v) { return !LLVMIsAConstant(v) && !LLVMIsAZExtInst(v); }

static void find_sign_asked(Watch *watch, LLVMValueRef i)
{
    if (!LLVMIsAICmpInst(i) ||
        LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(i, 0))) != LLVMIntegerTypeKind)
        return;
    LLVMIntPredicate p = LLVMGetICmpPredicate(i);
    LLVMValueRef a = LLVMGetOperand(i, 0), b = LLVMGetOperand(i, 1);
    bool orders = p == LLVMIntULT || p == LLVMIntULE || p == LLVMIntUGT || p == LLVMIntUGE;
    if ((!orders && p != LLVMIntEQ && p != LLVMIntNE) || (!may_be_signed(a) && !may_be_signed(b)))
        return;
    WatchSite *s = watch_add(watch, i, SITE_LOOSE, "", "comparison");
    s->group = s->key;
    s->at[1] = may_be_signed(a) ? a : b;
    s->fact[0] = may_be_signed(a) && may_be_signed(b) && !LLVMIsASExtInst(a) && !LLVMIsASExtInst(b);
    if (LLVMIsASExtInst(b) && !LLVMIsASExtInst(a))
        s->at[1] = b;
    s->at[2] = s->fact[0] ? b : NULL;
    s->fact[1] = watch_outside(watch, s->at[1], i, -1);
    s->kind = s->fact[0] ? "" : watch_values_class(watch, s->at[1]);
}

static void probe_sign_asked(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    watch_go_before(watch, s->at[0]);
    for (unsigned k = 1; k < 3 && s->at[k]; k++) {
        LLVMValueRef v = s->at[k];
        LLVMValueRef negative =
            LLVMBuildICmp(w->builder, LLVMIntSLT, v, LLVMConstNull(LLVMTypeOf(v)), "");
        LLVMValueRef args[] = { watch_slot_value(watch, s, 0), watch_i64(watch, v, true),
                                LLVMBuildZExt(w->builder, negative, w->i32, "") };
        watch_call(watch, "sundew_watch_value", w->void_, args, 3);
    }
    try_elsewhere(watch, s);
}

static void join_sign_asked(const WatchSite *s, const struct sundew_watch_slot *self,
                            const WatchEvidence *all, WatchJudgement *out)
{
    if (s->fact[0]) {
        out->opportunities = self->n / 2;
        out->missing = "a look: one side was above half of its range, and may be the unsigned one";
        out->open = self->bad > 0;
    } else {
        join_sign_compare(s, self, all, out);
    }
}

const WatchRule rule_sign_asked = {
    .family = "sign-compare",
    .objection = "the signed number is never negative",
    .opportunity = "comparisons",
    .slots = 2,
    .asked = true,
    .instruction = find_sign_asked,
    .probe = probe_sign_asked,
    .join = join_sign_asked,
};
