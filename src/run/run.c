/*
 * Sundew's side of a run: describe it to the worker, collect what the subject
 * writes, and turn the worker's answer into a result.
 *
 * Both output pipes are read here, so that the worker only ever waits; when
 * more comes than the limit allows it is told to stop the run. By the time its
 * answer arrives no process of the run is left, so what is still in the pipes
 * is all there is.
 */
#include "run/run.h"
#include "base/fault.h"
#include "base/below.h"
#include "base/empty.h"
#include "base/file.h"
#include "base/tempdir.h"
#include "base/units.h"
#include "run/run_int.h"
#include "runtime/server/forkserver.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct Runner {
    Wire wire;                 /* fd -1: the worker is gone; started anew */
    pid_t worker;              /* our child: the worker or its guard */
    char *helper;
    char *scratch;
    const char *tempdir;       /* NULL: the scratch folder is the caller's */
    int scratch_dir;
    Str setup;                 /* the message */
    Str start;                 /* the last one, with what its descriptors are */
    Protection rows[PROTECT_COUNT];
    Str missing;
    char *hidden;              /* of the words; NULL: nothing */
};

/* ---- worker */

/* sundew-run stands beside sundew in the build folder, one above for unit
 * tests, and in ../lib/sundew when installed. */
static char *find_helper(const char *given)
{
    static const char *const places[] = { "sundew-run", "../sundew-run",
                                          "../lib/sundew/sundew-run" };
    if (given)
        return path_absolute(given);
    char *self = path_real("/proc/self/exe");
    char *bin = path_dir(self ? self : "/usr/local/bin/sundew");
    char *found = NULL;
    for (size_t i = 0; !found && i < sizeof places / sizeof *places; i++) {
        char *path = path_in(bin, places[i]);
        if (access(path, X_OK) == 0)
            found = path;
        else
            free(path);
    }
    free(bin);
    free(self);
    return found;
}

static bool spawn_helper(Runner *r, int socket, Err *err)
{
    char *argv[] = { r->helper, "worker", NULL };
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    sigemptyset(&none);
    sigfillset(&defaults);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, socket, 3);
    int e = fault_hits() ? errno
                         : posix_spawn(&r->worker, r->helper, &files, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    errno = e;
    return e == 0 || err_errno(err, "%s", r->helper);
}

static void stop_worker(Runner *r)
{
    if (r->wire.fd >= 0)
        close(r->wire.fd);         /* the worker sees that and leaves */
    r->wire.fd = -1;
    if (r->worker <= 0)
        return;
    int status;
    for (unsigned i = 0;; i++) {
        pid_t done = waitpid(r->worker, &status, WNOHANG);
        if (done == r->worker || (done < 0 && errno != EINTR))
            break;
        if (i == 2000)
            kill(r->worker, SIGKILL);
        usleep(i < 50 ? 200 : 5000);
    }
    r->worker = 0;
}

static void take_protections(Runner *r, const Str *body)
{
    WireIn in = { str_c(body), str_c(body) + body->len, false };
    memcpy(r->rows, protection_rows, sizeof r->rows);
    str_reset(&r->missing);
    for (int i = 0; i < PROTECT_COUNT; i++) {
        uint8_t granted;
        wire_get(&in, &granted, 1);
        r->rows[i].granted = granted;
        snprintf(r->rows[i].why, sizeof r->rows[i].why, "%s", wire_get_text(&in));
        if (granted || strcmp(r->rows[i].why, "not asked for") == 0 ||
            strcmp(r->rows[i].why, "the network was asked for") == 0)
            continue;
        str_addf(&r->missing, "%s%s (%s): %s", r->missing.len ? "; no " : "no ", r->rows[i].name,
                 r->rows[i].why, r->rows[i].without);
    }
    if (r->hidden && r->rows[PROTECT_MOUNT].granted)
        str_addf(&r->missing, "%s%s", r->missing.len ? "; " : "", r->hidden);
}

