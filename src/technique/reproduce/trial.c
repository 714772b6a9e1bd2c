#include "technique/reproduce/trial.h"
#include "base/escape.h"
#include "base/file.h"
#include "runtime/format/crashfile.h"
#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NULL_PAGE 65536               /* addresses below are null and an offset */
enum { TRACE_FD = 190 };               /* as share/reproduce/trial.c has it */

struct Trial {
    Runner *runner;
    int trace;                         /* memory that trials write to */
};

bool sameness_parse(const char *text, Sameness *out)
{
    static const char *const names[] = { "kind", "site", "stack" };
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (Sameness)i;
            return true;
        }
    return false;
}

void ending_release(Ending *e)
{
    vec_release(&e->stack);
    vec_release(&e->trace);
    vec_release(&e->way);
    vec_release(&e->touched);
    *e = (Ending){ 0 };
}

/* ---- the crash */

/* Is it the program's own, and not what monitoring or a test put there? */
static bool is_own(const char *function)
{
    static const char *const not_own[] = { "_start",      "__libc_start", "restore_",
                                           "sundew_",     "sundew.",      "??",
                                           "__asan",      "_ZN6__asan",   "_ZN11__sanitizer",
                                           "__sanitizer", "__interceptor" };
    for (size_t i = 0; i < sizeof not_own / sizeof *not_own; i++)
        if (str_starts(function, not_own[i]))
            return false;
    return !str_ends(function, ".enter") && !str_ends(function, ".leave");
}

/* What the source calls it: the lab made static functions global under another
 * name, and main() is not main() there. */
static const char *plain_name(const char *name)
{
    int n = 0;
    if (strcmp(name, "program_main") == 0)
        return "main";
    if (sscanf(name, "sundew_%*u_%n", &n) == 0 && n > 0)
        return name + n;
    return name;
}

/* Compilers split functions and change copies of them: "scan.isra.0.cold" is scan(). */
static const char *without_suffix(PlaceNames *names, const char *name)
{
    static const char *const suffixes[] = { ".isra.", ".constprop.", ".part.",
                                            ".cold",  ".lto_priv.",  ".llvm." };
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const char *at = strstr(name, suffixes[i]);
        if (at && at > name && (size_t)(at - name) < n)
            n = (size_t)(at - name);
    }
    if (!name[n])
        return name;
    char *plain = xprintf("%.*s", (int)n, name);
    name = places_text(names, plain);
    free(plain);
    return name;
}

static void keep_own(PlaceNames *names, Places *all, bool of_test, Ending *e)
{
    for (size_t i = 0; i < all->len; i++) {
        Place p = all->items[i];
        if (of_test && strcmp(p.function, "main") != 0)
            p.function = plain_name(p.function);
        else if (of_test)
            continue;
        if (!is_own(p.function))
            continue;
        p.function = without_suffix(names, p.function);
        vec_push(&e->stack, p);
    }
    vec_release(all);
}

bool is_reporter(const Ending *e, const Function *fn)
{
    return e->kind == FAILURE_ABORT && fn && fn->noreturn && strcmp(fn->name, "main") != 0;
}

static void leave_reporters_out(const Program *p, Ending *e)
{
    size_t n = 0;
    while (n + 1 < e->stack.len && is_reporter(e, program_function(p, e->stack.items[n].function)))
        n++;
    if (n)
        memmove(e->stack.items, e->stack.items + n, (e->stack.len - n) * sizeof *e->stack.items);
    e->stack.len -= n;
}

static FailureKind kind_of_crash(const CrashFailure *f)
{
    switch (f->kind) {
    case SUNDEW_FAIL_ABORT: return FAILURE_ABORT;
    case SUNDEW_FAIL_ASSERT: return FAILURE_ASSERTION;
    case SUNDEW_FAIL_SANITIZER: return FAILURE_SANITIZER;
    case SUNDEW_FAIL_STACK_OVERFLOW: return FAILURE_STACK_OVERFLOW;
    case SUNDEW_FAIL_DUMP:
    case SUNDEW_FAIL_EXIT: return FAILURE_EXIT;
    default: return f->signal == SIGABRT ? FAILURE_ABORT : FAILURE_SIGNAL;
    }
}

