#include "solve/arith.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <z3.h>

struct Arith {
    Z3_context z;
    Z3_solver solver;
    Z3_model model;
    Z3_sort ints, reals, bools;
    Vec(Z3_ast) tags;          /* by tag; NULL: not used */
    Vec(Z3_ast) assumed;       /* of the last check: tags, then wishes */
    size_t nwishes;
    Vec(bool) in_core;         /* of `assumed` */
    Map definitions;           /* by the variable's number */
    Map walked;                /* terms in which there is nothing left to define */
    size_t defined;
};

static void keep_quiet(Z3_context c, Z3_error_code e)
{
    (void)c;
    (void)e;
}

Arith *arith_new(const ArithPlan *plan)
{
    Arith *a = xcalloc(1, sizeof *a);
    Z3_config config = Z3_mk_config();
    Z3_set_param_value(config, "model", "true");
    a->z = Z3_mk_context(config);
    Z3_del_config(config);
    Z3_set_error_handler(a->z, keep_quiet);
    a->ints = Z3_mk_int_sort(a->z);
    a->reals = Z3_mk_real_sort(a->z);
    a->bools = Z3_mk_bool_sort(a->z);
    a->solver = Z3_mk_solver(a->z);
    Z3_solver_inc_ref(a->z, a->solver);
    Z3_params p = Z3_mk_params(a->z);
    Z3_params_inc_ref(a->z, p);
    double seconds = plan && plan->seconds > 0 ? plan->seconds : 1;
    Z3_params_set_uint(a->z, p, Z3_mk_string_symbol(a->z, "timeout"), (unsigned)(seconds * 1000));
    if (plan && plan->effort)
        Z3_params_set_uint(a->z, p, Z3_mk_string_symbol(a->z, "rlimit"), plan->effort);
    if (plan && plan->seed)
        Z3_params_set_uint(a->z, p, Z3_mk_string_symbol(a->z, "random_seed"), plan->seed);
    /* Its search for roots of polynomials does not look at the clock. */
    Z3_params_set_bool(a->z, p, Z3_mk_string_symbol(a->z, "arith.nl.nra"), false);
    /* Ctrl-C is the caller's: Z3 would end one check, and nobody knows why. */
    Z3_params_set_bool(a->z, p, Z3_mk_string_symbol(a->z, "ctrl_c"), false);
    Z3_solver_set_params(a->z, a->solver, p);
    Z3_params_dec_ref(a->z, p);
    return a;
}

void arith_free(Arith *a)
{
    if (!a)
        return;
    if (a->model)
        Z3_model_dec_ref(a->z, a->model);
    Z3_solver_dec_ref(a->z, a->solver);
    Z3_del_context(a->z);
    vec_release(&a->tags);
    vec_release(&a->assumed);
    vec_release(&a->in_core);
    map_release(&a->definitions);
    map_release(&a->walked);
    free(a);
}

/* Terms are Z3's; the types keep numbers and truth values apart. */
static Z3_ast n(Num x)
{
    assert(x);
    return (Z3_ast)x;
}

static Z3_ast t(Truth x)
{
    assert(x);
    return (Z3_ast)x;
}

static Num num(Z3_ast x)
{
    assert(x);
    return (Num)x;
}

static Truth truth(Z3_ast x)
{
    assert(x);
    return (Truth)x;
}

Truth arith_bool(Arith *a, bool b) { return truth(b ? Z3_mk_true(a->z) : Z3_mk_false(a->z)); }

Truth arith_bool_var(Arith *a) { return truth(Z3_mk_fresh_const(a->z, "b", a->bools)); }

bool arith_is_constant(Arith *a, Truth x, bool *value)
{
    Z3_lbool b = Z3_get_bool_value(a->z, t(x));
    *value = b == Z3_L_TRUE;
    return b != Z3_L_UNDEF;
}

Truth arith_not(Arith *a, Truth x)
{
    bool v;
    if (arith_is_constant(a, x, &v))
        return arith_bool(a, !v);
    return truth(Z3_mk_not(a->z, t(x)));
}

Truth arith_and(Arith *a, Truth x, Truth y)
{
    bool v;
    if (arith_is_constant(a, x, &v))
        return v ? y : x;
    if (arith_is_constant(a, y, &v))
        return v ? x : y;
    Z3_ast both[] = { t(x), t(y) };
    return truth(Z3_mk_and(a->z, 2, both));
}

Truth arith_or(Arith *a, Truth x, Truth y)
{
    bool v;
    if (arith_is_constant(a, x, &v))
        return v ? x : y;
    if (arith_is_constant(a, y, &v))
        return v ? y : x;
    Z3_ast both[] = { t(x), t(y) };
    return truth(Z3_mk_or(a->z, 2, both));
}

Truth arith_all(Arith *a, const Truth *x, size_t k)
{
    if (!k)
        return arith_bool(a, true);
    return truth(Z3_mk_and(a->z, (unsigned)k, (const Z3_ast *)x));
}

Truth arith_any(Arith *a, const Truth *x, size_t k)
{
    if (!k)
        return arith_bool(a, false);
    return truth(Z3_mk_or(a->z, (unsigned)k, (const Z3_ast *)x));
}

