/*
 * SQL into plans: what queries give on given rows, what schemas forbid, what
 * errors say. tests/scripts/dataflow-sql.sh holds the same against SQLite.
 */
#include "dataflow/copies.h"
#include "dataflow/generate.h"
#include "dataflow/rules.h"
#include "dataflow/sql.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>

static const char schema[] =
    "CREATE TABLE t (id int PRIMARY KEY, x int, s text);\n"
    "CREATE TABLE u (id int PRIMARY KEY, t_id int REFERENCES t, v int NOT NULL CHECK (v > 0));\n";

/* Rows of t and u. */
static const int64_t t_rows[][2] = { { 1, 10 }, { 2, 20 }, { 3, -1 } };        /* -1: null */
static const char *const t_text[] = { "ann", "bob", "ann" };
static const int64_t u_rows[][3] = { { 1, 1, 5 }, { 2, 1, 7 }, { 3, 2, 5 }, { 4, -1, 9 } };

static Datum whole(int64_t i) { return i < 0 ? datum_null() : datum_long(i); }

static void fill(Arena *a, const Op *op, Input *in)
{
    bool t = !strcmp(op->path, "t");
    in->n = t ? 3 : 4;
    in->rows = arena_array(a, const Tuple *, in->n);
    for (size_t i = 0; i < in->n; i++) {
        Tuple *row = tuple_new(a, 3);
        row->fields[0] = whole(t ? t_rows[i][0] : u_rows[i][0]);
        row->fields[1] = whole(t ? t_rows[i][1] : u_rows[i][1]);
        row->fields[2] = t ? datum_text(a, t_text[i]) : whole(u_rows[i][2]);
        in->rows[i] = row;
    }
}

/* The rows of a query's result in their order: "(1,a)(2,b)". */
static void gives(const char *query, const char *want)
{
    Err err = { 0 };
    Arena a = { 0 };
    Str got = { 0 };
    Plan *p = sql_parse(query, "q.sql", schema, NULL, &err);
    if (!p)
        fail_msg("%s: %s", query, err.msg);
    Input *inputs = arena_array(&a, Input, p->ops.len);
    const Op *store = NULL;
    for (size_t i = 0; i < p->ops.len; i++) {
        if (p->ops.items[i]->kind == OP_LOAD)
            fill(&a, p->ops.items[i], &inputs[i]);
        if (p->ops.items[i]->kind == OP_STORE)
            store = p->ops.items[i];
    }
    Run *r = run_plan(p, &(RunPlan){ .inputs = inputs }, &err);
    assert_non_null(r);
    const Table *t = run_table(r, store);
    for (size_t i = 0; i < t->n; i++)
        tuple_print(&got, t->rows[i]->tuple, true);
    if (strcmp(str_c(&got), want))
        fail_msg("%s\n  gives %s\n  not   %s", query, str_c(&got), want);
    run_free(r);
    plan_free(p);
    str_release(&got);
    arena_release(&a);
}

static void refuses(const char *query, const char *want)
{
    Err err = { 0 };
    Plan *p = sql_parse(query, "q.sql", schema, NULL, &err);
    assert_null(p);
    if (!strstr(err.msg, want))
        fail_msg("%s\n  says %s\n  not  %s", query, err.msg, want);
}

static void test_joins(void **state)
{
    (void)state;
    gives("SELECT t.id, u.v FROM t JOIN u ON u.t_id = t.id ORDER BY 1, 2", "(1,5)(1,7)(2,5)");
    gives("SELECT t.id, u.v FROM t LEFT JOIN u ON u.t_id = t.id AND u.v > 6 ORDER BY 1",
          "(1,7)(2,)(3,)");
    gives("SELECT t.id, u.id FROM t RIGHT JOIN u ON u.t_id = t.id ORDER BY u.id",
          "(1,1)(1,2)(2,3)(,4)");
    gives("SELECT count(*) FROM t FULL JOIN u ON u.t_id = t.id", "(5)");
    gives("SELECT id, v FROM t JOIN u USING (id) ORDER BY id", "(1,5)(2,7)(3,5)");
    gives("SELECT a.id, b.id FROM t a, t b WHERE a.s = b.s AND a.id < b.id", "(1,3)");
    gives("SELECT count(*) FROM t, u", "(12)");
}

