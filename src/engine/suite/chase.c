#include "engine/suite/chase.h"
#include <assert.h>
#include <string.h>

enum { MOST_LOOKS = 24, MOST_REPEATS = 40, LONGEST = 120 };

/* What the variants of one test are made of. */
typedef struct Chase {
    const GrowPlan *grow;
    Arena *arena;
    const Mutant *fault;
    const SeqTest *test;
    const Seq *body;             /* the test's */
    Seq **out;
    size_t n, most;
} Chase;

/* ---- looks */

/* Where giving back begins. */
static unsigned end_of_body(const Seq *s)
{
    unsigned n = s->n;
    while (n && s->steps[n - 1].closing)
        n--;
    return n;
}

/* Looks at all that is alive before a step. */
static Seq *look_before(const Chase *c, const Seq *s, unsigned at)
{
    Seq *part = seq_prefix(c->arena, s, at);
    grow_all_looks(c->grow, c->arena, part, MOST_LOOKS);
    return seq_with(c->arena, s, at, part->steps + at, part->n - at);
}

static void add(Chase *c, Seq *s)
{
    if (!s || c->n == c->most)
        return;
    Seq *looked = look_before(c, s, end_of_body(s));
    c->out[c->n++] = looked ? looked : s;
}

/* ---- values */

/* The number that says how large a room or a buffer is; -1: none does. */
static int length_of(const ApiFunction *f, unsigned arg)
{
    for (unsigned i = 0; i < f->nparams; i++)
        if (f->params[i].role == ROLE_LENGTH && f->params[i].partner == (int)arg)
            return (int)i;
    return -1;
}

/* The body with another argument. */
static void with_value(Chase *c, unsigned step, unsigned arg, SeqValue v)
{
    SeqValue *old = &c->body->steps[step].args[arg];
    const ApiPlace *p = &c->body->steps[step].f->params[arg];
    if (pool_text_in(p, old).kind != VALUE_NONE && v.kind == VALUE_STRING)
        v = pool_put_text(c->arena, old, &v);
    if (c->n == c->most || value_equal(old, &v))
        return;
    Seq *s = seq_copy(c->arena, c->body);
    SeqStep *st = &s->steps[step];
    st->args[arg] = v;
    st->divergent = true;
    st->looking = false;         /* it is what the test is about */
    if (v.kind == VALUE_STRING || v.kind == VALUE_BYTES) {
        int length = length_of(st->f, arg);
        if (length >= 0 && st->args[length].kind == VALUE_INTEGER &&
            st->args[length].integer == old->n)
            st->args[length] = value_integer(v.n);
        pool_fit_within(st, arg, old->n);
    }
    add(c, s);
}

static void add_numbers(Chase *c, unsigned step, unsigned arg)
{
    int64_t old = (int64_t)c->body->steps[step].args[arg].integer;
    int64_t edge = c->fault->compares ? c->fault->with : old;
    const int64_t tries[] = { edge, edge - 1, edge + 1, 0, 1, -1, old + 1, old - 1, 2 };
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
        with_value(c, step, arg, value_integer((uint64_t)tries[i]));
}

static SeqValue text_of(Arena *a, SeqValueKind kind, const uint8_t *bytes, size_t n)
{
    SeqValue v = value_bytes(a, bytes, n);
    v.kind = kind;
    return v;
}

/* What stands there; a text that the call changes, as a string. */
static SeqValue text_at(const Chase *c, unsigned step, unsigned arg)
{
    const SeqStep *st = &c->body->steps[step];
    SeqValue text = pool_text_in(&st->f->params[arg], &st->args[arg]);
    return text.kind == VALUE_NONE ? st->args[arg] : text;
}

/* The text with a character at its end, at its beginning, in place of its first or second, and
 * that character alone. */
static void add_character(Chase *c, unsigned step, unsigned arg, int64_t byte)
{
    SeqValue was = text_at(c, step, arg), *old = &was;
    if (byte < 1 || byte > 255)
        return;
    uint8_t *longer = arena_array(c->arena, uint8_t, old->n + 2);
    if (old->n)
        memcpy(longer, old->bytes, old->n);
    longer[old->n] = (uint8_t)byte;
    with_value(c, step, arg, text_of(c->arena, old->kind, longer, old->n + 1));
    with_value(c, step, arg, text_of(c->arena, old->kind, longer + old->n, 1));
    for (size_t at = 0; at < 2 && at < old->n; at++) {
        uint8_t *other = arena_array(c->arena, uint8_t, old->n + 1);
        memcpy(other, old->bytes, old->n);
        other[at] = (uint8_t)byte;
        with_value(c, step, arg, text_of(c->arena, old->kind, other, old->n));
    }
    uint8_t *before = arena_array(c->arena, uint8_t, old->n + 2);
    before[0] = (uint8_t)byte;
    if (old->n)
        memcpy(before + 1, old->bytes, old->n);
    with_value(c, step, arg, text_of(c->arena, old->kind, before, old->n + 1));
}

