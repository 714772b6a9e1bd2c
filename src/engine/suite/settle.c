#include "engine/suite/settle.h"
#include <assert.h>
#include <string.h>

enum {
    MOST_VARIANTS = 16,
    ALTERNATIVES = 3,
    MOST_TROUBLES = 4,           /* that experiments are made for, of one call of settle() */
};

/* A deviation from the plain way of closing. Handles are counted from the last
 * made on. */
typedef struct Variant {
    int skip;                    /* this owned handle is not closed; -1 */
    int also;                    /* this borrowed one is; -1 */
    int other, with;             /* this one by its destroyer number `with`; -1 */
    int text;                    /* the texts that this step gave are freed, and those
                                  * of the same function; -1 */
    bool none;                   /* nothing is closed: the body did that itself */
} Variant;

static const Variant plain = { -1, -1, -1, 0, -1, false };

/* ---- closing */

static bool suits(const ApiMaker *m, const Seq *s, const SeqValue *v)
{
    ApiUse use = api_place(m->function, m->place)->use;
    return (use == USE_FINISHES) == (v->kind == VALUE_STORAGE) && seq_same_table(s, v, m->function);
}

static const ApiMaker *destroyer(const ApiType *t, const Seq *s, const SeqValue *v, int nth)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < t->ndestroyers; i++)
            if (suits(&t->destroyers[i], s, v) == (pass == 0) && nth-- == 0)
                return &t->destroyers[i];
    return NULL;
}

static void close_by(const Settler *s, Arena *a, Seq *seq, const SeqHandle *h, const ApiFunction *f,
                     unsigned place)
{
    SeqStep *st = seq_call(a, seq, f);
    st->closing = true;
    st->args[place] = h->value;
    pool_fill(s->grow->pool, s->grow->rng, a, st);
    for (unsigned i = 0; i < st->nargs; i++)
        if (st->args[i].kind == VALUE_NONE)
            st->args[i] = value_null();
}

/* As the example did it; false: the usage does not say. */
static bool close_by_usage(const Settler *s, Arena *a, Seq *seq, const SeqHandle *h)
{
    const UsageType *t = s->grow->usage ? usage_type(s->grow->usage, h->type) : NULL;
    if (!t)
        return false;
    uint32_t node = grow_node(s->grow, seq, h);
    const UsageEdge *e = node == USAGE_OUTSIDE ? NULL : usage_toward_end(t, node);
    if (!e || !e->ends || !seq_same_table(seq, &h->value, e->function))
        return false;
    unsigned place = 0, handles = 0;
    for (unsigned i = 0; i < e->function->nparams; i++) {
        handles += e->function->params[i].role == ROLE_HANDLE;
        if (e->places & place_bit((int)i))
            place = i;
    }
    if (handles != 1 || e->function->not_callable || e->function->variadic)
        return false;
    SeqStep *st = seq_call(a, seq, e->function);
    st->closing = true;
    usage_pick_values(s->grow->usage, e, s->grow->rng, 0, st->args);
    for (unsigned i = 0; i < st->nargs; i++)
        st->args[i] = value_copy(a, &st->args[i]);
    st->args[place] = h->value;
    pool_fill(s->grow->pool, s->grow->rng, a, st);
    return true;
}

/* Does a step give a text that may be the caller's to free? */
static bool gives_text(const SeqStep *st)
{
    const Type *t =
        st->f && st->f->result.role == ROLE_STRING ? type_plain(st->f->fn->returns) : NULL;
    return t && t->kind == TYPE_POINTER && !type_has_qualifier(t->target, QUALIFIER_CONST) &&
           !(st->nulls & 1);
}

static void free_texts(const Settler *s, Arena *a, Seq *c, unsigned n, int text)
{
    for (unsigned i = 0; i < n && c->n < SEQ_LIMIT - 8; i++) {
        const SeqStep *st = &c->steps[i];
        if (!gives_text(st) || (ownership_use(s->ownership, st->f, API_RETURNED) != USE_CREATES &&
                                !(text >= 0 && c->steps[text].f == st->f)))
            continue;
        SeqStep *release = seq_call(a, c, s->grow->api->release);
        release->closing = true;
        release->args[0] = value_result(i);
    }
}

