/* What kinds of failure there are, and which failures are the same. How one is
 * recognised stands in failure_read.c. */
#include "run/failure.h"
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char *const kind_names[] = {
    [FAILURE_NONE] = "none",
    [FAILURE_EXIT] = "exit",
    [FAILURE_SIGNAL] = "signal",
    [FAILURE_STACK_OVERFLOW] = "stack-overflow",
    [FAILURE_ABORT] = "abort",
    [FAILURE_ASSERTION] = "assertion",
    [FAILURE_SANITIZER] = "sanitizer",
    [FAILURE_TIMEOUT] = "timeout",
    [FAILURE_CPU_LIMIT] = "cpu-limit",
    [FAILURE_HANG] = "hang",
    [FAILURE_MEMORY_LIMIT] = "memory-limit",
    [FAILURE_OUTPUT_LIMIT] = "output-limit",
    [FAILURE_FILE_LIMIT] = "file-limit",
    [FAILURE_PROCESS_LIMIT] = "process-limit",
};
enum { KINDS = sizeof kind_names / sizeof *kind_names };

const char *failure_kind_name(FailureKind kind)
{
    return (unsigned)kind < KINDS ? kind_names[kind] : "unknown";
}

bool failure_kind_parse(const char *name, FailureKind *kind)
{
    for (unsigned i = 0; i < KINDS; i++)
        if (strcmp(name, kind_names[i]) == 0) {
            *kind = i;
            return true;
        }
    return false;
}

const char *failure_access_name(FailureAccess a)
{
    static const char *const names[] = { "", "read", "write", "exec" };
    return (unsigned)a < 4 ? names[a] : "";
}

const char *failure_signal_name(int sig)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {
        { SIGSEGV, "SIGSEGV" },     { SIGBUS, "SIGBUS" },   { SIGFPE, "SIGFPE" },
        { SIGILL, "SIGILL" },       { SIGABRT, "SIGABRT" }, { SIGTRAP, "SIGTRAP" },
        { SIGSYS, "SIGSYS" },       { SIGKILL, "SIGKILL" }, { SIGTERM, "SIGTERM" },
        { SIGINT, "SIGINT" },       { SIGHUP, "SIGHUP" },   { SIGPIPE, "SIGPIPE" },
        { SIGALRM, "SIGALRM" },     { SIGXCPU, "SIGXCPU" }, { SIGXFSZ, "SIGXFSZ" },
        { SIGQUIT, "SIGQUIT" },     { SIGUSR1, "SIGUSR1" }, { SIGUSR2, "SIGUSR2" },
        { SIGVTALRM, "SIGVTALRM" }, { SIGPROF, "SIGPROF" }, { SIGIO, "SIGIO" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == sig)
            return names[i].name;
    return "another signal";
}

bool failure_is(const Failure *f) { return f->kind != FAILURE_NONE && f->kind != FAILURE_EXIT; }

bool failure_is_late(const Failure *f)
{
    return f->kind == FAILURE_TIMEOUT || f->kind == FAILURE_CPU_LIMIT || f->kind == FAILURE_HANG;
}

const FailureFrame *failure_site(const Failure *f)
{
    return f->site < f->nframes ? &f->frames[f->site] : NULL;
}

void failure_release(Failure *f)
{
    Arena a = f->arena;
    arena_release(&a);
    *f = (Failure){ 0 };
}

static const char *copy_text(Arena *a, const char *text)
{
    return text ? arena_strdup(a, text) : NULL;
}

void failure_copy(Failure *to, const Failure *from)
{
    assert(!to->arena.blocks && from->site <= from->nframes);
    *to = *from;
    to->arena = (Arena){ 0 };
    to->tool = copy_text(&to->arena, from->tool);
    to->what = copy_text(&to->arena, from->what);
    to->frames = arena_array(&to->arena, FailureFrame, from->nframes);
    for (size_t i = 0; i < from->nframes; i++) {
        FailureFrame *f = &to->frames[i];
        *f = from->frames[i];
        f->function = copy_text(&to->arena, f->function);
        f->file = copy_text(&to->arena, f->file);
        f->module = copy_text(&to->arena, f->module);
    }
}

/* ---- comparison */

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : !a && !b;
}

/* Folders differ from build to build. */
static bool same_file(const char *a, const char *b)
{
    const char *x = a ? strrchr(a, '/') : NULL, *y = b ? strrchr(b, '/') : NULL;
    return same_text(x ? x + 1 : a, y ? y + 1 : b);
}

/* What a report says beyond its kind holds values of the run: "index 7 out of
 * bounds". Digits are left out of the comparison. */
static bool same_report(const char *a, const char *b)
{
    if (!a || !b)
        return !a && !b;
    while (*a && *b) {
        a += strspn(a, "0123456789-");
        b += strspn(b, "0123456789-");
        if (*a != *b)
            return false;
        if (*a)
            a++, b++;
    }
    a += strspn(a, "0123456789-");
    b += strspn(b, "0123456789-");
    return *a == *b;
}

static bool same_kind(const Failure *a, const Failure *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case FAILURE_EXIT: return a->status == b->status;
    case FAILURE_SIGNAL: return a->signal == b->signal && a->access == b->access;
    case FAILURE_SANITIZER:
        return same_text(a->tool, b->tool) && same_report(a->what, b->what) &&
               a->access == b->access;
    case FAILURE_ABORT: return same_report(a->what, b->what);
    default: return true;
    }
}

