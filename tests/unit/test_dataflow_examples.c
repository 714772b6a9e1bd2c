/*
 * Example data: the acceptance examples of the technique, and the places where
 * ILLUSTRATE fails. Each case is a script, perhaps with samples; the rows that
 * are made must show what is said.
 */
#include "dataflow/generate.h"
#include "dataflow/load.h"
#include "dataflow/pig.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

typedef struct Case {
    Arena arena;
    Plan *plan;
    Examples *e;
} Case;

static Case make(const char *script, const char *a, const char *b, GeneratePlan gp)
{
    Case c = { 0 };
    Err err = { 0 };
    PigOptions o = { .udfs = gp.udfs };
    c.plan = pig_parse(script, strlen(script), "t.pig", &o, &err);
    if (!c.plan)
        fail_msg("%s", err.msg);
    Input *in = arena_array(&c.arena, Input, c.plan->ops.len);
    for (size_t i = 0; i < c.plan->ops.len; i++) {
        const Op *op = c.plan->ops.items[i];
        const char *text = op->kind == OP_LOAD ? *op->path == 'a' ? a : b : NULL;
        if (text)
            load_text(op, text, &c.arena, &in[i]);
    }
    gp.samples = in;
    gp.seed = 1;
    gp.seconds = 60;
    c.e = examples_generate(c.plan, &gp, &err);
    if (!c.e)
        fail_msg("%s", err.msg);
    return c;
}

static void release(Case *c)
{
    examples_free(c->e);
    plan_free(c->plan);
    arena_release(&c->arena);
}

static Class *class_of(Case *c, const char *alias, ClassKind kind)
{
    for (size_t i = 0; i < c->e->classes->n; i++)
        if (c->e->classes->items[i].kind == kind && c->e->classes->items[i].op->alias &&
            !strcmp(c->e->classes->items[i].op->alias, alias))
            return &c->e->classes->items[i];
    fail_msg("no such class: %s %s", alias, class_word(kind));
    return NULL;
}

static const Table *table_of(Case *c, const char *alias)
{
    return run_table(c->e->run, plan_find(c->plan, alias));
}

/* Everything that can be shown is. */
static void complete(const char *script, const char *a, const char *b)
{
    Case c = make(script, a, b, (GeneratePlan){ 0 });
    for (size_t i = 0; i < c.e->classes->n; i++) {
        const Class *k = &c.e->classes->items[i];
        if (!k->shown && k->why != WHY_UNSAT) {
            Str s = { 0 };
            class_print(k, &s);
            print_error("%s\n  line %d: %s: %s\n", script, k->op->at.line, str_c(&s),
                        k->reason ? k->reason : "");
            str_release(&s);
        }
    }
    assert_true(c.e->metrics.completeness == 1.0);
    release(&c);
}

#define BT1                                                                                        \
    "A = LOAD 'a' USING PigStorage(',') AS (name:chararray, value:int);\n"                         \
    "B = LOAD 'b' USING PigStorage(',') AS (u:double, class:int);\n"                               \
    "C = FILTER A BY value < 100 AND value >= 0;\n"                                                \
    "D = FILTER B BY POW(u, 2.0) > 0.25;\n"                                                        \
    "E = JOIN C BY value, D BY class;\n"

static void bt1_the_running_example(void **state)
{
    (void)state;
    Case c = make(BT1, "kim,200\n", "3.3,32\n", (GeneratePlan){ 0 });
    assert_true(c.e->metrics.completeness == 1.0);
    const Table *j = table_of(&c, "E");
    assert_true(j->n >= 1);
    int64_t key = j->rows[0]->tuple->fields[1].u.i;
    assert_true(key >= 0 && key < 100);
    assert_int_equal(key, j->rows[0]->tuple->fields[3].u.i);
    /* The real row of B is used, and joins with an invented one of A. */
    assert_false(c.e->made[plan_find(c.plan, "B")->id][0]);
    assert_true(c.e->metrics.realism >= 0.5);
    release(&c);
}

