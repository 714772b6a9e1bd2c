/*
 * From facts to a Failure.
 *
 * Three questions, in this order; the first that has an answer decides:
 *
 *     1. Did the worker stop it, or the kernel for a limit?
 *     2. Did a sanitizer report something? Then the report tells all. It
 *        counts whatever the exit status is: UBSan goes on after a report.
 *     3. How did the process end? An abort is asked for its reason: the text of
 *        an assertion, or what the C library said.
 *
 * A report is recognised by the exact shape of its first line, since programs
 * print "runtime error" and "ERROR" for reasons of their own:
 *
 *     ==123==ERROR: AddressSanitizer: heap-use-after-free on address 0x602… at
 *     READ of size 4 at 0x602000000010 thread T0
 *         #0 0x55d0a in list_sum /src/list.c:31:12
 *     a.c:3:10: runtime error: signed integer overflow: …
 *
 * The text is the subject's and may be anything; nothing here trusts it.
 */
#include "run/failure.h"
#include "base/vec.h"
#include "run/run_int.h"
#include <assert.h>
#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* A piece of the text. */
typedef struct Span {
    const char *at, *end;
} Span;

/* The next line without its newline; false at the end. */
static bool next_line(Span *rest, Span *line)
{
    if (rest->at >= rest->end)
        return false;
    const char *nl = memchr(rest->at, '\n', (size_t)(rest->end - rest->at));
    *line = (Span){ rest->at, nl ? nl : rest->end };
    rest->at = nl ? nl + 1 : rest->end;
    return true;
}

static const char *find(Span s, const char *text)
{
    return memmem(s.at, (size_t)(s.end - s.at), text, strlen(text));
}

static bool begins(Span s, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(s.end - s.at) >= n && memcmp(s.at, text, n) == 0;
}

static Span skip_blanks(Span s)
{
    while (s.at < s.end && (*s.at == ' ' || *s.at == '\t'))
        s.at++;
    return s;
}

static Span skip_digits(Span s)
{
    while (s.at < s.end && isdigit((unsigned char)*s.at))
        s.at++;
    return s;
}

static uint64_t number(const char *at, const char *end, int base)
{
    char digits[24];
    assert(at <= end);
    size_t n = (size_t)(end - at) < 23 ? (size_t)(end - at) : 23;
    memcpy(digits, at, n);
    digits[n] = 0;
    return strtoull(digits, NULL, base);
}

static const char *keep(Failure *f, Span s)
{
    return arena_strndup(&f->arena, s.at, (size_t)(s.end - s.at));
}

/* Without addresses, which mean nothing to people and differ from run to run: "load of misaligned
 * address 0x7f13 for type 'int'". */
static const char *keep_words(Failure *f, Span s)
{
    char *text = arena_strndup(&f->arena, s.at, (size_t)(s.end - s.at)), *to = text;
    for (const char *p = text; *p;) {
        if (strncmp(p, " 0x", 3) == 0 && isxdigit((unsigned char)p[3]))
            p += 3 + strspn(p + 3, "0123456789abcdefABCDEF");
        else
            *to++ = *p++;
    }
    *to = '\0';
    return text;
}

/* ---- frames */

/* Cuts ":digits" off the end; false if it is not there. */
static bool cut_number(Span *s, unsigned *n)
{
    const char *p = s->end;
    while (p > s->at && isdigit((unsigned char)p[-1]))
        p--;
    if (p == s->end || p == s->at || p[-1] != ':')
        return false;
    *n = (unsigned)number(p, s->end, 10);
    s->end = p - 1;
    return true;
}

/* "dir/a.c:31:12" or "a.c:31" */
static void read_place(Failure *f, Span s, FailureFrame *to)
{
    unsigned last, before;
    if (!cut_number(&s, &last))
        return;
    to->line = last;
    if (cut_number(&s, &before)) {
        to->line = before;
        to->column = last;
    }
    to->file = keep(f, s);
}

