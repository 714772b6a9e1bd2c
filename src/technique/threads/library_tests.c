/*
 * Tests are made.
 *
 *     prefix       creators of the type, calls that change the object
 *     candidates   single calls that go well after the prefix; what they need beside
 *                  the handle is made in the prefix
 *     tests        one or two candidates for each of two threads
 *     epilogue     observers, and all that was made is given back
 *
 * Every candidate has gone well in one thread, under the sanitizer, three times, with other
 * contents of fresh memory, another clock and other addresses. A function that gives something else the
 * second time is dropped.
 */
#include "technique/threads/library_int.h"
#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    PREFIXES = 6,
    GROWTH = 4,            /* candidates for a prefix, calls in it */
    BARE = 3,              /* one prefix in so many only makes what is needed */
    CANDIDATES = 20,
    MOST_PREFIX = 28,
};

/* A call that may stand in a thread. */
typedef struct Candidate {
    SeqStep step;
    unsigned function;                   /* in the subject */
    bool errs;                           /* it returns an error after the prefix alone */
} Candidate;
typedef Vec(Candidate) Candidates;

/* Two calls of a thread of which the second goes well only after the first. */
typedef struct Rescue {
    Candidate first, second;
    bool balanced;                       /* lock and unlock: they belong together */
} Rescue;
typedef Vec(Rescue) Rescues;

Seq *lib_test_thread(Arena *a, const Test *t, unsigned thread)
{
    Seq *s = seq_new(a);
    assert(thread < 2);
    s->n = t->prefix->n + t->ncalls[thread];
    s->steps = arena_array(a, SeqStep, s->n + 1);
    memcpy(s->steps, t->prefix->steps, t->prefix->n * sizeof *s->steps);
    memcpy(s->steps + t->prefix->n, t->calls[thread], t->ncalls[thread] * sizeof *s->steps);
    return s;
}

Test lib_test_copy(Arena *a, const Test *t)
{
    Test c = *t;
    c.prefix = seq_copy(a, t->prefix);
    c.epilogue = seq_copy(a, t->epilogue);
    for (unsigned k = 0; k < 2; k++) {
        Seq *s = seq_copy(a, lib_test_thread(a, t, k));
        memcpy(c.calls[k], s->steps + c.prefix->n, c.ncalls[k] * sizeof *c.calls[k]);
    }
    return c;
}

/* ---------------------------------------------------------------- closing */

static const ApiMaker *destroyer_of(const Lib *l, const ApiType *t, const SeqValue *v)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < t->ndestroyers; i++) {
            const ApiMaker *m = &t->destroyers[i];
            if (ownership_use(l->ownership, m->function, m->place) == USE_CHANGES)
                continue;                /* it leaves the handle usable */
            bool finishes = api_place(m->function, m->place)->use == USE_FINISHES;
            if ((finishes == (v->kind == VALUE_STORAGE)) == (pass == 0))
                return m;
        }
    return NULL;
}

static void close_one(Lib *l, Arena *a, Seq *s, const SeqHandle *h)
{
    const ApiMaker *m = destroyer_of(l, h->type, &h->value);
    if (!m || m->function->not_callable)
        return;
    SeqStep *st = seq_call(a, s, m->function);
    st->closing = true;
    st->args[m->place] = h->value;
    pool_fill(l->pool, &l->rng, a, st);
    for (unsigned i = 0; i < st->nargs; i++)
        if (st->args[i].kind == VALUE_NONE)
            st->args[i] = value_null();
}

/* The prefix, then a look at what is there, then all is given back. */
Seq *lib_test_close(Lib *l, Arena *a, const Seq *prefix)
{
    Seq *s = seq_copy(a, prefix);
    SeqHandles all = { 0 };
    grow_looks(&l->grow, a, s);
    for (unsigned i = s->n; i-- > prefix->n;)
        if (s->steps[i].f && lib_is_dropped(l, s->steps[i].f))
            s = seq_without(a, s, i);
    seq_handles(prefix, l->ownership, &all);
    for (size_t i = all.len; i-- > 0 && s->n < SEQ_LIMIT - 4;)
        if (all.items[i].owned)
            close_one(l, a, s, &all.items[i]);
    vec_release(&all);
    return s;
}

/* The steps of the epilogue behind another sequence with the same prefix. */
static Seq *with_epilogue(Arena *a, const Seq *s, const Seq *epilogue, unsigned prefix)
{
    Seq *all = seq_new(a);
    unsigned more = epilogue->n - prefix;
    all->steps = arena_array(a, SeqStep, s->n + more + 1);
    memcpy(all->steps, s->steps, s->n * sizeof *all->steps);
    all->n = s->n + more;
    for (unsigned i = 0; i < more; i++) {
        SeqStep *st = &all->steps[s->n + i];
        *st = epilogue->steps[prefix + i];
        st->args = arena_array(a, SeqValue, st->nargs + 1);
        memcpy(st->args, epilogue->steps[prefix + i].args, st->nargs * sizeof *st->args);
        for (unsigned k = 0; k < st->nargs; k++)
            if (value_is_made(&st->args[k]) && st->args[k].step >= prefix)
                st->args[k].step += s->n - prefix;
    }
    return all;
}

/* Closing calls that do harm are left out: the roles were wrong. False: the prefix
 * itself does not go well. */
static bool settle_epilogue(Lib *l, Arena *a, const Seq *prefix, Seq **out, Err *err)
{
    Seq *s = lib_test_close(l, a, prefix);
    for (unsigned tries = 0; tries < 6; tries++) {
        ExecJob job = { .seq = s };
        Outcome o;
        if (!exec_run(l->exec, a, &job, 1, &o, err))
            return false;
        if (o.state == OUTCOME_DONE) {
            *out = s;
            return true;
        }
        if (o.at < prefix->n || o.at >= s->n)
            break;
        s = seq_without(a, s, o.at);
    }
    *out = NULL;
    return true;
}

