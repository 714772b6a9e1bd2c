/*
 * The tracer follows all children of the command, of which it stops at three kinds of event
 * only: a new process, an executed program, and a signal, which is passed on. So a build runs at
 * nearly full speed under it. A program of the project whose one input is a pipe is stopped at
 * its system calls, too, until the pipe has ended: what read() gives it is copied from its memory.
 */
#include "project/observe.h"
#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/sha256.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Observer {
    const ObservePlan *plan;
    size_t runs, seeds;
    Map running;               /* process -> number of its run */
    Map asked;                 /* processes among them that a signal has asked to end */
    Map readers; /* processes among them -> Reader, while their pipe has not ended */
    int log;
    dev_t null_dev; /* of our own standard input, to know it again */
    ino_t null_ino;
} Observer;

/* What a process reads from its standard input. */
typedef struct Reader {
    size_t run;
    Str data;
    uint64_t buffer; /* of the read() that it is in; 0: in none */
    unsigned stops;
} Reader;

/* ---- one program that has just been executed */

static char *link_of(pid_t pid, const char *what)
{
    char path[64], to[4096];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, what);
    ssize_t n = readlink(path, to, sizeof to - 1);
    if (n <= 0)
        return NULL;
    to[n] = 0;
    return xstrdup(to);
}

static void read_args(pid_t pid, Strings *out)
{
    char path[64];
    Str text = { 0 };
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    if (!file_read(path, &text, NULL))
        return;
    for (size_t at = 0; at < text.len; at += strlen(text.data + at) + 1)
        if (at)
            strings_add(out, text.data + at);
    str_release(&text);
}

/* A copy named by its content; "" if there is no room. */
static char *keep_seed(Observer *o, const Str *data)
{
    char id[ID_LEN + 1] = "";
    if (o->seeds >= OBSERVE_MOST_SEEDS)
        return xstrdup("");
    sha256_id(str_c(data), data->len, id);
    char *to = path_join(o->plan->seeds, id);
    if (!file_exists(to) && file_write(to, str_c(data), data->len, NULL))
        o->seeds++;
    free(to);
    return xstrdup(id);
}

static char *copy_seed(Observer *o, const char *path)
{
    Str data = { 0 };
    struct stat st;
    bool ok = stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= OBSERVE_MOST_SEED &&
              file_read(path, &data, NULL);
    char *id = ok ? keep_seed(o, &data) : xstrdup("");
    str_release(&data);
    return id;
}

static ObservedInput input_kind(const Observer *o, pid_t pid)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d/fd/0", (int)pid);
    if (stat(path, &st) != 0 || (st.st_dev == o->null_dev && st.st_ino == o->null_ino))
        return INPUT_NONE;
    return S_ISREG(st.st_mode)                            ? INPUT_FILE
           : S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) ? INPUT_PIPE
                                                          : INPUT_NONE;
}

static const char *const input_names[] = { "none", "file", "pipe" };

/* "-o FILE": not what it reads. */
static bool is_output(const Strings *args, size_t i)
{
    static const char *const flags[] = { "-o", "--output", "--out", "--output-file", NULL };
    return i && str_is_one_of(args->items[i - 1], flags);
}

/* The first argument that names a file, seen from the process's folder. */
static int file_argument(const Strings *args, const char *cwd, char **path)
{
    for (size_t i = 0; i < args->len; i++) {
        char *full = path_in(cwd, args->items[i]);
        if (*args->items[i] && !is_output(args, i) && file_is_regular(full)) {
            *path = full;
            return (int)i;
        }
        free(full);
    }
    return -1;
}

static void write_line(Observer *o, const json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT);
    if (text) {
        Str whole = { 0 };
        str_add(&whole, text);
        str_addc(&whole, '\n');
        file_write_fd(o->log, str_c(&whole), whole.len, NULL);
        str_release(&whole);
    }
    free(text);
}

static bool has_content(const char *path, const Str *text)
{
    Str own = { 0 };
    bool same = (long long)text->len == file_size(path) && file_read(path, &own, NULL) &&
                own.len == text->len && memcmp(own.data, text->data, own.len) == 0;
    str_release(&own);
    return same;
}

