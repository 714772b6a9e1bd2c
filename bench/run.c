/*
 * Runs a second of a small program, by each way to run it. The ways take turns
 * in short rounds, so that a busy machine is equally unkind to all of them; the
 * median of the rounds is told.
 *
 *     run SUBJECT ROUNDS         SUBJECT is tests/subjects/run.c, built
 */
#include "base/mem.h"
#include "base/units.h"
#include "run/run.h"
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef struct Way {
    const char *name;
    unsigned runs;                 /* in a round */
    void (*run)(const struct Way *w, unsigned n);
    bool server, untraced, persistent;
    Runner *runner;
    double rates[100];
} Way;

static char *subject;

static void die(const char *text)
{
    fprintf(stderr, "bench/run: %s\n", text);
    exit(2);
}

static Runner *sandbox(void)
{
    Err err = {0};
    Runner *r = runner_new(&(RunnerPlan){
        .readable = (const char *const[]){ subject, NULL } }, &err);
    if (!r)
        die(err.msg);
    return r;
}

static void once(Runner *r, const Way *w)
{
    char *exits[] = { subject, "exits", "0", NULL };
    char *rounds[] = { subject, "obeys", "78", NULL };
    RunPlan p = { .argv = w->persistent ? rounds : exits, .server = w->server,
                  .untraced = w->untraced, .input = "x", .input_len = 1,
                  .limits.wall = 60 };
    RunResult res = {0};
    Err err = {0};
    if (!runner_run(r, &p, &res, &err))
        die(err.msg);
    if (res.failure.kind != FAILURE_NONE)
        die("the subject failed");
    run_result_release(&res);
}

static void by_spawn(const Way *w, unsigned n)
{
    (void)w;
    char *argv[] = { subject, "exits", "0", NULL };
    for (unsigned i = 0; i < n; i++) {
        pid_t pid;
        int status;
        if (posix_spawn(&pid, subject, NULL, NULL, argv, environ) != 0 ||
            waitpid(pid, &status, 0) != pid || status != 0)
            die("posix_spawn");
    }
}

static void by_new_sandbox(const Way *w, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        Runner *r = sandbox();
        once(r, w);
        runner_free(r);
    }
}

static void by_worker(const Way *w, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        once(w->runner, w);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static Way ways[] = {
        { .name = "posix_spawn, no protection, no capture", .runs = 100,
          .run = by_spawn },
        { .name = "a sandbox for each run", .runs = 10, .run = by_new_sandbox },
        { .name = "worker, exec", .runs = 100, .run = by_worker },
        { .name = "worker, exec, untraced", .runs = 100, .run = by_worker,
          .untraced = true },
        { .name = "worker, fork server", .runs = 300, .run = by_worker,
          .server = true },
        { .name = "worker, fork server, untraced", .runs = 300, .run = by_worker,
          .server = true, .untraced = true },
        { .name = "worker, persistent, untraced", .runs = 1000, .run = by_worker,
          .server = true, .untraced = true, .persistent = true },
    };
    const size_t n = sizeof ways / sizeof *ways;
    if (argc != 3)
        die("usage: run SUBJECT ROUNDS");
    subject = argv[1];
    int rounds = atoi(argv[2]) < 100 ? atoi(argv[2]) : 100;
    for (size_t i = 0; i < n; i++)
        if (ways[i].run == by_worker)
            ways[i].runner = sandbox();
    for (int k = 0; k < rounds; k++)
        for (size_t i = 0; i < n; i++) {
            double begin = clock_seconds();
            ways[i].run(&ways[i], ways[i].runs);
            ways[i].rates[k] = ways[i].runs / (clock_seconds() - begin);
        }
    double first = 0;
    printf("%-40s %10s %8s\n", "way", "runs/s", "ratio");
    for (size_t i = 0; i < n; i++) {
        qsort(ways[i].rates, (size_t)rounds, sizeof(double), by_size);
        double rate = ways[i].rates[rounds / 2];
        first = i ? first : rate;
        printf("%-40s %10.0f %8.2f\n", ways[i].name, rate, rate / first);
        runner_free(ways[i].runner);
    }
    return 0;
}
