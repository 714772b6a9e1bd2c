/*
 * The builds of a C program that is explored, and what is known of it without a run.
 */
#include "engine/explore/program/c_front_int.h"
#include "base/tempdir.h"
#include "base/units.h"
#include "weave/weave.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void c_front_note(const CFront *c, const char *fmt, ...)
{
    va_list list;
    char text[512];
    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    c->host.note(c->host.arg, text);
}

/* Functions whose doings outlive a run in a process that goes on. */
static const char *const lasting[] = {
    "fork",         "vfork",   "clone",          "system",      "popen",       "execve",
    "execv",        "execvp",  "execl",          "execlp",      "execle",      "posix_spawn",
    "posix_spawnp", "daemon",  "pthread_create", "thrd_create", "chdir",       "fchdir",
    "chroot",       "umask",   "setrlimit",      "alarm",       "setitimer",   "timer_create",
    "mmap",         "mmap64",  "shmat",          "dlopen",      "sigaltstack", "setuid",
    "setgid",       "on_exit", "quick_exit",     "sbrk",        "brk",         "dup2",
    "mallopt",      "prctl",   "ptrace",         "setsid",      NULL,
};

/* May runs share a process? Also what is not captured could do such things. */
static bool may_share(const CFront *c)
{
    const CapturedProgram *p = program_captured(c->plan.program);
    if (!p || p->nfailed || p->nforeign || p->nmissing)
        return false;
    for (const char *const *name = lasting; *name; name++) {
        const Function *fn = program_function(c->plan.program, *name);
        if (fn && !fn->defined)
            return false;
    }
    return true;
}

static BuildsPlan builds_plan(const CFront *c)
{
    const CPlan *plan = &c->plan;
    const char *parts = plan->call.input ? plan->call.input : "";
    return (BuildsPlan){ .program = plan->program,
                         .calls = plan->calls,
                         .calls_later = !plan->calls && plan->open_calls,
                         .edges = c->edges,
                         .folder = c->folder,
                         .libexec = plan->libexec,
                         .share = plan->share,
                         .function = plan->function,
                         .argv = strstr(parts, "argv:") != NULL,
                         /* what it puts there itself comes back, too */
                         .env = strstr(parts, "env:") ||
                                program_function(plan->program, "setenv") ||
                                program_function(plan->program, "putenv") };
}

static void no_concolic(CFront *c, const char *why)
{
    c->traces = FRONT_TRACE_NEVER;
    c_front_note(c, "%s; inputs are only mutated", why);
}

/* ---- one build after the other */

/* What begins the program. */
static const char *entry_of(const CFront *c)
{
    return c->plan.function ? c->plan.function->symbol
           : c->in_memory   ? "LLVMFuzzerTestOneInput"
                            : "main";
}

static const char *keep_path(CFront *c, char *path)
{
    strings_add(&c->paths, path);
    free(path);
    return c->paths.items[c->paths.len - 1];
}

static void take_concolic(CFront *c, BuildAnswer *a)
{
    c->took = clock_seconds() - c->asked;
    if (a->path) {
        c->concolic = keep_path(c, a->path);
        c->depends = false;
        c->ntraced = 0;
        c->traces = FRONT_TRACE_NOW;
        c->host.anew(c->host.arg, a->reachable);
    } else if (!c->concolic) {
        no_concolic(c, a->why.msg);
    } else {
        c->took = 1e9;                           /* the one that there is will do */
    }
}

static void not_sanitized(CFront *c, const char *why)
{
    c_front_note(c, "%s; failures are seen as signals only", why);
    c->lenient = true;
}

static void take(CFront *c, BuildAnswer *a)
{
    if (a->reachable)
        c->reachable = a->reachable;
    switch (a->kind) {
    case BUILD_CONCOLIC: take_concolic(c, a); return;
    case BUILD_SANITIZED:
        if (a->path)
            c->sanitized = keep_path(c, a->path);
        else
            not_sanitized(c, a->why.msg);
        return;
    case BUILD_CALLS:
        if (a->path)
            c->host.anew(c->host.arg, a->reachable);
        break;
    default: break;
    }
    free(a->path);
}

/* Functions that inputs have reached; gives how many of them the concolic build does not follow,
 * and in *followed how many it does. */
static size_t look_at_reached(const CFront *c, uint8_t *out, size_t *followed)
{
    size_t n = edges_count(c->edges), more = 0;
    uint8_t *edges = xcalloc(n + 1, 1);
    c->host.covered(c->host.arg, edges, n);
    *followed = 0;
    for (uint32_t i = 0; i < n; i++) {
        const EdgeInfo *e = edges[i] ? edges_at(c->edges, i) : NULL;
        if (!e || !e->fn || out[e->fn->index])
            continue;
        out[e->fn->index] = 1;
        *(c->reached && !c->reached[e->fn->index] ? &more : followed) += 1;
    }
    free(edges);
    return more;
}

static void ask_concolic(CFront *c, uint8_t *reached, bool waited)
{
    assert(reached || waited);
    free(c->reached);
    c->reached = reached;
    c->asked = clock_seconds();
    builder_ask(c->builder, BUILD_CONCOLIC, reached, waited);
}

/* The functions that were reached first do not see the input: those that do were reached later. */
enum { ENOUGH = 8, SOON = 2 };
static bool is_blind(const CFront *c) { return c->ntraced >= ENOUGH && !c->depends; }

/* Is it worth another build? It gets a fifth of the time at most, unless the one that there is says
 * nothing. */