/* No model of the function: only its answers. */
static Udfs *hash_table(const char *dir)
{
    Udfs *u = udfs_new();
    Err err = { 0 };
    char path[200];
    snprintf(path, sizeof path, "%s/udf.json", dir);
    if (!udfs_read(u, path, &err))
        fail_msg("%s", err.msg);
    return u;
}

static void write_to(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static const char hash_filter[] = "A = LOAD 'a' USING PigStorage(',') AS (x:int, y:int);\n"
                                  "B = FILTER A BY x == HASH(y) AND x > 50;\n";

static void bt2_a_function_known_by_its_answers(void **state)
{
    (void)state;
    char dir[] = "/tmp/sundew-udf-XXXXXX";
    assert_non_null(mkdtemp(dir));
    char path[200];
    snprintf(path, sizeof path, "%s/udf.json", dir);
    write_to(path, "{\"HASH\": {\"table\": \"h.jsonl\", \"type\": \"int\"}}");
    snprintf(path, sizeof path, "%s/h.jsonl", dir);
    write_to(path, "{\"args\":[42],\"value\":30}\n{\"args\":[19],\"value\":58}\n");
    Udfs *u = hash_table(dir);
    Case c = make(hash_filter, "33,42\n47,19\n", NULL, (GeneratePlan){ .udfs = u });
    assert_true(class_of(&c, "B", CLASS_PASS)->shown);
    const Tuple *t = table_of(&c, "B")->rows[0]->tuple;
    assert_int_equal(t->fields[0].u.i, 58);
    assert_int_equal(t->fields[1].u.i, 19);
    release(&c);
    udfs_free(u);
    /* One answer alone does not do. */
    write_to(path, "{\"args\":[42],\"value\":30}\n");
    u = hash_table(dir);
    c = make(hash_filter, "33,42\n", NULL, (GeneratePlan){ .udfs = u, .passive = true });
    assert_false(class_of(&c, "B", CLASS_PASS)->shown);
    assert_int_equal(class_of(&c, "B", CLASS_PASS)->why, WHY_UNKNOWN);
    release(&c);
    udfs_free(u);
    remove(path);
    snprintf(path, sizeof path, "%s/udf.json", dir);
    remove(path);
    remove(dir);
}

static void bt3_two_planes(void **state)
{
    (void)state;
    Case c = make("A = LOAD 'a' AS (g:float, r:float, cx:float, cy:float);\n"
                  "B = FILTER A BY -0.642788*cx + 0.766044*cy >= 0 AND "
                  "-0.984808*cx - 0.173648*cy < 0;\n",
                  NULL, NULL, (GeneratePlan){ 0 });
    assert_true(c.e->metrics.completeness == 1.0);
    assert_int_equal(table_of(&c, "A")->n, 2);
    assert_true(fabs(c.e->metrics.conciseness - 0.75) < 1e-9);
    release(&c);
}

/* Thirty rows at both operators: (1/30 + 2/30) / 2. */
static void bt3_the_figure_of_thirty_rows(void **state)
{
    (void)state;
    Str rows = { 0 };
    for (int i = 0; i < 30; i++)
        str_addf(&rows, "1\t2\t%d\t%d\n", i - 15, i);
    Case c = make("A = LOAD 'a' AS (g:float, r:float, cx:float, cy:float);\n"
                  "B = FILTER A BY cx > 0;\n",
                  str_c(&rows), NULL, (GeneratePlan){ 0 });
    Input in[3] = { 0 };
    load_text(c.plan->ops.items[0], str_c(&rows), &c.arena, &in[0]);
    Run *r = run_plan(c.plan, &(RunPlan){ .inputs = in }, NULL);
    classes_measure(c.e->classes, r);
    Metrics m = classes_metrics(c.e->classes, r, in, NULL);
    assert_true(fabs(m.conciseness - 0.05) < 1e-9);
    run_free(r);
    str_release(&rows);
    release(&c);
}

static void bt4_many_sums(void **state)
{
    (void)state;
    Str s = { 0 };
    str_add(&s, "A = LOAD 'a' AS (name:chararray");
    for (int i = 0; i < 32; i++)
        str_addf(&s, ", c%d:int", i);
    str_add(&s, ");\nG = GROUP A BY name;\nS = FOREACH G GENERATE group");
    for (int i = 0; i < 32; i++)
        str_addf(&s, ", SUM(A.c%d) AS s%d", i, i);
    str_add(&s, ";\nF = FILTER S BY s0 > 100");
    for (int i = 1; i < 32; i++)
        str_addf(&s, " AND s%d > 100", i);
    str_add(&s, ";\n");
    Case c = make(str_c(&s), NULL, NULL, (GeneratePlan){ 0 });
    assert_true(c.e->metrics.completeness == 1.0);
    assert_true(table_of(&c, "A")->n <= 4);
    release(&c);
    str_release(&s);
}

static void bt5_nulls_are_made(void **state)
{
    (void)state;
    Case c = make("A = LOAD 'a' AS (user, action, timespent, query_term, revenue);\n"
                  "B = FOREACH A GENERATE user, action, (int)timespent AS timespent, query_term, "
                  "(double)revenue AS revenue;\n"
                  "SPLIT B INTO C IF user IS NOT NULL, alpha IF user IS NULL;\n"
                  "SPLIT C INTO D IF query_term IS NOT NULL, aleph IF query_term IS NULL;\n"
                  "E = GROUP D BY user; F = FOREACH E GENERATE group, MAX(D.revenue);\n"
                  "beta = GROUP alpha BY query_term;\n"
                  "gamma = FOREACH beta GENERATE group, SUM(alpha.timespent);\n"
                  "beth = GROUP aleph BY action;\n"
                  "gimel = FOREACH beth GENERATE group, COUNT(aleph);\n",
                  NULL, NULL, (GeneratePlan){ 0 });
    assert_true(c.e->metrics.completeness == 1.0);
    assert_int_equal(table_of(&c, "alpha")->rows[0]->tuple->fields[0].kind, DATUM_NULL);
    assert_int_equal(table_of(&c, "aleph")->rows[0]->tuple->fields[3].kind, DATUM_NULL);
    release(&c);
}

static void bt6_an_empty_bag(void **state)
{
    (void)state;
    Case c = make("A = LOAD 'a' AS (user); B = LOAD 'b' AS (name);\n"
                  "C = COGROUP B BY name, A BY user;\n"
                  "D = FILTER C BY COUNT(B) == 0;\n",
                  NULL, NULL, (GeneratePlan){ 0 });
    assert_true(c.e->metrics.completeness == 1.0);
    assert_int_equal(table_of(&c, "D")->rows[0]->tuple->fields[1].u.bag->n, 0);
    release(&c);
}

static void bt7_two_patterns(void **state)
{
    (void)state;
    Case c = make("A = LOAD 'a' AS (name:chararray);\n"
                  "B = FILTER A BY name MATCHES '.*apache.*' AND name MATCHES '.*commons.*';\n",
                  NULL, NULL, (GeneratePlan){ .goals = GOALS_MCDC });
    assert_true(c.e->metrics.completeness == 1.0);
    assert_int_equal(c.e->metrics.extra_shown, 2);
    const char *name = table_of(&c, "B")->rows[0]->tuple->fields[0].u.s;
    assert_true(strstr(name, "apache") && strstr(name, "commons"));
    release(&c);
    /* No text is both digits and letters: a proof, not a guess. */
    c = make("A = LOAD 'a' AS (name:chararray);\n"
             "B = FILTER A BY name MATCHES '[0-9]+' AND name MATCHES '[a-z]+';\n",
             NULL, NULL, (GeneratePlan){ 0 });
    assert_int_equal(class_of(&c, "B", CLASS_PASS)->why, WHY_UNSAT);
    release(&c);
}

static void bt8_operators_on_operators(void **state)
{
    (void)state;
    Case c = make("A = LOAD 'a' AS (x:int, y:int); G = GROUP A BY (x, y);\n"
                  "H = FOREACH G GENERATE group.x AS x, COUNT(A) AS n; K = GROUP H BY x;\n",
                  NULL, NULL, (GeneratePlan){ 0 });
    assert_true(c.e->metrics.completeness == 1.0);
    assert_true(table_of(&c, "A")->n <= 4);
    release(&c);
    /* The inner groups have one row each, and cannot have more. */
    c = make("A = LOAD 'a' AS (x:int, y:int); D = DISTINCT A; G = GROUP D BY (x, y);\n"
             "H = FOREACH G GENERATE COUNT(D) AS n; K = GROUP H BY n;\n",
             NULL, NULL, (GeneratePlan){ 0 });
    assert_true(class_of(&c, "K", CLASS_GROUP_OF_TWO)->shown);
    assert_int_equal(class_of(&c, "G", CLASS_GROUP_OF_TWO)->why, WHY_UNSAT);
    release(&c);
    c = make("A = LOAD 'a' AS (x:int, y:int); D = DISTINCT A; G = GROUP D BY x;\n", NULL, NULL,
             (GeneratePlan){ 0 });
    assert_true(c.e->metrics.completeness == 1.0);
    assert_int_equal(table_of(&c, "A")->n, 3);
    release(&c);
    complete("A = LOAD 'a' AS (x:int); B = LOAD 'b' AS (x:int); C = FILTER B BY x > 10;\n"
             "U = UNION A, C;\n",
             "1\n2\n", NULL);
    c = make("A = LOAD 'a' AS (x:int); D = DISTINCT A;\n", NULL, NULL, (GeneratePlan){ 0 });
    assert_int_equal(table_of(&c, "A")->n, 2);
    assert_int_equal(table_of(&c, "D")->n, 1);
    release(&c);
}

static void bt9_a_contradiction_names_both_lines(void **state)
{
    (void)state;
    Case c = make("A = LOAD 'a' AS (x:int);\nB = FILTER A BY x > 5;\nC = FILTER B BY x < 3;\n",
                  NULL, NULL, (GeneratePlan){ 0 });
    const Class *k = class_of(&c, "C", CLASS_PASS);
    assert_int_equal(k->why, WHY_UNSAT);
    assert_int_equal(k->nconflict, 2);
    assert_int_equal(k->conflict[0]->at.line, 2);
    assert_int_equal(k->conflict[1]->at.line, 3);
    assert_true(c.e->metrics.completeness == 1.0);
    release(&c);
}

static void bt10_a_count_that_is_a_sum(void **state)
{
    (void)state;
    complete(
        "A = LOAD 'a' AS (k:chararray, x:int); G = GROUP A BY k;\n"
        "S = FOREACH G GENERATE group, COUNT(A) AS c, SUM(A.x) AS s; F = FILTER S BY c == s;\n",
        NULL, NULL);
}

/* ---- where ILLUSTRATE fails */

static void illustrate_1_arithmetic_and_patterns_in_filters(void **state)
{
    (void)state;
    complete("A = LOAD 'a' AS (x:int, y:int, s:chararray);\n"
             "B = FILTER A BY x + y * 2 > 17 AND s MATCHES 'a[0-9]+' AND SIZE(s) > 3;\n",
             NULL, NULL);
}

static void illustrate_2_two_bounds_on_one_field(void **state)
{
    (void)state;
    complete("A = LOAD 'a' AS (x:int); B = FILTER A BY x > 5 AND x > 10;\n", "1\n", NULL);
    Case c = make("A = LOAD 'a' AS (x:int, y:int); B = FILTER A BY x > 5 AND y > 10;\n", NULL, NULL,
                  (GeneratePlan){ .goals = GOALS_MCDC });
    assert_int_equal(c.e->metrics.extra_shown, 2);
    release(&c);
}

static void illustrate_3_null_in_any_column(void **state)
{
    (void)state;
    Case c = make("A = LOAD 'a' USING PigStorage(',') AS (x:int, y:int, z:chararray);\n"
                  "B = FILTER A BY z IS NULL;\n",
                  "1,2,k\n3,4,l\n", NULL, (GeneratePlan){ 0 });
    assert_true(c.e->metrics.completeness == 1.0);
    assert_int_equal(table_of(&c, "B")->rows[0]->tuple->fields[2].kind, DATUM_NULL);
    release(&c);
}

static void illustrate_4_ranges(void **state)
{
    (void)state;
    complete("A = LOAD 'a' AS (d:chararray, x:int);\n"
             "B = FILTER A BY d >= '20071201' AND d < '20080101' AND x > 9 AND x < 11;\n",
             NULL, NULL);
}

static void illustrate_5_computed_columns(void **state)
{
    (void)state;
    complete("A = LOAD 'a' AS (x:int, s:chararray);\n"
             "B = FOREACH A GENERATE x * 3 + 1 AS t, UPPER(s) AS u, CONCAT(s, '!') AS v;\n"
             "C = FILTER B BY t == 22 AND u == 'ANN' AND v != 'bob!';\n",
             NULL, NULL);
}

static void illustrate_6_filters_below_joins_and_computed_keys(void **state)
{
    (void)state;
    complete("A = LOAD 'a' AS (x:int, y:int); B = LOAD 'b' AS (x:int, z:int);\n"
             "J = JOIN A BY x + 1, B BY x; F = FILTER J BY A::y < B::z AND B::z == 7;\n"
             "G = GROUP F BY A::y % 3; S = FOREACH G GENERATE group, COUNT(F);\n",
             NULL, NULL);
}

static void illustrate_7_empty_sides_and_no_data(void **state)
{
    (void)state;
    complete("A = LOAD 'a' AS (x:int); B = LOAD 'b' AS (x:int); J = JOIN A BY x, B BY x;\n", "1\n",
             "");
    complete("A = LOAD 'a' AS (x:int); B = LOAD 'b' AS (x:int); J = JOIN A BY x FULL, B BY x;\n",
             "\n\n", NULL);
}

static void illustrate_8_cross_split_rank_cube(void **state)
{
    (void)state;
    complete("A = LOAD 'a' AS (x:int, s:chararray); B = LOAD 'b' AS (y:int);\n"
             "C = CROSS A, B; SPLIT C INTO D IF x < y, E IF x > y + 10, F OTHERWISE;\n"
             "R = RANK D BY x; Q = CUBE A BY CUBE(x, s); O = ORDER E BY y; L = LIMIT O 1;\n",
             NULL, NULL);
}

static void illustrate_9_one_file_loaded_twice(void **state)
{
    (void)state;
    Case c = make("A = LOAD 'a' USING PigStorage(',') AS (x:int, y:int);\n"
                  "B = LOAD 'a' USING PigStorage(',') AS (x:int, y:int);\n"
                  "J = JOIN A BY x, B BY y; F = FILTER J BY A::y != B::x;\n",
                  NULL, NULL, (GeneratePlan){ 0 });
    assert_true(c.e->metrics.completeness == 1.0);
    const Table *a = table_of(&c, "A"), *b = table_of(&c, "B");
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++)
        assert_int_equal(tuple_compare(a->rows[i]->tuple, b->rows[i]->tuple), 0);
    release(&c);
}

