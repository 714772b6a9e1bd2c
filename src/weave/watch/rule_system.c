/* The world outside: files that change between two calls, signal handlers, functions that
 * nobody seems to call. */
#include "weave/watch/rules_int.h"
#include <inttypes.h>
#include <signal.h>

/* ---- access(path), then open(path) */

static const char *const asking[] = { "access", "stat", "lstat", NULL };
static const char *const using[] = { "open",  "fopen",  "unlink", "remove", "chmod",
                                     "chown", "rename", "mkdir",  "creat",  NULL };

/* A call behind `i`, in the same function, with the same path. */
static LLVMValueRef use_behind(LLVMValueRef i)
{
    bool behind = false;
    LLVMValueRef fn = watch_function_of(i);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef k = LLVMGetFirstInstruction(b); k; k = LLVMGetNextInstruction(k)) {
            if (behind && watch_is_named(k, using) &&
                watch_same(LLVMGetOperand(k, 0), LLVMGetOperand(i, 0), 6))
                return k;
            behind |= k == i;
        }
    return NULL;
}

static void find_toctou(Watch *watch, LLVMValueRef i)
{
    LLVMValueRef use = watch_is_named(i, asking) ? use_behind(i) : NULL;
    if (!use)
        return;
    WatchSite *s = watch_add(watch, use, SITE_SUSPECT, "", watch_callee(use));
    watch_place(s, i);
    s->group = s->key;
}

static void probe_toctou(Watch *watch, WatchSite *s)
{
    LLVMValueRef args[] = { watch_slot_value(watch, s, 0), LLVMGetOperand(s->at[0], 0) };
    watch_go_before(watch, s->at[0]);
    watch_call(watch, "sundew_watch_path_use", watch->w->void_, args, 2);
}

static void join_toctou(const WatchSite *s, const struct sundew_watch_slot *self,
                        const WatchEvidence *all, WatchJudgement *out)
{
    (void)all;
    out->opportunities = self->n;
    out->missing = "a test with a file in a folder that others may write to";
    if (self->bad)
        watch_say(out, GRADE_PREDICTIVE, s, self,
                  "%s() used a path in a folder that everybody may write to (%" PRIu64
                  " of %" PRIu64 " calls), after it was asked about",
                  s->subject, self->bad, self->n);
}

const WatchRule rule_toctou = {
    .family = "toctou",
    .objection = "nobody else changes these files",
    .opportunity = "calls",
    .instruction = find_toctou,
    .probe = probe_toctou,
    .join = join_toctou,
};

/* ---- signal handlers that use malloc or stdio */

static const char *const unsafe[] = { "malloc",  "calloc", "realloc", "free",   "printf",
                                      "fprintf", "puts",   "fputs",   "fwrite", "syslog",
                                      "exit",    "fflush", "strdup",  "fopen",  NULL };

/* signal(n, handler), or a handler that is stored into a struct sigaction. */
static LLVMValueRef handler_of(Watch *watch, LLVMValueRef i)
{
    LLVMValueRef h = NULL;
    if (watch_library(i) && !strcmp(watch_library(i), "signal") && LLVMGetNumArgOperands(i) == 2)
        h = LLVMGetOperand(i, 1);
    if (LLVMIsAStoreInst(i)) {
        const char *field = watch_field(watch, LLVMGetOperand(i, 1));
        bool action = field && str_starts(field, "struct.sigaction");
        h = action ? LLVMGetOperand(i, 0) : NULL;
    }
    return h && LLVMIsAFunction(h) && !LLVMIsDeclaration(h) ? h : NULL;
}

/* SIGSEGV and its kin: the program is lost, and a handler that says so is usual. */
static bool is_fatal(LLVMValueRef i)
{
    int64_t n;
    static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP };
    if (!LLVMIsACallInst(i) || !watch_constant(LLVMGetOperand(i, 0), &n))
        return false;
    for (size_t k = 0; k < sizeof fatal / sizeof *fatal; k++)
        if (n == fatal[k])
            return true;
    return false;
}

