/* Dataflow programs, their data and functions. */
#include "fuzz.h"
#include "../unit/tree.h"
#include "base/file.h"
#include "dataflow/date.h"
#include "dataflow/load.h"
#include "dataflow/pig.h"
#include "dataflow/regex.h"
#include "dataflow/sql.h"
#include <stdlib.h>
#include <string.h>

static void read_pig(const uint8_t *data, size_t n)
{
    Err err = { 0 };
    char *text = fuzz_text(data, n);
    Plan *p = pig_parse(text, strlen(text), "x.pig", &(PigOptions){ 0 }, &err);
    fuzz_said(p, &err);
    plan_free(p);
    free(text);
}

static const char tables[] = "CREATE TABLE t (a int PRIMARY KEY, b text NOT NULL, c float, d date);\n"
                             "CREATE TABLE u (x int REFERENCES t(a), y text UNIQUE CHECK (x > 1));\n";

static void read_sql(const uint8_t *data, size_t n)
{
    Err err = { 0 };
    char *text = fuzz_text(data, n);
    if (sql_available()) {
        Plan *p = sql_parse(text, "x.sql", tables, &(SqlOptions){ 0 }, &err);
        fuzz_said(p, &err);
        plan_free(p);
    }
    free(text);
}

static void read_schema(const uint8_t *data, size_t n)
{
    Err err = { 0 };
    char *text = fuzz_text(data, n);
    if (sql_available()) {
        Plan *p = sql_parse("SELECT a FROM t", "x.sql", text, &(SqlOptions){ 0 }, &err);
        fuzz_said(p, &err);
        plan_free(p);
    }
    free(text);
}

/* The first byte chooses the loader. */
static const Plan *loader(unsigned which)
{
    static const char *const scripts[] = {
        "a = LOAD 'x' AS (i:int, l:long, f:float, d:double, s:chararray, b:bytearray, t:datetime);\n",
        "a = LOAD 'x' USING PigStorage(',') AS (t:(x:int, y:chararray), b:{(z:int)}, m:[int]);\n",
        "a = LOAD 'x' USING JsonLoader('i:int, s:chararray, t:(x:int), b:{(y:long)}');\n",
        "a = LOAD 'x' USING TextLoader();\n",
        "a = LOAD 'x' AS (o:boolean, g:biginteger, h:bigdecimal);\n",
    };
    enum { N = sizeof scripts / sizeof *scripts };
    static Plan *plans[N];
    Err err = { 0 };
    unsigned i = which % N;
    if (!plans[i])
        plans[i] = pig_parse(scripts[i], strlen(scripts[i]), "x", &(PigOptions){ 0 }, &err);
    if (!plans[i]) {
        fprintf(stderr, "%s\n", err.msg);
        abort();
    }
    return plans[i];
}

static void read_data(const uint8_t *data, size_t n)
{
    if (!n)
        return;
    const Op *op = loader(data[0])->ops.items[0];
    Rng rng = rng_seeded(1);
    Arena a = { 0 };
    Input in = { 0 }, whole = { 0 };
    Err err = { 0 };
    size_t total = 0;
    Str out = { 0 };
    char *text = fuzz_text(data + 1, n - 1);
    LoadPlan plan = { .sample = 1 + data[0] % 8, .rng = &rng };
    fuzz_said(load_table(op, fuzz_file("data", data + 1, n - 1), &plan, &a, &in, &total, &err), &err);
    load_text(op, text, &a, &whole);
    load_print(op, &whole, &out);
    free(text);
    str_release(&out);
    arena_release(&a);
}