static Seq *close_with(const Settler *s, Arena *a, const Seq *body, Variant v)
{
    Seq *c = seq_copy(a, body);
    SeqHandles all = { 0 };
    int owned = 0, borrowed = 0;
    free_texts(s, a, c, body->n, v.text);
    seq_handles(body, s->ownership, &all);
    for (size_t i = v.none ? 0 : all.len; i > 0 && c->n < SEQ_LIMIT - 4; i--) {
        const SeqHandle *h = &all.items[i - 1];
        int number = h->owned ? owned++ : borrowed++;
        if (h->owned ? number == v.skip : number != v.also)
            continue;
        int nth = h->owned && number == v.other ? v.with : 0;
        if (nth == 0 && close_by_usage(s, a, c, h))
            continue;
        const ApiMaker *m = destroyer(h->type, c, &h->value, nth);
        if (m)
            close_by(s, a, c, h, m->function, (unsigned)m->place);
    }
    vec_release(&all);
    return c;
}

/* ---- experiments */

static bool is_clean(const Outcome *o) { return o->state == OUTCOME_DONE && o->leaked <= 0; }

static unsigned list_variants(const Settler *s, const Seq *body, Variant *out)
{
    SeqHandles all = { 0 };
    int owned = 0, borrowed = 0;
    unsigned n = 0;
    seq_handles(body, s->ownership, &all);
    for (size_t i = 0; i < all.len; i++)
        *(all.items[i].owned ? &owned : &borrowed) += 1;
    for (unsigned i = 0; i < body->n && n < MOST_VARIANTS / 4; i++) {
        const SeqStep *st = &body->steps[i];
        bool seen =
            !gives_text(st) || ownership_use(s->ownership, st->f, API_RETURNED) == USE_CREATES;
        for (unsigned k = 0; k < i && !seen; k++)
            seen = body->steps[k].f == st->f;
        if (!seen)
            out[n++] = (Variant){ -1, -1, -1, 0, (int)i, false };
    }
    out[n++] = (Variant){ -1, -1, -1, 0, -1, true };
    for (int i = 0; i < owned && n < MOST_VARIANTS; i++)
        out[n++] = (Variant){ i, -1, -1, 0, -1, false };
    for (int i = 0; i < borrowed && n < MOST_VARIANTS; i++)
        out[n++] = (Variant){ -1, i, -1, 0, -1, false };
    for (int i = 0; i < owned; i++)
        for (int k = 1; k <= ALTERNATIVES && n < MOST_VARIANTS; k++)
            out[n++] = (Variant){ -1, -1, i, k, -1, false };
    vec_release(&all);
    return n;
}

/* The handle that a variant speaks of. */
static bool handle_of(const Settler *s, const Seq *body, const Variant *v, SeqHandle *out)
{
    SeqHandles all = { 0 };
    int owned = 0, borrowed = 0;
    bool found = false;
    seq_handles(body, s->ownership, &all);
    for (size_t i = all.len; i > 0 && !found; i--) {
        const SeqHandle *h = &all.items[i - 1];
        int number = h->owned ? owned++ : borrowed++;
        found = h->owned ? number == v->skip : number == v->also;
        if (found)
            *out = *h;
    }
    vec_release(&all);
    return found;
}

/* The last call that took the handle beside another one: who may own it now. */
static bool taken_by(const Seq *body, const SeqHandle *h, unsigned *step, unsigned *place)
{
    for (unsigned i = body->n; i > h->step + 1; i--) {
        const SeqStep *st = &body->steps[i - 1];
        unsigned handles = 0;
        bool here = false;
        for (unsigned k = 0; st->f && k < st->nargs; k++) {
            handles += value_is_made(&st->args[k]);
            if (value_equal(&st->args[k], &h->value)) {
                here = true;
                *place = k;
            }
        }
        if (here && handles > 1) {
            *step = i - 1;
            return true;
        }
    }
    return false;
}

static void learn(const Settler *s, const Seq *body, const Variant *v)
{
    SeqHandle h = { 0 };
    unsigned step = 0, place = 0;
    if (v->text >= 0) {
        ownership_learn(s->ownership, body->steps[v->text].f, API_RETURNED, USE_CREATES);
        return;
    }
    if (v->none || !handle_of(s, body, v, &h))
        return;
    const SeqStep *maker = &body->steps[h.step];
    if (v->also >= 0)
        ownership_learn(s->ownership, maker->f, h.place, USE_CREATES);
    else if (taken_by(body, &h, &step, &place))
        ownership_learn(s->ownership, body->steps[step].f, (int)place, USE_CONSUMES);
    else if (h.value.kind != VALUE_STORAGE && body->n == h.step + 1)
        ownership_learn(s->ownership, maker->f, h.place, USE_BORROWS);
}

/* A sequence whose plain closing is not clean. */
typedef struct Trouble {
    size_t index;
    const Seq *body;
    Variant variants[MOST_VARIANTS];
    size_t first;                /* of its jobs */
    unsigned n;
} Trouble;

