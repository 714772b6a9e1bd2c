/*
 * The builds of a C program that is explored, and what is known of it without a run.
 */
#include "engine/explore/program/c_front_int.h"
#include "base/file.h"
#include "base/tempdir.h"
#include "base/units.h"
#include "weave/weave.h"
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LATE = 20 };              /* seconds for a build that is not ready at the end */

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

static void have_concolic(CFront *c, char *path, const Err *why)
{
    c->concolic = path;
    c->traces = FRONT_TRACE_NOW;
    if (!path)
        no_concolic(c, why->msg);
}

/* The concolic build takes longest. If it is not kept, a process of its own makes
 * it while inputs are mutated already. */
static void begin_concolic(CFront *c)
{
    BuildsPlan b = builds_plan(c);
    Err why = { 0 };
    if (!c->host.trace)
        return;
    if (c->host.trace_first || build_concolic_is_kept(&b)) {
        have_concolic(c, build_concolic(&b, &why), &why);
        return;
    }
    c->traces = FRONT_TRACE_LATER;
    c->building_err = path_join(c->folder, "concolic.err");
    fflush(NULL);
    c->building = fork();
    if (c->building != 0)
        return;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char *path = build_concolic(&b, &why);
    if (!path)
        file_write(c->building_err, why.msg, strlen(why.msg), NULL);
    _exit(path ? 0 : 1);
}

void c_builds_look(CFront *c)
{
    int status;
    Err why = { 0 };
    BuildsPlan b = builds_plan(c);
    if (c->building <= 0 || waitpid(c->building, &status, WNOHANG) != c->building)
        return;
    c->building = 0;
    Str text = { 0 };
    char *path = NULL;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        path = build_concolic(&b, &why);
    else if (file_read(c->building_err, &text, NULL))
        err_set(&why, "%s", str_c(&text));
    else
        err_set(&why, "the build that follows its input died");
    str_release(&text);
    have_concolic(c, path, &why);
}

/* The time is over before the build is: it is finished all the same, because the next run can
 * begin with it. Only a person, or a build that takes too long, ends it. */
void c_builds_finish(CFront *c, bool wait)
{
    if (c->building <= 0)
        return;
    double until = clock_seconds() + fmax(LATE, c->host.time);
    c->late = true;
    if (wait)
        c_front_note(c, "finishing the build that follows the input, for the next time");
    while (wait && clock_seconds() < until) {
        int status;
        if (waitpid(c->building, &status, WNOHANG) == c->building) {
            c->building = 0;
            c->kept = WIFEXITED(status) && WEXITSTATUS(status) == 0;
            break;
        }
        usleep(50000);
    }
    no_concolic(c, "the build that follows its input was not ready before the end");
}

void c_builds_kill(CFront *c)
{
    if (c->building <= 0)
        return;
    kill(-c->building, SIGKILL);
    kill(c->building, SIGKILL);
    waitpid(c->building, NULL, 0);
    c->building = 0;
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
    Err why = { 0 };
    c->edges = edges_new(c->plan.program, err);
    c->folder = c->edges ? tempdir_new(NULL, err) : NULL;
    if (!c->folder)
        return false;
    BuildsPlan b = builds_plan(c);
    c->counters = weave_coverage_size(c->edges);
    c->coverage = build_coverage(&b, err);
    if (!c->coverage)
        return false;
    if (!c->plan.no_sanitizers && !(c->sanitized = build_sanitized(&b, &why)))
        c_front_note(c, "%s; failures are seen as signals only", why.msg);
    look_at_call(c);
    begin_concolic(c);
    return true;
}