/* A pattern, a newline, then a text. */
static void read_pattern(const uint8_t *data, size_t n)
{
    const char *s = (const char *)data, *nl = n ? memchr(s, '\n', n) : NULL;
    size_t k = nl ? (size_t)(nl - s) : n;
    Arena a = { 0 };
    Err err = { 0 };
    RegexMatch m;
    Regex *r = regex_new(&a, s, k, n % 2 ? REGEX_FOLD : REGEX_DOT_ALL, &err);
    fuzz_said(r, &err);
    const char *text = nl ? nl + 1 : "";
    size_t len = nl ? n - k - 1 : 0;
    if (r) {
        regex_full(r, text, len, &m);
        regex_find(r, text, len, 0, &m);
        Automaton *au = regex_automaton(r, &a);
        int state = 0;
        for (size_t i = 0; au && i < len && i < 50 && state >= 0; i++) {
            automaton_accepts(au, state);
            state = automaton_step(au, state, (unsigned char)text[i]);
        }
        automaton_free(au);
    }
    err = (Err){ 0 };
    fuzz_said(regex_like(&a, s, k, n % 2, &err), &err);
    regex_is_simple(s, k);
    arena_release(&a);
}

static void read_date(const uint8_t *data, size_t n)
{
    int64_t ms, more;
    Str out = { 0 };
    const char *s = (const char *)data;
    if (date_parse(s, n, &ms)) {
        int year, week;
        date_print(&out, ms);
        Date d = date_split(ms);
        if (date_join(&d) != ms)
            abort();
        date_weekday(ms);
        date_week(ms, &year, &week);
    }
    date_add(0, s, n, 1, &more);
    date_add(1234567890123, s, n, -1, &more);
    str_release(&out);
}

/* A line for the list, then the table that it names. */
static void read_functions(const uint8_t *data, size_t n)
{
    const uint8_t *nl = n ? memchr(data, '\n', n) : NULL;
    size_t k = nl ? (size_t)(nl - data) : n;
    Err err = { 0 };
    Udfs *u = udfs_new();
    fuzz_file("table.json", nl ? nl + 1 : data, nl ? n - k - 1 : 0);
    fuzz_said(udfs_read(u, fuzz_file("udfs.json", data, k), &err), &err);
    udf_known(u, "F");
    udf_declared(u, "F");
    udfs_free(u);
}

static const char *const pigs =
    "%default X 3\n%declare Y 'z'\nDEFINE up org.Up('a');\nREGISTER 'x.jar';\n"
    "DEFINE mac(r, k) RETURNS o { $o = FILTER $r BY x > $k; };\n"
    "a = LOAD 'in' USING PigStorage('\\t') AS (x:int, y:chararray, b:bag{t:(z:long)}, m:map[]);\n"
    "b = FILTER a BY x > $X AND NOT (y MATCHES '.*a+') OR y IS NULL;\nc = mac(b, 2);\n"
    "d = FOREACH c GENERATE x + 1 AS p, UPPER(y) AS q, FLATTEN(b), m#'k', (x == 1 ? 'a' : 'b');\n"
    "e = GROUP d BY (p, q);\nf = FOREACH e { s = ORDER d BY p DESC; l = LIMIT s 2; GENERATE group, "
    "COUNT(l), SUM(d.p); };\nSPLIT a INTO g IF x < 1, h OTHERWISE;\ni = JOIN a BY x LEFT OUTER, c BY "
    "x USING 'replicated';\nj = COGROUP a BY x INNER, c BY x;\nk = UNION ONSCHEMA g, h;\nl = CROSS a, "
    "c;\nm = DISTINCT k PARALLEL 3;\nn = SAMPLE a 0.5;\no = RANK a BY x;\np = STREAM a THROUGH `cat`;\n"
    "ASSERT a BY x > 0, 'm';\nSTORE f INTO 'out';\nDUMP a;\n/* c */ -- d\n";

