/*
 * Texts that are cut: the result of snprintf() and vsnprintf() is not used.
 *
 * Some cut on purpose, and are no suspects: the room is measured at the text itself (a part of
 * it is wanted), the program asks behind the call whether the text was cut, or it is a message for a
 * person.
 */
#include "weave/watch/rules_int.h"
#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* ---- on purpose? */

static LLVMValueRef room_of(LLVMValueRef print) { return LLVMGetOperand(print, 1); }

/* Is the text among what is printed? */
static bool is_printed(LLVMValueRef print, LLVMValueRef text)
{
    for (unsigned k = 2; k < LLVMGetNumArgOperands(print); k++)
        if (watch_same(watch_base(LLVMGetOperand(print, k)), watch_base(text), 6))
            return true;
    return false;
}

/* A step of arithmetic; its operands follow. */
static bool is_step(LLVMValueRef v)
{
    return LLVMIsABinaryOperator(v) || LLVMIsAZExtInst(v) || LLVMIsASExtInst(v) ||
           LLVMIsATruncInst(v) || LLVMIsAPHINode(v) || LLVMIsASelectInst(v) ||
           LLVMIsAPtrToIntInst(v);
}

typedef bool SourceTest(LLVMValueRef source, LLVMValueRef print);

/* Does one of the values that the number is made of pass the test? */
static bool any_source(LLVMValueRef v, LLVMValueRef print, SourceTest *test, unsigned depth)
{
    if (test(v, print))
        return true;
    for (int k = 0; depth && is_step(v) && k < LLVMGetNumOperands(v); k++)
        if (any_source(LLVMGetOperand(v, (unsigned)k), print, test, depth - 1))
            return true;
    return false;
}

/* end - text, or strcspn(text, …): as long as a part of the text. */
static bool measures_part(LLVMValueRef v, LLVMValueRef print)
{
    static const char *const measures[] = { "strcspn", "strspn", "strnlen", NULL };
    return (LLVMIsAPtrToIntInst(v) || watch_is_named(v, measures)) &&
           is_printed(print, LLVMGetOperand(v, 0));
}

static bool is_parameter(LLVMValueRef v, LLVMValueRef print)
{
    (void)print;
    return LLVMIsAArgument(v) != NULL;
}

/* n + 1 in two places. */
static bool is_equal(LLVMValueRef a, LLVMValueRef b, unsigned depth)
{
    bool equal = a == b;
    if (!equal && depth && is_step(a) && is_step(b) && !LLVMIsAPHINode(a) &&
        LLVMGetInstructionOpcode(a) == LLVMGetInstructionOpcode(b)) {
        equal = true;
        for (int k = 0; equal && k < LLVMGetNumOperands(a); k++)
            equal =
                is_equal(LLVMGetOperand(a, (unsigned)k), LLVMGetOperand(b, (unsigned)k), depth - 1);
    }
    return equal;
}

/* Room of the length that a caller wants was made for this text alone. */
static bool has_wanted_room(LLVMValueRef print)
{
    static const char *const makers[] = { "malloc", NULL };
    LLVMValueRef made = LLVMGetOperand(print, 0);
    size_t n = 0;
    const char *f = watch_constant_text(LLVMGetOperand(print, 2), &n);
    bool alone = f && n >= 2 && !memcmp(f, "%s", 2) && (n == 2 || !f[2]);
    return alone && watch_is_named(made, makers) &&
           is_equal(LLVMGetOperand(made, 0), room_of(print), 4) &&
           any_source(room_of(print), print, is_parameter, 4);
}

/* strlen(…) that is compared with the room, or with one less. */
static bool is_compared_with_room(LLVMValueRef length, LLVMValueRef print)
{
    int64_t room, with;
    for (LLVMUseRef u = LLVMGetFirstUse(length); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u), other;
        if (!LLVMIsAICmpInst(i))
            continue;
        other = LLVMGetOperand(i, LLVMGetOperand(i, 0) == length ? 1 : 0);
        if (watch_constant(room_of(print), &room) && watch_constant(other, &with) &&
            with >= room - 2 && with <= room)
            return true;
        if (other == room_of(print) ||
            (LLVMIsABinaryOperator(other) && LLVMGetOperand(other, 0) == room_of(print)))
            return true;
    }
    return false;
}

