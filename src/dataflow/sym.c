#include "dataflow/sym.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>

enum { MOST_ALTS = 400, MOST_ITEMS = 80 };

void sought_assert_as(Sought *s, Truth t, int tag)
{
    bool free;
    if (s->relaxed && tag == TAG_FRESH) /* proofs are about all tables, not about ours */
        return;
    if (s->guard && !(arith_is_constant(s->z, s->guard, &free) && free))
        t = arith_or(s->z, arith_not(s->z, s->guard), t);
    arith_assert(s->z, t, tag);
}

void sought_assert(Sought *s, Truth t) { sought_assert_as(s, t, s->tag); }

static Truth yes(Sought *s) { return arith_bool(s->z, true); }

static Truth no(Sought *s) { return arith_bool(s->z, false); }

static bool is_whole(DatumKind k)
{
    return k == DATUM_INT || k == DATUM_LONG || k == DATUM_DATETIME || k == DATUM_BIGINT;
}

static bool is_real(DatumKind k)
{
    return k == DATUM_FLOAT || k == DATUM_DOUBLE || k == DATUM_BIGDEC;
}

static bool is_text(DatumKind k) { return k == DATUM_TEXT || k == DATUM_BYTES; }

Sym sym_null(Sought *s, DatumKind kind)
{
    Sym r = { .kind = kind, .null = yes(s) };
    if (is_whole(kind))
        r.num = arith_int(s->z, 0);
    if (is_real(kind))
        r.num = arith_real(s->z, 0);
    if (kind == DATUM_BOOL)
        r.truth = no(s);
    return r;
}

Sym sym_tuple(Sought *s, size_t n)
{
    return (
        Sym){ .kind = DATUM_TUPLE, .null = no(s), .fields = arena_array(s->a, Sym, n + 1), .n = n };
}

static Num num_of(Sought *s, const Datum *d)
{
    if (is_whole(d->kind))
        return arith_int(s->z, d->u.i);
    return arith_real(s->z, isfinite(d->u.d) ? d->u.d : 0);
}

/* ---- from alternatives */

static Truth any_alt(Sought *s, const Alt *alts, size_t n)
{
    Truth *t = arena_array(s->a, Truth, n + 1);
    for (size_t i = 0; i < n; i++)
        t[i] = alts[i].when;
    return arith_any(s->z, t, n);
}

static Sym from_alts(Sought *s, DatumKind kind, const Alt *alts, size_t n);

/* Field `i` of tuples, one alternative each. */
static Sym field_alts(Sought *s, const Alt *alts, size_t n, size_t i)
{
    Alt *f = arena_array(s->a, Alt, n + 1);
    DatumKind kind = DATUM_NULL;
    for (size_t k = 0; k < n; k++) {
        const Tuple *t = alts[k].value.u.tuple;
        f[k] = (Alt){ alts[k].when, i < t->n ? t->fields[i] : datum_null(), 0 };
        if (f[k].value.kind != DATUM_NULL)
            kind = f[k].value.kind;
    }
    return from_alts(s, kind, f, n);
}

static Sym tuple_alts(Sought *s, const Alt *alts, size_t n)
{
    size_t width = 0;
    for (size_t i = 0; i < n; i++)
        width = alts[i].value.u.tuple->n > width ? alts[i].value.u.tuple->n : width;
    Sym r = sym_tuple(s, width);
    for (size_t i = 0; i < width; i++)
        r.fields[i] = field_alts(s, alts, n, i);
    return r;
}

static Sym bag_alts(Sought *s, const Alt *alts, size_t n)
{
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = alts[i].value.u.bag->n > most ? alts[i].value.u.bag->n : most;
    if (most > MOST_ITEMS) {
        most = MOST_ITEMS;
        s->inexact = true;
    }
    Sym r = { .kind = DATUM_BAG, .null = no(s), .n = most };
    r.items = arena_array(s->a, Sym, most + 1);
    r.present = arena_array(s->a, Truth, most + 1);
    for (size_t k = 0; k < most; k++) {
        Alt *item = arena_array(s->a, Alt, n + 1);
        size_t m = 0;
        for (size_t i = 0; i < n; i++)
            if (alts[i].value.u.bag->n > k)
                item[m++] = (Alt){ alts[i].when, datum_tuple(alts[i].value.u.bag->items[k]), 0 };
        r.items[k] = tuple_alts(s, item, m);
        r.present[k] = any_alt(s, item, m);
    }
    return r;
}

/* One of several values: the alternatives exclude each other. Where none
 * holds, the value is null. */
static Sym from_alts(Sought *s, DatumKind kind, const Alt *all, size_t n)
{
    Alt *alts = arena_array(s->a, Alt, n + 1);
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (all[i].value.kind != DATUM_NULL) {
            alts[m++] = all[i];
            kind = all[i].value.kind;
        }
    if (!m)
        return sym_null(s, kind);
    Sym r = { .kind = kind, .alts = alts, .nalts = m };
    if (kind == DATUM_TUPLE)
        r = tuple_alts(s, alts, m);
    if (kind == DATUM_BAG)
        r = bag_alts(s, alts, m);
    r.null = arith_not(s->z, any_alt(s, alts, m));
    if (is_whole(kind) || is_real(kind)) {
        r.num = num_of(s, &alts[m - 1].value);
        for (size_t i = m - 1; i-- > 0;)
            r.num = arith_choose(s->z, alts[i].when, num_of(s, &alts[i].value), r.num);
    }
    if (kind == DATUM_BOOL) {
        Truth *t = arena_array(s->a, Truth, m + 1);
        size_t k = 0;
        for (size_t i = 0; i < m; i++)
            if (alts[i].value.u.b)
                t[k++] = alts[i].when;
        r.truth = arith_any(s->z, t, k);
    }
    return r;
}

Sym sym_const(Sought *s, const Datum *d)
{
    if (d->kind == DATUM_NULL)
        return sym_null(s, DATUM_NULL);
    if (d->kind == DATUM_MAP) {
        Sym r = { .kind = DATUM_MAP, .null = no(s), .n = d->u.map->n };
        r.fields = arena_array(s->a, Sym, r.n + 1);
        r.keys = arena_array(s->a, const char *, r.n + 1);
        for (size_t i = 0; i < r.n; i++) {
            r.fields[i] = sym_const(s, &d->u.map->values[i]);
            r.keys[i] = d->u.map->keys[i].u.s;
        }
        return r;
    }
    Alt one = { yes(s), *d, s->relaxed ? know_class(s->know, d) : 0 };
    Sym r = from_alts(s, d->kind, &one, 1);
    r.null = no(s);
    return r;
}

/* ---- leaves */

static void in_range_as(Sought *s, Num x, int64_t least, int64_t most, int tag)
{
    sought_assert_as(s, arith_le(s->z, arith_int(s->z, least), x), tag);
    sought_assert_as(s, arith_le(s->z, x, arith_int(s->z, most)), tag);
}

static void in_range(Sought *s, Num x, int64_t least, int64_t most)
{
    in_range_as(s, x, least, most, TAG_RANGE);
}

static Sym text_leaf(Sought *s, DatumKind kind, const Column *c)
{
    static const Datum more[] = {
        { .kind = DATUM_TEXT, .len = 3, .u.s = "ann" },
        { .kind = DATUM_TEXT, .len = 3, .u.s = "bob" },
        { .kind = DATUM_TEXT, .len = 4, .u.s = "cleo" },
        { .kind = DATUM_TEXT, .len = 1, .u.s = "1" },
        { .kind = DATUM_TEXT, .len = 1, .u.s = "2" },
        { .kind = DATUM_TEXT, .len = 2, .u.s = "10" },
    };
    const Datum *words = c && c->nwords ? c->words : more;
    size_t n = c && c->nwords ? c->nwords : sizeof more / sizeof *more;
    Num pick = arith_int_var(s->z);
    s->inexact |= !(c && c->nwords);
    in_range(s, pick, 0, (int64_t)n - 1);
    Sym r = { .kind = kind, .null = arith_bool_var(s->z), .nalts = n };
    r.which = s->relaxed ? arith_int_var(s->z) : NULL;
    r.alts = arena_array(s->a, Alt, n + 1);
    for (size_t i = 0; i < n; i++) {
        Datum d = words[i];
        d.kind = (uint8_t)kind;
        r.alts[i] = (Alt){ arith_and(s->z, arith_not(s->z, r.null),
                                     arith_eq(s->z, pick, arith_int(s->z, (int64_t)i))),
                           d, c && c->nwords ? c->classes[i] : 0 };
    }
    return r;
}

