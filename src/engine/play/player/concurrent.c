/*
 * concurrent - one test from several threads: a prefix in this thread, then the
 * calls of each thread, then an epilogue in this one.
 *
 *     prefix ─┬─ thread 1: its calls ─┬─ epilogue
 *             └─ thread 2: its calls ─┘
 *
 * A thread's steps use what the prefix has made, so its Playing begins as a copy of
 * the prefix's. In the serial modes there is an order of calls: all in this thread,
 * or each in its own, where a semaphore says whose turn it is. The scheduler of the
 * library knows these semaphores, so a call that blocks is a deadlock at once. In the native
 * mode the system schedules; a barrier lets the threads begin together.
 */
#include "engine/play/player/player_int.h"
#include "runtime/server/player.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Concurrent Concurrent;

/* One of the threads. */
typedef struct Strand {
    Concurrent *test;
    unsigned number;
    Playing *playing;
    Reader steps;
    uint32_t nsteps;
    sem_t turn;
    pthread_t thread;
} Strand;

struct Concurrent {
    const Player *player;
    const struct sundew_player_schedule *schedule;
    uint32_t mode, leaks, norder, nstrands;
    const uint8_t *order;
    Strand strands[WIRE_MOST_THREADS];
    Playing *first;              /* prefix and epilogue */
    sem_t back;                  /* a call of an order has ended */
    pthread_barrier_t start;     /* of native threads */
};

static struct WireAnswer *answer_at(const Player *player, unsigned i)
{
    return (struct WireAnswer *)(player->shared + WIRE_RESPONSE + (size_t)i * WIRE_ANSWER);
}

static Playing *playing_new(const Player *player, unsigned answer)
{
    Playing *p = calloc(1, sizeof *p);
    if (!p)
        _exit(81);
    p->player = player;
    p->answer = answer_at(player, answer);
    return p;
}

/* Steps of a request, stepped over. */
static Reader take_steps(Reader *r, uint32_t *n)
{
    *n = take32(r);
    Reader at = *r;
    take_no_steps(r, *n);
    return at;
}

/* What the prefix has made is there for all. */
static void inherit(Playing *p, const Playing *from)
{
    memcpy(p->done, from->done, sizeof p->done);
    p->ndone = from->ndone;
    p->answer->at = from->ndone;
}

static void one_step(Strand *s)
{
    if (!s->nsteps)
        return;
    s->nsteps--;
    call_steps(s->playing, &s->steps, 1, 0, 1);
    if (!s->nsteps)
        s->playing->answer->state = WIRE_DONE;
}

/* ------------------------------------------------------------------ modes */

static void *all_steps(void *arg)
{
    Strand *s = arg;
    lost_stack();
    interpose_enter(s->playing);
    while (s->nsteps)
        one_step(s);
    interpose_leave(s->playing);
    return NULL;
}

static void *steps_by_turns(void *arg)
{
    Strand *s = arg;
    Concurrent *c = s->test;
    lost_stack();
    interpose_enter(s->playing);
    for (uint32_t i = 0; i < c->norder; i++) {
        if (c->order[i] != s->number)
            continue;
        c->schedule->sem_wait(&s->turn);
        one_step(s);
        c->schedule->sem_post(&c->back);
    }
    interpose_leave(s->playing);
    return NULL;
}

static void in_threads(Concurrent *c, void *(*routine)(void *))
{
    for (uint32_t i = 0; i < c->nstrands; i++)
        if (c->schedule->create(&c->strands[i].thread, NULL, routine, &c->strands[i]) != 0)
            _exit(83);
    for (uint32_t i = 0; routine == steps_by_turns && i < c->norder; i++) {
        c->schedule->sem_post(&c->strands[c->order[i]].turn);
        c->schedule->sem_wait(&c->back);
    }
    for (uint32_t i = 0; i < c->nstrands; i++)
        c->schedule->join(c->strands[i].thread, NULL);
}

static void *all_native(void *arg)
{
    Strand *s = arg;
    pthread_barrier_wait(&s->test->start);
    return all_steps(s);
}

static void in_native_threads(Concurrent *c)
{
    pthread_barrier_init(&c->start, NULL, c->nstrands);
    for (uint32_t i = 0; i < c->nstrands; i++)
        if (pthread_create(&c->strands[i].thread, NULL, all_native, &c->strands[i]) != 0)
            _exit(83);
    for (uint32_t i = 0; i < c->nstrands; i++)
        pthread_join(c->strands[i].thread, NULL);
    pthread_barrier_destroy(&c->start);
}

