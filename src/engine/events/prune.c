/*
 * What becomes of a trace: it is extended, or pruned and why.
 *
 * A pruner may drop a trace only if all states that it can end in are states in which a
 * kept trace, or one of its own prefixes, ends too.
 *
 *     read-only      W of the last event is empty. The prefix ends in the same state.
 *     state hash     another trace that was extended ends in the same state. Not if values of
 *                    the state depend on the event: then the trace stands for many states.
 *     independent    αβ'β is dropped if αββ' was kept, and β and β' neither read nor write
 *                    what the other writes. Both orders end in the same states.
 *
 * W are the locations that changed or may change on this path. Without the rule "silent"
 * they are all that were written.
 */
#include "engine/events/events_int.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = { "read-only", "silent",     "never-read",
                                     "dead",      "state-hash", "independent" };

const char *prune_name(unsigned index) { return index < PRUNE_RULES ? names[index] : NULL; }

const char *trace_end_name(TraceEnd e)
{
    static const char *const ends[END_REASONS] = { "extended",    "read-only", "state-hash",
                                                   "independent", "ended",     "lost" };
    assert(e < END_REASONS);
    return ends[e];
}

/* Something that the places can't show. */
static bool hides(const Watched *w)
{
    return w->hidden & (SUNDEW_EVENT_WROTE_FILE | SUNDEW_EVENT_FORKED | SUNDEW_EVENT_THREADS |
                        SUNDEW_EVENT_TOO_LARGE | SUNDEW_EVENT_CUT);
}

/* Files are put back behind each run, and a fork has one thread. */
static bool makes_outside(const Watched *w)
{
    return w->hidden & (SUNDEW_EVENT_WROTE_FILE | SUNDEW_EVENT_FORKED | SUNDEW_EVENT_THREADS);
}

static bool writes(const Events *e, const Watched *w, const Places *symbolic)
{
    uint32_t how = SUNDEW_EVENT_CHANGED | (e->prune & PRUNE_SILENT ? 0 : SUNDEW_EVENT_TOUCHED);
    for (size_t i = 0; i < w->places.len; i++)
        if ((w->places.items[i].how & how) && !place_is_ignored(e, &w->places.items[i]))
            return true;
    for (size_t i = 0; i < symbolic->len; i++)
        if (!place_is_ignored(e, &symbolic->items[i]))
            return true;
    return false;
}

static bool is_symbolic(const Events *e, const Places *symbolic, bool sure)
{
    for (size_t i = 0; i < symbolic->len; i++)
        if (!place_is_ignored(e, &symbolic->items[i]))
            return true;
    return !sure;
}

/* ---- independent */

typedef struct EventStep {
    uint32_t parent;
    uint32_t unused;
    uint64_t way;
} EventStep;

static Node *kept_child(const Events *e, uint32_t parent, uint64_t way)
{
    EventStep s = { parent, 0, way };
    uintptr_t n = (uintptr_t)map_getn(&e->kept, &s, sizeof s);
    return n ? &e->nodes.items[n - 1] : NULL;
}

/* Values of the loop's own frame: each event is taken to read them all. */
static bool touches_frame(const Events *e, const Places *all)
{
    for (size_t i = 0; i < all->len; i++) {
        const Place *p = &all->items[i];
        if (!(p->how & SUNDEW_EVENT_CHANGED))
            continue;
        if (p->object >= SUNDEW_EVENT_HEAP ||
            (p->object < e->build.nobjects && e->build.objects[p->object].value))
            return true;
    }
    return false;
}

static bool commute(const Events *e, const Node *a, const Node *b)
{
    const uint32_t writes = SUNDEW_EVENT_TOUCHED | SUNDEW_EVENT_CHANGED;
    if (!a->watched || !b->watched || a->symbolic || b->symbolic || touches_frame(e, &a->places) ||
        touches_frame(e, &b->places))
        return false;
    for (size_t i = 0; i < a->places.len; i++) {
        const Place *p = &a->places.items[i];
        if (((p->how & writes) && place_meets(&b->places, p, writes | SUNDEW_EVENT_READ)) ||
            ((p->how & SUNDEW_EVENT_READ) && place_meets(&b->places, p, writes)))
            return false;
    }
    return true;
}

/* Was the other order of the last two events kept? */
static bool other_order_is_kept(const Events *e, const Node *last)
{
    if (!last->parent)
        return false;
    const Node *before = &e->nodes.items[last->parent];
    const Node *first = kept_child(e, before->parent, last->way);
    if (!first || first == before || !commute(e, before, last) || !commute(e, before, first))
        return false;
    uint32_t n = (uint32_t)(first - e->nodes.items);
    return kept_child(e, n, before->way) != NULL;
}

/* ---- main */

static TraceEnd decide(Events *e, const Node *node, const Watched *w, const Places *symbolic)
{
    if (w->lost)
        return END_LOST;
    if (!w->done)
        return END_PROGRAM;
    if ((e->prune & PRUNE_READ_ONLY) && !hides(w) && !writes(e, w, symbolic))
        return END_READ_ONLY;
    if ((e->prune & PRUNE_HASH) && !hides(w) && !node->symbolic &&
        map_getn(&e->hashes, &node->hash, sizeof node->hash))
        return END_HASH;
    if ((e->prune & PRUNE_INDEPENDENT) && !hides(w) && other_order_is_kept(e, node))
        return END_INDEPENDENT;
    return END_EXTENDED;
}

static void keep(Events *e, const Node *node)
{
    uint32_t n = (uint32_t)(node - e->nodes.items);
    EventStep s = { node->parent, 0, node->way };
    if (!map_getn(&e->hashes, &node->hash, sizeof node->hash))
        map_putn(&e->hashes, &node->hash, sizeof node->hash, e);
    map_putn(&e->kept, &s, sizeof s, (void *)(uintptr_t)(n + 1));
}

/* The trace is decided: it is counted, and those that are extended can be found. */
static void enter(Events *e, const Node *last)
{
    e->symbolic += last->symbolic && !e->plan->cross;
    if (last->end == END_EXTENDED)
        keep(e, last);
    while (e->levels.len < last->depth)
        vec_push(&e->levels, ((EventsLevel){ 0 }));
    EventsLevel *level = &e->levels.items[last->depth - 1];
    level->explored++;
    level->ends[last->end]++;
    level->extended += last->end == END_EXTENDED;
}

uint32_t prune_add(Events *e, uint32_t parent, const Watched *w, const Places *symbolic, bool sure,
                   uint64_t way, const uint8_t *bytes, size_t news)
{
    uint32_t depth = e->nodes.items[parent].depth + 1;
    Node node = { .parent = parent,
                  .depth = depth,
                  .hash = w->after,
                  .way = way,
                  .bytes = arena_array(&e->arena, uint8_t, depth * e->layout->size),
                  .symbolic = is_symbolic(e, symbolic, sure),
                  .watched = !hides(w),
                  .apart = e->nodes.items[parent].apart || makes_outside(w),
                  .news = news };
    memcpy(node.bytes, bytes, depth * e->layout->size);
    if (e->prune & PRUNE_INDEPENDENT)
        for (size_t i = 0; i < w->places.len; i++)
            vec_push(&node.places, w->places.items[i]);
    vec_push(&e->nodes, node);
    Node *last = &e->nodes.items[e->nodes.len - 1];
    last->end = decide(e, last, w, symbolic);
    enter(e, last);
    return (uint32_t)(e->nodes.len - 1);
}

void prune_take(Events *e, const Node *node)
{
    vec_push(&e->nodes, *node);
    enter(e, &e->nodes.items[e->nodes.len - 1]);
}
