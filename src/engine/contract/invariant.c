/* Statements: their meaning and their text. See invariant.h. */
#include "engine/contract/invariant.h"
#include "base/escape.h"
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Name and number of variables of each kind, in the order of InvKind. */
static const struct {
    const char *name;
    unsigned arity;
} kinds[INV_N] = {
    { "one-of", 1 },    { "nonzero", 1 },   { "lower", 1 },   { "upper", 1 },   { "modulus", 1 },
    { "flags", 1 },     { "one-value", 1 }, { "equal", 2 },   { "less", 2 },    { "linear", 2 },
    { "quotient", 2 },  { "absolute", 2 },  { "linear3", 3 }, { "product", 3 }, { "ratio", 3 },
    { "remainder", 3 }, { "shift", 3 },     { "and", 3 },     { "or", 3 },      { "minimum", 3 },
    { "maximum", 3 },   { "unchanged", 1 },
};

static const char *const guards[] = { "", "zero", "nonzero", "negative", "not-negative" };

const char *inv_kind_name(InvKind k)
{
    assert(k < INV_N);
    return kinds[k].name;
}

bool inv_kind_parse(const char *name, InvKind *out)
{
    for (unsigned i = 0; i < INV_N; i++)
        if (strcmp(kinds[i].name, name) == 0) {
            *out = (InvKind)i;
            return true;
        }
    return false;
}

unsigned inv_arity(InvKind k)
{
    assert(k < INV_N);
    return kinds[k].arity;
}

const char *guard_name(Guard g)
{
    assert(g < sizeof guards / sizeof *guards);
    return guards[g];
}

bool guard_holds(Guard g, int64_t value)
{
    switch (g) {
    case GUARD_ZERO: return value == 0;
    case GUARD_NONZERO: return value != 0;
    case GUARD_NEGATIVE: return value < 0;
    case GUARD_NOT_NEGATIVE: return value >= 0;
    case GUARD_NONE: break;
    }
    return true;
}

bool inv_mentions(const Invariant *inv, int v)
{
    for (unsigned i = 0; i < inv_arity(inv->kind); i++)
        if (inv->v[i] == v)
            return true;
    return inv->guard != GUARD_NONE && inv->v_guard == v;
}

bool inv_same(const Invariant *a, const Invariant *b)
{
    if (a->kind != b->kind || a->guard != b->guard || a->n != b->n ||
        (a->guard && a->v_guard != b->v_guard))
        return false;
    for (unsigned i = 0; i < inv_arity(a->kind); i++)
        if (a->v[i] != b->v[i])
            return false;
    return a->kind == INV_ONE_VALUE || memcmp(a->k, b->k, sizeof a->k) == 0;
}

bool inv_belongs(const Invariant *inv, const Point *p)
{
    if (!p->is_exit)
        return true;
    if (inv->kind == INV_UNCHANGED)
        return true;
    for (unsigned i = 0; i < inv_arity(inv->kind); i++)
        if (var_is_after(&p->vars[inv->v[i]]))
            return true;
    return false;
}

/* --- meaning */

bool inv_applies(const Invariant *inv, const Point *p, const Row *r)
{
    for (unsigned i = 0; i < inv_arity(inv->kind); i++) {
        assert(inv->v[i] >= 0 && (unsigned)inv->v[i] < p->nvars);
        if (!r->known[inv->v[i]])
            return false;
    }
    if (inv->guard == GUARD_NONE)
        return true;
    return r->known[inv->v_guard] && guard_holds(inv->guard, r->cells[inv->v_guard].i);
}

static bool nearly_equal(double a, double b)
{
    double m = fmax(fabs(a), fabs(b));
    return a == b || fabs(a - b) <= 1e-4 * m;
}

static double as_double(const Point *p, int v, Cell c)
{
    return p->vars[v].kind == VAR_FLOAT ? c.d : (double)c.i;
}

static bool holds_float(const Invariant *inv, const Point *p, const Cell *x)
{
    double a = as_double(p, inv->v[0], x[0]);

    switch (inv->kind) {
    case INV_ONE_OF:
        for (unsigned i = 0; i < inv->n; i++)
            if (nearly_equal(a, inv->k[i].d))
                return true;
        return false;
    case INV_NONZERO: return a != 0;
    case INV_LOWER: return a >= inv->k[0].d || nearly_equal(a, inv->k[0].d);
    case INV_UPPER: return a <= inv->k[0].d || nearly_equal(a, inv->k[0].d);
    case INV_EQUAL: return nearly_equal(a, as_double(p, inv->v[1], x[1]));
    case INV_LESS: {
        double b = as_double(p, inv->v[1], x[1]);
        return inv->k[0].i < 0 ? a < b && !nearly_equal(a, b) : a <= b || nearly_equal(a, b);
    }
    default: return true;
    }
}

