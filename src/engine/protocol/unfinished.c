/* Lives that nobody ended: see protocol.h. One pass over the objects of all runs
 * counts the lives of each making site, a second one finds those that differ. */
#include "engine/protocol/protocol.h"
#include <stdlib.h>

enum { LEAST_LIVES = 2 };

/* What is known about the lives that begin at a site. */
typedef struct Site {
    uint64_t ended_here;         /* in the function that has the site */
    uint64_t elsewhere;          /* or given to somebody else */
    uint32_t ender;              /* function of the API that ended one */
} Site;

static const ProtoCall *maker_of(const ProtoRun *r, const ProtoObject *o)
{
    return o->maker && !o->none ? &r->calls.items[o->maker - 1] : NULL;
}

static size_t most_sites(const ProtoRuns *runs)
{
    size_t n = 0;
    for (size_t i = 0; i < runs->len; i++)
        for (size_t k = 0; k < runs->items[i]->calls.len; k++)
            if (runs->items[i]->calls.items[k].site >= n)
                n = runs->items[i]->calls.items[k].site + 1;
    return n;
}

static void count(const ProtoRuns *runs, const uint32_t *same, Site *sites)
{
    for (size_t i = 0; i < runs->len; i++) {
        const ProtoRun *r = runs->items[i];
        for (size_t k = 0; k < r->objects.len; k++) {
            const ProtoObject *o = &r->objects.items[k];
            const ProtoCall *maker = maker_of(r, o);
            if (!maker || !o->ender)
                continue;
            const ProtoCall *ender = &r->calls.items[o->ender - 1];
            Site *s = &sites[maker->site];
            bool here = same[ender->site] == same[maker->site];
            s->ended_here += here;
            s->elsewhere += !here;
            s->ender = ender->function;
        }
    }
}

/* Did the function that made it return, in the same thread? */
static bool was_left(const ProtoRun *r, const ProtoObject *o, const uint32_t *same,
                     const uint32_t *left_of)
{
    const ProtoCall *maker = &r->calls.items[o->maker - 1];
    size_t low = 0, high = r->left.len;
    while (low < high) {                 /* they are in the order of calls */
        size_t mid = (low + high) / 2;
        if (r->left.items[mid].at < o->maker)
            low = mid + 1;
        else
            high = mid;
    }
    for (size_t i = low; i < r->left.len && i < low + 1000; i++)
        if (left_of[r->left.items[i].function] == same[maker->site] &&
            r->left.items[i].thread == maker->thread)
            return true;
    return false;
}

void proto_unfinished(const ProtoApi *api, const ProtoRuns *runs, const uint32_t *same,
                      const uint32_t *left_of, ProtoUnfinisheds *out)
{
    size_t n = most_sites(runs);
    Site *sites = xcalloc(n + 1, sizeof *sites);
    bool *told = xcalloc(n + 1, sizeof *told);
    (void)api;
    count(runs, same, sites);
    for (size_t i = 0; i < runs->len; i++) {
        const ProtoRun *r = runs->items[i];
        for (size_t k = 0; r->end == PROTO_ENDED && !r->lost && k < r->objects.len; k++) {
            const ProtoObject *o = &r->objects.items[k];
            const ProtoCall *maker = maker_of(r, o);
            const Site *s = maker ? &sites[maker->site] : NULL;
            if (!s || o->ender || told[maker->site] || s->elsewhere ||
                s->ended_here < LEAST_LIVES || !was_left(r, o, same, left_of))
                continue;
            told[maker->site] = true;
            vec_push(out, ((ProtoUnfinished){ (uint32_t)i, (uint32_t)k + 1, maker->site,
                                              s->ended_here, s->ender }));
        }
    }
    free(sites);
    free(told);
}
