/*
 * The oracle: a test runs on both sides, each in a process of its own, and the first call
 * that differs counts.
 *
 *     candidate     reference        what is said
 *     fails         ends             crash
 *     fails         fails            nothing: the test is not legal
 *     ends          fails            nothing: the candidate is more tolerant
 *     ENOTSUP       works            removed
 *     ends          ends, other      output
 *
 * Outputs are integers, texts, bytes up to their length, scalars of structs, floats within
 * a few units in the last place, errno if both failed, and the number of callbacks. A pointer
 * is NULL, not NULL, or that of an earlier call that is still alive.
 */
#include "technique/substitutes/substitutes_int.h"
#include "base/escape.h"
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ULPS = 4 };

/* ---- translation */

static int reference_place(const CallMap *c, int place)
{
    if (place < 0)
        return place;
    for (unsigned i = 0; i < c->to->nparams; i++)
        if (c->args[i].place == place)
            return (int)i;
    return API_NONE;
}

static const CallMap *map_of(const Pair *p, const ApiFunction *f)
{
    assert(f->index < p->side[SIDE_CANDIDATE].api->nfunctions);
    return &p->calls[f->index];
}

/* A value that an earlier step made: the same on the reference. False: it is not there. */
static bool move_value(const Pair *p, const Seq *s, SeqValue *v)
{
    if (v->kind != VALUE_STORED && v->kind != VALUE_STORAGE)
        return true;
    const ApiFunction *f = s->steps[v->step].f;
    if (!f)
        return true;
    int place = reference_place(map_of(p, f), (int)v->param);
    v->param = place < 0 ? 0 : (unsigned)place;
    return place >= 0;
}

static bool translate_call(const Pair *p, Arena *a, const Seq *s, const SeqStep *st, SeqStep *out)
{
    const CallMap *c = map_of(p, st->f);
    if (!c->to)
        return false;
    out->f = c->to;
    out->nargs = c->to->nparams;
    out->args = arena_array(a, SeqValue, out->nargs + 1);
    for (unsigned i = 0; i < out->nargs; i++) {
        const ArgFrom *from = &c->args[i];
        if (from->place >= (int)st->nargs)
            return false;
        out->args[i] = from->place >= 0 ? st->args[from->place] : from->value;
        if (!move_value(p, s, &out->args[i]))
            return false;
    }
    return true;
}

Seq *translate(const Pair *p, Arena *a, const Seq *s)
{
    Seq *out = seq_copy(a, s);
    for (unsigned i = 0; i < s->n; i++) {
        SeqStep *st = &out->steps[i];
        if (s->steps[i].f ? !translate_call(p, a, s, &s->steps[i], st)
                          : !move_value(p, s, &st->target))
            return NULL;
        for (unsigned k = 0; !s->steps[i].f && k < st->nargs; k++)
            if (!move_value(p, s, &st->args[k]))
                return NULL;
    }
    return out;
}

/* ---- values */

bool outcome_failed(const Outcome *o)
{
    return o->state == OUTCOME_DIED || o->state == OUTCOME_EXITED;
}

static int64_t as_signed(const ApiFunction *f, const Observation *o)
{
    const Type *t = f->result.type ? type_plain(f->result.type) : NULL;
    return t && t->size == 4 ? (int32_t)o->integer : (int64_t)o->integer;
}

/* NULL, -1 or another small negative number. */
static bool is_error(const ApiFunction *f, const Outcome *o, unsigned step)
{
    const Observation *r = outcome_at(o, step, API_RETURNED);
    const Type *t = f->result.type ? type_plain(f->result.type) : NULL;
    if (!r)
        return false;
    if (r->kind == OBSERVED_NULL)
        return true;
    bool is_signed = t && (t->kind == TYPE_ENUM || t->encoding == ENCODING_SIGNED);
    return r->kind == OBSERVED_INTEGER && is_signed && t->size >= 4 && as_signed(f, r) < 0 &&
           as_signed(f, r) > -4096;
}

static bool says_unsupported(const ApiFunction *f, const Outcome *o, unsigned step)
{
    const Observation *r = outcome_at(o, step, API_RETURNED),
                      *e = outcome_at(o, step, OBSERVED_ERRNO);
    int64_t v = r && r->kind == OBSERVED_INTEGER ? as_signed(f, r) : 0;
    return is_error(f, o, step) && (v == -ENOSYS || v == -ENOTSUP ||
                                    (e && (e->integer == ENOSYS || e->integer == ENOTSUP)));
}