static Sym tuple_leaf(Sought *s, const Schema *inner)
{
    Sym r = sym_tuple(s, inner ? inner->n : 1);
    for (size_t i = 0; i < r.n; i++)
        r.fields[i] =
            sym_leaf(s, inner ? inner->fields[i].type : dtype_of(DATUM_BYTES), NULL, NULL);
    return r;
}

static Sym bag_leaf(Sought *s, const Schema *inner)
{
    Sym r = { .kind = DATUM_BAG, .null = arith_bool_var(s->z), .n = 2 };
    r.items = arena_array(s->a, Sym, 2);
    r.present = arena_array(s->a, Truth, 2);
    for (size_t i = 0; i < 2; i++) {
        r.items[i] = tuple_leaf(s, inner);
        r.present[i] = arith_bool_var(s->z);
    }
    s->inexact = true;
    return r;
}

static Sym map_leaf(Sought *s, Type t)
{
    Sym r = { .kind = DATUM_MAP, .null = arith_bool_var(s->z), .n = s->know->nmap_keys };
    r.fields = arena_array(s->a, Sym, r.n + 1);
    r.keys = s->know->map_keys;
    for (size_t i = 0; i < r.n; i++)
        r.fields[i] =
            sym_leaf(s, t.inner && t.inner->n ? t.inner->fields[0].type : dtype_of(DATUM_BYTES),
                     NULL, NULL);
    return r;
}

Sym sym_leaf(Sought *s, Type type, const Column *column, bool *used)
{
    Sym r = { .kind = type.kind };
    switch (type.kind) {
    case DATUM_INT:
    case DATUM_LONG:
    case DATUM_BIGINT:
        r.num = arith_int_var(s->z);
        if (type.kind == DATUM_INT)
            in_range(s, r.num, INT32_MIN, INT32_MAX);
        else
            in_range_as(s, r.num, -(1LL << 53), 1LL << 53, TAG_DOMAIN);
        r.null = arith_bool_var(s->z);
        break;
    case DATUM_DATETIME:
        r.num = arith_int_var(s->z);
        in_range_as(s, r.num, -30610224000000LL, 32503680000000LL, TAG_DOMAIN); /* 1000 to 3000 */
        r.null = arith_bool_var(s->z);
        break;
    case DATUM_FLOAT:
    case DATUM_DOUBLE:
    case DATUM_BIGDEC:
        r.num = arith_real_var(s->z);
        r.null = arith_bool_var(s->z);
        break;
    case DATUM_BOOL:
        r.truth = arith_bool_var(s->z);
        r.null = arith_bool_var(s->z);
        break;
    case DATUM_TUPLE:
        r = tuple_leaf(s, type.inner);
        r.null = arith_bool_var(s->z);
        break;
    case DATUM_BAG: r = bag_leaf(s, type.inner); break;
    case DATUM_MAP: r = map_leaf(s, type); break;
    default: r = text_leaf(s, type.kind == DATUM_NULL ? DATUM_BYTES : type.kind, column); break;
    }
    r.used = used;
    r.column = column;
    return r;
}

/* ---- alternatives of numbers: for functions that must be tabulated */

static Datum as_kind(Sought *s, const Datum *d, DatumKind kind)
{
    Datum out;
    return datum_cast(s->a, d, dtype_of(kind), &out) ? out : datum_null();
}

static size_t add_alt(Sought *s, const Sym *x, Alt *alts, size_t n, Datum d)
{
    if (d.kind == DATUM_NULL || n >= 40)
        return n;
    for (size_t i = 0; i < n; i++)
        if (!datum_compare(&alts[i].value, &d))
            return n;
    alts[n] =
        (Alt){ arith_and(s->z, arith_not(s->z, x->null), arith_eq(s->z, x->num, num_of(s, &d))), d,
               0 };
    return n + 1;
}

/* The value is one of some candidates; asserted, and therefore inexact. */
static bool enumerate(Sought *s, Sym *x)
{
    if (x->nalts)
        return true;
    bool null;
    if (arith_is_constant(s->z, x->null, &null) && null)
        return true;
    if (x->kind == DATUM_BOOL) {
        x->alts = arena_array(s->a, Alt, 2);
        Truth there = arith_not(s->z, x->null);
        x->alts[0] = (Alt){ arith_and(s->z, there, x->truth), datum_bool(true), 0 };
        x->alts[1] =
            (Alt){ arith_and(s->z, there, arith_not(s->z, x->truth)), datum_bool(false), 0 };
        x->nalts = 2;
        return true;
    }
    if (!is_whole(x->kind) && !is_real(x->kind))
        return false;
    Alt *alts = arena_array(s->a, Alt, 41);
    size_t n = 0;
    for (size_t i = 0; x->column && i < x->column->nsamples && !s->know->no_real_values; i++)
        n = add_alt(s, x, alts, n, as_kind(s, &x->column->samples[i], x->kind));
    bool dates = x->kind == DATUM_DATETIME;
    const Datum *known = dates ? s->know->moments : s->know->numbers;
    for (size_t i = 0; i < (dates ? s->know->nmoments : s->know->nnumbers); i++)
        n = add_alt(s, x, alts, n, as_kind(s, &known[i], x->kind));
    if (is_real(x->kind)) {
        Datum half = datum_double(0.5), minus = datum_double(-0.5);
        n = add_alt(s, x, alts, n, as_kind(s, &half, x->kind));
        n = add_alt(s, x, alts, n, as_kind(s, &minus, x->kind));
    }
    x->alts = alts;
    x->nalts = n;
    sought_assert_as(s, arith_or(s->z, x->null, any_alt(s, alts, n)), TAG_DOMAIN);
    s->inexact = true;
    return true;
}

/* ---- comparison */

typedef int Compare(const Datum *x, const Datum *y);

static int compare_any(const Datum *x, const Datum *y)
{
    Datum a = *x, b = *y;
    if (is_text(a.kind) && is_text(b.kind))
        a.kind = b.kind = DATUM_TEXT;
    return datum_compare(&a, &b);
}

/* Does the comparison come out the same for all texts of the two classes? */
static bool is_settled(const Sought *s, const Alt *x, const Alt *y, TermKind sign)
{
    if (know_class_is_one_text(s->know, x->class) || know_class_is_one_text(s->know, y->class))
        return x->class && y->class;
    return x->class && y->class && x->class != y->class && (sign == TERM_EQ || sign == TERM_NE);
}

/* What an open comparison of two texts gives: the same each time. */
static Truth opened(Sought *s, const Sym *x, const Sym *y, TermKind sign)
{
    const void *key[3] = { x->alts, y->alts, (const void *)(intptr_t)sign };
    if (sign == TERM_EQ && (uintptr_t)key[0] > (uintptr_t)key[1]) {
        key[0] = y->alts;
        key[1] = x->alts;
    }
    Truth t = map_getn(&s->opened, key, sizeof key);
    if (!t) {
        t = arith_bool_var(s->z);
        map_putn(&s->opened, key, sizeof key, t);
    }
    return t;
}

static Truth compare_alts(Sought *s, const Sym *x, const Sym *y, TermKind sign)
{
    if (x->alts == y->alts)                         /* a text and itself */
        return term_sign_holds(sign, 0) ? yes(s) : no(s);
    s->inexact |= !s->know->text_exact;
    Vec(Truth) t = { 0 }, open = { 0 };
    for (size_t i = 0; i < x->nalts; i++)
        for (size_t k = 0; k < y->nalts; k++) {
            bool settled = !s->relaxed || is_settled(s, &x->alts[i], &y->alts[k], sign);
            if (!settled)
                vec_push(&open, arith_and(s->z, x->alts[i].when, y->alts[k].when));
            else if (term_sign_holds(sign, compare_any(&x->alts[i].value, &y->alts[k].value)))
                vec_push(&t, arith_and(s->z, x->alts[i].when, y->alts[k].when));
        }
    Truth r = arith_any(s->z, t.items, t.len);
    if (open.len) {
        Truth holds = sign == TERM_EQ && x->which && y->which ? arith_eq(s->z, x->which, y->which)
                                                              : opened(s, x, y, sign);
        r = arith_or(s->z, r, arith_and(s->z, holds, arith_any(s->z, open.items, open.len)));
    }
    vec_release(&t);
    vec_release(&open);
    return r;
}

