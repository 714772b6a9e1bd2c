#include "engine/sequence/sequence.h"
#include "base/escape.h"
#include "engine/sequence/ownership.h"
#include <assert.h>
#include <string.h>

enum { FIRST_ROOM = 16 };

Seq *seq_new(Arena *a)
{
    Seq *s = arena_new(a, Seq);
    s->steps = arena_array(a, SeqStep, FIRST_ROOM);
    return s;
}

/* There is room for FIRST_ROOM steps, then for the next power of two. */
static void make_room(Arena *a, Seq *s)
{
    if (s->n < FIRST_ROOM || (s->n & (s->n - 1)))
        return;
    SeqStep *more = arena_array(a, SeqStep, s->n * 2);
    memcpy(more, s->steps, s->n * sizeof *more);
    s->steps = more;
}

static SeqStep *add_step(Arena *a, Seq *s, unsigned nargs)
{
    assert(s->n < SEQ_LIMIT);
    make_room(a, s);
    SeqStep *st = &s->steps[s->n++];
    *st = (SeqStep){ .args = arena_array(a, SeqValue, nargs + 1), .nargs = nargs };
    return st;
}

SeqStep *seq_call(Arena *a, Seq *s, const ApiFunction *f)
{
    assert(f && !(f->nparams && !f->params));
    SeqStep *st = add_step(a, s, f->nparams);
    st->f = f;
    return st;
}

SeqStep *seq_set(Arena *a, Seq *s, SeqValue target, const Field *field, SeqValue v)
{
    assert(field && value_is_made(&target) && target.step < s->n);
    SeqStep *st = add_step(a, s, 1);
    st->target = target;
    st->field = field;
    st->args[0] = v;
    return st;
}

SeqStep *seq_storage(Arena *a, Seq *s, const ApiType *t)
{
    assert(t);
    SeqStep *st = add_step(a, s, 1);
    st->storage = t;
    st->args[0] = value_room(t->size);
    return st;
}

static SeqValue moved(Arena *a, const SeqValue *v, unsigned by)
{
    SeqValue c = value_copy(a, v);
    if (value_is_made(v))
        c.step += by;
    return c;
}

void seq_append(Arena *a, Seq *s, const Seq *more)
{
    unsigned by = s->n;
    for (unsigned i = 0; i < more->n && s->n < SEQ_LIMIT; i++) {
        const SeqStep *from = &more->steps[i];
        SeqStep *st = add_step(a, s, from->nargs);
        SeqValue *args = st->args;
        *st = *from;
        st->args = args;
        st->target = moved(a, &from->target, by);
        for (unsigned k = 0; k < from->nargs; k++)
            st->args[k] = moved(a, &from->args[k], by);
    }
}

Seq *seq_copy(Arena *a, const Seq *s)
{
    Seq *c = seq_new(a);
    seq_append(a, c, s);
    return c;
}

/* Does nobody say how long the memory is? */
static bool has_open_end(const SeqStep *st, unsigned i, bool results)
{
    const SeqValue *v = &st->args[i];
    const ApiFunction *shape_of = st->f->shape_of;
    if (v->kind == VALUE_STRING)
        return !results && shape_of && i >= shape_of->nparams;
    if (i >= st->f->nparams || st->f->params[i].partner != API_NONE)
        return false;
    ApiRole role = st->f->params[i].role;
    bool room = role == ROLE_OUT || role == ROLE_STRING_OUT || role == ROLE_BUFFER_OUT ||
                role == ROLE_RECORD;
    if (v->kind == VALUE_BYTES)
        return !results || role == ROLE_BUFFER_OUT;
    return v->kind == VALUE_ROOM && !v->given && room;
}