static bool close_enough(double x, double y)
{
    if (x == y || (isnan(x) && isnan(y)))
        return true;
    int64_t a, b;
    memcpy(&a, &x, sizeof a);
    memcpy(&b, &y, sizeof b);
    return (a < 0) == (b < 0) && llabs(a - b) <= MOST_ULPS;
}

static bool is_text(const ApiPlace *p)
{
    const Type *t = p->type ? type_plain(p->type) : NULL;
    t = t && t->kind == TYPE_POINTER ? type_plain(t->target) : NULL;
    return t && t->kind == TYPE_SCALAR && t->size == 1 && strcmp(t->name, "char") == 0;
}

/* How many of the bytes that came out count. */
static size_t bytes_that_count(const ApiFunction *f, const Outcome *o, const Observation *b)
{
    if (b->place < 0 || b->place >= (int)f->nparams)
        return b->n;
    const ApiPlace *p = &f->params[b->place];
    const Observation *r = outcome_at(o, b->step, API_RETURNED);
    const Observation *length = p->partner >= 0 && f->params[p->partner].role == ROLE_LENGTH_INOUT
                                    ? outcome_at(o, b->step, p->partner)
                                    : NULL;
    if (p->role != ROLE_BUFFER_OUT)
        return b->n;
    if (length && length->integer <= b->n)
        return (size_t)length->integer;
    if (is_text(p))
        return strnlen((const char *)b->bytes, b->n);
    if (r && r->kind == OBSERVED_INTEGER && r->integer > 0 && r->integer <= b->n)
        return (size_t)r->integer;
    return b->n;
}

/* Is a handle of an earlier step still there? Else its address may be used again. */
static bool is_alive(const Pair *p, const Seq *s, const Observation *o)
{
    Seq before = { s->steps, o->step };
    SeqHandles all = { 0 };
    bool found = false;
    if (o->kind != OBSERVED_SAME || o->same_step >= o->step)
        return false;
    seq_handles(&before, p->ownership, &all);
    for (size_t i = 0; i < all.len && !found; i++)
        found = all.items[i].step == o->same_step && all.items[i].place == o->same_place;
    vec_release(&all);
    return found;
}

static bool is_pointer(const Observation *o)
{
    return o->kind == OBSERVED_SAME || o->kind == OBSERVED_HANDLE || o->kind == OBSERVED_UNREADABLE;
}

static bool same_pointer(const Pair *p, const Seq *s, const Observation *r, const Observation *c)
{
    if (!is_alive(p, s, c) || r->kind == OBSERVED_UNREADABLE || c->kind == OBSERVED_UNREADABLE)
        return true;
    return r->kind == OBSERVED_SAME && r->same_step == c->same_step;
}

static bool equal(const Pair *p, const Seq *s, const Outcome *ref, const Outcome *cand,
                  const Observation *r, const Observation *c)
{
    const ApiFunction *f = s->steps[c->step].f, *to = map_of(p, f)->to;
    if (is_pointer(r) && is_pointer(c))
        return same_pointer(p, s, r, c);
    if ((is_pointer(r) && r->kind == OBSERVED_UNREADABLE && c->kind != OBSERVED_NULL) ||
        (c->kind == OBSERVED_UNREADABLE && r->kind != OBSERVED_NULL))
        return true;
    if (r->kind != c->kind)
        return false;
    switch (c->kind) {
    case OBSERVED_FLOAT: return close_enough(r->real, c->real);
    case OBSERVED_BYTES: {
        size_t n = bytes_that_count(to, ref, r), m = bytes_that_count(f, cand, c);
        return n == m && memcmp(r->bytes, c->bytes, n) == 0;
    }
    case OBSERVED_STRING:
    case OBSERVED_LONG: return r->n == c->n && memcmp(r->bytes, c->bytes, r->n) == 0;
    case OBSERVED_INTEGER:
    case OBSERVED_ERRNO_IS:
    case OBSERVED_CALLBACKS_ARE: return r->integer == c->integer;
    default: return true;
    }
}

/* ---- one step */

