/* Functions of numbers. */
#include "dataflow/function.h"
#include <assert.h>
#include <math.h>

typedef double Real(double);

static bool real(DatumKind k) { return k == DATUM_FLOAT || k == DATUM_DOUBLE || k == DATUM_BIGDEC; }

static Datum number(CallCtx *c, const Datum *v, double *out)
{
    if (!datum_is_number(v)) {
        c->warnings++;
        return datum_null();
    }
    *out = datum_as_double(v);
    return *v;
}

static Datum apply(CallCtx *c, const Datum *v, Real *f)
{
    double x = 0;
    return number(c, v, &x).kind == DATUM_NULL ? datum_null() : datum_double(f(x));
}

static Datum fn_abs(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    Datum d = a[0];
    double x = 0;
    if (number(c, &d, &x).kind == DATUM_NULL)
        return datum_null();
    if (real(d.kind))
        d.u.d = fabs(d.u.d);
    else if (d.u.i < 0)
        d.u.i = d.kind == DATUM_INT ? (int32_t)(uint32_t)-d.u.i : (int64_t)(0 - (uint64_t)d.u.i);
    return d;
}

/* floor(x + 0.5): -3.5 gives -3. */
static Datum fn_round(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    double x = 0;
    if (number(c, a, &x).kind == DATUM_NULL)
        return datum_null();
    if (!real(a->kind))
        return *a;
    double r = isnan(x) ? 0 : floor(x + 0.5);
    if (a->kind == DATUM_FLOAT)
        return datum_int(r >= INT32_MAX ? INT32_MAX : r <= INT32_MIN ? INT32_MIN : (int32_t)r);
    return datum_long(r >= 0x1p63 ? INT64_MAX : r <= -0x1p63 ? INT64_MIN : (int64_t)r);
}

static Datum fn_round_to(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    double x = 0, digits = 0;
    if (number(c, &a[0], &x).kind == DATUM_NULL || number(c, &a[1], &digits).kind == DATUM_NULL)
        return datum_null();
    double p = pow(10, digits), r = x * p, even = nearbyint(r);
    /* Half away from even is Java's HALF_EVEN, the default. */
    r = even / p;
    return a->kind == DATUM_FLOAT ? datum_float(r) : datum_double(r);
}

static Datum fn_pow(CallCtx *c, const Datum *a, size_t n)
{
    (void)n;
    double x = 0, y = 0;
    if (number(c, &a[0], &x).kind == DATUM_NULL || number(c, &a[1], &y).kind == DATUM_NULL)
        return datum_null();
    return datum_double(pow(x, y));
}

static Datum fn_random(CallCtx *c, const Datum *a, size_t n)
{
    (void)a;
    (void)n;
    return datum_double(rng_unit(c->rng));
}

#define REAL(name, f)                                                                              \
    static Datum name(CallCtx *c, const Datum *a, size_t n)                                        \
    {                                                                                              \
        (void)n;                                                                                   \
        return apply(c, a, f);                                                                     \
    }
REAL(fn_ceil, ceil)
REAL(fn_floor, floor)
REAL(fn_sqrt, sqrt)
REAL(fn_cbrt, cbrt)
REAL(fn_exp, exp)
REAL(fn_log, log)
REAL(fn_log10, log10)
REAL(fn_sin, sin)
REAL(fn_cos, cos)
REAL(fn_tan, tan)
REAL(fn_sinh, sinh)
REAL(fn_cosh, cosh)
REAL(fn_tanh, tanh)
REAL(fn_asin, asin)
REAL(fn_acos, acos)
REAL(fn_atan, atan)
#undef REAL

#define ROW(text, f)                                                                               \
    { .name = text,                                                                                \
      .min = 1,                                                                                    \
      .max = 1,                                                                                    \
      .rule = TYPE_FIXED,                                                                          \
      .result = DATUM_DOUBLE,                                                                      \
      .want = DATUM_DOUBLE,                                                                        \
      .call = f }
const Function functions_number[] = {
    { .name = "ABS", .min = 1, .max = 1, .rule = TYPE_SAME, .want = DATUM_DOUBLE, .call = fn_abs },
    { .name = "ROUND",
      .min = 1,
      .max = 1,
      .rule = TYPE_ROUND,
      .want = DATUM_DOUBLE,
      .call = fn_round },
    { .name = "ROUND_TO",
      .min = 2,
      .max = 3,
      .rule = TYPE_SAME,
      .want = DATUM_DOUBLE,
      .call = fn_round_to },
    { .name = "RANDOM",
      .min = 0,
      .max = 0,
      .rule = TYPE_FIXED,
      .result = DATUM_DOUBLE,
      .call = fn_random,
      .random = true },
    { .name = "POW",
      .min = 2,
      .max = 2,
      .rule = TYPE_FIXED,
      .result = DATUM_DOUBLE,
      .want = DATUM_DOUBLE,
      .call = fn_pow },
    ROW("CEIL", fn_ceil),
    ROW("FLOOR", fn_floor),
    ROW("SQRT", fn_sqrt),
    ROW("CBRT", fn_cbrt),
    ROW("EXP", fn_exp),
    ROW("LOG", fn_log),
    ROW("LOG10", fn_log10),
    ROW("SIN", fn_sin),
    ROW("COS", fn_cos),
    ROW("TAN", fn_tan),
    ROW("SINH", fn_sinh),
    ROW("COSH", fn_cosh),
    ROW("TANH", fn_tanh),
    ROW("ASIN", fn_asin),
    ROW("ACOS", fn_acos),
    ROW("ATAN", fn_atan),
    { 0 },
};