Seq *seq_with_room(Arena *a, const Seq *s, bool results)
{
    enum { ROOM = 960 };
    Seq *c = seq_copy(a, s);
    bool any = false;
    for (unsigned i = 0; i < c->n; i++)
        for (unsigned k = 0; c->steps[i].f && k < c->steps[i].nargs; k++) {
            SeqValue *v = &c->steps[i].args[k];
            if (!has_open_end(&c->steps[i], k, results))
                continue;
            uint8_t *more = arena_array(a, uint8_t, v->n + ROOM);
            if (v->n && v->bytes)
                memcpy(more, v->bytes, v->n);
            v->bytes = more;
            v->n += ROOM;
            any = true;
        }
    return any ? c : NULL;
}

Seq *seq_prefix(Arena *a, const Seq *s, unsigned n)
{
    Seq part = { s->steps, n < s->n ? n : s->n };
    return seq_copy(a, &part);
}

/* A copy of a step at the end; what stood at `at` or behind it has moved. */
static void append_moved(Arena *a, Seq *s, const SeqStep *from, unsigned at, unsigned by)
{
    SeqStep *st = add_step(a, s, from->nargs);
    SeqValue *args = st->args;
    *st = *from;
    st->args = args;
    st->target = moved(a, &from->target, from->target.step >= at ? by : 0);
    for (unsigned k = 0; k < from->nargs; k++)
        st->args[k] = moved(a, &from->args[k], from->args[k].step >= at ? by : 0);
}

Seq *seq_with(Arena *a, const Seq *s, unsigned at, const SeqStep *more, unsigned n)
{
    assert(at <= s->n);
    if (s->n + n > SEQ_LIMIT)
        return NULL;
    Seq *c = seq_new(a);
    for (unsigned i = 0; i < at; i++)
        append_moved(a, c, &s->steps[i], at, 0);
    for (unsigned i = 0; i < n; i++)
        append_moved(a, c, &more[i], at, 0);
    for (unsigned i = at; i < s->n; i++)
        append_moved(a, c, &s->steps[i], at, n);
    return c;
}

static bool needs(const SeqValue *v, const bool *gone) { return value_is_made(v) && gone[v->step]; }

Seq *seq_without(Arena *a, const Seq *s, unsigned step)
{
    assert(step < s->n);
    bool gone[SEQ_LIMIT] = { false };
    unsigned number[SEQ_LIMIT], n = 0;
    for (unsigned i = 0; i < s->n; i++) {
        const SeqStep *st = &s->steps[i];
        gone[i] = i == step || needs(&st->target, gone);
        for (unsigned k = 0; k < st->nargs; k++)
            gone[i] |= needs(&st->args[k], gone);
        number[i] = n;
        n += !gone[i];
    }
    if (!n)
        return NULL;
    Seq *c = seq_new(a);
    for (unsigned i = 0; i < s->n; i++) {
        if (gone[i])
            continue;
        Seq one = { &s->steps[i], 1 };
        seq_append(a, c, &one);
        SeqStep *st = &c->steps[c->n - 1];
        st->target = s->steps[i].target;
        if (value_is_made(&st->target))
            st->target.step = number[st->target.step];
        for (unsigned k = 0; k < st->nargs; k++)
            if (value_is_made(&st->args[k]))
                st->args[k].step = number[s->steps[i].args[k].step];
    }
    return c;
}

bool seq_equal(const Seq *a, const Seq *b)
{
    if (a->n != b->n)
        return false;
    for (unsigned i = 0; i < a->n; i++) {
        const SeqStep *x = &a->steps[i], *y = &b->steps[i];
        if (x->f != y->f || x->nargs != y->nargs || x->field != y->field ||
            x->storage != y->storage || !value_equal(&x->target, &y->target))
            return false;
        for (unsigned k = 0; k < x->nargs; k++)
            if (!value_equal(&x->args[k], &y->args[k]))
                return false;
    }
    return true;
}

/* ---- invariants */

