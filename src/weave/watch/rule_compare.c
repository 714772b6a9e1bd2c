/*
 * Comparators of qsort() and its kin: a result that is a truth value, a difference that
 * can overflow, strcmp() on elements that are pointers.
 *
 * A pure comparator is called again with its arguments swapped and with one argument twice. For a
 * difference the range of the operands over the whole run predicts an overflow that
 * no single call had.
 */
#include "weave/watch/rules_int.h"
#include <assert.h>
#include <inttypes.h>

static const struct sorter {
    const char *name;
    unsigned comparator, size;       /* arguments; size 9: none */
} sorters[] = {
    { "qsort", 3, 2 },   { "bsearch", 4, 3 }, { "tsearch", 2, 9 }, { "tfind", 2, 9 },
    { "tdelete", 2, 9 }, { "lfind", 4, 3 },   { "lsearch", 4, 3 },
};

/* A subtraction whose result is returned, through phis and a truncation. */
static LLVMValueRef difference(LLVMValueRef v, unsigned depth)
{
    if (LLVMIsATruncInst(v))
        v = LLVMGetOperand(v, 0);
    if (LLVMIsABinaryOperator(v) && LLVMGetInstructionOpcode(v) == LLVMSub) {
        LLVMValueRef a = LLVMGetOperand(v, 0), b = LLVMGetOperand(v, 1);
        /* Operands that were narrow fit: (int)c - (int)d of characters. */
        bool narrow = (LLVMIsASExtInst(a) || LLVMIsAZExtInst(a)) &&
                      (LLVMIsASExtInst(b) || LLVMIsAZExtInst(b));
        return LLVMIsAConstant(a) || LLVMIsAConstant(b) || narrow ? NULL : v;
    }
    for (unsigned k = 0; depth && LLVMIsAPHINode(v) && k < LLVMCountIncoming(v); k++) {
        LLVMValueRef d = difference(LLVMGetIncomingValue(v, k), depth - 1);
        if (d)
            return d;
    }
    return NULL;
}

static bool is_comparator(Watch *watch, LLVMValueRef f)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(f);
    return !LLVMIsDeclaration(f) && LLVMCountParams(f) == 2 && !LLVMIsFunctionVarArg(type) &&
           LLVMGetReturnType(type) == watch->w->i32 &&
           LLVMTypeOf(LLVMGetParam(f, 0)) == watch->w->ptr &&
           LLVMTypeOf(LLVMGetParam(f, 1)) == watch->w->ptr;
}

/* Floating point has values that are in no order, and differences that become 0. */
static bool uses_floats(LLVMValueRef f)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsAFCmpInst(i) || LLVMIsAFPToSIInst(i))
                return true;
    return false;
}

/* Each return of a truth value that is not constant. */
static bool returns_truth(Watch *watch, LLVMValueRef f)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        if (!end || LLVMGetInstructionOpcode(end) != LLVMRet)
            continue;
        if (!watch_is_boolean(watch, LLVMGetOperand(end, 0), 4))
            return false;
    }
    return true;
}

static LLVMValueRef any_return(LLVMValueRef f, LLVMValueRef *sub)
{
    LLVMValueRef first = NULL;
    *sub = NULL;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        if (!end || LLVMGetInstructionOpcode(end) != LLVMRet)
            continue;
        first = first ? first : end;
        if (!*sub)
            *sub = difference(LLVMGetOperand(end, 0), 3);
    }
    return first;
}

static void add(Watch *watch, LLVMValueRef f)
{
    LLVMValueRef sub, end = any_return(f, &sub);
    char *key = xprintf("comparator %s", watch_name(f));
    bool known = map_has(&watch->ordinals, key);
    map_put(&watch->ordinals, key, watch);
    free(key);
    if (known || !end)
        return;
    bool suspect = sub || returns_truth(watch, f) || uses_floats(f);
    WatchSite *s =
        watch_add(watch, sub ? sub : end, suspect ? SITE_SUSPECT : SITE_LOOSE, "", watch_name(f));
    const Function *fn = program_function(watch->w->program, watch_name(f));
    watch_place(s, end);
    if (fn && fn->line && s->nplaces < 8)
        s->places[s->nplaces++] = (WatchPlace){ fn->line, fn->column };
    s->group = s->key;
    s->at[1] = f;
    s->at[2] = sub;
    s->fact[1] = sub && LLVMGetIntTypeWidth(LLVMTypeOf(sub)) == 64;
}

