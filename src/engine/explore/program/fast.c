/*
 * Batches of runs: see fast.h.
 *
 * The batch is in memory that the subject can write (base/shared.h). So all that
 * matters is here: inputs, their places, how many there are. What comes from there is
 * how far the subject is (`at`, `started`), which is read once and compared with `n`,
 * and the results, which are copied and checked when the batch is over.
 *
 * A subject may also say nonsense over the socket, say nothing, or stop its server.
 * Whatever it does, a run that takes too long is killed; if that does not help, the
 * server is started anew; and a batch has an end, when all its runs would have been late.
 */
#include "engine/explore/program/fast.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/shared.h"
#include "base/units.h"
#include "base/vec.h"
#include "engine/explore/program/subject.h"
#include "run/run.h"
#include "runtime/server/batch.h"
#include "runtime/server/forkserver.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct Fast {
    Runner *runner;
    Strings argv, env;
    char *program;
    char *file;                /* what @@ stands for; NULL: standard input */
    Shared shared;
    struct sundew_batch *batch;/* in `shared`: never trusted */
    uint32_t n, room;          /* inputs of the batch; bytes for all */
    uint32_t counters;
    uint8_t *bytes;            /* of inputs; `used` of them */
    FastResult slots[SUNDEW_BATCH_MOST];         /* places of inputs, then results */
    uint8_t *last;             /* counters of the last input */
    bool (*stop)(void *arg);
    void *stop_arg;
    int input, socket;
    double seconds;
    uint64_t memory;
    uint32_t used;             /* bytes of inputs */
    uint32_t number;           /* of the message */
    bool late[SUNDEW_BATCH_MOST];
    double each;               /* seconds of a run, lately */
    bool steady;
    double tidied;
    bool left;
};

enum { ROOM = 4 << 20 };
static const double LONGEST_BATCH = 0.2;         /* seconds: somebody may want to stop */

/* ---- beginning */

static bool map_batch(Fast *f, const FastPlan *plan, Err *err)
{
    f->room = (uint32_t)(ROOM > 2 * plan->longest ? ROOM : 2 * plan->longest);
    f->counters = plan->counters;
    f->bytes = xmalloc(f->room);
    f->last = xcalloc(f->counters + 1, 1);
    size_t size = SUNDEW_BATCH_HEADER + 3 * (size_t)plan->counters + f->room;
    if (!shared_new(&f->shared, "sundew-batch", size, err))
        return false;
    f->batch = (struct sundew_batch *)f->shared.at;
    *f->batch = (struct sundew_batch){ .magic = SUNDEW_BATCH_MAGIC,
                                       .version = SUNDEW_BATCH_VERSION,
                                       .size = size,
                                       .counters = plan->counters,
                                       .room = f->room,
                                       .flags = (plan->in_memory ? SUNDEW_BATCH_MEMORY : 0) |
                                                (plan->snapshot ? SUNDEW_BATCH_SNAPSHOT : 0) };
    return true;
}

/* The header as it was when the memory was made: the subject may have changed it. */
static void put_header(Fast *f, uint32_t at, uint32_t rounds)
{
    struct sundew_batch *b = f->batch;
    b->magic = SUNDEW_BATCH_MAGIC;
    b->version = SUNDEW_BATCH_VERSION;
    b->size = f->shared.size;
    b->counters = f->counters;
    b->room = f->room;
    b->rounds = rounds;
    b->n = f->n;
    b->at = at;
}

static bool open_input(Fast *f, Err *err)
{
    f->input = f->file ? open(f->file, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644)
                       : memfd_create("input", MFD_CLOEXEC);
    return f->input >= 0 || err_errno(err, "%s", f->file ? f->file : "input");
}

static bool start(Fast *f, Err *err)
{
    RunFd fds[] = { { f->shared.fd, SUNDEW_BATCH_FD }, { f->input, SUNDEW_BATCH_INPUT_FD } };
    RunPlan plan = { .argv = strings_argv(&f->argv),
                     .file = f->program,
                     .env = strings_argv(&f->env),
                     .fds = fds,
                     .nfds = 2,
                     .server = true,
                     .untraced = true,
                     .keep_scratch = true,
                     .limits = { .memory = f->memory } };
    f->socket = runner_lend(f->runner, &plan, f->file ? -1 : f->input, err);
    return f->socket >= 0;
}