static void test_nulls(void **state)
{
    (void)state;
    gives("SELECT id FROM t WHERE x <> 10", "(2)");
    gives("SELECT id FROM t WHERE x IS DISTINCT FROM 10 ORDER BY id", "(2)(3)");
    gives("SELECT id FROM t WHERE id NOT IN (SELECT t_id FROM u)", "");
    gives("SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.t_id = t.id)", "(3)");
    gives("SELECT id FROM t ORDER BY x", "(1)(2)(3)");
    gives("SELECT id FROM t ORDER BY x DESC", "(3)(2)(1)");
    gives("SELECT coalesce(x, 0), nullif(x, 10) FROM t WHERE id IN (1, 3) ORDER BY 1", "(0,)(10,)");
    gives("SELECT CASE WHEN x > 10 THEN 'big' WHEN x IS NULL THEN 'none' ELSE 'small' END FROM t "
          "ORDER BY id",
          "(small)(big)(none)");
}

static void test_groups(void **state)
{
    (void)state;
    gives("SELECT s, count(*), count(x), sum(x) FROM t GROUP BY s ORDER BY s",
          "(ann,2,1,10)(bob,1,1,20)");
    gives("SELECT count(*), sum(x) FROM t WHERE id > 9", "(0,)");
    gives("SELECT s FROM t GROUP BY s HAVING count(*) > 1", "(ann)");
    gives("SELECT t.id, t.s, count(u.id) FROM t LEFT JOIN u ON u.t_id = t.id GROUP BY t.id "
          "ORDER BY t.id",
          "(1,ann,2)(2,bob,1)(3,ann,0)");
    gives("SELECT v % 2 AS odd, count(DISTINCT v) FROM u GROUP BY odd", "(1,3)");
    gives("SELECT count(*) FILTER (WHERE v > 5) FROM u", "(2)");
    gives("SELECT max(v) - min(v) FROM u GROUP BY t_id HAVING sum(v) > (SELECT avg(v) FROM u) "
          "ORDER BY 1",
          "(0)(2)");
}

/* The answers are PostgreSQL's. */
static void test_grouping_sets(void **state)
{
    (void)state;
    gives("SELECT s, x, count(*) FROM t GROUP BY ROLLUP (s, x) ORDER BY 1, 2, 3",
          "(ann,10,1)(ann,,1)(ann,,2)(bob,20,1)(bob,,1)(,,3)");
    gives("SELECT s, count(*), grouping(s) FROM t GROUP BY CUBE (s) ORDER BY 3, 1",
          "(ann,2,0)(bob,1,0)(,3,1)");
    gives("SELECT t_id, v, sum(id), grouping(t_id, v) FROM u "
          "GROUP BY GROUPING SETS ((t_id), (v), ()) ORDER BY 4, 1, 2",
          "(1,,3,1)(2,,3,1)(,,4,1)(,5,4,2)(,7,2,2)(,9,4,2)(,,10,3)");
    gives("SELECT s, sum(x) FROM t WHERE id > 9 GROUP BY ROLLUP (s)", "(,)");
    gives("SELECT s, count(*) FROM t GROUP BY GROUPING SETS (s, s) HAVING count(*) > 1",
          "(ann,2)(ann,2)");
    gives("SELECT t_id, v % 2 AS odd, count(*) FROM u GROUP BY t_id, ROLLUP (odd) "
          "HAVING count(*) < 2 ORDER BY t_id, odd",
          "(2,1,1)(2,,1)(,1,1)(,,1)");
    gives("SELECT s, count(*) + 1, grouping(s) FROM t GROUP BY (s) ORDER BY 1",
          "(ann,3,0)(bob,2,0)");
    gives("SELECT s, sum(count(*)) OVER (PARTITION BY grouping(s)) FROM t GROUP BY ROLLUP (s) "
          "ORDER BY s",
          "(ann,3)(bob,3)(,3)");
    gives("SELECT id, x, count(*) FROM t GROUP BY CUBE ((id, x)) ORDER BY 1",
          "(1,10,1)(2,20,1)(3,,1)(,,3)");
    gives("SELECT id FROM t o WHERE EXISTS (SELECT s FROM t WHERE x < o.x GROUP BY ROLLUP (s) "
          "HAVING grouping(s) = 1 AND count(*) > 0)",
          "(2)");
    refuses("SELECT s, x FROM t\nGROUP BY ROLLUP (s)", "q.sql:1:11: column x is neither in");
    refuses("SELECT s,\n grouping(x) FROM t GROUP BY ROLLUP (s)",
            "q.sql:2:2: GROUPING: expected a key");
    refuses("SELECT count(*) FROM t GROUP BY CUBE (1, 2, 3, 4, 5, 6, 7)",
            "q.sql:1:33: GROUP BY has more than 64 grouping sets");
    refuses("SELECT s FROM t GROUP BY DISTINCT ROLLUP (s), ROLLUP (x)",
            "not supported: GROUP BY DISTINCT");
}