/* What was made before: by a call, or storage. */
static void check_value(const Seq *s, unsigned step, const SeqValue *v)
{
    assert(v->kind != VALUE_SELF);               /* only in a usage */
    assert(!v->n || v->bytes || v->kind == VALUE_ROOM || v->kind == VALUE_STRING);
    if (v->kind == VALUE_WITHIN)
        assert(s->steps[step].f && v->param < s->steps[step].nargs &&
               s->steps[step].args[v->param].kind != VALUE_WITHIN);
    for (size_t i = 0; i < v->nlinks; i++) {
        assert(v->links[i].offset + sizeof(void *) <= v->n && !value_is_made(&v->links[i].value));
        check_value(s, step, &v->links[i].value);
    }
    if (!value_is_made(v))
        return;
    assert(v->step < step);
    const SeqStep *maker = &s->steps[v->step];
    assert(maker->f || maker->storage);
    if (v->kind != VALUE_RESULT)
        assert(v->param < maker->nargs);
}

bool seq_same_table(const Seq *s, const SeqValue *made, const ApiFunction *f)
{
    if (!value_is_made(made) || !f->slot)
        return true;
    const ApiFunction *maker = s->steps[made->step].f;
    return !maker || !maker->slot || strcmp(maker->slot->variable, f->slot->variable) == 0;
}

/* Is a value gone before a step: given back itself, or lent by what was given back? */
static bool is_gone(const Seq *s, const Ownership *o, const SeqValue *v, unsigned before,
                    unsigned depth)
{
    uint64_t bit = v->kind == VALUE_RESULT ? 1 : (uint64_t)2 << (v->param & 31);
    if (s->steps[v->step].nulls & bit)
        return false;                        /* NULL: there was nothing */
    for (unsigned i = v->step + 1; i < before; i++)
        for (unsigned k = 0; k < s->steps[i].nargs && s->steps[i].f; k++)
            if (value_equal(&s->steps[i].args[k], v) &&
                ownership_use(o, s->steps[i].f, (int)k) == USE_CONSUMES)
                return true;
    const SeqStep *maker = &s->steps[v->step];
    int place = v->kind == VALUE_RESULT ? API_RETURNED : (int)v->param;
    if (!maker->f || v->kind == VALUE_STORAGE || depth > 4 ||
        ownership_use(o, maker->f, place) != USE_BORROWS)
        return false;
    for (unsigned k = 0; k < maker->nargs; k++)
        if (value_is_made(&maker->args[k]) && is_gone(s, o, &maker->args[k], before, depth + 1))
            return true;
    return false;
}

bool seq_is_proper(const Seq *s, const Ownership *o)
{
    for (unsigned i = 0; i < s->n; i++)
        for (unsigned k = 0; k < s->steps[i].nargs && s->steps[i].f; k++) {
            const SeqValue *v = &s->steps[i].args[k];
            if (value_is_made(v) &&
                (!seq_same_table(s, v, s->steps[i].f) || is_gone(s, o, v, i, 0)))
                return false;
        }
    return true;
}

void seq_check(const Seq *s)
{
    assert(s->n <= SEQ_LIMIT);
    for (unsigned i = 0; i < s->n; i++) {
        const SeqStep *st = &s->steps[i];
        assert(!!st->f + !!st->field + !!st->storage == 1);
        assert(st->nargs == (st->f ? st->f->nparams : 1));
        if (st->field) {
            assert(value_is_made(&st->target));
            check_value(s, i, &st->target);
        }
        for (unsigned k = 0; k < st->nargs; k++)
            check_value(s, i, &st->args[k]);
    }
}

/* ---- handles */

/* Does a call begin to use storage of the caller's? */
static bool begins_storage(const SeqStep *st, int place, ApiUse use)
{
    const ApiPlace *p = api_place(st->f, place);
    if (place == API_RETURNED || !p->handle || use == USE_CONSUMES || use == USE_FINISHES)
        return false;
    SeqValueKind kind = st->args[place].kind;
    return (p->role == ROLE_STORAGE || (p->role == ROLE_HANDLE && p->handle->open)) &&
           (kind == VALUE_ROOM || kind == VALUE_STORAGE);
}