/* Tests copy programs to where they run. The process's own file is read: the path may be gone. */
static char *original_of(const Observer *o, pid_t pid, char *program)
{
    char exe[64];
    struct stat st;
    Str text = { 0 };
    const char *found = NULL;
    const Map *all = o->plan->besides;
    snprintf(exe, sizeof exe, "/proc/%d/exe", (int)pid);
    if (!program || !all || map_has(all, program) || stat(exe, &st) != 0)
        return program;
    for (size_t i = 0; i < all->len && !found; i++)
        if (file_size(all->entries[i].key) == (long long)st.st_size &&
            (text.len || file_read(exe, &text, NULL)) && has_content(all->entries[i].key, &text))
            found = all->entries[i].key;
    str_release(&text);
    if (found) {
        free(program);
        program = xstrdup(found);
    }
    return program;
}

/* ---- what comes through a pipe */

static Reader *reader_of(const Observer *o, pid_t pid)
{
    return map_getn(&o->readers, &pid, sizeof pid);
}

static void free_reader(Reader *r)
{
    if (r)
        str_release(&r->data);
    free(r);
}

/* Its pipe has ended, or it has, or it is another program now. */
static void end_reading(Observer *o, pid_t pid)
{
    Reader *r = reader_of(o, pid);
    if (!r)
        return;
    char *seed = r->data.len ? keep_seed(o, &r->data) : xstrdup("");
    if (*seed) {
        json_t *line = json_pack("{s:I, s:s}", "run", (json_int_t)r->run, "seed", seed);
        write_line(o, line);
        json_decref(line);
    }
    map_putn(&o->readers, &pid, sizeof pid, NULL);
    free_reader(r);
    free(seed);
}

static void begin_reading(Observer *o, pid_t pid)
{
    Reader *r = xcalloc(1, sizeof *r);
    r->run = o->runs;
    map_putn(&o->readers, &pid, sizeof pid, r);
}

static void take_bytes(Observer *o, pid_t pid, Reader *r, int64_t n)
{
    static char room[1 << 16];
    struct iovec from = { (void *)(uintptr_t)r->buffer, 0 }, to = { room, 0 };
    for (; n > 0; n -= (int64_t)to.iov_len) {
        to.iov_len = from.iov_len = (size_t)n < sizeof room ? (size_t)n : sizeof room;
        if (r->data.len + to.iov_len > OBSERVE_MOST_SEED ||
            process_vm_readv(pid, &to, 1, &from, 1, 0) != (ssize_t)to.iov_len) {
            end_reading(o, pid);
            return;
        }
        str_addn(&r->data, room, to.iov_len);
        from.iov_base = (char *)from.iov_base + to.iov_len;
    }
    r->buffer = 0;
}

static void handle_call(Observer *o, pid_t pid)
{
    struct __ptrace_syscall_info call = { 0 };
    Reader *r = reader_of(o, pid);
    if (r && ++r->stops > OBSERVE_MOST_STOPS) {
        end_reading(o, pid);
        return;
    }
    if (!r || ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof call, &call) <= 0)
        return;
    if (call.op == PTRACE_SYSCALL_INFO_ENTRY)
        r->buffer = call.entry.nr == SYS_read && call.entry.args[0] == 0 ? call.entry.args[1] : 0;
    else if (call.op == PTRACE_SYSCALL_INFO_EXIT && r->buffer && call.exit.rval == 0)
        end_reading(o, pid);
    else if (call.op == PTRACE_SYSCALL_INFO_EXIT && r->buffer)
        take_bytes(o, pid, r, call.exit.rval);
}

