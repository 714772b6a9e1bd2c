#include "engine/suite/refine.h"
#include "engine/suite/describe.h"
#include "engine/suite/plain.h"
#include <assert.h>
#include <string.h>

enum {
    MOST_CUTS = 16,              /* of one test */
    MOST_VARIANTS = 48,
    MOST_ROUNDS = 10,            /* of shortening */
    MOST_LOOKS = 24,             /* that are tried */
    KEPT_LOOKS = 2,
    MOST_WORTH = 20,
    MOST_OTHERS = 3,             /* values that an argument is tried with */
};

/* Two runs with these bytes in fresh memory show what is the same each time. */
enum { FILL = 0, OTHER_FILL = 0xa5 };

/* One test that is refined. */
typedef struct Refiner {
    const RefinePlan *plan;
    const GrowPlan *grow;
    Arena *a;
    const RefineGoal *goal;
    size_t ngoals;
} Refiner;

/* A sequence that may take the place of a test, or of a part of it. */
typedef struct Try {
    Seq *body;                   /* nothing is given back in it */
    unsigned about;
    Seq *closed;
    Omission less;               /* `closed` without the call that it is about */
    Outcome out, again, without;
    bool *same;                  /* by observation: the same in both runs */
    bool *met;                   /* by goal: points, then kills */
    size_t nmet;
    Effect effect;
    bool ok;                     /* it went well */
    bool whole;                  /* no call of it is known to matter more than others */
} Try;

/* ---- trying */

static void try_init(const Refiner *r, Try *t, Seq *body, unsigned about)
{
    assert(about < body->n && body->steps[about].f);
    *t = (Try){ .body = body, .about = about };
    t->closed = settle_close(r->plan->settler, r->a, body);
    effect_omit(r->a, t->closed, about, &t->less);
    t->met = arena_array(r->a, bool, r->ngoals + 1);
}

static void meet_points(const Refiner *r, Try *t)
{
    for (size_t i = 0; i < r->goal->npoints; i++)
        for (size_t k = 0; k < t->out.nfresh && !t->met[i]; k++)
            t->met[i] = t->out.fresh[k] == r->goal->points[i];
}

/* What of a sequence's looks, after the call, is an effect of it. */
static bool is_effect(const Try *t, size_t i)
{
    return t->same[i] &&
           (t->without.state != OUTCOME_DONE ||
            effect_at(t->closed, &t->out, i, t->about, &t->less, &t->without)) &&
           t->out.obs[i].step > t->about && t->out.obs[i].kind != OBSERVED_HANDLE &&
           !t->closed->steps[t->out.obs[i].step].closing;
}

static void judge_try(const Refiner *r, Try *t)
{
    t->ok = t->out.state == OUTCOME_DONE && t->again.state == OUTCOME_DONE &&
            t->without.state != OUTCOME_NOT_RUN;
    t->same = arena_array(r->a, bool, t->out.nobs + 1);
    memset(t->same, 1, t->out.nobs);
    if (!t->ok)
        return;
    settle_compare(&t->out, &t->again, t->same);
    outcome_note_nulls(&t->out, t->closed);
    for (unsigned i = 0; i < t->body->n; i++)
        t->body->steps[i].nulls = t->closed->steps[i].nulls;
    meet_points(r, t);
    t->effect = effect_own(r->plan->successes, t->closed, &t->out, t->same, t->about);
    for (size_t i = 0; i < t->out.nobs && t->effect < EFFECT_SEEN; i++)
        if (is_effect(t, i))
            t->effect = EFFECT_SEEN;
}

/* Does a run with a mutant differ from one without, where the test looks? */
static bool is_told(const Try *t, const Outcome *plain, const Outcome *changed)
{
    bool told = changed->state != OUTCOME_DONE;
    bool *same = xcalloc(plain->nobs + 1, sizeof *same);
    memset(same, 1, plain->nobs);
    settle_compare(plain, changed, same);
    for (size_t i = 0; i < plain->nobs && !told; i++) {
        const Observation *o = &plain->obs[i];
        bool last = t->closed->steps[o->step].closing && o->place >= OBSERVED_FIELD;
        told = !same[i] && !last && (i >= t->out.nobs || t->same[i]);
    }
    free(same);
    return told && plain->state == OUTCOME_DONE && changed->state != OUTCOME_NOT_RUN;
}