static Truth compare_nums(Sought *s, Num x, Num y, TermKind sign)
{
    switch (sign) {
    case TERM_EQ: return arith_eq(s->z, x, y);
    case TERM_NE: return arith_not(s->z, arith_eq(s->z, x, y));
    case TERM_LT: return arith_lt(s->z, x, y);
    case TERM_LE: return arith_le(s->z, x, y);
    case TERM_GT: return arith_lt(s->z, y, x);
    default: return arith_le(s->z, y, x);
    }
}

/* Both are not null. */
static Truth compare_syms(Sought *s, const Sym *x, const Sym *y, TermKind sign)
{
    if (x->num && y->num)
        return compare_nums(s, x->num, y->num, sign);
    if (is_text(x->kind) && is_text(y->kind))
        return sign == TERM_NE ? arith_not(s->z, compare_alts(s, x, y, TERM_EQ))
                               : compare_alts(s, x, y, sign);
    if (x->truth && y->truth) {
        Truth same = arith_same(s->z, x->truth, y->truth);
        return sign == TERM_NE ? arith_not(s->z, same) : same;
    }
    if (x->kind == DATUM_TUPLE && y->kind == DATUM_TUPLE) {
        Truth same = sym_rows_alike(s, x, y);
        return sign == TERM_NE ? arith_not(s->z, same) : same;
    }
    if (x->nalts && y->nalts)
        return compare_alts(s, x, y, sign);
    bool nx, ny;
    if (arith_is_constant(s->z, x->null, &nx) && arith_is_constant(s->z, y->null, &ny) &&
        (nx || ny))
        return no(s);
    s->inexact = true;
    return arith_bool_var(s->z);
}

static Truth neither_null(Sought *s, const Sym *x, const Sym *y)
{
    return arith_and(s->z, arith_not(s->z, x->null), arith_not(s->z, y->null));
}

Truth sym_equal(Sought *s, const Sym *x, const Sym *y)
{
    return arith_and(s->z, neither_null(s, x, y), compare_syms(s, x, y, TERM_EQ));
}

Truth sym_alike(Sought *s, const Sym *x, const Sym *y)
{
    Truth both = arith_and(s->z, x->null, y->null);
    bool null;
    if (arith_is_constant(s->z, x->null, &null) && null)
        return y->null;
    if (arith_is_constant(s->z, y->null, &null) && null)
        return x->null;
    return arith_or(s->z, both, sym_equal(s, x, y));
}

Truth sym_rows_alike(Sought *s, const Sym *x, const Sym *y)
{
    if (x->n != y->n)
        return no(s);
    Truth *t = arena_array(s->a, Truth, x->n + 1);
    for (size_t i = 0; i < x->n; i++)
        t[i] = sym_alike(s, &x->fields[i], &y->fields[i]);
    return arith_all(s->z, t, x->n);
}

Truth sym_true(Sought *s, const Sym *b)
{
    if (!b->truth)
        return no(s);
    return arith_and(s->z, arith_not(s->z, b->null), b->truth);
}

Truth sym_false(Sought *s, const Sym *b)
{
    if (!b->truth)
        return no(s);
    return arith_and(s->z, arith_not(s->z, b->null), arith_not(s->z, b->truth));
}

static Sym sym_bool(Truth null, Truth value)
{
    return (Sym){ .kind = DATUM_BOOL, .null = null, .truth = value };
}

/* ---- calls */

static Sym guess(Sought *s, Type type)
{
    s->inexact = true;
    return sym_leaf(s, type, NULL, NULL);
}

/* Computes one call on constants. */
static Datum call_on(Sought *s, const Term *t, const Datum *args)
{
    Term call = *t;
    call.args = arena_array(s->a, Term *, t->nargs + 1);
    Term *consts = arena_array(s->a, Term, t->nargs + 1);
    for (size_t i = 0; i < t->nargs; i++) {
        consts[i] = (Term){ .kind = TERM_CONST, .value = args[i], .type = dtype_of(args[i].kind) };
        call.args[i] = &consts[i];
    }
    bool fault = false;
    Tuple *none = tuple_new(s->a, 0);
    Datum d = evaluator_value(s->ev, &call, none, &fault);
    return fault ? datum_null() : d;
}

/* In passive mode a user's function is known only where it was seen. */
static bool was_seen(const Sought *s, const Term *t, const Datum *args)
{
    const UdfCall *calls;
    size_t n = s->udfs ? udf_calls(s->udfs, &calls) : 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(calls[i].name, t->name) || calls[i].nargs != t->nargs)
            continue;
        bool same = true;
        for (size_t k = 0; k < t->nargs && same; k++)
            same = !datum_compare(&calls[i].args[k], &args[k]);
        if (same)
            return true;
    }
    return false;
}

/* All combinations of the arguments' alternatives. */
static Sym tabulate(Sought *s, const Term *t, Sym *args, size_t n)
{
    size_t total = 1;
    for (size_t i = 0; i < n; i++) {
        if (!enumerate(s, &args[i]))
            return guess(s, t->type);
        size_t alts = args[i].nalts + 1; /* and null */
        if (total > MOST_ALTS / alts)
            return guess(s, t->type);
        total *= alts;
    }
    s->inexact |= !s->know->text_exact;
    bool passive = s->passive && t->kind == TERM_CALL && !function_find(t->name);
    Alt *out = arena_array(s->a, Alt, total + 1);
    Truth *banned = arena_array(s->a, Truth, total + 1);
    size_t m = 0, nbanned = 0;
    Datum *values = arena_array(s->a, Datum, n + 1);
    for (size_t k = 0; k < total; k++) {
        Truth when = yes(s);
        bool nulls = false;
        size_t rest = k;
        for (size_t i = 0; i < n; i++) {
            size_t pick = rest % (args[i].nalts + 1);
            rest /= args[i].nalts + 1;
            bool null = pick == args[i].nalts;
            nulls |= null;
            values[i] = null ? datum_null() : args[i].alts[pick].value;
            when = arith_and(s->z, when, null ? args[i].null : args[i].alts[pick].when);
        }
        bool dead;
        if (arith_is_constant(s->z, when, &dead) && !dead)
            continue;
        if (passive && !was_seen(s, t, values)) {
            banned[nbanned++] = when;
            continue;
        }
        /* Users' functions are not tried with nulls: many do not expect them. */
        if (nulls && t->kind == TERM_CALL && !function_find(t->name))
            continue;
        Datum d = call_on(s, t, values);
        if (d.kind != DATUM_NULL)
            out[m++] = (Alt){ when, d, 0 };
    }
    if (nbanned) {
        s->inexact = true;
        sought_assert_as(s, arith_not(s->z, arith_any(s->z, banned, nbanned)), TAG_DOMAIN);
    }
    return from_alts(s, t->type.kind, out, m);
}

/* ---- aggregates over bags */

static Num settle(Sought *s, DatumKind kind, Num r);

static Truth there(Sought *s, const Sym *bag, size_t i, const Sym *v)
{
    return arith_and(s->z, bag->present[i], arith_not(s->z, v->null));
}

static Num count_if(Sought *s, const Truth *t, size_t n)
{
    Num sum = arith_int(s->z, 0), one = arith_int(s->z, 1), zero = sum;
    for (size_t i = 0; i < n; i++)
        sum = arith_add(s->z, sum, arith_choose(s->z, t[i], one, zero));
    return sum;
}

static Sym sym_num(Sought *s, DatumKind kind, Truth null, Num n)
{
    if (is_real(kind))
        n = arith_to_real(s->z, n);
    return (Sym){ .kind = kind, .null = null, .num = n };
}

/* The values that an aggregate sees, with their conditions. */
typedef struct Seen {
    Sym *v;
    Truth *in;
    size_t n;
    bool open;                 /* … and there may be more */
} Seen;