/* Nothing is said of the call: its result has no meaning, or it is no common one. */
static bool compares(const Pair *p, const SeqStep *st)
{
    return st->f && map_of(p, st->f)->common && !map_of(p, st->f)->ignored;
}

static bool result_differs(const Pair *p, const Seq *s, unsigned step, const Outcome *ref,
                           const Outcome *cand, Divergence *out)
{
    const ApiFunction *f = s->steps[step].f, *to = map_of(p, f)->to;
    const Observation *c = outcome_at(cand, step, API_RETURNED),
                      *r = outcome_at(ref, step, API_RETURNED);
    if (!c || !r || equal(p, s, ref, cand, r, c))
        return false;
    out->place = API_RETURNED;
    bool fails = is_error(f, cand, step), there = is_error(to, ref, step);
    if (fails && there && says_unsupported(f, cand, step))
        return false;                        /* removed: told where the reference works */
    out->fails = fails && !there;
    out->weak = fails && there;
    out->kind =
        out->fails && says_unsupported(f, cand, step) ? DIFFERENCE_REMOVED : DIFFERENCE_OUTPUT;
    return true;
}

/* Parameters, fields, callbacks: what the candidate has and the reference has otherwise. */
static bool places_differ(const Pair *p, const Seq *s, unsigned step, const Outcome *ref,
                          const Outcome *cand, Divergence *out)
{
    const CallMap *c = map_of(p, s->steps[step].f);
    for (size_t i = 0; i < cand->nobs; i++) {
        const Observation *o = &cand->obs[i];
        if (o->step != step || o->place == API_RETURNED || o->place == OBSERVED_ERRNO ||
            o->place == OBSERVED_STDOUT || o->place == OBSERVED_FILES)
            continue;
        int place =
            o->place >= OBSERVED_FIELD || o->place < 0 ? o->place : reference_place(c, o->place);
        const Observation *r = place == API_NONE ? NULL : outcome_at(ref, step, place);
        if (!r && o->place < OBSERVED_FIELD)
            continue;
        if (r && equal(p, s, ref, cand, r, o))
            continue;
        out->place = o->place;
        return true;
    }
    return false;
}

static bool same_bytes(const Observation *r, const Observation *c)
{
    size_t n = r ? r->n : 0, m = c ? c->n : 0;
    return n == m && (!n || memcmp(r->bytes, c->bytes, n) == 0);
}

/* An object that is open may have bytes that it did not write yet. */
static bool all_closed(const Pair *p, const Seq *s)
{
    SeqHandles all = { 0 };
    bool open = false;
    seq_handles(s, p->ownership, &all);
    for (size_t i = 0; i < all.len; i++)
        open |= all.items[i].owned;
    vec_release(&all);
    return !open;
}

/* Standard output; and of the last call the files that are there then. */
static bool writes_differ(const Pair *p, const Seq *s, unsigned step, const Outcome *ref,
                          const Outcome *cand, Divergence *out)
{
    static const int places[] = { OBSERVED_STDOUT, OBSERVED_FILES };
    for (int i = 0; i < 2; i++) {
        bool compare = places[i] == OBSERVED_STDOUT || (step == s->n - 1 && all_closed(p, s));
        out->place = places[i];
        if (compare &&
            !same_bytes(outcome_at(ref, step, places[i]), outcome_at(cand, step, places[i])))
            return true;
    }
    return false;
}

static bool errno_differs(unsigned step, const Outcome *ref, const Outcome *cand, Divergence *out)
{
    const Observation *c = outcome_at(cand, step, OBSERVED_ERRNO),
                      *r = outcome_at(ref, step, OBSERVED_ERRNO);
    if (!c || !r || !c->integer || !r->integer || c->integer == r->integer)
        return false;
    out->place = OBSERVED_ERRNO;
    out->weak = true;
    return true;
}

/* Parameters that say what went wrong. */
static bool is_about_error(const ApiFunction *f, int place)
{
    return place >= 0 && place < (int)f->nparams &&
           (strcasestr(f->params[place].name, "err") || strcasestr(f->params[place].name, "msg"));
}