/* Does the call ask whether the text in `to` was cut: by its length, or by a look at the whole? */
static bool asks_if_cut(LLVMValueRef i, LLVMValueRef to, LLVMValueRef print)
{
    static const char *const lengths[] = { "strlen", NULL };
    static const char *const equals[] = { "strcmp", NULL };
    if (watch_is_named(i, lengths))
        return watch_same(watch_base(LLVMGetOperand(i, 0)), to, 6) &&
               is_compared_with_room(i, print);
    if (!watch_is_named(i, equals))
        return false;
    LLVMValueRef a = watch_base(LLVMGetOperand(i, 0)), b = watch_base(LLVMGetOperand(i, 1));
    return (watch_same(a, to, 6) && is_printed(print, b)) ||
           (watch_same(b, to, 6) && is_printed(print, a));
}

static bool is_asked_behind(LLVMValueRef print)
{
    LLVMValueRef to = watch_base(LLVMGetOperand(print, 0)), fn = watch_function_of(print);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (asks_if_cut(i, to, print) && watch_is_behind(print, i, NULL))
                return true;
    return false;
}

/* fputs(text, stderr), syslog(…): a person reads it. */
static bool tells_person(LLVMValueRef i)
{
    static const char *const tellers[] = { "perror", "syslog", "warn",  "warnx",
                                           "err",    "errx",   "error", NULL };
    static const char *const printers[] = { "fprintf", "fputs", "fwrite", NULL };
    if (!watch_is_named(i, printers))
        return watch_is_named(i, tellers);
    for (unsigned k = 0; k < LLVMGetNumArgOperands(i); k++) {
        LLVMValueRef v = LLVMGetOperand(i, k), from = LLVMIsALoadInst(v) ? LLVMGetOperand(v, 0) : v;
        if (LLVMIsAGlobalVariable(from) && !strcmp(watch_name(from), "stderr"))
            return true;
    }
    return false;
}

/* A local text that goes to messages only. `told`: to one at least. */
static bool is_message(LLVMValueRef address, LLVMValueRef print, bool *told)
{
    for (LLVMUseRef u = LLVMGetFirstUse(address); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        bool tells = tells_person(i);
        const char *callee = watch_callee(i);
        *told |= tells;
        if (i != print && !tells && !(callee && str_starts(callee, "llvm.")) &&
            !(LLVMIsAGetElementPtrInst(i) && is_message(i, print, told)))
            return false;
    }
    return true;
}

static bool is_cut_on_purpose(LLVMValueRef print)
{
    LLVMValueRef to = watch_base(LLVMGetOperand(print, 0));
    bool told = false;
    return any_source(room_of(print), print, measures_part, 6) || has_wanted_room(print) ||
           is_asked_behind(print) ||
           (LLVMIsAAllocaInst(to) && is_message(to, print, &told) && told);
}

/* ---- snprintf: lengths of texts that were seen in different calls may add up */

enum { TEXTS = 4 };

/* Which arguments a plain %s prints; false: there is something that we can't follow. */
static bool text_arguments(const char *f, size_t n, unsigned *which, unsigned *count)
{
    unsigned arg = 0;
    *count = 0;
    for (size_t k = 0; k + 1 < n; k++) {
        if (f[k] != '%')
            continue;
        k++;
        size_t flags = strspn(f + k, "-+ #0123456789lhzjt");
        if (f[k + flags] == '.' || f[k + flags] == '*')
            return false;
        k += flags;
        if (f[k] == '%')
            continue;
        if (f[k] == 's' && *count < TEXTS)
            which[(*count)++] = arg;
        arg++;
    }
    return true;
}

