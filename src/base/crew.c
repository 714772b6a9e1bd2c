/*
 * A message is its kind, its length, and so many bytes. Members answer requests, and
 * nothing else:
 *
 *     maker   REQUEST …           NEWS …          end of file
 *     member          ANSWER …                                   ends
 *
 * A member that fails answers with FAILED and the reason.
 */
#include "base/crew.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum { REQUEST, NEWS, ANSWER, FAILED } Kind;

typedef struct Head {
    uint32_t kind, length;
} Head;

typedef struct Member {
    pid_t pid;
    int fd;
    size_t task;                         /* + 1; 0: it is free */
} Member;

struct Crew {
    unsigned n;
    Member *members;
};

/* ---------------------------------------------------------------- messages */

static bool get_bytes(int fd, void *data, size_t n)
{
    char *p = data;
    while (n) {
        ssize_t got = recv(fd, p, n, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        p += got;
        n -= (size_t)got;
    }
    return true;
}

static bool put(int fd, Kind kind, const Str *text)
{
    Head h = { kind, (uint32_t)text->len };
    assert(text->len < UINT32_MAX);
    return socket_put(fd, &h, sizeof h) && socket_put(fd, text->data, text->len);
}

static bool get(int fd, Kind *kind, Str *text)
{
    Head h;
    str_reset(text);
    if (!get_bytes(fd, &h, sizeof h))
        return false;
    char *room = xcalloc(h.length + 1, 1);
    bool ok = get_bytes(fd, room, h.length);
    if (ok)
        str_addn(text, room, h.length);
    free(room);
    *kind = (Kind)h.kind;
    return ok;
}

/* ------------------------------------------------------------------ member */

static bool serve_one(const CrewPlan *plan, int fd, bool *over)
{
    Str text = { 0 }, answer = { 0 };
    Err err = { 0 };
    Kind kind;
    bool ok = true;
    *over = !get(fd, &kind, &text);
    if (!*over) {
        ok = kind == REQUEST ? plan->work(plan->arg, &text, &answer, &err)
                             : plan->hear(plan->arg, &text, &err);
        if (!ok) {
            str_reset(&answer);
            str_add(&answer, err.msg);
        }
        if (kind == REQUEST || !ok)
            ok = put(fd, ok ? ANSWER : FAILED, &answer) && ok;
    }
    str_release(&text);
    str_release(&answer);
    return ok;
}

static _Noreturn void serve(const CrewPlan *plan, int fd)
{
    Err err = { 0 };
    bool over = false, begun = !plan->begin || plan->begin(plan->arg, &err), ok = begun;
    if (!begun) {
        Str why = { 0 };
        str_add(&why, err.msg);
        put(fd, FAILED, &why);
    }
    while (ok && !over)
        ok = serve_one(plan, fd, &over);
    if (begun && plan->end)
        plan->end(plan->arg);
    _exit(ok ? 0 : 1);
}

/* ------------------------------------------------------------------- maker */

static bool start(Crew *c, const CrewPlan *plan, Member *m, Err *err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return err_errno(err, "a helping process");
    fflush(NULL);
    m->pid = proc_fork();
    if (m->pid == 0) {
        for (unsigned i = 0; i < c->n; i++)
            if (c->members[i].pid > 0)
                close(c->members[i].fd);
        close(ends[0]);
        serve(plan, ends[1]);
    }
    close(ends[1]);
    m->fd = ends[0];
    if (m->pid > 0)
        return true;
    close(ends[0]);
    return err_errno(err, "a helping process");
}

Crew *crew_new(const CrewPlan *plan, Err *err)
{
    Crew *c = xcalloc(1, sizeof *c);
    assert(plan->n > 0 && plan->work);
    c->n = plan->n;
    c->members = xcalloc(c->n, sizeof *c->members);
    for (unsigned i = 0; i < c->n; i++)
        if (!start(c, plan, &c->members[i], err)) {
            crew_free(c);
            return NULL;
        }
    return c;
}

static bool lost(const Str *why, Err *err)
{
    return err_set(err, "a helping process ended%s%.200s", why && why->len ? ": " : "",
                   why ? str_c((Str *)why) : "");
}

/* The rest gets work as long as there is some. */
static bool hand_out(Crew *c, const Str *requests, size_t n, size_t *next, Err *err)
{
    for (unsigned i = 0; i < c->n && *next < n; i++) {
        Member *m = &c->members[i];
        if (m->task)
            continue;
        if (!put(m->fd, REQUEST, &requests[*next]))
            return lost(NULL, err);
        m->task = ++*next;
    }
    return true;
}

static bool take_answer(Member *m, Str *answers, Err *err)
{
    Str text = { 0 };
    Kind kind = ANSWER;
    bool there = get(m->fd, &kind, &text);
    bool ok = there && kind == ANSWER && m->task;
    if (ok) {
        str_release(&answers[m->task - 1]);
        answers[m->task - 1] = text;
        m->task = 0;
        return true;
    }
    lost(there ? &text : NULL, err);
    str_release(&text);
    return false;
}

bool crew_do(Crew *c, const Str *requests, size_t n, Str *answers, Err *err)
{
    size_t next = 0, done = 0;
    struct pollfd *at = xcalloc(c->n, sizeof *at);
    bool ok = true;
    while (ok && done < n) {
        ok = hand_out(c, requests, n, &next, err);
        for (unsigned i = 0; i < c->n; i++)
            at[i] = (struct pollfd){ .fd = c->members[i].task ? c->members[i].fd : -1,
                                     .events = POLLIN };
        if (ok && poll(at, c->n, -1) < 0 && errno != EINTR)
            ok = err_errno(err, "helping processes");
        for (unsigned i = 0; ok && i < c->n; i++)
            if (at[i].revents) {
                ok = take_answer(&c->members[i], answers, err);
                done += ok;
            }
    }
    free(at);
    assert(!ok || next == n);
    return ok;
}

bool crew_tell(Crew *c, const Str *news, Err *err)
{
    for (unsigned i = 0; i < c->n; i++) {
        assert(!c->members[i].task);
        if (!put(c->members[i].fd, NEWS, news))
            return lost(NULL, err);
    }
    return true;
}

void crew_free(Crew *c)
{
    for (unsigned i = 0; c && i < c->n; i++)
        if (c->members[i].pid > 0)
            close(c->members[i].fd);
    for (unsigned i = 0; c && i < c->n; i++)
        while (c->members[i].pid > 0 && waitpid(c->members[i].pid, NULL, 0) < 0 && errno == EINTR)
            ;
    if (c)
        free(c->members);
    free(c);
}
