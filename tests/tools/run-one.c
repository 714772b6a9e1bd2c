/*
 * run-one - runs a program in the sandbox as every command does, and says what it
 * wrote and how it ended. For tests/scripts/attack.sh.
 *
 *     run-one [--twice] [--without PROTECTION]… PROGRAM [ARGUMENT…]
 *
 * Protections have the names that `sundew doctor` gives them. --twice: in the same sandbox; the
 * second run is told of.
 *
 * The exit status is the program's; 99: it failed otherwise, which is told.
 */
#include "run/run.h"
#include <stdio.h>
#include <string.h>

enum { MOST = 8 };

int main(int argc, char **argv)
{
    Err err = { 0 };
    RunResult res = { 0 };
    Str text = { 0 };
    int status = 2;
    const char *without[MOST + 1] = { NULL };
    size_t n = 0;
    bool twice = argc > 2 && !strcmp(argv[1], "--twice");
    argv += twice, argc -= twice;
    for (; argc > 3 && n < MOST && !strcmp(argv[1], "--without"); argv += 2, argc -= 2)
        without[n++] = argv[2];
    if (argc < 2)
        return 2;
    Runner *r = runner_new(&(RunnerPlan){ .without = without }, &err);
    RunPlan plan = { .argv = argv + 1, .limits = { .wall = 20 } };
    if (r && twice && runner_run(r, &plan, &res, &err))
        run_result_release(&res);
    if (!r || !runner_run(r, &plan, &res, &err)) {
        fprintf(stderr, "%s\n", err.msg);
    } else {
        fwrite(str_c(&res.out.text), 1, res.out.text.len, stdout);
        failure_describe(&res.failure, &text);
        printf("%s\n", str_c(&text));
        status = failure_is(&res.failure) ? 99 : res.failure.status;
    }
    str_release(&text);
    run_result_release(&res);
    runner_free(r);
    return status;
}