Fast *fast_new(const FastPlan *plan, Err *err)
{
    Fast *f = xcalloc(1, sizeof *f);
    f->shared.fd = f->input = f->socket = -1;
    f->seconds = plan->seconds > 0 ? plan->seconds : 1;
    f->each = plan->usual;
    f->steady = plan->steady;
    f->memory = plan->memory;
    f->stop = plan->stop;
    f->stop_arg = plan->stop_arg;
    f->tidied = clock_seconds();
    f->runner = call_runner(plan->call, plan->program, err);
    if (f->runner) {
        f->program = xstrdup(plan->program);
        f->file = call_arguments(plan->call, plan->program, f->runner, &f->argv);
        call_environment(plan->call, f->file, f->runner, &f->env);
    }
    if (plan->call->input) {       /* it comes with other parts: through descriptor 0 */
        free(f->file);
        f->file = NULL;
    }
    if (!f->runner || !map_batch(f, plan, err) || !open_input(f, err) || !start(f, err)) {
        fast_free(f);
        return NULL;
    }
    return f;
}

void fast_free(Fast *f)
{
    if (!f)
        return;
    if (f->socket >= 0)
        close(f->socket);
    runner_free(f->runner);
    shared_free(&f->shared);
    free(f->bytes);
    free(f->last);
    if (f->input >= 0)
        close(f->input);
    strings_release(&f->argv);
    free(f->program);
    strings_release(&f->env);
    free(f->file);
    free(f);
}

void fast_limit(Fast *f, double seconds) { f->seconds = seconds; }

/* ---- a batch */

bool fast_add(Fast *f, const void *bytes, size_t n)
{
    assert(f->n <= SUNDEW_BATCH_MOST && f->used <= f->room);
    if (f->n == SUNDEW_BATCH_MOST || n > f->room - f->used ||
        (f->n && !f->steady && f->n * f->each > LONGEST_BATCH))
        return false;
    FastResult slot = { .at = f->used, .len = (uint32_t)n };
    memcpy(f->bytes + f->used, bytes, n);
    memcpy(f->shared.at + SUNDEW_BATCH_HEADER + 3 * (size_t)f->counters + f->used, bytes, n);
    f->slots[f->n] = f->batch->slots[f->n] = slot;
    f->late[f->n] = false;
    f->n++;
    f->used += (uint32_t)n;
    return true;
}

void fast_reset(Fast *f)
{
    f->n = 0;
    f->used = 0;
}

typedef struct sundew_forkserver_message Message;