/* Can somebody finish what is in the caller's storage? */
static bool has_finisher(const ApiType *t)
{
    for (size_t i = 0; i < t->ndestroyers; i++)
        if (api_place(t->destroyers[i].function, t->destroyers[i].place)->use == USE_FINISHES)
            return true;
    return false;
}

static void add_handle(SeqHandles *out, const SeqStep *st, unsigned step, int place, ApiUse use)
{
    const ApiPlace *p = api_place(st->f, place);
    bool storage = begins_storage(st, place, use);
    SeqValue v = place == API_RETURNED                              ? value_result(step)
                 : storage && st->args[place].kind == VALUE_STORAGE ? st->args[place]
                 : storage ? value_storage(step, (unsigned)place)
                           : value_stored(step, (unsigned)place);
    if (storage && use != USE_BORROWS)
        use = p->role == ROLE_STORAGE || has_finisher(p->handle) ? USE_CREATES : use;
    if (!storage && (st->nulls >> (unsigned)(place + 1) & 1))
        return;
    /* storage that is initialised again is still the same */
    for (size_t i = 0; i < out->len; i++)
        if (value_equal(&out->items[i].value, &v))
            return;
    vec_push(out, ((SeqHandle){ v, p->handle, step, place, use == USE_CREATES }));
}

static void drop_handle(SeqHandles *out, const SeqValue *v)
{
    for (size_t i = 0; i < out->len; i++)
        if (value_equal(&out->items[i].value, v)) {
            memmove(&out->items[i], &out->items[i + 1], (out->len - i - 1) * sizeof *out->items);
            out->len--;
            return;
        }
}

void seq_handles(const Seq *s, const Ownership *o, SeqHandles *out)
{
    for (unsigned i = 0; i < s->n; i++) {
        const SeqStep *st = &s->steps[i];
        for (unsigned k = 0; st->f && k < st->nargs; k++) {
            ApiUse use = ownership_use(o, st->f, (int)k);
            bool gone =
                use == USE_CONSUMES || (use == USE_FINISHES && st->args[k].kind == VALUE_STORAGE);
            if (value_is_made(&st->args[k]) && gone)
                drop_handle(out, &st->args[k]);
        }
        for (int k = API_RETURNED; st->f && k < (int)st->nargs; k++) {
            const ApiPlace *p = api_place(st->f, k);
            ApiUse use = ownership_use(o, st->f, k);
            bool fresh = k == API_RETURNED || st->args[k].kind == VALUE_ROOM;
            if (begins_storage(st, k, use) ||
                (p->handle && fresh && (use == USE_CREATES || use == USE_BORROWS)))
                add_handle(out, st, i, k, use);
        }
    }
}

/* ---- text */

static void dump_step(const SeqStep *st, unsigned i, Str *out)
{
    if (st->storage) {
        str_addf(out, "r%u = storage ", i);
        escape_terminal_z(out, st->storage->name);
    } else if (!st->f) {
        str_addf(out, "   ");
        value_print(&st->target, out);
        str_add(out, "->");
        escape_terminal_z(out, st->field->name);
        str_add(out, " = ");
        value_print(&st->args[0], out);
    } else {
        str_addf(out, "r%u = ", i);
        escape_terminal_z(out, st->f->name);
        str_addc(out, '(');
        for (unsigned k = 0; k < st->nargs; k++) {
            str_add(out, k ? ", " : "");
            value_print(&st->args[k], out);
        }
        str_addc(out, ')');
    }
    str_add(out, st->divergent ? "  [divergent]\n" : st->closing ? "  [closing]\n" : "\n");
}

void seq_dump(const Seq *s, Str *out)
{
    for (unsigned i = 0; i < s->n; i++)
        dump_step(&s->steps[i], i, out);
}
