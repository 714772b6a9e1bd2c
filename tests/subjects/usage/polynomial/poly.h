/*
 * poly - polynomials over rational numbers.
 *
 * Rational numbers are always reduced, with a denominator above 0; 1/0 is "not
 * a number" and makes everything it touches the same. Polynomials never change;
 * those that come out of a function are the caller's.
 */
#ifndef POLY_H
#define POLY_H

struct rat;
struct poly;

struct rat *rat_new(int n, int d);
struct rat *rat_parse(const char *text);                 /* "3", "-1/2", "nan" */
struct rat *rat_add(const struct rat *a, const struct rat *b);
struct rat *rat_sub(const struct rat *a, const struct rat *b);
struct rat *rat_mul(const struct rat *a, const struct rat *b);
struct rat *rat_div(const struct rat *a, const struct rat *b);
int rat_compare(const struct rat *a, const struct rat *b);    /* -1, 0, 1 */
int rat_is_nan(const struct rat *a);
int rat_print(const struct rat *a, char *out, int size);      /* as snprintf */
void rat_free(struct rat *a);

struct poly *poly_zero(void);
struct poly *poly_term(const struct rat *c, int exponent);
struct poly *poly_parse(const char *text);               /* "x^2-1/2*x+3"; NULL */
struct poly *poly_add(const struct poly *a, const struct poly *b);
struct poly *poly_sub(const struct poly *a, const struct poly *b);
struct poly *poly_mul(const struct poly *a, const struct poly *b);
struct poly *poly_div(const struct poly *a, const struct poly *b);    /* quotient */
struct poly *poly_negate(const struct poly *a);
struct poly *poly_scale(const struct poly *a, const struct rat *c);
struct poly *poly_diff(const struct poly *a);
struct poly *poly_integral(const struct poly *a, const struct rat *c);
int poly_degree(const struct poly *a);                   /* of zero: 0 */
int poly_terms(const struct poly *a);                    /* coefficients that are not 0 */
struct rat *poly_coefficient(const struct poly *a, int exponent);
struct rat *poly_eval(const struct poly *a, const struct rat *x);
int poly_equal(const struct poly *a, const struct poly *b);
int poly_print(const struct poly *a, char *out, int size);
void poly_free(struct poly *a);
#endif
