/* A small driver: a few polynomials, each operation once or twice. */
#include "poly.h"
#include <stdio.h>

static void say(const char *what, struct poly *p)
{
    char text[200];
    poly_print(p, text, sizeof text);
    printf("%s: %s, degree %d, %d terms\n", what, text, poly_degree(p), poly_terms(p));
}

int main(void)
{
    char text[64];
    struct poly *a = poly_parse("x^2-1/2*x+3"), *b = poly_parse("x-1");
    struct poly *sum = poly_add(a, b), *product = poly_mul(a, b);
    struct poly *quotient = poly_div(product, b), *slope = poly_diff(product);
    struct poly *difference = poly_sub(sum, b);
    say("sum", sum);
    say("product", product);
    say("quotient", quotient);
    say("slope", slope);
    printf("same: %d\n", poly_equal(quotient, a));

    struct rat *half = rat_new(1, 2), *two = rat_parse("2");
    struct rat *value = poly_eval(product, half), *q = rat_div(value, two);
    struct rat *c = poly_coefficient(a, 1);
    struct poly *area = poly_integral(slope, half), *term = poly_term(two, 3);
    struct poly *scaled = poly_scale(term, half), *minus = poly_negate(scaled);
    rat_print(q, text, sizeof text);
    printf("value: %s, %d\n", text, rat_compare(value, c));
    say("area", area);
    say("minus", minus);

    rat_free(half);
    rat_free(two);
    rat_free(value);
    rat_free(q);
    rat_free(c);
    poly_free(a);
    poly_free(b);
    poly_free(sum);
    poly_free(product);
    poly_free(quotient);
    poly_free(slope);
    poly_free(difference);
    poly_free(area);
    poly_free(term);
    poly_free(scaled);
    poly_free(minus);
    return 0;
}