/* All variants of all of them at once; `closed` gets the first clean one of each,
 * or NULL, and `strict` how it went. */
static bool experiment(const Settler *s, Arena *a, Trouble *all, size_t n, Seq **closed,
                       Outcome *strict, Err *err)
{
    Vec(ExecJob) jobs = { 0 };
    for (size_t i = 0; i < n; i++) {
        Trouble *t = &all[i];
        t->first = jobs.len;
        t->n = list_variants(s, t->body, t->variants);
        for (unsigned k = 0; k < t->n; k++)
            vec_push(&jobs, ((ExecJob){ .seq = close_with(s, a, t->body, t->variants[k]),
                                        .twice = true }));
    }
    Outcome *out = arena_array(a, Outcome, jobs.len + 1);
    bool ok = exec_run(s->strict ? s->strict : s->exec, a, jobs.items, jobs.len, out, err);
    for (size_t i = 0; ok && i < n; i++) {
        const Trouble *t = &all[i];
        closed[t->index] = NULL;
        for (unsigned k = 0; k < t->n && !closed[t->index]; k++)
            if (is_clean(&out[t->first + k])) {
                learn(s, t->body, &t->variants[k]);
                closed[t->index] = (Seq *)jobs.items[t->first + k].seq;
                strict[t->index] = out[t->first + k];
            }
    }
    vec_release(&jobs);
    return ok;
}

/* ---- stability */

/* A handle of which a test only says that it is there. */
static bool is_same(const Observation *a, const Observation *b)
{
    return observation_equal(a, b) || (a->kind == OBSERVED_HANDLE && b->kind == OBSERVED_SAME &&
                                       a->step == b->step && a->place == b->place);
}

/* Memory that was freed is handed out again in one run and not in another: of handles that
 * agree with others by chance nothing is said but that they are there. */
static void weaken_handles(const Outcome *base, const Outcome *other)
{
    for (size_t i = 0; i < base->nobs; i++) {
        Observation *b = (Observation *)&base->obs[i];
        const Observation *o =
            b->kind == OBSERVED_SAME ? outcome_at(other, b->step, b->place) : NULL;
        if (o && (o->kind == OBSERVED_HANDLE || o->kind == OBSERVED_SAME) &&
            !observation_equal(b, o))
            b->kind = OBSERVED_HANDLE;
    }
}

void settle_compare(const Outcome *base, const Outcome *other, bool *stable)
{
    size_t k = 0;
    for (size_t i = 0; i < base->nobs; i++) {
        const Observation *b = &base->obs[i];
        while (k < other->nobs &&
               (other->obs[k].step < b->step ||
                (other->obs[k].step == b->step && other->obs[k].place != b->place)))
            k++;
        if (k >= other->nobs || !is_same(b, &other->obs[k])) {
            stable[i] = false;
            k = k < other->nobs && other->obs[k].step == b->step ? k : 0;
        }
    }
}

bool settle_sees(const SeqTest *t, const Outcome *o)
{
    bool *same = xcalloc(t->out.nobs + 1, sizeof *same);
    bool seen = o->state != OUTCOME_DONE;
    if (o->state == OUTCOME_NOT_RUN) {           /* stopped: nothing is known */
        free(same);
        return false;
    }
    memset(same, 1, t->out.nobs);
    settle_compare(&t->out, o, same);
    for (size_t i = 0; i < t->out.nobs && !seen; i++)
        seen = t->stable[i] && !same[i];
    free(same);
    return seen;
}

enum { RUNS = 4 };

static bool check_stability(const Settler *s, Arena *a, Seq *const *closed, size_t n,
                            Outcome (*out)[RUNS], Err *err)
{
    ExecJob *jobs = arena_array(a, ExecJob, n * 3 + 1);
    Outcome *got = arena_array(a, Outcome, n * 3 + 1);
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < 3; k++)
            jobs[i * 3 + k] = (ExecJob){ .seq = closed[i],
                                         .fill = k == 1   ? 0xa5
                                                 : k == 2 ? 0x3c
                                                          : 0,
                                         .clock = k * 12345678,
                                         .all = k == 0 };
    if (!exec_run(s->exec, a, jobs, n * 3, got, err))
        return false;
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < 3; k++)
            out[i][k] = got[i * 3 + k];
    for (size_t i = 0; i < n; i++)
        jobs[i] = (ExecJob){ .seq = closed[i], .fill = 0x77, .clock = 99 };
    if (!exec_run(s->again, a, jobs, n, got, err))
        return false;
    for (size_t i = 0; i < n; i++)
        out[i][3] = got[i];
    return true;
}