/* Takes "(module+0x12)" off the end, and "(BuildId: …)" after it. */
static void cut_module(Failure *f, Span *s, FailureFrame *to)
{
    while (s->end > s->at && s->end[-1] == ')') {
        const char *open = s->end - 1;
        while (open > s->at && *open != '(')
            open--;
        if (*open != '(')
            return;
        Span in = { open + 1, s->end - 1 };
        const char *plus = find(in, "+0x");
        if (plus && !begins(in, "BuildId")) {
            to->module = keep(f, (Span){ in.at, plus });
            to->offset = number(plus + 1, in.end, 16);
        }
        s->end = open;
        while (s->end > s->at && s->end[-1] == ' ')
            s->end--;
    }
}

/* One line of a stack: "#0 0x55d in f a.c:3:1", "#1 f a.c:3 (prog+0x1)" … */
static bool read_frame(Failure *f, Span line, FailureFrame *to)
{
    Span s = skip_blanks(line);
    *to = (FailureFrame){ 0 };
    if (s.at == s.end || *s.at != '#')
        return false;
    s.at++;
    Span after = skip_digits(s);
    if (after.at == s.at || after.at == after.end || *after.at != ' ')
        return false;
    s = skip_blanks(after);
    if (begins(s, "0x")) {
        while (s.at < s.end && *s.at != ' ')
            s.at++;
        s = skip_blanks(s);
        if (begins(s, "in "))
            s.at += 3;
    }
    cut_module(f, &s, to);
    const char *blank = s.at < s.end ? memchr(s.at, ' ', (size_t)(s.end - s.at)) : NULL;
    Span name = { s.at, blank ? blank : s.end };
    if (name.at < name.end)
        to->function = keep(f, name);
    if (blank)
        read_place(f, (Span){ blank + 1, s.end }, to);
    return true;
}

/* The first stack in the text, if one begins within 12 lines. */
static void read_stack(Failure *f, Span text)
{
    Vec(FailureFrame) v = { 0 };
    Span line;
    for (unsigned n = 0; v.len < 256 && next_line(&text, &line); n++) {
        FailureFrame frame;
        bool is = read_frame(f, line, &frame);
        if (is)
            vec_push(&v, frame);
        else if (v.len || n > 12)
            break;
    }
    f->frames = arena_array(&f->arena, FailureFrame, v.len);
    if (v.len)
        memcpy(f->frames, v.items, v.len * sizeof *v.items);
    f->nframes = f->site = v.len;
    vec_release(&v);
}

/* ---- site */

/* Beginnings of names of functions and of files, and of modules' base names,
 * that are no user code. */
static const char *const foreign_functions[] = {
    "__asan",       "__lsan",         "__tsan",        "__msan",         "__ubsan",
    "__hwasan",     "__sanitizer",    "__interceptor", "___interceptor", "__interception",
    "__libc_start", "__assert",       "__GI_",         "__fortify",      "__stack_chk",
    "__chk_fail",   "__pthread_kill",
};
static const char *const foreign_files[] = {
    "libsanitizer/", "compiler-rt/lib/", "sysdeps/", "/glibc", "csu/",
};
static const char *const foreign_modules[] = {
    "libc.so",  "libc-",   "ld-linux", "ld-musl",   "libm.so",  "libpthread",  "libasan",
    "libubsan", "liblsan", "libtsan",  "libhwasan", "libgcc_s", "libclang_rt", "[vdso]",
};
/* Foreign only where nothing says in which file they stand: interceptors that
 * are linked into the subject, and what leads to abort(). */
static const char *const library_functions[] = {
    "malloc",       "calloc",  "realloc",        "reallocarray",  "free",     "memcpy",
    "memmove",      "memset",  "memcmp",         "memchr",        "strlen",   "strnlen",
    "strcpy",       "strncpy", "strcat",         "strncat",       "strcmp",   "strncmp",
    "strchr",       "strrchr", "strstr",         "strdup",        "strndup",  "printf",
    "fprintf",      "sprintf", "snprintf",       "vprintf",       "vfprintf", "vsprintf",
    "vsnprintf",    "puts",    "fputs",          "fwrite",        "fread",    "fgets",
    "read",         "write",   "qsort",          "abort",         "raise",    "gsignal",
    "pthread_kill", "_start",  "posix_memalign", "aligned_alloc", "operator",
};
#define COUNT(a) (sizeof(a) / sizeof *(a))