static bool start_worker(Runner *r, Err *err)
{
    int pair[2];
    if (fault_hits() || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return err_errno(err, "sandbox");
    bool ok = spawn_helper(r, pair[1], err);
    close(pair[1]);
    r->wire = (Wire){ .fd = pair[0] };
    wire_draw_secret(&r->wire);
    WireKind kind;
    int fds[WIRE_MOST_FDS];
    size_t nfds;
    Str body = { 0 };
    if (ok && (!wire_send(&r->wire, WIRE_SETUP, &r->setup, NULL, 0) ||
               !wire_receive(&r->wire, &kind, &body, fds, &nfds)))
        ok = err_set(err, "%s does not answer", r->helper);
    else if (ok && kind == WIRE_FAILED)
        ok = err_set(err, "%s", body.len ? body.data : "");
    if (ok)
        take_protections(r, &body);
    else
        stop_worker(r);
    str_reset(&r->start);
    str_release(&body);
    return ok;
}

/* ---- setup */

static uint32_t add_paths(Str *body, const char *const *list)
{
    uint32_t n = 0;
    for (; list && list[n]; n++) {
        char *real = path_real(list[n]);
        char *path = real ? real : path_absolute(list[n]);
        wire_add_text(body, path);
        free(path);
    }
    return n;
}

static uint32_t without_mask(const char *const *names)
{
    uint32_t mask = 0;
    for (; names && *names; names++)
        for (int i = 0; i < PROTECT_COUNT; i++)
            if (strcmp(*names, protection_rows[i].name) == 0)
                mask |= 1u << i;
    return mask;
}

static void describe_setup(Runner *r, const RunnerPlan *plan)
{
    SetupWire w = { .version = WIRE_VERSION,
                    .size = WIRE_SIZE,
                    .network = plan->network,
                    .unprotected = plan->unprotected,
                    .without = without_mask(plan->without) };
    Str texts = { 0 };
    char *layered = plan->layered ? path_real(plan->layered) : NULL;
    wire_add_text(&texts, r->scratch);
    wire_add_text(&texts, layered ? layered : "");
    free(layered);
    w.nreadable = add_paths(&texts, plan->readable);
    char *cwd = path_real(".");
    const char *const here[] = { cwd, NULL };
    w.nreadable += add_paths(&texts, here);
    free(cwd);
    w.nwritable = add_paths(&texts, plan->writable);
    Strings named = { 0 };
    r->hidden = words_named(plan->words, &named);
    for (; w.nnamed < named.len; w.nnamed++)
        wire_add_text(&texts, named.items[w.nnamed]);
    strings_release(&named);
    wire_add(&r->setup, &w, sizeof w);
    str_addn(&r->setup, texts.data, texts.len);
    str_release(&texts);
}

Runner *runner_new(const RunnerPlan *plan, Err *err)
{
    static const RunnerPlan defaults;
    Runner *r = xcalloc(1, sizeof *r);
    r->wire.fd = r->scratch_dir = -1;
    if (!plan)
        plan = &defaults;
    r->helper = find_helper(plan->helper);
    if (!r->helper) {
        err_set(err, "sundew-run is missing: it belongs beside sundew");
        goto fail;
    }
    if (!plan->scratch && !(r->tempdir = tempdir_new(NULL, err)))
        goto fail;
    r->scratch = path_real(plan->scratch ? plan->scratch : r->tempdir);
    if (r->scratch && !fault_hits())
        r->scratch_dir = open(r->scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r->scratch_dir < 0) {
        err_errno(err, "scratch folder %s", plan->scratch ? plan->scratch : "");
        goto fail;
    }
    describe_setup(r, plan);
    if (!start_worker(r, err))
        goto fail;
    return r;

fail:
    runner_free(r);
    err_ctx(err, "cannot make a sandbox");
    return NULL;
}

void runner_free(Runner *r)
{
    if (!r)
        return;
    stop_worker(r);
    if (r->scratch_dir >= 0)
        close(r->scratch_dir);
    if (r->tempdir)
        tempdir_remove(r->tempdir);
    free(r->helper);
    free(r->scratch);
    free(r->hidden);
    str_release(&r->setup);
    str_release(&r->start);
    str_release(&r->missing);
    free(r);
}

const char *runner_home(const Runner *r)
{
    size_t n;
    const Protection *p = runner_protections(r, &n);
    return p[PROTECT_MOUNT].granted ? "/tmp" : runner_scratch(r);
}

const char *runner_scratch(const Runner *r) { return r->scratch; }

const Protection *runner_protections(const Runner *r, size_t *n)
{
    *n = PROTECT_COUNT;
    return r->rows;
}

const char *runner_missing(const Runner *r) { return r->missing.len ? str_c(&r->missing) : NULL; }

/* ---- START */

/* Our environment, with the few variables that a run wants otherwise. */
static uint32_t add_environment(const Runner *r, Str *body)
{
    uint32_t n = 0;
    for (char **e = environ; *e; e++)
        if (!str_starts(*e, "TMPDIR=") && !str_starts(*e, "HOME=") &&
            !str_starts(*e, "SUNDEW_FAULT") && !str_starts(*e, SUNDEW_FORKSERVER_ENV)) {
            wire_add_text(body, *e);
            n++;
        }
    Str s = { 0 };
    str_addf(&s, "TMPDIR=%s", r->scratch);
    wire_add_text(body, str_c(&s));
    str_reset(&s);
    str_addf(&s, "HOME=%s", r->scratch);
    wire_add_text(body, str_c(&s));
    str_release(&s);
    n += 2;
    if (!getenv("UBSAN_OPTIONS")) {
        wire_add_text(body, "UBSAN_OPTIONS=print_stacktrace=1");
        n++;
    }
    return n;
}

static char *find_file(const RunPlan *plan, Err *err)
{
    const char *name = plan->file ? plan->file : plan->argv[0];
    char *file = strchr(name, '/') ? path_absolute(name) : path_search(name, NULL);
    if (!file || access(file, F_OK) != 0) {
        free(file);
        err_set(err, "%s: no such program", name);
        return NULL;
    }
    return file;
}

/* Tells the worker what to run, unless it was the same last time. */
static bool send_start(Runner *r, const RunPlan *plan, Err *err)
{
    StartWire w = { .fixed_addresses = plan->fixed_addresses,
                    .untraced = plan->untraced,
                    .server = plan->server,
                    .rounds = plan->rounds,
                    .nfds = (uint32_t)plan->nfds };
    int fds[WIRE_MOST_FDS];
    if (plan->nfds > WIRE_MOST_FDS)
        return err_set(err, "too many descriptors");
    char *file = find_file(plan, err);
    if (!file)
        return false;
    Str texts = { 0 }, key = { 0 }, body = { 0 };
    wire_add_text(&texts, file);
    char *cwd = plan->cwd ? path_absolute(plan->cwd) : xstrdup(r->scratch);
    wire_add_text(&texts, cwd);
    free(cwd);
    for (; plan->argv[w.nargs]; w.nargs++)
        wire_add_text(&texts, plan->argv[w.nargs]);
    if (plan->env)
        for (; plan->env[w.nenv]; w.nenv++)
            wire_add_text(&texts, plan->env[w.nenv]);
    else
        w.nenv = add_environment(r, &texts);
    for (size_t i = 0; i < plan->nfds; i++) {
        struct stat st = { 0 };
        assert(plan->fds[i].as > 2 && plan->fds[i].as < RUN_MOST_FD &&
               plan->fds[i].as != SUNDEW_FORKSERVER_FD);
        fstat(plan->fds[i].fd, &st);
        wire_add(&key, &st.st_dev, sizeof st.st_dev);
        wire_add(&key, &st.st_ino, sizeof st.st_ino);
        fds[i] = plan->fds[i].fd;
        w.as[i] = plan->fds[i].as;
    }
    wire_add(&body, &w, sizeof w);
    str_addn(&body, texts.data, texts.len);
    str_addn(&key, body.data, body.len);
    bool ok = true;
    if (key.len != r->start.len || memcmp(key.data, r->start.data, key.len)) {
        ok = wire_send(&r->wire, WIRE_START, &body, fds, plan->nfds) ||
             err_set(err, "the worker is gone");
        str_release(&r->start);
        r->start = key;
        key = (Str){ 0 };
    }
    str_release(&texts);
    str_release(&body);
    str_release(&key);
    free(file);
    return ok;
}

/* ---- prepare */

static RunLimits with_defaults(const RunLimits *given)
{
    RunLimits l = *given;
    if (l.wall <= 0)
        l.wall = 10;
    if (l.cpu <= 0)
        l.cpu = l.wall;
    if (!l.memory)
        l.memory = 2ull << 30;
    if (!l.output)
        l.output = 256u << 20;
    if (!l.file_size)
        l.file_size = 256u << 20;
    if (!l.processes)
        l.processes = 256;
    return l;
}

static bool write_files(const Runner *r, const RunPlan *plan, Err *err)
{
    for (size_t i = 0; i < plan->nfiles; i++) {
        const RunFile *f = &plan->files[i];
        if (*f->name == '/' || strstr(f->name, ".."))
            return err_set(err, "%s: not a name in the scratch folder", f->name);
        /* A fork server of the subject may be alive, and put links on the way. */
        if (!below_write(r->scratch, f->name, f->data, f->len, err))
            return false;
    }
    return true;
}

/* Standard input: bytes become a file in memory. */
static int open_input(const RunPlan *plan, Err *err)
{
    int fd;
    if (plan->input_file && file_is_pipe(plan->input_file)) {
        err_set(err, "%s: a pipe can't be given to each run; name a file", plan->input_file);
        return -1;
    }
    if (fault_hits()) {
        fd = -1;
    } else if (plan->input_file) {
        fd = open(plan->input_file, O_RDONLY | O_CLOEXEC);
    } else if (!plan->input) {
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    } else {
        fd = memfd_create("input", MFD_CLOEXEC);
        if (fd >= 0 && (!file_write_fd(fd, plan->input, plan->input_len, err) ||
                        lseek(fd, 0, SEEK_SET) != 0)) {
            close(fd);
            return -1;
        }
    }
    if (fd < 0)
        err_errno(err, "%s", plan->input_file ? plan->input_file : "input");
    return fd;
}

/* ---- collect */

/* One stream while it is read: the first `keep` bytes, and after them the last
 * half of `keep` or a little more. */
typedef struct Capture {
    int fd;                    /* -1: closed */
    size_t keep;
    Str head, tail;
    uint64_t total;
} Capture;

static void capture_add(Capture *c, const char *p, size_t n)
{
    assert(c->head.len <= c->keep);
    c->total += n;
    size_t room = c->keep - c->head.len, k = n < room ? n : room;
    str_addn(&c->head, p, k);
    str_addn(&c->tail, p + k, n - k);
    if (c->tail.len > c->keep + (64u << 10)) {
        size_t half = c->keep / 2;
        memmove(c->tail.data, c->tail.data + c->tail.len - half, half);
        c->tail.len = half;
    }
}

static void capture_take(Capture *c, RunStream *to)
{
    to->total = c->total;
    to->truncated = c->total > c->keep;
    to->text = c->head;
    c->head = (Str){ 0 };
    if (to->truncated) {
        size_t half = c->keep / 2;
        Str last = { 0 };
        assert(to->text.len == c->keep);           /* the head is full */
        str_addn(&last, to->text.data + half, to->text.len - half);
        str_addn(&last, c->tail.data, c->tail.len);
        to->text.len = half;
        str_addf(&to->text, "\n[%llu bytes left out]\n", (unsigned long long)(c->total - 2 * half));
        assert(last.len >= half);
        str_addn(&to->text, last.data + last.len - half, half);
        str_release(&last);
    }
    str_release(&c->tail);
}

/* Reads what is there. False: nothing for now, or at the end. */
static bool capture_read(Capture *c)
{
    char buf[65536];
    if (c->fd < 0)
        return false;
    ssize_t n = read(c->fd, buf, sizeof buf);
    if (n > 0) {
        capture_add(c, buf, (size_t)n);
        return true;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(c->fd);
        c->fd = -1;
    }
    return false;
}

/* What is still in the pipe. A fork server may have kept its other end, and write on. */
static void capture_rest(Capture *c)
{
    enum { LARGEST_PIPE = 1 << 20 };
    uint64_t most = c->total + LARGEST_PIPE;
    while (c->total <= most && capture_read(c))
        ;
}

/* How long the worker may take to do as it was told. It needs milliseconds; a machine
 * may be busy. */
static const double PATIENCE = 5;

/* It does not answer: a subject may have stopped it. The kernel ends all that is in its
 * namespace with it. */
static bool give_up(Runner *r, Err *err)
{
    kill(r->worker, SIGKILL);
    return err_set(err, "the worker does not answer");
}

/* Reads both streams until the worker answers. */
static bool collect(Runner *r, const RunPlan *plan, const RunLimits *l, Capture c[2],
                    WireKind *kind, Str *body, bool *by_plan, Err *err)
{
    double until = clock_seconds() + 4 * l->wall + 60;         /* a server may start first */
    bool stopped = false;
    for (;;) {
        struct pollfd p[3] = { { r->wire.fd, POLLIN, 0 },
                               { c[0].fd, POLLIN, 0 },
                               { c[1].fd, POLLIN, 0 } };
        int n = poll(p, 3, plan->stop ? 100 : 1000);
        if (n < 0 && errno != EINTR)
            return err_errno(err, "poll");
        if (!stopped && !(n > 0 && p[0].revents) && plan->stop && plan->stop(plan->stop_arg))
            stopped = *by_plan = wire_send(&r->wire, WIRE_STOP, NULL, NULL, 0);
        if (stopped && until > clock_seconds() + 2 * PATIENCE)
            until = clock_seconds() + 2 * PATIENCE;
        if (clock_seconds() > until)
            return give_up(r, err);
        if (n <= 0)
            continue;
        for (int i = 0; i < 2; i++)
            if (p[i + 1].revents)
                capture_read(&c[i]);
        if (!stopped && (c[0].total > l->output || c[1].total > l->output))
            stopped = wire_send(&r->wire, WIRE_STOP, NULL, NULL, 0);
        if (p[0].revents)
            break;
    }
    int fds[WIRE_MOST_FDS];
    size_t nfds;
    if (!wire_receive(&r->wire, kind, body, fds, &nfds))
        return err_set(err, "the worker is gone");
    capture_rest(&c[0]);
    capture_rest(&c[1]);
    return true;
}

/* ---- result */

static const char *text_or_null(const char *s) { return *s ? s : NULL; }

bool run_take_done(const Str *body, RunResult *out, Err *err)
{
    WireIn in = { str_c(body), str_c(body) + body->len, false };
    DoneWire d;
    wire_get(&in, &d, sizeof d);
    FailureFrame frames[TRACE_FRAMES] = { { 0 } };
    size_t n = d.nframes < TRACE_FRAMES ? d.nframes : TRACE_FRAMES;
    for (size_t i = 0; i < n; i++) {
        frames[i].function = text_or_null(wire_get_text(&in));
        frames[i].module = text_or_null(wire_get_text(&in));
        wire_get(&in, &frames[i].offset, sizeof frames[i].offset);
    }
    if (in.bad)
        return err_set(err, "the worker's answer is broken");
    if (d.stop > FAILURE_STOP_PROCESSES || d.access > FAILURE_ACCESS_EXEC)
        return err_set(err, "the worker's answer is broken");
    Facts facts = { .wait_status = d.wait_status,
                    .stop = d.stop,
                    .blocked = d.blocked,
                    .has_signal_info = d.has_info,
                    .code = d.code,
                    .address = d.address,
                    .sp = d.sp,
                    .access = d.access,
                    .frames = frames,
                    .nframes = n,
                    .err = str_c(&out->err.text),
                    .err_len = out->err.text.len };
    failure_read(&out->failure, &facts);
    out->seconds = d.seconds;
    out->cpu_seconds = d.cpu_seconds;
    out->max_rss = d.max_rss;
    out->traced = d.traced;
    out->left_processes = d.left_processes;
    out->lost_server = d.lost_server;
    return true;
}

/* Why it did not begin. A file that is there for us and not for the worker is
 * hidden by the private folders. */
static bool explain(const RunPlan *plan, const char *why, Err *err)
{
    err_set(err, "%s", why);
    if (strcmp(why, strerror(ENOENT)) == 0)
        err_set(err, "not visible in the sandbox; name its folder as readable");
    return err_ctx(err, "%s", plan->argv[0]);
}

static bool exchange(Runner *r, const RunPlan *plan, int fds[3], Capture c[2], RunResult *out,
                     Err *err)
{
    RunWire w = { .limits = with_defaults(&plan->limits) };
    Str body = { 0 };
    WireKind kind;
    wire_add(&body, &w, sizeof w);
    bool ok = wire_send(&r->wire, WIRE_RUN, &body, fds, 3) || err_set(err, "the worker is gone");
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    ok = ok && collect(r, plan, &w.limits, c, &kind, &body, &out->stopped, err);
    bool lost = !ok;
    capture_take(&c[0], &out->out);
    capture_take(&c[1], &out->err);
    if (ok && kind == WIRE_DONE)
        ok = run_take_done(&body, out, err);
    else if (ok)
        ok = explain(plan, body.len ? body.data : "", err);
    if (lost)
        stop_worker(r);
    str_release(&body);
    return ok;
}

static bool open_streams(const RunPlan *plan, int fds[3], Capture c[2], Err *err)
{
    int pipes[2][2] = { { -1, -1 }, { -1, -1 } };
    bool ok = (fds[0] = open_input(plan, err)) >= 0;
    for (int i = 0; ok && i < 2; i++) {
        if (i == 0 && plan->discard_output)
            pipes[i][1] = open("/dev/null", O_WRONLY | O_CLOEXEC);
        else if (fault_hits() || pipe2(pipes[i], O_CLOEXEC) != 0)
            pipes[i][0] = pipes[i][1] = -1;
        if (pipes[i][1] < 0)
            ok = err_errno(err, "pipe");
        fds[i + 1] = pipes[i][1];
        c[i] = (Capture){ .fd = pipes[i][0],
                          .keep = plan->keep_output ? plan->keep_output : 1u << 20 };
        if (c[i].fd >= 0)
            fcntl(c[i].fd, F_SETFL, O_NONBLOCK);
    }
    for (int i = 0; !ok && i < 3; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return ok;
}

bool runner_run(Runner *r, const RunPlan *plan, RunResult *out, Err *err)
{
    assert(plan->argv && plan->argv[0] && !out->out.text.data);     /* `out` of {0} */
    int fds[3] = { -1, -1, -1 };
    Capture c[2] = { { .fd = -1 }, { .fd = -1 } };
    if (r->wire.fd < 0 && !start_worker(r, err))
        return err_ctx(err, "cannot make a sandbox");
    if (!plan->keep_scratch)
        folder_empty(r->scratch_dir);
    bool ok = write_files(r, plan, err) && send_start(r, plan, err) &&
              open_streams(plan, fds, c, err) && exchange(r, plan, fds, c, out, err);
    for (int i = 0; i < 2; i++)
        if (c[i].fd >= 0)
            close(c[i].fd);
    return ok || err_ctx(err, "cannot run");
}

/* The worker's answer, which comes within so many seconds. */
static bool answer(Runner *r, double seconds, Str *body, int *fds, size_t *nfds, Err *err)
{
    WireKind kind;
    struct pollfd p = { r->wire.fd, POLLIN, 0 };
    if (poll(&p, 1, (int)(seconds * 1000)) == 0) {
        give_up(r, err);
        stop_worker(r);
        return false;
    }
    if (!wire_receive(&r->wire, &kind, body, fds, nfds)) {
        stop_worker(r);
        return err_set(err, "the worker is gone");
    }
    return kind == WIRE_DONE || err_set(err, "%s", body->len ? body->data : "");
}

int runner_lend(Runner *r, const RunPlan *plan, int input, Err *err)
{
    RunWire w = { .limits = with_defaults(&plan->limits), .lend = true };
    int got[WIRE_MOST_FDS], out = -1, null = open("/dev/null", O_RDWR | O_CLOEXEC);
    size_t n = 0;
    Str body = { 0 };
    wire_add(&body, &w, sizeof w);
    int fds[3] = { input >= 0 ? input : null, null, null };
    bool ok = r->wire.fd >= 0 || start_worker(r, err);
    if (ok && !plan->keep_scratch)
        folder_empty(r->scratch_dir);
    ok = ok && write_files(r, plan, err) && send_start(r, plan, err) &&
         (wire_send(&r->wire, WIRE_LEND, &body, fds, 3) || err_set(err, "the worker is gone")) &&
         answer(r, 3 * w.limits.wall + 20 + PATIENCE, &body, got, &n, err);
    for (size_t i = 0; i < n; i++)
        if (ok && i == 0)
            out = got[i];
        else
            close(got[i]);
    close(null);
    str_release(&body);
    if (out < 0)
        err_ctx(err, "cannot run %s", plan->argv[0]);
    return out;
}

bool runner_tidy(Runner *r, bool *left, Err *err)
{
    Str body = { 0 };
    int fds[WIRE_MOST_FDS];
    size_t n = 0;
    DoneWire d = { 0 };
    if (r->wire.fd < 0)
        return err_set(err, "the worker is gone");
    bool ok =
        (wire_send(&r->wire, WIRE_TIDY, &body, NULL, 0) || err_set(err, "the worker is gone")) &&
        answer(r, 4 * PATIENCE, &body, fds, &n, err);
    WireIn in = { body.data, body.data + body.len, false };
    if (ok)
        wire_get(&in, &d, sizeof d);
    if (left)
        *left = d.left_processes;
    str_release(&body);
    return ok;
}

void run_result_release(RunResult *r)
{
    failure_release(&r->failure);
    str_release(&r->out.text);
    str_release(&r->err.text);
    *r = (RunResult){ 0 };
}
