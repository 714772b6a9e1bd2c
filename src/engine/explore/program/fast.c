/* Batches of runs: see fast.h. */
#include "engine/explore/program/fast.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/units.h"
#include "base/vec.h"
#include "engine/explore/program/subject.h"
#include "run/run.h"
#include "runtime/server/batch.h"
#include "runtime/server/forkserver.h"
#include <errno.h>
#include <fcntl.h>
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
    char *file;                /* what @@ stands for; NULL: standard input */
    struct sundew_batch *batch;
    size_t size;
    int shared, input, socket;
    double seconds;
    uint64_t memory;
    uint32_t used;             /* bytes of inputs */
    uint32_t number;           /* of the message */
    bool late[SUNDEW_BATCH_MOST];
    double each;               /* seconds of a run, lately */
    double tidied;
    bool left;
};

enum { ROOM = 4 << 20 };
static const double LONGEST_BATCH = 0.2;         /* seconds: somebody may want to stop */

/* ------------------------------------------------------------- beginning */

static bool map_batch(Fast *f, const FastPlan *plan, Err *err)
{
    uint64_t room = ROOM > 2 * plan->longest ? ROOM : 2 * plan->longest;
    f->size = SUNDEW_BATCH_HEADER + 3 * (size_t)plan->counters + room;
    f->shared = memfd_create("sundew-batch", MFD_CLOEXEC);
    if (f->shared < 0 || ftruncate(f->shared, (off_t)f->size) != 0)
        return err_errno(err, "shared memory");
    f->batch = mmap(NULL, f->size, PROT_READ | PROT_WRITE, MAP_SHARED, f->shared, 0);
    if (f->batch == MAP_FAILED) {
        f->batch = NULL;
        return err_errno(err, "shared memory");
    }
    *f->batch = (struct sundew_batch){ .magic = SUNDEW_BATCH_MAGIC,
                                       .version = SUNDEW_BATCH_VERSION, .size = f->size,
                                       .counters = plan->counters, .room = (uint32_t)room,
                                       .flags = (plan->in_memory ? SUNDEW_BATCH_MEMORY : 0) |
                                                (plan->snapshot ? SUNDEW_BATCH_SNAPSHOT : 0) };
    return true;
}

static bool open_input(Fast *f, Err *err)
{
    f->input = f->file ? open(f->file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)
                       : memfd_create("input", MFD_CLOEXEC);
    return f->input >= 0 || err_errno(err, "%s", f->file ? f->file : "input");
}

static bool start(Fast *f, Err *err)
{
    RunFd fds[] = { { f->shared, SUNDEW_BATCH_FD }, { f->input, SUNDEW_BATCH_INPUT_FD } };
    RunPlan plan = { .argv = strings_argv(&f->argv), .env = strings_argv(&f->env),
                     .fds = fds, .nfds = 2, .server = true, .untraced = true,
                     .keep_scratch = true, .limits = { .memory = f->memory } };
    f->socket = runner_lend(f->runner, &plan, f->file ? -1 : f->input, err);
    return f->socket >= 0;
}