static void test_subqueries(void **state)
{
    (void)state;
    gives("SELECT id, (SELECT max(v) FROM u WHERE u.t_id = t.id) FROM t ORDER BY id",
          "(1,7)(2,5)(3,)");
    gives("SELECT id FROM t WHERE x > ALL (SELECT v FROM u) ORDER BY id", "(1)(2)");
    gives("SELECT id FROM t WHERE id = ANY (SELECT t_id FROM u) ORDER BY id", "(1)(2)");
    gives("WITH big AS (SELECT * FROM u WHERE v > 5) SELECT count(*) FROM big b, big c", "(4)");
    gives("SELECT q.n FROM (SELECT count(*) AS n FROM u GROUP BY t_id) q ORDER BY n", "(1)(1)(2)");
}

static void test_sets_and_windows(void **state)
{
    (void)state;
    gives("SELECT id FROM t UNION SELECT v FROM u ORDER BY 1", "(1)(2)(3)(5)(7)(9)");
    gives("SELECT v FROM u EXCEPT SELECT 5 ORDER BY 1", "(7)(9)");
    gives("SELECT id FROM t INTERSECT SELECT t_id FROM u ORDER BY 1", "(1)(2)");
    gives("SELECT id, rank() OVER (ORDER BY v) FROM u ORDER BY id", "(1,1)(2,3)(3,1)(4,4)");
    gives("SELECT id, sum(v) OVER (PARTITION BY t_id ORDER BY id) FROM u ORDER BY id",
          "(1,5)(2,12)(3,5)(4,9)");
    gives("SELECT id FROM u ORDER BY v DESC, id LIMIT 2 OFFSET 1", "(2)(1)");
    gives("SELECT DISTINCT s FROM t ORDER BY s", "(ann)(bob)");
    gives("SELECT x.column1 FROM (VALUES (1), (2)) x WHERE x.column1 > 1", "(2)");
}

static void test_dialects(void **state)
{
    (void)state;
    gives("SELECT `id` FROM `t` ORDER BY id LIMIT 1, 2", "(2)(3)");
    gives("{{ config(materialized='view') }} SELECT count(*) FROM {{ ref('t') }}", "(3)");
    gives("SELECT count(*) FROM (SELECT id FROM t WHERE s <> ')' AND (x > 1))", "(2)");
    gives("SELECT id FROM t WHERE x = '10' AND coalesce(x, '0') > 3", "(1)");
    gives("SELECT date(x) FROM (VALUES (timestamp '2017-02-09 12:24:58')) AS v (x)",
          "(2017-02-09T00:00:00.000Z)");
    gives("SELECT substring(s FROM 1 FOR 2) || '!' FROM t WHERE s LIKE 'b%'", "(bo!)");
}

static void test_errors(void **state)
{
    (void)state;
    refuses("SELECT\n  nix FROM t", "q.sql:2:3: there is no column nix");
    refuses("SELECT id FROM t, u", "q.sql:1:8: id is ambiguous");
    refuses("SELECT x FROM t WHERE", "q.sql:1:");
    refuses("SELECT x FROM nix", "q.sql:1:15: there is no table nix");
    refuses("SELECT s, x FROM t GROUP BY s", "q.sql:1:11: column x is neither in GROUP BY");
    refuses("SELECT DISTINCT ON (s) x FROM t", "not supported: DISTINCT ON");
    refuses("WITH RECURSIVE r AS (SELECT 1) SELECT * FROM r", "not supported: a recursive WITH");
    refuses("SELECT pg_sleep(3) FROM t", "not supported: function pg_sleep");
    refuses("DELETE FROM t", "not supported: DeleteStmt; expected SELECT");
    refuses("SELECT 1; SELECT 2", "a second query");
}