static int64_t floor_mod(int64_t x, int64_t m)
{
    int64_t r = x % m;
    return r < 0 ? r + m : r;
}

static bool holds_one_of(const Invariant *inv, int64_t a)
{
    for (unsigned i = 0; i < inv->n; i++)
        if (inv->k[i].i == a)
            return true;
    return false;
}

static bool holds_three(InvKind k, int64_t a, int64_t b, int64_t c)
{
    __int128 wide = (__int128)b * c;

    switch (k) {
    case INV_PRODUCT: return wide == a;
    case INV_RATIO: return c != 0 && !(b == INT64_MIN && c == -1) && b / c == a;
    case INV_REMAINDER: return c != 0 && !(b == INT64_MIN && c == -1) && b % c == a;
    case INV_SHIFT: return c >= 0 && c < 32 && (__int128)b * ((int64_t)1 << c) == a;
    case INV_AND: return (b & c) == a;
    case INV_OR: return (b | c) == a;
    case INV_MINIMUM: return a == (b < c ? b : c);
    case INV_MAXIMUM: return a == (b > c ? b : c);
    default: return true;
    }
}

static bool holds_int(const Invariant *inv, const int64_t *x)
{
    typedef __int128 wide;
    const Cell *k = inv->k;

    switch (inv->kind) {
    case INV_ONE_OF: return holds_one_of(inv, x[0]);
    case INV_NONZERO: return x[0] != 0;
    case INV_LOWER: return x[0] >= k[0].i;
    case INV_UPPER: return x[0] <= k[0].i;
    case INV_MODULUS: return floor_mod(x[0], k[0].i) == k[1].i;
    case INV_FLAGS: return (x[0] & ~k[0].i) == 0;
    case INV_ONE_VALUE: return true;           /* objects differ from run to run */
    case INV_EQUAL: return x[0] == x[1];
    case INV_LESS: return (wide)x[0] <= (wide)x[1] + k[0].i;
    case INV_LINEAR: return (wide)k[0].i * x[1] + k[1].i == x[0];
    case INV_QUOTIENT: return x[1] / k[0].i == x[0];
    case INV_ABSOLUTE: return x[0] == (x[1] < 0 ? -(wide)x[1] : x[1]);
    case INV_LINEAR3: return (wide)k[0].i * x[1] + (wide)k[1].i * x[2] + k[2].i == x[0];
    case INV_UNCHANGED: return true;
    default: return holds_three(inv->kind, x[0], x[1], x[2]);
    }
}

bool var_is_field(const Var *v, int param)
{
    return v->role == ROLE_MEMORY && v->param == param && !v->orig && v->twin >= 0 &&
           v->kind != VAR_FACT && !var_is_derived(v);
}

/* All fields that hang on the same parameter are as at entry. */
static bool is_unchanged(const Point *p, const Row *r, int param)
{
    for (unsigned i = 0; i < p->nvars; i++) {
        const Var *v = &p->vars[i];
        if (!var_is_field(v, param))
            continue;
        if (r->known[i] && r->known[v->twin] && r->cells[i].i != r->cells[v->twin].i)
            return false;
    }
    return true;
}

bool inv_holds(const Invariant *inv, const Point *p, const Row *r)
{
    if (!inv_applies(inv, p, r))
        return true;
    if (inv->kind == INV_UNCHANGED)
        return is_unchanged(p, r, p->vars[inv->v[0]].param);
    Cell x[3];
    bool is_float = false;
    for (unsigned i = 0; i < inv_arity(inv->kind); i++) {
        x[i] = r->cells[inv->v[i]];
        is_float |= p->vars[inv->v[i]].kind == VAR_FLOAT;
    }
    if (is_float)
        return holds_float(inv, p, x);
    return holds_int(inv, (int64_t[]){ x[0].i, inv_arity(inv->kind) > 1 ? x[1].i : 0,
                                       inv_arity(inv->kind) > 2 ? x[2].i : 0 });
}

/* --- text */

static void print_value(const Var *v, const Samples *s, Cell c, Str *out)
{
    if (v->kind == VAR_FLOAT) {
        str_addf(out, "%.6g", c.d);
        return;
    }
    if (v->kind == VAR_POINTER && c.i == 0) {
        str_add(out, "NULL");
        return;
    }
    if (v->kind == VAR_STRING) {
        const char *text = samples_text(s, c.i);
        str_addc(out, '"');
        escape_c_string(out, text, strlen(text));
        str_addc(out, '"');
        return;
    }
    for (unsigned i = 0; i < v->nvalues; i++)
        if (v->values[i].value == c.i) {
            escape_terminal_z(out, v->values[i].name);
            return;
        }
    str_addf(out, "%" PRId64, c.i);
}