static bool begins_with_any(const char *s, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_starts(s, list[i]))
            return true;
    return false;
}

bool failure_is_foreign_module(const char *path)
{
    const char *base = strrchr(path, '/');
    return begins_with_any(base ? base + 1 : path, foreign_modules, COUNT(foreign_modules));
}

static bool is_user(const FailureFrame *f)
{
    if (f->module && failure_is_foreign_module(f->module))
        return false;
    if (f->function && begins_with_any(f->function, foreign_functions, COUNT(foreign_functions)))
        return false;
    for (size_t i = 0; f->file && i < COUNT(foreign_files); i++)
        if (strstr(f->file, foreign_files[i]))
            return false;
    for (size_t i = 0; !f->file && f->function && i < COUNT(library_functions); i++)
        if (strcmp(f->function, library_functions[i]) == 0)
            return false;
    return f->function || f->file || f->module;
}

static void find_site(Failure *f)
{
    for (f->site = 0; f->site < f->nframes; f->site++)
        if (is_user(&f->frames[f->site]))
            return;
}

void failure_set_frames(Failure *f, const FailureFrame *frames, size_t n)
{
    assert(frames || !n);
    FailureFrame *all = arena_array(&f->arena, FailureFrame, n);
    for (size_t i = 0; i < n; i++) {
        FailureFrame *to = &all[i];
        *to = frames[i];
        to->function = to->function ? arena_strdup(&f->arena, to->function) : NULL;
        to->file = to->file ? arena_strdup(&f->arena, to->file) : NULL;
        to->module = to->module ? arena_strdup(&f->arena, to->module) : NULL;
    }
    f->frames = all;
    f->nframes = n;
    find_site(f);
}

/* ---- sanitizers */

static const struct tool {
    const char *mark, *name;
} tools[] = {
    { "ERROR: AddressSanitizer: ", "AddressSanitizer" },
    { "ERROR: HWAddressSanitizer: ", "HWAddressSanitizer" },
    { "ERROR: LeakSanitizer: ", "LeakSanitizer" },
    { "WARNING: ThreadSanitizer: ", "ThreadSanitizer" },
    { "ERROR: ThreadSanitizer: ", "ThreadSanitizer" },
    { "WARNING: MemorySanitizer: ", "MemorySanitizer" },
    { "ERROR: MemorySanitizer: ", "MemorySanitizer" },
    { "ERROR: UndefinedBehaviorSanitizer: ", "UndefinedBehaviorSanitizer" },
    { "ERROR: libFuzzer: ", "libFuzzer" },
};

/* First words of a report that are not its name. */
static const struct {
    const char *text, *name;
} reworded[] = {
    { "attempting double-free", "double-free" },
    { "attempting free on address which was not malloc", "bad-free" },
    { "attempting to call malloc_usable_size", "bad-malloc_usable_size" },
    { "requested allocation size", "allocation-size-too-big" },
    { "calloc parameters overflow", "calloc-overflow" },
    { "detected memory leaks", "memory-leak" },
    { "out of memory", "out-of-memory" },
    { "data race", "data race" },
};

/* "==123==" or, from libFuzzer, "==123== " in front of the mark; ThreadSanitizer
 * has nothing there. */
static const struct tool *tool_of(Span line, Span *rest)
{
    Span s = line;
    if (begins(s, "==")) {
        s.at += 2;
        Span after = skip_digits(s);
        if (after.at == s.at || !begins(after, "=="))
            return NULL;
        after.at += 2;
        s = skip_blanks(after);
    } else if (!begins(s, "WARNING: ThreadSanitizer: ")) {
        return NULL;
    }
    for (size_t i = 0; i < COUNT(tools); i++)
        if (begins(s, tools[i].mark)) {
            *rest = (Span){ s.at + strlen(tools[i].mark), s.end };
            return &tools[i];
        }
    return NULL;
}

