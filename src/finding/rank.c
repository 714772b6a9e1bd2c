#include "finding/rank.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void grade(FindingSet *set, EvidenceOf *of, void *arg)
{
    for (size_t i = 0; i < set->len; i++) {
        StoredFinding *f = &set->items[i];
        Evidence likely = of ? of(arg, f->technique) : EVIDENCE_UNKNOWN;
        f->evidence = f->finding.level == LEVEL_NOTE                   ? EVIDENCE_STYLE
                      : f->finding.verdict == VERDICT_SHOWN            ? EVIDENCE_RUN
                      : likely && f->finding.verdict == VERDICT_LIKELY ? likely
                                                                       : EVIDENCE_STATISTICAL;
    }
}

/* Where it is, for people who mend it; "": nowhere. */
static char *place_key(const StoredFinding *f)
{
    const Location *at = &f->finding.where;
    return at->file && at->line ? xprintf("%s:%d", at->file, at->line) : xstrdup("");
}

/* The finding with the better evidence; then the earlier technique by name. */
static int better(const StoredFinding *a, const StoredFinding *b)
{
    if (a->evidence != b->evidence)
        return a->evidence < b->evidence ? -1 : 1;
    if (a->finding.level != b->finding.level)
        return a->finding.level < b->finding.level ? -1 : 1;
    return strcmp(a->technique, b->technique);
}

static Trouble *same_place(Ranking *r, const Map *places, const StoredFinding *f)
{
    char *key = place_key(f);
    size_t at = (size_t)map_get(places, key);
    free(key);
    Trouble *t = at ? &r->items[at - 1] : NULL;
    /* A technique that tells two things of one line means two things, unless both are failures. */
    for (size_t i = 0; t && i <= t->nothers; i++) {
        const StoredFinding *o = i < t->nothers ? t->others[i] : t->best;
        if (strcmp(o->technique, f->technique) == 0 &&
            (o->evidence != EVIDENCE_RUN || f->evidence != EVIDENCE_RUN ||
             strcmp(o->finding.rule, f->finding.rule) != 0))
            return NULL;
    }
    return t;
}

enum { MOST_OTHERS = 32 };

static void join(Ranking *r, Trouble *t, const StoredFinding *f)
{
    if (!t->others)
        t->others = arena_array(&r->arena, const StoredFinding *, MOST_OTHERS);
    if (t->nothers == MOST_OTHERS)
        return;
    t->others[t->nothers++] = better(f, t->best) < 0 ? t->best : f;
    t->best = better(f, t->best) < 0 ? f : t->best;
}

static int by_rank(const void *a, const void *b)
{
    const Trouble *x = a, *y = b;
    if (x->is_new != y->is_new)
        return x->is_new ? -1 : 1;
    if (x->best->evidence != y->best->evidence)
        return x->best->evidence < y->best->evidence ? -1 : 1;
    if (x->best->finding.level != y->best->finding.level)
        return x->best->finding.level < y->best->finding.level ? -1 : 1;
    return x->best < y->best ? -1 : x->best > y->best; /* the set's order: by place */
}

static void add_all(Ranking *r, const FindingSet *set)
{
    Map places = { 0 };
    for (size_t i = 0; i < set->len; i++) {
        const StoredFinding *f = &set->items[i];
        if (!finding_counts(f))
            continue;
        Trouble *t = f->evidence < EVIDENCE_STYLE ? same_place(r, &places, f) : NULL;
        if (t) {
            join(r, t, f);
            continue;
        }
        r->items[r->len++] = (Trouble){ .best = f };
        char *key = place_key(f);
        if (*key && f->evidence < EVIDENCE_STYLE)
            map_put(&places, key, (void *)r->len);
        free(key);
    }
    map_release(&places);
}

Ranking *ranking_new(FindingSet *set, const Map *known, EvidenceOf *of, void *arg)
{
    Ranking *r = xcalloc(1, sizeof *r);
    r->items = arena_array(&r->arena, Trouble, set->len + 1);
    grade(set, of, arg);
    add_all(r, set);
    for (size_t i = 0; i < r->len; i++) {
        Trouble *t = &r->items[i];
        t->is_new = !known || !map_has(known, t->best->fingerprint);
        for (size_t k = 0; k < t->nothers; k++) {
            assert(t->others[k] != t->best);
            t->is_new &= !known || !map_has(known, t->others[k]->fingerprint);
            ((StoredFinding *)t->others[k])->same_as = t->best->fingerprint;
        }
        r->nnew += t->is_new && t->best->evidence < EVIDENCE_STYLE;
        r->by_evidence[t->best->evidence]++;
    }
    if (r->len)
        qsort(r->items, r->len, sizeof *r->items, by_rank);
    return r;
}

void ranking_free(Ranking *r)
{
    if (!r)
        return;
    arena_release(&r->arena);
    free(r);
}