static void print_name(const Point *p, int v, Str *out) { escape_terminal_z(out, p->vars[v].name); }

static void print_one_of(const Invariant *inv, const Point *p, const Samples *s, Str *out)
{
    const Var *v = &p->vars[inv->v[0]];

    if (v->kind == VAR_FACT) {
        if (inv->k[0].i == 0)
            str_addc(out, '!');
        print_name(p, inv->v[0], out);
        return;
    }
    for (unsigned i = 0; i < inv->n; i++) {
        str_add(out, i ? " || " : "");
        if (v->kind == VAR_STRING) {
            str_add(out, "strcmp(");
            print_name(p, inv->v[0], out);
            str_add(out, ", ");
            print_value(v, s, inv->k[i], out);
            str_add(out, ") == 0");
        } else {
            print_name(p, inv->v[0], out);
            str_add(out, " == ");
            print_value(v, s, inv->k[i], out);
        }
    }
}

/* " + 3", " - 3" or nothing. */
static void print_offset(int64_t c, Str *out)
{
    if (c)
        str_addf(out, " %c %" PRIu64, c < 0 ? '-' : '+', c < 0 ? -(uint64_t)c : (uint64_t)c);
}

/* The first term of a sum, or a further one. */
static void print_term(int64_t k, const Point *p, int v, bool first, Str *out)
{
    uint64_t m = k < 0 ? -(uint64_t)k : (uint64_t)k;

    if (first)
        str_add(out, k < 0 ? "-" : "");
    else
        str_add(out, k < 0 ? " - " : " + ");
    if (m != 1)
        str_addf(out, "%" PRIu64 " * ", m);
    print_name(p, v, out);
}

static void print_bound(const Invariant *inv, const Point *p, const Samples *s, Str *out)
{
    const Var *v = &p->vars[inv->v[0]];
    bool lower = inv->kind == INV_LOWER;

    print_name(p, inv->v[0], out);
    if (v->kind == VAR_INT && lower && inv->k[0].i == 1 && !v->nvalues) {
        str_add(out, " > 0");
        return;
    }
    if (v->kind == VAR_INT && !lower && inv->k[0].i == -1 && !v->nvalues) {
        str_add(out, " < 0");
        return;
    }
    str_add(out, lower ? " >= " : " <= ");
    print_value(v, s, inv->k[0], out);
}

static void print_unary(const Invariant *inv, const Point *p, const Samples *s, Str *out)
{
    const Var *v = &p->vars[inv->v[0]];

    switch (inv->kind) {
    case INV_ONE_OF: print_one_of(inv, p, s, out); break;
    case INV_NONZERO:
        print_name(p, inv->v[0], out);
        str_add(out, v->kind == VAR_POINTER ? " != NULL" : " != 0");
        break;
    case INV_LOWER:
    case INV_UPPER: print_bound(inv, p, s, out); break;
    case INV_MODULUS:
        print_name(p, inv->v[0], out);
        str_addf(out, " %% %" PRId64 " == %" PRId64, inv->k[0].i, inv->k[1].i);
        break;
    case INV_FLAGS:
        str_add(out, "(");
        print_name(p, inv->v[0], out);
        str_addf(out, " & ~0x%" PRIx64 ") == 0", (uint64_t)inv->k[0].i);
        break;
    case INV_UNCHANGED:
        str_addc(out, '*');
        print_name(p, inv->v[0], out);
        str_add(out, " == orig(*");
        print_name(p, inv->v[0], out);
        str_addc(out, ')');
        break;
    default: print_name(p, inv->v[0], out); str_add(out, " has only one value");
    }
}

/* What the function made stands on the left: return >= low. */
static bool reads_better_turned(const Invariant *inv, const Point *p)
{
    const Var *x = &p->vars[inv->v[0]], *y = &p->vars[inv->v[1]];

    if (inv->k[0].i != 0 && inv->k[0].i != -1)
        return false;
    if (x->role == ROLE_RESULT || y->role == ROLE_RESULT)
        return x->role != ROLE_RESULT;
    return p->is_exit && var_is_after(y) && !var_is_after(x);
}

static void print_less(const Invariant *inv, const Point *p, Str *out)
{
    int64_t c = inv->k[0].i;

    if (reads_better_turned(inv, p)) {
        print_name(p, inv->v[1], out);
        str_add(out, c < 0 ? " > " : " >= ");
        print_name(p, inv->v[0], out);
        return;
    }

    print_name(p, inv->v[0], out);
    str_add(out, c < 0 ? " < " : " <= ");
    print_name(p, inv->v[1], out);
    print_offset(c < 0 ? c + 1 : c, out);
}