static void find_text_count(Watch *watch, LLVMValueRef i)
{
    const char *name = watch_library(i);
    size_t n;
    unsigned which[TEXTS], count;
    if (!name || strcmp(name, "snprintf") || LLVMGetNumArgOperands(i) < 3 || LLVMGetFirstUse(i) ||
        is_cut_on_purpose(i))
        return;
    const char *f = watch_constant_text(LLVMGetOperand(i, 2), &n);
    if (!f || !text_arguments(f, n, which, &count))
        return;
    WatchSite *s = watch_add(watch, i, SITE_SUSPECT, "", name);
    s->group = s->key;               /* alone */
    s->fact[0] = count;
}

static void probe_text_count(Watch *watch, WatchSite *s)
{
    LLVMValueRef i = s->at[0];
    Woven *w = watch->w;
    size_t n;
    unsigned which[TEXTS], count;
    const char *f = watch_constant_text(LLVMGetOperand(i, 2), &n);
    assert(f);                       /* the matcher has seen it */
    text_arguments(f, n, which, &count);
    watch_go_after(watch, i);
    LLVMValueRef sum = weave_int(w, w->i64, 0);
    for (unsigned k = 0; k < count; k++) {
        unsigned at = 3 + which[k];
        if (at >= LLVMGetNumArgOperands(i) || LLVMTypeOf(LLVMGetOperand(i, at)) != w->ptr)
            continue;
        LLVMValueRef args[] = { watch_slot_value(watch, s, 1 + k), LLVMGetOperand(i, at) };
        sum = LLVMBuildAdd(w->builder, sum, watch_call(watch, "sundew_watch_text", w->i64, args, 2),
                           "");
    }
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0), watch_i64(watch, i, true),
                            watch_i64(watch, LLVMGetOperand(i, 1), false), sum };
    watch_call(watch, "sundew_watch_print", w->void_, args, 4);
}

/* The subject may have written any numbers. */
static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static void join_text_count(const WatchSite *s, const struct sundew_watch_slot *self,
                            const WatchEvidence *all, WatchJudgement *out)
{
    out->opportunities = self->n;
    out->missing = "a test with longer texts";
    if (self->bad)
        watch_say(out, GRADE_STRONG, s, self,
                  "%s() needed %" PRId64 " bytes and had %" PRId64 "; the text was cut", s->subject,
                  plus(self->value, 1), self->value2);
    if (!s->fact[0] || self->low > self->high || self->low2 > self->high2)
        return;
    if (self->low2 != self->high2)
        return;                      /* the room is made for the texts of each call */
    int64_t longest = self->high;
    for (unsigned k = 0; k < s->fact[0]; k++) {
        const struct sundew_watch_slot *t = watch_slot(all, s, 1 + k);
        longest = plus(longest, t->low <= t->high ? t->high : 0);
    }
    if (s->fact[0] > 1 && longest >= self->low2)
        watch_say(out, GRADE_PREDICTIVE, s, self,
                  "the longest texts that were seen here, in different calls, need %" PRId64
                  " bytes together; there are %" PRId64,
                  plus(longest, 1), self->low2);
}

const WatchRule rule_text_count = {
    .family = "ignored-count",
    .objection = "the texts are short enough",
    .opportunity = "calls",
    .slots = 1 + TEXTS,
    .instruction = find_text_count,
    .probe = probe_text_count,
    .join = join_text_count,
};

/* ---- vsnprintf: what is printed is the caller's */

static void find_vprint(Watch *watch, LLVMValueRef i)
{
    const char *name = watch_library(i);
    if (!name || strcmp(name, "vsnprintf") || LLVMGetNumArgOperands(i) < 3 || LLVMGetFirstUse(i) ||
        is_cut_on_purpose(i))
        return;
    WatchSite *s = watch_add(watch, i, SITE_SUSPECT, "", name);
    s->group = s->key;
}

static void probe_vprint(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    LLVMValueRef i = s->at[0];
    watch_go_after(watch, i);
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0), watch_i64(watch, i, true),
                            watch_i64(watch, LLVMGetOperand(i, 1), false),
                            weave_int(w, w->i64, 0) };
    watch_call(watch, "sundew_watch_print", w->void_, args, 4);
}

const WatchRule rule_vprint = {
    .family = "ignored-count",
    .objection = "the texts are short enough",
    .opportunity = "calls",
    .instruction = find_vprint,
    .probe = probe_vprint,
    .join = join_text_count,
};