/* Generated rows keep the schema; the checker sees rows that do not. */
static void test_rules(void **state)
{
    (void)state;
    Err err = { 0 };
    Plan *p = sql_parse("SELECT t.s, sum(u.v) FROM u JOIN t ON u.t_id = t.id WHERE u.v < 9 "
                        "GROUP BY t.s HAVING sum(u.v) > 3",
                        "q.sql", schema, NULL, &err);
    assert_non_null(p);
    Examples *e = examples_generate(p, &(GeneratePlan){ .seed = 1, .seconds = 60 }, &err);
    assert_non_null(e);
    assert_true(e->metrics.shown == e->metrics.all);
    assert_int_equal(rules_broken(p, e->inputs), 0);
    Arena a = { 0 };
    Input *inputs = arena_array(&a, Input, p->ops.len);
    int u = -1;
    for (size_t i = 0; i < p->ops.len; i++)
        if (p->ops.items[i]->kind == OP_LOAD) {
            fill(&a, p->ops.items[i], &inputs[i]);
            u = strcmp(p->ops.items[i]->path, "u") ? u : (int)i;
        }
    assert_int_equal(rules_broken(p, inputs), 0);
    Tuple *bad = (Tuple *)inputs[u].rows[0];
    bad->fields[2] = datum_long(0);                /* CHECK */
    assert_int_equal(rules_broken(p, inputs), 1);
    bad->fields[2] = datum_null();                 /* NOT NULL */
    assert_int_equal(rules_broken(p, inputs), 1);
    bad->fields[2] = datum_long(1);
    bad->fields[1] = datum_long(77);               /* no such parent */
    assert_int_equal(rules_broken(p, inputs), 1);
    bad->fields[1] = datum_null();
    bad->fields[0] = datum_long(2);                /* key twice */
    assert_int_equal(rules_broken(p, inputs), 1);
    arena_release(&a);
    examples_free(e);
    plan_free(p);
}

/* How many classes are shown and how many are impossible, all others being a
 * failure: "5+1". */
static void classes_of(const char *tables, const char *query, const char *want)
{
    Err err = { 0 };
    Plan *p = sql_parse(query, "q.sql", tables, NULL, &err);
    if (!p)
        fail_msg("%s: %s", query, err.msg);
    Examples *e = examples_generate(p, &(GeneratePlan){ .seed = 1, .seconds = 60 }, &err);
    assert_non_null(e);
    char got[60];
    snprintf(got, sizeof got, "%zu+%zu%s", e->metrics.shown, e->metrics.impossible,
             e->metrics.shown < e->metrics.all ? " and some are missing" : "");
    if (strcmp(got, want))
        fail_msg("%s\n  has %s\n  not %s", query, got, want);
    assert_int_equal(rules_broken(p, e->inputs), 0);
    examples_free(e);
    plan_free(p);
}

/* What is called impossible is; and its twin, which is not, is shown. */
static void test_proofs(void **state)
{
    (void)state;
    static const char one[] = "CREATE TABLE a (id text PRIMARY KEY, k text UNIQUE, d int);"
                              "CREATE TABLE b (id text PRIMARY KEY, a text, n int);";
    /* The key is fixed: one row at most, also with partners by their keys. */
    classes_of(one, "SELECT count(id) FROM a WHERE id = 'x' AND d = '0'", "4+1");
    classes_of(one, "SELECT count(id) FROM a WHERE k <> 'x' AND d = '0'", "5+0");
    classes_of(one, "SELECT a.d FROM a LEFT JOIN b ON a.k = b.id WHERE a.id = 'x' LIMIT 1", "7+1");
    classes_of(one, "SELECT a.d FROM a LEFT JOIN b ON a.k = b.a WHERE a.id = 'x' LIMIT 1", "8+0");
    /* Groups of any size. */
    classes_of(one, "SELECT k FROM a GROUP BY k HAVING count(*) >= 1", "4+1");
    classes_of(one, "SELECT id FROM a GROUP BY id HAVING count(*) >= 2", "2+3");
    classes_of(one, "SELECT a FROM b GROUP BY a HAVING count(*) >= 3", "5+0");
    /* UNIQUE lets nulls through, and GROUP BY puts them together. */
    classes_of(one, "SELECT k FROM a GROUP BY k HAVING count(*) > 1 LIMIT 1", "5+1");
    /* One group of all rows. */
    classes_of(one, "SELECT count(*) FROM a LIMIT 1", "3+1");
    /* EXISTS and a contradiction beside it. */
    classes_of(one, "SELECT d FROM a WHERE k = NULL AND EXISTS (SELECT 1 FROM b WHERE b.a = a.id)",
               "3+2");
    /* Equal rows come from both sides, or from none. */
    classes_of(one,
               "SELECT id FROM a UNION SELECT a FROM b WHERE n > 2 GROUP BY a HAVING count(*) > 2",
               "12+0");
    classes_of(one, "SELECT id, 1 FROM a UNION SELECT id, 2 FROM a", "5+1");
    /* Each grouping set has a group of two rows, but for that of the key. */
    classes_of(one, "SELECT a, n, count(*) FROM b GROUP BY ROLLUP (a, n) HAVING sum(n) > 9", "7+0");
    classes_of(one, "SELECT a, id, count(*) FROM b GROUP BY ROLLUP (a, id)", "4+1");
}

