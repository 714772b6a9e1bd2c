/*
 * A difference before it is told: it is tried again under other conditions, made as small
 * as it goes, and its cause is found by experiments.
 *
 * The cause of a call that fails on the candidate only:
 *
 *     propagated    another call of the same test differed before it
 *     removed       the call failed in every test, whatever it was given
 *     argument      with another value somewhere in the test it works
 *     state         else: the calls before it matter, not their arguments
 */
#include "technique/substitutes/substitutes_int.h"
#include <assert.h>
#include <ctype.h>
#include <string.h>

enum { TRIES = 3, OTHER_VALUES = 6, FEW = 3 };

const char *difference_kind_name(DifferenceKind k)
{
    static const char *const names[] = { "crash", "removed", "output", "deadlock" };
    return names[k];
}

const char *difference_cause_name(DifferenceCause c)
{
    static const char *const names[] = {
        [CAUSE_ARGUMENT] = "stronger argument rule",
        [CAUSE_STATE] = "stronger state rule",
        [CAUSE_REMOVED] = "removed operation",
        [CAUSE_PROPAGATED] = "propagated from another",
        [CAUSE_SYNCHRONISATION] = "lost synchronisation",
        [CAUSE_MEANING] = "changed meaning",
    };
    return names[c];
}

/* ---- again */

/* Does the last call of the test differ in this way? */
static bool shows(Pair *p, const Seq *s, const Difference *d, bool *out, Err *err)
{
    Arena a = { 0 };
    Outcome both[NSIDES] = { 0 };
    Divergence how;
    bool differs;
    bool ok = oracle_try(p, &a, s, 0, 0, both, &differs, &how, err);
    *out = ok && differs && how.step == s->n - 1 && oracle_same(&how, &d->how) &&
           s->steps[how.step].f->index == d->function;
    arena_release(&a);
    return ok;
}

/* Both sides give the same each time, whatever fresh memory holds and the clock says. */
static bool is_stable(Pair *p, const Seq *s, Divergence *how, bool *out, Err *err)
{
    static const unsigned fills[TRIES] = { 0, 0xa5, 0x5a };
    Arena a = { 0 };
    Outcome both[TRIES][NSIDES] = { 0 };
    bool ok = true;
    *out = true;
    for (int i = 0; ok && *out && i < TRIES; i++) {
        Divergence now;
        bool differs;
        ok = oracle_try(p, &a, s, fills[i], i * 86413, both[i], &differs, &now, err);
        *out = ok && differs && now.step == s->n - 1 &&
               (i == 0 || (oracle_same(&now, how) && now.first == how->first));
        if (i == 0)
            *how = now;
        for (int k = 0; *out && i && k < NSIDES && how->kind != DIFFERENCE_CRASH; k++) {
            const Observation *x = outcome_at(&both[0][k], how->step, how->place),
                              *y = outcome_at(&both[i][k], how->step, how->place);
            *out = x && y ? observation_equal(x, y) : x == y;
        }
    }
    arena_release(&a);
    return ok;
}

/* The shortest of the tests that shows it every time. */
static bool pick_stable(Pair *p, Difference *d, bool *out, Err *err)
{
    bool ok = is_stable(p, d->seq, &d->how, out, err);
    for (unsigned i = 0; ok && !*out && i < d->nspare; i++) {
        Divergence how = d->how;
        ok = is_stable(p, d->spare[i], &how, out, err);
        if (ok && *out && oracle_same(&how, &d->how)) {
            d->seq = d->spare[i];
            d->how = how;
        } else {
            *out = false;
        }
    }
    return ok;
}

/* ---- smaller */

static bool shrink_steps(Pair *p, Difference *d, bool *changed, Err *err)
{
    for (unsigned i = d->seq->n - 1; i-- > 0;) {
        Seq *less = seq_without(&p->arena, d->seq, i);
        bool same = false;
        if (!less || !less->n || less->steps[less->n - 1].f != d->seq->steps[d->seq->n - 1].f)
            continue;
        if (!shows(p, less, d, &same, err))
            return false;
        if (same) {
            d->seq = less;
            *changed = true;
            if (i > less->n - 1)
                i = less->n - 1;
        }
    }
    return true;
}