/* ---- more */

static void outer_joins_show_rows_without_a_partner(void **state)
{
    (void)state;
    complete("A = LOAD 'a' AS (x:int, n:chararray); B = LOAD 'b' AS (x:int, m:chararray);\n"
             "J = JOIN A BY x LEFT OUTER, B BY x; F = FILTER J BY B::m IS NULL;\n"
             "G = FOREACH F GENERATE n;\n",
             NULL, NULL);
}

static void real_rows_come_first(void **state)
{
    (void)state;
    Case c = make("A = LOAD 'a' USING PigStorage(',') AS (n:chararray, x:int);\n"
                  "B = FILTER A BY x > 10; G = GROUP B BY n;\n",
                  "ann,5\nbob,12\nbob,13\ncleo,3\ndan,40\n", NULL, (GeneratePlan){ 0 });
    assert_true(c.e->metrics.completeness == 1.0);
    assert_true(c.e->metrics.realism == 1.0);
    assert_int_equal(table_of(&c, "A")->n, 3);
    release(&c);
}

static void private_rows_have_no_value_of_the_sample(void **state)
{
    (void)state;
    Case c = make("A = LOAD 'a' USING PigStorage(',') AS (n:chararray, x:int);\n"
                  "B = FILTER A BY x > 10;\n",
                  "wilhelmina,12\nzebedee,3\n", NULL, (GeneratePlan){ .no_real_values = true });
    assert_true(c.e->metrics.completeness == 1.0);
    const Table *a = table_of(&c, "A");
    for (size_t i = 0; i < a->n; i++) {
        assert_string_not_equal(a->rows[i]->tuple->fields[0].u.s, "wilhelmina");
        assert_string_not_equal(a->rows[i]->tuple->fields[0].u.s, "zebedee");
    }
    release(&c);
}