static void add_texts(Chase *c, unsigned step, unsigned arg)
{
    enum { LONGEST_TEXT = 400 };
    SeqValue was = text_at(c, step, arg), *old = &was;
    uint8_t *twice = arena_array(c->arena, uint8_t, 2 * old->n + 1);
    for (int d = -1; c->fault->compares && d <= 1; d++)
        add_character(c, step, arg, c->fault->with + d);
    if (old->n && old->n < LONGEST_TEXT) {
        memcpy(twice, old->bytes, old->n);
        memcpy(twice + old->n, old->bytes, old->n);
        with_value(c, step, arg, text_of(c->arena, old->kind, twice, 2 * old->n));
        with_value(c, step, arg, text_of(c->arena, old->kind, old->bytes, old->n - 1));
    }
    with_value(c, step, arg, text_of(c->arena, old->kind, old->bytes, 0));
}

/* How much of a room the call has filled, as a text; 0: nothing, or it is none. */
static size_t written(const SeqTest *t, const Seq *body, unsigned step, unsigned arg)
{
    const ApiFunction *f = body->steps[step].f;
    for (size_t i = 0; i < t->out.nobs; i++) {
        const Observation *o = &t->out.obs[i];
        if (t->seq->steps[o->step].f == f && o->place == (int)arg && o->kind == OBSERVED_BYTES)
            return strnlen((const char *)o->bytes, o->n);
    }
    return 0;
}

/* A room that is marked, of which the call may use so much. */
static void add_room(Chase *c, unsigned step, unsigned arg, int partner, size_t may)
{
    size_t n = c->body->steps[step].args[arg].n;
    if (c->n == c->most || !n || may > n)
        return;
    Seq *s = seq_copy(c->arena, c->body);
    uint8_t *bytes = arena_array(c->arena, uint8_t, n);
    memset(bytes, CHASE_MARK, n);
    s->steps[step].looking = false;
    s->steps[step].args[arg] = value_bytes(c->arena, bytes, n);
    if (partner >= 0)
        s->steps[step].args[partner] = value_integer(may);
    add(c, s);
}

static void add_rooms(Chase *c, unsigned step, unsigned arg)
{
    const SeqStep *st = &c->body->steps[step];
    int partner = length_of(st->f, arg);
    size_t n = st->args[arg].n, used = written(c->test, c->body, step, arg);
    add_room(c, step, arg, partner, n);
    for (size_t k = 0; partner >= 0 && k < 3; k++)
        add_room(c, step, arg, partner, used + k);
    for (size_t k = 0; partner >= 0 && k < 3; k++)
        add_room(c, step, arg, partner, k);
    if (partner >= 0 && used > 3)
        add_room(c, step, arg, partner, used / 2);
}

/* Is it a text, or a buffer whose length goes with it? */
static bool is_text(const SeqStep *st, unsigned arg)
{
    const SeqValue *v = &st->args[arg];
    ApiRole role = st->f->params[arg].role;
    bool pinned = st->f->pinned && arg < st->f->nfixed && st->f->pinned[arg].kind != VALUE_NONE;
    return !v->given && !v->nlinks && !pinned &&
           (v->kind == VALUE_STRING || (v->kind == VALUE_BYTES && role == ROLE_BUFFER) ||
            pool_text_in(&st->f->params[arg], v).kind == VALUE_STRING) &&
           (st->f->params[arg].partner < 0 || length_of(st->f, arg) >= 0) &&
           st->f->params[arg].within < 0;
}

/* Does nothing else in the call hang on it? */
static bool is_alone(const ApiFunction *f, unsigned arg)
{
    bool pinned = f->pinned && arg < f->nfixed && f->pinned[arg].kind != VALUE_NONE;
    return !pinned && f->params[arg].partner < 0 && f->params[arg].within < 0;
}

