/*
 * Ignored counts: read() and its kin may transfer less than they were asked for,
 * strtol() may stop in the middle, sscanf() may find less. Texts that are cut: rule_prints.c.
 *
 * A site is suspect if the result is not used, or only compared with 0 and -1.
 * A transfer that is short elsewhere, over a descriptor of the same kind, predicts
 * that it can be short here. Files end, so a short read of a regular file tells
 * nothing about another file.
 */
#include "weave/watch/rules_int.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* ---- transfers */

static const struct transfer {
    const char *name;
    unsigned from, want;       /* arguments: descriptor or stream; how much */
    bool stream, writes, vector;
} transfers[] = {
    { "read", 0, 2, false, false, false },     { "write", 0, 2, false, true, false },
    { "pread", 0, 2, false, false, false },    { "pwrite", 0, 2, false, true, false },
    { "recv", 0, 2, false, false, false },     { "send", 0, 2, false, true, false },
    { "recvfrom", 0, 2, false, false, false }, { "sendto", 0, 2, false, true, false },
    { "fread", 3, 2, true, false, false },     { "fwrite", 3, 2, true, true, false },
    { "readv", 0, 2, false, false, true },     { "writev", 0, 2, false, true, true },
    { "preadv", 0, 2, false, false, true },    { "pwritev", 0, 2, false, true, true },
};

static const struct transfer *transfer_of(LLVMValueRef i)
{
    const char *name = watch_library(i);
    for (size_t k = 0; name && k < sizeof transfers / sizeof *transfers; k++)
        if (!strcmp(transfers[k].name, name))
            return LLVMGetNumArgOperands(i) > transfers[k].from &&
                           LLVMGetNumArgOperands(i) > transfers[k].want &&
                           LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMIntegerTypeKind
                       ? &transfers[k]
                       : NULL;
    return NULL;
}

/* Is 0, the end, told from a count? */
static bool tells_end(LLVMValueRef v)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        int64_t c;
        if (!LLVMIsAICmpInst(i) || !watch_constant(LLVMGetOperand(i, 1), &c))
            continue;
        LLVMIntPredicate p = LLVMGetICmpPredicate(i);
        if (c == 0 && p != LLVMIntSLT && p != LLVMIntSGE)
            return true;
    }
    return false;
}

static bool asks_stream(LLVMValueRef fn)
{
    static const char *const asking[] = { "ferror", "ferror_unlocked", NULL };
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (watch_is_named(i, asking))
                return true;
    return false;
}

/* A stream remembers that a write failed. The function or one that calls it may ask later. */
static bool is_asked_later(LLVMValueRef i)
{
    LLVMValueRef fn = watch_function_of(i);
    if (asks_stream(fn))
        return true;
    for (LLVMUseRef u = LLVMGetFirstUse(fn); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef call = LLVMGetUser(u);
        if (LLVMIsACallInst(call) && LLVMGetCalledValue(call) == fn &&
            asks_stream(watch_function_of(call)))
            return true;
    }
    return false;
}

/* read(fd, &c, 1) that only waits for the other end: nobody looks at the local variable. */
static bool is_only_filled(LLVMValueRef address)
{
    for (LLVMUseRef u = LLVMGetFirstUse(address); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        const struct transfer *t = transfer_of(i);
        bool filled = t && !t->writes && !t->vector && LLVMGetOperand(i, 1) == address;
        if (!filled && !(LLVMIsAGetElementPtrInst(i) && is_only_filled(i)))
            return false;
    }
    return true;
}

static bool goes_nowhere(LLVMValueRef i, const struct transfer *t)
{
    LLVMValueRef base = t->writes || t->stream ? NULL : watch_base(LLVMGetOperand(i, 1));
    return base && LLVMIsAAllocaInst(base) && is_only_filled(base);
}