static bool error_differs(const Pair *p, const Seq *s, unsigned step, const Outcome *ref,
                          const Outcome *cand, Divergence *out)
{
    const ApiFunction *f = s->steps[step].f;
    for (int i = 0; i < (int)f->nparams; i++) {
        int place = is_about_error(f, i) ? reference_place(map_of(p, f), i) : API_NONE;
        const Observation *c = outcome_at(cand, step, i),
                          *r = place == API_NONE ? NULL : outcome_at(ref, step, place);
        out->place = i;
        out->weak = true;
        if (c && r && !equal(p, s, ref, cand, r, c))
            return true;
    }
    return false;
}

static bool step_differs(const Pair *p, const Seq *s, unsigned step, const Outcome *ref,
                         const Outcome *cand, Divergence *out)
{
    const ApiFunction *f = s->steps[step].f, *to = map_of(p, f)->to;
    *out = (Divergence){ .kind = DIFFERENCE_OUTPUT, .step = step, .first = -1 };
    if (result_differs(p, s, step, ref, cand, out))
        return true;
    if (is_error(f, cand, step) && is_error(to, ref, step))
        return errno_differs(step, ref, cand, out) || error_differs(p, s, step, ref, cand, out);
    return places_differ(p, s, step, ref, cand, out) || writes_differ(p, s, step, ref, cand, out);
}

/* An object that only one side could create: nothing can be compared from here on. */
static bool creation_differs(const Pair *p, const Seq *s, unsigned step, const Outcome *ref,
                             const Outcome *cand)
{
    const SeqStep *st = &s->steps[step];
    if (!st->f || compares(p, st))
        return false;
    const Observation *c = outcome_at(cand, step, API_RETURNED),
                      *r = outcome_at(ref, step, API_RETURNED);
    return c && r && (c->kind == OBSERVED_NULL) != (r->kind == OBSERVED_NULL);
}

/* ---- whole */

/* The first step before `end` whose output differs; false: none, or none can be told. */
static bool first_output(const Pair *p, const Seq *s, unsigned end, const Outcome *ref,
                         const Outcome *cand, Divergence *out)
{
    for (unsigned i = 0; i < end; i++) {
        if (creation_differs(p, s, i, ref, cand))
            return false;
        if (compares(p, &s->steps[i]) && step_differs(p, s, i, ref, cand, out))
            return true;
    }
    return false;
}

/* Does a call up to this one get a handle that came out as NULL? Nobody would do that. */
static bool uses_null(const Seq *s, unsigned end, const Outcome *cand)
{
    for (unsigned i = 0; i <= end; i++)
        for (unsigned k = 0; s->steps[i].f && k < s->steps[i].nargs; k++) {
            const SeqValue *v = &s->steps[i].args[k];
            int place = v->kind == VALUE_RESULT ? API_RETURNED : (int)v->param;
            if (v->kind != VALUE_RESULT && v->kind != VALUE_STORED)
                continue;
            const Observation *o = outcome_at(cand, v->step, place);
            if (o && o->kind == OBSERVED_NULL)
                return true;
        }
    return false;
}

static bool crash_differs(const Pair *p, const Seq *s, const Outcome *ref, const Outcome *cand,
                          Divergence *out)
{
    Divergence before;
    unsigned at = cand->at < s->n ? cand->at : s->n - 1;
    const ApiFunction *f = s->steps[at].f;
    if (!f || !map_of(p, f)->common || ref->state != OUTCOME_DONE)
        return false;
    for (unsigned i = 0; i < at; i++)
        if (creation_differs(p, s, i, ref, cand))
            return false;
    if (uses_null(s, at, cand))
        return !p->all->crash_only && first_output(p, s, at, ref, cand, out);
    *out = (Divergence){ .kind = DIFFERENCE_CRASH,
                         .step = at,
                         .place = API_RETURNED,
                         .first = -1,
                         .signal = cand->state == OUTCOME_DIED ? cand->signal : 0 };
    if (first_output(p, s, at, ref, cand, &before) && !before.weak)
        out->first = (int)before.step;
    return true;
}

bool oracle_compare(const Pair *p, const Seq *s, const Outcome *reference, const Outcome *candidate,
                    Divergence *out)
{
    if (outcome_failed(candidate))
        return crash_differs(p, s, reference, candidate, out);
    if (candidate->state != OUTCOME_DONE || reference->state != OUTCOME_DONE || p->all->crash_only)
        return false;
    return first_output(p, s, s->n, reference, candidate, out);
}

