/*
 * concolic-run - runs a concolically woven program with a log, and tells what it says.
 *
 *     concolic-run [-q] [-i FILE] COMMAND…
 *
 *     -q        only counts
 *     -i FILE   the bytes of the input: each conjunct must hold for them
 *     -f N, -t N   only bytes from N on, up to N, are symbolic
 *
 * Standard input, output and error are the command's; what is told goes to the file
 * that SUNDEW_TOLD names, else to standard error. The status is the command's, 99 if a
 * conjunct does not hold.
 */
#include "base/file.h"
#include "engine/concolic/log.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int give_up(const Err *err)
{
    fprintf(stderr, "concolic-run: %s\n", err->msg);
    return 98;
}

static void tell(FILE *out, const Trail *t, const Exprs *p, bool quiet)
{
    Str text = { 0 };
    if (!quiet)
        trail_dump(t, p, &text);
    size_t pins = 0;
    for (size_t i = 0; i < t->steps.len; i++)
        pins += t->steps.items[i].kind == SUNDEW_REC_PIN;
    fprintf(out,
            "%s%s branches %zu pins %zu others %zu bugs %zu notes %zu nodes %u regions %llu "
            "stale %llu ended %u\n",
            str_c(&text), t->started ? "started" : "silent", t->steps.len - pins, pins,
            t->others.len, t->bugs.len, t->notes.len, t->nodes, (unsigned long long)t->regions,
            (unsigned long long)t->stale, t->ended);
    for (size_t i = 0; i < t->notes.len; i++)
        if (t->notes.items[i].why == SUNDEW_WHY_ANALYSIS)
            fprintf(out, "outside of the analysis: site %u\n", t->notes.items[i].site);
    str_release(&text);
}

static int run(char **argv)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        execvp(argv[0], argv);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    Err err = { 0 };
    const char *input = NULL, *to = getenv("SUNDEW_TOLD");
    uint32_t first = 0, end = 1u << 30;
    bool quiet = false;
    int c;
    while ((c = getopt(argc, argv, "+qi:f:t:")) != -1)
        switch (c) {
        case 'q': quiet = true; break;
        case 'i': input = optarg; break;
        case 'f': first = (uint32_t)strtoul(optarg, NULL, 0); break;
        case 't': end = (uint32_t)strtoul(optarg, NULL, 0); break;
        default: return 2;
        }
    if (optind == argc)
        return 2;
    Log *log = log_new(&(LogPlan){ .per_site = UINT32_MAX, .flags = SUNDEW_LOG_FULL }, &err);
    if (!log || dup2(log_fd(log), SUNDEW_LOG_FD) < 0)
        return give_up(&err);
    log_reset(log, first, end);
    int status = run(argv + optind);
    Exprs *p = exprs_new(NULL);
    uint32_t in = exprs_source(p, "input", 1u << 20);
    Trail t = { 0 };
    if (!log_read(log, p, in, &t, &err))
        return give_up(&err);
    FILE *out = to ? fopen(to, "w") : stderr;
    if (out)
        tell(out, &t, p, quiet);
    Str bytes = { 0 };
    if (input && (!file_read(input, &bytes, &err) ||
                  !trail_verify(&t, p, (const uint8_t *)bytes.data, bytes.len, &err))) {
        give_up(&err);
        status = 99;
    }
    str_release(&bytes);
    trail_release(&t);
    exprs_free(p);
    log_free(log);
    return status;
}