static void find_transfer(Watch *watch, LLVMValueRef i)
{
    const struct transfer *t = transfer_of(i);
    if (!t)
        return;
    int64_t want = 0;
    bool one = watch_constant(LLVMGetOperand(i, t->want), &want) && want == 1;
    bool suspect = watch_is_ignored(i) && !(one && tells_end(i)) && !goes_nowhere(i, t) &&
                   !(t->stream && t->writes && is_asked_later(i));
    WatchSite *s = watch_add(watch, i, suspect ? SITE_SUSPECT : SITE_WITNESS,
                             t->writes ? "write" : "read", t->name);
    s->fact[0] = tells_end(i);
    s->fact[1] = t->writes;
    s->error = t->stream || t->vector ? 0 : t->writes ? ENOSPC : EINTR;
}

/* Half of it is transferred, or nothing and the call fails. */
static void inject(Watch *watch, WatchSite *s, const struct transfer *t)
{
    Woven *w = watch->w;
    LLVMValueRef i = s->at[0], want = LLVMGetOperand(i, t->want),
                 slot = watch_slot_value(watch, s, 0);
    Vec(LLVMValueRef) users = { 0 };
    if (LLVMTypeOf(want) != w->i64 || LLVMTypeOf(i) != w->i64)
        return;
    for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u))
        vec_push(&users, LLVMGetUser(u));
    watch_go_before(watch, i);
    LLVMValueRef before[] = { slot, want };
    LLVMSetOperand(i, t->want, watch_call(watch, "sundew_watch_inject_short", w->i64, before, 2));
    watch_go_after(watch, i);
    LLVMValueRef after[] = { slot, i };
    LLVMValueRef given = watch_call(watch, "sundew_watch_inject_failure", w->i64, after, 2);
    for (size_t k = 0; k < users.len; k++)
        watch_replace(users.items[k], i, given);
    vec_release(&users);
}

static void probe_transfer(Watch *watch, WatchSite *s)
{
    LLVMValueRef i = s->at[0];
    const struct transfer *t = transfer_of(i);
    Woven *w = watch->w;
    if (watch->inject && s->wanted && !t->stream && !t->vector)
        inject(watch, s, t);
    watch_go_after(watch, i);
    LLVMValueRef from = LLVMGetOperand(i, t->from), want = LLVMGetOperand(i, t->want);
    if (t->stream) { /* elements of no size: none is moved */
        LLVMValueRef size = LLVMGetOperand(i, 1), zero = LLVMConstNull(LLVMTypeOf(size)),
                     none = LLVMBuildICmp(w->builder, LLVMIntEQ, size, zero, "");
        want = LLVMBuildSelect(w->builder, none, LLVMConstNull(LLVMTypeOf(want)), want, "");
    }
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0),
                            t->stream ? from : watch_i64(watch, from, true),
                            watch_i64(watch, want, false), watch_i64(watch, i, true) };
    LLVMValueRef five[] = { args[0], args[1], LLVMGetOperand(i, 1), args[2], args[3] };
    if (t->vector && LLVMTypeOf(five[2]) == w->ptr)
        watch_call(watch, "sundew_watch_vector", w->void_, five, 5);
    else if (!t->vector)
        watch_call(watch, t->stream ? "sundew_watch_stream" : "sundew_watch_count", w->void_, args,
                   4);
}

static const char *kind_text(uint64_t bits)
{
    return bits & SUNDEW_FD_PIPE          ? "a pipe"
           : bits & SUNDEW_FD_SOCKET      ? "a socket"
           : bits & SUNDEW_FD_TERMINAL    ? "a terminal"
           : bits & SUNDEW_FD_NONBLOCKING ? "a nonblocking descriptor"
           : bits & SUNDEW_FD_REGULAR     ? "a regular file"
                                          : "a descriptor";
}