static bool ask(Fast *f)
{
    Message m = { .magic = SUNDEW_FORKSERVER_MAGIC,
                  .version = SUNDEW_FORKSERVER_VERSION,
                  .kind = SUNDEW_FORKSERVER_BATCH,
                  .number = ++f->number };
    return send(f->socket, &m, sizeof m, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof m;
}

/* A batch while it runs. */
typedef struct Batch {
    uint32_t at;               /* runs up to there are over; only grows */
    double until;              /* even if all are late */
    unsigned deaths;           /* of the server */
    bool stopped;              /* somebody wants it to end */
} Batch;

/* How far it is by what the subject says; never back. */
static uint32_t look_at(const Fast *f, Batch *b)
{
    uint32_t at = f->batch->at;
    if (at > b->at && at <= f->n)
        b->at = at;
    return b->at;
}

/* One message. True: the batch is over. */
static bool hear(Fast *f, bool *lost)
{
    Message m;
    ssize_t got = recv(f->socket, &m, sizeof m, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    *lost = got != sizeof m;
    return !*lost && m.kind == SUNDEW_FORKSERVER_BATCHED && m.number == f->number;
}

/* The run under way is killed when nothing new began for too long. False: the
 * server is gone, or does not go on although its run was killed. */
static bool wait_for_answer(Fast *f, Batch *b, Err *err)
{
    uint32_t started = f->batch->started;
    bool killed = false, lost = false;
    double since = clock_seconds();
    for (;;) {
        struct pollfd p = { f->socket, POLLIN, 0 };
        double now = clock_seconds(), left = fmin(since + f->seconds, b->until) - now;
        if (f->stop && left > 0.1)
            left = 0.1;
        int n = poll(&p, 1, left > 0 ? (int)(left * 1000) + 1 : 0);
        if (n > 0 && (hear(f, &lost) || lost))
            return !lost;
        now = clock_seconds();
        b->stopped = f->stop && f->stop(f->stop_arg);
        if (b->stopped || now > b->until)
            return false;
        if (f->batch->started != started) {
            started = f->batch->started;
            since = now;
            killed = false;
        } else if (now > since + f->seconds) {
            bool some = false;
            uint32_t at = look_at(f, b);
            if (killed || at >= f->n)
                return false;
            f->late[at] = killed = true;
            if (!runner_tidy(f->runner, &some, err))
                return false;
            f->left |= some;
            since = clock_seconds() + 1;
        }
    }
}

/* The server is started anew; what killed it counts as a run that died. */
static bool revive(Fast *f, Batch *b, Err *err)
{
    close(f->socket);
    f->socket = -1;
    uint32_t at = look_at(f, b);
    if (at < f->n) {
        f->batch->slots[at].status = SIGKILL;
        b->at++;
    }
    return start(f, err);
}

static void tidy(Fast *f)
{
    bool left = false;
    double now = clock_seconds();
    if (now - f->tidied < 2)
        return;
    f->tidied = now;
    if (runner_tidy(f->runner, &left, NULL))
        f->left |= left;
}

/* What the subject says of its runs. Places and lengths of inputs stay ours. */
void fast_take(const FastResult *from, uint32_t counters, FastResult *to)
{
    FastResult got = *(const volatile FastResult *)from;
    to->status = WIFEXITED(got.status) || WIFSIGNALED(got.status) ? got.status : SIGKILL;
    to->micros = got.micros;
    to->path = got.path;
    to->news = got.news <= SUNDEW_NEWS_EDGE ? got.news : SUNDEW_NEWS_EDGE;
    to->edges = got.edges <= counters ? got.edges : counters;
}

static void take_results(Fast *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        fast_take(&f->batch->slots[i], f->counters, &f->slots[i]);
    memcpy(f->last, f->shared.at + SUNDEW_BATCH_HEADER, f->counters);
}

static bool run_batch(Fast *f, uint32_t rounds, Err *err)
{
    double begun = clock_seconds();
    Batch b = { .until = begun + 10 + f->n * (f->seconds + 1) };
    if (f->socket < 0 && !start(f, err))
        return false;
    put_header(f, 0, rounds);
    while (look_at(f, &b) < f->n) {
        put_header(f, b.at, rounds);
        if (ask(f) && wait_for_answer(f, &b, err) && look_at(f, &b) >= f->n)
            continue;
        if (b.stopped) {           /* what is not over was not run */
            close(f->socket);
            f->socket = -1;
            f->n = look_at(f, &b);
        } else if (++b.deaths > 20 || clock_seconds() > b.until) {
            return err_set(err, "the program ends its own fork server, again and again");
        } else if (!revive(f, &b, err)) {
            return false;
        }
    }
    take_results(f);
    if (f->n)
        f->each = 0.7 * f->each + 0.3 * (clock_seconds() - begun) / f->n;
    tidy(f);
    return true;
}

bool fast_run(Fast *f, Err *err) { return run_batch(f, 0, err); }

bool fast_run_apart(Fast *f, Err *err) { return run_batch(f, 1, err); }

unsigned fast_count(const Fast *f) { return f->n; }

const FastResult *fast_result(const Fast *f, unsigned i)
{
    assert(i < SUNDEW_BATCH_MOST);
    return &f->slots[i];
}

const uint8_t *fast_input(const Fast *f, unsigned i, size_t *n)
{
    assert(i < SUNDEW_BATCH_MOST);
    *n = f->slots[i].len;
    assert(*n <= f->room - f->slots[i].at);
    return f->bytes + f->slots[i].at;
}

bool fast_timed_out(const Fast *f, unsigned i) { return f->late[i]; }

const uint8_t *fast_counters(const Fast *f) { return f->last; }

bool fast_left_processes(const Fast *f) { return f->left; }

const char *fast_missing(const Fast *f) { return runner_missing(f->runner); }