/* ------------------------------------------------------------- destroyers */

/* Makes a handle, calls `f` with it, then the other destroyer. NULL: it can't be had. */
static Seq *try_destroyer(Lib *l, Arena *a, const ApiType *t, const ApiMaker *f,
                          const ApiMaker *other)
{
    Seq *s = seq_new(a);
    SeqHandles all = { 0 };
    if (grow_universal(&l->grow, a, s, t->creators[rng_below(&l->rng, t->ncreators)].function))
        seq_handles(s, l->ownership, &all);
    bool has = all.len && all.items[all.len - 1].type == t;
    for (unsigned i = 0; has && i < 2; i++) {
        const ApiMaker *m = i ? other : f;
        SeqStep *st = seq_call(a, s, m->function);
        st->args[m->place] = all.items[all.len - 1].value;
        pool_fill(l->pool, &l->rng, a, st);
        for (unsigned k = 0; k < st->nargs; k++)
            if (st->args[k].kind == VALUE_NONE)
                st->args[k] = value_null();
    }
    vec_release(&all);
    return has ? s : NULL;
}

/* A function that seems to end a handle ("close"), but leaves it usable: under the
 * sanitizer another one ends it after that. It may stand in a thread. */
bool lib_learn_destroyers(Lib *l, const ApiType *t, Err *err)
{
    Arena a = { 0 };
    bool ok = true;
    for (size_t i = 0; ok && t->ncreators && i < t->ndestroyers; i++)
        for (size_t k = 0; ok && k < t->ndestroyers; k++) {
            const ApiMaker *f = &t->destroyers[i], *other = &t->destroyers[k];
            Seq *s = k == i || f->function->not_callable || other->function->not_callable
                         ? NULL
                         : try_destroyer(l, &a, t, f, other);
            ExecJob job = { .seq = s };
            Outcome o = { .state = OUTCOME_NOT_RUN };
            ok = !s || exec_run(l->exec, &a, &job, 1, &o, err);
            if (ok && o.state == OUTCOME_DONE)
                ownership_learn(l->ownership, f->function, f->place, USE_CHANGES);
        }
    arena_release(&a);
    return ok;
}

/* ----------------------------------------------------------------- prefix */

static const ApiFunction *any_function(Lib *l, const Subject *t)
{
    return t->functions.len ? t->functions.items[rng_below(&l->rng, t->functions.len)] : NULL;
}

/* Calls use the one or two handles that the creators made, so that they meet. */
static GrowPlan plan_of(const Lib *l, const Subject *t, unsigned creators)
{
    GrowPlan g = l->grow;
    g.uses = t->type;
    g.given = t->type ? creators : 0;
    return g;
}

enum { SANITIZER_STATUS = 99 };          /* of the player, when a sanitizer complains */

/* A function that waits when it is called alone takes too long: it is left out. */
static void drop_blocker(Lib *l, const Seq *s, const Outcome *o)
{
    if (o->state == OUTCOME_TIMEOUT && o->at < s->n && s->steps[o->at].f)
        lib_drop(l, s->steps[o->at].f, "it waits, or takes too long, when it is called alone");
}

/* ------------------------------------------------------------ calls alone */

/* Handles, and one call of the function with whatever it needs. NULL: it can't be called. */
static Seq *call_alone(Lib *l, const Subject *t, Arena *a, const ApiFunction *f)
{
    Seq *s = seq_new(a);
    if (t->type &&
        !grow_universal(&l->grow, a, s,
                        t->type->creators[rng_below(&l->rng, t->type->ncreators)].function))
        return NULL;
    GrowPlan g = plan_of(l, t, s->n);
    return grow_universal(&g, a, s, f) && s->steps[s->n - 1].f == f ? s : NULL;
}

static bool ends_process(const Seq *s, const Outcome *o)
{
    return o->state == OUTCOME_EXITED && o->status != SANITIZER_STATUS && o->at == s->n - 1;
}

/* Does it end the process with these other arguments, too? */
static bool ends_again(Lib *l, const Subject *t, Arena *a, const ApiFunction *f, bool *ended,
                       Err *err)
{
    Seq *s = call_alone(l, t, a, f);
    ExecJob job = { .seq = s };
    Outcome o = { .state = OUTCOME_NOT_RUN };
    bool ok = !s || exec_run(l->exec, a, &job, 1, &o, err);
    *ended = ok && s && ends_process(s, &o);
    return ok;
}

/* Who waits for the system, or takes so long that a hundred schedules would take minutes, is tried
 * once, who ends the process with three sets of arguments; all are left out from the start. */
bool lib_try_alone(Lib *l, const Subject *t, Err *err)
{
    enum { MORE_TRIES = 2, AT_ONCE = 32, LONG = 250 };   /* ms of the processor */
    const ApiFunction *tried[AT_ONCE];
    ExecJob jobs[AT_ONCE];
    bool ok = true;
    exec_limit_cpu(l->exec, LONG);
    for (size_t i = 0; ok && i < t->functions.len;) {
        Arena a = { 0 };
        Outcome *o = arena_array(&a, Outcome, AT_ONCE);
        size_t n = 0;
        for (; i < t->functions.len && n < AT_ONCE; i++) {
            const ApiFunction *f = t->functions.items[i];
            Seq *s = lib_is_dropped(l, f) || lib_waits(l, f) ? NULL : call_alone(l, t, &a, f);
            tried[n] = f;
            jobs[n] = (ExecJob){ .seq = s };
            n += s != NULL;
        }
        ok = !n || exec_run(l->exec, &a, jobs, n, o, err);
        for (size_t k = 0; ok && k < n; k++) {
            drop_blocker(l, jobs[k].seq, &o[k]);
            bool ended = ends_process(jobs[k].seq, &o[k]);
            for (unsigned again = 0; ok && ended && again < MORE_TRIES; again++)
                ok = ends_again(l, t, &a, tried[k], &ended, err);
            if (ok && ended)
                lib_drop(l, tried[k], "it ends the process when it is called alone");
        }
        arena_release(&a);
    }
    exec_limit_cpu(l->exec, LIB_CPU_MS);
    return ok;
}