static Num number_in(Sought *s, const Seen *e, size_t i, DatumKind kind)
{
    Sym v = e->v[i];
    if (!v.num && v.nalts) { /* untyped: as doubles */
        Alt *alts = arena_array(s->a, Alt, v.nalts + 1);
        size_t n = 0;
        Vec(Truth) bad = { 0 };
        for (size_t k = 0; k < v.nalts; k++) {
            Datum d = as_kind(s, &v.alts[k].value, DATUM_DOUBLE);
            if (d.kind == DATUM_NULL)
                vec_push(&bad, v.alts[k].when);
            else
                alts[n++] = (Alt){ v.alts[k].when, d, 0 };
        }
        /* Text in SUM would end the job. */
        sought_assert_as(s,
                         arith_or(s->z, arith_not(s->z, e->in[i]),
                                  arith_not(s->z, arith_any(s->z, bad.items, bad.len))),
                         TAG_DOMAIN);
        vec_release(&bad);
        v = from_alts(s, DATUM_DOUBLE, alts, n);
    }
    if (!v.num)
        return is_real(kind) ? arith_real(s->z, 0) : arith_int(s->z, 0);
    return is_real(kind) ? arith_to_real(s->z, v.num) : v.num;
}

/* Relaxed: null only if there is nothing, and what is not here may be there. */
static Truth no_more(Sought *s, Truth any)
{
    return arith_and(s->z, arith_not(s->z, any), arith_bool_var(s->z));
}

static Sym extreme(Sought *s, const Seen *e, Type type, bool most)
{
    DatumKind kind =
        dtype_is_number(type.kind) || type.kind == DATUM_DATETIME ? type.kind : DATUM_DOUBLE;
    if (type.kind == DATUM_TEXT)
        return e->n == 1 ? e->v[0] : guess(s, type);
    Num best = is_real(kind) ? arith_real_var(s->z) : arith_int_var(s->z);
    Truth any = no(s), is_one = no(s);
    for (size_t i = 0; i < e->n; i++) {
        Num x = number_in(s, e, i, kind);
        Truth fits = most ? arith_le(s->z, x, best) : arith_le(s->z, best, x);
        sought_assert_as(s, arith_or(s->z, arith_not(s->z, e->in[i]), fits), TAG_RANGE);
        is_one = arith_or(s->z, is_one, arith_and(s->z, e->in[i], arith_eq(s->z, x, best)));
        any = arith_or(s->z, any, e->in[i]);
    }
    if (e->open)
        return sym_num(s, kind, no_more(s, any), best);
    sought_assert_as(s, arith_or(s->z, arith_not(s->z, any), is_one), TAG_RANGE);
    return sym_num(s, kind, arith_not(s->z, any), best);
}

/* At least this many, and exactly as many if nothing is open. */
static Sym counted(Sought *s, const Truth *in, size_t n, bool open)
{
    Num here = count_if(s, in, n), all = open ? arith_int_var(s->z) : here;
    if (open)
        sought_assert_as(s, arith_le(s->z, here, all), TAG_RANGE);
    return sym_num(s, DATUM_LONG, no(s), all);
}

static Sym aggregate(Sought *s, const char *name, const Seen *e, Type type)
{
    if (!strcasecmp(name, "count") || !strcasecmp(name, "count_star"))
        return counted(s, e->in, e->n, e->open);
    if (!strcasecmp(name, "max") || !strcasecmp(name, "min"))
        return extreme(s, e, type, (name[1] | 32) == 'a');
    Num n = count_if(s, e->in, e->n), zero = arith_int(s->z, 0);
    Truth none = arith_eq(s->z, n, zero);
    bool avg = !strcasecmp(name, "avg");
    if (!avg && strcasecmp(name, "sum"))
        return guess(s, type);
    DatumKind kind = avg || !is_whole(type.kind) ? DATUM_DOUBLE : type.kind;
    if (e->open)
        return sym_num(s, kind, no_more(s, arith_not(s->z, none)),
                       is_real(kind) ? arith_real_var(s->z) : arith_int_var(s->z));
    Num sum = is_real(kind) ? arith_real(s->z, 0) : zero, nothing = sum;
    for (size_t i = 0; i < e->n; i++)
        sum = arith_add(s->z, sum, arith_choose(s->z, e->in[i], number_in(s, e, i, kind), nothing));
    if (!avg)
        return sym_num(s, kind, none, s->relaxed ? settle(s, kind, sum) : sum);
    /* Division by a known count is linear. */
    Num mean = arith_real_var(s->z);
    for (size_t k = 1; k <= e->n; k++) {
        Truth is = arith_eq(s->z, n, arith_int(s->z, (int64_t)k));
        Num m = arith_mul(s->z, mean, arith_real(s->z, (double)k));
        sought_assert_as(s, arith_or(s->z, arith_not(s->z, is), arith_eq(s->z, m, sum)), TAG_RANGE);
    }
    return sym_num(s, DATUM_DOUBLE, none, s->relaxed ? settle(s, DATUM_DOUBLE, mean) : mean);
}

/* The first fields of a bag's tuples. */
static Seen first_fields(Sought *s, const Sym *bag, bool with_nulls)
{
    Seen e = { arena_array(s->a, Sym, bag->n + 1), arena_array(s->a, Truth, bag->n + 1), bag->n,
               bag->open };
    for (size_t i = 0; i < bag->n; i++) {
        e.v[i] = bag->items[i].n ? bag->items[i].fields[0] : sym_null(s, DATUM_NULL);
        if (e.v[i].used)
            *e.v[i].used = true;
        e.in[i] = with_nulls ? bag->present[i] : there(s, bag, i, &e.v[i]);
    }
    return e;
}

static Sym call_on_bag(Sought *s, const Term *t, const Sym *bag)
{
    s->inexact |= !s->relaxed;
    if (!strcmp(t->name, "SIZE") || !strcmp(t->name, "IsEmpty")) {
        Sym n = counted(s, bag->present, bag->n, bag->open);
        if (*t->name == 'S')
            return sym_num(s, DATUM_LONG, bag->null, n.num);
        return sym_bool(no(s), arith_eq(s->z, n.num, arith_int(s->z, 0)));
    }
    Seen e = first_fields(s, bag, !strcmp(t->name, "COUNT_STAR"));
    Sym r = aggregate(s, t->name, &e, t->type);
    r.null = arith_or(s->z, r.null, bag->null);
    return r;
}

/* ---- functions of numbers that the solver knows */

static bool call_on_number(Sought *s, const Term *t, const Sym *x, Sym *out)
{
    const char *f = t->name;
    Num zero = x->num && arith_is_real(s->z, x->num) ? arith_real(s->z, 0) : arith_int(s->z, 0);
    if (!x->num)
        return false;
    if (!strcmp(f, "ABS"))
        *out = sym_num(s, t->type.kind, x->null,
                       arith_choose(s->z, arith_le(s->z, zero, x->num), x->num,
                                    arith_sub(s->z, zero, x->num)));
    else if (!strcmp(f, "FLOOR"))
        *out = sym_num(s, DATUM_DOUBLE, x->null, arith_floor(s->z, x->num));
    else if (!strcmp(f, "CEIL"))
        *out = sym_num(s, DATUM_DOUBLE, x->null,
                       arith_sub(s->z, zero, arith_floor(s->z, arith_sub(s->z, zero, x->num))));
    else if (!strcmp(f, "ROUND") && is_real(x->kind))
        *out = sym_num(s, t->type.kind, x->null,
                       arith_floor(s->z, arith_add(s->z, x->num, arith_real(s->z, 0.5))));
    else
        return false;
    return true;
}

/* ---- products */

enum { FACTOR_BITS = 8 };

/* x times the number of these bits. */
static Num times_bits(Sought *s, Num x, const Truth *bits, double unit)
{
    Num sum = arith_is_real(s->z, x) ? arith_real(s->z, 0) : arith_int(s->z, 0), zero = sum;
    for (int i = 0; i < FACTOR_BITS; i++) {
        double place = unit * (1 << i);
        Num p = arith_is_real(s->z, x) ? arith_real(s->z, place) : arith_int(s->z, (int64_t)place);
        sum = arith_add(s->z, sum, arith_choose(s->z, bits[i], arith_mul(s->z, x, p), zero));
    }
    return sum;
}