/* Lines where both know them, else the place in the module. */
static bool same_place(const FailureFrame *a, const FailureFrame *b)
{
    if (!a || !b)
        return !a && !b;
    if (!same_text(a->function, b->function))
        return false;
    if (a->line || b->line)
        return a->line == b->line && same_file(a->file, b->file);
    return a->offset == b->offset && same_file(a->module, b->module);
}

static bool same_stack(const Failure *a, const Failure *b)
{
    size_t i = a->site, k = b->site;
    for (; i < a->nframes && k < b->nframes; i++, k++)
        if (!same_text(a->frames[i].function, b->frames[k].function))
            return false;
    return true;
}

/* A stack that overflows does so at any of its functions. */
static bool has_site(FailureKind k)
{
    return k == FAILURE_SIGNAL || k == FAILURE_ABORT || k == FAILURE_ASSERTION ||
           k == FAILURE_SANITIZER;
}

bool failure_same(const Failure *a, const Failure *b, FailureLevel level)
{
    if (!same_kind(a, b))
        return false;
    if (level == FAILURE_SAME_KIND || !has_site(a->kind))
        return true;
    if (a->kind == FAILURE_ASSERTION && !same_text(a->what, b->what))
        return false;
    if (!same_place(failure_site(a), failure_site(b)))
        return false;
    return level == FAILURE_SAME_SITE || same_stack(a, b);
}

/* ---- text */

static void add_access(const Failure *f, bool with_address, Str *out)
{
    static const char *const verbs[] = { "", "reading", "writing", "executing" };
    assert((size_t)f->access < sizeof verbs / sizeof *verbs);
    if (f->access)
        str_addf(out, ", %s", verbs[f->access]);
    if (f->access && f->size)
        str_addf(out, " %u byte%s", f->size, f->size == 1 ? "" : "s");
    if (with_address && f->has_address && f->kind == FAILURE_SIGNAL)
        str_addf(out, "%s %#llx", f->access ? "" : ", at", (unsigned long long)f->address);
}

static void add_frame(const FailureFrame *f, Str *out)
{
    if (f->function)
        str_addf(out, "%s", f->function);
    if (f->file)
        str_addf(out, "%s%s", f->function ? " at " : "", f->file);
    if (f->file && f->line)
        str_addf(out, ":%u", f->line);
    if (!f->file && f->module)
        str_addf(out, "%s%s+%#llx", f->function ? " at " : "", f->module,
                 (unsigned long long)f->offset);
}

static void add_kind(const Failure *f, Str *out)
{
    switch (f->kind) {
    case FAILURE_NONE: str_add(out, "no failure"); break;
    case FAILURE_EXIT: str_addf(out, "exit status %d", f->status); break;
    case FAILURE_SIGNAL: str_add(out, failure_signal_name(f->signal)); break;
    case FAILURE_STACK_OVERFLOW: str_add(out, "stack overflow"); break;
    case FAILURE_ABORT: str_addf(out, f->what ? "abort: %s" : "abort", f->what); break;
    case FAILURE_ASSERTION: str_addf(out, "assertion failed: %s", f->what); break;
    case FAILURE_SANITIZER: str_addf(out, "%s (%s)", f->what, f->tool); break;
    case FAILURE_TIMEOUT: str_addf(out, f->what ? "time limit, %s" : "time limit", f->what); break;
    case FAILURE_CPU_LIMIT: str_add(out, "CPU time limit"); break;
    case FAILURE_HANG: str_add(out, "hang: no progress"); break;
    case FAILURE_MEMORY_LIMIT: str_add(out, "memory limit"); break;
    case FAILURE_OUTPUT_LIMIT: str_add(out, "output limit"); break;
    case FAILURE_FILE_LIMIT: str_add(out, "file size limit"); break;
    case FAILURE_PROCESS_LIMIT: str_add(out, "process limit"); break;
    }
}

void failure_title(const Failure *f, Str *out)
{
    enum { LONGEST = 100 };
    const FailureFrame *site = failure_site(f);
    Str kind = { 0 };
    add_kind(f, &kind);
    size_t n = kind.len < LONGEST ? kind.len : LONGEST;
    while (n < kind.len && n && (str_c(&kind)[n] & 0xc0) == 0x80)
        n--;                           /* not inside a character */
    str_addn(out, str_c(&kind), n);
    str_add(out, n < kind.len ? "…" : "");
    str_release(&kind);
    add_access(f, false, out);
    if (site && site->function)
        str_addf(out, ", in %s", site->function);
}

void failure_describe(const Failure *f, Str *out)
{
    add_kind(f, out);
    add_access(f, true, out);
    const FailureFrame *site = failure_site(f);
    if (site) {
        str_add(out, ", in ");
        add_frame(site, out);
    }
}

void failure_dump(const Failure *f, Str *out)
{
    str_addf(out, "kind %s, status %d, signal %d, code %d\n", failure_kind_name(f->kind), f->status,
             f->signal, f->code);
    if (f->has_address || f->access)
        str_addf(out, "%s %u bytes at %#llx%s\n", failure_access_name(f->access), f->size,
                 (unsigned long long)f->address, f->has_address ? "" : " (not known)");
    if (f->tool || f->what)
        str_addf(out, "%s: %s\n", f->tool ? f->tool : "-", f->what ? f->what : "-");
    for (size_t i = 0; i < f->nframes; i++) {
        str_addf(out, "%s#%zu ", i == f->site ? "> " : "  ", i);
        add_frame(&f->frames[i], out);
        str_addc(out, '\n');
    }
}