static void join_transfer(const WatchSite *s, const struct sundew_watch_slot *self,
                          const WatchEvidence *all, WatchJudgement *out)
{
    const uint64_t lossy =
        SUNDEW_FD_PIPE | SUNDEW_FD_SOCKET | SUNDEW_FD_TERMINAL | SUNDEW_FD_NONBLOCKING;
    uint64_t kinds = self->bits & lossy;
    out->opportunities = self->n;
    out->missing = s->fact[1] ? "a test that writes to a nonblocking socket or pipe"
                              : "a test that reads from a pipe or socket in pieces";
    if (self->bad)
        watch_say(out, GRADE_STRONG, s, self,
                  "%s() gave %" PRId64 " of %" PRId64 " here, and the count was not looked at",
                  s->subject, self->value, self->value2);
    if (!s->fact[0] && self->low2 <= self->high2 && self->high2 > 0)
        watch_say(out, GRADE_STRONG, s, self,
                  "%s() gave 0 of %" PRId64 " here, and the program went on as if it had all",
                  s->subject, self->high2);
    size_t at = 0;
    for (const WatchSite *o; (o = watch_other(all, s, &at));) {
        const struct sundew_watch_slot *other = watch_slot(all, o, 0);
        if (other->bad_bits & kinds)
            watch_say(out, GRADE_PREDICTIVE, o, other,
                      "%s() in %s gave %" PRId64 " of %" PRId64 " from %s; the call here uses %s, "
                      "too, and got everything by luck",
                      o->subject, o->function, other->value, other->value2,
                      kind_text(other->bad_bits & kinds), kind_text(kinds));
    }
    /* Tests have room on their disks; a pipe that blocks takes everything. */
    if (s->fact[1] && self->bits & SUNDEW_FD_REGULAR) {
        out->open = true;
        out->missing = "--inject, which lets the disk be full";
    }
    uint64_t by_contract = s->fact[1] ? SUNDEW_FD_NONBLOCKING : lossy;
    if ((self->bits & by_contract) && self->high > 1)
        watch_say(out, GRADE_USAGE, s, self, "%s() is used with %s, which may give less",
                  s->subject, kind_text(kinds));
}

const WatchRule rule_transfer = {
    .family = "ignored-count",
    .objection = "this descriptor always transfers everything",
    .opportunity = "transfers",
    .instruction = find_transfer,
    .probe = probe_transfer,
    .join = join_transfer,
    .injects = true,
};

/* ---- strtol: where the number ended is not asked for */

static const char *const numbers[] = { "strtol", "strtoul", "strtoll", "strtoull", NULL };

static void find_number(Watch *watch, LLVMValueRef i)
{
    if (!watch_is_named(i, numbers) || LLVMGetNumArgOperands(i) != 3 ||
        !LLVMIsAConstantPointerNull(LLVMGetOperand(i, 1)))
        return;
    WatchSite *s = watch_add(watch, i, SITE_SUSPECT, "", watch_callee(i));
    s->group = s->key;
}

static void probe_number(Watch *watch, WatchSite *s)
{
    LLVMValueRef i = s->at[0];
    watch_go_after(watch, i);
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0), LLVMGetOperand(i, 0),
                            watch_i64(watch, LLVMGetOperand(i, 2), true) };
    watch_call(watch, "sundew_watch_number", watch->w->void_, args, 3);
}

static void join_number(const WatchSite *s, const struct sundew_watch_slot *self,
                        const WatchEvidence *all, WatchJudgement *out)
{
    (void)all;
    out->opportunities = self->n;
    out->missing = "a test with a text that is no number";
    if (self->bad)
        watch_say(out, GRADE_STRONG, s, self,
                  "%s() got a text that %s; nobody asked where the number ended", s->subject,
                  self->value ? "ends with something else" : "is no number");
}

const WatchRule rule_number = {
    .family = "ignored-count",
    .objection = "the text is always a number",
    .opportunity = "calls",
    .instruction = find_number,
    .probe = probe_number,
    .join = join_number,
};

/* ---- scanf: how many fields there were is not asked for */

static const struct scanner {
    const char *name;
    unsigned format;
} scanners[] = {
    { "scanf", 0 },          { "fscanf", 1 },          { "sscanf", 1 },
    { "__isoc99_scanf", 0 }, { "__isoc99_fscanf", 1 }, { "__isoc99_sscanf", 1 },
    { "__isoc23_scanf", 0 }, { "__isoc23_fscanf", 1 }, { "__isoc23_sscanf", 1 },
};