static void note_run(Observer *o, pid_t pid)
{
    char *program = original_of(o, pid, link_of(pid, "exe"));
    const ObservePlan *plan = o->plan;
    bool below = program && path_is_below(program, plan->root) &&
                 !(plan->tools && path_is_below(program, plan->tools));
    bool own = below || (program && plan->besides && map_has(plan->besides, program));
    char *cwd = own ? link_of(pid, "cwd") : NULL;
    if (cwd && o->runs < OBSERVE_MOST_RUNS) {
        Strings args = { 0 };
        char *path = NULL, fd0[64];
        read_args(pid, &args);
        int file = file_argument(&args, cwd, &path);
        ObservedInput input = input_kind(o, pid);
        snprintf(fd0, sizeof fd0, "/proc/%d/fd/0", (int)pid);
        char *seed = path                  ? copy_seed(o, path)
                     : input == INPUT_FILE ? copy_seed(o, fd0)
                                           : xstrdup("");
        json_t *line = json_pack("{s:I, s:o, s:o, s:o, s:i, s:s, s:o}", "run",
                                 (json_int_t)++o->runs, "program", json_text(program), "cwd",
                                 json_text(cwd), "args", json_strings(args.items, args.len), "file",
                                 file, "input", input_names[input], "seed", json_text(seed));
        write_line(o, line);
        json_decref(line);
        map_putn(&o->running, &pid, sizeof pid, (void *)o->runs);
        if (!path && input == INPUT_PIPE)
            begin_reading(o, pid);
        free(seed);
        free(path);
        strings_release(&args);
    }
    free(cwd);
    free(program);
}

static void note_end(Observer *o, pid_t pid, int status)
{
    size_t run = (size_t)map_getn(&o->running, &pid, sizeof pid);
    if (!run)
        return;
    end_reading(o, pid);
    map_putn(&o->running, &pid, sizeof pid, NULL);
    json_t *line = json_pack("{s:I, s:i, s:b}", "run", (json_int_t)run, "status",
                             WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
                             "asked", map_getn(&o->asked, &pid, sizeof pid) != NULL);
    map_putn(&o->asked, &pid, sizeof pid, NULL);
    write_line(o, line);
    json_decref(line);
}

/* ---- following the command */

enum {
    WATCHED = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
              PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL,
    A_CALL = SIGTRAP | 0x80, /* what stops at system calls are told by */
};

static bool let_trace(void *arg)
{
    (void)arg;
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0;
}

/* What to hand on to a stopped process: its signal, or nothing for a stop of ours. */
static int handle_stop(Observer *o, pid_t pid, int status)
{
    int sig = WSTOPSIG(status), event = status >> 16;
    if (event == PTRACE_EVENT_EXEC) {
        end_reading(o, pid);
        note_run(o, pid);
    } else if (sig == A_CALL) {
        handle_call(o, pid);
    } else if (!event && (sig == SIGTERM || sig == SIGINT || sig == SIGHUP || sig == SIGQUIT) &&
               map_getn(&o->running, &pid, sizeof pid)) {
        map_putn(&o->asked, &pid, sizeof pid, o);
    }
    /* A new process begins with a SIGSTOP of the tracer's. */
    return event || sig == SIGSTOP || sig == SIGTRAP || sig == A_CALL ? 0 : sig;
}

static void follow(Observer *o, pid_t first, ProcResult *r)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, __WALL);
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid < 0)
            return;
        if (WIFSTOPPED(status)) {
            intptr_t hand_on = handle_stop(o, pid, status);
            ptrace(reader_of(o, pid) ? PTRACE_SYSCALL : PTRACE_CONT, pid, NULL, (void *)hand_on);
            continue;
        }
        note_end(o, pid, status);
        if (pid != first)
            continue;
        r->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        r->status = r->signal ? 128 + r->signal : WEXITSTATUS(status);
        return; /* what it left behind is killed with us */
    }
}

/* proc_start() waits until exec has happened, which a traced child can't do before
 * somebody lets it go on: so the fork is our own. */
static pid_t start(const ObservePlan *plan, Err *err)
{
    pid_t pid = fork();
    if (pid < 0)
        err_errno(err, "cannot start %s", plan->argv[0]);
    if (pid != 0)
        return pid;
    int null = open("/dev/null", O_RDONLY);
    if (null >= 0 && dup2(null, 0) == 0 && let_trace(NULL)) {
        signal(SIGPIPE, SIG_DFL);
        signal(SIGXFSZ, SIG_DFL);
        execvp(plan->argv[0], plan->argv);
        fprintf(stderr, "sundew: cannot start %s: %s\n", plan->argv[0], strerror(errno));
    }
    _exit(127);
}