static void in_order(Concurrent *c)
{
    interpose_leave(c->first);
    for (uint32_t i = 0; i < c->norder; i++) {
        Strand *s = &c->strands[c->order[i]];
        interpose_enter(s->playing);
        one_step(s);
        interpose_leave(s->playing);
    }
    interpose_enter(c->first);
}

/* ------------------------------------------------------------------- test */

static void take_order(Concurrent *c, Reader *r)
{
    c->mode = take32(r);
    c->leaks = take32(r);
    c->norder = take32(r);
    c->order = r->p;
    if (c->mode > WIRE_NATIVE || (size_t)(r->end - r->p) < c->norder)
        _exit(79);
    r->p += c->norder;
    c->nstrands = take32(r);
    for (uint32_t i = 0; i < c->norder; i++)
        if (c->order[i] >= c->nstrands)
            _exit(79);
    if (c->nstrands > WIRE_MOST_THREADS)
        _exit(79);
}

static void make_strands(Concurrent *c)
{
    sem_init(&c->back, 0, 0);
    for (uint32_t i = 0; i < c->nstrands; i++) {
        c->strands[i].test = c;
        c->strands[i].number = i;
        c->strands[i].playing = playing_new(c->player, i + 1);
        sem_init(&c->strands[i].turn, 0, 0);
    }
}

static void forget(Concurrent *c)
{
    for (uint32_t i = 0; i < c->nstrands; i++)
        call_forget(c->strands[i].playing);
    call_forget(c->first);
}

/* What the prefix has made was given back: who still has its address has nothing. What the
 * threads have made stays theirs. */
static void forget_given_back(const Concurrent *c)
{
    for (unsigned made = 0; made < MOST_STEPS; made++)
        for (uint32_t i = 0; i < c->nstrands; i++)
            for (unsigned k = 0; k < MOST_STEPS; k++)
                if (c->strands[i].playing->done[k].result[0] == c->first->done[made].result[0])
                    c->strands[i].playing->done[k].result[0] = 0;
    memset(c->first->done, 0, sizeof c->first->done);
}

/* The player's own memory leads to what calls have made, so it tells what is kept. */
static int64_t find_leaks(Concurrent *c, uint64_t before, uint32_t since)
{
    if (c->leaks == WIRE_LEAKS_ALL) {
        forget(c);
        if (job_heap_bytes(c->player) <= before)
            return 0;
        forget_given_back(c);
    }
    return (int64_t)lost_bytes(since);
}

static void play(Concurrent *c, Reader *r)
{
    uint32_t nprefix, nepilogue;
    uint64_t before = job_heap_bytes(c->player);
    uint32_t since = lost_mark();
    Reader prefix = take_steps(r, &nprefix);
    if (c->mode != WIRE_NATIVE)
        c->schedule->begin();
    interpose_enter(c->first);
    call_steps(c->first, &prefix, nprefix, 0, 1);
    for (uint32_t i = 0; i < c->nstrands; i++) {
        c->strands[i].steps = take_steps(r, &c->strands[i].nsteps);
        inherit(c->strands[i].playing, c->first);
    }
    if (c->mode == WIRE_ONE_THREAD)
        in_order(c);
    else if (c->mode == WIRE_NATIVE)
        in_native_threads(c);
    else
        in_threads(c, c->mode == WIRE_AT_ONCE ? all_steps : steps_by_turns);
    c->schedule->end();          /* what follows has no other thread */
    Reader epilogue = take_steps(r, &nepilogue);
    call_steps(c->first, &epilogue, nepilogue, 0, 1);
    interpose_leave(c->first);
    if (c->leaks)
        c->first->answer->leaked = find_leaks(c, before, since);
    c->first->answer->state = WIRE_DONE;
}

void concurrent_run(const Player *player, Reader *r)
{
    static Concurrent c;
    assert(player->woven);
    c.player = player;
    c.schedule = player->woven->schedule;
    if (!c.schedule)
        _exit(82);
    take_order(&c, r);
    server_give_files(player, r->p, r->end);
    c.first = playing_new(player, 0);
    make_strands(&c);
    play(&c, r);
    _exit(0);
}
