/* <math.h>: the real function computes, and the result is one node of the log; what is
 * arithmetic is done as such. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/standins/list.h"
#include "runtime/standins/standins.h"
#include <errno.h>
#include <math.h>

/* As ExprMath (src/solve/expr.h). */
enum {
    SIN,
    COS,
    TAN,
    ASIN,
    ACOS,
    ATAN,
    SINH,
    COSH,
    TANH,
    EXP,
    EXP2,
    LOG,
    LOG2,
    LOG10,
    CBRT,
    POW,
    ATAN2,
    HYPOT,
};

/* A test of the runtime's: the copy is in memory, where labels can be asked for. */
static double one(double r, double a, unsigned which)
{
    if (sundew_alive)
        sundew_math(&r, &a, NULL, which, 64);
    return r;
}

static double two(double r, double a, double b, unsigned which)
{
    if (sundew_alive)
        sundew_math(&r, &a, &b, which, 64);
    return r;
}

static float one_f(float r, float a, unsigned which)
{
    if (sundew_alive)
        sundew_math(&r, &a, NULL, which, 32);
    return r;
}

static float two_f(float r, float a, float b, unsigned which)
{
    if (sundew_alive)
        sundew_math(&r, &a, &b, which, 32);
    return r;
}

double sundew_standin_sin(double a) { return one(sin(a), a, SIN); }
double sundew_standin_cos(double a) { return one(cos(a), a, COS); }
double sundew_standin_tan(double a) { return one(tan(a), a, TAN); }
double sundew_standin_asin(double a) { return one(asin(a), a, ASIN); }
double sundew_standin_acos(double a) { return one(acos(a), a, ACOS); }
double sundew_standin_atan(double a) { return one(atan(a), a, ATAN); }
double sundew_standin_sinh(double a) { return one(sinh(a), a, SINH); }
double sundew_standin_cosh(double a) { return one(cosh(a), a, COSH); }
double sundew_standin_tanh(double a) { return one(tanh(a), a, TANH); }
double sundew_standin_exp(double a) { return one(exp(a), a, EXP); }
double sundew_standin_exp2(double a) { return one(exp2(a), a, EXP2); }
double sundew_standin_log(double a) { return one(log(a), a, LOG); }
double sundew_standin_log2(double a) { return one(log2(a), a, LOG2); }
double sundew_standin_log10(double a) { return one(log10(a), a, LOG10); }
double sundew_standin_cbrt(double a) { return one(cbrt(a), a, CBRT); }
double sundew_standin_pow(double a, double b) { return two(pow(a, b), a, b, POW); }
double sundew_standin_atan2(double a, double b) { return two(atan2(a, b), a, b, ATAN2); }
double sundew_standin_hypot(double a, double b) { return two(hypot(a, b), a, b, HYPOT); }

float sundew_standin_sinf(float a) { return one_f(sinf(a), a, SIN); }
float sundew_standin_cosf(float a) { return one_f(cosf(a), a, COS); }
float sundew_standin_tanf(float a) { return one_f(tanf(a), a, TAN); }
float sundew_standin_expf(float a) { return one_f(expf(a), a, EXP); }
float sundew_standin_logf(float a) { return one_f(logf(a), a, LOG); }
float sundew_standin_log2f(float a) { return one_f(log2f(a), a, LOG2); }
float sundew_standin_log10f(float a) { return one_f(log10f(a), a, LOG10); }
float sundew_standin_powf(float a, float b) { return two_f(powf(a, b), a, b, POW); }
float sundew_standin_atan2f(float a, float b) { return two_f(atan2f(a, b), a, b, ATAN2); }

/* Compiled with -fno-math-errno these are intrinsics. */
double sundew_standin_sqrt(double a)
{
    if (a < 0)
        errno = EDOM;
    return __builtin_sqrt(a);
}

float sundew_standin_sqrtf(float a)
{
    if (a < 0)
        errno = EDOM;
    return __builtin_sqrtf(a);
}

double sundew_standin_fabs(double a) { return __builtin_fabs(a); }
float sundew_standin_fabsf(float a) { return __builtin_fabsf(a); }
double sundew_standin_floor(double a) { return __builtin_floor(a); }
double sundew_standin_ceil(double a) { return __builtin_ceil(a); }
double sundew_standin_trunc(double a) { return __builtin_trunc(a); }
double sundew_standin_round(double a) { return __builtin_round(a); }
double sundew_standin_rint(double a) { return __builtin_rint(a); }
double sundew_standin_nearbyint(double a) { return __builtin_nearbyint(a); }
float sundew_standin_floorf(float a) { return __builtin_floorf(a); }
float sundew_standin_ceilf(float a) { return __builtin_ceilf(a); }
float sundew_standin_roundf(float a) { return __builtin_roundf(a); }
long sundew_standin_lround(double a) { return (long)__builtin_round(a); }
long sundew_standin_lrint(double a) { return (long)__builtin_rint(a); }
double sundew_standin_fmin(double a, double b) { return a != a || b < a ? b : a; }
double sundew_standin_fmax(double a, double b) { return a != a || b > a ? b : a; }

/* The same rest that fmod() leaves; with -fno-math-errno it is one instruction. */
double sundew_standin_fmod(double a, double b)
{
    if (b == 0 || __builtin_isinf(a))
        errno = a == a && b == b ? EDOM : errno;
    return __builtin_fmod(a, b);
}

float sundew_standin_fmodf(float a, float b)
{
    if (b == 0 || __builtin_isinf(a))
        errno = a == a && b == b ? EDOM : errno;
    return __builtin_fmodf(a, b);
}

/* The exponent stands in bits 52 to 62. */
double sundew_standin_frexp(double a, int *e)
{
    uint64_t bits;
    __builtin_memcpy(&bits, &a, sizeof bits);
    unsigned field = bits >> 52 & 0x7ff;
    if (!SYMBOLIC(a) || field == 0 || field == 0x7ff)
        return frexp(a, e);
    *e = (int)field - 1022;
    bits = (bits & ~(0x7ffull << 52)) | 1022ull << 52;
    __builtin_memcpy(&a, &bits, sizeof a);
    return a;
}

/* One multiplication, if 2 to the n is a number that is not too small. */
double sundew_standin_ldexp(double a, int n)
{
    double r = ldexp(a, n), power;
    if (n < -1022 || n > 1023 || (!SYMBOLIC(a) && !SYMBOLIC(n)))
        return r;
    uint64_t bits = (uint64_t)(n + 1023) << 52;
    __builtin_memcpy(&power, &bits, sizeof power);
    return a * power;
}

double sundew_standin_modf(double a, double *whole)
{
    if (!SYMBOLIC(a) || __builtin_isinf(a))
        return modf(a, whole);
    *whole = __builtin_trunc(a);
    return __builtin_copysign(a - *whole, a);
}