static const char *report_name(Failure *f, Span rest)
{
    static const char *const ends[] = { " on ", " (", ":", " in thread", " at " };
    for (size_t i = 0; i < COUNT(reworded); i++)
        if (begins(rest, reworded[i].text))
            return reworded[i].name;
    for (size_t i = 0; i < COUNT(ends); i++) {
        const char *p = find(rest, ends[i]);
        if (p)
            rest.end = p;
    }
    return keep(f, rest);
}

static void read_address(Failure *f, Span rest)
{
    const char *p = find(rest, "address 0x");
    if (!p)
        return;
    f->has_address = true;
    f->address = number(p + 8, rest.end, 16);
}

/* "READ of size 4 at", "The signal is caused by a WRITE memory access." */
static void read_access(Failure *f, Span text)
{
    static const struct {
        const char *text;
        FailureAccess access;
    } words[] = {
        { "READ of size ", FAILURE_ACCESS_READ },
        { "WRITE of size ", FAILURE_ACCESS_WRITE },
        { "Read of size ", FAILURE_ACCESS_READ },
        { "Write of size ", FAILURE_ACCESS_WRITE },
        { "Atomic read of size ", FAILURE_ACCESS_READ },
        { "Atomic write of size ", FAILURE_ACCESS_WRITE },
        { "caused by a READ memory access", FAILURE_ACCESS_READ },
        { "caused by a WRITE memory access", FAILURE_ACCESS_WRITE },
        { "Hint: pc points to the zero page", FAILURE_ACCESS_EXEC },
    };
    Span line;
    for (unsigned n = 0; n < 6 && next_line(&text, &line); n++) {
        if (begins(skip_blanks(line), "#"))
            break;
        for (size_t i = 0; i < COUNT(words); i++) {
            const char *p = find(line, words[i].text);
            if (!p)
                continue;
            f->access = words[i].access;
            if (str_ends(words[i].text, "size "))
                f->size = (unsigned)number(p + strlen(words[i].text), line.end, 10);
        }
    }
}

static bool read_report(Failure *f, Span text)
{
    Span line, rest;
    while (next_line(&text, &line)) {
        const struct tool *t = tool_of(line, &rest);
        if (!t)
            continue;
        f->kind = FAILURE_SANITIZER;
        f->tool = t->name;
        f->what = report_name(f, rest);
        read_address(f, rest);
        read_access(f, text);
        read_stack(f, text);
        if (strcmp(f->what, "stack-overflow") == 0)
            f->kind = FAILURE_STACK_OVERFLOW;
        find_site(f);
        return true;
    }
    return false;
}

/* "a.c:3:10: runtime error: division by zero", and a stack if it was asked for;
 * without one the line itself is the site. */
static bool read_undefined(Failure *f, Span text)
{
    static const char mark[] = ": runtime error: ";
    Span line;
    while (next_line(&text, &line)) {
        const char *p = find(line, mark);
        FailureFrame at = { 0 };
        if (!p)
            continue;
        read_place(f, (Span){ line.at, p }, &at);
        if (!at.file || !at.column)
            continue;
        f->kind = FAILURE_SANITIZER;
        f->tool = "UndefinedBehaviorSanitizer";
        f->what = keep_words(f, (Span){ p + strlen(mark), line.end });
        Span first = text, next;
        FailureFrame ignored;
        if (next_line(&first, &next) && read_frame(f, next, &ignored))
            read_stack(f, text);
        find_site(f);
        if (f->site == f->nframes) {
            f->frames = arena_new(&f->arena, FailureFrame);
            f->frames[0] = at;
            f->nframes = 1;
            f->site = 0;
        }
        return true;
    }
    return false;
}

/* ---- aborts */

