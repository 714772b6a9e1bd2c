/* technique/arguments: words of names, scores, known orders. */
#include "base/file.h"
#include "base/tempdir.h"
#include "technique/arguments/anomaly.h"
#include "technique/arguments/learned.h"
#include "technique/arguments/orders.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>

/* Scores as published: no table of words, no demand for support. */
static const JudgePlan published = { .threshold = 0.4, .family = 2 };

typedef struct Pair {
    const char *first, *second;
} Pair;

static Group *group_of(Words *w, Pair decl, double weight, const Pair *calls, size_t n)
{
    Group *g = group_new(w, 2);
    if (decl.first) {
        Name names[] = { { .text = decl.first }, { .text = decl.second } };
        group_add(g, names, weight, true);
    }
    for (size_t i = 0; i < n; i++) {
        Name names[] = { { .text = calls[i].first }, { .text = calls[i].second } };
        group_add(g, names, 1, false);
    }
    group_finish(g);
    return g;
}

/* Among all examples as one family. */
static double confidence(Group *g, size_t example, unsigned family)
{
    Anomaly a;
    JudgePlan plan = { .threshold = 0.4, .family = family };
    return group_judge(g, example, NULL, &plan, &a) ? a.confidence : 0;
}

static bool near(double a, double b) { return fabs(a - b) < 0.006; }

static void cut(Words *w, const char *name, const char *expected)
{
    Tokens t;
    Str s = { 0 };
    words_of(w, name, &t);
    for (size_t i = 0; i < t.n; i++)
        str_addf(&s, "%s%s", i ? " " : "", t.words[i]);
    assert_string_equal(str_c(&s), expected);
    str_release(&s);
}

static void names_are_cut_into_words(void **state)
{
    (void)state;
    Words *w = words_new();
    cut(w, "srcBufLen2", "src buf len 2");
    cut(w, "__dest", "dest");
    cut(w, "HTTPServer", "http server");
    cut(w, "MIN_VALUES", "min value");
    cut(w, "class", "class");
    cut(w, "", "");
    words_add_line(w, "source src # comment");
    words_add_line(w, "length len");
    words_add_line(w, "name nam");
    words_add_line(w, "new");
    cut(w, "srclen", "source length");
    cut(w, "src_lens", "source length");
    cut(w, "newname", "new name");
    cut(w, "px", "p x");
    cut(w, "plen", "p length");
    cut(w, "eid", "e id");
    cut(w, "sfd", "s fd");
    cut(w, "mid", "m id");                   /* if the table has no such word */
    words_add_line(w, "middle mid");
    cut(w, "mid", "middle");
    words_learn(w, "table");
    cut(w, "tablename", "table name");
    cut(w,
        "gr\xc3\xb6\xc3\x9f"
        "e",
        "gr\xc3\xb6\xc3\x9f"
        "e");
    words_free(w);
}

static void a_swapped_call_stands_out(void **state)
{
    (void)state;
    static const Pair calls[] = {
        { "h", "Low" },
        { "high", "low" },
        { "highEP", "lowEP" },
        { "low", "high" },
    };
    Words *w = words_new();
    Group *g = group_of(w, (Pair){ "high", "low" }, 1, calls, 4);
    assert_true(near(confidence(g, 4, 5), 0.74));
    for (size_t i = 1; i < 4; i++)
        assert_true(confidence(g, i, 2) == 0);
    group_free(g);
    g = group_of(w, (Pair){ "high", "low" }, 5, calls, 4);
    assert_true(near(confidence(g, 4, 5), 0.87));
    group_free(g);
    words_free(w);
}

static void ways_to_name_things_do_not_blur_each_other(void **state)
{
    (void)state;
    static const Pair calls[] = {
        { "start", "end" },           { "start", "end" },        { "start", "end" },
        { "startIndex", "endIndex" }, { "startPos", "lastPos" }, { "first", "last" },
        { "first", "last" },          { "first", "last" },       { "end", "start" },
    };
    Words *w = words_new();
    Group *g = group_of(w, (Pair){ 0 }, 0, calls, 9);
    Anomaly a;
    assert_true(group_judge(g, 8, NULL, &published, &a));
    assert_true(near(a.confidence, 1.0));        /* the family at 100 % */
    assert_int_equal(a.family, 3);
    assert_true(near(a.level, 1.0));
    for (size_t i = 0; i < 8; i++)
        assert_true(confidence(g, i, 2) == 0);
    /* larger families are asked for: 0.87 with 5 members, 0.74 with 6, 0.46 */
    static const struct {
        unsigned size;
        double confidence;
    } sizes[] = {
        { 5, 0.87 },
        { 6, 0.74 },
        { 9, 0.46 },
    };
    for (size_t i = 0; i < 3; i++) {
        JudgePlan plan = { .threshold = 0.4, .family = sizes[i].size };
        assert_true(group_judge(g, 8, NULL, &plan, &a));
        assert_true(near(a.confidence, sizes[i].confidence));
        assert_int_equal(a.family + 1, sizes[i].size);
    }
    group_free(g);
    words_free(w);
}