/* Smaller values for one that is there; 0: no more. */
static bool simpler(Arena *a, const ApiPlace *place, const SeqValue *v, unsigned n, SeqValue *out)
{
    static const uint64_t numbers[] = { 0, 1, 2 };
    static const char *const texts[] = { "", "a", "b" };
    bool text = v->kind == VALUE_STRING;
    if (n >= 3 || place->partner >= 0 || (!text && v->kind != VALUE_INTEGER))
        return false;
    *out = text ? value_string(a, texts[n]) : value_integer(numbers[n]);
    /* only what is simpler than it */
    for (unsigned k = 0; k <= n; k++)
        if (text ? v->n == strlen(texts[k]) && !memcmp(v->bytes, texts[k], v->n)
                 : v->integer == numbers[k])
            return false;
    return true;
}

/* Equal texts or numbers belong together: a key that was put is asked for. */
static void replace_all(Seq *s, SeqValue old, const SeqValue *fresh)
{
    for (unsigned i = 0; i < s->n; i++)
        for (unsigned k = 0; s->steps[i].f && k < s->steps[i].nargs; k++)
            if (s->steps[i].f->params[k].partner < 0 && value_equal(&s->steps[i].args[k], &old))
                s->steps[i].args[k] = *fresh;
}

static bool shrink_values(Pair *p, Difference *d, bool *changed, Err *err)
{
    for (unsigned i = 0; i < d->seq->n; i++)
        for (unsigned k = 0; d->seq->steps[i].f && k < d->seq->steps[i].nargs; k++) {
            SeqValue v;
            bool same = false;
            for (unsigned n = 0; !same && simpler(&p->arena, &d->seq->steps[i].f->params[k],
                                                  &d->seq->steps[i].args[k], n, &v);
                 n++) {
                Seq *other = seq_copy(&p->arena, d->seq);
                other->steps[i].args[k] = v;
                if (!shows(p, other, d, &same, err))
                    return false;
                if (!same) {
                    other = seq_copy(&p->arena, d->seq);
                    replace_all(other, d->seq->steps[i].args[k], &v);
                    if (!shows(p, other, d, &same, err))
                        return false;
                }
                if (same) {
                    d->seq = other;
                    *changed = true;
                }
            }
        }
    return true;
}

/* The last call alone, if it needs nothing of the others. */
static bool shrink_to_last(Pair *p, Difference *d, Err *err)
{
    const SeqStep *last = &d->seq->steps[d->seq->n - 1];
    Seq *alone = seq_new(&p->arena);
    bool same = false;
    for (unsigned i = 0; i < last->nargs; i++)
        if (value_is_made(&last->args[i]))
            return true;
    SeqStep *st = seq_call(&p->arena, alone, last->f);
    memcpy(st->args, last->args, last->nargs * sizeof *last->args);
    if (!shows(p, alone, d, &same, err))
        return false;
    if (same)
        d->seq = alone;
    return true;
}

static bool shrink(Pair *p, Difference *d, Err *err)
{
    bool changed = true, ok = shrink_to_last(p, d, err);
    for (int round = 0; ok && changed && round < 4; round++) {
        changed = false;
        ok = shrink_steps(p, d, &changed, err) && shrink_values(p, d, &changed, err);
    }
    return ok;
}

/* ---- cause */

static bool is_plain_value(const ApiPlace *place, const SeqValue *v)
{
    return !place->handle && place->role != ROLE_OUT && place->role != ROLE_STRING_OUT &&
           place->role != ROLE_HANDLE_OUT && place->partner < 0 && v->kind != VALUE_FUNCTION &&
           !value_is_made(v);
}

/* Does it go away with another value in one place? */
static bool argument_matters(Pair *p, const Difference *d, bool *out, Err *err)
{
    *out = false;
    for (unsigned i = 0; i < d->seq->n; i++) {
        const SeqStep *st = &d->seq->steps[i];
        for (unsigned k = 0; st->f && k < st->nargs; k++) {
            if (!is_plain_value(&st->f->params[k], &st->args[k]))
                continue;
            for (unsigned n = 0; n < OTHER_VALUES && !*out; n++) {
                Arena a = { 0 };
                Outcome both[NSIDES] = { 0 };
                Divergence how;
                bool differs = true;
                Seq *other = seq_copy(&a, d->seq);
                other->steps[i].args[k] = (SeqValue){ 0 };
                pool_fill(p->pool, &p->rng, &a, &other->steps[i]);
                bool ok = oracle_try(p, &a, other, 0, 0, both, &differs, &how, err);
                *out = ok && !differs && both[SIDE_CANDIDATE].state == OUTCOME_DONE &&
                       both[SIDE_REFERENCE].state == OUTCOME_DONE;
                arena_release(&a);
                if (!ok)
                    return false;
            }
            if (*out)
                return true;
        }
    }
    return true;
}