Fast *fast_new(const FastPlan *plan, Err *err)
{
    Fast *f = xcalloc(1, sizeof *f);
    f->shared = f->input = f->socket = -1;
    f->seconds = plan->seconds > 0 ? plan->seconds : 1;
    f->each = plan->usual;
    f->memory = plan->memory;
    f->tidied = clock_seconds();
    f->runner = call_runner(plan->call, plan->program, err);
    if (f->runner) {
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
    if (f->batch)
        munmap(f->batch, f->size);
    if (f->shared >= 0)
        close(f->shared);
    if (f->input >= 0)
        close(f->input);
    strings_release(&f->argv);
    strings_release(&f->env);
    free(f->file);
    free(f);
}

void fast_limit(Fast *f, double seconds)
{
    f->seconds = seconds;
}

/* -------------------------------------------------------------- a batch */

bool fast_add(Fast *f, const void *bytes, size_t n)
{
    struct sundew_batch *b = f->batch;
    if (b->n == SUNDEW_BATCH_MOST || n > b->room - f->used ||
        (b->n && b->n * f->each > LONGEST_BATCH))
        return false;
    memcpy(sundew_batch_bytes(b) + f->used, bytes, n);
    b->slots[b->n] = (struct sundew_slot){ .at = f->used, .len = (uint32_t)n };
    f->late[b->n] = false;
    b->n++;
    f->used += (uint32_t)n;
    return true;
}

void fast_reset(Fast *f)
{
    f->batch->n = 0;
    f->batch->at = 0;
    f->used = 0;
}

typedef struct sundew_forkserver_message Message;

static bool ask(Fast *f)
{
    Message m = { .magic = SUNDEW_FORKSERVER_MAGIC, .version = SUNDEW_FORKSERVER_VERSION,
                  .kind = SUNDEW_FORKSERVER_BATCH, .number = ++f->number };
    return send(f->socket, &m, sizeof m, MSG_NOSIGNAL) == sizeof m;
}

/* The run under way is killed when nothing new began for too long. False: the
 * server is gone. */
static bool wait_for_answer(Fast *f, Err *err)
{
    struct sundew_batch *b = f->batch;
    uint32_t started = b->started;
    double since = clock_seconds();
    for (;;) {
        struct pollfd p = { f->socket, POLLIN, 0 };
        double left = since + f->seconds - clock_seconds();
        int n = poll(&p, 1, left > 0 ? (int)(left * 1000) + 1 : 0);
        if (n > 0) {
            Message m;
            ssize_t got = recv(f->socket, &m, sizeof m, 0);
            if (got != sizeof m)
                return false;
            if (m.kind == SUNDEW_FORKSERVER_BATCHED && m.number == f->number)
                return true;
        } else if (b->started != started) {
            started = b->started;
            since = clock_seconds();
        } else if (n == 0 && b->at < b->n) {
            f->late[b->at] = true;
            bool some = false;
            if (!runner_tidy(f->runner, &some, err))
                return false;
            f->left |= some;
            since = clock_seconds();
        }
    }
}

/* The server is started anew; what killed it counts as a run that died. */
static bool revive(Fast *f, Err *err)
{
    struct sundew_batch *b = f->batch;
    close(f->socket);
    if (b->at < b->n) {
        b->slots[b->at].status = SIGKILL;
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

bool fast_run(Fast *f, Err *err)
{
    struct sundew_batch *b = f->batch;
    unsigned deaths = 0;
    double begun = clock_seconds();
    b->at = 0;
    while (b->at < b->n) {
        if (ask(f) && wait_for_answer(f, err))
            continue;
        if (++deaths > 20)
            return err_set(err, "the program ends its own fork server, again and again");
        if (!revive(f, err))
            return false;
    }
    if (b->n)
        f->each = 0.7 * f->each + 0.3 * (clock_seconds() - begun) / b->n;
    tidy(f);
    return true;
}

bool fast_run_apart(Fast *f, Err *err)
{
    f->batch->rounds = 1;
    bool ok = fast_run(f, err);
    f->batch->rounds = 0;
    return ok;
}

unsigned fast_count(const Fast *f)
{
    return f->batch->n;
}

const FastResult *fast_result(const Fast *f, unsigned i)
{
    return &f->batch->slots[i];
}

const uint8_t *fast_input(const Fast *f, unsigned i, size_t *n)
{
    *n = f->batch->slots[i].len;
    return sundew_batch_bytes(f->batch) + f->batch->slots[i].at;
}

bool fast_timed_out(const Fast *f, unsigned i)
{
    return f->late[i];
}

const uint8_t *fast_counters(const Fast *f)
{
    return sundew_batch_counters(f->batch);
}

bool fast_left_processes(const Fast *f)
{
    return f->left;
}

const char *fast_missing(const Fast *f)
{
    return runner_missing(f->runner);
}
