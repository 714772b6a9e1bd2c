/*
 * The evaluator of dataflow programs: sixty places where Pig does not do what
 * one expects. Each case is a script, its data, and what a relation holds.
 */
#include "dataflow/eval.h"
#include "dataflow/load.h"
#include "dataflow/pig.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>

/* Data of LOAD 'a', LOAD 'b', LOAD 'c'. Fields are separated by commas in the
 * scripts below. */
typedef struct World {
    const char *a, *b, *c;
} World;

typedef struct Result {
    Plan *plan;
    Run *run;
    Arena arena;
    Err err;
} Result;

static bool evaluate(const char *script, World w, Result *r)
{
    *r = (Result){ 0 };
    r->plan = pig_parse(script, strlen(script), "t.pig", NULL, &r->err);
    if (!r->plan)
        return false;
    Input *inputs = arena_array(&r->arena, Input, r->plan->ops.len);
    for (size_t i = 0; i < r->plan->ops.len; i++) {
        Op *op = r->plan->ops.items[i];
        const char *text = op->kind != OP_LOAD ? NULL
                           : *op->path == 'a'  ? w.a
                           : *op->path == 'b'  ? w.b
                                               : w.c;
        if (text)
            load_text(op, text, &r->arena, &inputs[i]);
    }
    r->run = run_plan(r->plan, &(RunPlan){ .inputs = inputs }, &r->err);
    return r->run != NULL;
}

static void release(Result *r)
{
    run_free(r->run);
    plan_free(r->plan);
    arena_release(&r->arena);
}