/* x * y. The solver is slow where both are unknown; a `simple` question has one
 * of them small, a whole number or quarters. That leaves sums. */
static Num product(Sought *s, Num x, Num y)
{
    if (arith_is_known(s->z, x) || arith_is_known(s->z, y))
        return arith_mul(s->z, x, y);
    s->products = true;
    if (!s->simple)
        return arith_mul(s->z, x, y);
    bool real = arith_is_real(s->z, x) || arith_is_real(s->z, y);
    if (real) {
        x = arith_to_real(s->z, x);
        y = arith_to_real(s->z, y);
    }
    double unit = real ? 0.25 : 1;
    Truth bits[FACTOR_BITS], first = arith_bool_var(s->z);
    for (int i = 0; i < FACTOR_BITS; i++)
        bits[i] = arith_bool_var(s->z);
    Num one = real ? arith_real(s->z, 1) : arith_int(s->z, 1);
    Num small = times_bits(s, one, bits, unit), large = arith_choose(s->z, first, y, x);
    Num p = real ? arith_real_var(s->z) : arith_int_var(s->z);
    Truth is = arith_and(s->z, arith_eq(s->z, arith_choose(s->z, first, x, y), small),
                         arith_eq(s->z, p, times_bits(s, large, bits, unit)));
    if (real) {                                    /* sums of such are exact in any order */
        Num quarters = arith_to_real(s->z, arith_int_var(s->z));
        Num value = arith_mul(s->z, quarters, arith_real(s->z, 0.25));
        is = arith_and(s->z, is, arith_eq(s->z, large, value));
    }
    arith_define(s->z, p, is);
    return p;
}

/* Whole numbers: what is left of x behind r times y is smaller than y, and has the sign of x. */
static Truth is_whole_quotient(Sought *s, Num r, Num x, Num y)
{
    Num zero = arith_int(s->z, 0), rest = arith_sub(s->z, x, product(s, r, y));
    Num size = arith_choose(s->z, arith_lt(s->z, y, zero), arith_sub(s->z, zero, y), y);
    Truth up = arith_and(s->z, arith_le(s->z, zero, rest), arith_lt(s->z, rest, size));
    Truth down = arith_and(s->z, arith_le(s->z, rest, zero),
                           arith_lt(s->z, arith_sub(s->z, zero, size), rest));
    Truth negative = arith_lt(s->z, x, zero);
    return arith_or(s->z, arith_and(s->z, negative, down),
                    arith_and(s->z, arith_not(s->z, negative), up));
}

/* x / y: the number that gives x times y. */
static Num quotient(Sought *s, Num x, Num y)
{
    if (arith_is_known(s->z, y))
        return arith_div(s->z, x, y);
    s->products = true;
    if (!s->simple)
        return arith_div(s->z, x, y);
    bool real = arith_is_real(s->z, x) || arith_is_real(s->z, y);
    Num r = real ? arith_real_var(s->z) : arith_int_var(s->z);
    Truth zero = arith_eq(s->z, y, real ? arith_real(s->z, 0) : arith_int(s->z, 0));
    Truth is = real ? arith_eq(s->z, product(s, r, y), x) : is_whole_quotient(s, r, x, y);
    arith_define(s->z, r, arith_or(s->z, zero, is));
    return r;
}

/* What a division of whole numbers leaves. */
static Num remainder_of(Sought *s, Num x, Num y)
{
    s->products |= !arith_is_known(s->z, y);
    if (arith_is_known(s->z, y) || !s->simple)
        return arith_mod(s->z, x, y);
    return arith_sub(s->z, x, product(s, quotient(s, x, y), y));
}

/* x to a small whole power. */
static bool call_pow(Sought *s, const Term *t, const Sym *args, Sym *out)
{
    const Term *e = t->args[1];
    while (e->kind == TERM_CAST)
        e = e->args[0];
    if (strcmp(t->name, "POW") || !args[0].num || e->kind != TERM_CONST ||
        !datum_is_number(&e->value))
        return false;
    double k = datum_as_double(&e->value);
    if (k != floor(k) || k < 0 || k > 4)
        return false;
    Num x = arith_to_real(s->z, args[0].num), p = arith_real(s->z, 1);
    for (int i = 0; i < (int)k; i++)
        p = i ? product(s, p, x) : x;
    *out = sym_num(s, DATUM_DOUBLE, args[0].null, p);
    return true;
}

/* The day of a moment: the whole days before it. */
static bool call_trunc(Sought *s, const Term *t, const Sym *args, Sym *out)
{
    const Term *unit = t->args[0];
    if (strcmp(t->name, "sql.trunc") || unit->kind != TERM_CONST || !args[1].num ||
        strcmp(unit->value.u.s, "day"))
        return false;
    Num day = arith_int(s->z, 86400000), q = arith_int_var(s->z), begin = arith_mul(s->z, q, day);
    sought_assert_as(s, arith_le(s->z, begin, args[1].num), TAG_RANGE);
    sought_assert_as(s, arith_lt(s->z, args[1].num, arith_add(s->z, begin, day)), TAG_RANGE);
    *out = sym_num(s, DATUM_DATETIME, args[1].null, begin);
    return true;
}

static Sym call_maker(Sought *s, const Term *t, const Sym *args)
{
    Sym r = sym_tuple(s, t->nargs);
    for (size_t i = 0; i < t->nargs; i++)
        r.fields[i] = args[i];
    if (!strcmp(t->name, "TOTUPLE"))
        return r;
    Sym b = { .kind = DATUM_BAG, .null = no(s), .n = t->nargs };
    b.items = arena_array(s->a, Sym, t->nargs + 1);
    b.present = arena_array(s->a, Truth, t->nargs + 1);
    for (size_t i = 0; i < t->nargs; i++) {
        b.items[i] = sym_tuple(s, 1);
        b.items[i].fields[0] = args[i];
        if (args[i].kind == DATUM_TUPLE)
            b.items[i] = args[i];
        b.present[i] = yes(s);
    }
    return b;
}

static Sym of_call(Sought *s, const Term *t, const SymEnv *env)
{
    Sym *args = arena_array(s->a, Sym, t->nargs + 1), out;
    for (size_t i = 0; i < t->nargs; i++)
        args[i] = sym_term(s, t->args[i], env);
    if (!strcmp(t->name, "TOTUPLE") || !strcmp(t->name, "TOBAG"))
        return call_maker(s, t, args);
    const Function *f = function_find(t->name);
    bool bag_function =
        f && (f->aggregate || !strcmp(t->name, "SIZE") || !strcmp(t->name, "IsEmpty"));
    if (bag_function && t->nargs && args[0].kind == DATUM_BAG && args[0].items)
        return call_on_bag(s, t, &args[0]);
    if (t->nargs == 1 && call_on_number(s, t, &args[0], &out))
        return out;
    if (t->nargs == 2 && (call_pow(s, t, args, &out) || call_trunc(s, t, args, &out)))
        return out;
    if (f && f->random)
        return guess(s, t->type);
    if (!f && !(s->udfs && udf_known(s->udfs, t->name))) {
        s->missing = t->name;
        return guess(s, t->type);
    }
    return tabulate(s, t, args, t->nargs);
}

static Sym of_aggregate(Sought *s, const Term *t, const SymEnv *env)
{
    Sym bag = sym_term(s, t->args[0], env);
    if (bag.kind != DATUM_BAG || !bag.items)
        return guess(s, t->type);
    s->inexact |= !s->relaxed;
    Seen e = { arena_array(s->a, Sym, bag.n + 1), arena_array(s->a, Truth, bag.n + 1), bag.n,
               bag.open };
    for (size_t i = 0; i < bag.n; i++) {
        SymEnv here = { &bag.items[i], env };
        e.in[i] = bag.present[i];
        if (t->nargs > 1) {
            e.v[i] = sym_term(s, t->args[1], &here);
            e.in[i] = arith_and(s->z, e.in[i], arith_not(s->z, e.v[i].null));
        }
        if (t->filter) {
            Sym c = sym_term(s, t->filter, &here);
            e.in[i] = arith_and(s->z, e.in[i], sym_true(s, &c));
        }
        for (size_t k = 0; k < i && t->distinct && t->nargs > 1; k++)
            e.in[i] = arith_and(s->z, e.in[i],
                                arith_not(s->z, arith_and(s->z, e.in[k],
                                                          sym_equal(s, &e.v[i], &e.v[k]))));
    }
    if (t->nargs < 2)
        return counted(s, e.in, e.n, e.open);
    return aggregate(s, t->name, &e, t->type);
}