static void judge(const Settler *s, Arena *a, Seq *seq, const Outcome out[RUNS],
                  const Outcome *strict, Settled *r)
{
    SeqTest *t = &r->test;
    size_t asserted = 0;
    t->seq = seq;
    t->out = out[0];
    t->stable = arena_array(a, bool, out[0].nobs + 1);
    memset(t->stable, 1, out[0].nobs);
    r->kind = SETTLED;
    weaken_handles(&out[0], strict);
    for (unsigned k = 0; k < RUNS; k++) {
        if (out[k].state != OUTCOME_DONE && r->kind != SETTLED_NOT_RUN)
            r->kind = out[k].state == OUTCOME_NOT_RUN ? SETTLED_NOT_RUN : SETTLED_ILLEGAL;
        weaken_handles(&out[0], &out[k]);
        settle_compare(&out[0], &out[k], t->stable);
    }
    settle_compare(&out[0], strict, t->stable);
    r->how = out[0];
    for (size_t i = 0; i < out[0].nobs; i++)
        asserted += t->stable[i];
    if (r->kind == SETTLED && !asserted)
        r->kind = SETTLED_EMPTY;
    outcome_note_nulls(&out[0], seq);
    t->follows = grow_follows(s->grow, seq);
}

/* ---- whole */

/* What the first, strict run said; whether experiments may help. */
static bool in_trouble(const Seq *body, const Outcome *o, Settled *r)
{
    bool in_body = o->state != OUTCOME_DONE && o->at < body->n;
    if (o->state == OUTCOME_NOT_RUN) {
        r->kind = SETTLED_NOT_RUN;
        return false;
    }
    r->kind = in_body ? SETTLED_ILLEGAL : o->state == OUTCOME_DONE ? SETTLED_LEAKS : SETTLED_OPEN;
    return !in_body;
}

/* The second part: what was clean is executed again. */
static bool settle_rest(const Settler *s, Arena *a, Seq **good, const size_t *index, size_t m,
                        const Outcome *const *strict, Settled *out, Err *err)
{
    Outcome(*runs)[RUNS] = arena_alloc(a, m + 1, sizeof *runs, _Alignof(Outcome));
    if (!check_stability(s, a, good, m, runs, err))
        return false;
    for (size_t i = 0; i < m; i++) {
        judge(s, a, good[i], runs[i], strict[i], &out[index[i]]);
        out[index[i]].seq = good[i];
    }
    return true;
}

typedef struct Work {
    Seq **closed, **good;
    ExecJob *jobs;
    Outcome *first;
    size_t *index;
    const Outcome **strict;
    size_t m;
} Work;

static Work work_new(Arena *a, size_t n)
{
    return (Work){ .closed = arena_array(a, Seq *, n + 1),
                   .good = arena_array(a, Seq *, n + 1),
                   .jobs = arena_array(a, ExecJob, n + 1),
                   .first = arena_array(a, Outcome, n + 1),
                   .index = arena_array(a, size_t, n + 1),
                   .strict = arena_array(a, const Outcome *, n + 1) };
}

static bool run_strict(const Settler *s, Arena *a, Work *w, size_t n, Err *err)
{
    for (size_t i = 0; i < n; i++)
        w->jobs[i] = (ExecJob){ .seq = w->closed[i], .twice = true };
    return exec_run(s->strict ? s->strict : s->exec, a, w->jobs, n, w->first, err);
}

static void take_good(Work *w, size_t i)
{
    w->index[w->m] = i;
    w->good[w->m] = w->closed[i];
    w->strict[w->m++] = &w->first[i];
}

/* A sequence with one of its looks only. */
static const Seq *with_one_look(Arena *a, const Seq *looked, unsigned which)
{
    const Seq *s = looked;
    for (unsigned i = looked->n; i-- > 0;)
        if (looked->steps[i].looking && i != which)
            s = seq_without(a, s, i);
    return s;
}