static int by_text(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

/* The rows of X, sorted unless `ordered`, one after the other. */
static char *rows_of(Result *r, const char *alias, bool ordered)
{
    Op *op = plan_find(r->plan, alias);
    assert_non_null(op);
    const Table *t = run_table(r->run, op);
    Strings rows = { 0 };
    for (size_t i = 0; i < t->n; i++) {
        Str s = { 0 };
        tuple_print(&s, t->rows[i]->tuple, true);
        strings_add(&rows, str_c(&s));
        str_release(&s);
    }
    if (!ordered && rows.len)
        qsort(rows.items, rows.len, sizeof *rows.items, by_text);
    Str all = { 0 };
    for (size_t i = 0; i < rows.len; i++)
        str_addf(&all, "%s%s", i ? " " : "", rows.items[i]);
    strings_release(&rows);
    return str_take(&all);
}

static size_t failures;

static void expect_in(const char *name, const char *script, World w, const char *want, bool ordered)
{
    Result r;
    bool ok = evaluate(script, w, &r);
    char *got = ok ? rows_of(&r, "X", ordered) : xstrdup(r.err.msg);
    if (strcmp(got, want)) {
        print_error("%s\n  %s\n  got  %s\n  want %s\n", name, script, got, want);
        failures++;
    }
    free(got);
    release(&r);
}

static void expect(const char *name, const char *script, World w, const char *want)
{
    expect_in(name, script, w, want, false);
}

/* One expression over A = (x:int, y:int, s:chararray, u) with one row. */
static void value(const char *name, const char *expr, const char *row, const char *want)
{
    char *script = xprintf("A = LOAD 'a' USING PigStorage(',') AS (x:int, y:int, s:chararray, u, "
                           "d:double);\nX = FOREACH A GENERATE %s;\n",
                           expr);
    char *whole = xprintf("(%s)", want);
    expect(name, script, (World){ .a = row }, whole);
    free(whole);
    free(script);
}

static void fault(const char *name, const char *script, World w, const char *want)
{
    Result r;
    bool ok = evaluate(script, w, &r);
    const Fault *f = NULL;
    size_t n = ok ? run_faults(r.run, &f) : 0;
    if (!n || !strstr(f[0].text, want)) {
        print_error("%s\n  %s\n  got  %s\n  want the fault %s\n", name, script,
                    n    ? f[0].text
                    : ok ? "no fault"
                         : r.err.msg,
                    want);
        failures++;
    }
    release(&r);
}

static void refused(const char *name, const char *script, const char *want)
{
    Err err = { 0 };
    Plan *p = pig_parse(script, strlen(script), "t.pig", NULL, &err);
    if (p || !strstr(err.msg, want)) {
        print_error("%s\n  %s\n  got  %s\n  want the error %s\n", name, script,
                    p ? "a plan" : err.msg, want);
        failures++;
    }
    plan_free(p);
}

#define A_XY "A = LOAD 'a' USING PigStorage(',') AS (x:int, y:int);\n"
#define B_XY "B = LOAD 'b' USING PigStorage(',') AS (x:int, y:int);\n"
#define A_SX "A = LOAD 'a' USING PigStorage(',') AS (s:chararray, x:int);\n"

#define BAGS                                                                                       \
    "A = LOAD 'a' USING PigStorage('|') AS (x:int, b:bag{t:(p:int, q:int)}, "                      \
    "m:map[], t:tuple(v:int, w:int));\n"

static void nulls_and_logic(void **state)
{
    (void)state;
    failures = 0;
    World w = { .a = "5,1\n6,1\n,1\n" };
    expect("1 null != 5 is null", A_XY "X = FILTER A BY x != 5;", w, "(6,1)");
    expect("1 NOT null is null", A_XY "X = FILTER A BY NOT (x == 5);", w, "(6,1)");
    value("2 null AND false", "((x > 1 AND 1 == 2) ? 't' : 'f')", ",1,s,u,1", "f");
    value("2 null OR true", "((x > 1 OR 1 == 1) ? 't' : 'f')", ",1,s,u,1", "t");
    value("2 null AND true", "((x > 1 AND 1 == 1) ? 't' : 'f')", ",1,s,u,1", "");
    expect("3 FILTER keeps only true", A_XY "X = FILTER A BY x > 0;", w, "(5,1) (6,1)");
    expect("4 IS NULL is never null", A_XY "X = FILTER A BY x IS NULL;", w, "(,1)");
    expect("5 IN with a null", A_XY "X = FILTER A BY x IN (5, null);", w, "(5,1)");
    expect("5 NOT IN with a null", A_XY "X = FILTER A BY NOT (x IN (5, null));", w, "");
    value("6 ?: of null is null", "(x > 3 ? 'a' : 'b')", ",1,s,u,1", "");
    value("7 a null WHEN ends CASE",
          "CASE WHEN x > 3 THEN 'hi' WHEN x IS NULL THEN 'none' ELSE 'lo' END", ",1,s,u,1", "");
    value("8 the last WHEN is tried first", "CASE 1 WHEN 1 THEN 'a' WHEN 1 THEN 'b' END",
          "1,1,s,u,1", "b");
    value("8 CASE of null", "CASE x WHEN 1 THEN 'a' ELSE 'b' END", ",1,s,u,1", "");
    value("9 arithmetic with null", "x + y", ",1,s,u,1", "");
    value("9 CONCAT with null", "CONCAT(s, 'b')", "1,1,,u,1", "");
    value("9 SIZE of null", "SIZE(s)", "1,1,,u,1", "");
    value("9 a missing key", "(['k'#1])#'z'", "1,1,s,u,1", "");
    value("10 x / 0 is null", "x / 0, d / 0.0", "1,1,s,u,1", ",");
    value("10 x / -0.0 is not", "1.0 / (-1.0 * 0.0)", "1,1,s,u,1", "-Infinity");
    fault("11 x % 0 ends the job", A_XY "X = FOREACH A GENERATE x % 0;", w, "x % 0");
    const char *six = "1\n2\n3\n4\n5\n6\n\n";
    expect("12 OTHERWISE loses nulls",
           "A = LOAD 'a' AS (id:int); SPLIT A INTO B IF id > 3, C IF id < 3, X OTHERWISE;",
           (World){ .a = six }, "(3)");
    expect("12 OTHERWISE ALL takes them",
           "A = LOAD 'a' AS (id:int); SPLIT A INTO B IF id > 3, C IF id < 3, X OTHERWISE ALL;",
           (World){ .a = six }, "() (3)");
    expect("13 branches overlap",
           "A = LOAD 'a' AS (id:int); SPLIT A INTO B IF id > 1, C IF id > 2; X = UNION B, C;",
           (World){ .a = "1\n2\n3\n" }, "(2) (3) (3)");
    value("2 NOT null", "((NOT (x > 1)) ? 't' : 'f')", ",1,s,u,1", "");
    value("2 false OR null", "((1 == 2 OR x > 1) ? 't' : 'f')", ",1,s,u,1", "");
    expect("4 IS NULL of bags, maps, tuples",
           BAGS "X = FOREACH A GENERATE (b IS NULL), (m IS NULL), (t IS NULL);",
           (World){ .a = "1|||\n2|{}|[]|(1,2)\n" }, "(false,false,false) (true,true,true)");
    value("8 no ELSE", "CASE x WHEN 1 THEN 'a' END, CASE WHEN x > 9 THEN 'a' END", "2,1,s,u,1",
          ",");
    expect("9 parts of null", BAGS "X = FOREACH A GENERATE t.v, m#'k', b.p;",
           (World){ .a = "1|||\n" }, "(,,)");
    expect("9 a missing field",
           "A = LOAD 'a' USING PigStorage(','); X = FOREACH A GENERATE $0, $2;",
           (World){ .a = "1,2\n" }, "(1,)");
    value("10 of every type of number",
          "(long)x / 0L, (float)x / 0.0f, (double)x / 0.0, (biginteger)x / (biginteger)0, "
          "(bigdecimal)x / (bigdecimal)0",
          "1,1,s,u,1", ",,,,");
    expect("13 a row may go nowhere",
           "A = LOAD 'a' AS (id:int); SPLIT A INTO B IF id > 5, C IF id < 2; X = UNION B, C;",
           (World){ .a = "1\n3\n6\n" }, "(1) (6)");
    assert_int_equal(failures, 0);
}

static void keys(void **state)
{
    (void)state;
    failures = 0;
    expect("14 null keys join nothing", A_XY B_XY "X = JOIN A BY x, B BY x;",
           (World){ .a = ",1\n2,2\n", .b = ",3\n2,4\n" }, "(2,2,2,4)");
    expect("14 nor keys with a null part",
           "A = LOAD 'a' USING PigStorage(',') AS (x:int, s:chararray);"
           "B = LOAD 'b' USING PigStorage(',') AS (x:int, s:chararray);"
           "X = JOIN A BY (x, s), B BY (x, s);",
           (World){ .a = "1,\n2,aa\n", .b = "1,\n2,aa\n" }, "(2,aa,2,aa)");
    expect("15 an outer join keeps them", A_XY B_XY "X = JOIN A BY x LEFT, B BY x;",
           (World){ .a = ",3\n", .b = ",3\n" }, "(,3,,)");
    refused("16 an outer join needs a schema",
            "A = LOAD 'a' AS (x:int); B = LOAD 'b'; X = JOIN A BY x LEFT OUTER, B BY $0;",
            "needs the schema");
    refused("16 and two inputs", "A = LOAD 'a' AS (x:int); X = JOIN A BY x LEFT, A BY x, A BY x;",
            "two inputs");
    expect("17 GROUP puts nulls together", A_XY "X = GROUP A BY x;",
           (World){ .a = ",1\n,2\n3,3\n" }, "(,{(,1),(,2)}) (3,{(3,3)})");
    expect("17 also as a part of the key", A_XY "X = GROUP A BY (x, y);",
           (World){ .a = "1,\n1,\n" }, "((1,),{(1,),(1,)})");
    expect("18 COGROUP keeps them apart", A_XY B_XY "X = COGROUP A BY x, B BY x;",
           (World){ .a = ",1\n", .b = ",2\n" }, "(,{(,1)},{}) (,{},{(,2)})");
    expect("18 as a part too", A_XY B_XY "X = COGROUP A BY (x, y), B BY (x, y);",
           (World){ .a = "1,\n", .b = "1,\n" }, "((1,),{(1,)},{}) ((1,),{},{(1,)})");
    expect("19 INNER drops empty sides", A_XY B_XY "X = COGROUP A BY x INNER, B BY x;",
           (World){ .a = "1,1\n", .b = "2,2\n" }, "(1,{(1,1)},{})");
    expect("20 GROUP BY (k) is one column",
           A_XY "G = GROUP A BY (x); X = FOREACH G GENERATE "
                "group;",
           (World){ .a = "1,1\n" }, "(1)");
    expect("21 GROUP ALL", A_XY "X = GROUP A ALL;", (World){ .a = "1,1\n" }, "(all,{(1,1)})");
    expect("21 of nothing is nothing", A_XY "G = GROUP A ALL; X = FOREACH G GENERATE COUNT(A);",
           (World){ .a = "" }, "");
    expect("22 keys are made alike",
           "A = LOAD 'a' AS (x:int); B = LOAD 'b' AS (x:long); X = JOIN A BY x, B BY x;",
           (World){ .a = "1\n", .b = "1\n" }, "(1,1)");
    expect("22 an untyped key is cast",
           "A = LOAD 'a' AS (x:int); B = LOAD 'b' AS (x); X = JOIN A BY x, B BY x;",
           (World){ .a = "1\n", .b = "1\nz\n" }, "(1,1)");
    refused("22 others are refused",
            "A = LOAD 'a' AS (x:int); B = LOAD 'b' AS (x:chararray); X = JOIN A BY x, B BY x;",
            "key 1 is int in one input and chararray in another");
    expect("23 the product inside a key", A_XY B_XY "X = JOIN A BY x, B BY x;",
           (World){ .a = "1,1\n1,2\n", .b = "1,3\n1,4\n" },
           "(1,1,1,3) (1,1,1,4) (1,2,1,3) (1,2,1,4)");
    expect("24 DISTINCT: null equals null", A_XY "X = DISTINCT A;", (World){ .a = ",1\n,1\n1,1\n" },
           "(,1) (1,1)");
    expect("25 CUBE",
           "A = LOAD 'a' USING PigStorage(',') AS (p:chararray, q:chararray, n:int);"
           "C = CUBE A BY CUBE(p, q); X = FOREACH C GENERATE FLATTEN(group), SUM(cube.n);",
           (World){ .a = "car,,2\n" }, "(,,2) (,unknown,2) (car,,2) (car,unknown,2)");
    expect("20 several columns are a tuple",
           A_XY "G = GROUP A BY (x, y); X = FOREACH G GENERATE group, group.y, FLATTEN(group);",
           (World){ .a = "1,2\n" }, "((1,2),2,1,2)");
    expect("22 a key that is no number is unmatched",
           "A = LOAD 'a' AS (x:int); B = LOAD 'b' AS (x); X = JOIN A BY x FULL, B BY x;",
           (World){ .a = "1\n", .b = "z\n" }, "(,z) (1,)");
    expect("23 three inputs need the key in all",
           A_XY B_XY "C = LOAD 'c' USING PigStorage(',') AS (x:int, y:int);"
                     "X = JOIN A BY x, B BY x, C BY x;",
           (World){ .a = "1,1\n2,1\n", .b = "1,2\n2,2\n", .c = "2,3\n" }, "(2,1,2,2,2,3)");
    expect("25 a number becomes the word too",
           A_XY "C = CUBE A BY CUBE(x); X = FOREACH C GENERATE FLATTEN(group), COUNT_STAR(cube);",
           (World){ .a = ",5\n" }, "(,1) (unknown,1)");
    assert_int_equal(failures, 0);
}

static void flatten_and_bags(void **state)
{
    (void)state;
    failures = 0;
    expect("26 FLATTEN of an empty bag", BAGS "X = FOREACH A GENERATE x, FLATTEN(b);",
           (World){ .a = "1|{}|[]|(1,2)\n2|{(3,4)}|[]|(1,2)\n" }, "(2,3,4)");
    expect("27 of a null bag", BAGS "X = FOREACH A GENERATE x, FLATTEN(b);",
           (World){ .a = "1||[]|(1,2)\n" }, "(1,,)");
    expect("27 of a null tuple, a null map", BAGS "X = FOREACH A GENERATE FLATTEN(t), FLATTEN(m);",
           (World){ .a = "1|{}||\n" }, "(,,,)");
    expect("28 two make the product", BAGS "X = FOREACH A GENERATE FLATTEN(b.p), FLATTEN(b.q);",
           (World){ .a = "1|{(1,2),(3,4)}|[]|\n" }, "(1,2) (1,4) (3,2) (3,4)");
    expect("29 of a map", BAGS "X = FOREACH A GENERATE FLATTEN(m);",
           (World){ .a = "1|{}|[k#v,l#w]|\n" }, "(k,v) (l,w)");
    expect("29 its names",
           BAGS "Y = FOREACH A GENERATE FLATTEN(m); X = FOREACH Y GENERATE m::value;",
           (World){ .a = "1|{}|[k#v]|\n" }, "(v)");
    expect("30 B.x is a bag, duplicates kept", BAGS "X = FOREACH A GENERATE b.p, SUM(b.p);",
           (World){ .a = "1|{(1,2),(1,4)}|[]|\n" }, "({(1),(1)},2)");
    refused("30 and no number", BAGS "X = FOREACH A GENERATE b.p + 1;", "a bag is no number");
    refused("31 bags are not compared", BAGS "X = FILTER A BY b == b;", "cannot be compared");
    expect("31 but DISTINCT knows them", BAGS "Y = FOREACH A GENERATE b; X = DISTINCT Y;",
           (World){ .a = "1|{(1,2),(3,4)}|[]|\n1|{(3,4),(1,2)}|[]|\n" }, "({(1,2),(3,4)})");
    expect("32 tuples: null equals null", BAGS "X = FILTER A BY t == t;",
           (World){ .a = "1|{}|[]|(1,)\n" }, "(1,{},[],(1,))");
    /* 32: different types have the order of their codes; the values are against it. */
    const Datum ordered[] = { datum_null(),
                              datum_bool(true),
                              datum_int(90),
                              datum_long(80),
                              datum_float(70),
                              datum_double(60),
                              datum_datetime(50),
                              { .kind = DATUM_BYTES, .len = 1, .u.s = "z" },
                              { .kind = DATUM_TEXT, .len = 1, .u.s = "a" },
                              { .kind = DATUM_BIGINT, .u.i = 4 },
                              { .kind = DATUM_BIGDEC, .u.d = 3 } };
    for (size_t k = 1; k < sizeof ordered / sizeof *ordered; k++)
        assert_true(datum_compare(&ordered[k - 1], &ordered[k]) < 0);
    expect(
        "27 of a null bag without a schema",
        "A = LOAD 'a' USING PigStorage('|') AS (x:int, b:bag{}); X = FOREACH A GENERATE x, FLATTEN(b);",
        (World){ .a = "1|\n" }, "(1,)");
    expect("27 a null tuple in a bag", BAGS "X = FOREACH A GENERATE FLATTEN(TOBAG(t));",
           (World){ .a = "1|{}|[]|\n" }, "(,)");
    expect("28 one empty", BAGS "X = FOREACH A GENERATE FLATTEN(b), FLATTEN(TOBAG(x));",
           (World){ .a = "1|{}|[]|\n" }, "");
    expect("29 of a number", BAGS "X = FOREACH A GENERATE FLATTEN(x);",
           (World){ .a = "7|{}|[]|\n" }, "(7)");
    expect("30 T.x is a value", BAGS "X = FOREACH A GENERATE t.w + 1;",
           (World){ .a = "7|{}|[]|(1,2)\n" }, "(3)");
    expect_in("31 ORDER * by size first", BAGS "Y = FOREACH A GENERATE b; X = ORDER Y BY *;",
              (World){ .a = "1|{(1,1),(1,1)}|[]|\n1|{(9,9)}|[]|\n" }, "({(9,9)}) ({(1,1),(1,1)})",
              true);
    expect(
        "32 1 and 1L are different keys",
        "A = LOAD 'a' USING PigStorage(',') AS (x:int, y:long);"
        "B = FOREACH A GENERATE TOTUPLE(x) AS k:(), y; C = FOREACH A GENERATE TOTUPLE(y) AS k:(), y;"
        "U = UNION B, C; G = GROUP U BY k; X = FOREACH G GENERATE COUNT_STAR(U);",
        (World){ .a = "1,1\n" }, "(1) (1)");
    assert_int_equal(failures, 0);
}

#define BY_X A_XY "G = GROUP A BY x;\n"

static void aggregates(void **state)
{
    (void)state;
    failures = 0;
    expect("33 COUNT looks at the first field",
           "A = LOAD 'a' USING PigStorage(',') AS (x:int, y:int); G = GROUP A ALL;"
           "X = FOREACH G GENERATE COUNT(A), COUNT_STAR(A), COUNT(A.y);",
           (World){ .a = ",7\n1,2\n" }, "(1,2,2)");
    expect("33 of an empty bag", BAGS "X = FOREACH A GENERATE COUNT(b);",
           (World){ .a = "1|{}|[]|\n" }, "(0)");
    expect("33 of a null bag", BAGS "X = FOREACH A GENERATE COUNT(b);", (World){ .a = "1||[]|\n" },
           "()");
    fault("33 COUNT_STAR of a null bag", BAGS "X = FOREACH A GENERATE COUNT_STAR(b);",
          (World){ .a = "1||[]|\n" }, "a bag is needed");
    expect("34 nulls are passed over",
           BY_X "X = FOREACH G GENERATE SUM(A.y), AVG(A.y), MIN(A.y), MAX(A.y);",
           (World){ .a = "1,\n1,4\n1,2\n" }, "(6,3.0,2,4)");
    expect("34 nothing but nulls is null", BY_X "X = FOREACH G GENERATE SUM(A.y), MAX(A.y);",
           (World){ .a = "1,\n" }, "(,)");
    expect("35 SUM of untyped is double",
           "A = LOAD 'a' AS (u); G = GROUP A ALL; X = FOREACH G GENERATE SUM(A.u), MAX(A.u);",
           (World){ .a = "1\n2\n" }, "(3.0,2.0)");
    fault("36 text in SUM ends the job",
          "A = LOAD 'a' AS (u); G = GROUP A ALL; X = FOREACH G GENERATE SUM(A.u);",
          (World){ .a = "1\nz\n" }, "\"z\" is no number");
    refused("37 COUNT(*)", BY_X "X = FOREACH G GENERATE COUNT(*);", "COUNT");
    expect("38 NaN wins in MAX",
           "A = LOAD 'a' AS (d:double); G = GROUP A ALL; X = FOREACH G GENERATE MAX(A.d);",
           (World){ .a = "1.0\nNaN\n2.0\n" }, "(NaN)");
    expect("34 an empty bag", BAGS "X = FOREACH A GENERATE SUM(b.p), AVG(b.p), MIN(b.p), MAX(b.p);",
           (World){ .a = "1|{}|[]|\n" }, "(,,,)");
    expect("35 SUM of long wraps",
           "A = LOAD 'a' AS (x:long); G = GROUP A ALL; X = FOREACH G GENERATE SUM(A.x);",
           (World){ .a = "9223372036854775807\n1\n" }, "(-9223372036854775808)");
    expect(
        "35 SUM of int is long, of float double; MAX keeps the type",
        "A = LOAD 'a' USING PigStorage(',') AS (x:int, f:float); G = GROUP A ALL;"
        "X = FOREACH G GENERATE SUM(A.x), SUM(A.f), AVG(A.x), MAX(A.x), MIN(A.f), COUNT(A), SIZE(A);",
        (World){ .a = "2147483647,0.5\n1,1.5\n" },
        "(2147483648,2.0,1.073741824E9,2147483647,0.5,2,2)");
    fault("36 text in AVG too",
          "A = LOAD 'a' AS (u); G = GROUP A ALL; X = FOREACH G GENERATE AVG(A.u);",
          (World){ .a = "1\nz\n" }, "\"z\" is no number");
    assert_int_equal(failures, 0);
}

static void casts(void **state)
{
    (void)state;
    failures = 0;
    value("39 untyped with int is cast to int", "u + 5", "1,1,s,7.9,1", "12");
    value("39 two untyped are doubles", "u * u", "1,1,s,3,1", "9.0");
    value("39 int with long, with double", "x + 1L, x / 2, x / 2.0", "3,1,s,u,1", "4,1,1.5");
    value("40 untyped with a number", "(u < 43200 ? 'lt' : 'ge')", "1,1,s,9.5e4,1", "ge");
    value("40 untyped with text", "(u == 'abc' ? 1 : 0)", "1,1,s,abc,1", "1");
    value("41 text to int", "(int)'3.7', (int)'abc', (int)' 5', (int)'99999999999'", "1,1,s,u,1",
          "3,,5,");
    value("41 text below the range saturates", "(int)'-99999999999'", "1,1,s,u,1", "-2147483648");
    value("41 bytes below it are null", "(int)u", "1,1,s,-99999999999,1", "");
    value("42 double to int saturates", "(int)1e20, (int)-1e20, (int)(0.0 / (-1.0 * 0.0))",
          "1,1,s,u,1", "2147483647,-2147483648,0");
    value("42 long to int is cut", "(int)4294967299L", "1,1,s,u,1", "3");
    value("43 int wraps", "x + 1, x * 2", "2147483647,1,s,u,1", "-2147483648,-2");
    value("43 INT_MIN / -1", "x / -1, x % -1", "-2147483648,1,s,u,1", "-2147483648,0");
    value("43 % has the sign of the dividend", "-7 % 3, 7 % -3", "1,1,s,u,1", "-1,1");
    value("44 boolean from text", "(boolean)'TRUE', (boolean)'yes', (boolean)2", "1,1,s,u,1",
          "true,,true");
    expect("45 what does not fit is null", A_XY "X = FILTER A BY true;",
           (World){ .a = "1\nz,2\n1,2,3\n,\n" }, "(,) (,2) (1,) (1,2)");
    value("46 complex text", "(bag{tuple(int,int)})u", "1,1,s,{(1;2)},1", "{(,)}");
    value("46 that is none", "(tuple(int))u", "1,1,s,zzz,1", "");
    value("47 branches are made alike", "(x > 0 ? 1 : 2.5), (x > 0 ? null : 3)", "1,1,s,u,1",
          "1.0,");
    refused("47 or refused", A_XY "X = FOREACH A GENERATE (x > 0 ? 1 : 'a');", "one branch is");
    value("39 int with float", "x + 1.5f, 7L / 2", "3,1,s,u,1", "4.5,3");
    expect("40 bytes with bytes",
           "A = LOAD 'a' USING PigStorage(',') AS (u, v); X = FILTER A BY u < v;",
           (World){ .a = "10,9\n9,10\n" }, "(10,9)");
    value("41 bytes are trimmed", "(int)u, (int)'2147483648'", "1,1,s, 5 ,1", "5,");
    value("43 long wraps",
          "9223372036854775807L + 1L, (-9223372036854775807L - 1L) / -1L, "
          "(-9223372036854775807L - 1L) % -1L",
          "1,1,s,u,1", "-9223372036854775808,-9223372036854775808,0");
    value("44 numbers", "(boolean)0, (boolean)0.5, (boolean)'false'", "1,1,s,u,1",
          "false,true,false");
    expect("45 an empty text is null", A_SX "X = FOREACH A GENERATE (s IS NULL);",
           (World){ .a = ",1\n" }, "(true)");
    expect(
        "46 a bag of maps, as in L1",
        "A = LOAD 'a' USING PigStorage('|') AS (u); B = FOREACH A GENERATE (bag{tuple(map[])})u AS b;"
        "X = FOREACH B GENERATE FLATTEN(b.$0);",
        (World){ .a = "{([k#v])}\nzz\n" }, "() ([k#v])");
    expect(
        "47 bytes follow the other side",
        "A = LOAD 'a' USING PigStorage(',') AS (x:int, u); X = FOREACH A GENERATE (x > 0 ? u : 5);",
        (World){ .a = "1,7\n0,8\n" }, "(5) (7)");
    assert_int_equal(failures, 0);
}

static void order_and_rank(void **state)
{
    (void)state;
    failures = 0;
    World w = { .a = "2,1\n,2\n1,3\n" };
    expect_in("48 nulls come first", A_XY "X = ORDER A BY x;", w, "(,2) (1,3) (2,1)", true);
    expect_in("48 and last when descending", A_XY "X = ORDER A BY x DESC;", w, "(2,1) (1,3) (,2)",
              true);
    expect_in("49 LIMIT after ORDER", A_XY "O = ORDER A BY x DESC; X = LIMIT O 1;", w, "(2,1)",
              true);
    expect("50 LIMIT takes an expression",
           A_XY "G = GROUP A ALL; C = FOREACH G GENERATE COUNT(A.y) AS n;"
                "Y = LIMIT A C.n - 2; Z = GROUP Y ALL; X = FOREACH Z GENERATE COUNT(Y.y);",
           w, "(1)");
    const char *ranks = "1\n2\n2\n4\n";
    expect_in("51 RANK", "A = LOAD 'a' AS (k:int); X = RANK A BY k;", (World){ .a = ranks },
              "(1,1) (2,2) (2,2) (4,4)", true);
    expect_in("51 RANK DENSE", "A = LOAD 'a' AS (k:int); X = RANK A BY k DENSE;",
              (World){ .a = ranks }, "(1,1) (2,2) (2,2) (3,4)", true);
    expect_in("51 its name",
              "A = LOAD 'a' AS (k:int); R = RANK A; X = FOREACH R GENERATE rank_A, k;",
              (World){ .a = "7\n8\n" }, "(1,7) (2,8)", true);
    expect_in("52 text in units of UTF-16", "A = LOAD 'a' AS (s:chararray); X = ORDER A BY s;",
              (World){ .a = "\xf0\x9f\x98\x80\n\xee\x80\x80\nz\n" },
              "(z) (\xf0\x9f\x98\x80) (\xee\x80\x80)", true);
    value("52 SIZE", "SIZE(s)", "1,1,\xf0\x9f\x98\x80,u,1", "2");
    value("53 0.0 and -0.0", "(0.0 == -0.0 ? 1 : 0), (-0.0 < 0.0 ? 1 : 0)", "1,1,s,u,1", "0,1");
    expect_in("53 NaN equals itself and is greatest",
              "A = LOAD 'a' AS (d:double); B = FILTER A BY d == d; X = ORDER B BY d;",
              (World){ .a = "NaN\nInfinity\n" }, "(Infinity) (NaN)", true);
    refused("48 not by expressions", A_XY "X = ORDER A BY x + 1;", "ORDER takes columns");
    refused("48 nor by bags", BAGS "X = ORDER A BY b;", "bag has no order");
    expect(
        "50 LIMIT: so many rows of the input",
        A_XY
        "L = LIMIT A 2; J = JOIN L BY y, A BY y; Z = GROUP J ALL; X = FOREACH Z GENERATE COUNT_STAR(J);",
        w, "(2)");
    value("52 SUBSTRING counts units", "SUBSTRING(s, 2, 3)", "1,1,\xf0\x9f\x98\x80z,u,1", "z");
    expect("53 in keys too",
           "A = LOAD 'a' AS (d:double); B = FOREACH A GENERATE (d == 1.0 ? 0.0 : d * -0.0) AS e;"
           "D = DISTINCT B; Z = GROUP D ALL; X = FOREACH Z GENERATE COUNT(D);",
           (World){ .a = "1.0\n2.0\nNaN\nNaN\n" }, "(3)");
    assert_int_equal(failures, 0);
}

static void relations(void **state)
{
    (void)state;
    failures = 0;
    expect("54 UNION keeps duplicates", A_XY B_XY "X = UNION A, B;",
           (World){ .a = "1,1\n", .b = "1,1\n" }, "(1,1) (1,1)");
    refused("54 int with chararray",
            "A = LOAD 'a' AS (x:int); B = LOAD 'b' AS (x:chararray); X = UNION A, B;",
            "column 1 is int in one input and chararray in another");
    expect("54 types widen", "A = LOAD 'a' AS (x:int); B = LOAD 'b' AS (x:double); X = UNION A, B;",
           (World){ .a = "1\n", .b = "2.5\n" }, "(1.0) (2.5)");
    expect("55 ONSCHEMA goes by name",
           "A = LOAD 'a' USING PigStorage(',') AS (a:int, b:int);"
           "B = LOAD 'b' USING PigStorage(',') AS (a:long, c:int); X = UNION ONSCHEMA A, B;",
           (World){ .a = "1,2\n", .b = "3,4\n" }, "(1,2,) (3,,4)");
    expect("56 CROSS with nothing", A_XY B_XY "X = CROSS A, B;", (World){ .a = "1,1\n", .b = "" },
           "");
    const char *scalar = A_XY B_XY "X = FOREACH A GENERATE x, B.y;";
    expect("57 a scalar of no row", scalar, (World){ .a = "1,1\n", .b = "" }, "(1,)");
    expect("57 of one", scalar, (World){ .a = "1,1\n", .b = "5,6\n" }, "(1,6)");
    fault("57 of two", scalar, (World){ .a = "1,1\n", .b = "5,6\n7,8\n" }, "more than one row");
    expect(
        "54 other widths: the schema is unknown",
        "A = LOAD 'a' USING PigStorage(',') AS (x:int); B = LOAD 'b' USING PigStorage(',') AS (x:int, y:int);"
        "U = UNION A, B; X = FOREACH U GENERATE $1;",
        (World){ .a = "1\n", .b = "2,3\n" }, "() (3)");
    expect(
        "54 names are the first input's",
        "A = LOAD 'a' AS (p:int); B = LOAD 'b' AS (q:int); U = UNION A, B; X = FOREACH U GENERATE p;",
        (World){ .a = "1\n", .b = "2\n" }, "(1) (2)");
    refused("55 columns without a name",
            "A = LOAD 'a' AS (a:int); B = LOAD 'b'; X = UNION ONSCHEMA A, B;",
            "needs a schema on each input");
    expect("56 CROSS puts schemas together",
           A_XY B_XY "C = CROSS A, B; X = FOREACH C GENERATE A::x, B::y;",
           (World){ .a = "1,2\n", .b = "3,4\n" }, "(1,4)");
    expect("56 a self-join by a second LOAD",
           A_XY "B = LOAD 'a' USING PigStorage(',') AS (x:int, y:int); X = JOIN A BY x, B BY y;",
           (World){ .a = "1,2\n2,3\n" }, "(2,3,1,2)");
    refused("56 not of one alias", A_XY "J = JOIN A BY x, A BY y; X = FOREACH J GENERATE A::x;",
            "several fields are called A::x");
    expect("57 A.x after a JOIN is a scalar",
           A_XY B_XY "J = JOIN A BY x, B BY x; X = FOREACH J GENERATE A.y;",
           (World){ .a = "1,5\n", .b = "1,6\n" }, "(5)");
    assert_int_equal(failures, 0);
}

static void strings(void **state)
{
    (void)state;
    failures = 0;
    value("58 MATCHES is the whole text", "(s MATCHES 'b.*' ? 1 : 0), (s MATCHES '.*b.*' ? 1 : 0)",
          "1,1,abc,u,1", "0,1");
    value("58 . and a newline in the two engines",
          "('a\\nb' MATCHES 'a.b' ? 1 : 0), ('a\\nb' MATCHES '^a.b$' ? 1 : 0)", "1,1,s,u,1", "1,0");
    value("59 SUBSTRING",
          "SUBSTRING('hello', 1, 99), SUBSTRING('hello', -1, 2), "
          "SUBSTRING('hello', 3, 2)",
          "1,1,s,u,1", "ello,,");
    value("59 INDEXOF", "INDEXOF('hello', 'z'), INDEXOF('hello', 'l')", "1,1,s,u,1", "-1,2");
    value("59 STRSPLIT drops empty parts at the end", "STRSPLIT('a,b,,', ',')", "1,1,s,u,1",
          "(a,b)");
    value("59 TOKENIZE has no empty tokens", "TOKENIZE('a  b*c')", "1,1,s,u,1", "{(a),(b),(c)}");
    value("60 TRIM", "CONCAT('[', TRIM(' \\t a\\n '), ']')", "1,1,s,u,1", "[a]");
    value("REPLACE takes a pattern", "REPLACE('a1b22', '[0-9]+', '#')", "1,1,s,u,1", "a#b#");
    value("REGEX_EXTRACT finds anywhere",
          "REGEX_EXTRACT('x=12;', '([0-9]+)', 1), "
          "REGEX_EXTRACT('x', '([0-9]+)', 1)",
          "1,1,s,u,1", "12,");
    value("ROUND", "ROUND(-3.5), ROUND(2.5f)", "1,1,s,u,1", "-3,3");
    expect("58 a pattern that is no constant is Java's",
           "A = LOAD 'a' AS (p:chararray); X = FOREACH A GENERATE ('a\\nb' MATCHES p ? 1 : 0);",
           (World){ .a = "a.b\n" }, "(0)");
    value("58 lazy ones and \\d", "('a1' MATCHES 'a\\\\d' ? 1 : 0), ('aab' MATCHES 'a+?b' ? 1 : 0)",
          "1,1,s,u,1", "1,1");
    value("59 TOKENIZE of null, SUBSTRING at the end", "TOKENIZE(s), SUBSTRING('hello', 5, 9)",
          "1,1,,u,1", ",");
    value("59 STRSPLIT with a limit keeps them", "STRSPLIT('a,b,,', ',', -1)", "1,1,s,u,1",
          "(a,b,,)");
    value("60 LOWER and UPPER", "LOWER('AbC'), UPPER('aBc'), LTRIM(' a '), RTRIM(' a ')",
          "1,1,s,u,1", "abc,ABC,a , a");
    assert_int_equal(failures, 0);
}

static void nested_blocks(void **state)
{
    (void)state;
    failures = 0;
    expect("FILTER, DISTINCT, ORDER, LIMIT in a block",
           A_XY "G = GROUP A BY x; X = FOREACH G { F = FILTER A BY y > 1; D = DISTINCT F.y;"
                "O = ORDER F BY y DESC; L = LIMIT O 1; GENERATE group, COUNT(F), COUNT(D), L.y; };",
           (World){ .a = "1,1\n1,2\n1,2\n1,3\n" }, "(1,3,2,{(3)})");
    expect("an inner condition sees the outer row",
           A_XY "G = GROUP A BY x; X = FOREACH G { F = FILTER A BY y > group; GENERATE "
                "group, COUNT(F); };",
           (World){ .a = "1,1\n1,2\n2,5\n" }, "(1,1) (2,1)");
    expect("FOREACH in FOREACH",
           A_XY "G = GROUP A BY x; X = FOREACH G { Y = FOREACH A GENERATE y * 2 AS z; GENERATE "
                "SUM(Y.z); };",
           (World){ .a = "1,1\n1,2\n" }, "(6)");
    expect("a macro gives what another macro gives",
           "DEFINE inner(r) RETURNS d { $d = FILTER $r BY x > 1; };\n"
           "DEFINE outer(r) RETURNS c { b = FILTER $r BY x < 9; $c = inner(b); };\n" A_XY
           "X = outer(A);",
           (World){ .a = "1,1\n2,2\n9,9\n" }, "(2,2)");
    expect("macros",
           "DEFINE big(rel, n) RETURNS out { T = FILTER $rel BY x > $n; $out = FOREACH T "
           "GENERATE x; };\n" A_XY "X = big(A, 1);",
           (World){ .a = "1,1\n2,2\n" }, "(2)");
    expect("parameters", "%declare N 1\n%default P 'x'\n" A_XY "X = FILTER A BY $P > $N;",
           (World){ .a = "1,1\n2,2\n" }, "(2,2)");
    expect("inline relations",
           A_XY "X = FOREACH (GROUP (FILTER A BY x > 1) ALL) GENERATE "
                "COUNT($1);",
           (World){ .a = "1,1\n2,2\n" }, "(1)");
    expect("shell commands are passed over",
           "rmf out/*\nset job.name 'it';\nfs -rm x's\n" A_XY "X = FILTER A BY x eq 2;",
           (World){ .a = "1,1\n2,2\n" }, "(2,2)");
    expect("the short form of a join's names",
           A_XY B_XY "J = JOIN A BY x, B BY x; X = FOREACH J GENERATE A::y, B::y;",
           (World){ .a = "1,5\n", .b = "1,6\n" }, "(5,6)");
    assert_int_equal(failures, 0);
}

static void errors_say_where_and_what(void **state)
{
    (void)state;
    failures = 0;
    refused("missing BY", "A = LOAD 'a' AS (x:int);\nB = FILTER A x > 1;",
            "t.pig:2:14: expected BY after the relation of FILTER, found \"x\"");
    refused("unknown relation", "A = LOAD 'a';\nB = FILTER Aa BY $0 == 1;",
            "t.pig:2:12: there is no relation Aa; did you mean A");
    refused("unknown field", "A = LOAD 'a' AS (name:chararray);\nB = FILTER A BY nmae == 'x';",
            "there is no field nmae; did you mean name?");
    /* 2^32 - 1 is no -1 */
    refused("a place too far",
            "A = LOAD 'a' AS (t:tuple());\nB = FOREACH A GENERATE t.$4294967295;",
            "there is no field $4294967295");
    refused("a place of a row too far",
            "A = LOAD 'a' AS (x:int);\nG = GROUP A ALL;\nC = FOREACH G GENERATE COUNT(A);\n"
            "B = FOREACH A GENERATE x + C.$4294967295;",
            "there is no field $4294967295");
    refused("unknown schema", "A = LOAD 'a';\nB = FILTER A BY x == 1;", "schema is not known");
    refused("no end of a string", "A = LOAD 'a;\n", "t.pig:1:10: this string has no end");
    refused("no parameter", "A = LOAD '$p';", "no value for the parameter $p");
    refused("no shell commands", "%declare D `date`\nA = LOAD 'a';", "shell command");
    refused("a number too large", "A = LOAD 'a' AS (x:int); B = FILTER A BY x > 3000000000;",
            "write an L behind it");
    refused("an empty script", "-- nothing\n", "no statement");
    assert_int_equal(failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nulls_and_logic),
        cmocka_unit_test(keys),
        cmocka_unit_test(flatten_and_bags),
        cmocka_unit_test(aggregates),
        cmocka_unit_test(casts),
        cmocka_unit_test(order_and_rank),
        cmocka_unit_test(relations),
        cmocka_unit_test(strings),
        cmocka_unit_test(nested_blocks),
        cmocka_unit_test(errors_say_where_and_what),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
