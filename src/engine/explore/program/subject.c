/* Builds that are run one by one: see subject.h. */
#include "engine/explore/program/subject.h"
#include "base/file.h"
#include "runtime/input/input.h"
#include <stdlib.h>
#include <string.h>

extern char **environ;

struct Subject {
    Runner *runner;
    Strings argv, env;
    char *program;             /* the build */
    char *file;                /* of @@; NULL: none */
    RunPlan plan;
    RunFd fds[4];
};

/* ---- the call */

Runner *call_runner(const Call *c, const char *program, Err *err)
{
    Vec(const char *) readable = { 0 };
    char *folder = path_dir(program);
    vec_push(&readable, folder);
    for (char *const *r = c->readable; r && *r; r++)
        vec_push(&readable, *r);
    vec_push(&readable, NULL);
    Runner *r = runner_new(&(RunnerPlan){ .readable = readable.items,
                                          .words = c->argv,
                                          .network = c->network,
                                          .unprotected = c->unprotected },
                           err);
    vec_release(&readable);
    free(folder);
    return r;
}

/* @@ becomes a file in the scratch folder; what follows it directly is its ending:
 * "@@.bz2". */
char *call_arguments(const Call *c, const char *program, const Runner *r, Strings *argv)
{
    char *file = NULL;
    strings_add(argv, c->argv[0] ? c->argv[0] : program);      /* not the name of our build */
    for (char *const *a = c->argv[0] ? c->argv + 1 : c->argv; *a; a++) {
        const char *at = strstr(*a, "@@");
        if (!at) {
            strings_add(argv, *a);
            continue;
        }
        if (!file)
            file = xprintf("%s/input%s", runner_scratch(r), at + 2);
        strings_addf(argv, "%.*s%s", (int)(at - *a), *a, file);
    }
    return file;
}

void call_environment(const Call *c, const char *file, const Runner *r, Strings *env)
{
    /* The user's options for sanitizers would come first, and hide ours. */
    for (char *const *e = c->env ? c->env : environ; *e; e++)
        if (!str_starts(*e, "SUNDEW_") && !str_starts(*e, "HOME=") && !str_starts(*e, "TMPDIR=") &&
            !str_starts(*e, "ASAN_OPTIONS=") && !str_starts(*e, "UBSAN_OPTIONS="))
            strings_add(env, *e);
    strings_add(env, "LD_BIND_NOW=1");
    strings_addf(env, "HOME=%s", runner_scratch(r));
    strings_addf(env, "TMPDIR=%s", runner_scratch(r));
    if (c->input && file)
        strings_addf(env, SUNDEW_INPUT_ENV "=%s,file=%s", c->input, file);
    else if (file)
        strings_addf(env, SUNDEW_INPUT_ENV "=in=%s", file);
    else
        strings_addf(env, SUNDEW_INPUT_ENV "=%s", c->input ? c->input : "stdin");
}

bool call_part(const char **at, CallPart *out)
{
    const char *p = *at;
    if (!p || !*p)
        return false;
    size_t n = strcspn(p, ",");
    const char *slash = memchr(p, '/', n);
    *out = (CallPart){ .kind = str_starts(p, "argv:")   ? PART_ARGUMENTS
                               : str_starts(p, "env:")  ? PART_VARIABLE
                               : str_starts(p, "stdin") ? PART_STDIN
                                                        : PART_OTHER,
                       .count = 1 };
    if (out->kind == PART_ARGUMENTS)
        out->count = strtoul(p + 5, NULL, 10);
    if (out->kind <= PART_VARIABLE && slash)
        out->size = strtoul(slash + 1, NULL, 10);
    if (out->kind == PART_VARIABLE) {
        out->name = p + 4;
        out->name_len = (int)((slash ? slash : p + n) - out->name);
    }
    *at = p + n + (p[n] == ',');
    return true;
}

/* ---- subjects */

Subject *subject_new(const SubjectPlan *plan, Err *err)
{
    Subject *s = xcalloc(1, sizeof *s);
    s->runner = call_runner(plan->call, plan->program, err);
    if (!s->runner) {
        subject_free(s);
        return NULL;
    }
    s->file = call_arguments(plan->call, plan->program, s->runner, &s->argv);
    call_environment(plan->call, s->file, s->runner, &s->env);
    for (char *const *e = plan->env; e && *e; e++)
        strings_add(&s->env, *e);
    for (size_t i = 0; i < plan->nfds && i < 4; i++)
        s->fds[i] = plan->fds[i];
    /* With other parts in it, the program writes the file itself. */
    if (plan->call->input) {
        free(s->file);
        s->file = NULL;
    }
    s->program = xstrdup(plan->program);
    s->plan = (RunPlan){ .argv = strings_argv(&s->argv),
                         .file = s->program,
                         .env = strings_argv(&s->env),
                         .fds = s->fds,
                         .nfds = plan->nfds,
                         .limits = plan->limits,
                         .server = !plan->plain,
                         .rounds = plan->rounds,
                         .untraced = plan->untraced,
                         .stop = plan->stop,
                         .stop_arg = plan->stop_arg,
                         .discard_output = true,
                         .keep_output = 256u << 10 };
    return s;
}

void subject_free(Subject *s)
{
    if (!s)
        return;
    runner_free(s->runner);
    strings_release(&s->argv);
    strings_release(&s->env);
    free(s->program);
    free(s->file);
    free(s);
}

void subject_limits(Subject *s, const RunLimits *limits) { s->plan.limits = *limits; }

bool subject_run(Subject *s, const void *bytes, size_t n, RunResult *out, Err *err)
{
    RunPlan plan = s->plan;
    RunFile file = { .name = s->file ? path_base(s->file) : "", .data = bytes, .len = n };
    if (s->file) {
        plan.files = &file;
        plan.nfiles = 1;
    } else {
        plan.input = n ? bytes : "";
        plan.input_len = n;
    }
    return runner_run(s->runner, &plan, out, err);
}