/* Puts the place that an assertion names in front of the frames below it. */
static void put_in_front(Failure *f, const FailureFrame *at)
{
    size_t from = 0;
    while (from < f->nframes && !(at->function && f->frames[from].function &&
                                  strcmp(at->function, f->frames[from].function) == 0))
        from++;
    size_t rest = from < f->nframes ? f->nframes - from - 1 : 0;
    FailureFrame *all = arena_array(&f->arena, FailureFrame, rest + 1);
    all[0] = *at;
    if (rest)
        memcpy(all + 1, f->frames + from + 1, rest * sizeof *all);
    f->frames = all;
    f->nframes = rest + 1;
    f->site = 0;
}

/* The C library of GNU: "prog: a.c:3: main: Assertion `n > 0' failed." */
static bool glibc_assertion(Failure *f, Span line)
{
    const char *p = find(line, "Assertion `");
    if (!p || p - line.at < 2 || p[-1] != ' ' || p[-2] != ':')
        return false;
    Span text = { p + 11, line.end }, before = { line.at, p - 2 };
    const char *end = NULL;
    for (const char *q = text.at; (q = find((Span){ q, text.end }, "' failed")); q++)
        end = q;
    if (!end)
        return false;
    f->what = keep(f, (Span){ text.at, end });
    FailureFrame at = { 0 };
    const char *colon = NULL;
    for (const char *q = before.at; (q = find((Span){ q, before.end }, ": ")); q++)
        colon = q;
    if (colon) {
        at.function = keep(f, (Span){ colon + 2, before.end });
        before.end = colon;
    }
    const char *first = find(before, ": ");
    if (first)
        before.at = first + 2;
    read_place(f, before, &at);
    put_in_front(f, &at);
    return true;
}

/* musl: "Assertion failed: n > 0 (a.c: main: 3)" */
static bool musl_assertion(Failure *f, Span line)
{
    static const char mark[] = "Assertion failed: ";
    if (!begins(line, mark) || line.end[-1] != ')')
        return false;
    const char *open = line.end - 1;
    while (open > line.at && *open != '(')
        open--;
    Span in = { open + 1, line.end - 1 };
    const char *a = find(in, ": ");
    const char *b = a ? find((Span){ a + 2, in.end }, ": ") : NULL;
    if (!b || open < line.at + sizeof mark)
        return false;
    f->what = keep(f, (Span){ line.at + sizeof mark - 1, open - 1 });
    FailureFrame at = { .file = keep(f, (Span){ in.at, a }),
                        .function = keep(f, (Span){ a + 2, b }),
                        .line = (unsigned)number(b + 2, in.end, 10) };
    put_in_front(f, &at);
    return true;
}

/* GLib: "ERROR:../a.c:3:main: assertion failed: (n > 0)" */
static bool glib_assertion(Failure *f, Span line)
{
    const char *p = find(line, ": assertion failed");
    if (!p || !begins(line, "ERROR:"))
        return false;
    const char *colon = p - 1;
    while (colon > line.at + 6 && *colon != ':')
        colon--;
    FailureFrame at = { 0 };
    if (colon > line.at + 6) {
        at.function = keep(f, (Span){ colon + 1, p });
        read_place(f, (Span){ line.at + 6, colon }, &at);
    }
    Span text = { p + strlen(": assertion failed"), line.end };
    while (text.at < text.end && (*text.at == ':' || *text.at == ' '))
        text.at++;
    f->what = keep(f, text);
    put_in_front(f, &at);
    return true;
}

/* What the C library says before it aborts. */
static const char *const complaints[] = {
    "*** ",
    "free(): ",
    "malloc(): ",
    "realloc(): ",
    "calloc(): ",
    "double free or corruption",
    "munmap_chunk(): ",
    "corrupted ",
    "malloc_consolidate(): ",
    "mremap_chunk(): ",
    "Fatal glibc error: ",
    "tcache_thread_shutdown(): ",
    "unlink_chunk",
};

