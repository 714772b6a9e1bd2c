/*
 * look - what is seen after a call: its result, what its pointers lead to, structs
 * that it changed, errno, callbacks. wire.h has the letters and the format.
 *
 * Pointers that come out of a library may lead anywhere, so texts are read with a
 * handler for faults. Handlers are the process's, so readers are counted: the first
 * installs ours, the last puts the library's back.
 */
#include "engine/play/player/player_int.h"
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* ---- reading safely */

/* The handler has no argument: what it needs is the thread's. */
static _Thread_local sigjmp_buf unreadable;
static _Thread_local volatile sig_atomic_t reading;

/* The process's handlers, and how many threads need ours. */
static pthread_mutex_t readers_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned nreaders;
static struct sigaction old_segv, old_bus;

/* A thread that does not read has a fault of its own: it happens again, with the
 * handler that would have got it. */
static void on_fault(int sig)
{
    if (reading)
        siglongjmp(unreadable, 1);
    sigaction(sig, sig == SIGBUS ? &old_bus : &old_segv, NULL);
}

static void guard(void)
{
    struct sigaction a = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };
    pthread_mutex_lock(&readers_lock);
    if (nreaders++ == 0) {
        sigaction(SIGSEGV, &a, &old_segv);
        sigaction(SIGBUS, &a, &old_bus);
    }
    pthread_mutex_unlock(&readers_lock);
    reading = 1;
}

static void unguard(void)
{
    reading = 0;
    pthread_mutex_lock(&readers_lock);
    assert(nreaders > 0);
    if (--nreaders == 0) {
        sigaction(SIGSEGV, &old_segv, NULL);
        sigaction(SIGBUS, &old_bus, NULL);
    }
    pthread_mutex_unlock(&readers_lock);
}

/* Bytes of a string, at most `most`; -1: unreadable. */
__attribute__((no_sanitize("address"))) static long read_string(const char *from, char *to,
                                                                long most)
{
    volatile long n = 0;
    guard();
    if (sigsetjmp(unreadable, 1) == 0) {
        while (n < most && from[n]) {
            to[n] = from[n];
            n++;
        }
    } else {
        n = -1;
    }
    unguard();
    return n;
}

/* ---- observations */

void look_note(Playing *p, unsigned step, int place, uint32_t kind, const void *bytes, uint32_t n)
{
    struct {
        uint32_t step;
        int32_t place;
        uint32_t kind, n;
    } row = { step, place, kind, n };
    uint32_t padded = (n + 3u) & ~3u;
    if (p->answer->nobs + sizeof row + padded > WIRE_OBSERVATIONS) {
        p->answer->cut = 1;
        return;
    }
    memcpy(p->answer->obs + p->answer->nobs, &row, sizeof row);
    if (n)
        memcpy(p->answer->obs + p->answer->nobs + sizeof row, bytes, n);
    p->answer->nobs += (uint32_t)sizeof row + padded;
}

static void observe_string(Playing *p, unsigned step, int place, const char *s)
{
    char copy[WIRE_MOST_SEEN_BYTES];
    if (!s) {
        look_note(p, step, place, OBS_NULL, NULL, 0);
        return;
    }
    long n = read_string(s, copy, sizeof copy);
    if (n < 0)
        look_note(p, step, place, OBS_UNREADABLE, NULL, 0);
    else
        look_note(p, step, place, n == sizeof copy ? OBS_LONG : OBS_STRING, copy, (uint32_t)n);
}

/* Where else this pointer came up; false: nowhere. */
static int known_pointer(const Playing *p, const void *it, unsigned before, uint32_t at[2])
{
    for (unsigned s = 0; s < before; s++) {
        const Done *d = &p->done[s];
        const Routine *r = d->routine == WIRE_SET ? NULL : &p->player->routines[d->routine];
        if (r && r->look[0] == 'h' && (void *)d->result[0] == it) {
            at[0] = s;
            at[1] = (uint32_t)-1;
            return 1;
        }
        for (unsigned i = 0; r && i < d->nargs; i++)
            if (d->rooms[i] && (d->rooms[i] == it || (r->look[i + 1] == 'h' && d->sizes[i] >= 8 &&
                                                      memcmp(d->rooms[i], &it, sizeof it) == 0))) {
                at[0] = s;
                at[1] = i;
                return 1;
            }
    }
    return 0;
}

static void observe_handle(Playing *p, unsigned step, int place, const void *it)
{
    uint32_t at[2];
    if (!it)
        look_note(p, step, place, OBS_NULL, NULL, 0);
    else if (known_pointer(p, it, step, at))
        look_note(p, step, place, OBS_SAME, at, sizeof at);
    else
        look_note(p, step, place, OBS_HANDLE, NULL, 0);
}

static uint64_t widen(uint64_t v, char letter)
{
    switch (letter) {
    case 'c': return (uint64_t)(int64_t)(int8_t)v;
    case 'C': return (uint8_t)v;
    case 's': return (uint64_t)(int64_t)(int16_t)v;
    case 'S': return (uint16_t)v;
    case 'i': return (uint64_t)(int64_t)(int32_t)v;
    case 'I': return (uint32_t)v;
    default: return v;
    }
}

