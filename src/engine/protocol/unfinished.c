/* Lives that nobody ended: see protocol.h. One pass over the objects of all runs
 * counts the lives of each making site, a second one finds those that differ. */
#include "engine/protocol/protocol.h"
#include <assert.h>
#include <stdlib.h>

enum { LEAST_LIVES = 2, MOST_LEFT = 1000 };

static const ProtoCall *maker_of(const ProtoRun *r, const ProtoObject *o)
{
    return o->maker && !o->none && !o->found ? &r->calls.items[o->maker - 1] : NULL;
}

/* Did the function that made it return, in the same thread, before call number `end`? LEFT_UNKNOWN:
 * too many others did. */
typedef enum { LEFT_NO, LEFT_YES, LEFT_UNKNOWN } Left;

static Left was_left(const ProtoRun *r, const ProtoObject *o, const ProtoPlaces *at, uint32_t end)
{
    const ProtoCall *maker = &r->calls.items[o->maker - 1];
    size_t low = 0, high = r->left.len;
    while (low < high) { /* they are in the order of calls */
        size_t mid = (low + high) / 2;
        if (r->left.items[mid].at < o->maker)
            low = mid + 1;
        else
            high = mid;
    }
    for (size_t i = low; i < r->left.len && r->left.items[i].at < end; i++) {
        if (at->left_of[r->left.items[i].function] == at->same[maker->site] &&
            r->left.items[i].thread == maker->thread)
            return LEFT_YES;
        if (i == low + MOST_LEFT)
            return LEFT_UNKNOWN;
    }
    return LEFT_NO;
}

/* Alive at a regular end, though its function had returned. */
static bool is_open(const ProtoRun *r, const ProtoObject *o, const ProtoPlaces *at)
{
    return r->end == PROTO_ENDED && !r->lost && !o->ender &&
           was_left(r, o, at, UINT32_MAX) == LEFT_YES;
}

static void count(const ProtoRun *r, const ProtoObject *o, const ProtoPlaces *at, ProtoLives *out)
{
    const ProtoCall *maker = maker_of(r, o);
    if (!maker)
        return;
    ProtoLives *s = &out[maker->site];
    if (!o->ender) {
        s->open += is_open(r, o, at);
        return;
    }
    const ProtoCall *ender = &r->calls.items[o->ender - 1];
    /* A function that keeps it, and ends it when it is called again, is another. */
    bool here =
        at->same[ender->site] == at->same[maker->site] && was_left(r, o, at, o->ender) == LEFT_NO;
    s->here += here;
    s->elsewhere += !here;
    s->ender = (int)ender->function;
}

void proto_lives(const ProtoRuns *runs, const ProtoPlaces *at, ProtoLives *out)
{
    for (size_t s = 0; s < at->nsites; s++)
        out[s] = (ProtoLives){ .ender = -1 };
    for (size_t i = 0; i < runs->len; i++)
        for (size_t k = 0; k < runs->items[i]->objects.len; k++)
            count(runs->items[i], &runs->items[i]->objects.items[k], at, out);
}

/* The function ends what it makes, but not always. Or: earlier runs ended all lives that
 * begin here, wherever, and these end none of several. */
static bool is_odd(const ProtoLives *before, const ProtoLives *now)
{
    bool here = !before->elsewhere && !now->elsewhere && before->here + now->here >= LEAST_LIVES;
    bool gone = before->here + before->elsewhere >= LEAST_LIVES && !now->here && !now->elsewhere &&
                now->open >= LEAST_LIVES;
    return !before->open && now->open && (now->ender >= 0 || before->ender >= 0) && (here || gone);
}

static uint64_t ended(const ProtoLives *l) { return l->here + l->elsewhere; }

void proto_unfinished(const ProtoRuns *runs, const ProtoPlaces *at, const ProtoLives *before,
                      const ProtoLives *now, ProtoUnfinisheds *out)
{
    assert(before && now && (at->same || !at->nsites));
    bool *told = xcalloc(at->nsites + 1, sizeof *told);
    for (size_t i = 0; i < runs->len; i++) {
        const ProtoRun *r = runs->items[i];
        for (size_t k = 0; k < r->objects.len; k++) {
            const ProtoObject *o = &r->objects.items[k];
            const ProtoCall *maker = maker_of(r, o);
            uint32_t s = maker ? maker->site : 0;
            if (!maker || told[s] || !is_odd(&before[s], &now[s]) || !is_open(r, o, at))
                continue;
            told[s] = true;
            vec_push(out, ((ProtoUnfinished){
                              (uint32_t)i, (uint32_t)k + 1, s, ended(&before[s]) + ended(&now[s]),
                              (uint32_t)(now[s].ender >= 0 ? now[s].ender : before[s].ender) }));
        }
    }
    free(told);
}