/* Looking did harm: which of the calls does so alone? */
static bool blame_looks(const Settler *s, Arena *a, const Seq *looked, Err *err)
{
    ExecJob *jobs = arena_array(a, ExecJob, looked->n + 1);
    Outcome *out = arena_array(a, Outcome, looked->n + 1);
    unsigned *of = arena_array(a, unsigned, looked->n + 1), n = 0;
    for (unsigned k = 0; k < looked->n; k++) {
        if (!looked->steps[k].looking)
            continue;
        of[n] = k;
        jobs[n++] =
            (ExecJob){ .seq = close_with(s, a, with_one_look(a, looked, k), plain), .twice = true };
    }
    if (!exec_run(s->strict ? s->strict : s->exec, a, jobs, n, out, err))
        return false;
    for (unsigned k = 0; k < n; k++)
        if (!is_clean(&out[k]) && out[k].state != OUTCOME_NOT_RUN)
            ownership_blame(s->ownership, looked->steps[of[k]].f);
    return true;
}

/* Observers may have changed the result of a sequence that fails: runs it again
 * without them. */
static bool try_without_looks(const Settler *s, Arena *a, Work *w, Seq *const *bodies, Seq **looked,
                              size_t n, Err *err)
{
    ExecJob *jobs = arena_array(a, ExecJob, n + 1);
    Outcome *out = arena_array(a, Outcome, n + 1);
    size_t *of = arena_array(a, size_t, n + 1), m = 0;
    for (size_t i = 0; i < n; i++)
        if (!is_clean(&w->first[i]) && looked[i]->n > bodies[i]->n) {
            of[m] = i;
            jobs[m++] = (ExecJob){ .seq = close_with(s, a, bodies[i], plain), .twice = true };
        }
    if (!exec_run(s->strict ? s->strict : s->exec, a, jobs, m, out, err))
        return false;
    for (size_t k = 0; k < m; k++) {
        size_t i = of[k];
        if (is_clean(&out[k]) && !blame_looks(s, a, looked[i], err))
            return false;
        looked[i] = bodies[i];
        w->closed[i] = (Seq *)jobs[k].seq;
        w->first[i] = out[k];
    }
    return true;
}

Seq *settle_close(const Settler *s, Arena *a, const Seq *body)
{
    return close_with(s, a, body, plain);
}

static bool settle_bodies(const Settler *s, Arena *a, Seq *const *bodies, size_t n, bool looks,
                          Settled *out, Err *err)
{
    assert(s->grow && s->exec && s->again);
    Work w = work_new(a, n);
    Seq **looked = arena_array(a, Seq *, n + 1);
    for (size_t i = 0; i < n; i++) {
        out[i] = (Settled){ 0 };
        looked[i] = looks ? grow_with_looks(s->grow, a, bodies[i]) : bodies[i];
        w.closed[i] = close_with(s, a, looked[i], plain);
    }
    if (!run_strict(s, a, &w, n, err) || !try_without_looks(s, a, &w, bodies, looked, n, err))
        return false;
    Trouble *troubles = arena_array(a, Trouble, n + 1);
    size_t ntroubles = 0;
    for (size_t i = 0; i < n; i++) {
        out[i].how = w.first[i];
        out[i].seq = w.closed[i];
        if (is_clean(&w.first[i]))
            take_good(&w, i);
        else if (in_trouble(looked[i], &w.first[i], &out[i]) && ntroubles < MOST_TROUBLES)
            troubles[ntroubles++] = (Trouble){ .index = i, .body = looked[i] };
    }
    if (!experiment(s, a, troubles, ntroubles, w.closed, w.first, err))
        return false;
    for (size_t i = 0; i < ntroubles; i++)
        if (w.closed[troubles[i].index])
            take_good(&w, troubles[i].index);
    return settle_rest(s, a, w.good, w.index, w.m, w.strict, out, err);
}

bool settle(const Settler *s, Arena *a, Seq *const *bodies, size_t n, Settled *out, Err *err)
{
    return settle_bodies(s, a, bodies, n, true, out, err);
}

bool settle_bare(const Settler *s, Arena *a, Seq *const *bodies, size_t n, Settled *out, Err *err)
{
    return settle_bodies(s, a, bodies, n, false, out, err);
}

bool settle_closed(const Settler *s, Arena *a, Seq *const *closed, size_t n, Settled *out, Err *err)
{
    Work w = work_new(a, n);
    memcpy(w.closed, closed, n * sizeof *closed);
    if (!run_strict(s, a, &w, n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        out[i] = (Settled){ .kind = SETTLED_ILLEGAL, .how = w.first[i], .seq = w.closed[i] };
        if (is_clean(&w.first[i]))
            take_good(&w, i);
        else if (w.first[i].state == OUTCOME_DONE)
            out[i].kind = SETTLED_LEAKS;
        else if (w.first[i].state == OUTCOME_NOT_RUN)
            out[i].kind = SETTLED_NOT_RUN;
    }
    return settle_rest(s, a, w.good, w.index, w.m, w.strict, out, err);
}
