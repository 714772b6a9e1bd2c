/* Formulas over numbers: answers, models, and which parts contradict. */
#include "solve/arith.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void a_model_satisfies_what_was_asserted(void **state)
{
    (void)state;
    Arith *a = arith_new(NULL);
    Num x = arith_int_var(a), y = arith_int_var(a);
    arith_assert(a, arith_lt(a, arith_int(a, 5), x), 0);
    arith_assert(a, arith_eq(a, arith_add(a, x, y), arith_int(a, 12)), 1);
    assert_int_equal(arith_check(a, NULL, 0), ARITH_SAT);
    int64_t i = 0, k = 0;
    assert_true(arith_int_value(a, x, &i) && arith_int_value(a, y, &k));
    assert_true(i > 5);
    assert_int_equal(i + k, 12);
    arith_free(a);
}

static void a_contradiction_names_its_tags(void **state)
{
    (void)state;
    Arith *a = arith_new(NULL);
    Num x = arith_int_var(a), y = arith_int_var(a);
    int tags[8];
    arith_assert(a, arith_lt(a, arith_int(a, 5), x), 3);
    arith_assert(a, arith_lt(a, y, arith_int(a, 0)), 4);
    arith_assert(a, arith_lt(a, x, arith_int(a, 3)), 9);
    assert_int_equal(arith_check(a, NULL, 0), ARITH_UNSAT);
    assert_int_equal(arith_core(a, tags, 8), 2);
    assert_int_equal(tags[0], 3);
    assert_int_equal(tags[1], 9);
    arith_free(a);
}

static void wishes_may_be_dropped(void **state)
{
    (void)state;
    Arith *a = arith_new(NULL);
    Num x = arith_int_var(a);
    arith_assert(a, arith_lt(a, arith_int(a, 5), x), 0);
    Truth wishes[] = { arith_lt(a, x, arith_int(a, 100)), arith_eq(a, x, arith_int(a, 2)) };
    assert_int_equal(arith_check(a, wishes, 2), ARITH_UNSAT);
    assert_false(arith_core_has_wish(a, 0));
    assert_true(arith_core_has_wish(a, 1));
    assert_int_equal(arith_check(a, wishes, 1), ARITH_SAT);
    arith_free(a);
}

/* As in C: -7 / 2 is -3, -7 % 2 is -1, 7 / -2 is -3, 7 % -2 is 1. */
static void division_goes_towards_zero(void **state)
{
    (void)state;
    static const int64_t pairs[][2] = { { -7, 2 }, { 7, -2 }, { -7, -2 }, { 7, 2 }, { -6, 3 } };
    for (size_t i = 0; i < 5; i++) {
        Arith *a = arith_new(NULL);
        Num x = arith_int(a, pairs[i][0]), y = arith_int(a, pairs[i][1]);
        Num q = arith_int_var(a), r = arith_int_var(a);
        arith_assert(a, arith_eq(a, q, arith_div(a, x, y)), 0);
        arith_assert(a, arith_eq(a, r, arith_mod(a, x, y)), 0);
        assert_int_equal(arith_check(a, NULL, 0), ARITH_SAT);
        int64_t got;
        assert_true(arith_int_value(a, q, &got));
        assert_int_equal(got, pairs[i][0] / pairs[i][1]);
        assert_true(arith_int_value(a, r, &got));
        assert_int_equal(got, pairs[i][0] % pairs[i][1]);
        arith_free(a);
    }
}

static void reals_and_whole_numbers_meet(void **state)
{
    (void)state;
    Arith *a = arith_new(NULL);
    Num u = arith_real_var(a), i = arith_int_var(a);
    double d;
    int64_t k;
    arith_assert(a, arith_lt(a, arith_real(a, 0.25), arith_mul(a, u, u)), 0);
    arith_assert(a, arith_eq(a, arith_mul(a, i, arith_real(a, 0.5)), arith_real(a, 1.5)), 0);
    assert_int_equal(arith_check(a, NULL, 0), ARITH_SAT);
    arith_real_value(a, u, &d);
    assert_true(d * d > 0.25);
    assert_true(arith_int_value(a, i, &k));
    assert_int_equal(k, 3);
    Num cut = arith_to_int(a, arith_real(a, -2.5));
    Num down = arith_floor(a, arith_real(a, -2.5));
    arith_assert(a, arith_eq(a, cut, arith_int(a, -2)), 1);
    arith_assert(a, arith_eq(a, down, arith_int(a, -3)), 1);
    assert_int_equal(arith_check(a, NULL, 0), ARITH_SAT);
    arith_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_satisfies_what_was_asserted),
        cmocka_unit_test(a_contradiction_names_its_tags),
        cmocka_unit_test(wishes_may_be_dropped),
        cmocka_unit_test(division_goes_towards_zero),
        cmocka_unit_test(reals_and_whole_numbers_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
