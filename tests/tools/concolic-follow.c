/*
 * concolic-follow - is what a concolic run predicts what happens?
 *
 *     concolic-follow build [-a SHARE] LIBEXEC OUT UNIT.bc… [-l WORD]…
 *         weaves a program of bitcode files, with standins and input
 *     concolic-follow run [-n QUERIES] [-s SECONDS] [-d] INPUT COMMAND…
 *         runs it on the input, checks that each conjunct holds for it, asks the solver for
 *         the other side of up to QUERIES branches (evenly chosen), runs the program on
 *         each answer and tells how often the predicted branch was taken
 *
 *     -d  the path as text     -q  no queries: only what tracing costs
 *     -r N  trace it N times, and tell the mean CPU time
 */
#include "base/file.h"
#include "engine/concolic/log.h"
#include "solve/solve.h"
#include "build/woven.h"
#include "weave/weave.h"
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int give_up(const Err *err)
{
    fprintf(stderr, "concolic-follow: %s\n", err->msg);
    return 2;
}

/* ---- build */

/* How many edges the program has: the rest is that of standins. */
static bool note_edges(const char *out, const Edges *edges, Err *err)
{
    Str text = { 0 };
    char *path = xprintf("%s.edges", out);
    str_addf(&text, "%zu\n", edges_count(edges));
    bool ok = file_write(path, str_c(&text), text.len, err);
    str_release(&text);
    free(path);
    return ok;
}

static bool weave_all(Woven *w, const Program *p, const char *share, const char *libexec,
                      const char *out, Err *err)
{
    Standins *standins = standins_new();
    char *folder = path_join(share ? share : "share", "standins");
    Calls *calls = share ? calls_open(p, &(CallsPlan){ .share = share }, err) : NULL;
    Symbolic *s = calls ? symbolic_new(p, calls, &(SymbolicPlan){ .argv = true }) : NULL;
    Edges *edges = edges_new(p, err);
    ConcolicPlan plan = { .symbolic = s, .edges = edges, .standins = standins };
    bool ok = edges && note_edges(out, edges, err) && standins_read_folder(standins, folder, err) &&
              weave_standins(w, standins, libexec, err) && weave_concolic(w, &plan, err) &&
              weave_runtime(w, libexec, "concolic", err) && weave_input(w, libexec, err) &&
              weave_runtime(w, libexec, "forkserver", err);
    free(folder);
    symbolic_free(s);
    calls_close(calls);
    edges_free(edges);
    standins_free(standins);
    return ok;
}

static int build(int argc, char **argv)
{
    Err err = { 0 };
    Strings more = { 0 };
    const char *share = NULL;
    int c;
    while ((c = getopt(argc, argv, "a:l:")) != -1) {
        if (c == 'a')
            share = optarg;
        else if (c == 'l')
            strings_add(&more, optarg);
        else
            return 2;
    }
    if (argc - optind < 3)
        return 2;
    char **units = argv + optind + 2;
    Program *p =
        program_open_bitcode((const char *const *)units, (size_t)(argc - optind - 2), &err);
    Woven *w = p ? weave_begin(p, &err) : NULL;
    WovenBuild how = { .out = argv[optind + 1], .more = strings_argv(&more), .level = 2 };
    bool ok = w && weave_all(w, p, share, argv[optind], argv[optind + 1], &err) &&
              woven_build(w, &how, &err);
    weave_end(w);
    program_close(p);
    strings_release(&more);
    return ok ? 0 : give_up(&err);
}

/* ---- run */

typedef struct Cost {
    double cpu;
    long rss;                 /* KiB */
    int status;
} Cost;

