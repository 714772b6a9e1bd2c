/*
 * server - executes a request (wire.h): groups of jobs, each group a prefix and
 * jobs that go on from there.
 *
 *     this process ─ fork ─▶ prefix ─ fork ─▶ job, in a folder of its own
 *                                   ─ fork ─▶ job
 *
 * A group without a prefix needs no process of its own. What a job does wrong kills
 * only itself; how it ended is in its answer.
 */
#include "engine/play/player/player_int.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SLOTS = 8 };

/* A job that runs. */
typedef struct Slot {
    pid_t pid;                   /* 0: free */
    struct WireAnswer *answer;
} Slot;

typedef struct Server {
    Playing playing;             /* the prefix, and then each job in its process */
    struct WireAnswer prefix;    /* what was seen of the prefix */
    Slot slots[MOST_SLOTS];      /* jobs side by side */
    Reader given;                /* the steps of the prefix; p NULL: there is none */
} Server;

/* A job of a request. */
typedef struct Job {
    uint32_t number;
    struct WireOptions options;
    Reader steps;
    const uint8_t *after;        /* the steps */
    uint32_t nsteps;
} Job;

/* Reads a job and steps over it. */
static Job take_job(Reader *r)
{
    Job j = { .number = take32(r) };
    take(r, &j.options, sizeof j.options);
    j.nsteps = take32(r);
    j.steps = *r;
    take_no_steps(r, j.nsteps);
    j.after = r->p;
    if (j.number >= WIRE_MOST_JOBS)
        _exit(79);
    return j;
}

static struct WireAnswer *answer_of(const Server *s, const Job *j)
{
    assert(j->number < WIRE_MOST_JOBS);
    return (struct WireAnswer *)(s->playing.player->shared + WIRE_RESPONSE +
                                 (size_t)j->number * WIRE_ANSWER);
}

/* ---- slots */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    if (where->level > 0)
        remove(path);
    return 0;
}

static void clean_folder(void) { nftw(".", remove_one, 8, FTW_DEPTH | FTW_PHYS); }

static void judge(struct WireAnswer *w, int status)
{
    w->status = status;
    if (w->state == WIRE_DONE && WIFEXITED(status))
        return;
    if (WIFSIGNALED(status))     /* whatever it says itself */
        w->state =
            WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM ? WIRE_TIMEOUT : WIRE_DIED;
    else
        w->state = WIRE_EXITED;
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while ((waitpid(pid, &status, WUNTRACED) < 0 && errno == EINTR) || WIFSTOPPED(status)) {
        if (WIFSTOPPED(status))
            kill(pid, SIGKILL);  /* it would stand there for ever */
        status = 0;
    }
    return status;
}

static void go_to_slot(int i)
{
    char name[16];
    snprintf(name, sizeof name, "s%d", i);
    if (chdir(name) != 0) {
        mkdir(name, 0777);
        if (chdir(name) != 0)
            _exit(80);
    }
}

/* Waits until a job has ended; whether one was there. */
static int end_one(Server *s)
{
    int status, busy = 0;
    for (int i = 0; i < MOST_SLOTS; i++)
        busy += s->slots[i].pid != 0;
    if (!busy)
        return 0;
    pid_t pid = waitpid(-1, &status, WUNTRACED);
    if (pid > 0 && WIFSTOPPED(status)) {
        kill(pid, SIGKILL);      /* its end comes next */
        return 1;
    }
    for (int i = 0; i < MOST_SLOTS; i++)
        if (pid > 0 && s->slots[i].pid == pid) {
            judge(s->slots[i].answer, status);
            s->slots[i].pid = 0;
            go_to_slot(i);
            clean_folder();
            if (chdir("..") != 0)
                _exit(80);
        }
    return pid > 0 || errno == EINTR;
}

static int free_slot(Server *s)
{
    uint32_t asked = s->playing.player->head->slots;
    int most = asked && asked < MOST_SLOTS ? (int)asked : MOST_SLOTS;
    for (;;) {
        for (int i = 0; i < most; i++)
            if (!s->slots[i].pid)
                return i;
        if (!end_one(s))
            return 0;
    }
}

/* ---- files */

static void write_file(const char *name, const uint8_t *bytes, uint32_t n)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd >= 0 && write(fd, bytes, n) < (ssize_t)n)
        unlink(name);
    if (fd >= 0)
        close(fd);
}

void server_give_files(const Player *player, const uint8_t *steps, const uint8_t *after)
{
    Reader r = { player->shared + WIRE_FILES, player->shared + WIRE_SEEN };
    for (uint32_t i = 0, n = take32(&r); i < n; i++) {
        char text[256] = "", *name = text + sizeof(uint32_t);      /* as a value has it */
        uint32_t len = take32(&r);
        memcpy(text, &len, sizeof len);
        if (len + sizeof len >= sizeof text || !take(&r, name, len))
            return;
        uint32_t size = take32(&r);
        if ((size_t)(r.end - r.p) < size)
            return;
        if (memmem(steps, (size_t)(after - steps), text, len + sizeof len))
            write_file(name, r.p, size);
        r.p += size;
    }
}

/* ---- jobs */

/* From now on this process can write its own answer, and nothing else of the memory that all
 * share. NULL: nothing at all. */