/* ---- casts and arithmetic */

static Sym cast_alts(Sought *s, const Sym *x, Type to)
{
    Alt *alts = arena_array(s->a, Alt, x->nalts + 1);
    size_t n = 0;
    for (size_t i = 0; i < x->nalts; i++) {
        Datum d;
        if (datum_cast(s->a, &x->alts[i].value, to, &d) && d.kind != DATUM_NULL)
            alts[n++] = (Alt){ x->alts[i].when, d, is_text(to.kind) ? x->alts[i].class : 0 };
    }
    Sym r = from_alts(s, to.kind, alts, n);
    return r;
}

/* A result as the machine has it. Rounding is confirmed by the evaluator, and
 * wrap-around is not wanted; a relaxed question admits both. */
static Num settle(Sought *s, DatumKind kind, Num r)
{
    if (!s->relaxed) {
        if (kind == DATUM_INT)
            in_range(s, r, INT32_MIN, INT32_MAX);
        return r;
    }
    if (is_real(kind)) {
        Num near = arith_real_var(s->z), zero = arith_real(s->z, 0);
        Num size = arith_choose(s->z, arith_le(s->z, zero, r), r, arith_sub(s->z, zero, r));
        Num error = arith_mul(s->z, size, arith_real(s->z, kind == DATUM_FLOAT ? 6e-8 : 1.12e-16));
        error = arith_add(s->z, error, arith_real(s->z, 1e-300));
        Truth huge = arith_lt(s->z, arith_real(s->z, 1e37), size);
        Truth fits = arith_and(s->z, arith_le(s->z, arith_sub(s->z, r, error), near),
                               arith_le(s->z, near, arith_add(s->z, r, error)));
        sought_assert_as(s, arith_or(s->z, huge, fits), TAG_RANGE);
        return near;
    }
    int64_t most = kind == DATUM_INT ? INT32_MAX : INT64_MAX;
    Truth fits = arith_and(s->z, arith_le(s->z, arith_int(s->z, -most - 1), r),
                           arith_le(s->z, r, arith_int(s->z, most)));
    Num wrapped = arith_int_var(s->z);
    in_range(s, wrapped, -most - 1, most);
    return arith_choose(s->z, fits, r, wrapped);
}

/* Does a number become a double or a float without rounding? */
static bool is_small(const Sym *x, DatumKind to)
{
    if (x->nalts == 1 && datum_is_number(&x->alts[0].value))
        return fabs(datum_as_double(&x->alts[0].value)) < (to == DATUM_FLOAT ? 1e7 : 1e15);
    return (x->kind == DATUM_INT || x->kind == DATUM_FLOAT) && to != DATUM_FLOAT;
}

static Sym of_cast(Sought *s, const Term *t, const SymEnv *env)
{
    Sym x = sym_term(s, t->args[0], env);
    DatumKind to = t->type.kind;
    if (x.kind == to || to == DATUM_BYTES)
        return x;
    if (x.kind == DATUM_NULL)
        return sym_null(s, to);
    if (x.num && is_real(to))
        return sym_num(s, to, x.null,
                       is_small(&x, to) ? arith_to_real(s->z, x.num)
                                        : settle(s, to, arith_to_real(s->z, x.num)));
    if (x.num && is_whole(to)) {
        Sym r = sym_num(s, to, x.null, arith_to_int(s->z, x.num));
        r.num = settle(s, to, r.num);
        return r;
    }
    if (x.truth && (is_whole(to) || is_real(to)))
        return sym_num(s, to, x.null,
                       arith_choose(s->z, x.truth, arith_int(s->z, 1), arith_int(s->z, 0)));
    if (x.num && to == DATUM_BOOL)
        return sym_bool(x.null, arith_not(s->z, arith_eq(s->z, x.num, arith_int(s->z, 0))));
    if (x.nalts || enumerate(s, &x))
        return cast_alts(s, &x, t->type);
    return guess(s, t->type);
}

static Sym of_arith(Sought *s, const Term *t, const SymEnv *env)
{
    Sym x = sym_term(s, t->args[0], env);
    DatumKind kind = t->type.kind;
    Sym y = t->nargs > 1 ? sym_term(s, t->args[1], env) : x;
    Truth null = arith_or(s->z, x.null, y.null);
    if (!x.num || !y.num)
        return x.kind == DATUM_NULL || y.kind == DATUM_NULL ? sym_null(s, kind) : guess(s, t->type);
    Num a = is_real(kind) ? arith_to_real(s->z, x.num) : x.num;
    Num b = is_real(kind) ? arith_to_real(s->z, y.num) : y.num, r = a;
    Num zero = is_real(kind) ? arith_real(s->z, 0) : arith_int(s->z, 0);
    if (kind == DATUM_DATETIME && y.kind != DATUM_DATETIME) /* days */
        b = arith_mul(s->z, b, arith_int(s->z, 86400000));
    switch (t->kind) {
    case TERM_NEG: r = arith_sub(s->z, zero, a); break;
    case TERM_ADD: r = arith_add(s->z, a, b); break;
    case TERM_SUB: r = arith_sub(s->z, a, b); break;
    case TERM_MUL: r = product(s, a, b); break;
    default: {
        Truth ends = arith_and(s->z, arith_not(s->z, null), arith_eq(s->z, b, zero));
        null = arith_or(s->z, null, arith_eq(s->z, b, zero));
        r = t->kind == TERM_DIV || is_real(kind) ? quotient(s, a, b) : remainder_of(s, a, b);
        if ((t->kind == TERM_MOD && s->plan->lang == LANG_PIG) || (s->plan->postgres && !s->lazy))
            sought_assert_as(s, arith_not(s->z, ends), TAG_RANGE);
        break;
    }
    }
    return sym_num(s, kind, null, settle(s, kind, r));
}

static Sym of_compare(Sought *s, const Term *t, const SymEnv *env)
{
    Sym x = sym_term(s, t->args[0], env), y = sym_term(s, t->args[1], env);
    if (t->kind == TERM_NOT_DISTINCT)
        return sym_bool(no(s), sym_alike(s, &x, &y));
    Truth null = arith_or(s->z, x.null, y.null);
    bool is_null;
    if (arith_is_constant(s->z, null, &is_null) && is_null)
        return sym_bool(null, no(s));
    return sym_bool(null, compare_syms(s, &x, &y, t->kind));
}

static Sym of_logic(Sought *s, const Term *t, const SymEnv *env)
{
    Sym x = sym_term(s, t->args[0], env);
    if (t->kind == TERM_NOT)
        return x.truth ? sym_bool(x.null, arith_not(s->z, x.truth)) : x;
    s->lazy++;
    Sym y = sym_term(s, t->args[1], env);
    s->lazy--;
    Truth tx = sym_true(s, &x), ty = sym_true(s, &y), fx = sym_false(s, &x), fy = sym_false(s, &y);
    Truth is_true = t->kind == TERM_AND ? arith_and(s->z, tx, ty) : arith_or(s->z, tx, ty);
    Truth is_false = t->kind == TERM_AND ? arith_or(s->z, fx, fy) : arith_and(s->z, fx, fy);
    return sym_bool(arith_not(s->z, arith_or(s->z, is_true, is_false)), is_true);
}

static bool is_always_null(Sought *s, const Sym *x)
{
    bool null;
    return x->kind == DATUM_NULL || (arith_is_constant(s->z, x->null, &null) && null);
}