static void find_signal(Watch *watch, LLVMValueRef i)
{
    LLVMValueRef h = handler_of(watch, i);
    if (!h || !watch_calls(h, unsafe, 3))
        return;
    WatchSite *s = watch_add(watch, i, is_fatal(i) ? SITE_LOOSE : SITE_SUSPECT, "", watch_name(h));
    s->group = s->key;
    s->at[1] = h;
    const Function *f = program_function(watch->w->program, watch_name(h));
    if (f && f->line && !strcmp(f->file, s->file))
        s->places[s->nplaces++] = (WatchPlace){ f->line, f->column };
}

enum { FACILITY_CALLS = 64 };

static void probe_signal(Watch *watch, WatchSite *s)
{
    Woven *w = watch->w;
    LLVMValueRef slots[] = { watch_slot_value(watch, s, 0), watch_slot_value(watch, s, 1),
                             watch_slot_value(watch, s, 2) };
    Vec(LLVMValueRef) all = { 0 };
    for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); f != s->at[1] && b;
             b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                if (watch_is_named(i, unsafe) && all.len < FACILITY_CALLS)
                    vec_push(&all, i);
    for (size_t k = 0; k < all.len; k++) {
        watch_go_before(watch, all.items[k]);
        watch_call(watch, "sundew_watch_hit", w->void_, &slots[1], 1);
    }
    vec_release(&all);
    weave_go_to_entry(w, s->at[1]);
    watch_call(watch, "sundew_watch_hit", w->void_, &slots[2], 1);
    watch_go_before(watch, s->at[0]);
    watch_call(watch, "sundew_watch_hit", w->void_, &slots[0], 1);
}

static void join_signal(const WatchSite *s, const struct sundew_watch_slot *self,
                        const WatchEvidence *all, WatchJudgement *out)
{
    uint64_t used = watch_slot(all, s, 1)->n, ran = watch_slot(all, s, 2)->n;
    out->opportunities = self->n;
    out->missing = "a test that installs the handler";
    if (self->n && used)
        watch_say(out, ran ? GRADE_PREDICTIVE : GRADE_USAGE, s, self,
                  "the handler %s() is installed%s, and the program uses the same functions "
                  "outside of it (%" PRIu64 " calls)",
                  s->subject, ran ? " and ran" : "", used);
}

const WatchRule rule_signal = {
    .family = "signal-handler",
    .objection = "the signal never comes at a bad time",
    .opportunity = "installations",
    .slots = 3,
    .instruction = find_signal,
    .probe = probe_signal,
    .join = join_signal,
};

/* ---- functions that nobody seems to call: one call is enough to reject the warning */

static void find_unused(Watch *watch, LLVMValueRef fn)
{
    const Function *f = program_function(watch->w->program, watch_name(fn));
    if (!f || !strcmp(f->name, "main"))
        return;
    WatchSite *s = watch_add(watch, fn, SITE_LOOSE, "", watch_name(fn));
    s->group = s->key;
    s->fact[0] = f->address_taken;
}

static void probe_unused(Watch *watch, WatchSite *s)
{
    LLVMValueRef slot = watch_slot_value(watch, s, 0);
    weave_go_to_entry(watch->w, s->at[0]);
    watch_call(watch, "sundew_watch_hit", watch->w->void_, &slot, 1);
}

static void join_unused(const WatchSite *s, const struct sundew_watch_slot *self,
                        const WatchEvidence *all, WatchJudgement *out)
{
    (void)all;
    out->opportunities = self->n;
    out->settled = self->n || s->fact[0];
    out->missing = "nothing: no run can show that a function is not used";
    if (self->n)
        snprintf(out->text, sizeof out->text, "%s() was called %" PRIu64 " times", s->function,
                 self->n);
}

const WatchRule rule_unused = {
    .family = "unused-function",
    .objection = "it is called through a pointer",
    .opportunity = "calls",
    .function = find_unused,
    .probe = probe_unused,
    .join = join_unused,
};