/* Does the C library say that of its heap? */
static bool is_about_heap(const char *text)
{
    static const char *const said[] = {
        "free(): ",         "malloc(): ",       "realloc(): ", "calloc(): ",
        "double free or",   "munmap_chunk(): ", "corrupted ",  "malloc_consolidate(): ",
        "mremap_chunk(): ", "unlink_chunk"
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (str_starts(text, said[i]))
            return true;
    return false;
}

/* The first line of a report: the same that a test's is read from. */
static void read_report(const char *line, Ending *out)
{
    Str err = { 0 };
    Failure f = { 0 };
    str_addf(&err, "==1==ERROR: AddressSanitizer: %s\n", line);
    failure_read(&f, &(Facts){ .err = str_c(&err), .err_len = err.len });
    out->kind = f.kind;
    if (f.what)
        snprintf(out->text, sizeof out->text, "%s", f.what);
    failure_release(&f);
    str_release(&err);
}

/* "void *item(const Vec *, size_t)", as clang has it, and "item". */
static void keep_function(const char *text, Ending *e)
{
    size_t end = strcspn(text, "("), from = end;
    while (from && (isalnum((unsigned char)text[from - 1]) || text[from - 1] == '_'))
        from--;
    snprintf(e->asserts, sizeof e->asserts, "%.*s", (int)(end - from), text + from);
}

static void read_assertion(const char *text, Ending *e, Place *at)
{
    Str err = { 0 };
    Failure f = { 0 };
    str_addf(&err, "program: %s\n", text);
    failure_read(&f, &(Facts){ .err = str_c(&err), .err_len = err.len, .wait_status = SIGABRT });
    if (f.nframes && f.frames[0].function) {
        keep_function(f.frames[0].function, e);
        at->line = f.frames[0].line;
    }
    failure_release(&f);
    str_release(&err);
}

/* The optimiser joins the failing branches of a function's assertions, also of those that were
 * inlined: the address does not tell which it was. The text does. */
static void put_assertion_first(PlaceNames *names, Ending *e, Place at)
{
    if (e->kind != FAILURE_ASSERTION || !*e->asserts ||
        (e->stack.len && strcmp(e->stack.items[0].function, e->asserts) == 0))
        return;
    at.function = places_text(names, e->asserts);
    vec_push(&e->stack, at);
    memmove(e->stack.items + 1, e->stack.items, (e->stack.len - 1) * sizeof at);
    e->stack.items[0] = at;
}

/* Code that the optimiser merged has line 0: that of the code before it in the function. */
static void mend_line(PlaceNames *names, const char *binary, uint64_t at, Place *site)
{
    enum { MOST_BACK = 24 };
    for (uint64_t back = 1; back <= MOST_BACK && !site->line && at > back; back++) {
        uint64_t before = at - back;
        Places found = { 0 };
        places_find(names, binary, &before, 1, &found);
        const Place *p = found.len ? &found.items[0] : NULL;
        if (p && p->line && strcmp(p->function, site->function) == 0)
            *site = *p;
        vec_release(&found);
    }
}

void ending_of_crash(PlaceNames *names, const Program *program, const Crash *c,
                     const char *monitored, Ending *out)
{
    const CrashFailure *f = crash_failure(c);
    size_t n;
    const uint64_t *pcs = crash_stack(c, &n);
    uint64_t *at = xcalloc(n + 1, sizeof *at);
    Places all = { 0 };
    out->kind = kind_of_crash(f);
    out->signal = f->signal;
    out->has_address = f->kind == SUNDEW_FAIL_SIGNAL && f->signal != SIGABRT && !f->nowhere;
    out->nowhere = f->nowhere;
    out->address = f->address;
    snprintf(out->text, sizeof out->text, "%s", f->text);
    if (out->kind == FAILURE_SANITIZER)
        read_report(f->text, out);
    size_t used = 0, inner = 0;
    for (size_t i = 0; i < n && used < 512; i++) {
        uint64_t a = pcs[i] - crash_slide(c) - (i > 0);
        if (a < UINT64_C(1) << 32)            /* of the program, not a library */
            at[used++] = a;
        inner += !used;
    }
    /* abort() has two or three functions of the C library above it, a check of the heap more. */
    out->heap = out->kind == FAILURE_ABORT && inner >= 5;
    places_find(names, monitored, at, used, &all);
    keep_own(names, &all, false, out);
    leave_reporters_out(program, out);
    out->guessed = out->stack.len && used && !out->stack.items[0].line;
    if (out->guessed)
        mend_line(names, monitored, at[0], &out->stack.items[0]);
    free(at);
    if (out->kind == FAILURE_ASSERTION) {
        Place place = { .file = "" };
        read_assertion(f->text, out, &place);
        put_assertion_first(names, out, place);
    }
    for (size_t i = 0; !out->stack.len && i < crash_nframes(c); i++) {
        Place p = { .function = crash_frame(c, i)->symbol, .file = "" };
        vec_push(&out->stack, p);
        break;
    }
}

void ending_kind(const Ending *e, Str *out)
{
    if (e->kind == FAILURE_SIGNAL)
        str_add(out, failure_signal_name(e->signal));
    else if (e->kind == FAILURE_EXIT)
        str_add(out, "dump");
    else
        str_add(out, failure_kind_name(e->kind));
}

/* ---- comparing */

/* Which of the two signals an access outside of all addresses brings depends on the
 * register that holds the address. */
static bool is_access(const Ending *e)
{
    return e->kind == FAILURE_SIGNAL && (e->signal == SIGSEGV || e->signal == SIGBUS);
}

static bool same_kind(const Ending *a, const Ending *b)
{
    bool overflow = a->kind == FAILURE_STACK_OVERFLOW || b->kind == FAILURE_STACK_OVERFLOW;
    if (overflow)
        return (a->kind == b->kind || a->signal == SIGSEGV || b->signal == SIGSEGV) &&
               a->kind != FAILURE_NONE && b->kind != FAILURE_NONE;
    if (a->kind == FAILURE_EXIT || b->kind == FAILURE_EXIT)
        return a->kind == b->kind && *a->text && strcmp(a->text, b->text) == 0;
    if (a->kind != b->kind)
        return false;
    if (a->kind == FAILURE_SIGNAL)
        return a->signal == b->signal || (is_access(a) && is_access(b));
    if (a->kind == FAILURE_SANITIZER)
        return strcmp(a->text, b->text) == 0;
    return true;
}

/* One of the texts may have more around it: file, line, function. */
static bool same_text(const Ending *a, const Ending *b)
{
    return !*a->text || !*b->text || strstr(a->text, b->text) || strstr(b->text, a->text);
}

static bool is_told(const Ending *e) { return e->has_address || e->nowhere; }

static bool is_null(const Ending *e) { return e->has_address && e->address < NULL_PAGE; }

/* A null pointer and a wild one are two failures: state that could not be restored
 * leaves wild ones behind. */
static bool same_pointer(const Ending *a, const Ending *b)
{
    if (!is_access(a) || !is_access(b) || !is_told(a) || !is_told(b))
        return true;
    return is_null(a) == is_null(b);
}

static unsigned occurrences(const Ending *e, const char *function)
{
    unsigned n = 0;
    for (size_t i = 0; i < e->stack.len; i++)
        n += strcmp(e->stack.items[i].function, function) == 0;
    return n;
}

/* Where exactly the stack ends is chance: what counts is who calls himself. */
static bool same_recursion(const Ending *a, const Ending *b)
{
    enum { OFTEN = 8 };
    for (size_t i = 0; i < a->stack.len && i < 64; i++) {
        const char *function = a->stack.items[i].function;
        if (occurrences(a, function) >= OFTEN && occurrences(b, function) >= OFTEN)
            return true;
    }
    return false;
}

/*
 * The innermost functions are the same; or one of them was inlined in one of the
 * two programs, and its instruction counts there as its caller's, at the line of
 * the call:
 *
 *     test:  get at list.c:5, called by sum at list.c:20      crash:  sum at list.c:20
 */
static bool is_inside(const Ending *outer, const Ending *inner)
{
    enum { DEEP = 4 };
    const Place *o = &outer->stack.items[0];
    for (size_t i = 0; i < inner->stack.len && i < DEEP; i++) {
        const Place *p = &inner->stack.items[i];
        if (strcmp(o->function, p->function) == 0)
            return i == 0 || !o->line || !p->line || o->line == p->line;
    }
    return false;
}

bool ending_same(const Ending *crash, const Ending *test, Sameness how)
{
    if (!same_kind(crash, test) || (crash->kind == FAILURE_SIGNAL && !same_pointer(crash, test)))
        return false;
    if (how == SAME_KIND || crash->kind == FAILURE_EXIT)
        return true;
    if (crash->kind == FAILURE_ASSERTION && !same_text(crash, test))
        return false;
    if (crash->heap && test->heap && how == SAME_SITE) /* where it is found is chance */
        return true;
    if (!crash->stack.len || !test->stack.len)
        return false;
    if (crash->kind == FAILURE_STACK_OVERFLOW && same_recursion(crash, test))
        return true;
    if (how == SAME_SITE)
        return is_inside(crash, test) || is_inside(test, crash);
    size_t n = test->stack.len - 1;
    for (size_t i = 0; i < n && i < crash->stack.len; i++)
        if (strcmp(crash->stack.items[i].function, test->stack.items[i].function) != 0)
            return false;
    return true;
}

bool ending_equal(const Ending *a, const Ending *b)
{
    if (a->kind != b->kind || a->signal != b->signal || strcmp(a->text, b->text) != 0)
        return false;
    if (is_null(a) != is_null(b) || (is_null(a) && a->address != b->address))
        return false;
    if (a->kind == FAILURE_STACK_OVERFLOW)
        return true;
    return ending_same_place(a, b);
}

bool ending_same_place(const Ending *a, const Ending *b)
{
    if (a->trace.len != b->trace.len)
        return false;
    return !a->trace.len ||
           memcmp(a->trace.items, b->trace.items, a->trace.len * sizeof *a->trace.items) == 0;
}

bool ending_same_way(const Ending *a, const Ending *b)
{
    return a->kind == b->kind && a->signal == b->signal && a->way.len == b->way.len &&
           (!a->way.len ||
            memcmp(a->way.items, b->way.items, a->way.len * sizeof *a->way.items) == 0);
}

/* ---- running */

Trial *trial_new(Session *s, const char *folder, Err *err)
{
    Trial *t = xcalloc(1, sizeof *t);
    const char *readable[] = { folder, session_root(s), NULL };
    Strings words = { 0 };
    size_t n;
    char **tail = session_tail(s, &n); /* main() gets them again */
    strings_add(&words, "");
    for (size_t i = 0; i < n; i++)
        strings_add(&words, tail[i]);
    RunnerPlan plan = { .readable = readable, .words = strings_argv(&words) };
    t->runner = runner_new(&plan, err);
    strings_release(&words);
    t->trace = memfd_create("trace", 0);
    if (!t->runner || t->trace < 0) {
        if (t->runner)
            err_errno(err, "memfd_create");
        trial_free(t);
        return NULL;
    }
    const char *missing = runner_missing(t->runner);
    if (missing)
        session_note(s, "%s", missing);
    return t;
}

void trial_free(Trial *t)
{
    if (!t)
        return;
    runner_free(t->runner);
    if (t->trace >= 0)
        close(t->trace);
    free(t);
}

static char *mask_text(const TrialPlan *plan)
{
    size_t digits = (plan->nsteps + 3) / 4;
    char *text = xcalloc(1, digits + 2);
    for (size_t d = 0; d < digits; d++) {
        unsigned v = 0;
        for (size_t k = d * 4; k < d * 4 + 4 && k < plan->nsteps; k++)
            v |= (unsigned)plan->keep[k] << (k % 4);
        text[d] = "0123456789abcdef"[v];
    }
    if (!digits)
        text[0] = '0';
    return text;
}

/* Our environment and what the test asks for. */
static void make_environment(const TrialPlan *plan, Strings *env)
{
    extern char **environ;
    for (char **e = environ; *e; e++)
        if (!str_starts(*e, "RESTORE_") && !str_starts(*e, "ASAN_OPTIONS="))
            strings_add(env, *e);
    strings_addf(env, "RESTORE_TEST=%u", plan->test);
    if (plan->state)
        strings_addf(env, "RESTORE_STATE=%s", plan->state);
    strings_add(env, "ASAN_OPTIONS=detect_leaks=0:symbolize=0:allow_user_segv_handler=1");
    if (plan->way)
        strings_addf(env, "RESTORE_WAY=%s", plan->way);
    if (plan->poke)
        strings_addf(env, "RESTORE_POKE=%s", plan->poke);
    if (plan->keep) {
        char *mask = mask_text(plan);
        strings_addf(env, "RESTORE_STEPS=%s", mask);
        free(mask);
    }
}

static void read_trace(Trial *t, Ending *e)
{
    char line[16384];
    ssize_t n = pread(t->trace, line, sizeof line - 1, 0);
    if (n <= 0)
        return;
    line[n] = 0;
    for (const char *w = line; (w = strstr(w, "\nw ")); w += 3) {
        char *end;
        uint64_t place = strtoull(w + 3, &end, 16), address = strtoull(end, NULL, 16);
        vec_push(&e->way, place);
        vec_push(&e->touched, address);
    }
    line[strcspn(line, "\n")] = 0;
    char *at = line;
    strtoull(at, &at, 16); /* the signal */
    while (*at == ' ') {
        uint64_t v = strtoull(at, &at, 16);
        vec_push(&e->trace, v);
    }
}

/* A trial that went on behind an abort has said why. */
static void read_passed_aborts(const RunResult *r, Ending *e)
{
    for (const char *line = str_c(&r->err.text); line && !e->heap; line = strchr(line, '\n')) {
        line += *line == '\n';
        e->heap = is_about_heap(line);
    }
}

/* What a test says that comes by a point where the program dumps itself. */
static void read_dump(const RunResult *r, Ending *e)
{
    const char *at = strstr(str_c(&r->err.text), "restore: dump: ");
    if (!at)
        return;
    at += strlen("restore: dump: ");
    e->kind = FAILURE_EXIT;
    snprintf(e->text, sizeof e->text, "%.*s", (int)strcspn(at, "\n"), at);
}

static void take_report(const Failure *f, Ending *e)
{
    e->kind = f->kind;
    e->signal = f->signal;
    e->has_address = f->has_address;
    e->address = f->address;
    e->nowhere = f->code == SI_KERNEL;
    if (f->what)
        snprintf(e->text, sizeof e->text, "%s", f->what);
    e->heap = e->kind == FAILURE_ABORT && is_about_heap(e->text);
    if (f->kind == FAILURE_ASSERTION && f->nframes && f->frames[0].function)
        keep_function(f->frames[0].function, e);
    if (f->kind == FAILURE_EXIT)
        e->kind = FAILURE_NONE; /* an orderly end */
}

bool trial_run(Trial *t, const char *binary, const TrialPlan *plan, Ending *out, Err *err)
{
    Strings env = { 0 };
    char *argv[] = { (char *)binary, NULL };
    RunFd fd = { .fd = t->trace, .as = TRACE_FD };
    RunPlan run = { .argv = argv,
                    .fds = &fd,
                    .nfds = 1,
                    .discard_output = true,
                    .files = plan->files,
                    .nfiles = plan->nfiles,
                    .input_file = plan->input,
                    .limits = { .wall = 30, .cpu = plan->seconds ? plan->seconds : 10 } };
    RunResult r = { 0 };
    make_environment(plan, &env);
    run.env = strings_argv(&env);
    if (ftruncate(t->trace, 0) != 0 || lseek(t->trace, 0, SEEK_SET) != 0)
        err_errno(NULL, "trace");
    bool ok = runner_run(t->runner, &run, &r, err);
    if (ok) {
        take_report(&r.failure, out);
        read_trace(t, out);
        read_dump(&r, out);
        if (plan->way)
            read_passed_aborts(&r, out);
        for (size_t i = 0; !out->trace.len && i < r.failure.nframes; i++) {
            const FailureFrame *f = &r.failure.frames[i];
            if (f->module && strcmp(path_base(f->module), path_base(binary)) == 0)
                vec_push(&out->trace, f->offset);
        }
    }
    strings_release(&env);
    run_result_release(&r);
    return ok;
}

void trial_name(PlaceNames *names, const Program *p, const char *binary, Ending *e)
{
    Places all = { 0 };
    if (e->stack.len || !e->trace.len)
        return;
    places_find(names, binary, e->trace.items, e->trace.len, &all);
    keep_own(names, &all, true, e);
    leave_reporters_out(p, e);
    put_assertion_first(names, e, (Place){ .file = "" });
}