/* Are tests asked for in which the threads have no handle in common? */
static bool only_distinct(const Lib *l)
{
    return l->contracts[CONTRACT_DISTINCT] && !l->contracts[CONTRACT_SHARED] &&
           !l->contracts[CONTRACT_CONST];
}

typedef Vec(const ApiFunction *) Creators;

/* One of these, or, if there is none, any. */
static const ApiFunction *any_creator(Lib *l, const Subject *t, const Creators *good)
{
    return good->len ? good->items[rng_below(&l->rng, good->len)]
                     : t->type->creators[rng_below(&l->rng, t->type->ncreators)].function;
}

/* Two where each thread has its own, and mostly where a call wants two. */
static unsigned count_wanted(Lib *l, const Subject *t)
{
    bool pairs = false;
    for (size_t i = 0; i < t->functions.len; i++) {
        unsigned n = 0;
        for (unsigned k = 0; k < t->functions.items[i]->nparams; k++)
            n += t->functions.items[i]->params[k].handle == t->type;
        pairs |= n > 1;
    }
    return only_distinct(l) ? 2 : 1 + (rng_below(&l->rng, pairs ? 4 : 2) != 0);
}

/* Creators, then calls. What comes out may die somewhere; that is seen when it runs. */
static Seq *grow_prefix(Lib *l, const Subject *t, Arena *a, bool bare, const Creators *good,
                        unsigned *creators)
{
    Seq *s =
        !bare && rng_below(&l->rng, 3) ? lib_example_prefix(l, a, t->type, MOST_PREFIX / 2) : NULL;
    if (s) {
        if (t->type && only_distinct(l))         /* the other thread's */
            grow_universal(&l->grow, a, s, any_creator(l, t, good));
        *creators = s->n;
        return s;
    }
    s = seq_new(a);
    unsigned handles = t->type ? count_wanted(l, t) : 0;
    for (unsigned i = 0; i < handles; i++)
        if (!grow_universal(&l->grow, a, s, any_creator(l, t, good)))
            return NULL;
    *creators = s->n;
    GrowPlan g = plan_of(l, t, s->n);
    unsigned calls = bare ? 0 : (unsigned)rng_below(&l->rng, GROWTH + 1);
    for (unsigned i = 0; i < calls && s->n < MOST_PREFIX / 2; i++) {
        const ApiFunction *f = any_function(l, t);
        Balanced pair;
        if (f && !f->observes && !lib_is_dropped(l, f) && !lib_waits(l, f) &&
            !lib_partner(l, f, t->type, &pair))
            grow_universal(&g, a, s, f);
    }
    return s;
}

/* How many of the type are there: a creator that gave NULL made none. Who made one is noted. */
static unsigned count_handles(const Lib *l, const Seq *s, const ApiType *t, Creators *good)
{
    SeqHandles all = { 0 };
    unsigned n = 0;
    seq_handles(s, l->ownership, &all);
    for (size_t i = 0; i < all.len; i++)
        if (all.items[i].type == t) {
            if (all.items[i].owned)
                vec_push(good, s->steps[all.items[i].step].f);
            n++;
        }
    vec_release(&all);
    return n;
}

/* Calls that did something: those that return an error leave an object as it was. */
static unsigned richness(const Seq *s, const Outcome *o)
{
    unsigned n = 0;
    for (unsigned i = 0; i < s->n; i++)
        n += s->steps[i].f && s->steps[i].f->takes_handle && !oracle_is_error(&s->steps[i], o, i);
    return n;
}

/* Does the prefix have the handles that its tests need? */
static bool has_handles(const Lib *l, const Seq *s, const ApiType *t, Creators *good)
{
    return !t || count_handles(l, s, t, good) >= (only_distinct(l) ? 2 : 1);
}

/* Which of them make an odd object, such as a list with itself in it: a function that only looks at
 * it fails? Functions that a call must first save from it show what another thread undoes. */
static bool find_odd(Lib *l, Arena *a, Seq *const *all, size_t n, bool *odd, Err *err)
{
    ExecJob jobs[PREFIXES];
    Outcome o[PREFIXES];
    assert(n <= PREFIXES);
    for (size_t i = 0; i < n; i++) {
        Seq *s = seq_copy(a, all[i]);
        grow_looks(&l->grow, a, s);
        jobs[i] = (ExecJob){ .seq = s };
    }
    if (n && !exec_run(l->exec, a, jobs, n, o, err))
        return false;
    for (size_t i = 0; i < n; i++)
        odd[i] = o[i].at >= all[i]->n &&
                 (o[i].state == OUTCOME_DIED ||
                  (o[i].state == OUTCOME_EXITED && o[i].status == SANITIZER_STATUS));
    return true;
}

/* The richest, or NULL; two times of three one that makes an odd object. */
static bool choose_prefix(Lib *l, Arena *a, Seq *const *all, const unsigned *rich, size_t n,
                          size_t *best, Err *err)
{
    bool odd[PREFIXES], any = false;
    if (!find_odd(l, a, all, n, odd, err))
        return false;
    for (size_t i = 0; i < n; i++)
        any |= odd[i];
    any = any && rng_below(&l->rng, 3);
    *best = n;
    for (size_t i = 0; i < n; i++)
        if ((!any || odd[i]) && (*best == n || rich[i] > rich[*best]))
            *best = i;
    return true;
}