static void observe_result(Playing *p, unsigned step, const Routine *r, const Done *d)
{
    uint64_t v;
    double x;
    float f;
    switch (r->look[0]) {
    case 'i':
        v = widen(d->result[0], r->signature[0]);
        look_note(p, step, -1, OBS_INTEGER, &v, sizeof v);
        break;
    case 'f':
        memcpy(&f, d->result, sizeof f);
        memcpy(&x, d->result, sizeof x);
        if (r->signature[0] == 'f')
            x = (double)f;
        look_note(p, step, -1, OBS_FLOAT, &x, sizeof x);
        break;
    case 'z': observe_string(p, step, -1, (const char *)d->result[0]); break;
    case 'h': observe_handle(p, step, -1, (const void *)d->result[0]); break;
    case 'p': look_note(p, step, -1, d->result[0] ? OBS_HANDLE : OBS_NULL, NULL, 0); break;
    case 'r':
        look_note(p, step, -1, OBS_BYTES, d->result,
                  (uint32_t)(r->result->size > 64 ? 64 : r->result->size));
        break;
    }
}

static void observe_room(Playing *p, unsigned step, unsigned i, char look, const Done *d)
{
    uint32_t n = d->sizes[i];
    uint64_t v = 0;
    void *it = NULL;
    if (look == 'n' && n > sizeof v) {
        look_note(p, step, (int)i, OBS_BYTES, d->rooms[i],
                  n > WIRE_MOST_SEEN_BYTES ? WIRE_MOST_SEEN_BYTES : n);
    } else if (look == 'n') {
        memcpy(&v, d->rooms[i], n > 8 ? 8 : n);
        look_note(p, step, (int)i, OBS_INTEGER, &v, sizeof v);
    } else if (look == 'b') {
        look_note(p, step, (int)i, OBS_BYTES, d->rooms[i],
                  n > WIRE_MOST_SEEN_BYTES ? WIRE_MOST_SEEN_BYTES : n);
    } else if (n >= sizeof it) {
        memcpy(&it, d->rooms[i], sizeof it);
        if (look == 'z')
            observe_string(p, step, (int)i, it);
        else
            observe_handle(p, step, (int)i, it);
    }
}

/* Structs in the caller's storage that the call has changed. */
static void observe_storage(Playing *p, unsigned step, unsigned i)
{
    const Done *d = &p->done[step];
    uint32_t n = d->own_sizes[i];
    uint8_t both[2 * WIRE_MOST_SEEN_BYTES];
    if (!d->own[i] || memcmp(p->content[i], d->own[i], n) == 0)
        return;
    memcpy(both, p->content[i], n);
    memcpy(both + n, d->own[i], n);
    look_note(p, step, (int)i, OBS_FIELDS, both, 2 * n);
}

/* Texts that structs and arrays lead to: results as much as numbers are. */
static void observe_texts(Playing *p, unsigned step, const char *texts)
{
    const Done *d = &p->done[step];
    unsigned i, at, number;
    for (; sscanf(texts, "%u,%u,%u;", &i, &at, &number) == 3; texts = strchr(texts, ';') + 1) {
        const uint8_t *base = i >= d->nargs ? NULL : d->own[i] ? d->own[i] : d->rooms[i];
        uint32_t n = i >= d->nargs ? 0 : d->own[i] ? d->own_sizes[i] : d->sizes[i];
        const char *text;
        if (!base || at + sizeof text > n ||
            (d->own[i] && memcmp(p->content[i] + at, base + at, sizeof text) == 0))
            continue;
        memcpy(&text, base + at, sizeof text);
        if (text)
            observe_string(p, step, OBS_PLACE_FIELD + (int)(i * OBS_FIELDS_OF_ONE + number), text);
    }
}

uint64_t look_sum(const Done *d)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (uint32_t i = 0; i < d->sizes[0]; i++)
        h = (h ^ ((const uint8_t *)d->rooms[0])[i]) * 0x100000001b3u;
    return h;
}

/* What was written where a field led to. */
static void observe_behind(Playing *p, unsigned step)
{
    for (unsigned s = 0; s < step; s++) {
        Done *d = &p->done[s];
        uint64_t sum = d->out ? look_sum(d) : 0;
        if (!d->out || sum == d->sum)
            continue;
        d->sum = sum;
        look_note(p, step, OBS_PLACE_BEHIND + (int)s, OBS_BYTES, d->rooms[0],
                  d->sizes[0] > WIRE_MOST_SEEN_BYTES ? WIRE_MOST_SEEN_BYTES : d->sizes[0]);
    }
}

void look_at_call(Playing *p, unsigned step, int error)
{
    assert(step < p->ndone);
    const Done *d = &p->done[step];
    const Routine *r = &p->player->routines[d->routine];
    observe_result(p, step, r, d);
    for (unsigned i = 0; i < d->nargs; i++)
        if (d->rooms[i] && strchr("bnzh", r->look[i + 1]))
            observe_room(p, step, i, r->look[i + 1], d);
    for (unsigned i = 0; i < d->nargs; i++)
        observe_storage(p, step, i);
    observe_texts(p, step, r->texts);
    observe_behind(p, step);
    if (error)
        look_note(p, step, OBS_PLACE_ERRNO, OBS_ERRNO, &error, sizeof error);
    if (p->callbacks != p->callbacks_seen)
        look_note(p, step, OBS_PLACE_CALLBACKS, OBS_CALLBACKS, &p->callbacks, sizeof p->callbacks);
    p->callbacks_seen = p->callbacks;
    writes_look_at_output(p, step);
}