static void print_binary(const Invariant *inv, const Point *p, Str *out)
{
    if (inv->kind == INV_LESS) {
        print_less(inv, p, out);
        return;
    }
    print_name(p, inv->v[0], out);
    str_add(out, " == ");
    switch (inv->kind) {
    case INV_LINEAR:
        print_term(inv->k[0].i, p, inv->v[1], true, out);
        print_offset(inv->k[1].i, out);
        break;
    case INV_QUOTIENT:
        print_name(p, inv->v[1], out);
        str_addf(out, " / %" PRId64, inv->k[0].i);
        break;
    case INV_ABSOLUTE:
        str_add(out, "abs(");
        print_name(p, inv->v[1], out);
        str_addc(out, ')');
        break;
    default: print_name(p, inv->v[1], out);
    }
}

static void print_ternary(const Invariant *inv, const Point *p, Str *out)
{
    static const char *const between[INV_N] = {
        [INV_PRODUCT] = " * ", [INV_RATIO] = " / ", [INV_REMAINDER] = " % ",
        [INV_SHIFT] = " << ",  [INV_AND] = " & ",   [INV_OR] = " | ",
    };
    bool called = inv->kind == INV_MINIMUM || inv->kind == INV_MAXIMUM;
    bool tight = inv->kind == INV_AND || inv->kind == INV_OR;

    print_name(p, inv->v[0], out);
    str_add(out, " == ");
    if (inv->kind == INV_LINEAR3) {
        /* The positive term first: "a - b", not "-b + a". */
        bool swap = inv->k[0].i < 0 && inv->k[1].i > 0;
        print_term(inv->k[swap].i, p, inv->v[1 + swap], true, out);
        print_term(inv->k[!swap].i, p, inv->v[1 + !swap], false, out);
        print_offset(inv->k[2].i, out);
        return;
    }
    str_add(out, called ? inv->kind == INV_MINIMUM ? "min(" : "max(" : tight ? "(" : "");
    print_name(p, inv->v[1], out);
    str_add(out, called ? ", " : between[inv->kind]);
    print_name(p, inv->v[2], out);
    str_add(out, called || tight ? ")" : "");
}

static void print_guard(const Invariant *inv, const Point *p, Str *out)
{
    bool pointer = p->vars[inv->v_guard].kind == VAR_POINTER;

    print_name(p, inv->v_guard, out);
    switch (inv->guard) {
    case GUARD_ZERO: str_add(out, pointer ? " == NULL" : " == 0"); break;
    case GUARD_NONZERO: str_add(out, pointer ? " != NULL" : " != 0"); break;
    case GUARD_NEGATIVE: str_add(out, " < 0"); break;
    case GUARD_NOT_NEGATIVE: str_add(out, " >= 0"); break;
    case GUARD_NONE: break;
    }
    str_add(out, " ==> ");
}

void inv_print(const Invariant *inv, const Point *p, const Samples *s, Str *out)
{
    if (inv->guard)
        print_guard(inv, p, out);
    switch (inv_arity(inv->kind)) {
    case 1: print_unary(inv, p, s, out); break;
    case 2: print_binary(inv, p, out); break;
    default: print_ternary(inv, p, out);
    }
}

bool inv_is_c(const Invariant *inv, const Point *p)
{
    if (inv->kind == INV_ONE_VALUE || inv->kind == INV_UNCHANGED || inv->kind == INV_MINIMUM ||
        inv->kind == INV_MAXIMUM)
        return false;
    for (unsigned i = 0; i < inv_arity(inv->kind); i++) {
        const Var *v = &p->vars[inv->v[i]];
        if (v->kind == VAR_FACT || str_starts(v->name, "size(") || strstr(v->name, "(size(") ||
            str_starts(v->name, "least(") || str_starts(v->name, "most(") ||
            strstr(v->name, "orig(least(") || strstr(v->name, "orig(most("))
            return false;
    }
    return true;
}

void inv_print_values(const Invariant *inv, const Point *p, const Samples *s, const Row *r,
                      Str *out)
{
    unsigned n = inv_arity(inv->kind);

    for (unsigned i = 0; i < n + (inv->guard != GUARD_NONE); i++) {
        int v = i < n ? inv->v[i] : inv->v_guard;
        bool twice = false;
        for (unsigned k = 0; k < i && k < n; k++)
            twice |= inv->v[k] == v;
        if (twice || !r->known[v])
            continue;
        str_add(out, i ? ", " : "");
        print_name(p, v, out);
        str_add(out, " = ");
        if (p->vars[v].kind == VAR_POINTER && r->cells[v].i)
            str_add(out, "an object");
        else
            print_value(&p->vars[v], s, r->cells[v], out);
    }
}