static void read_abort(Failure *f, Span text)
{
    Span line;
    f->kind = FAILURE_ABORT;
    while (next_line(&text, &line)) {
        if (line.at == line.end)
            continue;
        if (glibc_assertion(f, line) || musl_assertion(f, line) || glib_assertion(f, line)) {
            f->kind = FAILURE_ASSERTION;
            return;
        }
        for (size_t i = 0; i < COUNT(complaints); i++)
            if (begins(line, complaints[i])) {
                f->tool = "C library";
                f->what = keep(f, line);
            }
    }
}

/* ---- limits */

/* clang-format off */
static const struct {
    FailureStop stop;
    int signal;                /* or: killed by it */
    FailureKind kind;
} limits[] = {
    { FAILURE_STOP_WALL,      0,       FAILURE_TIMEOUT },
    { FAILURE_STOP_CPU,       SIGXCPU, FAILURE_CPU_LIMIT },
    { FAILURE_STOP_IDLE,      0,       FAILURE_HANG },
    { FAILURE_STOP_MEMORY,    0,       FAILURE_MEMORY_LIMIT },
    { FAILURE_STOP_OUTPUT,    0,       FAILURE_OUTPUT_LIMIT },
    { FAILURE_STOP_PROCESSES, 0,       FAILURE_PROCESS_LIMIT },
    { FAILURE_STOP_NONE,      SIGXFSZ, FAILURE_FILE_LIMIT },
};
/* clang-format on */

static bool read_limit(Failure *f, const Facts *facts)
{
    for (size_t i = 0; i < COUNT(limits); i++)
        if ((facts->stop && limits[i].stop == facts->stop) ||
            (!facts->stop && f->signal && limits[i].signal == f->signal)) {
            f->kind = limits[i].kind;
            if (f->kind == FAILURE_TIMEOUT)
                f->what = facts->blocked ? "blocked" : "busy";
            return true;
        }
    return false;
}

/* ---- in sequence */

/* The stack ran into what is below it: the address is near the stack pointer,
 * where otherwise memory always is. */
static bool is_stack_overflow(const Facts *t)
{
    return t->has_signal_info && t->code > 0 && t->access != FAILURE_ACCESS_EXEC &&
           t->address + (64u << 10) >= t->sp && t->address < t->sp + (1u << 20);
}

static void take_signal_info(Failure *f, const Facts *facts)
{
    f->code = facts->code;
    f->has_address =
        facts->code > 0 && facts->code != SI_KERNEL &&
        (f->signal == SIGSEGV || f->signal == SIGBUS || f->signal == SIGFPE || f->signal == SIGILL);
    f->address = f->has_address ? facts->address : 0;
    f->access = facts->access;
    failure_set_frames(f, facts->frames, facts->nframes);
}

/* The first question that has an answer. */
static void decide(Failure *f, const Facts *facts, Span text)
{
    if (read_limit(f, facts) || read_report(f, text) || read_undefined(f, text))
        return;
    if (facts->has_signal_info && f->signal)
        take_signal_info(f, facts);
    if (f->signal == SIGABRT)
        read_abort(f, text);
    else if (f->signal == SIGSEGV && is_stack_overflow(facts))
        f->kind = FAILURE_STACK_OVERFLOW;
    else if (f->signal)
        f->kind = FAILURE_SIGNAL;
    else
        f->kind = f->status ? FAILURE_EXIT : FAILURE_NONE;
}

void failure_read(Failure *f, const Facts *facts)
{
    assert(f->kind == FAILURE_NONE && !f->nframes && !f->arena.blocks);    /* {0} */
    Span text = { facts->err, facts->err + facts->err_len };
    if (!facts->err)
        text = (Span){ "", "" };
    if (WIFSIGNALED(facts->wait_status))
        f->signal = WTERMSIG(facts->wait_status);
    else
        f->status = WEXITSTATUS(facts->wait_status);
    decide(f, facts, text);
    assert(f->site <= f->nframes);
    assert(f->kind != FAILURE_SANITIZER || (f->tool && f->what));
    assert((f->kind != FAILURE_ASSERTION && f->kind != FAILURE_TIMEOUT) || f->what);
}
