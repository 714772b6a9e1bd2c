/* Says all there is to say of the library: the measure of what counts as faulty. */
#include "poly.h"
#include <stdio.h>
#include <stdlib.h>

static const char *const polys[] = {
    "0", "1", "-1", "x", "-x", "2*x", "x^2", "x^2-1", "x-1", "x+1", "1/2*x^3-x", "x^2-1/2*x+3",
    "3*x^4+2*x^3-x^2+5", "-7/3", "x^10", "x^12-1", "x^23", "2/4*x+6/8", "x+x", "x-x",
    "100000*x^2", "1/0*x+1", "x^5+x^4+x^3+x^2+x+1", "", "x^24", "x^", "2x", "1/2/3", "x+", "*x", "y",
    "+x", "1-", "1/0",
};
static const char *const rats[] = {
    "0", "1", "-1", "1/2", "-2/4", "7/3", "nan", "999999999", "1/999999999", "3/-1", "", "-", "1/",
    "x", "2/0", "12345/678",
};
enum { NP = sizeof polys / sizeof *polys, NR = sizeof rats / sizeof *rats };

static void say_rat(const char *what, struct rat *r)
{
    char s[64], small[4];
    if (!r) {
        printf("%s NULL\n", what);
        return;
    }
    int n = rat_print(r, s, sizeof s), m = rat_print(r, small, sizeof small);
    printf("%s %s %d %d %s %d\n", what, s, n, m, small, rat_is_nan(r));
    rat_free(r);
}

static void say(const char *what, struct poly *p)
{
    char s[400], small[8] = "";
    if (!p) {
        printf("%s NULL\n", what);
        return;
    }
    int n = poly_print(p, s, sizeof s), m = poly_print(p, small, sizeof small);
    printf("%s %s %d %d %s %d %d\n", what, s, n, m, small, poly_degree(p), poly_terms(p));
    m = poly_print(p, small, 0);
    printf("%d %s\n", m, small);
    poly_free(p);
}

static void with_rat(const struct poly *p, const struct rat *r)
{
    say_rat("eval", poly_eval(p, r));
    say("scale", poly_scale(p, r));
    say("integral", poly_integral(p, r));
}

static void with_poly(const struct poly *p, const struct poly *q)
{
    say("add", poly_add(p, q));
    say("sub", poly_sub(p, q));
    say("mul", poly_mul(p, q));
    say("div", poly_div(p, q));
    printf("%d\n", poly_equal(p, q));
}

static void with_rats(const struct rat *a, const struct rat *b)
{
    say_rat("add", rat_add(a, b));
    say_rat("sub", rat_sub(a, b));
    say_rat("mul", rat_mul(a, b));
    say_rat("div", rat_div(a, b));
    printf("%d\n", rat_compare(a, b));
}

int main(void)
{
    struct poly *p[NP];
    struct rat *r[NR];

    for (int i = 0; i < NP; i++) {
        p[i] = poly_parse(polys[i]);
        say(polys[i], poly_parse(polys[i]));
    }
    for (int i = 0; i < NR; i++) {
        r[i] = rat_parse(rats[i]);
        say_rat(rats[i], rat_parse(rats[i]));
    }
    for (int n = -3; n < 4; n++)
        for (int d = -2; d < 3; d++)
            say_rat("new", rat_new(n, d));
    say_rat("large", rat_new(2000000000, 1));
    say("zero", poly_zero());
    for (int i = 0; i < NR; i++) {
        if (!r[i])
            continue;
        for (int e = -1; e <= 25; e++)
            say("term", poly_term(r[i], e));
        for (int k = 0; k < NR; k++)
            if (r[k])
                with_rats(r[i], r[k]);
        for (int k = 0; k < NP; k++)
            if (p[k])
                with_rat(p[k], r[i]);
    }
    for (int i = 0; i < NP; i++) {
        if (!p[i])
            continue;
        say("negate", poly_negate(p[i]));
        say("diff", poly_diff(p[i]));
        for (int e = -1; e <= 25; e++)
            say_rat("coefficient", poly_coefficient(p[i], e));
        for (int k = 0; k < NP; k++)
            if (p[k])
                with_poly(p[i], p[k]);
    }
    return 0;
}