/* Some prefixes as far as they go well. One that has the handles, or NULL. */
static bool try_prefixes(Lib *l, const Subject *t, Arena *a, bool bare, Creators *good, Seq **out,
                         unsigned *creators, Err *err)
{
    unsigned made[PREFIXES], rich[PREFIXES];
    Seq *all[PREFIXES], *fit[PREFIXES];
    ExecJob jobs[PREFIXES];
    Outcome o[PREFIXES];
    size_t n = 0, nfit = 0, best;
    for (unsigned i = 0; i < PREFIXES; i++) {
        Seq *s = grow_prefix(l, t, a, bare, good, &made[n]);
        if (s && s->n) {
            all[n] = s;
            jobs[n++] = (ExecJob){ .seq = s };
        }
    }
    *out = NULL;
    if (n && !exec_run(l->exec, a, jobs, n, o, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        Seq *s = o[i].state == OUTCOME_DONE ? all[i] : seq_prefix(a, all[i], o[i].at);
        drop_blocker(l, all[i], &o[i]);
        outcome_note_nulls(&o[i], s);
        if (!has_handles(l, s, t->type, good))
            continue;
        fit[nfit] = s;
        made[nfit] = made[i] < s->n ? made[i] : s->n;
        rich[nfit++] = richness(s, &o[i]);
    }
    if (!choose_prefix(l, a, fit, rich, nfit, &best, err))
        return false;
    if (best < nfit) {
        *out = fit[best];
        *creators = made[best];
    }
    return true;
}

/* Now and then a bare one: what a library does the first time it is asked, such as to fill a
 * table, is then left to the threads. Where creators want a file or a device that is not there,
 * it is tried again with those that made something. */
static bool make_prefix(Lib *l, const Subject *t, Arena *a, Seq **out, unsigned *creators, Err *err)
{
    Creators good = { 0 };
    bool bare = rng_below(&l->rng, BARE) == 0;
    bool ok = try_prefixes(l, t, a, bare, &good, out, creators, err);
    if (ok && !*out && good.len)
        ok = try_prefixes(l, t, a, bare, &good, out, creators, err);
    vec_release(&good);
    if (ok && !*out && !t->type) {
        *out = seq_new(a);
        *creators = 0;
    }
    return ok;
}

/* ------------------------------------------------------------- candidates */

/* Gone afterwards, or exchanged: then the other thread has none. */
static bool ends_handle(const Lib *l, const SeqStep *st)
{
    for (unsigned i = 0; i < st->nargs; i++) {
        ApiUse use = ownership_use(l->ownership, st->f, (int)i);
        if (use == USE_CONSUMES || use == USE_FINISHES ||
            st->f->params[i].role == ROLE_HANDLE_INOUT || st->f->params[i].role == ROLE_STORAGE)
            return true;
    }
    return false;
}

static bool uses_type(const SeqStep *st, const ApiType *t)
{
    for (unsigned i = 0; t && i < st->nargs; i++)
        if (st->f->params[i].handle == t && value_is_made(&st->args[i]))
            return true;
    return !t;
}

/* A struct with functions in it, such as an allocator: const does not say what these change. */
static bool has_functions(const ApiPlace *p)
{
    unsigned levels;
    const Type *t = type_pointed_record(p->type, &levels);
    for (unsigned i = 0; t && i < t->nfields; i++) {
        const Type *f = type_plain(t->fields[i].type);
        if (f->kind == TYPE_POINTER && type_plain(f->target)->kind == TYPE_FUNCTION)
            return true;
    }
    return false;
}

static bool only_looks(const ApiPlace *p)
{
    return (p->is_const || p->use == USE_OBSERVES) && !has_functions(p);
}

/* A test of the contract "const" has only calls that may not change their handles. */
static bool may_be_asked(const Lib *l, const ApiFunction *f)
{
    if (l->contracts[CONTRACT_SHARED] || l->contracts[CONTRACT_DISTINCT])
        return true;
    for (unsigned i = 0; i < f->nparams; i++)
        if (f->params[i].handle && !only_looks(&f->params[i]))
            return false;
    return true;
}

/* One call of a function; what it needs goes into the prefix, which grows. */
static bool grow_candidate(Lib *l, const Subject *t, Arena *a, const GrowPlan *g, Seq **prefix,
                           unsigned function, Candidate *out)
{
    const ApiFunction *f = t->functions.items[function];
    Seq *s = seq_copy(a, *prefix);
    Balanced pair;
    if (lib_is_dropped(l, f) || !may_be_asked(l, f) || lib_partner(l, f, t->type, &pair) ||
        !grow_universal(g, a, s, f) || s->n > MOST_PREFIX)
        return false;
    SeqStep *last = &s->steps[s->n - 1];
    if (last->f != f || ends_handle(l, last) || !uses_type(last, t->type))
        return false;
    *out = (Candidate){ .step = *last, .function = function };
    *prefix = seq_prefix(a, s, s->n - 1);
    return true;
}

/* The same call with two handles of the type exchanged, or with the first in both places;
 * false: it has not two. */
static bool vary(const Subject *t, Arena *a, const Candidate *c, bool exchange, Candidate *out)
{
    int first = -1;
    for (unsigned i = 0; t->type && i < c->step.nargs; i++) {
        if (c->step.f->params[i].handle != t->type || !value_is_made(&c->step.args[i]))
            continue;
        if (first < 0) {
            first = (int)i;
        } else if (!value_equal(&c->step.args[first], &c->step.args[i])) {
            *out = *c;
            out->step.args = arena_array(a, SeqValue, c->step.nargs + 1);
            memcpy(out->step.args, c->step.args, c->step.nargs * sizeof *c->step.args);
            if (exchange)
                out->step.args[first] = c->step.args[i];
            out->step.args[i] = c->step.args[first];
            return true;
        }
    }
    return false;
}

static Seq *with_calls(Arena *a, const Seq *prefix, const SeqStep *call, const SeqStep *next,
                       const Seq *epilogue)
{
    Seq *s = seq_new(a);
    s->n = prefix->n + 1 + (next != NULL);
    s->steps = arena_array(a, SeqStep, s->n + 1);
    memcpy(s->steps, prefix->steps, prefix->n * sizeof *s->steps);
    s->steps[prefix->n] = *call;
    if (next)
        s->steps[prefix->n + 1] = *next;
    return with_epilogue(a, s, epilogue, prefix->n);
}

static bool same_observations(const Outcome *a, const Outcome *b, unsigned step)
{
    size_t i = 0, k = 0;
    for (;; i++, k++) {
        while (i < a->nobs && a->obs[i].step != step)
            i++;
        while (k < b->nobs && b->obs[k].step != step)
            k++;
        if (i == a->nobs || k == b->nobs)
            return i == a->nobs && k == b->nobs;
        if (!observation_equal(&a->obs[i], &b->obs[k]))
            return false;
    }
}

/* Calls that may wait are not tried alone. */
static void set_aside(const Lib *l, Candidates *all, Candidates *waiting)
{
    size_t n = 0;
    for (size_t i = 0; i < all->len; i++)
        if (lib_waits(l, all->items[i].step.f))
            vec_push(waiting, all->items[i]);
        else
            all->items[n++] = all->items[i];
    all->len = n;
}

/* The last of each `times` jobs is run once more, at other addresses. */
static bool run_moved(Lib *l, Arena *a, const ExecJob *jobs, size_t n, unsigned times, Outcome *o,
                      Err *err)
{
    ExecJob *some = arena_array(a, ExecJob, n + 1);
    Outcome *got = arena_array(a, Outcome, n + 1);
    for (size_t i = 0; i < n; i++)
        some[i] = jobs[i * times + times - 1];
    bool ok = exec_run(l->moved, a, some, n, got, err);
    for (size_t i = 0; ok && i < n; i++)
        o[i * times + times - 1] = got[i];
    return ok;
}

/* Only those that go well after the prefix, the same way each time, stay. */
static bool sift(Lib *l, Subject *t, Arena *a, const Seq *prefix, const Seq *epilogue,
                 Candidates *all, Candidates *bad, Err *err)
{
    enum { TIMES = 3 };
    ExecJob *jobs = arena_array(a, ExecJob, all->len * TIMES + 1);
    Outcome *o = arena_array(a, Outcome, all->len * TIMES + 1);
    Candidates waiting = { 0 };
    set_aside(l, all, &waiting);
    for (size_t i = 0; i < all->len; i++)
        for (unsigned k = 0; k < TIMES; k++)
            jobs[i * TIMES + k] =
                (ExecJob){ .seq = with_calls(a, prefix, &all->items[i].step, NULL, epilogue),
                           .fill = k == 1   ? 0xa5
                                   : k == 2 ? 0x3c
                                            : 0,
                           .clock = 100000 * k };
    if (all->len && !(exec_run(l->exec, a, jobs, all->len * TIMES, o, err) &&
                      run_moved(l, a, jobs, all->len, TIMES, o, err))) {
        vec_release(&waiting);
        return false;
    }
    size_t n = 0;
    for (size_t i = 0; i < all->len; i++) {
        const Outcome *x = &o[i * TIMES];
        drop_blocker(l, jobs[i * TIMES].seq, &x[0]);
        bool well =
            x[0].state == OUTCOME_DONE && x[1].state == OUTCOME_DONE && x[2].state == OUTCOME_DONE;
        if (well && (!same_observations(&x[0], &x[1], prefix->n) ||
                     !same_observations(&x[0], &x[2], prefix->n))) {
            lib_drop(l, all->items[i].step.f, "it gives something else each time");
            well = false;
        } else if (!well && !lib_is_dropped(l, all->items[i].step.f))
            vec_push(bad, all->items[i]);
        t->rejected += !well;
        if (!well)
            continue;
        all->items[n] = all->items[i];
        all->items[n].errs = oracle_is_error(&all->items[n].step, &x[0], prefix->n);
        n++;
    }
    all->len = n;
    for (size_t i = 0; i < waiting.len; i++)
        vec_push(all, waiting.items[i]);
    vec_release(&waiting);
    return true;
}

static bool has_pair(const Rescue *pairs, size_t n, const Candidate *x, const Candidate *y)
{
    for (size_t i = 0; i < n; i++)
        if (pairs[i].first.function == x->function && pairs[i].second.function == y->function)
            return true;
    return false;
}

/* Calls that fail after the prefix may go well after another one: each pair of functions
 * is tried once. */
static bool rescue(Lib *l, Arena *a, const Seq *prefix, const Seq *epilogue, const Candidates *all,
                   const Candidates *bad, Rescues *out, Err *err)
{
    enum { MOST = 96 };
    ExecJob jobs[MOST];
    Outcome *o = arena_array(a, Outcome, MOST);
    Rescue pairs[MOST];
    size_t n = 0;
    for (size_t i = 0; i < bad->len && i < 6; i++)
        for (size_t k = 0; k < all->len && n < MOST; k++) {
            if (all->items[k].step.f->observes || lib_waits(l, all->items[k].step.f) ||
                has_pair(pairs, n, &all->items[k], &bad->items[i]))
                continue;
            pairs[n] = (Rescue){ all->items[k], bad->items[i], false };
            jobs[n++] = (ExecJob){ .seq = with_calls(a, prefix, &all->items[k].step,
                                                     &bad->items[i].step, epilogue) };
        }
    if (n && !exec_run(l->exec, a, jobs, n, o, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (o[i].state == OUTCOME_DONE)
            vec_push(out, pairs[i]);
    return true;
}

/* The handle in its place, and something in the others. */
static void pool_fill_rest(Lib *l, Arena *a, SeqStep *st, unsigned place, const SeqValue *handle)
{
    st->args[place] = *handle;
    pool_fill(l->pool, &l->rng, a, st);
    for (unsigned i = 0; i < st->nargs; i++)
        if (st->args[i].kind == VALUE_NONE)
            st->args[i] = value_null();
}

/* Pairs such as lock and unlock, on each handle: those that go well. */
static bool balance(Lib *l, const Subject *t, Arena *a, const Seq *prefix, const Seq *epilogue,
                    Rescues *out, Err *err)
{
    enum { MOST = 16 };
    ExecJob jobs[MOST];
    Outcome *o = arena_array(a, Outcome, MOST);
    Rescue pairs[MOST];
    size_t n = 0;
    SeqHandles all = { 0 };
    seq_handles(prefix, l->ownership, &all);
    for (unsigned f = 0; f < t->functions.len; f++) {
        Balanced b;
        if (!lib_partner(l, t->functions.items[f], t->type, &b) || lib_waits(l, b.first))
            continue;
        for (size_t h = 0; h < all.len && n < MOST; h++) {
            if (all.items[h].type != t->type)
                continue;
            Seq *s = seq_new(a);
            seq_call(a, s, b.first);
            seq_call(a, s, b.second);
            for (unsigned k = 0; k < 2; k++)
                pool_fill_rest(l, a, &s->steps[k], b.place, &all.items[h].value);
            pairs[n] = (Rescue){ { s->steps[0], f, false }, { s->steps[1], f, false }, true };
            jobs[n] =
                (ExecJob){ .seq = with_calls(a, prefix, &s->steps[0], &s->steps[1], epilogue) };
            n++;
        }
    }
    vec_release(&all);
    if (n && !exec_run(l->exec, a, jobs, n, o, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (o[i].state == OUTCOME_DONE)
            vec_push(out, pairs[i]);
    return true;
}

/* ------------------------------------------------------------------ tests */

/* A handle that both threads use. */
static bool is_shared(const Test *t, const SeqValue *v, bool *changes)
{
    bool in[2] = { false, false };
    for (unsigned k = 0; k < 2; k++)
        for (unsigned c = 0; c < t->ncalls[k]; c++)
            for (unsigned i = 0; i < t->calls[k][c].nargs; i++)
                if (value_equal(&t->calls[k][c].args[i], v)) {
                    in[k] = true;
                    *changes |= !only_looks(&t->calls[k][c].f->params[i]);
                }
    return in[0] && in[1];
}

/* Without a handle, what sets the library up shares the library. */
static bool shares_library(const Lib *l, const Test *t)
{
    for (unsigned k = 0; k < 2; k++)
        for (unsigned c = 0; c < t->ncalls[k]; c++)
            if (lib_sets_up(l, t->calls[k][c].f))
                return true;
    return false;
}

bool lib_classify(const Lib *l, Test *t)
{
    bool shared = !t->type && shares_library(l, t), all_const = true;
    for (unsigned c = 0; c < t->ncalls[0]; c++)
        for (unsigned i = 0; i < t->calls[0][c].nargs; i++) {
            const SeqValue *v = &t->calls[0][c].args[i];
            bool changes = false;
            if (!value_is_made(v) || !is_shared(t, v, &changes))
                continue;
            if (t->calls[0][c].f->params[i].handle != t->type && changes)
                return false;
            shared |= t->calls[0][c].f->params[i].handle == t->type;
            all_const &= !changes;
        }
    t->contract = !shared                ? CONTRACT_DISTINCT
                  : t->type && all_const ? CONTRACT_CONST
                                         : CONTRACT_SHARED;
    return true;
}

static unsigned *pair_of(const Subject *t, unsigned *table, unsigned i, unsigned j)
{
    return &table[i < j ? i * t->functions.len + j : j * t->functions.len + i];
}

static bool has_value(const SeqStep *st, const SeqValue *v, unsigned before)
{
    for (unsigned i = 0; i < before; i++)
        if (value_equal(&st->args[i], v))
            return true;
    return false;
}

/* Handles of the type that both calls have. */
static unsigned common(const Subject *t, const SeqStep *x, const SeqStep *y)
{
    unsigned n = 0;
    for (unsigned i = 0; i < x->nargs; i++)
        n += x->f->params[i].handle == t->type && value_is_made(&x->args[i]) &&
             !has_value(x, &x->args[i], i) && has_value(y, &x->args[i], y->nargs);
    return n;
}

/* The same function with its handles in another order: locks may be taken so, too. */
static bool is_mirrored(const SeqStep *x, const SeqStep *y)
{
    bool other = false;
    for (unsigned i = 0; x->f == y->f && i < x->nargs; i++)
        other |= value_is_made(&x->args[i]) && !value_equal(&x->args[i], &y->args[i]);
    return other;
}

static void put_call(Test *t, unsigned thread, const Candidate *c)
{
    t->calls[thread][t->ncalls[thread]++] = c->step;
}

/* Tests that no contract asks for are thrown away. Where handles may be shared, calls
 * that share none seldom meet. */
static double worth_of_contract(const Lib *l, const Subject *t, const Candidate *x,
                                const Candidate *y, unsigned shared)
{
    Test one = { .type = t->type };
    put_call(&one, 0, x);
    put_call(&one, 1, y);
    if (!lib_classify(l, &one) || !l->contracts[one.contract])
        return 0.01;
    return l->contracts[CONTRACT_SHARED] && t->type && !shared ? 0.1 : 1;
}

/* More variables in common, and near: more hidden state, and more that can go wrong. Those that tests
 * were about before count for less: of a hundred functions that share one counter a few are
 * enough. */
static double worth_of_variables(const Lib *l, const double *nearness)
{
    enum { ENOUGH = 4 }; /* tests of a variable: then it counts half */
    double n = 0;
    for (size_t v = 0; v < effects_variables(l->effects); v++)
        n += nearness[v] * ENOUGH / (ENOUGH + l->tests_of_variable[v]);
    return n < 0.05 ? 0.05 : n;
}

/* How near the variables are that two functions may meet in. */
static double *variables_of(const Lib *l, const Subject *t, size_t i, size_t j)
{
    double *nearness = xcalloc(effects_variables(l->effects) + 1, sizeof *nearness);
    effects_meet_apart(l->effects, effects_of(l->effects, t->functions.items[i]->fn),
                       effects_of(l->effects, t->functions.items[j]->fn), nearness);
    return nearness;
}

static void count_variables(Lib *l, const double *nearness, unsigned tests)
{
    for (size_t v = 0; v < effects_variables(l->effects); v++)
        l->tests_of_variable[v] += tests * nearness[v];
}

static void count_pair(Lib *l, const Subject *t, size_t i, size_t j, unsigned tests)
{
    double *nearness = variables_of(l, t, i, j);
    count_variables(l, nearness, tests);
    free(nearness);
}

/* How many tests there were of each variable, by the pairs that were tested. */
static void recount_variables(Lib *l, const Subject *t)
{
    size_t n = t->functions.len;
    for (size_t v = 0; v < effects_variables(l->effects); v++)
        l->tests_of_variable[v] = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            if (t->pairs.items[i * n + j])
                count_pair(l, t, i, j, t->pairs.items[i * n + j]);
}

/* Two calls without a common handle: a call that returns an error, such as "there is no such
 * zone", has used hidden state all the same. */
static double worth_apart(const Lib *l, const Subject *t, size_t i, size_t j)
{
    double *nearness = variables_of(l, t, i, j), n = worth_of_variables(l, nearness);
    free(nearness);
    return n;
}

/* Pairs without a test come first. Those that touched the same memory before are worth more, and calls
 * that share several handles. Those that can't conflict, by what they read and write, are worth
 * little. */
static double worth(const Lib *l, const Subject *t, const Candidate *x, const Candidate *y)
{
    unsigned tests = *pair_of(t, t->pairs.items, x->function, y->function);
    unsigned conflicts = *pair_of(t, t->conflicts.items, x->function, y->function);
    unsigned shared = common(t, &x->step, &y->step);
    bool look = x->step.f->observes && y->step.f->observes;
    if (shared > 1 && is_mirrored(&x->step, &y->step))
        shared *= 3;
    double known = (1.0 + 2.0 * (conflicts < 2 ? conflicts : 2)) / (1.0 + tests);
    double apart = worth_of_contract(l, t, x, y, shared);
    double good = (tests ? known : 8) * apart * (1.0 + shared);
    if (!t->type || !shared)
        return good * worth_apart(l, t, x->function, y->function);
    return good * (t->may_meet.items[x->function * t->functions.len + y->function] ? 1 : 0.15) *
           (look ? 0.2 : 1) * (x->errs ? 0.3 : 1) * (y->errs ? 0.3 : 1);
}

static void pick_pair(Lib *l, const Subject *t, const Candidates *all, const Candidate **x,
                      const Candidate **y)
{
    double best = -1;
    for (size_t i = 0; i < all->len; i++)
        for (size_t k = 0; k < all->len; k++) {
            double w = worth(l, t, &all->items[i], &all->items[k]) * (0.2 + rng_unit(&l->rng));
            if (w > best) {
                best = w;
                *x = &all->items[i];
                *y = &all->items[k];
            }
        }
}

/* Before this unit, or in it. */
static bool is_known(const Map *before, const Map *now, const char *key)
{
    return map_has(before, key) || map_has(now, key);
}

/* Which handles of a call the other call has: "=-" if the first of two. */
static void add_pattern(const Subject *t, const SeqStep *st, const SeqStep *other, Str *out)
{
    for (unsigned i = 0; i < st->nargs; i++)
        if (t->type && st->f->params[i].handle == t->type)
            str_addc(out, has_value(other, &st->args[i], other->nargs) ? '=' : '-');
}

/* For a call that goes well only after another: a call that may undo the first. Those
 * that were not tried with the two come first. */
static const Candidate *disturber(Lib *l, const Subject *t, const Candidates *all, const Rescue *r)
{
    const Candidate *best = NULL;
    Str key = { 0 }, chosen = { 0 };
    double most = -1;
    for (size_t i = 0; i < all->len; i++) {
        const Candidate *c = &all->items[i];
        str_reset(&key);
        str_addf(&key, "%u %u %u ", r->first.function, r->second.function, c->function);
        add_pattern(t, &c->step, &r->second.step, &key);
        double w = (is_known(&l->disturbed, &l->new_disturbed, str_c(&key)) ? 0.2 : 1) *
                   (c->step.f->observes ? 0.1 : 1) *
                   (t->type && !common(t, &r->second.step, &c->step) ? 0.1 : 1) *
                   (0.2 + rng_unit(&l->rng));
        if (w > most) {
            most = w;
            best = c;
            str_reset(&chosen);
            str_add(&chosen, str_c(&key));
        }
    }
    map_put(&l->new_disturbed, str_c(&chosen), NULL);
    str_release(&key);
    str_release(&chosen);
    return best;
}

/* Of another pair, or the same: one that shares a handle if there is one. */
static const Rescue *other_balanced(Lib *l, const Subject *t, const Rescues *all, const Rescue *r)
{
    size_t first = rng_below(&l->rng, all->len);
    const Rescue *any = NULL;
    for (size_t i = 0; i < all->len; i++) {
        const Rescue *other = &all->items[(first + i) % all->len];
        if (other->balanced && common(t, &r->first.step, &other->first.step))
            return other;
        any = other->balanced ? other : any;
    }
    return any;
}

/* Does the test have a call after which others go well that did not before? Then observers
 * that fail after the prefix alone may look, too: at what the threads left. */
static bool has_rescue(const Subject *t, const Test *test, const Rescues *rescues)
{
    for (size_t i = 0; i < rescues->len; i++)
        for (unsigned k = 0; k < 2; k++)
            for (unsigned c = 0; c < test->ncalls[k]; c++) {
                const SeqStep *st = &test->calls[k][c], *first = &rescues->items[i].first.step;
                if (!rescues->items[i].balanced && st->f == first->f &&
                    (!t->type || common(t, st, first)))
                    return true;
            }
    return false;
}

static bool make_test(Lib *l, Subject *t, const Candidates *all, const Rescues *rescues,
                      const Seq *prefix, Seq *const epilogues[2], Test *out)
{
    const Candidate *x = NULL, *y = NULL;
    const Rescue *r = rescues->len ? &rescues->items[rng_below(&l->rng, rescues->len)] : NULL;
    if (r && !rng_below(&l->rng, r->balanced ? 2 : 4))
        r = NULL;
    const Rescue *other =
        r && r->balanced && rng_below(&l->rng, 2) ? other_balanced(l, t, rescues, r) : NULL;
    if (!other && !all->len)
        return false;
    pick_pair(l, t, all, &x, &y);
    *out = (Test){ .type = t->type, .prefix = (Seq *)prefix, .epilogue = epilogues[0] };
    x = r ? &r->first : x;
    if (r)
        y = other ? &other->first : disturber(l, t, all, r);
    put_call(out, 0, x);
    put_call(out, 1, y);
    uint64_t more = rng_below(&l->rng, 4);
    if (other)
        put_call(out, 1, &other->second);
    if (r)
        put_call(out, 0, &r->second);
    else if (more & 1)
        put_call(out, 0, &all->items[rng_below(&l->rng, all->len)]);
    if (more == 3 && !r)
        put_call(out, 1, &all->items[rng_below(&l->rng, all->len)]);
    if (has_rescue(t, out, rescues))
        out->epilogue = epilogues[1];
    if (!lib_classify(l, out) || !l->contracts[out->contract])
        return false;
    Str text = { 0 };
    lib_test_print(out, &text);
    uint64_t hash = hash_bytes(text.data, text.len);
    str_reset(&text);
    str_addf(&text, "%016llx %zu", (unsigned long long)hash, l->most_runs);
    bool new = !is_known(&l->tried, &l->new_tried, str_c(&text));
    map_put(&l->new_tried, str_c(&text), NULL);
    str_release(&text);
    if (new) {
        ++*pair_of(t, t->pairs.items, x->function, y->function);
        count_pair(l, t, x->function, y->function, 1);
    }
    return new;
}

/* One function after the other; without a common handle three of four are drawn, those with
 * much hidden state more often. A large API would seldom have two of them together. Each that is
 * drawn counts as a test of its variables, so that others are drawn for theirs. */
static unsigned next_function(Lib *l, const Subject *t, uint64_t first, unsigned i)
{
    size_t n = t->functions.len, variables = effects_variables(l->effects);
    if ((t->type && !only_distinct(l)) || i % 4 == 3)
        return (unsigned)((first + i) % n);
    unsigned best = 0;
    double most = -1;
    for (unsigned f = 0; f < n; f++) {
        double w = worth_of_variables(l, t->hidden + f * variables) * (0.2 + rng_unit(&l->rng));
        if (w > most) {
            most = w;
            best = f;
        }
    }
    count_variables(l, t->hidden + best * variables, 1);
    return best;
}

bool lib_tests_make(Lib *l, Subject *t, Arena *a, Tests *out, Err *err)
{
    Candidates all = { 0 }, bad = { 0 };
    Rescues rescues = { 0 };
    Seq *prefix, *epilogue = NULL;
    unsigned creators = 0;
    recount_variables(l, t);
    if (!make_prefix(l, t, a, &prefix, &creators, err))
        return false;
    if (!prefix || !t->functions.len)
        return true;
    GrowPlan g = plan_of(l, t, creators);
    uint64_t first = rng_below(&l->rng, t->functions.len);
    for (unsigned i = 0; i < 3 * CANDIDATES && all.len < CANDIDATES; i++) {
        Candidate c;
        if (grow_candidate(l, t, a, &g, &prefix, next_function(l, t, first, i), &c)) {
            vec_push(&all, c);
            Candidate other;
            for (unsigned k = 0; k < 2; k++)
                if (vary(t, a, &c, k, &other))
                    vec_push(&all, other);
        }
    }
    recount_variables(l, t); /* without those that were drawn */
    bool ok = settle_epilogue(l, a, prefix, &epilogue, err) &&
              (!epilogue || (sift(l, t, a, prefix, epilogue, &all, &bad, err) &&
                             rescue(l, a, prefix, epilogue, &all, &bad, &rescues, err) &&
                             balance(l, t, a, prefix, epilogue, &rescues, err)));
    Seq *whole = ok && epilogue ? lib_test_close(l, a, prefix) : NULL;
    unsigned tries = only_distinct(l) ? 4 * UNIT_TESTS : UNIT_TESTS; /* few pairs are distinct */
    for (unsigned i = 0;
         ok && epilogue && (all.len || rescues.len) && i < tries && out->len < UNIT_TESTS; i++) {
        Test test;
        Seq *const both[] = { epilogue, whole };
        if (make_test(l, t, &all, &rescues, prefix, both, &test))
            vec_push(out, test);
    }
    vec_release(&all);
    vec_release(&bad);
    vec_release(&rescues);
    return ok;
}

/* The steps from one on, a line each. How far a call is from an example's is of no interest
 * here. */
static void print_steps(Arena *a, const Seq *s, unsigned from, Str *out)
{
    Seq *plain = seq_copy(a, s);
    Str all = { 0 };
    for (unsigned i = 0; i < plain->n; i++)
        plain->steps[i].divergent = plain->steps[i].closing = false;
    seq_dump(plain, &all);
    const char *p = str_c(&all);
    for (unsigned i = 0; i < from && (p = strchr(p, '\n')); i++)
        p++;
    str_add(out, p ? p : "");
    str_release(&all);
}

void lib_test_print(const Test *t, Str *out)
{
    Arena a = { 0 };
    str_add(out, "before:\n");
    print_steps(&a, t->prefix, 0, out);
    for (unsigned k = 0; k < 2; k++) {
        str_addf(out, "thread %u:\n", k + 1);
        print_steps(&a, lib_test_thread(&a, t, k), t->prefix->n, out);
    }
    str_add(out, "after:\n");
    print_steps(&a, t->epilogue, t->prefix->n, out);
    arena_release(&a);
}
