#include "technique/types/study.h"
#include <assert.h>

void study_init(Study *st, const AstIndex *ix, const Limits *limits)
{
    *st = (Study){ .ix = ix, .limits = *limits };
    kinds_init(&st->kinds, ix);
}

void study_release(Study *st)
{
    for (size_t i = 0; i < st->views.len; i++) {
        view_release(st->views.entries[i].value);
        free(st->views.entries[i].value);
    }
    map_release(&st->views);
    vec_release(&st->seen);
    free(st->first);
    histograms_release(&st->hs);
    kinds_release(&st->kinds);
}

void study_count(Study *st)
{
    assert(!st->first);          /* once */
    st->first = xcalloc(st->ix->ncalls + 1, sizeof *st->first);
    for (size_t i = 0; i < st->ix->ncalls; i++) {
        st->first[i] = st->seen.len;
        kinds_of_call(&st->kinds, st->ix->calls[i], &st->seen);
    }
    st->first[st->ix->ncalls] = st->seen.len;
    for (size_t i = 0; i < st->seen.len; i++) {
        const Sighting *s = &st->seen.items[i];
        Histogram *h = histogram_at(&st->hs, s->key);
        histogram_add(&st->hs, h, s->label, s->weight);
        /* What a body makes of an untyped parameter may be a trick; a caller
         * who passes just that shows that it is none. */
        if (s->declared && (s->aspect != ASPECT_POINTER || strcmp(s->label, s->declared) == 0))
            histogram_declare(&st->hs, h, s->declared);
    }
}

static const View *view_of(Study *st, const Histogram *h)
{
    void **slot = map_slot(&st->views, h->key);
    if (!*slot) {
        View *v = xcalloc(1, sizeof *v);
        histogram_view(h, v);
        *slot = v;
    }
    return *slot;
}

Judgement study_judge_one(Study *st, const Sighting *s, const View **view)
{
    const Histogram *h = histogram_find(&st->hs, s->key);
    *view = NULL;
    if (!h || h->any)
        return (Judgement){ 0 };
    *view = view_of(st, h);
    return view_judge(*view, view_bin(*view, h, s->label), &st->limits);
}

/* The stronger of two deviations of one argument stays. */
static void keep(Deviations *out, size_t from, Deviation d)
{
    for (size_t i = from; i < out->len; i++) {
        Deviation *o = &out->items[i];
        if (o->seen->position != d.seen->position)
            continue;
        if (d.judgement.confidence > o->judgement.confidence)
            *o = d;
        return;
    }
    vec_push(out, d);
}

void study_judge(Study *st, Deviations *out)
{
    for (size_t i = 0; i < st->ix->ncalls; i++) {
        size_t from = out->len;
        for (size_t k = st->first[i]; k < st->first[i + 1]; k++) {
            const Sighting *s = &st->seen.items[k];
            Deviation d = { .call = st->ix->calls[i], .seen = s };
            d.judgement = study_judge_one(st, s, &d.view);
            d.histogram = histogram_find(&st->hs, s->key);
            if (d.judgement.deviates && !label_is_innocent(s->label))
                keep(out, from, d);
        }
    }
}
