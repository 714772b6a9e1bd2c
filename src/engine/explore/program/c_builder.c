/*
 * The process and what is said to it: a kind, whether somebody waits, and a byte for each function.
 * It says: whether it worked, a figure, the length of a text, and the text: a path, or why not.
 */
#include "engine/explore/program/c_builder.h"
#include "base/apart.h"
#include "base/tempdir.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct Builder {
    pid_t pid;                   /* 0: it is no more */
    int to, from;                /* pipes */
    const char *scratch;         /* its folder for temporary files */
    size_t functions;            /* bytes of a `reached` */
    BuildKind does;
};

typedef struct Question {
    BuildKind kind;
    bool waited, all;            /* all: no bytes of functions follow */
} Question;

typedef struct Reply {
    bool done;
    size_t reachable, n;         /* n: bytes of text behind it */
} Reply;

/* ---- pipes */

static bool read_all(int fd, void *to, size_t n)
{
    char *p = to;
    while (n) {
        ssize_t k = read(fd, p, n);
        if (k == 0 || (k < 0 && errno != EINTR))
            return false;
        p += k > 0 ? k : 0;
        n -= k > 0 ? (size_t)k : 0;
    }
    return true;
}

static bool write_all(int fd, const void *from, size_t n)
{
    const char *p = from;
    while (n) {
        ssize_t k = write(fd, p, n);
        if (k < 0 && errno != EINTR)
            return false;
        p += k > 0 ? k : 0;
        n -= k > 0 ? (size_t)k : 0;
    }
    return true;
}

/* ---- in the process */

/* The path or "done"; NULL: `err` says why. */
static char *make(const BuilderPlan *plan, const Question *q, const uint8_t *reached,
                  size_t *reachable, Err *err)
{
    BuildsPlan b = plan->builds;
    b.jobs = q->waited ? plan->jobs : 1;
    b.reached = q->all ? NULL : reached;
    if (!b.calls && plan->calls && (q->kind == BUILD_CALLS || q->kind == BUILD_CONCOLIC) &&
        !(b.calls = plan->calls(plan->arg, err)))
        return NULL;
    if (b.calls && (q->kind == BUILD_CALLS || q->kind == BUILD_CONCOLIC))
        *reachable = edges_reachable(b.edges, b.calls, plan->entry);
    switch (q->kind) {
    case BUILD_COVERAGE: return build_coverage(&b, err);
    case BUILD_CONCOLIC: return build_concolic(&b, err);
    case BUILD_SANITIZED: return build_sanitized(&b, err);
    default: return xstrdup("done");
    }
}

static void work(const BuilderPlan *plan, int from, int to, size_t functions)
{
    Question q;
    uint8_t *reached = xcalloc(functions + 1, 1);
    while (read_all(from, &q, sizeof q) && (q.all || read_all(from, reached, functions))) {
        Err why = { 0 };
        Reply r = { 0 };
        char *path = make(plan, &q, reached, &r.reachable, &why);
        const char *text = path ? path : why.msg;
        r.done = path != NULL;
        r.n = strlen(text);
        if (!write_all(to, &r, sizeof r) || !write_all(to, text, r.n))
            break;
        free(path);
    }
    _exit(0);
}

/* ---- here */

Builder *builder_new(const BuilderPlan *plan, Err *err)
{
    int to[2], from[2];
    Builder *b = xcalloc(1, sizeof *b);
    b->functions = program_index_limit(plan->builds.program);
    b->scratch = tempdir_new(NULL, err);
    if (!b->scratch || pipe2(to, O_CLOEXEC) != 0) {
        if (b->scratch) {
            err_errno(err, "pipe");
            tempdir_remove(b->scratch);
        }
        free(b);
        return NULL;
    }
    if (pipe2(from, O_CLOEXEC) != 0) {
        err_errno(err, "pipe");
        close(to[0]);
        close(to[1]);
        tempdir_remove(b->scratch);
        free(b);
        return NULL;
    }
    b->to = to[1];
    b->from = from[0];
    b->pid = apart_fork(b->scratch);
    if (b->pid == 0) {
        close(to[1]);
        close(from[0]);
        work(plan, to[0], from[1], b->functions);
    }
    close(to[0]);
    close(from[1]);
    if (b->pid < 0) {
        err_errno(err, "cannot start a process");
        b->pid = 0;
        builder_free(b);
        return NULL;
    }
    return b;
}

void builder_free(Builder *b)
{
    if (!b)
        return;
    if (b->pid > 0)
        apart_kill(b->pid);
    tempdir_remove(b->scratch);
    close(b->to);
    close(b->from);
    free(b);
}

BuildKind builder_does(const Builder *b) { return b->does; }

void builder_ask(Builder *b, BuildKind kind, const uint8_t *reached, bool waited)
{
    Question q = { 0 };
    assert(b->does == BUILD_NONE && kind != BUILD_NONE);
    q.kind = kind;
    q.waited = waited;
    q.all = !reached;
    b->does = kind;
    /* If it is dead, the answer says so. Nobody gets a signal for that: see session.c. */
    if (write_all(b->to, &q, sizeof q) && reached)
        write_all(b->to, reached, b->functions);
}

bool builder_answer(Builder *b, double seconds, BuildAnswer *out)
{
    struct pollfd fd = { .fd = b->from, .events = POLLIN };
    Reply r;
    assert(b->does != BUILD_NONE);
    if (poll(&fd, 1, (int)(seconds * 1000)) <= 0)
        return false;
    *out = (BuildAnswer){ .kind = b->does };
    b->does = BUILD_NONE;
    char *text = NULL;
    if (!read_all(b->from, &r, sizeof r) || !(text = xcalloc(r.n + 1, 1)) ||
        !read_all(b->from, text, r.n)) {
        err_set(&out->why, "the process that makes builds died");
    } else if (r.done) {
        out->path = text;
        text = NULL;
        out->reachable = r.reachable;
    } else {
        err_set(&out->why, "%s", text);
    }
    free(text);
    return true;
}
