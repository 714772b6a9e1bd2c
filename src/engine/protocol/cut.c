/*
 * Cuts: the part of a run that one object sees, and the six filters.
 *
 * For each object o (the core) a cut has, in order:
 *
 *     all calls on o, and the call that made it;
 *     for each object p that a call on o was given: the call that returned p, and all
 *     calls on p before;
 *     for each object r that a call on o gave: all calls on r after.
 *
 * A neighbour gives at most NEIGHBOUR_CALLS calls, and a core has at most
 * MOST_NEIGHBOURS of them: so the time is linear in the run, whatever the
 * objects have to do with each other. Clones would be removed anyway.
 */
#include "engine/protocol/protocol.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { NEIGHBOUR_CALLS = 256, MOST_NEIGHBOURS = 64 };

static const uint32_t *uses_of(const ProtoRun *r, uint32_t o, size_t *n)
{
    assert(o && o <= r->objects.len && r->first);
    *n = r->first[o + 1] - r->first[o];
    return r->uses + r->first[o];
}

static bool is_made_by(const ProtoCall *c, uint32_t o)
{
    return c->made[0] == o || c->made[1] == o;
}

/* Is it a call on o, not one that is only given o? */
static bool is_on(const ProtoCall *c, uint32_t o) { return c->objects[0] == o || is_made_by(c, o); }

/* Neighbours of a core, with the calls of them that count. */
typedef struct Neighbour {
    uint32_t object, before, after;      /* calls before that one, after that one */
} Neighbour;
typedef Vec(Neighbour) Neighbours;

static void note(Neighbours *all, uint32_t object, uint32_t before, uint32_t after)
{
    for (size_t i = 0; i < all->len; i++)
        if (all->items[i].object == object) {
            if (before > all->items[i].before)
                all->items[i].before = before;
            if (after < all->items[i].after)
                all->items[i].after = after;
            return;
        }
    if (all->len < MOST_NEIGHBOURS)
        vec_push(all, ((Neighbour){ object, before, after }));
}

static void add_neighbours(const ProtoCall *c, uint32_t at, uint32_t core, Neighbours *out)
{
    for (unsigned i = 1; i < 3; i++)
        if (c->objects[i] && c->objects[i] != core)
            note(out, c->objects[i], at, UINT32_MAX);
    for (unsigned i = 0; i < 2; i++)
        if (c->made[i] && c->made[i] != core)
            note(out, c->made[i], 0, at);
}

static void add_calls_of(const ProtoRun *r, const Neighbour *n, ProtoCut *out)
{
    size_t k, taken = 0;
    const uint32_t *uses = uses_of(r, n->object, &k);
    for (size_t i = 0; i < k && taken < NEIGHBOUR_CALLS; i++) {
        const ProtoCall *c = &r->calls.items[uses[i]];
        if ((uses[i] < n->before && is_on(c, n->object)) ||
            (uses[i] > n->after && c->objects[0] == n->object)) {
            vec_push(&out->calls, uses[i]);
            taken++;
        }
    }
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* In order, each once. */
static void sort(ProtoCut *c)
{
    size_t n = 0;
    qsort(c->calls.items, c->calls.len, sizeof *c->calls.items, by_number);
    for (size_t i = 0; i < c->calls.len; i++)
        if (!i || c->calls.items[i] != c->calls.items[i - 1])
            c->calls.items[n++] = c->calls.items[i];
    c->calls.len = n;
}

/* Calls on the core; of those that were made by another object's call that one stays
 * out, as the rules have it, unless the cut is `alone`. */
static void add_own(const ProtoRun *r, ProtoCut *out, Neighbours *near)
{
    size_t n;
    const uint32_t *uses = uses_of(r, out->core, &n);
    for (size_t i = 0; i < n; i++) {
        const ProtoCall *c = &r->calls.items[uses[i]];
        bool made = is_made_by(c, out->core) &&
                    (out->alone || !c->objects[0] || c->objects[0] == out->core);
        if (c->objects[0] != out->core && !made)
            continue;
        vec_push(&out->calls, uses[i]);
        if (near)
            add_neighbours(c, uses[i], out->core, near);
    }
}

void proto_cut(const ProtoRun *r, uint32_t core, ProtoCut *out)
{
    Neighbours near = { 0 };
    *out = (ProtoCut){ .core = core };
    add_own(r, out, &near);
    for (size_t i = 0; i < near.len; i++)
        add_calls_of(r, &near.items[i], out);
    if (near.len)
        sort(out);
    vec_release(&near);
}

void proto_cut_alone(const ProtoRun *r, uint32_t core, ProtoCut *out)
{
    *out = (ProtoCut){ .core = core, .alone = true };
    add_own(r, out, NULL);
}

void proto_cut_release(ProtoCut *c) { vec_release(&c->calls); }

/* ----------------------------------------------------------------- filters */

/* A receiver of a cut and the functions called on it, as a hash that does not depend on
 * their order. */
typedef struct Receiver {
    uint32_t object;
    uint64_t functions;
    bool gone;
} Receiver;
typedef Vec(Receiver) Receivers;

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    return x ^ x >> 27;
}