bool oracle_same(const Divergence *a, const Divergence *b)
{
    return a->kind == b->kind && a->weak == b->weak && a->fails == b->fails &&
           (a->kind == DIFFERENCE_CRASH || a->place == b->place);
}

bool oracle_try(Pair *p, Arena *a, const Seq *s, unsigned fill, int64_t clock, Outcome out[NSIDES],
                bool *differs, Divergence *how, Err *err)
{
    const Seq *there = translate(p, a, s);
    *differs = false;
    if (!there)
        return true;
    for (int i = 0; i < NSIDES; i++) {
        ExecJob job = { .seq = i == SIDE_CANDIDATE ? s : there, .fill = fill, .clock = clock };
        p->runs[i]++;
        if (!exec_run(p->side[i].exec, a, &job, 1, &out[i], err))
            return false;
    }
    *differs = oracle_compare(p, s, &out[SIDE_REFERENCE], &out[SIDE_CANDIDATE], how);
    return true;
}

/* ---- words */

static void say_value(const Observation *o, const Type *t, size_t n, Str *out)
{
    enum { MOST = 60 };
    int64_t v = t && t->size == 4 ? (int32_t)o->integer : (int64_t)o->integer;
    switch (o->kind) {
    case OBSERVED_INTEGER: str_addf(out, "%" PRId64, v); break;
    case OBSERVED_ERRNO_IS: str_addf(out, "errno %" PRId64, (int64_t)o->integer); break;
    case OBSERVED_CALLBACKS_ARE: str_addf(out, "%" PRId64 " callbacks", (int64_t)o->integer); break;
    case OBSERVED_FLOAT: str_addf(out, "%.17g", o->real); break;
    case OBSERVED_NULL: str_add(out, "NULL"); break;
    case OBSERVED_HANDLE: str_add(out, "not NULL"); break;
    case OBSERVED_UNREADABLE: str_add(out, "a pointer that can't be read"); break;
    case OBSERVED_SAME: str_addf(out, "the same as in step %u", o->same_step + 1); break;
    default:
        str_addc(out, '"');
        escape_c_string(out, (const char *)o->bytes, n < MOST ? n : MOST);
        str_add(out, n > MOST ? "…\"" : "\"");
    }
}

/* The place of a divergence as a side has it. */
static int place_on(const Pair *p, const Seq *s, SideOf side, const Divergence *d)
{
    return d->place >= 0 && d->place < OBSERVED_FIELD && side == SIDE_REFERENCE
               ? reference_place(map_of(p, s->steps[d->step].f), d->place)
               : d->place;
}

const Observation *oracle_at(const Pair *p, const Seq *s, const Outcome *o, SideOf side,
                             const Divergence *d)
{
    return outcome_at(o, d->step, place_on(p, s, side, d));
}

void oracle_say(const Pair *p, const Seq *s, const Outcome *o, SideOf side, const Divergence *d,
                Str *out)
{
    const ApiFunction *f = s->steps[d->step].f;
    const CallMap *c = map_of(p, f);
    int place = place_on(p, s, side, d);
    if (outcome_failed(o)) {
        if (o->state == OUTCOME_DIED)
            str_addf(out, "dies of signal %d", o->signal);
        else
            str_add(out, "ends the process");
        return;
    }
    const Observation *v = outcome_at(o, d->step, place);
    const ApiFunction *own = side == SIDE_REFERENCE ? c->to : f;
    if (d->kind == DIFFERENCE_CRASH && !v) {
        str_add(out, "returns");
    } else if (place == API_RETURNED) {
        str_add(out, "returns ");
        say_value(v, own->result.type ? type_plain(own->result.type) : NULL, v->n, out);
    } else if (place >= 0 && place < OBSERVED_FIELD) {
        str_addf(out, "%s is ", own->params[place].name);
        if (v)
            say_value(v, NULL, bytes_that_count(own, o, v), out);
    } else if (place == OBSERVED_STDOUT || place == OBSERVED_FILES) {
        str_add(out, place == OBSERVED_STDOUT ? "writes " : "leaves the files ");
        if (v)
            say_value(v, NULL, v->n, out);
        else
            str_add(out, place == OBSERVED_STDOUT ? "nothing" : "none");
    } else if (v) {
        say_value(v, NULL, v->n, out);
    } else {
        str_add(out, "leaves it as it is");
    }
}