static void find(Watch *watch, LLVMValueRef i)
{
    const char *name = watch_library(i);
    for (size_t k = 0; name && k < sizeof sorters / sizeof *sorters; k++) {
        const struct sorter *q = &sorters[k];
        if (strcmp(q->name, name) || LLVMGetNumArgOperands(i) <= q->comparator)
            continue;
        LLVMValueRef f = LLVMGetOperand(i, q->comparator);
        int64_t size;
        if (LLVMIsAFunction(f) && is_comparator(watch, f)) {
            add(watch, f);
        } else if (LLVMIsAFunction(f) && !strcmp(watch_name(f), "strcmp") && q->size < 9 &&
                   watch_constant(LLVMGetOperand(i, q->size), &size) && size == 8) {
            WatchSite *s = watch_add(watch, i, SITE_SUSPECT, "", "strcmp");
            s->group = s->key;
            s->fact[0] = 1;
        }
    }
}

/* Tells when a sort with this comparator begins and ends. How large its elements are, if all
 * sorts agree; else 0. */
static uint64_t probe_sorts(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    int64_t size = 0, one;
    for (LLVMUseRef u = LLVMGetFirstUse(s->at[1]); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        const char *name = watch_library(i);
        if (!name || strcmp(name, "qsort") || LLVMGetNumArgOperands(i) != 4 ||
            LLVMGetOperand(i, 3) != s->at[1])
            continue;
        if (!watch_constant(LLVMGetOperand(i, 2), &one) || (size && size != one))
            return 0;
        size = one;
        LLVMValueRef args[] = { watch_slot_value(watch, s, 0), weave_int(w, w->i32, 1) };
        watch_go_before(watch, i);
        watch_call(watch, "sundew_watch_sort", w->void_, args, 2);
        args[1] = weave_int(w, w->i32, 0);
        watch_go_after(watch, i);
        watch_call(watch, "sundew_watch_sort", w->void_, args, 2);
    }
    return (uint64_t)size;
}

static void probe_returns(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    LLVMValueRef f = s->at[1];
    /* The range tells more about a difference than three elements do. */
    LLVMValueRef size = weave_int(w, w->i32, s->at[2] ? 0 : probe_sorts(watch, s));
    assert(watch_is_pure(watch, f)); /* it is called a second time */
    for (LLVMBasicBlockRef b = NULL; (b = weave_go_to_return(w, f, b));) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        LLVMValueRef args[] = {
            watch_slot_value(watch, s, 0), f,   LLVMGetParam(f, 0), LLVMGetParam(f, 1),
            LLVMGetOperand(end, 0),        size
        };
        watch_call(watch, "sundew_watch_compare", w->void_, args, 6);
    }
}

static void probe(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    if (s->fact[0]) {
        watch_probe_hit(watch, s);
        return;
    }
    if (watch_is_pure(watch, s->at[1]))
        probe_returns(watch, s);
    if (!s->at[2])
        return;
    watch_go_after(watch, s->at[2]);
    LLVMValueRef args[] = { watch_slot_value(watch, s, 1),
                            watch_i64(watch, LLVMGetOperand(s->at[2], 0), true),
                            watch_i64(watch, LLVMGetOperand(s->at[2], 1), true) };
    watch_call(watch, "sundew_watch_pair", w->void_, args, 3);
}

static void join(const WatchSite *s, const struct sundew_watch_slot *self, const WatchEvidence *all,
                 WatchJudgement *out)
{
    const struct sundew_watch_slot *r = watch_slot(all, s, 1);
    out->opportunities = self->n ? self->n : r->n; /* second calls count in the latter, too */
    out->missing = "a test that sorts more, and more different, elements";
    if (s->fact[0] && self->n)
        watch_say(out, GRADE_STRONG, s, self,
                  "strcmp() compares elements that are pointers: it reads the addresses' bytes");
    else if (self->bad && (self->bad_bits & 1))
        watch_say(out, GRADE_STRONG, s, self,
                  "%s(a, b) gave %" PRId64 " and %s(b, a) gave %" PRId64, s->subject, self->value,
                  s->subject, self->value2);
    else if (self->bad_bits & 4)
        watch_say(out, GRADE_STRONG, s, self,
                  "%s() is no order of three elements: a and b, b and c, a and c do not fit "
                  "together",
                  s->subject);
    else if (self->bad)
        watch_say(out, GRADE_STRONG, s, self, "%s(a, a) gave %" PRId64, s->subject, self->value);
    if (r->n == 0 || r->low > r->high || r->low2 > r->high2)
        return;
    int64_t high = r->high > r->high2 ? r->high : r->high2;
    int64_t low = r->low < r->low2 ? r->low : r->low2;
    if ((__int128)high - low > INT32_MAX)
        watch_say(out, GRADE_PREDICTIVE, s, r,
                  "the values go from %" PRId64 " to %" PRId64
                  ": the difference of these two does not fit into an int",
                  low, high);
}

const WatchRule rule_comparator = {
    .family = "comparator",
    .objection = "the order has always been right",
    .opportunity = "comparisons",
    .slots = 2,
    .instruction = find,
    .probe = probe,
    .join = join,
};