/* Conversions that are stored; %n and %* are not counted. */
static int64_t conversions(const char *f, size_t n)
{
    int64_t count = 0;
    for (size_t k = 0; k + 1 < n; k++) {
        if (f[k] != '%')
            continue;
        k++;
        bool kept = f[k] != '*' && f[k] != '%';
        while (k + 1 < n && strchr("*0123456789hljztLqm", f[k]) && f[k])
            k++;
        if (f[k] == '[')             /* %[]a] and %[^]a] have a ] of their own */
            for (k += f[k + 1] == '^' ? 3 : 2; k + 1 < n && f[k] != ']';)
                k++;
        count += kept && f[k] != 'n';
    }
    return count;
}

/* "size = 160; sscanf(word, "%d", &size);": a field that is not there keeps its value. A 0 is no
 * sign of that: many set all variables to it. One that makes a text empty is. */
static bool is_set_before(LLVMValueRef call, LLVMValueRef address)
{
    int64_t c;
    for (LLVMValueRef i = LLVMGetPreviousInstruction(call); i; i = LLVMGetPreviousInstruction(i))
        if (LLVMIsAStoreInst(i) && watch_same(LLVMGetOperand(i, 1), address, 6)) {
            LLVMValueRef v = LLVMGetOperand(i, 0);
            return !watch_constant(v, &c) || c || LLVMGetIntTypeWidth(LLVMTypeOf(v)) == 8;
        }
    return false;
}

static bool has_defaults(LLVMValueRef call, unsigned from)
{
    unsigned n = LLVMGetNumArgOperands(call);
    for (unsigned k = from; k < n; k++)
        if (!is_set_before(call, LLVMGetOperand(call, k)))
            return false;
    return from < n;
}

static void find_scan(Watch *watch, LLVMValueRef i)
{
    const char *name = watch_library(i), *f;
    size_t n;
    for (size_t k = 0; name && k < sizeof scanners / sizeof *scanners; k++) {
        if (strcmp(scanners[k].name, name) || LLVMGetNumArgOperands(i) <= scanners[k].format ||
            LLVMGetFirstUse(i) || LLVMTypeOf(i) != watch->w->i32 ||
            !(f = watch_constant_text(LLVMGetOperand(i, scanners[k].format), &n)))
            continue;
        const char *plain = strrchr(name, '_');
        bool set = has_defaults(i, scanners[k].format + 1);
        WatchSite *s =
            watch_add(watch, i, set ? SITE_LOOSE : SITE_SUSPECT, "", plain ? plain + 1 : name);
        s->group = s->key;
        s->fact[0] = conversions(f, n);
    }
}

static void probe_scan(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    LLVMValueRef i = s->at[0];
    watch_go_after(watch, i);
    LLVMValueRef fewer =
        LLVMBuildICmp(w->builder, LLVMIntSLT, i, weave_int(w, w->i32, (uint64_t)s->fact[0]), "");
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0), watch_i64(watch, i, true),
                            LLVMBuildZExt(w->builder, fewer, w->i32, "") };
    watch_call(watch, "sundew_watch_value", w->void_, args, 3);
}

static void join_scan(const WatchSite *s, const struct sundew_watch_slot *self,
                      const WatchEvidence *all, WatchJudgement *out)
{
    (void)all;
    out->opportunities = self->n;
    out->missing = "a test with a text that does not fit the format";
    if (self->bad)
        watch_say(out, GRADE_STRONG, s, self,
                  "%s() found %" PRId64 " of %" PRId64 " fields here, and nobody asked", s->subject,
                  self->value < 0 ? 0 : self->value, s->fact[0]);
}

const WatchRule rule_scan = {
    .family = "ignored-count",
    .objection = "the text always has all fields",
    .opportunity = "calls",
    .instruction = find_scan,
    .probe = probe_scan,
    .join = join_scan,
};