static void goals_beyond_the_basic_ones(void **state)
{
    (void)state;
    Case c =
        make("A = LOAD 'a' AS (x:int, y:int); B = LOAD 'b' AS (x:int);\n"
             "F = FILTER A BY x > 3 OR y == 7; C = COGROUP F BY x, B BY x;\n",
             NULL, NULL,
             (GeneratePlan){ .goals = GOALS_NULLS | GOALS_BOUNDARIES | GOALS_MCDC | GOALS_EMPTY });
    assert_true(c.e->metrics.completeness == 1.0);
    assert_int_equal(c.e->metrics.extra_all, 7);
    assert_int_equal(c.e->metrics.extra_shown, 7);
    release(&c);
}

static void the_same_seed_gives_the_same_rows(void **state)
{
    (void)state;
    Str one = { 0 }, two = { 0 };
    for (int i = 0; i < 2; i++) {
        Case c = make(BT1, "kim,200\n", "3.3,32\n", (GeneratePlan){ 0 });
        for (size_t k = 0; k < c.plan->ops.len; k++)
            for (size_t r = 0; r < c.e->inputs[k].n; r++)
                tuple_print(i ? &two : &one, c.e->inputs[k].rows[r], false);
        release(&c);
    }
    assert_string_equal(str_c(&one), str_c(&two));
    str_release(&one);
    str_release(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bt1_the_running_example),
        cmocka_unit_test(bt2_a_function_known_by_its_answers),
        cmocka_unit_test(bt3_two_planes),
        cmocka_unit_test(bt3_the_figure_of_thirty_rows),
        cmocka_unit_test(bt4_many_sums),
        cmocka_unit_test(bt5_nulls_are_made),
        cmocka_unit_test(bt6_an_empty_bag),
        cmocka_unit_test(bt7_two_patterns),
        cmocka_unit_test(bt8_operators_on_operators),
        cmocka_unit_test(bt9_a_contradiction_names_both_lines),
        cmocka_unit_test(bt10_a_count_that_is_a_sum),
        cmocka_unit_test(illustrate_1_arithmetic_and_patterns_in_filters),
        cmocka_unit_test(illustrate_2_two_bounds_on_one_field),
        cmocka_unit_test(illustrate_3_null_in_any_column),
        cmocka_unit_test(illustrate_4_ranges),
        cmocka_unit_test(illustrate_5_computed_columns),
        cmocka_unit_test(illustrate_6_filters_below_joins_and_computed_keys),
        cmocka_unit_test(illustrate_7_empty_sides_and_no_data),
        cmocka_unit_test(illustrate_8_cross_split_rank_cube),
        cmocka_unit_test(illustrate_9_one_file_loaded_twice),
        cmocka_unit_test(outer_joins_show_rows_without_a_partner),
        cmocka_unit_test(real_rows_come_first),
        cmocka_unit_test(private_rows_have_no_value_of_the_sample),
        cmocka_unit_test(goals_beyond_the_basic_ones),
        cmocka_unit_test(the_same_seed_gives_the_same_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