static Receiver *receiver_of(Receivers *all, uint32_t object)
{
    for (size_t i = all->len; i-- > 0;)
        if (all->items[i].object == object)
            return &all->items[i];
    return NULL;
}

/* Functions of each receiver; a function counts once. */
static void find_receivers(const ProtoRun *r, const ProtoCut *c, Receivers *out)
{
    Map seen = { 0 };
    for (size_t i = 0; i < c->calls.len; i++) {
        const ProtoCall *call = &r->calls.items[c->calls.items[i]];
        uint32_t key[2] = { call->objects[0], call->function };
        if (!key[0])
            continue;
        Receiver *x = receiver_of(out, key[0]);
        if (!x) {
            vec_push(out, ((Receiver){ .object = key[0] }));
            x = &out->items[out->len - 1];
        }
        if (map_putn(&seen, key, sizeof key, out))
            x->functions += mix((uint64_t)call->function + 1);
    }
    map_release(&seen);
}

static bool is_kept(const ProtoCut *c, uint32_t object, const uint32_t *keep, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (keep[i] == object)
            return true;
    return object == c->core;
}

/* 1: among receivers with the same functions one stays: the core, one that is asked
 * for, else the first. */
static void mark_clones(const ProtoRun *r, const ProtoCut *c, Receivers *all, const uint32_t *keep,
                        size_t nkeep)
{
    for (size_t i = 0; i < all->len; i++)
        for (size_t k = 0; k < all->len && !all->items[i].gone; k++) {
            const Receiver *x = &all->items[i], *y = &all->items[k];
            bool same =
                x->functions == y->functions && !y->gone && i != k &&
                r->objects.items[x->object - 1].type == r->objects.items[y->object - 1].type;
            bool better = is_kept(c, y->object, keep, nkeep) || k < i;
            if (same && better && !is_kept(c, x->object, keep, nkeep))
                all->items[i].gone = true;
        }
}

static void drop_calls(const ProtoApi *api, const ProtoRun *r, ProtoCut *c, Receivers *all)
{
    size_t n = 0;
    for (size_t i = 0; i < c->calls.len; i++) {
        const ProtoCall *call = &r->calls.items[c->calls.items[i]];
        const ProtoFunction *f = api->functions.items[call->function];
        const Receiver *x = call->objects[0] ? receiver_of(all, call->objects[0]) : NULL;
        if (!(x && x->gone) && !f->foreign && !f->ubiquitous)      /* 1, 4 and 5 */
            c->calls.items[n++] = c->calls.items[i];
    }
    c->calls.len = n;
}

static bool has_enough(const ProtoRun *r, const ProtoCut *c)
{
    for (size_t i = 1; i < c->calls.len; i++)
        if (r->calls.items[c->calls.items[i]].function !=
            r->calls.items[c->calls.items[0]].function)
            return true;
    return false;
}

bool proto_filter(const ProtoApi *api, const ProtoRun *r, ProtoCut *c, const uint32_t *keep,
                  size_t nkeep)
{
    Receivers all = { 0 };
    size_t left = 0;
    find_receivers(r, c, &all);
    if (!c->alone)
        mark_clones(r, c, &all, keep, nkeep);
    for (size_t i = 0; i < all.len; i++)
        left += !all.items[i].gone;
    bool ok = c->alone || left <= PROTO_MOST_RECEIVERS;          /* 2 */
    /* 3, types: a handle's type is its canonical one already. */
    if (ok) {
        drop_calls(api, r, c, &all);
        ok = has_enough(r, c);                                   /* 6 */
    }
    vec_release(&all);
    return ok;
}
