/*
 * Dropped error codes: the result of a function that can fail is not used.
 *
 * Functions of the program count if they return a negative constant on some path and
 * callers that look at the result are not fewer than those that don't. A failure in one
 * context makes one in another likely. Library functions count where they are called
 * only: why open() failed elsewhere says nothing about here.
 *
 * That a call did not fail says something only if it might have. A regular file can seek always, so its
 * seeks are no opportunities, unless the function itself opened it under a name of its own: then nobody can put a pipe
 * in its place. Tests run as one user, so they can't reject a dropped setuid(), they have
 * memory, so they can't reject what fails without it, and their files are there and their disks
 * have room. What was only read loses nothing when it is closed.
 */
#include "weave/watch/rules_int.h"
#include <errno.h>
#include <inttypes.h>

/* What a site is, in fact[0]; fact[1]: the source says that the result is dropped on purpose. */
enum { OF_LIBRARY = 1, SEEKS = 2, NEEDS_MEMORY = 4, NEEDS_FILES = 8 };

/* Dropped on purpose so often that only the warning of another tool makes them suspect. */
static const char *const lenient[] = { "remove", "unlink", "mkdir",  "rmdir", "close",
                                       "fclose", "chmod",  "utimes", NULL };
static const char *const strict[] = { "chdir",   "setuid",    "setgid",   "seteuid",
                                      "setegid", "ftruncate", "fseek",    "rename",
                                      "dup2",    "lseek",     "truncate", NULL };

static const char *const seeks[] = { "fseek", "lseek", "fseeko", "lseek64", "fseeko64", NULL };
static const char *const users[] = { "setuid", "setgid", "seteuid", "setegid", NULL };
static const char *const openers[] = { "fopen", "open", "fopen64", "open64", NULL };
static const char *const scratch[] = { "tmpfile", "mkstemp", "tmpfile64", NULL };

/* It was opened here, to be read. */
static bool is_only_read(LLVMValueRef file)
{
    size_t n = 0;
    const char *mode =
        watch_is_named(file, openers) && LLVMTypeOf(file) == LLVMTypeOf(LLVMGetOperand(file, 0))
            ? watch_constant_text(LLVMGetOperand(file, 1), &n)
            : NULL;
    return mode && n && *mode == 'r' && !memchr(mode, '+', n);
}

/* Files and disks decide over all others of the lists. The root is always there. */
static bool is_decided_by_files(LLVMValueRef i)
{
    size_t n = 0;
    const char *name = watch_constant_text(LLVMGetOperand(i, 0), &n);
    bool there = name && n && (!strcmp(name, "/") || !strcmp(name, "."));
    return !watch_is_named(i, seeks) && !watch_is_named(i, users) &&
           strcmp(watch_callee(i), "dup2") != 0 && !there && !is_only_read(LLVMGetOperand(i, 0));
}

/* Did the function open it, as a file that nobody else names? */
static bool is_own_file(LLVMValueRef file)
{
    return watch_is_named(file, scratch) ||
           (watch_is_named(file, openers) && watch_is_constant_text(LLVMGetOperand(file, 0), 4));
}

static void count_callers(LLVMValueRef fn, unsigned *looking, unsigned *dropping)
{
    *looking = *dropping = 0;
    for (LLVMUseRef u = LLVMGetFirstUse(fn); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        if (LLVMIsACallInst(i) && LLVMGetCalledValue(i) == fn)
            ++*(LLVMGetFirstUse(i) ? looking : dropping);
    }
}

/* Does the source say that the result is dropped on purpose? `int f(void) { chdir(p); }` does not. */
static bool says_void(Watch *watch, LLVMValueRef i, const char *name)
{
    const char *cast = "(void)";
    size_t n = strlen(cast);
    for (const char *at = strstr(watch_line(watch, i), cast); at; at = strstr(at + n, cast))
        if (str_starts(at + n + strspn(at + n, " "), name))
            return true;
    return false;
}

/* A variable that it was given the address of is what the caller looks at next. */
static bool is_told_elsewhere(LLVMValueRef call)
{
    for (LLVMValueRef i = LLVMGetNextInstruction(call); i; i = LLVMGetNextInstruction(i)) {
        bool asked = LLVMIsALoadInst(i) && LLVMGetFirstUse(i) &&
                     LLVMIsAICmpInst(LLVMGetUser(LLVMGetFirstUse(i)));
        for (unsigned k = 0; asked && k < LLVMGetNumArgOperands(call); k++)
            if (LLVMGetOperand(call, k) == LLVMGetOperand(i, 0))
                return true;
    }
    return false;
}