static void protect_shared(const Player *player, const struct WireAnswer *answer)
{
    uint8_t *from = player->shared, *own = answer ? (uint8_t *)answer : from + WIRE_SIZE;
    uint8_t *behind = answer ? own + WIRE_ANSWER : own;
    mprotect(from, (size_t)(own - from), PROT_READ);
    mprotect(behind, (size_t)(from + WIRE_SIZE - behind), PROT_READ);
}

/* A process that listens to no signal ends, too. */
static void limit_cpu(const Player *player)
{
    rlim_t seconds = player->head->cpu_ms / 1000 + 2;
    struct rlimit limit = { seconds, seconds };
    setrlimit(RLIMIT_CPU, &limit);
}

static void execute(Server *s, const Job *j, struct WireAnswer *answer)
{
    server_give_files(s->playing.player, s->given.p ? s->given.p : j->steps.p, j->after);
    s->playing.answer = answer;
    job_set_up(&s->playing, &j->options);
    job_run(&s->playing, j->steps, &j->options, j->nsteps);
}

static void start_job(Server *s, const Job *j, struct WireAnswer *answer)
{
    int i = free_slot(s);
    answer->state = WIRE_BEGUN;
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);           /* kill(0, …) is for itself */
        go_to_slot(i);
        limit_cpu(s->playing.player);
        protect_shared(s->playing.player, answer);
        execute(s, j, answer);
        _exit(0);
    }
    if (pid > 0)
        s->slots[i] = (Slot){ pid, answer };
}

/* An answer begins with what was seen of the prefix. */
static void begin_answer(const Server *s, struct WireAnswer *answer, uint32_t nprefix)
{
    answer->nobs = s->prefix.nobs;
    memcpy(answer->obs, s->prefix.obs, s->prefix.nobs);
    answer->at = nprefix;
}

/* Jobs of a group; in the group's process, after the prefix. */
static void run_jobs(Server *s, Reader r, uint32_t njobs, uint32_t nprefix)
{
    for (uint32_t i = 0; i < njobs; i++) {
        Job j = take_job(&r);
        struct WireAnswer *answer = answer_of(s, &j);
        begin_answer(s, answer, nprefix);
        if (j.options.direct) {
            execute(s, &j, answer);
            return;
        }
        start_job(s, &j, answer);
    }
    while (end_one(s))
        ;
}

/* The prefix died: so would all its jobs. */
static void mark_jobs(const Server *s, Reader r, uint32_t njobs, int status)
{
    for (uint32_t i = 0; i < njobs; i++) {
        Job j = take_job(&r);
        struct WireAnswer *answer = answer_of(s, &j);
        if (answer->state == WIRE_NOT_RUN || answer->state == WIRE_BEGUN) {
            answer->state = WIRE_PREFIX;
            answer->status = status;
        }
    }
}

/* ---- groups */

typedef struct Group {
    uint32_t njobs, nprefix;
    Reader prefix, jobs;
} Group;

/* Reads a group and steps over it. */
static Group take_group(Reader *r)
{
    Group g = { .njobs = take32(r), .nprefix = take32(r) };
    g.prefix = *r;
    take_no_steps(r, g.nprefix);
    g.jobs = *r;
    for (uint32_t i = 0; i < g.njobs; i++)
        take_job(r);
    return g;
}

static void run_prefix(Server *s, Group *g)
{
    struct itimerval off = { 0 };
    job_limit(s->playing.player);
    s->given = g->prefix;
    server_give_files(s->playing.player, g->prefix.p, g->jobs.p);
    protect_shared(s->playing.player, NULL);
    call_steps(&s->playing, &g->prefix, g->nprefix, 0, 1);
    mprotect(s->playing.player->shared, WIRE_SIZE, PROT_READ | PROT_WRITE);
    setitimer(ITIMER_PROF, &off, NULL);
    setitimer(ITIMER_REAL, &off, NULL);
}

static void run_group(Server *s, Group *g)
{
    memset(&s->prefix, 0, sizeof s->prefix);
    s->playing.answer = &s->prefix;
    if (!g->nprefix) {
        run_jobs(s, g->jobs, g->njobs, 0);
        return;
    }
    pid_t pid = fork();
    if (pid == 0) {
        run_prefix(s, g);
        shield_parents();
        run_jobs(s, g->jobs, g->njobs, g->nprefix);
        _exit(0);
    }
    int status = pid > 0 ? wait_for(pid) : -1;
    if (status != 0)
        mark_jobs(s, g->jobs, g->njobs, status);
}

static int is_direct(const Group *g)
{
    Reader r = g->jobs;
    return g->njobs && !g->nprefix && take_job(&r).options.direct;
}

void server_run(const Player *player)
{
    Server *s = calloc(1, sizeof *s);
    Reader r = { player->shared + WIRE_REQUEST, player->shared + WIRE_RESPONSE };
    if (!s)
        _exit(81);
    s->playing.player = player;
    s->playing.answer = &s->prefix;
    interpose_enter(&s->playing);
    uint32_t ngroups = take32(&r);
    if (ngroups == WIRE_THREADS)
        concurrent_run(player, &r);
    for (uint32_t i = 0; i < ngroups; i++) {
        Group g = take_group(&r);
        if (i == 0 && !is_direct(&g))
            shield_parents();
        run_group(s, &g);
        if (is_direct(&g))
            break;
    }
    interpose_leave(&s->playing);
    free(s);
}