/* Standard output and error go nowhere. */
static Cost run_once(Log *log, char **command, const uint8_t *input, size_t n)
{
    int in = memfd_create("input", 0), null = open("/dev/null", O_WRONLY);
    if (in < 0 || write(in, input, n) != (ssize_t)n || lseek(in, 0, SEEK_SET) != 0)
        exit(2);
    log_reset(log, 0, (uint32_t)n);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(60);
        dup2(in, 0);
        dup2(null, 1);
        dup2(null, 2);
        dup2(log_fd(log), SUNDEW_LOG_FD);
        execvp(command[0], command);
        _exit(127);
    }
    struct rusage u;
    Cost c = { 0 };
    if (pid < 0 || wait4(pid, &c.status, 0, &u) < 0)
        exit(2);
    close(in);
    close(null);
    c.cpu = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
            1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    c.rss = u.ru_maxrss;
    return c;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct Follow {
    Log *log;
    char **command;
    uint8_t *input;
    size_t n;
    Exprs *p;
    uint32_t in;
    Trail t;
    size_t asked, sat, followed, unsure, diverged, broken;
    uint32_t standins;          /* edges from here on are not the program's */
    bool verbose;
} Follow;

/* Where the paths part: conjuncts of both, from the first that differs. */
static void tell_difference(const Follow *f, const Exprs *p, const Trail *t)
{
    size_t i = 0;
    while (i < f->t.steps.len && i < t->steps.len && f->t.steps.items[i].at == t->steps.items[i].at)
        i++;
    for (size_t k = i > 2 ? i - 2 : 0; k < i + 3; k++) {
        Str s = { 0 };
        if (k < f->t.steps.len)
            expr_print(f->p, path_at(f->t.path, k).cond, &s);
        printf("    %zu was %u %.120s\n", k, k < f->t.steps.len ? f->t.steps.items[k].at : 0,
               str_c(&s));
        str_reset(&s);
        if (k < t->steps.len)
            expr_print(p, path_at(t->path, k).cond, &s);
        printf("    %zu  is %u %.120s\n", k, k < t->steps.len ? t->steps.items[k].at : 0,
               str_c(&s));
        str_release(&s);
    }
}

/* The run on an answer: where did it go? */
static void follow(Follow *f, const Answer *a, uint32_t index, uint32_t want)
{
    uint8_t *other = xmalloc(f->n + 1);
    memcpy(other, f->input, f->n);
    for (size_t i = 0; i < a->nchanges; i++)
        if (a->changes[i].byte - f->in < f->n)
            other[a->changes[i].byte - f->in] = a->changes[i].value;
    Exprs *p = exprs_new(NULL);
    uint32_t in = exprs_source(p, "input", (uint32_t)f->n);
    Trail t;
    Err err = { 0 };
    run_once(f->log, f->command, other, f->n);
    if (!log_read(f->log, p, in, &t, &err) || !trail_verify(&t, p, other, f->n, &err)) {
        f->broken++;
        printf("broken: %s\n", err.msg);
    } else {
        Followed how = trail_followed(&f->t, &t, index, want, f->standins);
        f->followed += how == FOLLOWED;
        f->unsure += how == FOLLOWED_UNSURE;
        f->diverged += how == FOLLOWED_NOT;
        if (how == FOLLOWED_NOT) {
            Str s = { 0 };
            if (index < f->t.steps.len)
                expr_print(f->p, path_at(f->t.path, index).cond, &s);
            printf("diverged: conjunct %u, edge %u: %.200s\n", index, want, str_c(&s));
            str_release(&s);
            tell_difference(f, p, &t);
        }
        trail_release(&t);
    }
    exprs_free(p);
    free(other);
}

static void ask_all(Follow *f, size_t most, double seconds)
{
    Solver *s = solver_new(f->p, &(SolverPlan){ .seed = 1 });
    size_t n = 0, total = f->t.others.len;
    for (size_t i = 0; i < f->t.steps.len; i++)
        total += f->t.steps.items[i].kind == SUNDEW_REC_BRANCH && f->t.steps.items[i].ask;
    size_t every = most && total > most ? total / most : 1;
    double end = now() + seconds;
    Answer a;
    for (size_t i = 0; i < f->t.steps.len && now() < end; i++) {
        Step *step = &f->t.steps.items[i];
        if (step->kind != SUNDEW_REC_BRANCH || !step->ask || n++ % every)
            continue;
        f->asked++;
        if (solver_query(s, f->t.path, i, f->input, f->n, &a) == SOLVE_SAT) {
            f->sat++;
            follow(f, &a, (uint32_t)i, step->other);
        }
    }
    for (size_t i = 0; i < f->t.others.len && now() < end; i++) {
        Chance *c = &f->t.others.items[i];
        if (n++ % every)
            continue;
        f->asked++;
        if (solver_query_extra(s, f->t.path, c->index, c->cond, f->input, f->n, &a) == SOLVE_SAT) {
            f->sat++;
            follow(f, &a, c->index, c->at);
        }
    }
    printf("asked %zu sat %zu followed %zu unsure %zu diverged %zu broken %zu solver %.3f s\n",
           f->asked, f->sat, f->followed, f->unsure, f->diverged, f->broken,
           solver_stats(s).seconds);
    solver_free(s);
}