static void vary_arguments(Chase *c, unsigned step)
{
    const SeqStep *st = &c->body->steps[step];
    for (unsigned i = 0; i < st->nargs; i++) {
        const SeqValue *v = &st->args[i];
        ApiRole role = st->f->params[i].role;
        if (v->kind == VALUE_INTEGER && role == ROLE_INTEGER && is_alone(st->f, i))
            add_numbers(c, step, i);
        else if (is_text(st, i))
            add_texts(c, step, i);
        else if (role == ROLE_BUFFER_OUT && !v->given &&
                 (v->kind == VALUE_ROOM || v->kind == VALUE_BYTES))
            add_rooms(c, step, i);
    }
}

/* ---- calls */

/* Can it be called once more without anybody having to give something back? */
static bool may_repeat(const Chase *c, const SeqStep *st)
{
    bool handle = false;
    for (int i = API_RETURNED; i < (int)st->f->nparams; i++) {
        ApiUse use = ownership_use(c->grow->ownership, st->f, i);
        if (use == USE_CREATES || use == USE_CONSUMES || use == USE_FINISHES)
            return false;
        handle |= i >= 0 && value_is_made(&st->args[i]);
    }
    for (unsigned i = 0; i < st->nargs; i++)
        if (st->args[i].given)
            return false;
    return handle;
}

/* The call `times` more; its numbers count up, if `other`. */
static void repeat(Chase *c, unsigned step, unsigned times, bool other)
{
    const SeqStep *st = &c->body->steps[step];
    SeqStep *more = arena_array(c->arena, SeqStep, times);
    if (c->n == c->most || c->body->n + times > LONGEST)
        return;
    for (unsigned k = 0; k < times; k++) {
        more[k] = *st;
        more[k].args = arena_array(c->arena, SeqValue, st->nargs + 1);
        more[k].divergent = true;
        memcpy(more[k].args, st->args, st->nargs * sizeof *st->args);
        for (unsigned i = 0; other && i < st->nargs; i++)
            if (st->args[i].kind == VALUE_INTEGER && st->f->params[i].role == ROLE_INTEGER &&
                is_alone(st->f, i))
                more[k].args[i] = value_integer(st->args[i].integer + k + 1);
    }
    add(c, seq_with(c->arena, c->body, step + 1, more, times));
}

static bool has_number(const SeqStep *st)
{
    for (unsigned i = 0; i < st->nargs; i++)
        if (st->args[i].kind == VALUE_INTEGER && st->f->params[i].role == ROLE_INTEGER)
            return true;
    return false;
}

static void repeat_call(Chase *c, unsigned step)
{
    int64_t edge = c->fault->compares ? c->fault->with : 0;
    const int64_t times[] = { 1, 2, edge - 1, edge, 8 };
    if (c->body->steps[step].looking || !may_repeat(c, &c->body->steps[step]))
        return;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        if (times[i] < 1 || times[i] > MOST_REPEATS)
            continue;
        repeat(c, step, (unsigned)times[i], false);
        if (has_number(&c->body->steps[step]))
            repeat(c, step, (unsigned)times[i], true);
    }
}

/* Looks right after a call: later ones may change what it did. */
static void look_after(Chase *c, unsigned step)
{
    if (c->n < c->most && step + 1 < end_of_body(c->body))
        add(c, look_before(c, c->body, step + 1));
}

/* ---- whole */

static bool is_call(const SeqStep *st) { return st->f && !st->closing && !st->prologue; }

/* The call that the fault is in comes first; others lead there. */
static void vary_steps(Chase *c, bool here)
{
    for (unsigned i = c->body->n; i-- > 0 && c->n < c->most;) {
        const SeqStep *st = &c->body->steps[i];
        if (!is_call(st) || (strcmp(st->f->name, c->fault->function) == 0) != here)
            continue;
        if (!st->looking)
            look_after(c, i);
        vary_arguments(c, i);
        repeat_call(c, i);
    }
}

size_t chase_variants(const GrowPlan *g, Arena *a, const SeqTest *t, const Mutant *fault, Seq **out,
                      size_t most)
{
    assert(t->seq && fault->function);
    Chase c = { g, a, fault, t, t->seq, out, 0, most };
    if (!end_of_body(t->seq))
        return 0;
    add(&c, seq_copy(a, t->seq));
    vary_steps(&c, true);
    vary_steps(&c, false);
    return c.n;
}