static bool meet_kills(const Refiner *r, Try *tries, size_t n, Err *err)
{
    size_t nkills = r->goal->nkills, one = nkills + 1, m = 0;
    if (!nkills)
        return true;
    ExecJob *jobs = arena_array(r->a, ExecJob, n * one + 1);
    Outcome *out = arena_array(r->a, Outcome, n * one + 1);
    for (size_t i = 0; i < n; i++) {
        jobs[m++] = (ExecJob){ .seq = tries[i].closed, .fill = r->plan->fresh };
        for (size_t k = 0; k < nkills && tries[i].ok; k++)
            jobs[m++] = (ExecJob){ .seq = tries[i].closed,
                                   .fill = r->plan->fresh,
                                   .mutant = r->goal->kills[k] + 1 };
    }
    if (!exec_run(r->plan->mutants, r->a, jobs, m, out, err))
        return false;
    m = 0;
    for (size_t i = 0; i < n; i++) {
        const Outcome *plain = &out[m++];
        for (size_t k = 0; k < nkills && tries[i].ok; k++, m++)
            tries[i].met[r->goal->npoints + k] = is_told(&tries[i], plain, &out[m]);
    }
    return true;
}

/* Executes all of them: what they meet, and whether the call has an effect. */
static bool run_tries(const Refiner *r, Try *tries, size_t n, Err *err)
{
    ExecJob *jobs = arena_array(r->a, ExecJob, 3 * n + 1);
    Outcome *out = arena_array(r->a, Outcome, 3 * n + 1);
    for (size_t i = 0; i < n; i++) {
        const Try *t = &tries[i];
        jobs[3 * i] = (ExecJob){ .seq = t->closed, .fill = FILL, .all = true };
        jobs[3 * i + 1] = (ExecJob){ .seq = t->closed, .fill = OTHER_FILL };
        jobs[3 * i + 2] = (ExecJob){ .seq = t->less.seq ? t->less.seq : t->closed, .fill = FILL };
    }
    if (!exec_run(r->plan->settler->exec, r->a, jobs, 3 * n, out, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        tries[i].out = out[3 * i];
        tries[i].again = out[3 * i + 1];
        tries[i].without = out[3 * i + 2];
        judge_try(r, &tries[i]);
    }
    if (!meet_kills(r, tries, n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < r->ngoals; k++)
            tries[i].nmet += tries[i].met[k];
    return true;
}

static unsigned cost_of(const Refiner *r, const Try *t)
{
    return plain_cost(r->grow->usage, t->body);
}

/* ---- cutting */

/* Only the steps that are kept; no kept one needs another. `*at` is moved along. */
static Seq *keep_steps(Arena *a, const Seq *s, const bool *keep, unsigned *at)
{
    const Seq *now = s;
    unsigned moved = *at;
    for (unsigned i = s->n; i-- > 0;)
        if (!keep[i]) {
            now = seq_without(a, now, i);
            moved -= i < *at;
        }
    *at = moved;
    return (Seq *)now;
}

static bool names(const SeqStep *st, const SeqValue *v)
{
    if (value_is_made(&st->target) && value_equal(&st->target, v))
        return true;
    for (unsigned i = 0; i < st->nargs; i++)
        if (value_is_made(&st->args[i]) && value_equal(&st->args[i], v))
            return true;
    return false;
}

/* Does a step change, or make, something that a later one gets? */
static bool leads_to(const Seq *s, unsigned step, unsigned later)
{
    const SeqStep *st = &s->steps[step], *to = &s->steps[later];
    for (unsigned i = 0; i <= to->nargs; i++) {
        const SeqValue *v = i < to->nargs ? &to->args[i] : &to->target;
        if (value_is_made(v) && (v->step == step || (names(st, v) && !(st->f && st->f->observes))))
            return true;
    }
    return false;
}

/* The call with those that led to it. */
static Seq *cut_out(Arena *a, const Seq *s, unsigned call, unsigned *about)
{
    bool keep[SEQ_LIMIT] = { false };
    keep[call] = true;
    for (unsigned i = call; i-- > 0;)
        for (unsigned k = i + 1; k <= call && !keep[i]; k++)
            keep[i] =
                !s->steps[i].looking && (s->steps[i].prologue || (keep[k] && leads_to(s, i, k)));
    /* whatever a kept step needs is kept: a look may be what made it */
    for (unsigned i = call + 1; i-- > 0;)
        for (unsigned k = 0; keep[i] && k <= s->steps[i].nargs; k++) {
            const SeqValue *v = k < s->steps[i].nargs ? &s->steps[i].args[k] : &s->steps[i].target;
            if (value_is_made(v))
                keep[v->step] = true;
        }
    *about = call;
    Seq *c = keep_steps(a, s, keep, about);
    for (unsigned i = 0; i < c->n; i++)
        c->steps[i].looking = false;
    return c;
}

/* Without what gives back. */
static Seq *body_of(Arena *a, const Seq *s)
{
    const Seq *now = s;
    for (unsigned i = s->n; i-- > 0 && now;)
        if (s->steps[i].closing)
            now = seq_without(a, now, i);
    return (Seq *)now;
}

/* ---- looking */

static bool looks_alike(const SeqStep *x, const SeqStep *y)
{
    if (x->f != y->f)
        return false;
    for (unsigned i = 0; i < x->nargs; i++)
        if (value_is_made(&x->args[i]) && !value_equal(&x->args[i], &y->args[i]))
            return false;
    return true;
}

/* Is what is seen what the call was given? */
static bool is_given(const SeqStep *about, const Observation *o)
{
    for (unsigned i = 0; i < about->nargs; i++) {
        const SeqValue *v = &about->args[i];
        if ((o->kind == OBSERVED_INTEGER && v->kind == VALUE_INTEGER && o->integer &&
             (uint32_t)o->integer == (uint32_t)v->integer) ||
            (o->kind == OBSERVED_STRING && v->kind == VALUE_STRING && o->n && o->n == v->n &&
             memcmp(o->bytes, v->bytes, o->n) == 0))
            return true;
    }
    return false;
}

/* How gladly a check is written: what the call was given first, then texts and numbers that are
 * not 0, at objects that the call gets. */
static unsigned worth(const Try *t, size_t i)
{
    const Observation *o = &t->out.obs[i];
    const SeqStep *st = &t->closed->steps[o->step], *about = &t->closed->steps[t->about];
    unsigned w = is_given(about, o)                   ? 12
                 : o->kind == OBSERVED_STRING && o->n ? 8
                 : o->kind == OBSERVED_NULL           ? 0
                                                      : 4;
    for (unsigned k = 0; k < st->nargs; k++) {
        w += value_is_made(&st->args[k]) &&
             (names(about, &st->args[k]) || st->args[k].step == t->about);
        w -= w && !value_is_made(&st->args[k]) && st->args[k].kind != VALUE_ROOM &&
             st->args[k].kind != VALUE_NULL;
    }
    return w;
}

/* The looks that show most of what the call did; `of` has their steps. */
static size_t best_looks(const Try *t, unsigned *of, size_t most)
{
    size_t n = 0;
    for (unsigned w = MOST_WORTH; w-- > 0;)
        for (size_t i = 0; i < t->out.nobs && n < most; i++) {
            const Observation *o = &t->out.obs[i];
            bool known = !t->closed->steps[o->step].looking || worth(t, i) != w || !is_effect(t, i);
            for (size_t k = 0; k < n && !known; k++)
                known = looks_alike(&t->closed->steps[of[k]], &t->closed->steps[o->step]);
            if (!known)
                of[n++] = o->step;
            if (!known && t->less.number[o->step] < 0)
                return n;        /* of a new object one look is enough */
        }
    return n;
}

/* The body with those of the looks behind it that are wanted. */
static Seq *with_looks(const Refiner *r, const Seq *looked, unsigned body, const unsigned *of,
                       size_t n)
{
    bool keep[SEQ_LIMIT] = { false };
    unsigned at = 0;
    for (unsigned i = 0; i < looked->n; i++) {
        keep[i] = i < body;
        for (size_t k = 0; k < n; k++)
            keep[i] |= of[k] == i;
    }
    return keep_steps(r->a, looked, keep, &at);
}

/* Adds looks that the call makes a difference to, if there are any. */
static bool look_at(const Refiner *r, Try *t, Err *err)
{
    unsigned of[KEPT_LOOKS];
    Seq *looked = seq_copy(r->a, t->body);
    grow_all_looks(r->grow, r->a, looked, MOST_LOOKS);
    if (looked->n == t->body->n)
        return true;
    Try more, less;
    try_init(r, &more, looked, t->about);
    if (!run_tries(r, &more, 1, err))
        return false;
    size_t n = more.ok ? best_looks(&more, of, KEPT_LOOKS) : 0;
    if (!n)
        return true;
    try_init(r, &less, with_looks(r, looked, t->body->n, of, n), t->about);
    if (!run_tries(r, &less, 1, err))
        return false;
    if (less.ok && less.effect > t->effect && less.nmet >= t->nmet)
        *t = less;
    return true;
}

static bool wants_look(const Try *t)
{
    const ApiFunction *f = t->body->steps[t->about].f;
    return t->effect == EFFECT_NONE || (t->effect == EFFECT_RESULT && !f->observes);
}

/* ---- shortening */

static void add_try(const Refiner *r, Try *out, size_t *n, Seq *body, unsigned about,
                    const ApiFunction *f)
{
    if (!body || *n == MOST_VARIANTS || about >= body->n || body->steps[about].f != f)
        return;
    try_init(r, &out[(*n)++], body, about);
}

static void replace_value(Arena *a, SeqValue *v, const SeqValue *from, const SeqValue *to)
{
    if (value_is_made(v) && value_equal(v, from))
        *v = value_copy(a, to);
}

/* The sequence in which others get `to` where they got what the step made. */
static Seq *pass_by(Arena *a, const Seq *s, unsigned step, const SeqValue *to)
{
    Seq *c = seq_copy(a, s);
    SeqValue made = value_result(step);
    for (unsigned i = step + 1; i < c->n; i++) {
        for (unsigned k = 0; k < c->steps[i].nargs; k++)
            replace_value(a, &c->steps[i].args[k], &made, to);
        replace_value(a, &c->steps[i].target, &made, to);
        if (!c->steps[i].f && !value_is_made(&c->steps[i].target))
            return NULL;
    }
    return seq_without(a, c, step);
}

/* A child's child becomes a child: what the step made from an object of the same type is
 * passed by. */
static void add_passed_by(const Refiner *r, const Try *t, Try *out, size_t *n)
{
    const ApiFunction *f = t->body->steps[t->about].f;
    for (unsigned i = 0; i < t->about; i++) {
        const SeqStep *st = &t->body->steps[i];
        for (unsigned k = 0; st->f && st->f->result.handle && k < st->nargs; k++)
            if (st->f->params[k].handle == st->f->result.handle && value_is_made(&st->args[k]))
                add_try(r, out, n, pass_by(r->a, t->body, i, &st->args[k]), t->about - 1, f);
    }
}

/* An object that is not needed: NULL in its place, if the example or the code says that it
 * may be NULL. */
static void add_nulls(const Refiner *r, const Try *t, Try *out, size_t *n)
{
    for (unsigned i = 0; i < t->about; i++) {
        const SeqStep *st = &t->body->steps[i];
        for (unsigned k = 0; st->f && k < st->nargs; k++) {
            if (!value_is_made(&st->args[k]) || !st->f->params[k].may_be_null ||
                st->args[k].kind == VALUE_STORAGE)
                continue;
            Seq *c = seq_copy(r->a, t->body);
            c->steps[i].args[k] = value_null();
            unsigned maker = st->args[k].step, about = t->about;
            bool used = false;
            for (unsigned m = 0; m < c->n; m++)
                for (unsigned x = 0; x <= c->steps[m].nargs; x++) {
                    const SeqValue *v =
                        x < c->steps[m].nargs ? &c->steps[m].args[x] : &c->steps[m].target;
                    used |= value_is_made(v) && v->step == maker;
                }
            if (!used && c->steps[maker].f) {
                c = seq_without(r->a, c, maker);
                about--;
            }
            if (!used)
                add_try(r, out, n, c, about, t->body->steps[t->about].f);
        }
    }
}

static int last_call(const Seq *s)
{
    for (unsigned i = s->n; i-- > 0;)
        if (s->steps[i].f)
            return (int)i;
    return -1;
}

static void add_shorter(const Refiner *r, const Try *t, Try *out, size_t *n)
{
    const ApiFunction *f = t->body->steps[t->about].f;
    for (unsigned i = 0; i < t->body->n; i++) {
        Omission less;
        if ((i == t->about && !t->whole) || t->body->steps[i].looking)
            continue;
        effect_omit(r->a, t->body, i, &less);
        int about = !less.seq ? -1 : t->whole ? last_call(less.seq) : less.number[t->about];
        if (about >= 0)
            add_try(r, out, n, less.seq, (unsigned)about, less.seq->steps[about].f);
    }
    add_passed_by(r, t, out, n);
    add_nulls(r, t, out, n);
    Seq *plain[MOST_VARIANTS];
    size_t m = plain_variants(r->grow->usage, r->a, t->body, plain, MOST_VARIANTS - *n);
    for (size_t i = 0; i < m; i++)
        add_try(r, out, n, plain[i], t->about, f);
}

/* Has it all that the other has, and is the call still refused, or still accepted? */
static bool serves(const Refiner *r, const Try *x, const Try *t)
{
    const Observation *o = outcome_at(&t->out, t->about, API_RETURNED);
    const Observation *p = x->ok ? outcome_at(&x->out, x->about, API_RETURNED) : NULL;
    bool same = (!o && !p) || (o && p && o->kind == p->kind);
    if (!x->ok || (!t->whole && (x->effect < t->effect || !same)))
        return false;
    for (size_t i = 0; i < r->ngoals; i++)
        if (t->met[i] && !x->met[i])
            return false;
    return seq_is_proper(x->closed, r->plan->settler->ownership);
}

static bool shorten(const Refiner *r, Try *t, Err *err)
{
    Try *tries = xcalloc(MOST_VARIANTS, sizeof *tries);
    bool ok = true, changed = true;
    for (int round = 0; ok && changed && round < MOST_ROUNDS; round++) {
        size_t n = 0, best;
        add_shorter(r, t, tries, &n);
        ok = run_tries(r, tries, n, err);
        best = n;
        for (size_t i = 0; ok && i < n; i++)
            if (serves(r, &tries[i], t) && cost_of(r, &tries[i]) < cost_of(r, t) &&
                (best == n || cost_of(r, &tries[i]) < cost_of(r, &tries[best])))
                best = i;
        changed = ok && best < n;
        if (changed) {
            tries[best].whole = t->whole;
            *t = tries[best];
        }
    }
    free(tries);
    return ok;
}

/* ---- questioning */

/* Does the call do the same? */
static bool does_same(const Try *x, const Try *t)
{
    for (size_t i = 0; i < t->out.nobs; i++) {
        const Observation *o = &t->out.obs[i];
        const Observation *p = x->ok ? outcome_at(&x->out, o->step, o->place) : NULL;
        if (t->same[i] && o->step >= t->about && !t->closed->steps[o->step].closing &&
            (!p || !observation_equal(o, p)))
            return false;
    }
    return true;
}

static bool question(const Refiner *r, const Try *t, uint64_t *matters, Err *err)
{
    const SeqStep *st = &t->body->steps[t->about];
    *matters = 0;
    for (unsigned i = 0; i < st->nargs && i < 64; i++) {
        Seq *others[MOST_OTHERS];
        Try tries[MOST_OTHERS];
        size_t n = plain_others(r->grow->usage, r->a, t->body, t->about, i, others, MOST_OTHERS);
        for (size_t k = 0; k < n; k++)
            try_init(r, &tries[k], others[k], t->about);
        if (!run_tries(r, tries, n, err))
            return false;
        for (size_t k = 0; k < n; k++)
            if (!does_same(&tries[k], t))
                *matters |= (uint64_t)1 << i;
        if (!n && st->f->params[i].role != ROLE_CALLBACK && st->f->params[i].role != ROLE_USER_DATA)
            *matters |= (uint64_t)1 << i;
    }
    return true;
}

/* ---- choosing */

/* Is it better to have the one than the other? A call is tested where it stands alone. */
static bool is_better(const Refiner *r, const Try *x, const Try *y)
{
    if (x->about != y->about)
        return x->about < y->about;
    return cost_of(r, x) < cost_of(r, y);
}

static bool meets_more(const Refiner *r, const Try *t, const bool *met)
{
    for (size_t i = 0; i < r->ngoals && t->ok; i++)
        if (t->met[i] && !met[i])
            return true;
    return false;
}

/* As many as are needed for all that any meets; how many are chosen, at the front. */
static size_t choose(const Refiner *r, Try *tries, size_t n, bool *met)
{
    for (size_t chosen = 0;; chosen++) {
        size_t best = n;
        for (size_t i = chosen; i < n; i++)
            if (meets_more(r, &tries[i], met) &&
                (best == n || is_better(r, &tries[i], &tries[best])))
                best = i;
        if (best == n)
            return chosen;
        for (size_t i = 0; i < r->ngoals; i++) {
            tries[best].met[i] &= !met[i];       /* what others do is no goal of this one */
            met[i] |= tries[best].met[i];
        }
        Try x = tries[best];
        tries[best] = tries[chosen];
        tries[chosen] = x;
    }
}

/* ---- whole */

/* What the first look that shows the call gives without it; NULL: it can't look then. */
static const char *say_instead(const Refiner *r, const Try *t)
{
    for (size_t i = 0; i < t->out.nobs; i++) {
        const Observation *o = &t->out.obs[i];
        if (!t->closed->steps[o->step].looking || o->place != API_RETURNED)
            continue;
        int number = t->less.number[o->step];
        const Observation *other =
            number >= 0 ? outcome_at(&t->without, (unsigned)number, o->place) : NULL;
        if (!is_effect(t, i) || !other)
            return NULL;
        Str s = { 0 };
        describe_observation(other, t->closed->steps[o->step].f->fn->returns, &s);
        const char *said = arena_strdup(r->plan->arena, str_c(&s));
        str_release(&s);
        return said;
    }
    return NULL;
}

/*
 * Fields of a struct are often nobody's business but the library's: that csv_init() sets a block
 * size is not what a test of csv_parse() is about. They are checked where the call that the test
 * is about shows nothing else, and where they find a fault.
 */
static void drop_fields(const Refiner *r, SeqTest *x)
{
    enum { MOST_FIELDS = 2 };
    unsigned kept = 0;
    bool *without = arena_array(r->a, bool, x->out.nobs + 1);
    for (size_t i = 0; i < x->out.nobs; i++)
        without[i] = x->stable[i] && x->out.obs[i].place < OBSERVED_FIELD;
    bool shows = effect_own(r->plan->successes, x->seq, &x->out, without, x->about) == EFFECT_SEEN;
    for (size_t i = 0; i < x->out.nobs; i++) {
        const Observation *o = &x->out.obs[i];
        bool result = o->kind == OBSERVED_STRING && o->step == x->about;
        if (o->place >= OBSERVED_FIELD && o->place < OBSERVED_BEHIND && x->stable[i] && !result)
            x->stable[i] = o->step == x->about && !shows && kept++ < MOST_FIELDS;
    }
}

/* The first field that tells a run from the test's; -1: none does. */
static int telling_field(const Refiner *r, const SeqTest *x, const bool *stable, const Outcome *o)
{
    bool *same = arena_array(r->a, bool, x->out.nobs + 1);
    memset(same, 1, x->out.nobs);
    settle_compare(&x->out, o, same);
    for (size_t i = 0; i < x->out.nobs; i++)
        if (stable[i] && !same[i] && x->out.obs[i].place >= OBSERVED_FIELD)
            return (int)i;
    return -1;
}

/* Which faults the test finds as it is written. */
static bool confirm_kills(const Refiner *r, Try *t, SeqTest *x, Err *err)
{
    size_t n = r->goal->nkills;
    ExecJob *jobs = arena_array(r->a, ExecJob, n + 1);
    Outcome *out = arena_array(r->a, Outcome, n + 1);
    bool *stable = arena_array(r->a, bool, x->out.nobs + 1);
    memcpy(stable, x->stable, x->out.nobs * sizeof *stable);
    drop_fields(r, x);
    for (size_t i = 0; i < n; i++)
        jobs[i] =
            (ExecJob){ .seq = x->seq, .fill = r->plan->fresh, .mutant = r->goal->kills[i] + 1 };
    if (n && !exec_run(r->plan->mutants, r->a, jobs, n, out, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        bool *met = &t->met[r->goal->npoints + i];
        int field = *met && !settle_sees(x, &out[i]) ? telling_field(r, x, stable, &out[i]) : -1;
        if (field >= 0)
            x->stable[field] = true;
        *met = settle_sees(x, &out[i]);
    }
    return true;
}

/* The same test with fewer calls that give something back, if nothing is left behind: the
 * parent may do it for its children. */
static bool close_less(const Refiner *r, Settled *settled, Err *err)
{
    enum { MOST_CLOSING = 8 };
    for (int round = 0; round < MOST_CLOSING; round++) {
        Seq *less[MOST_CLOSING];
        Settled out[MOST_CLOSING];
        size_t n = 0, best = MOST_CLOSING;
        unsigned closing = 0;
        const Seq *s = settled->test.seq;
        for (unsigned i = 0; i < s->n; i++)
            closing += s->steps[i].closing;
        for (unsigned i = 0; i < s->n && n < MOST_CLOSING && closing > 1; i++)
            if (s->steps[i].closing && s->steps[i].f != r->grow->api->release)
                less[n++] = seq_without(r->a, s, i);
        if (!settle_closed(r->plan->settler, r->a, less, n, out, err))
            return false;
        for (size_t i = n; i-- > 0 && best == MOST_CLOSING;)
            if (out[i].kind == SETTLED)
                best = i;
        if (best == MOST_CLOSING)
            return true;
        *settled = out[best];
    }
    return true;
}

/* Of calls that are only needed together the last that shows something. */
static void find_about(const Refiner *r, SeqTest *x)
{
    for (unsigned i = x->seq->n; i-- > 0 && x->effect == EFFECT_NONE;) {
        Effect e = !x->seq->steps[i].f || x->seq->steps[i].closing
                       ? EFFECT_NONE
                       : effect_own(r->plan->successes, x->seq, &x->out, x->stable, i);
        if (e == EFFECT_NONE)
            continue;
        x->about = i;
        x->effect = (int)e;
    }
}

/* As a test; NULL: it is none. */
static bool settle_try(const Refiner *r, Try *t, SeqTest **out, Err *err)
{
    Settled settled;
    Seq *body = t->body;
    *out = NULL;
    if (!settle_bare(r->plan->settler, r->a, &body, 1, &settled, err))
        return false;
    if ((settled.kind != SETTLED && settled.kind != SETTLED_EMPTY) ||
        !test_is_sensible(r->plan->settler, &settled.test))
        return true;
    if (!close_less(r, &settled, err))
        return false;
    SeqTest *x = test_copy(r->plan->arena, &settled.test);
    x->refined = true;
    x->about = t->about;
    x->effect = effect_own(r->plan->successes, x->seq, &x->out, x->stable, x->about);
    x->effect = (int)t->effect > x->effect ? (int)t->effect : x->effect;
    x->instead = say_instead(r, t);
    if (t->whole)
        find_about(r, x);
    *out = x;
    return confirm_kills(r, t, x, err);
}

/* From a part that was cut out to a test. */
static bool refine_part(const Refiner *r, Try *t, Refined *out, Err *err)
{
    SeqTest *test = NULL;
    Try before;
    uint64_t matters = 0;
    before = *t;
    if (!shorten(r, t, err))
        return false;
    if (wants_look(t) && !look_at(r, t, err))
        return false;
    if (!settle_try(r, t, &test, err))
        return false;
    if (!test) {
        *t = before;
        if (!settle_try(r, t, &test, err))
            return false;
    }
    if (!test) {
        memset(t->met, 0, r->ngoals * sizeof *t->met);
        return true;
    }
    if (!question(r, t, &matters, err))
        return false;
    test->matters = matters;
    vec_push(out, test);
    return true;
}

/* Each call with those that led to it; the last calls first. */
static size_t cut_all(const Refiner *r, const Seq *body, Try *out)
{
    size_t n = 0;
    for (unsigned i = body->n; i-- > 0 && n < MOST_CUTS;) {
        unsigned about = 0;
        if (!body->steps[i].f || (body->steps[i].prologue && body->n > 1))
            continue;
        Seq *part = cut_out(r->a, body, i, &about);
        try_init(r, &out[n++], part, about);
    }
    return n;
}

static bool is_all_met(const Refiner *r, const bool *met)
{
    for (size_t i = 0; i < r->ngoals; i++)
        if (!met[i])
            return false;
    return true;
}

/* Refines what was chosen; `met` gets what the tests that come out meet. */
static bool refine_parts(const Refiner *r, Try *tries, size_t n, bool *met, Refined *out, Err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!refine_part(r, &tries[i], out, err))
            return false;
        for (size_t k = 0; k < r->ngoals; k++)
            met[k] |= tries[i].met[k];
    }
    return true;
}

/* What needs several calls that have nothing to do with each other: all of them, looks too, as
 * short as it gets. */
static bool refine_rest(const Refiner *r, Seq *body, bool *met, Refined *out, Err *err)
{
    Try t;
    for (unsigned i = 0; i < body->n; i++)
        body->steps[i].looking = false;
    if (last_call(body) < 0)
        return true;
    try_init(r, &t, body, (unsigned)last_call(body));
    if (!run_tries(r, &t, 1, err))
        return false;
    t.whole = true;
    for (size_t i = 0; i < r->ngoals; i++)
        t.met[i] &= !met[i];
    return !t.ok || refine_parts(r, &t, 1, met, out, err);
}

bool refine_test(const RefinePlan *plan, const SeqTest *t, const RefineGoal *goal, Refined *out,
                 Err *err)
{
    Arena a = { 0 };
    Refiner r = { plan, plan->settler->grow, &a, goal, goal->npoints + goal->nkills };
    Seq *body = body_of(&a, t->seq);
    Try *tries = xcalloc(MOST_CUTS, sizeof *tries);
    bool *met = arena_array(&a, bool, r.ngoals + 1);
    assert(body);
    size_t n = cut_all(&r, body, tries);
    bool ok = run_tries(&r, tries, n, err);
    for (size_t i = 0; ok && i < n; i++)
        ok = !tries[i].nmet || !wants_look(&tries[i]) || look_at(&r, &tries[i], err);
    n = ok ? choose(&r, tries, n, met) : 0;
    memset(met, 0, r.ngoals * sizeof *met);
    ok = ok && refine_parts(&r, tries, n, met, out, err);
    if (ok && !is_all_met(&r, met))
        ok = refine_rest(&r, body, met, out, err);
    if (ok && !is_all_met(&r, met)) {
        vec_push(out, test_copy(plan->arena, t));        /* it only goes well as a whole */
        out->items[out->len - 1]->effect = EFFECT_RESULT;
    }
    free(tries);
    arena_release(&a);
    return ok;
}

bool refine_effects(const RefinePlan *plan, SeqTest *const *tests, size_t n, Err *err)
{
    enum { SOME = 64 };
    bool ok = true;
    for (size_t at = 0; ok && at < n; at += SOME) {
        Arena a = { 0 };
        RefineGoal none = { 0 };
        Refiner r = { plan, plan->settler->grow, &a, &none, 0 };
        size_t m = n - at < SOME ? n - at : SOME;
        Try *tries = arena_array(&a, Try, SOME);
        for (size_t i = 0; i < m; i++) {
            unsigned about = describe_step(tests[at + i]);
            tries[i] =
                (Try){ .body = tests[at + i]->seq, .closed = tests[at + i]->seq, .about = about };
            effect_omit(&a, tries[i].closed, about, &tries[i].less);
        }
        ok = run_tries(&r, tries, m, err);
        for (size_t i = 0; ok && i < m; i++)
            tests[at + i]->effect = (int)tries[i].effect;
        arena_release(&a);
    }
    return ok;
}

bool refine_join(const RefinePlan *plan, SeqTest *const *tests, size_t n, SeqTest **out, Err *err)
{
    Arena a = { 0 };
    Seq *all = seq_new(&a);
    Settled settled;
    *out = NULL;
    for (size_t i = 0; i < n && all->n + tests[i]->seq->n < SEQ_LIMIT; i++)
        seq_append(&a, all, tests[i]->seq);
    for (unsigned i = 0; i < all->n; i++)
        all->steps[i].looking = false;
    bool ok = settle_closed(plan->settler, &a, &all, 1, &settled, err);
    if (ok && settled.kind == SETTLED)
        *out = test_copy(plan->arena, &settled.test);
    if (*out)
        (*out)->idle = true;
    for (size_t i = 0; *out && i < (*out)->out.nobs; i++)
        (*out)->stable[i] &= (*out)->out.obs[i].place < OBSERVED_FIELD;
    arena_release(&a);
    return ok;
}