static void one_name_at_the_wrong_place_is_half_a_swap(void **state)
{
    (void)state;
    Words *w = words_new();
    Group *g = group_new(w, 3);
    Name decl[] = { { .text = "lw" }, { .text = "wip" }, { .text = "uw" } };
    Name call[] = { { .text = "lw" }, { .text = "uw" }, { .text = "inspen" } };
    group_add(g, decl, 5, true);
    group_add(g, call, 1, false);
    group_finish(g);
    Anomaly a;
    assert_true(group_judge(g, 1, NULL, &published, &a));
    assert_true(near(a.confidence, 0.50));
    assert_int_equal(a.size, 2);
    assert_int_equal(a.from[0], 1);
    assert_int_equal(a.to[0], 2);
    group_free(g);
    words_free(w);
}

static void the_declaration_outweighs_calls_that_agree_with_each_other(void **state)
{
    (void)state;
    static const Pair calls[] = {
        { "lower_bound", "upper_bound" },
        { "lower_bound", "upper_bound" },
        { "lower_bound", "upper_bound" },
    };
    Words *w = words_new();
    Group *heavy = group_of(w, (Pair){ "upper", "lower" }, 5, calls, 3);
    JudgePlan whole = { .threshold = 0.4, .family = 4 };
    Anomaly a;
    assert_true(group_judge(heavy, 1, NULL, &whole, &a));
    assert_true(fabs(a.confidence - 0.416) < 0.001);
    assert_int_equal(a.against, 2);
    Group *light = group_of(w, (Pair){ "upper", "lower" }, 1, calls, 3);
    assert_false(group_judge(light, 1, NULL, &whole, &a));
    group_free(heavy);
    group_free(light);
    words_free(w);
}

static void a_shift_is_found_in_a_subset(void **state)
{
    (void)state;
    Words *w = words_new();
    Group *g = group_new(w, 4);
    Name decl[] = { { .text = "mode" },
                    { .text = "count" },
                    { .text = "sourceRestart" },
                    { .text = "continuationIndent" } };
    Name call[] = { { .text = "mode" },
                    { .text = "R_INNERMOST" },
                    { .text = "count" },
                    { .text = "sourceRestart" } };
    group_add(g, decl, 5, true);
    group_add(g, call, 1, false);
    group_finish(g);
    Anomaly a;
    assert_true(group_judge(g, 1, NULL, &published, &a));
    assert_true(a.confidence >= 0.45);
    group_free(g);
    words_free(w);
}

static void shared_words_weigh_nothing(void **state)
{
    (void)state;
    static const Pair calls[] = {
        { "if_true_label", "if_false_label" },
        { "if_false_label", "if_true_label" },
    };
    Words *w = words_new();
    Group *g = group_of(w, (Pair){ "if_true_label", "if_false_label" }, 5, calls, 2);
    assert_true(near(confidence(g, 2, 2), 1.0));
    assert_true(near(group_similarity(g, &(Name){ .text = "if_true_label" },
                                      &(Name){ .text = "if_false_label" }),
                     0));
    group_free(g);
    words_free(w);
}

static void words_that_both_names_share_are_left_out(void **state)
{
    (void)state;
    Words *w = words_new();
    Group *g = group_new(w, 2);
    Name decl[] = { { .text = "cutoff_tz" }, { .text = "cutoff_cnt" } };
    Name calls[][2] = {
        { { .text = "co_cnt" }, { .text = "co_tz" } },
        { { .text = "buf", .owner = "cnt" }, { .text = "buf", .owner = "tz" } },
        { { .text = "co_tz" }, { .text = "co_cnt" } },
        { { .text = "co_cnt" }, { .text = "other" } },
    };
    group_add(g, decl, 5, true);
    for (size_t i = 0; i < 4; i++)
        group_add(g, calls[i], 1, false);
    group_finish(g);
    Anomaly a;
    assert_true(group_judge_words(g, 1, NULL, &published, &a));
    assert_true(near(a.confidence, 1.0));
    assert_true(group_judge_words(g, 2, NULL, &published, &a));
    assert_false(group_judge_words(g, 3, NULL, &published, &a));
    assert_false(group_judge_words(g, 4, NULL, &published, &a));
    group_free(g);
    words_free(w);
}

static void habits_of_calls_speak_where_names_do_not(void **state)
{
    (void)state;
    static const Pair calls[] = {
        { "fd_a", "LOCK_SH" }, { "fd_b", "LOCK_NB" }, { "fd_c", "LOCK_UN" },
        { "fd_d", "LOCK_SH" }, { "LOCK_NB", "fd_k" },
    };
    Words *w = words_new();
    Group *g = group_of(w, (Pair){ 0 }, 0, calls, 5);
    Habit h;
    assert_true(group_habit(g, 4, NULL, 2, &h));
    if (h.first < 0.5 || h.second < 0.5)
        fail_msg("%f %f", h.first, h.second);
    for (size_t i = 0; i < 4; i++)
        assert_false(group_habit(g, i, NULL, 2, &h) && h.first > 0.5 && h.second > 0.5);
    static const unsigned swapped[] = { 1, 0 };
    assert_true(group_habit(g, 0, swapped, 2, &h));
    assert_false(group_habit(g, 4, swapped, 2, &h));
    group_free(g);
    words_free(w);
}