/* The copy of (1, 2, 3), a row of the first table. */
static void copy_is(Copier *c, const Op *load, const char *want)
{
    Str got = { 0 };
    Tuple *row = tuple_new(c->arena, 3);
    for (int i = 0; i < 3; i++)
        row->fields[i] = datum_int(i + 1);
    tuple_print(&got, copies_row(c, load, row), true);
    assert_string_equal(str_c(&got), want);
    str_release(&got);
}

static void test_copies(void **state)
{
    (void)state;
    Err err = { 0 };
    Arena a = { 0 };
    Plan *p = sql_parse("SELECT m.v FROM m JOIN n ON m.v = n.id", "q.sql",
                        "CREATE TABLE m (a int, b int, v int, PRIMARY KEY (a, b));"
                        "CREATE TABLE n (id int PRIMARY KEY);",
                        NULL, &err);
    assert_non_null(p);
    const Op *m = plan_find(p, "m"), *n = plan_find(p, "n");
    assert_true(m && n && m->kind == OP_LOAD && n->kind == OP_LOAD);
    Know *k = know_new(p, NULL, false);
    bool *copied = arena_array(&a, bool, p->ops.len), held[3] = { false };
    bool **flags = arena_array(&a, bool *, p->ops.len);
    flags[m->id] = held;
    Copier c = { .plan = p, .know = k, .arena = &a, .copied = copied, .word = -1, .step = 10 };
    c.round = 1;
    copied[m->id] = true;
    copy_is(&c, m, "(11,12,3)");
    c.held = flags;                                /* a part of a key may stay, not the whole */
    held[0] = true;
    copy_is(&c, m, "(1,12,3)");
    held[1] = true;
    copy_is(&c, m, "(11,12,3)");
    c.held = NULL;                                 /* what joins compare changes together */
    copied[n->id] = true;
    copy_is(&c, m, "(11,12,13)");
    know_free(k);
    plan_free(p);
    arena_release(&a);
}

static void test_values(void **state)
{
    (void)state;
    Arena a = { 0 };
    Str s = { 0 };
    Datum d = datum_text(&a, "it's");
    sql_print_value(&s, &d, false);
    assert_string_equal(str_c(&s), "'it''s'");
    str_reset(&s);
    d = datum_double(2);
    sql_print_value(&s, &d, false);
    assert_string_equal(str_c(&s), "2.0");
    str_reset(&s);
    d = datum_datetime(86400000);
    sql_print_value(&s, &d, true);
    assert_string_equal(str_c(&s), "'1970-01-02'");
    str_release(&s);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joins),      cmocka_unit_test(test_nulls),
        cmocka_unit_test(test_groups),     cmocka_unit_test(test_grouping_sets),
        cmocka_unit_test(test_subqueries), cmocka_unit_test(test_sets_and_windows),
        cmocka_unit_test(test_dialects),   cmocka_unit_test(test_errors),
        cmocka_unit_test(test_rules),      cmocka_unit_test(test_proofs),
        cmocka_unit_test(test_copies),     cmocka_unit_test(test_values),
    };
    const struct CMUnitTest none[] = { cmocka_unit_test(test_values) };
    return sql_available() ? cmocka_run_group_tests(tests, NULL, NULL)
                           : cmocka_run_group_tests(none, NULL, NULL);
}