Truth arith_same(Arith *a, Truth x, Truth y) { return truth(Z3_mk_iff(a->z, t(x), t(y))); }

Truth arith_choose_truth(Arith *a, Truth c, Truth x, Truth y)
{
    bool v;
    if (arith_is_constant(a, c, &v))
        return v ? x : y;
    return truth(Z3_mk_ite(a->z, t(c), t(x), t(y)));
}

Num arith_int(Arith *a, int64_t i) { return num(Z3_mk_int64(a->z, i, a->ints)); }

Num arith_real(Arith *a, double d)
{
    assert(isfinite(d));
    char buf[512];
    for (int digits = 0; digits <= 340; digits++) {
        snprintf(buf, sizeof buf, "%.*f", digits, d);
        if (strtod(buf, NULL) == d)
            break;
    }
    return num(Z3_mk_numeral(a->z, buf, a->reals));
}

Num arith_int_var(Arith *a) { return num(Z3_mk_fresh_const(a->z, "i", a->ints)); }

Num arith_real_var(Arith *a) { return num(Z3_mk_fresh_const(a->z, "r", a->reals)); }

bool arith_is_real(Arith *a, Num x)
{
    return Z3_get_sort_kind(a->z, Z3_get_sort(a->z, n(x))) == Z3_REAL_SORT;
}

bool arith_is_known(Arith *a, Num x)
{
    Z3_ast plain = Z3_simplify(a->z, n(x));
    return plain && Z3_is_numeral_ast(a->z, plain);
}

Num arith_to_real(Arith *a, Num x)
{
    return arith_is_real(a, x) ? x : num(Z3_mk_int2real(a->z, n(x)));
}

Num arith_floor(Arith *a, Num x)
{
    return arith_is_real(a, x) ? num(Z3_mk_real2int(a->z, n(x))) : x;
}

Num arith_to_int(Arith *a, Num x)
{
    if (!arith_is_real(a, x))
        return x;
    Num zero = arith_real(a, 0), minus = num(Z3_mk_unary_minus(a->z, n(x)));
    Num down = arith_floor(a, x), up = num(Z3_mk_unary_minus(a->z, n(arith_floor(a, minus))));
    return arith_choose(a, arith_le(a, zero, x), down, up);
}

/* Both real if one is. */
static void meet(Arith *a, Num *x, Num *y)
{
    if (arith_is_real(a, *x) == arith_is_real(a, *y))
        return;
    *x = arith_to_real(a, *x);
    *y = arith_to_real(a, *y);
}

typedef Z3_ast Maker(Z3_context z, unsigned k, const Z3_ast *args);

static Num make(Arith *a, Maker *f, Num x, Num y)
{
    meet(a, &x, &y);
    Z3_ast both[] = { n(x), n(y) };
    return num(f(a->z, 2, both));
}

Num arith_add(Arith *a, Num x, Num y) { return make(a, Z3_mk_add, x, y); }

Num arith_sub(Arith *a, Num x, Num y) { return make(a, Z3_mk_sub, x, y); }

Num arith_mul(Arith *a, Num x, Num y) { return make(a, Z3_mk_mul, x, y); }

/* SMT's division rounds so that the rest is not negative. Ours: towards 0. */
static Num int_div(Arith *a, Num x, Num y)
{
    Num zero = arith_int(a, 0);
    Num minus_x = num(Z3_mk_unary_minus(a->z, n(x)));
    Num pos = num(Z3_mk_div(a->z, n(x), n(y)));
    Num neg = num(Z3_mk_unary_minus(a->z, Z3_mk_div(a->z, n(minus_x), n(y))));
    return arith_choose(a, arith_le(a, zero, x), pos, neg);
}

Num arith_div(Arith *a, Num x, Num y)
{
    meet(a, &x, &y);
    return arith_is_real(a, x) ? num(Z3_mk_div(a->z, n(x), n(y))) : int_div(a, x, y);
}

Num arith_mod(Arith *a, Num x, Num y) { return arith_sub(a, x, arith_mul(a, int_div(a, x, y), y)); }

Num arith_choose(Arith *a, Truth c, Num x, Num y)
{
    bool v;
    meet(a, &x, &y);
    if (arith_is_constant(a, c, &v))
        return v ? x : y;
    return num(Z3_mk_ite(a->z, t(c), n(x), n(y)));
}

Truth arith_eq(Arith *a, Num x, Num y)
{
    meet(a, &x, &y);
    if (x == y)
        return arith_bool(a, true);
    return truth(Z3_mk_eq(a->z, n(x), n(y)));
}

Truth arith_lt(Arith *a, Num x, Num y)
{
    meet(a, &x, &y);
    return truth(Z3_mk_lt(a->z, n(x), n(y)));
}

Truth arith_le(Arith *a, Num x, Num y)
{
    meet(a, &x, &y);
    return truth(Z3_mk_le(a->z, n(x), n(y)));
}

/* ---- definitions */