static bool find_cause(Pair *p, Difference *d, Err *err)
{
    const Habit *h = &p->habits[d->function];
    bool argument = false;
    d->cause = CAUSE_MEANING;
    if (d->how.kind == DIFFERENCE_REMOVED) {
        d->cause = CAUSE_REMOVED;
    } else if (d->how.first >= 0) {
        d->cause = CAUSE_PROPAGATED;
        d->from = p->calls[d->seq->steps[d->how.first].f->index].name;
    } else if (d->how.kind == DIFFERENCE_CRASH && h->died >= FEW && !h->calls[SIDE_CANDIDATE]) {
        d->cause = CAUSE_REMOVED;
    } else if (d->how.kind == DIFFERENCE_CRASH || d->how.fails) {
        if (!argument_matters(p, d, &argument, err))
            return false;
        d->cause = argument ? CAUSE_ARGUMENT : CAUSE_STATE;
    }
    return true;
}

/* ---- capabilities */

static bool asks_for_capability(const char *name)
{
    static const char *const words[] = { "support", "capab", "feature", "can_", "has_", NULL };
    for (const char *const *w = words; *w; w++) {
        const char *at = strcasestr(name, *w);
        if (at && (at == name || !isalpha((unsigned char)at[-1]) || isupper((unsigned char)*at)))
            return true;
    }
    return false;
}

/* Does it look at the object and at nothing else? */
static bool only_looks(const ApiFunction *f)
{
    for (unsigned i = 0; i < f->nparams; i++)
        if (f->params[i].role != ROLE_HANDLE)
            return false;
    return true;
}

static const char *capability(const Pair *p, const Difference *d)
{
    const Habit *h = &p->habits[d->function];
    const ApiFunction *f = &p->side[SIDE_CANDIDATE].api->functions[d->function];
    if (d->how.kind != DIFFERENCE_OUTPUT || d->how.place != API_RETURNED)
        return NULL;
    if (asks_for_capability(p->calls[d->function].name))
        return "it asks what an implementation can do";
    if (only_looks(f) && !h->varies[0] && !h->varies[1] && h->calls[0] >= FEW && h->calls[1] >= FEW)
        return "each side gives one answer in every state";
    return NULL;
}

/* ---- whole */

static bool describe(Pair *p, Difference *d, Err *err)
{
    Arena a = { 0 };
    Outcome both[NSIDES] = { 0 };
    bool differs;
    bool ok = oracle_try(p, &a, d->seq, 0, 0, both, &differs, &d->how, err);
    for (int i = 0; ok && differs && i < NSIDES; i++) {
        Str text = { 0 };
        oracle_say(p, d->seq, &both[i], (SideOf)i, &d->how, &text);
        *(i == SIDE_REFERENCE ? &d->reference_did : &d->candidate_did) =
            arena_strdup(&p->arena, str_c(&text));
        str_release(&text);
    }
    if (ok && d->how.kind == DIFFERENCE_CRASH) {
        ExecJob job = { .seq = d->seq };
        ok = exec_failure(p->side[SIDE_CANDIDATE].exec, &job, &d->failure, err);
        Str text = { 0 };
        if (ok && failure_is(&d->failure) && !failure_is_late(&d->failure)) {
            failure_describe(&d->failure, &text);
            char *at = strstr(str_c(&text), ".so+");        /* our own build says nothing */
            for (; at && at > text.data && strncmp(at, " at ", 4) != 0; at--)
                ;
            if (at && at > text.data)
                *at = 0;
            d->candidate_did = arena_printf(&p->arena, "fails: %s", str_c(&text));
        }
        str_release(&text);
    }
    arena_release(&a);
    return ok;
}

