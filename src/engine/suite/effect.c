#include "engine/suite/effect.h"
#include <assert.h>
#include <string.h>

/* ---- success */

struct Successes {
    Map by_function;             /* name -> Given */
    Arena arena;
};

typedef struct Given {
    uint64_t number;
    bool varies;
} Given;

static void note_expected(Successes *s, const SeqStep *st)
{
    if (!st->f || st->expected.kind != VALUE_INTEGER)
        return;
    void **slot = map_slot(&s->by_function, st->f->name);
    Given *g = *slot;
    if (!g) {
        *slot = g = arena_new(&s->arena, Given);
        g->number = st->expected.integer;
    }
    g->varies |= g->number != st->expected.integer;
}

Successes *successes_new(const Usage *usage)
{
    Successes *s = xcalloc(1, sizeof *s);
    size_t n = 0;
    Seq *const *all = usage ? usage_replays(usage, &n) : NULL;
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < all[i]->n; k++)
            note_expected(s, &all[i]->steps[k]);
    return s;
}

void successes_free(Successes *s)
{
    if (!s)
        return;
    map_release(&s->by_function);
    arena_release(&s->arena);
    free(s);
}

bool successes_has(const Successes *s, const ApiFunction *f, uint64_t result)
{
    const Given *g = map_get(&s->by_function, f->name);
    if (f->observes || !f->takes_handle)
        return false;                    /* the result is all that it is for */
    return g ? !g->varies && (uint32_t)g->number == (uint32_t)result : !result;
}

/* ---- own */

/* Is a room as it was before the call? */
static bool is_untouched(const SeqValue *v, const Observation *o)
{
    const uint8_t *bytes = o->kind == OBSERVED_INTEGER ? (const uint8_t *)&o->integer : o->bytes;
    size_t n = o->kind == OBSERVED_INTEGER ? sizeof o->integer : o->n;
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != (v->kind == VALUE_BYTES && i < v->n ? v->bytes[i] : 0))
            return false;
    return o->kind == OBSERVED_INTEGER || o->kind == OBSERVED_BYTES || o->kind == OBSERVED_STRING;
}

static Effect of_result(const Successes *s, const ApiFunction *f, const Observation *o)
{
    switch (o->kind) {
    case OBSERVED_INTEGER:
        if (successes_has(s, f, o->integer))
            return EFFECT_NONE;
        return o->integer ? EFFECT_SEEN : EFFECT_RESULT;
    case OBSERVED_FLOAT: return o->real != 0 ? EFFECT_SEEN : EFFECT_RESULT;
    case OBSERVED_STRING: return o->n ? EFFECT_SEEN : EFFECT_RESULT;
    case OBSERVED_SAME:
    case OBSERVED_BYTES:
    case OBSERVED_LONG: return EFFECT_SEEN;
    case OBSERVED_NULL:
    case OBSERVED_HANDLE: return EFFECT_RESULT;
    default: return EFFECT_NONE;
    }
}

static Effect of_observation(const Successes *s, const SeqStep *st, const Observation *o)
{
    if (o->place == OBSERVED_ERRNO)
        return EFFECT_NONE;
    if (o->place == OBSERVED_CALLBACKS)
        return o->integer ? EFFECT_SEEN : EFFECT_NONE;
    if (o->place == API_RETURNED)
        return of_result(s, st->f, o);
    if (o->place >= OBSERVED_FIELD)
        return EFFECT_SEEN;              /* only what has changed is noted */
    if (o->kind == OBSERVED_NULL || o->kind == OBSERVED_HANDLE)
        return EFFECT_RESULT;
    if (is_untouched(&st->args[o->place], o))
        return st->f->result.role == ROLE_NOTHING ? EFFECT_NONE : EFFECT_RESULT;
    return EFFECT_SEEN;
}

Effect effect_own(const Successes *s, const Seq *seq, const Outcome *o, const bool *checked,
                  unsigned step)
{
    Effect most = EFFECT_NONE;
    assert(step < seq->n && seq->steps[step].f);
    for (size_t i = 0; i < o->nobs; i++) {
        if (o->obs[i].step != step || (checked && !checked[i]))
            continue;
        Effect e = of_observation(s, &seq->steps[step], &o->obs[i]);
        most = e > most ? e : most;
    }
    return most;
}

/* ---- omission */

void effect_omit(Arena *a, const Seq *s, unsigned step, Omission *out)
{
    bool gone[SEQ_LIMIT] = { false };
    int n = 0;
    out->seq = seq_without(a, s, step);
    for (unsigned i = 0; i < s->n; i++) {
        const SeqStep *st = &s->steps[i];
        gone[i] = i == step || (value_is_made(&st->target) && gone[st->target.step]);
        for (unsigned k = 0; k < st->nargs; k++)
            gone[i] |= value_is_made(&st->args[k]) && gone[st->args[k].step];
        out->number[i] = gone[i] ? -1 : n++;
    }
    assert(!out->seq || (unsigned)n == out->seq->n);
}

bool effect_at(const Seq *s, const Outcome *o, size_t i, unsigned step, const Omission *less,
               const Outcome *without)
{
    const Observation *b = &o->obs[i];
    if (b->step <= step || b->kind == OBSERVED_HANDLE || b->place == OBSERVED_ERRNO)
        return false;
    if (less->number[b->step] < 0)       /* it looks at what the call made */
        return !(b->kind == OBSERVED_INTEGER && !b->integer) && b->kind != OBSERVED_NULL &&
               !(b->kind == OBSERVED_FLOAT && b->real == 0) && s->steps[b->step].looking;
    const Observation *other = outcome_at(without, (unsigned)less->number[b->step], b->place);
    Observation moved = *b;
    moved.step = (unsigned)less->number[b->step];
    if (b->kind == OBSERVED_SAME)
        return !other || other->kind != OBSERVED_SAME;
    return !other || !observation_equal(&moved, other);
}