Sym sym_choose(Sought *s, Truth c, const Sym *x, const Sym *y)
{
    bool v;
    if (arith_is_constant(s->z, c, &v))
        return v ? *x : *y;
    bool no_x = is_always_null(s, x);
    if (no_x || is_always_null(s, y)) {
        Sym r = no_x ? *y : *x;
        Truth here = no_x ? arith_not(s->z, c) : c;
        r.null = arith_or(s->z, r.null, arith_not(s->z, here));
        if (r.nalts) {
            Alt *alts = arena_array(s->a, Alt, r.nalts + 1);
            for (size_t i = 0; i < r.nalts; i++)
                alts[i] = (Alt){ arith_and(s->z, here, r.alts[i].when), r.alts[i].value,
                                 r.alts[i].class };
            r.alts = alts;
        }
        return r;
    }
    Sym r = { .kind = x->kind, .null = arith_choose_truth(s->z, c, x->null, y->null) };
    if (x->num && y->num)
        r.num = arith_choose(s->z, c, x->num, y->num);
    if (x->truth && y->truth)
        r.truth = arith_choose_truth(s->z, c, x->truth, y->truth);
    if (x->which && y->which)
        r.which = arith_choose(s->z, c, x->which, y->which);
    if (x->nalts && y->nalts) {
        r.alts = arena_array(s->a, Alt, x->nalts + y->nalts + 1);
        for (size_t i = 0; i < x->nalts; i++)
            r.alts[r.nalts++] =
                (Alt){ arith_and(s->z, c, x->alts[i].when), x->alts[i].value, x->alts[i].class };
        for (size_t i = 0; i < y->nalts; i++)
            r.alts[r.nalts++] = (Alt){ arith_and(s->z, arith_not(s->z, c), y->alts[i].when),
                                       y->alts[i].value, y->alts[i].class };
    }
    if (x->kind == DATUM_TUPLE && y->kind == DATUM_TUPLE && x->n == y->n) {
        r.n = x->n;
        r.fields = arena_array(s->a, Sym, r.n + 1);
        for (size_t i = 0; i < r.n; i++)
            r.fields[i] = sym_choose(s, c, &x->fields[i], &y->fields[i]);
    } else if (!r.num && !r.truth && !r.nalts) {
        return guess(s, dtype_of(x->kind));
    }
    return r;
}

static Sym of_cond(Sought *s, const Term *t, const SymEnv *env)
{
    Sym c = sym_term(s, t->args[0], env);
    Sym x = sym_term(s, t->args[1], env), y = sym_term(s, t->args[2], env);
    Sym r = sym_choose(s, sym_true(s, &c), &x, &y), none = sym_null(s, DATUM_NULL);
    return sym_choose(s, c.null, &none, &r);
}

static Sym of_case(Sought *s, const Term *t, const SymEnv *env)
{
    s->lazy++;
    Sym r = t->nargs % 2 ? sym_term(s, t->args[t->nargs - 1], env) : sym_null(s, t->type.kind);
    for (size_t i = t->nargs / 2; i-- > 0;) {
        Sym c = sym_term(s, t->args[2 * i], env), v = sym_term(s, t->args[2 * i + 1], env);
        r = sym_choose(s, sym_true(s, &c), &v, &r);
    }
    s->lazy--;
    return r;
}

/* ---- structure */

void sym_look(const Sym *row)
{
    for (size_t i = 0; i < row->n; i++)
        if (row->fields[i].used)
            *row->fields[i].used = true;
}

static Sym take_field(Sought *s, const Sym *row, int index)
{
    if (index < 0 || (size_t)index >= row->n)
        return sym_null(s, DATUM_NULL);
    if (row->fields[index].used)
        *row->fields[index].used = true;
    return row->fields[index];
}

static Sym project_row(Sought *s, const Term *t, const Sym *row)
{
    Sym r = sym_tuple(s, t->ncolumns);
    for (size_t i = 0; i < t->ncolumns; i++)
        r.fields[i] = take_field(s, row, t->columns[i]);
    return r;
}

static Sym of_project(Sought *s, const Term *t, const SymEnv *env)
{
    Sym x = sym_term(s, t->args[0], env);
    if (x.kind == DATUM_TUPLE) {
        Sym r =
            t->ncolumns == 1 && !t->wrap ? take_field(s, &x, t->columns[0]) : project_row(s, t, &x);
        r.null = arith_or(s->z, r.null, x.null);
        return r;
    }
    if (x.kind != DATUM_BAG || !x.items)
        return guess(s, t->type);
    Sym r = x;
    r.items = arena_array(s->a, Sym, x.n + 1);
    for (size_t i = 0; i < x.n; i++)
        r.items[i] = project_row(s, t, &x.items[i]);
    return r;
}

static Sym of_lookup(Sought *s, const Term *t, const SymEnv *env)
{
    Sym m = sym_term(s, t->args[0], env);
    const Term *k = t->args[1];
    if (m.kind != DATUM_MAP || k->kind != TERM_CONST || k->value.kind != DATUM_TEXT)
        return guess(s, t->type);
    for (size_t i = 0; i < m.n; i++)
        if (!strcmp(m.keys[i], k->value.u.s)) {
            Sym r = m.fields[i];
            r.null = arith_or(s->z, r.null, m.null);
            return r;
        }
    return sym_null(s, t->type.kind);
}

static const SymEnv *env_up(const SymEnv *env, int depth)
{
    while (depth-- > 0 && env)
        env = env->up;
    return env;
}

static Sym of_field_sym(Sought *s, const Term *t, const SymEnv *env)
{
    const SymEnv *e = env_up(env, t->depth);
    if (!e)
        return guess(s, t->type);
    if (t->index >= 0)
        return take_field(s, e->row, t->index);
    sym_look(e->row);
    return *e->row;
}

static Sym of_matches(Sought *s, const Term *t, const SymEnv *env)
{
    Sym *args = arena_array(s->a, Sym, 2);
    args[0] = sym_term(s, t->args[0], env);
    args[1] = sym_term(s, t->args[1], env);
    return tabulate(s, t, args, 2);
}

/* Is x IN (SELECT …), or compared so with ANY of its rows? Relaxed: where no row is
 * found, the answer may also be null. */
static Sym of_any(Sought *s, const Term *t, const SymEnv *env, const Sym *x, TermKind compare,
                  bool negate)
{
    Truth there = demand_exists(s, t->op, env, x, compare);
    Truth null =
        s->relaxed ? arith_and(s->z, arith_not(s->z, there), arith_bool_var(s->z)) : x->null;
    return sym_bool(null, negate ? arith_not(s->z, there) : there);
}

static Sym of_query(Sought *s, const Term *t, const SymEnv *env)
{
    static const TermKind opposite[] = {
        [TERM_EQ] = TERM_NE, [TERM_NE] = TERM_EQ, [TERM_LT] = TERM_GE,
        [TERM_LE] = TERM_GT, [TERM_GT] = TERM_LE, [TERM_GE] = TERM_LT,
    };
    Sym x = t->nargs ? sym_term(s, t->args[0], env) : (Sym){ 0 };
    s->inexact |= !s->relaxed;
    if (t->kind == TERM_EXISTS)
        return sym_bool(no(s), demand_exists(s, t->op, env, NULL, TERM_EQ));
    if (t->kind == TERM_SCALAR_QUERY)
        return demand_scalar(s, t->op, env, 0);
    if (t->kind == TERM_IN_QUERY)
        return of_any(s, t, env, &x, TERM_EQ, false);
    return t->all ? of_any(s, t, env, &x, opposite[t->compare], true)
                  : of_any(s, t, env, &x, t->compare, false);
}

Sym sym_term(Sought *s, const Term *t, const SymEnv *env)
{
    switch (t->kind) {
    case TERM_CONST: return sym_const(s, &t->value);
    case TERM_FIELD: return of_field_sym(s, t, env);
    case TERM_PROJECT: return of_project(s, t, env);
    case TERM_LOOKUP: return of_lookup(s, t, env);
    case TERM_NESTED: return sym_nested(s, t->op, env_up(env, t->depth));
    case TERM_SCALAR: return demand_scalar(s, t->op, NULL, t->index);
    case TERM_NEG:
    case TERM_ADD:
    case TERM_SUB:
    case TERM_MUL:
    case TERM_DIV:
    case TERM_MOD: return of_arith(s, t, env);
    case TERM_EQ:
    case TERM_NE:
    case TERM_LT:
    case TERM_LE:
    case TERM_GT:
    case TERM_GE:
    case TERM_NOT_DISTINCT: return of_compare(s, t, env);
    case TERM_AND:
    case TERM_OR:
    case TERM_NOT: return of_logic(s, t, env);
    case TERM_IS_NULL: {
        Sym x = sym_term(s, t->args[0], env);
        return sym_bool(no(s), x.null);
    }
    case TERM_MATCHES:
    case TERM_LIKE: return of_matches(s, t, env);
    case TERM_COND: return of_cond(s, t, env);
    case TERM_CASE: return of_case(s, t, env);
    case TERM_CAST: return of_cast(s, t, env);
    case TERM_CALL: return of_call(s, t, env);
    case TERM_AGGREGATE: return of_aggregate(s, t, env);
    case TERM_EXISTS:
    case TERM_IN_QUERY:
    case TERM_SCALAR_QUERY:
    case TERM_QUANTIFIED: return of_query(s, t, env);
    }
    return guess(s, t->type);
}