static bool already(const Pair *p, size_t i)
{
    const Difference *d = &p->found.items[i];
    for (size_t k = 0; k < i; k++) {
        const Difference *o = &p->found.items[k];
        if (o->function == d->function && oracle_same(&o->how, &d->how) && o->cause == d->cause &&
            o->where == d->where)
            return true;
    }
    return false;
}

static void drop(Pair *p, size_t i)
{
    failure_release(&p->found.items[i].failure);
    memmove(&p->found.items[i], &p->found.items[i + 1],
            (p->found.len - i - 1) * sizeof *p->found.items);
    p->found.len--;
}

/* A call that fails on the reference only: once more, alone, with fewer calls before it. */
static bool settle_tolerance(Pair *p, Tolerance *t, bool *out, Err *err)
{
    for (unsigned i = t->seq->n; i-- > 0;) {
        const Seq *s = i == t->seq->n - 1 ? t->seq : seq_without(&p->arena, t->seq, i);
        Arena a = { 0 };
        Outcome both[NSIDES] = { 0 };
        Divergence how;
        bool differs,
            last = s && s->n && s->steps[s->n - 1].f && s->steps[s->n - 1].f->index == t->function;
        bool ok = !last || oracle_try(p, &a, s, 0, 0, both, &differs, &how, err);
        bool holds = ok && last && outcome_failed(&both[SIDE_REFERENCE]) &&
                     both[SIDE_REFERENCE].at == s->n - 1 &&
                     both[SIDE_CANDIDATE].state == OUTCOME_DONE;
        if (holds) {
            how = (Divergence){ .kind = DIFFERENCE_CRASH, .step = s->n - 1, .place = API_RETURNED };
            for (int k = 0; k < NSIDES; k++) {
                Str text = { 0 };
                oracle_say(p, s, &both[k], (SideOf)k, &how, &text);
                *(k == SIDE_REFERENCE ? &t->reference_did : &t->candidate_did) =
                    arena_strdup(&p->arena, str_c(&text));
                str_release(&text);
            }
            t->seq = s;
            i = i < s->n ? i : s->n;
        }
        arena_release(&a);
        if (!ok)
            return false;
        if (!t->candidate_did)
            break;                           /* it was not shown a second time */
    }
    *out = t->candidate_did != NULL;
    return true;
}

static bool settle_tolerances(Pair *p, Err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < p->tolerant.len; i++) {
        bool holds;
        if (!settle_tolerance(p, &p->tolerant.items[i], &holds, err))
            return false;
        if (holds)
            p->tolerant.items[n++] = p->tolerant.items[i];
    }
    p->tolerant.len = n;
    return true;
}

/* The same calls before it, and the same functions that changed: another call told of the state
 * that they left. The function of that; NULL: none. */
static const char *told_by(const Pair *p, size_t i)
{
    const Difference *d = &p->found.items[i];
    for (size_t k = 0; k < i && !d->capability && !d->accepted; k++) {
        const Difference *o = &p->found.items[k];
        Seq a = { o->seq->steps, o->seq->n - 1 }, b = { d->seq->steps, d->seq->n - 1 };
        if (!o->capability && !o->accepted && !o->same_as && o->how.kind == d->how.kind &&
            o->function != d->function && d->where && o->where == d->where && b.n &&
            seq_equal(&a, &b))
            return p->calls[o->function].name;
    }
    return NULL;
}

bool pair_settle(Pair *p, Err *err)
{
    bool ok = settle_tolerances(p, err);
    for (size_t i = 0; ok && i < p->found.len;) {
        Difference *d = &p->found.items[i];
        bool stable = false;
        ok = pick_stable(p, d, &stable, err) &&
             (!stable || (shrink(p, d, err) && pair_where(p, d->seq, &d->where, err) &&
                          describe(p, d, err) && find_cause(p, d, err)));
        if (!ok)
            break;
        p->unstable += !stable;
        if (!stable || already(p, i)) {
            drop(p, i);
            continue;
        }
        assert(d->how.step == d->seq->n - 1);
        d->capability = capability(p, d);
        d->mapping = pair_mapping(p, d->seq);
        d->accepted = accepted_reason(p->all, p, d);
        d->same_as = told_by(p, i);
        i++;
    }
    return ok;
}