bool observe_run(const ObservePlan *plan, ProcResult *r, Err *err)
{
    assert(plan->argv && plan->argv[0] && plan->root && plan->log && plan->seeds);
    Observer o = { .plan = plan };
    struct stat null;
    if (!dir_make(plan->seeds, err))
        return false;
    o.log = open(plan->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (o.log < 0)
        return err_errno(err, "%s", plan->log);
    if (stat("/dev/null", &null) == 0) {
        o.null_dev = null.st_dev;
        o.null_ino = null.st_ino;
    }
    pid_t pid = start(plan, err);
    int status;
    bool ok = pid > 0 && waitpid(pid, &status, __WALL) == pid;
    if (ok && WIFSTOPPED(status)) {
        ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(intptr_t)WATCHED);
        ptrace(PTRACE_CONT, pid, NULL, NULL);
        follow(&o, pid, r);
    } else if (ok) {
        ok = err_set(err, "%s can't be traced here", plan->argv[0]);
    }
    close(o.log);
    for (size_t i = 0; i < o.readers.len; i++) /* of processes that it left behind */
        free_reader(o.readers.entries[i].value);
    map_release(&o.readers);
    map_release(&o.running);
    map_release(&o.asked);
    return ok;
}

/* ---- reading */

/* Runs are numbered from 1, in the order of their lines. */
static void read_end(const json_t *line, ObservedRuns *out)
{
    long long run = json_int(line, "run", 0);
    if (run >= 1 && (size_t)run <= out->len) {
        out->items[run - 1].status = (int)json_int(line, "status", -1);
        out->items[run - 1].asked = json_is_true(json_object_get(line, "asked"));
    }
}

/* What came through a pipe is known later. */
static void read_seed(const json_t *line, const char *seeds, ObservedRuns *out)
{
    long long run = json_int(line, "run", 0);
    const char *seed = json_str(line, "seed");
    if (run < 1 || (size_t)run > out->len || !*seed)
        return;
    free(out->items[run - 1].seed);
    out->items[run - 1].seed = path_join(seeds, seed);
}

static void read_run(const json_t *line, const char *seeds, ObservedRuns *out)
{
    const char *input = json_str(line, "input"), *seed = json_str(line, "seed");
    if (json_object_get(line, "status")) {
        read_end(line, out);
        return;
    }
    if (!json_is_object(line) || strchr(seed, '/'))
        return;
    if (!*json_str(line, "program")) {
        read_seed(line, seeds, out);
        return;
    }
    ObservedRun *run = vec_grow(out);
    run->status = -1;
    run->program = xstrdup(json_str(line, "program"));
    run->cwd = xstrdup(json_str(line, "cwd"));
    json_get_strings(line, "args", &run->args);
    long long file = json_int(line, "file", -1);
    run->file = file >= 0 && (size_t)file < run->args.len ? (int)file : -1;
    run->input = strcmp(input, "pipe") == 0   ? INPUT_PIPE
                 : strcmp(input, "file") == 0 ? INPUT_FILE
                                              : INPUT_NONE;
    run->seed = *seed ? path_join(seeds, seed) : xstrdup("");
}

void observe_read(const char *log, ObservedRuns *out)
{
    Str text = { 0 };
    char *folder = path_dir(log), *seeds = path_join(folder, "seeds");
    if (file_exists(log) && file_read(log, &text, NULL))
        for (char *p = text.data, *next; p && *p; p = next) {
            size_t n = strcspn(p, "\n");
            next = p + n + (p[n] == '\n');
            json_t *line = json_parse(p, n, NULL);
            read_run(line, seeds, out);
            json_decref(line);
        }
    str_release(&text);
    free(seeds);
    free(folder);
}

void observed_release(ObservedRuns *runs)
{
    for (size_t i = 0; i < runs->len; i++) {
        free(runs->items[i].program);
        free(runs->items[i].cwd);
        free(runs->items[i].seed);
        strings_release(&runs->items[i].args);
    }
    vec_release(runs);
}