const FuzzReader fuzz_flow[] = {
    { .name = "pig",
      .read = read_pig,
      .texts = { pigs,
                 "a = LOAD 'x' AS (i:int, t:(u:int, v:chararray), b:{(w:double)});\n"
                 "b = FOREACH a GENERATE i % 2, t.u, b.w, $0 .. $2, *, (int)i, -i * 2 / 3;\n"
                 "c = ORDER b BY $0 ASC, $1 DESC;\nd = LIMIT c 10;\nSTORE d INTO 'o' USING JsonStorage();\n",
                 "a = LOAD 'x';\nb = FOREACH (GROUP a ALL) GENERATE COUNT(a);\nc = FILTER a BY $0 IN (1, "
                 "2) AND $1 == 'x' AND (CASE $2 WHEN 1 THEN 2 ELSE 3 END) == 2;\n" } },
    { .name = "sql",
      .read = read_sql,
      .texts = { "SELECT a, count(*) AS n, sum(c) FROM t WHERE b LIKE 'x%' AND c BETWEEN 1 AND 2 GROUP BY "
                 "a HAVING count(*) > 1 ORDER BY n DESC NULLS LAST LIMIT 3 OFFSET 1",
                 "WITH w AS (SELECT * FROM t) SELECT DISTINCT w.a, u.y FROM w LEFT JOIN u ON w.a = u.x "
                 "WHERE EXISTS (SELECT 1 FROM u WHERE u.x = w.a) UNION ALL SELECT a, b FROM t",
                 "SELECT CASE WHEN a > 1 THEN upper(b) ELSE coalesce(b, 'x') END, a::text, extract(year "
                 "FROM d), b || 'y', a IN (1, 2), NOT (c IS NULL) FROM t CROSS JOIN u WHERE d > DATE "
                 "'2020-01-01' AND a = ANY(SELECT x FROM u)",
                 "SELECT row_number() OVER (PARTITION BY a ORDER BY b) FROM t; SELECT a FROM t EXCEPT "
                 "SELECT x FROM u INTERSECT SELECT 1" } },
    { .name = "schema",
      .read = read_schema,
      .texts = { tables,
                 "CREATE TABLE t (a bigint, b varchar(3) DEFAULT 'x', PRIMARY KEY (a, b), UNIQUE (b), "
                 "FOREIGN KEY (a) REFERENCES t (a), CHECK (a < 5 AND b <> ''));\nCREATE INDEX i ON t (a);" } },
    { .name = "data",
      .read = read_data,
      .texts = { "A1\t2\t1.5\t2.5\ttext\tbytes\t2009-01-07T01:07:01.000Z\nx\t\t\n\n-1\t9999999999999\t1e999\n",
                 "B(1,a),{(1),(2)},[k#3,l#4]\n(,),{},[]\n(1,{(),[k#(2)]\n",
                 "C{\"i\": 1, \"s\": \"x\", \"t\": {\"x\": 2}, \"b\": [{\"y\": 3}]}\n{}\n[1]\nnull\n",
                 "Dsome text\nmore\n", "Etrue\t123456789012345678901234567890\t1.50\nfalse\t-1\tx\n" } },
    { .name = "pattern",
      .read = read_pattern,
      .texts = { "a.*(b|c)+[^x-z\\d]{2,3}?\\.$\nabbc", "(?i)^(?:\\w+)\\s*(\\1)?x{0}\\Q.*\\E\nab ab",
                 "[[:alpha:]a&&[^b]]\\p{L}\\u0041\\x41\\t(?=a)(?!b)(?<=c)(?<n>d)\\k<n>\nx", "%a_b\\%c\nxaybz" } },
    { .name = "date",
      .read = read_date,
      .texts = { "2009-01-07T01:07:01.000Z", "2009-02-29", "P1Y2M3W4DT5H6M7.5S", "1970-01-01T00:00+01:30",
                 "-0001-12-31T23:59:59.999-08", "2020-W05-3", "2020-060T12" } },
    { .name = "functions",
      .read = read_functions,
      .texts = { "{\"F\": {\"table\": \"table.json\", \"type\": \"int\"}, \"g\": {\"command\": [\"cat\"]}}\n"
                 "{\"args\":[1,\"x\"],\"value\":3}\n{\"args\":[[1,2]],\"value\":null}\n",
                 "{\"F\": {\"table\": \"table.json\", \"type\": \"bag\"}}\n{\"args\":[],\"value\":[[1],2]}\n",
                 "{\"F\": {\"library\": \"./x.so\", \"type\": \"chararray\"}, \"G\": {\"type\": \"?\"}}\n",
                 "{\"F\": {\"table\": \"table.json\", \"type\": \"tuple\"}}\n{\"args\":[true],\"value\":{\"a\":1}}\n" } },
    { 0 },
};
