#include "engine/generate/repeat.h"
#include <assert.h>
#include <string.h>

/* A value that an object is known by in one sequence, and the step that makes it. */
typedef struct Object {
    const Seq *seq;
    SeqValue name;
} Object;

static int place_in(const SeqStep *st, const SeqValue *name)
{
    for (unsigned i = 0; i < st->nargs; i++)
        if (value_equal(&st->args[i], name))
            return (int)i;
    return API_NONE;
}

/* Does the object take part in a step? Its making is one. */
static bool takes_part(const Object *o, unsigned step)
{
    const SeqStep *st = &o->seq->steps[step];
    return step == o->name.step || value_equal(&st->target, &o->name) ||
           place_in(st, &o->name) != API_NONE;
}

/* The same call; handles are held against each other by their own histories. */
static bool same_call(const SeqStep *x, const SeqStep *y)
{
    if (x->f != y->f || x->field != y->field || x->storage != y->storage || x->nargs != y->nargs)
        return false;
    for (unsigned i = 0; i < x->nargs; i++)
        if (value_is_made(&x->args[i]) != value_is_made(&y->args[i]) ||
            (!value_is_made(&x->args[i]) && !value_equal(&x->args[i], &y->args[i])))
            return false;
    return true;
}

/* A step of the example that leaves things alone needs not be done. */
static bool may_be_left_out(const SeqStep *st) { return st->f && st->f->observes; }

static bool same_result(const SeqStep *example, const Outcome *o, unsigned step)
{
    const Observation *got = outcome_at(o, step, API_RETURNED);
    const SeqValue *want = &example->expected;
    if (!got)
        return true;
    switch (want->kind) {
    case VALUE_INTEGER:
        return got->kind != OBSERVED_INTEGER ||
               got->integer == (uint64_t)api_meaning(example->f, want->integer);
    case VALUE_NULL: return got->kind == OBSERVED_NULL || got->kind == OBSERVED_INTEGER;
    case VALUE_SELF: return got->kind != OBSERVED_NULL;
    case VALUE_STRING:
        return got->kind != OBSERVED_NULL &&
               (got->kind != OBSERVED_STRING ||
                (got->n == want->n && (!want->n || memcmp(got->bytes, want->bytes, want->n) == 0)));
    default: return true;
    }
}

const Observation *sequence_differs(const Seq *s, unsigned step, const Outcome *o)
{
    assert(step < s->n);
    return same_result(&s->steps[step], o, step) ? NULL : outcome_at(o, step, API_RETURNED);
}

/* Are the steps of an object among those of one of the example's? */
static bool same_history(const Object *x, const Object *example, const Outcome *o)
{
    unsigned at = 0;
    for (unsigned i = 0; i < x->seq->n; i++) {
        const SeqStep *st = &x->seq->steps[i];
        if (!takes_part(x, i) || st->closing)
            continue;
        while (at < example->seq->n &&
               (!takes_part(example, at) || (may_be_left_out(&example->seq->steps[at]) &&
                                             !same_call(st, &example->seq->steps[at]))))
            at++;
        if (at >= example->seq->n)
            return false;
        const SeqStep *was = &example->seq->steps[at++];
        if (was->divergent || !same_call(st, was) ||
            place_in(st, &x->name) != place_in(was, &example->name) ||
            (st->f && i + 1 < x->seq->n && !same_result(was, o, i)))
            return false;
    }
    return true;
}

/* The example's object with this name in a replay did the same. */
static bool has_history(const Usage *m, const Object *x, const Outcome *o)
{
    size_t n;
    Seq *const *all = usage_replays(m, &n);
    const SeqStep *maker = &x->seq->steps[x->name.step];
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < all[i]->n; k++) {
            Object example = { all[i], x->name };
            example.name.step = k;
            if (same_call(maker, &all[i]->steps[k]) && same_history(x, &example, o))
                return true;
        }
    return false;
}

/* A call with no object: made so by the example. */
static bool was_made(const Usage *m, const SeqStep *st, const Outcome *o, unsigned step)
{
    size_t n;
    Seq *const *all = usage_replays(m, &n);
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < all[i]->n; k++)
            if (!all[i]->steps[k].divergent && same_call(st, &all[i]->steps[k]) &&
                same_result(&all[i]->steps[k], o, step))
                return true;
    return false;
}

/* Objects by the names that later steps use, or would. */
static bool object_is_known(const Usage *m, const Seq *s, SeqValue name, const Outcome *o)
{
    Object x = { s, name };
    return has_history(m, &x, o);
}

/* Calls that set the library up come before all others, in replays too. */
static bool is_set_up(const Usage *m, const Seq *s)
{
    size_t n;
    Seq *const *all = usage_replays(m, &n);
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < all[i]->n && all[i]->steps[k].prologue; k++) {
            bool found = false;
            for (unsigned j = 0; j < s->n && !found; j++)
                found = same_call(&s->steps[j], &all[i]->steps[k]);
            if (!found)
                return false;
        }
    return true;
}

/* Bytes that were taken for a text end at the first zero; the example may have had more. */
static bool has_cut_bytes(const SeqStep *st)
{
    for (unsigned i = 0; st->f && i < st->nargs; i++) {
        const Type *t = type_plain(st->f->params[i].type);
        if (st->args[i].kind == VALUE_STRING && t->kind == TYPE_POINTER &&
            !type_is_char(t->target) && type_plain(t->target)->kind != TYPE_VOID)
            return true;
    }
    return false;
}

/* Bytes in place of the library's own memory: it may look before the first, for a length, say, or
 * know how many there are. */
static bool has_bare_bytes(const SeqStep *st)
{
    for (unsigned i = 0; st->f && i < st->nargs; i++)
        if (st->args[i].bare)
            return true;
    return false;
}

bool sequence_repeats(const Usage *m, const Seq *s, const Outcome *o)
{
    if (!is_set_up(m, s))
        return false;
    for (unsigned i = 0; i < s->n; i++)
        if (has_cut_bytes(&s->steps[i]) || has_bare_bytes(&s->steps[i]))
            return false;
    for (unsigned i = 0; i < s->n; i++) {
        const SeqStep *st = &s->steps[i];
        bool objects = st->storage || st->field;
        if (st->storage && !object_is_known(m, s, value_storage(i, 0), o))
            return false;
        for (unsigned k = 0; st->f && k < st->nargs; k++) {
            const ApiPlace *p = &st->f->params[k];
            bool room = st->args[k].kind == VALUE_ROOM && p->handle;
            bool storage = p->role != ROLE_HANDLE_OUT;
            objects |= value_is_made(&st->args[k]) || room;
            if (room &&
                !object_is_known(m, s, storage ? value_storage(i, k) : value_stored(i, k), o))
                return false;
        }
        if (st->f && st->f->result.handle) {
            objects = true;
            if (!object_is_known(m, s, value_result(i), o))
                return false;
        }
        if (!objects && !st->closing && !was_made(m, st, o, i))
            return false;
    }
    return true;
}