void arith_define(Arith *a, Num x, Truth definition)
{
    unsigned id = Z3_get_ast_id(a->z, n(x));
    bool first = map_putn(&a->definitions, &id, sizeof id, t(definition));
    assert(first);
    (void)first;
}

size_t arith_defined(const Arith *a) { return a->defined; }

/* Asserts what is defined of the variables in a term. */
static void use(Arith *a, Z3_ast x)
{
    unsigned id = Z3_get_ast_id(a->z, x);
    if (!a->definitions.len || Z3_get_ast_kind(a->z, x) != Z3_APP_AST ||
        !map_putn(&a->walked, &id, sizeof id, a))
        return;
    Z3_app app = Z3_to_app(a->z, x);
    for (unsigned i = 0; i < Z3_get_app_num_args(a->z, app); i++)
        use(a, Z3_get_app_arg(a->z, app, i));
    Z3_ast definition = map_getn(&a->definitions, &id, sizeof id);
    if (!definition)
        return;
    a->defined++;
    Z3_solver_assert(a->z, a->solver, definition);
    use(a, definition);
}

void arith_assert(Arith *a, Truth x, int tag)
{
    assert(tag >= 0);
    while (a->tags.len <= (size_t)tag)
        vec_push(&a->tags, NULL);
    if (!a->tags.items[tag])
        a->tags.items[tag] = Z3_mk_fresh_const(a->z, "t", a->bools);
    use(a, t(x));
    Z3_solver_assert(a->z, a->solver, Z3_mk_implies(a->z, a->tags.items[tag], t(x)));
}

static void note_core(Arith *a)
{
    Z3_ast_vector core = Z3_solver_get_unsat_core(a->z, a->solver);
    Z3_ast_vector_inc_ref(a->z, core);
    for (unsigned i = 0; i < Z3_ast_vector_size(a->z, core); i++) {
        Z3_ast x = Z3_ast_vector_get(a->z, core, i);
        for (size_t k = 0; k < a->assumed.len; k++)
            if (a->assumed.items[k] == x)
                a->in_core.items[k] = true;
    }
    Z3_ast_vector_dec_ref(a->z, core);
}

ArithAnswer arith_check(Arith *a, const Truth *wishes, size_t k)
{
    a->assumed.len = a->in_core.len = 0;
    if (a->model)
        Z3_model_dec_ref(a->z, a->model);
    a->model = NULL;
    for (size_t i = 0; i < a->tags.len; i++)
        if (a->tags.items[i])
            vec_push(&a->assumed, a->tags.items[i]);
    a->nwishes = k;
    for (size_t i = 0; i < k; i++) {
        /* A wish gets a name: Z3 takes literals only. */
        Z3_ast name = Z3_mk_fresh_const(a->z, "w", a->bools);
        use(a, t(wishes[i]));
        Z3_solver_assert(a->z, a->solver, Z3_mk_implies(a->z, name, t(wishes[i])));
        vec_push(&a->assumed, name);
    }
    for (size_t i = 0; i < a->assumed.len; i++)
        vec_push(&a->in_core, false);
    Z3_lbool r =
        Z3_solver_check_assumptions(a->z, a->solver, (unsigned)a->assumed.len, a->assumed.items);
    if (r == Z3_L_TRUE) {
        a->model = Z3_solver_get_model(a->z, a->solver);
        if (!a->model)
            return ARITH_UNKNOWN;
        Z3_model_inc_ref(a->z, a->model);
        return ARITH_SAT;
    }
    if (r == Z3_L_FALSE)
        note_core(a);
    return r == Z3_L_FALSE ? ARITH_UNSAT : ARITH_UNKNOWN;
}

size_t arith_core(Arith *a, int *tags, size_t most)
{
    size_t found = 0, at = 0;
    for (size_t i = 0; i < a->tags.len; i++) {
        if (!a->tags.items[i])
            continue;
        if (a->in_core.items[at++] && found < most)
            tags[found++] = (int)i;
    }
    return found;
}

bool arith_core_has_wish(Arith *a, size_t i)
{
    assert(i < a->nwishes);
    return a->in_core.items[a->assumed.len - a->nwishes + i];
}

static Z3_ast value_of(Arith *a, Z3_ast x)
{
    Z3_ast v = NULL;
    assert(a->model);
    return Z3_model_eval(a->z, a->model, x, true, &v) ? v : NULL;
}

bool arith_int_value(Arith *a, Num x, int64_t *out)
{
    Z3_ast v = value_of(a, n(x));
    return v && Z3_get_numeral_int64(a->z, v, out);
}

bool arith_real_value(Arith *a, Num x, double *out)
{
    Z3_ast v = value_of(a, n(x));
    *out = 0;
    if (!v)
        return false;
    const char *s = Z3_get_numeral_decimal_string(a->z, v, 20);
    if (!s || !*s)
        return false;
    errno = 0;
    *out = strtod(s, NULL);
    return s[strlen(s) - 1] != '?' && isfinite(*out);
}

bool arith_truth_value(Arith *a, Truth x)
{
    Z3_ast v = value_of(a, t(x));
    return v && Z3_get_bool_value(a->z, v) == Z3_L_TRUE;
}