static void ask_again(CFront *c)
{
    double now = clock_seconds();
    if (!c->reached || now - c->looked < 1 || now - c->asked < (is_blind(c) ? 1 : 5) * c->took)
        return;
    c->looked = now;
    size_t followed;
    uint8_t *reached = xcalloc(program_index_limit(c->plan.program) + 1, 1);
    size_t more = look_at_reached(c, reached, &followed);
    if (more > (is_blind(c) ? 0 : 2) && more > followed / 10)
        ask_concolic(c, reached, false);
    else
        free(reached);
}

/* A concolic build that follows nothing is made anew before others, which may take long; whether it
 * does its first traces tell. False: there is nothing to wait for. */
static bool ask_for_sight(CFront *c)
{
    if (c->traces != FRONT_TRACE_NOW || !c->reached || c->depends)
        return false;
    if (!is_blind(c))
        return clock_seconds() - c->asked < c->took + SOON;
    ask_again(c);
    return builder_does(c->builder) != BUILD_NONE;
}

static void ask_next(CFront *c)
{
    size_t followed;
    if (c->traces == FRONT_TRACE_LATER && !c->asked) {
        uint8_t *reached = xcalloc(program_index_limit(c->plan.program) + 1, 1);
        look_at_reached(c, reached, &followed);
        if (followed)
            ask_concolic(c, reached, false);
        else
            free(reached); /* no input yet */
    } else if (c->wants_calls) {
        c->wants_calls = false;
        builder_ask(c->builder, BUILD_CALLS, NULL, false);
    } else if (ask_for_sight(c)) {
        /* … first */
    } else if (c->wants_sanitized) {
        c->wants_sanitized = false;
        builder_ask(c->builder, BUILD_SANITIZED, NULL, false);
    } else if (c->traces == FRONT_TRACE_NOW) {
        ask_again(c);
    }
}

void c_builds_look(CFront *c)
{
    BuildAnswer a;
    if (builder_does(c->builder) != BUILD_NONE && builder_answer(c->builder, 0, &a))
        take(c, &a);
    if (builder_does(c->builder) == BUILD_NONE)
        ask_next(c);
}

/* Before jobs run: waits for a build. False: the exploration is over. */
static bool wait_for(CFront *c, BuildAnswer *out, Err *err)
{
    while (!builder_answer(c->builder, 0.1, out))
        if (c->host.over(c->host.arg))
            return err_set(err, "the time was over before the program was built");
    return true;
}

static bool make_now(CFront *c, BuildKind kind, Err *err)
{
    BuildAnswer a;
    if (kind == BUILD_CONCOLIC)
        ask_concolic(c, NULL, true);
    else
        builder_ask(c->builder, kind, NULL, true);
    if (!wait_for(c, &a, err))
        return false;
    if (kind != BUILD_COVERAGE) {
        take(c, &a);
        return true;
    }
    c->coverage = a.path;
    return a.path || err_set(err, "%s", a.why.msg);
}

/* Builds that are to be there before the first run. */
static bool make_first(CFront *c, Err *err)
{
    bool trace = c->host.trace;
    if (!make_now(c, BUILD_COVERAGE, err))
        return false;
    c->wants_sanitized = !c->plan.no_sanitizers;
    c->wants_calls = !trace;
    if (c->host.judge_first && c->wants_sanitized) {
        c->wants_sanitized = false;
        if (!make_now(c, BUILD_SANITIZED, err))
            return false;
    }
    if (c->wants_calls && c->host.steady) {
        c->wants_calls = false;
        return make_now(c, BUILD_CALLS, err);
    }
    BuildsPlan b = builds_plan(c);
    c->traces = trace ? FRONT_TRACE_LATER : FRONT_TRACE_NEVER;
    return !trace || (!c->host.trace_first && !build_concolic_is_kept(&b)) ||
           make_now(c, BUILD_CONCOLIC, err);
}

void c_builds_finish(CFront *c)
{
    bool concolic = c->traces == FRONT_TRACE_LATER ||
                    (c->traces == FRONT_TRACE_NOW && !c->traced && !c->host.steady) ||
                    (c->builder && is_blind(c) && builder_does(c->builder) == BUILD_CONCOLIC);
    bool sanitized =
        c->wants_sanitized || (c->builder && builder_does(c->builder) == BUILD_SANITIZED);
    c->late = !c->coverage ? "the build that counts branches was"
              : concolic && sanitized
                  ? "the builds that follow inputs and that have sanitizers were"
              : concolic  ? "the build that follows inputs was"
              : sanitized ? "the build with sanitizers was"
                          : NULL;
    builder_free(c->builder);
    c->builder = NULL;
}

/* How the input reaches the program. */
static void look_at_call(CFront *c)
{
    const char *input = c->plan.call.input;
    bool target = input && strcmp(input, "call") == 0;
    c->in_memory =
        target && !c->plan.function && program_function(c->plan.program, "LLVMFuzzerTestOneInput");
    c->asks = target && !c->in_memory;
    c->slots = c_words_slots(input);
    c->snapshot = !c->in_memory && may_share(c);
}

bool c_builds_make(CFront *c, Err *err)
{
    c->edges = edges_new(c->plan.program, err);
    c->folder = c->edges ? tempdir_new(NULL, err) : NULL;
    if (!c->folder)
        return false;
    c->counters = weave_coverage_size(c->edges);
    look_at_call(c);
    BuilderPlan plan = { .builds = builds_plan(c),
                         .calls = c->plan.open_calls,
                         .arg = c->plan.calls_arg,
                         .entry = entry_of(c),
                         .jobs = c->plan.jobs };
    c->builder = builder_new(&plan, err);
    return c->builder && make_first(c, err);
}