/* ---- nested blocks */

static Sym copy_bag(Sought *s, const Sym *b)
{
    Sym r = *b;
    r.items = arena_array(s->a, Sym, b->n + 1);
    r.present = arena_array(s->a, Truth, b->n + 1);
    memcpy(r.items, b->items, b->n * sizeof(Sym));
    memcpy(r.present, b->present, b->n * sizeof(Truth));
    return r;
}

static Sym empty_bag(Sought *s)
{
    return (Sym){ .kind = DATUM_BAG,
                  .null = no(s),
                  .items = arena_array(s->a, Sym, 1),
                  .present = arena_array(s->a, Truth, 1) };
}

static Sym nested_filter(Sought *s, const Op *op, const Sym *in, const SymEnv *env)
{
    Sym r = copy_bag(s, in);
    for (size_t i = 0; i < r.n; i++) {
        SymEnv here = { &r.items[i], env };
        Sym c = sym_term(s, op->cond, &here);
        r.present[i] = arith_and(s->z, r.present[i], sym_true(s, &c));
    }
    return r;
}

static Sym nested_distinct(Sought *s, const Sym *in)
{
    Sym r = copy_bag(s, in);
    for (size_t i = 0; i < r.n; i++)
        for (size_t k = 0; k < i; k++) {
            Truth same =
                arith_and(s->z, in->present[k], sym_rows_alike(s, &in->items[i], &in->items[k]));
            r.present[i] = arith_and(s->z, r.present[i], arith_not(s->z, same));
        }
    return r;
}

static Sym nested_limit(Sought *s, const Op *op, const Sym *in)
{
    const Term *t = op->count;
    if (!t || t->kind != TERM_CONST || !datum_is_number(&t->value))
        return *in;
    Num most = arith_int(s->z, (int64_t)datum_as_double(&t->value));
    Sym r = copy_bag(s, in);
    for (size_t i = 0; i < r.n; i++)
        r.present[i] =
            arith_and(s->z, in->present[i], arith_lt(s->z, count_if(s, in->present, i), most));
    s->inexact = true; /* the order is not known */
    return r;
}

/* GENERATE without FLATTEN of bags. */
static Sym nested_foreach(Sought *s, const Op *op, const Sym *in, const SymEnv *env)
{
    Sym r = copy_bag(s, in);
    for (size_t i = 0; i < r.n; i++) {
        SymEnv here = { &in->items[i], env };
        r.items[i] = sym_tuple(s, op->nitems);
        for (size_t k = 0; k < op->nitems; k++) {
            r.items[i].fields[k] = sym_term(s, op->items[k].expr, &here);
            if (op->items[k].flatten)
                s->inexact = true;
        }
    }
    return r;
}

static Sym nested_cross(Sought *s, const Sym *x, const Sym *y)
{
    Sym r = { .kind = DATUM_BAG, .null = no(s), .n = x->n * y->n };
    r.open = x->open || y->open;
    r.items = arena_array(s->a, Sym, r.n + 1);
    r.present = arena_array(s->a, Truth, r.n + 1);
    for (size_t i = 0; i < x->n; i++)
        for (size_t k = 0; k < y->n; k++) {
            Sym t = sym_tuple(s, x->items[i].n + y->items[k].n);
            memcpy(t.fields, x->items[i].fields, x->items[i].n * sizeof(Sym));
            memcpy(t.fields + x->items[i].n, y->items[k].fields, y->items[k].n * sizeof(Sym));
            r.items[i * y->n + k] = t;
            r.present[i * y->n + k] = arith_and(s->z, x->present[i], y->present[k]);
        }
    return r;
}

Sym sym_nested(Sought *s, const Op *op, const SymEnv *env)
{
    Sym in = empty_bag(s), other = in;
    if (op->kind == OP_BAG) {
        Sym b = sym_term(s, op->source, env);
        return b.kind == DATUM_BAG && b.items ? b : in;
    }
    if (op->nin)
        in = sym_nested(s, op->in[0], env);
    switch (op->kind) {
    case OP_FILTER: return nested_filter(s, op, &in, env);
    case OP_DISTINCT: return nested_distinct(s, &in);
    case OP_LIMIT: return nested_limit(s, op, &in);
    case OP_FOREACH: return nested_foreach(s, op, &in, env);
    case OP_CROSS:
        for (size_t i = 1; i < op->nin; i++) {
            other = sym_nested(s, op->in[i], env);
            in = nested_cross(s, &in, &other);
        }
        return in;
    default: return in;
    }
}

/* ---- models */

static double rounded(double d)
{
    /* As few digits as keep the value near: 0.3333333 stays readable. */
    double r = round(d * 1e6) / 1e6;
    return fabs(r - d) <= 1e-9 * (fabs(d) + 1) ? r : d;
}

static Datum bag_value(Sought *s, const Sym *x, Type type, Arena *a)
{
    Bag *b = bag_new(a, x->n);
    b->n = 0;
    for (size_t i = 0; i < x->n; i++)
        if (arith_truth_value(s->z, x->present[i]))
            b->items[b->n++] = sym_value(s, &x->items[i], dtype_tuple(type.inner), a).u.tuple;
    return datum_bag(b);
}

static Datum map_value(Sought *s, const Sym *x, Type type, Arena *a)
{
    DatumMap *m = arena_new(a, DatumMap);
    m->keys = arena_array(a, Datum, x->n + 1);
    m->values = arena_array(a, Datum, x->n + 1);
    Type inner = type.inner && type.inner->n ? type.inner->fields[0].type : dtype_of(DATUM_BYTES);
    for (size_t i = 0; i < x->n; i++) {
        Datum v = sym_value(s, &x->fields[i], inner, a);
        if (v.kind == DATUM_NULL)
            continue;
        m->keys[m->n] = datum_text(a, x->keys[i]);
        m->values[m->n++] = v;
    }
    return (Datum){ .kind = DATUM_MAP, .u.map = m };
}

Datum sym_value(Sought *s, const Sym *x, Type type, Arena *a)
{
    if (arith_truth_value(s->z, x->null))
        return datum_null();
    int64_t i = 0;
    double d = 0;
    switch (x->kind) {
    case DATUM_INT:
    case DATUM_LONG:
    case DATUM_BIGINT:
    case DATUM_DATETIME: {
        arith_int_value(s->z, x->num, &i);
        Datum r = x->kind == DATUM_INT ? datum_int((int32_t)i) : datum_long(i);
        r.kind = (uint8_t)x->kind;
        return r;
    }
    case DATUM_FLOAT:
    case DATUM_DOUBLE:
    case DATUM_BIGDEC: {
        arith_real_value(s->z, x->num, &d);
        Datum r = x->kind == DATUM_FLOAT ? datum_float(rounded(d)) : datum_double(rounded(d));
        r.kind = (uint8_t)x->kind;
        return r;
    }
    case DATUM_BOOL: return datum_bool(arith_truth_value(s->z, x->truth));
    case DATUM_TUPLE: {
        Tuple *t = tuple_new(a, x->n);
        for (size_t k = 0; k < x->n; k++)
            t->fields[k] = sym_value(s, &x->fields[k],
                                     type.inner && k < type.inner->n ? type.inner->fields[k].type
                                                                     : dtype_of(DATUM_BYTES),
                                     a);
        return datum_tuple(t);
    }
    case DATUM_BAG: return x->items ? bag_value(s, x, type, a) : datum_null();
    case DATUM_MAP: return map_value(s, x, type, a);
    default:
        for (size_t k = 0; k < x->nalts; k++)
            if (arith_truth_value(s->z, x->alts[k].when))
                return datum_copy(a, &x->alts[k].value);
        return datum_null();
    }
}