static void find(Watch *watch, LLVMValueRef i)
{
    LLVMValueRef f = watch_callee_value(i);
    unsigned looking, dropping;
    if (!f || LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMIntegerTypeKind ||
        LLVMGetIntTypeWidth(LLVMTypeOf(i)) < 32)
        return;
    bool dropped = !LLVMGetFirstUse(i);
    if (LLVMIsDeclaration(f)) {
        bool soft = str_is_one_of(watch_name(f), lenient);
        if (!dropped || (!soft && !str_is_one_of(watch_name(f), strict)))
            return;
        WatchSite *s =
            watch_add(watch, i,
                      soft || says_void(watch, i, watch_name(f)) ? SITE_LOOSE : SITE_SUSPECT, "",
                      watch_name(f));
        s->group = s->key;
        s->fact[0] = OF_LIBRARY;
        if (watch_is_named(i, seeks) && !is_own_file(LLVMGetOperand(i, 0)))
            s->fact[0] |= SEEKS;
        if (is_decided_by_files(i))
            s->fact[0] |= NEEDS_FILES;
        return;
    }
    if (!watch_may_return_negative(watch, f) || (dropped && is_told_elsewhere(i)))
        return;
    count_callers(f, &looking, &dropping);
    bool suspect = dropped && looking && looking >= dropping;
    bool meant = dropped && says_void(watch, i, watch_name(f));
    WatchSite *s = watch_add(watch, i,
                             !dropped            ? SITE_WITNESS
                             : suspect && !meant ? SITE_SUSPECT
                                                 : SITE_LOOSE,
                             watch_name(f), watch_name(f));
    s->kind = watch_origins(watch, i);
    s->fact[1] = meant;
    s->fact[0] = watch_fails_of_memory(watch, f) ? NEEDS_MEMORY : 0;
}

static void probe(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    LLVMValueRef i = s->at[0];
    watch_go_after(watch, i);
    LLVMValueRef negative =
        LLVMBuildICmp(w->builder, LLVMIntSLT, i, LLVMConstInt(LLVMTypeOf(i), 0, false), "");
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0), watch_i64(watch, i, true),
                            LLVMBuildZExt(w->builder, negative, w->i32, "") };
    watch_call(watch, "sundew_watch_value", w->void_, args, 3);
    if (!(s->fact[0] & SEEKS))
        return;
    LLVMValueRef file = LLVMGetOperand(i, 0), zero = weave_int(w, w->i64, 0);
    bool stream = LLVMTypeOf(file) == w->ptr;
    LLVMValueRef seen[] = { watch_slot_value(watch, s, 1),
                            stream ? file : watch_i64(watch, file, true), zero, zero };
    watch_call(watch, stream ? "sundew_watch_stream" : "sundew_watch_count", w->void_, seen, 4);
}

/* A field that the program filled itself, where the failing call had something else. */
static bool may_differ(const char *here, const char *there)
{
    return strstr(here, "field") && strcmp(here, there) != 0;
}

static void join(const WatchSite *s, const struct sundew_watch_slot *self, const WatchEvidence *all,
                 WatchJudgement *out)
{
    out->opportunities = self->n;
    out->missing = "a test in which the call fails";
    if (s->fact[0] & SEEKS && !(watch_slot(all, s, 1)->bits & ~(uint64_t)SUNDEW_FD_REGULAR)) {
        out->opportunities = 0;
        out->idle = self->n > 0;
        out->missing = "a test in which it is a pipe: a regular file can seek always";
    }
    if (s->fact[0] & OF_LIBRARY && str_is_one_of(s->subject, users)) {
        out->open = true;
        out->missing = "a run as a user who may not do this";
    }
    if (s->fact[0] & NEEDS_FILES) {
        out->open = true;
        out->missing = "a test in which it fails: a file is missing, or a disk is full";
    }
    if (s->fact[0] & NEEDS_MEMORY) {
        out->open = true;
        out->missing = watch_missing_outside(OUTSIDE_MEMORY);
    }
    bool harmless = s->fact[0] & OF_LIBRARY && (self->error == ENOENT || self->error == EEXIST);
    if (self->bad && !harmless)
        watch_say(out, GRADE_STRONG, s, self,
                  "%s() failed here with %" PRId64 " (%" PRIu64 " of %" PRIu64
                  " calls), and nobody looked",
                  s->subject, self->value, self->bad, self->n);
    size_t at = 0;
    for (const WatchSite *o; self->n && !s->fact[1] && (o = watch_other(all, s, &at));) {
        const struct sundew_watch_slot *other = watch_slot(all, o, 0);
        if (other->bad && !may_differ(s->kind, o->kind))
            watch_say(out, GRADE_PREDICTIVE, o, other,
                      "%s() failed in %s with %" PRId64 " (%" PRIu64 " of %" PRIu64
                      " calls); here its result is dropped",
                      s->subject, o->function, other->value, other->bad, other->n);
    }
}

const WatchRule rule_dropped = {
    .family = "dropped-error",
    .objection = "the call can't fail here",
    .opportunity = "calls",
    .slots = 2,
    .instruction = find,
    .probe = probe,
    .join = join,
};