static void tell(const Follow *f, Cost c, double read)
{
    const Trail *t = &f->t;
    size_t pins = 0;
    for (size_t i = 0; i < t->steps.len; i++)
        pins += t->steps.items[i].kind == SUNDEW_REC_PIN;
    printf("status %d cpu %.6f s rss %ld KiB regions %llu nodes %u records %u read %.3f s\n",
           WIFEXITED(c.status) ? WEXITSTATUS(c.status) : -WTERMSIG(c.status), c.cpu, c.rss,
           (unsigned long long)t->regions, t->nodes, t->records, read);
    printf("conjuncts %zu pins %zu (inside %zu) others %zu bugs %zu notes %zu stale %llu "
           "ended %u sites %u\n",
           t->steps.len, pins, t->ninside, t->others.len, t->bugs.len, t->notes.len,
           (unsigned long long)t->stale, t->ended, t->sites_ended);
}

static uint32_t standins_from(const char *program)
{
    Str text = { 0 };
    char *path = xprintf("%s.edges", program);
    uint32_t n = UINT32_MAX;
    if (file_read(path, &text, NULL))
        n = (uint32_t)strtoul(str_c(&text), NULL, 10);
    str_release(&text);
    free(path);
    return n;
}

static int run(int argc, char **argv)
{
    Err err = { 0 };
    Follow f = { 0 };
    size_t most = 200;
    double seconds = 60;
    bool quick = false;
    unsigned repeat = 1;
    int c;
    while ((c = getopt(argc, argv, "+n:s:dqr:")) != -1) {
        switch (c) {
        case 'n': most = strtoul(optarg, NULL, 0); break;
        case 's': seconds = atof(optarg); break;
        case 'd': f.verbose = true; break;
        case 'q': quick = true; break;
        case 'r': repeat = (unsigned)atoi(optarg); break;
        default: return 2;
        }
    }
    if (argc - optind < 2)
        return 2;
    Str text = { 0 };
    bool there = file_read(argv[optind], &text, &err);
    f.n = text.len;
    f.input = (uint8_t *)str_take(&text);
    f.command = argv + optind + 1;
    f.standins = standins_from(f.command[0]);
    f.log = there ? log_new(&(LogPlan){ .nodes = 1 << 24, .bytes = 64 << 20 }, &err) : NULL;
    if (!f.log)
        return give_up(&err);
    f.p = exprs_new(NULL);
    f.in = exprs_source(f.p, "input", (uint32_t)f.n);
    Cost cost = run_once(f.log, f.command, f.input, f.n);
    for (unsigned i = 1; i < repeat; i++)
        cost.cpu += run_once(f.log, f.command, f.input, f.n).cpu;
    cost.cpu /= repeat;
    double from = now();
    if (!log_read(f.log, f.p, f.in, &f.t, &err))
        return give_up(&err);
    tell(&f, cost, now() - from);
    if (f.verbose) {
        Str s = { 0 };
        trail_dump(&f.t, f.p, &s);
        fputs(str_c(&s), stdout);
        str_release(&s);
    }
    bool holds = trail_verify(&f.t, f.p, f.input, f.n, &err);
    if (!holds)
        printf("does not hold: %s\n", err.msg);
    if (!quick)
        ask_all(&f, most, seconds);
    trail_release(&f.t);
    exprs_free(f.p);
    log_free(f.log);
    free(f.input);
    return f.diverged || f.broken || !holds;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "build") == 0)
        return build(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "run") == 0)
        return run(argc - 1, argv + 1);
    fputs("usage: concolic-follow build|run …\n", stderr);
    return 2;
}