static void many_examples_take_little_time(void **state)
{
    (void)state;
    Words *w = words_new();
    Group *g = group_new(w, 2);
    char names[3000][2][16];
    for (size_t i = 0; i < 3000; i++) {
        snprintf(names[i][0], 16, "from");
        snprintf(names[i][1], 16, "to_%zu", i);
        bool swap = i == 2999;
        Name n[] = { { .text = names[i][swap] }, { .text = names[i][!swap] } };
        group_add(g, n, 1, false);
    }
    group_finish(g);
    Anomaly a;
    assert_true(group_judge(g, 2999, NULL, &published, &a));
    assert_false(group_judge(g, 0, NULL, &published, &a));
    group_free(g);
    words_free(w);
}

static void tables_of_orders_are_read_and_checked(void **state)
{
    (void)state;
    Orders *o = orders_new();
    Err err = { 0 };
    assert_true(orders_add_line(o, "copy(to|dest, from)", &err));
    assert_true(orders_add_line(o, "# remark", &err));
    assert_true(orders_add_line(o, "", &err));
    assert_true(orders_add_line(o, "! copy 1 2: size zero", &err));
    assert_false(orders_add_line(o, "! copy 1", &err));
    assert_false(orders_add_line(o, "copy", &err));
    const KnownOrder *k = orders_of(o, "copy");
    assert_non_null(k);
    assert_int_equal(k->params.len, 2);
    assert_string_equal(k->params.items[0].names.items[1], "dest");
    assert_true(orders_add_line(o, "copy(a, b, c)", &err));
    assert_int_equal(orders_of(o, "copy")->params.len, 3);
    assert_null(orders_of(o, "other"));
    const char *dir = tempdir_new(NULL, NULL);
    char *path = path_join(dir, "orders.txt");
    assert_true(file_write(path, "f(a)\n! bad\n", 11, NULL));
    assert_false(orders_read(o, path, &err));
    assert_non_null(strstr(err.msg, "line 2"));
    free(path);
    tempdir_remove(dir);
    orders_free(o);
}

static void other_programs_tell_how_often_words_are_crossed(void **state)
{
    (void)state;
    Err err = { 0 };
    unsigned calls;
    Words *w = words_new();
    Learned *l = learned_new();

    words_add_line(w, "source src");
    words_add_line(w, "destination dest");
    assert_true(learned_add_line(l, "# remark", &err));
    assert_true(learned_add_line(l, "* * 900 100 50 50 60", &err));
    assert_true(learned_add_line(l, "destination source 90 10 30 70 8", &err));
    assert_false(learned_add_line(l, "source 1 2", &err));
    assert_false(learned_add_line(l, "a b 1 2 3 4", &err));
    /* both names tell, one does, in the order of the alphabet or not */
    assert_float_equal(learned_crossed(l, w, "src", "dest", "my_dest", "src", &calls), 0.1, 1e-9);
    assert_int_equal(calls, 100);
    assert_float_equal(learned_crossed(l, w, "dest", "src", "src", "dest", &calls), 0.1, 1e-9);
    assert_float_equal(learned_crossed(l, w, "src", "dest", "dest", "buf", &calls), 0.7, 1e-9);
    /* words without a row */
    assert_float_equal(learned_crossed(l, w, "low", "high", "high", "low", &calls), 0.1, 1e-9);
    assert_int_equal(calls, 1000);
    /* not crossed, or crossed and straight */
    learned_crossed(l, w, "src", "dest", "src", "dest", &calls);
    assert_int_equal(calls, 0);
    learned_crossed(l, w, "src", "dest", "a", "b", &calls);
    assert_int_equal(calls, 0);
    learned_free(l);
    words_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_cut_into_words),
        cmocka_unit_test(a_swapped_call_stands_out),
        cmocka_unit_test(ways_to_name_things_do_not_blur_each_other),
        cmocka_unit_test(one_name_at_the_wrong_place_is_half_a_swap),
        cmocka_unit_test(the_declaration_outweighs_calls_that_agree_with_each_other),
        cmocka_unit_test(a_shift_is_found_in_a_subset),
        cmocka_unit_test(shared_words_weigh_nothing),
        cmocka_unit_test(words_that_both_names_share_are_left_out),
        cmocka_unit_test(habits_of_calls_speak_where_names_do_not),
        cmocka_unit_test(many_examples_take_little_time),
        cmocka_unit_test(tables_of_orders_are_read_and_checked),
        cmocka_unit_test(other_programs_tell_how_often_words_are_crossed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
