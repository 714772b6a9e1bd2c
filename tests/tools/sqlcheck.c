/*
 * Holds the SQL front end and the evaluator against SQLite.
 *
 *     sqlcheck SCHEMA QUERY…            rows made for each query are inserted in
 *                                       SQLite; its answer must be ours
 *     sqlcheck --mutants SCHEMA QUERY…  how many changed queries give another
 *                                       answer on our rows, and on random ones
 *     sqlcheck --random SEED COUNT      random queries on random rows
 *
 * Ends with 0 if all agree. Each line begins with "ok" or "DIFFERS".
 */
#include "base/file.h"
#include "base/rng.h"
#include "base/units.h"
#include "base/vec.h"
#include "dataflow/date.h"
#include "dataflow/generate.h"
#include "dataflow/sql.h"
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <time.h>

/* ---- answers as sorted lines */

static void number(Str *out, double d)
{
    char buf[40];
    snprintf(buf, sizeof buf, "%.9g", fabs(d) < 1e-9 ? 0 : d);
    str_add(out, buf);
}

static void cell(Str *out, const Datum *v)
{
    Str s = { 0 };
    if (v->kind == DATUM_NULL)
        str_add(out, "NULL");
    else if (v->kind == DATUM_BOOL)
        str_add(out, v->u.b ? "1" : "0");
    else if (datum_is_number(v))
        number(out, datum_as_double(v));
    else if (v->kind == DATUM_DATETIME)
        date_print_as(out, v->u.i, v->u.i % 86400000 ? "yyyy-MM-dd HH:mm:ss" : "yyyy-MM-dd");
    else
        datum_print(&s, v, false), str_add(out, str_c(&s));
    str_release(&s);
}

static int by_text(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

static void sort(Strings *s)
{
    if (s->len)
        qsort(s->items, s->len, sizeof *s->items, by_text);
}

static void ours(const Run *r, const Op *store, Strings *out)
{
    const Table *t = run_table(r, store);
    for (size_t i = 0; i < t->n; i++) {
        Str s = { 0 };
        for (size_t k = 0; k < t->rows[i]->tuple->n; k++) {
            cell(&s, &t->rows[i]->tuple->fields[k]);
            str_addc(&s, '|');
        }
        strings_add(out, str_c(&s));
        str_release(&s);
    }
    sort(out);
}

/* False: SQLite does not take the query. */
static bool theirs(sqlite3 *db, const char *sql, Strings *out, const char **why)
{
    sqlite3_stmt *st;
    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK) {
        *why = sqlite3_errmsg(db);
        return false;
    }
    int rc;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        Str s = { 0 };
        for (int i = 0; i < sqlite3_column_count(st); i++) {
            int type = sqlite3_column_type(st, i);
            const char *text = (const char *)sqlite3_column_text(st, i);
            if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
                number(&s, sqlite3_column_double(st, i));
            else if (type == SQLITE_NULL)
                str_add(&s, "NULL");
            else
                str_addn(&s, text, str_ends(text, " 00:00:00") ? strlen(text) - 9 : strlen(text));
            str_addc(&s, '|');
        }
        strings_add(out, str_c(&s));
        str_release(&s);
    }
    *why = sqlite3_errmsg(db);
    sqlite3_finalize(st);
    sort(out);
    return rc == SQLITE_DONE;
}

static bool same(const Strings *x, const Strings *y)
{
    bool ok = x->len == y->len;
    for (size_t i = 0; ok && i < x->len; i++)
        ok = !strcmp(x->items[i], y->items[i]);
    return ok;
}

static void tell(const char *what, const Strings *s)
{
    for (size_t i = 0; i < s->len && i < 8; i++)
        printf("#   %s %s\n", what, s->items[i]);
    if (!s->len)
        printf("#   %s (nothing)\n", what);
}

/* ---- databases */

static sqlite3 *database(const char *schema, const char *rows)
{
    sqlite3 *db;
    char *msg = NULL;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        return NULL;
    sqlite3_exec(db, "PRAGMA foreign_keys = ON", NULL, NULL, NULL);
    if (sqlite3_exec(db, schema, NULL, NULL, &msg) != SQLITE_OK ||
        (rows && sqlite3_exec(db, rows, NULL, NULL, &msg) != SQLITE_OK)) {
        printf("#   SQLite: %s\n", msg);
        sqlite3_free(msg);
        sqlite3_close(db);
        return NULL;
    }
    return db;
}

static const Op *store_of(const Plan *p)
{
    for (size_t i = p->ops.len; i-- > 0;)
        if (p->ops.items[i]->kind == OP_STORE)
            return p->ops.items[i];
    return NULL;
}

static bool compare(const char *name, const char *schema, const char *query, const Plan *p,
                    const Run *r, const Input *inputs)
{
    Str rows = { 0 };
    Strings a = { 0 }, b = { 0 };
    const char *why = "";
    sql_print_inserts(p, inputs, &rows);
    sqlite3 *db = database(schema, str_c(&rows));
    bool ran = db && theirs(db, query, &b, &why);
    ours(r, store_of(p), &a);
    bool ok = ran && same(&a, &b);
    if (!ok) {
        printf("DIFFERS %s\n#   %s\n", name, query);
        if (!ran)
            printf("#   SQLite: %s\n", why);
        tell("ours  ", &a);
        tell("SQLite", &b);
        printf("%s", str_c(&rows));
    }
    sqlite3_close(db);
    strings_release(&a);
    strings_release(&b);
    str_release(&rows);
    return ok;
}

/* ---- rows made for queries */

static size_t rows_of(const Examples *e)
{
    size_t n = 0;
    for (size_t i = 0; i < e->plan->ops.len; i++)
        if (e->plan->ops.items[i]->kind == OP_LOAD)
            n += e->inputs[i].n;
    return n;
}

static Examples *examples_for(const char *name, const char *schema, const char *query, Plan **p)
{
    Err err = { 0 };
    Examples *e = NULL;
    *p = sql_parse(query, name, schema, &(SqlOptions){ .dialect = SQL_SQLITE }, &err);
    if (*p)
        e = examples_generate(*p, &(GeneratePlan){ .seed = 1, .seconds = 300, .patience = 10 },
                              &err);
    if (!e)
        printf("DIFFERS %s\n#   %s\n", name, err.msg);
    return e;
}

static bool check(const char *name, const char *schema, const char *query)
{
    Plan *p;
    clock_t begin = clock();
    Examples *e = examples_for(name, schema, query, &p);
    double cpu = (double)(clock() - begin) / CLOCKS_PER_SEC;
    bool ok = e && compare(name, schema, query, p, e->run, e->inputs);
    if (ok) {
        printf("ok %s: %zu of %zu classes (%zu impossible), %zu rows, %.0f ms of CPU\n", name,
               e->metrics.shown, e->metrics.all, e->metrics.impossible, rows_of(e), cpu * 1000);
        for (size_t i = 0; i < e->classes->n; i++)
            if (!e->classes->items[i].shown && e->classes->items[i].why != WHY_UNSAT)
                printf("#   not shown: line %d, %s %s\n", e->classes->items[i].op->at.line,
                       op_kind_name(e->classes->items[i].op->kind),
                       class_word(e->classes->items[i].kind));
    }
    fflush(stdout);
    examples_free(e);
    plan_free(p);
    return ok;
}

/* ---- random rows */

/* Words, half of them from the schema: else no row passes its CHECKs. */
static void bind_word(sqlite3_stmt *st, int at, const char *schema, Rng *rng)
{
    static const char *const words[] = {
        "ann", "bob", "cleo", "dan", "eve", "finn", "gus", "hana"
    };
    const char *p = strchr(schema + rng_below(rng, strlen(schema)), '(');
    p = p && rng_below(rng, 2) ? strchr(p, '\'') : NULL;
    size_t n = p ? strcspn(p + 1, "'") : 0;
    if (n && n < 12 && !memchr(p + 1, ',', n))
        sqlite3_bind_text(st, at, p + 1, (int)n, SQLITE_TRANSIENT);
    else
        sqlite3_bind_text(st, at, words[rng_below(rng, 8)], -1, SQLITE_STATIC);
}

static void bind_random(sqlite3_stmt *st, int at, Type t, bool may_null, const char *schema,
                        Rng *rng)
{
    char date[16];
    if (may_null && !rng_below(rng, 8)) {
        sqlite3_bind_null(st, at);
    } else if (t.kind == DATUM_DATETIME) {
        snprintf(date, sizeof date, "19%02d-%02d-%02d", (int)(92 + rng_below(rng, 8)),
                 (int)(1 + rng_below(rng, 12)), (int)(1 + rng_below(rng, 28)));
        sqlite3_bind_text(st, at, date, -1, SQLITE_TRANSIENT);
    } else if (t.kind == DATUM_DOUBLE) {
        sqlite3_bind_double(st, at, (double)rng_below(rng, rng_below(rng, 2) ? 100 : 10000) / 100);
    } else if (t.kind == DATUM_TEXT) {
        bind_word(st, at, schema, rng);
    } else {
        sqlite3_bind_int64(st, at, (sqlite3_int64)rng_below(rng, t.kind == DATUM_BOOL ? 2 : 50));
    }
}

/* A foreign key takes a value that is there. */
static void bind_parent(sqlite3 *db, sqlite3_stmt *st, const Op *op, Rng *rng)
{
    for (size_t f = 0; op->rules && f < op->rules->nforeign; f++) {
        const struct ForeignKey *k = &op->rules->foreign[f];
        if (!k->table)
            continue;
        char *sql = sqlite3_mprintf("SELECT * FROM \"%w\" LIMIT 1 OFFSET (SELECT %d %% max(1, "
                                    "count(*)) FROM \"%w\")",
                                    k->table->path, (int)rng_below(rng, 1000000), k->table->path);
        sqlite3_stmt *pick;
        if (sqlite3_prepare_v2(db, sql, -1, &pick, NULL) == SQLITE_OK &&
            sqlite3_step(pick) == SQLITE_ROW)
            for (size_t i = 0; i < k->n; i++)
                sqlite3_bind_value(st, k->columns[i] + 1, sqlite3_column_value(pick, k->others[i]));
        sqlite3_finalize(pick);
        sqlite3_free(sql);
    }
}

/* Rows that the schema takes: others are thrown away. */
static sqlite3 *random_database(const char *schema, const Plan *p, const size_t *counts, Rng *rng)
{
    sqlite3 *db = database(schema, NULL);
    for (size_t i = 0; db && i < p->ops.len; i++) {
        const Op *op = p->ops.items[i];
        if (op->kind != OP_LOAD)
            continue;
        Str sql = { 0 };
        str_addf(&sql, "INSERT OR IGNORE INTO \"%s\" VALUES (?", op->path);
        for (size_t c = 1; c < op->schema->n; c++)
            str_add(&sql, ", ?");
        str_addc(&sql, ')');
        sqlite3_stmt *st;
        if (sqlite3_prepare_v2(db, str_c(&sql), -1, &st, NULL) != SQLITE_OK)
            assert(!"the table is there");
        size_t have = 0;
        for (size_t tries = 0; have < counts[i] && tries < counts[i] * 50; tries++) {
            for (size_t c = 0; c < op->schema->n; c++)
                bind_random(st, (int)c + 1, op->schema->fields[c].type, !op->rules->not_null[c],
                            schema, rng);
            bind_parent(db, st, op, rng);
            have += sqlite3_step(st) == SQLITE_DONE && sqlite3_changes(db) == 1;
            sqlite3_reset(st);
        }
        sqlite3_finalize(st);
        str_release(&sql);
    }
    return db;
}

/* ---- mutants */

typedef struct Change {
    const char *from, *to;
} Change;

static const Change changes[] = {
    { " LEFT JOIN ", " JOIN " },
    { " JOIN ", " LEFT JOIN " },
    { " < ", " <= " },
    { " <= ", " < " },
    { " > ", " >= " },
    { " >= ", " > " },
    { " = ", " <> " },
    { " <> ", " = " },
    { " < ", " > " },
    { " > ", " < " },
    { "sum(", "avg(" },
    { "avg(", "sum(" },
    { "min(", "max(" },
    { "max(", "min(" },
    { "count(DISTINCT ", "count(" },
    { "sum(", "count(" },
    { "SELECT DISTINCT ", "SELECT " },
    { " UNION ALL ", " UNION " },
    { " UNION ", " UNION ALL " },
    { " AND ", " OR " },
    { " OR ", " AND " },
    { "NOT EXISTS", "EXISTS" },
    { "NOT IN", "IN" },
    { "NOT LIKE", "LIKE" },
    { "IS NOT NULL", "IS NULL" },
    { " + ", " - " },
    { " - ", " + " },
    { " EXCEPT ", " INTERSECT " },
    { " INTERSECT ", " UNION " },
};

/* Behind the condition that begins at `at`. */
static size_t condition_end(const char *s, size_t at)
{
    static const char *const ends[] = { "AND ",   "OR ",    "GROUP ", "ORDER ", "HAVING ", "LIMIT ",
                                        "UNION ", "WHERE ", "JOIN ",  "LEFT ",  NULL };
    int open = 0;
    bool between = false;
    for (size_t i = at; s[i]; i++) {
        if (s[i] == '\'')
            i += strcspn(s + i + 1, "'") + 1;
        open += s[i] == '(' ? 1 : s[i] == ')' ? -1 : 0;
        if (open < 0 || s[i] == ';')
            return i;
        if (open || i == at || !isspace((unsigned char)s[i - 1]))
            continue;
        if (str_starts(s + i, "BETWEEN "))
            between = true;
        for (int k = 0; ends[k]; k++)
            if (str_starts(s + i, ends[k])) {
                if (!k && between) {
                    between = false;
                    break;
                }
                return i;
            }
    }
    return strlen(s);
}

static bool after_between(const char *s, size_t at)
{
    for (size_t i = at; i-- > 0 && s[i] != '(' && s[i] != ')';)
        if (str_starts(s + i, " BETWEEN "))
            return true;
        else if (str_starts(s + i, " AND ") || str_starts(s + i, "WHERE "))
            return false;
    return false;
}

static void mutants_of(const char *s, Strings *out)
{
    for (size_t i = 0; s[i]; i++) {
        for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
            const Change *c = &changes[k];
            bool and = str_starts(c->from, " AND");
            if (!str_starts(s + i, c->from) || (and&&after_between(s, i)) ||
                (!strcmp(c->from, " JOIN ") && i >= 5 && str_starts(s + i - 5, " LEFT")) ||
                (!strcmp(c->from, " UNION ") && str_starts(s + i, " UNION ALL ")))
                continue;
            strings_addf(out, "%.*s%s%s", (int)i, s, c->to, s + i + strlen(c->from));
        }
        if (str_starts(s + i, " AND ") && !after_between(s, i))
            strings_addf(out, "%.*s %s", (int)i, s, s + condition_end(s, i + 5));
    }
}

/* How many mutants a database tells apart; `killed` may be NULL. */
static size_t kills(sqlite3 *db, const char *query, const Strings *mutants, bool *valid)
{
    size_t n = 0;
    Strings base = { 0 };
    const char *why;
    if (!db || !theirs(db, query, &base, &why)) {
        strings_release(&base);
        return 0;
    }
    for (size_t i = 0; i < mutants->len; i++) {
        Strings got = { 0 };
        bool ran = theirs(db, mutants->items[i], &got, &why);
        if (valid)
            valid[i] = ran;
        n += ran && !same(&base, &got);
        strings_release(&got);
    }
    strings_release(&base);
    return n;
}

typedef struct Score {
    size_t mutants, ours, few, many;
} Score;

/* Without comments and line ends. */
static void one_line(char *s)
{
    bool comment = false;
    for (; *s; s++) {
        comment = (comment || (s[0] == '-' && s[1] == '-')) && *s != '\n';
        if (comment || isspace((unsigned char)*s))
            *s = ' ';
    }
}

static bool score(const char *name, const char *schema, const char *text, Score *sum)
{
    Plan *p;
    char *query = xprintf("%s", text);
    one_line(query);
    Examples *e = examples_for(name, schema, query, &p);
    if (!e)
        return plan_free(p), free(query), false;
    Strings mutants = { 0 };
    Str rows = { 0 };
    mutants_of(query, &mutants);
    sql_print_inserts(p, e->inputs, &rows);
    sqlite3 *db = database(schema, str_c(&rows));
    bool *valid = xcalloc(mutants.len + 1, sizeof *valid);
    size_t *counts = xcalloc(p->ops.len, sizeof *counts), n = 0;
    Score s = { .ours = kills(db, query, &mutants, valid) };
    for (size_t i = 0; i < mutants.len; i++)
        n += valid[i];
    Rng rng = rng_seeded(1);
    for (size_t i = 0; i < p->ops.len; i++)
        counts[i] = p->ops.items[i]->kind == OP_LOAD ? e->inputs[i].n : 0;
    sqlite3 *few = random_database(schema, p, counts, &rng);
    s.few = kills(few, query, &mutants, NULL);
    for (size_t i = 0; i < p->ops.len; i++)
        counts[i] = 50;
    sqlite3 *many = random_database(schema, p, counts, &rng);
    s.many = kills(many, query, &mutants, NULL);
    printf("ok %s: %zu mutants, %zu killed by our %zu rows, %zu by as many random ones, %zu by 50 "
           "random ones a table\n",
           name, n, s.ours, rows_of(e), s.few, s.many);
    fflush(stdout);
    sum->mutants += n;
    sum->ours += s.ours;
    sum->few += s.few;
    sum->many += s.many;
    sqlite3_close(db);
    sqlite3_close(few);
    sqlite3_close(many);
    free(valid);
    free(counts);
    free(query);
    strings_release(&mutants);
    str_release(&rows);
    examples_free(e);
    plan_free(p);
    return true;
}

/* ---- random queries */

static const char random_schema[] =
    "CREATE TABLE a (id int PRIMARY KEY, x int, y real, s text);\n"
    "CREATE TABLE b (id int PRIMARY KEY, a_id int, v int NOT NULL, t text);\n";

static const char *one_of(Rng *r, const char *const *list)
{
    size_t n = 0;
    while (list[n])
        n++;
    return list[rng_below(r, n)];
}

static void random_value(Rng *r, bool joined, Str *out)
{
    static const char *const plain[] = { "a.x",
                                         "a.id",
                                         "a.y",
                                         "3",
                                         "0",
                                         "-2",
                                         "- (1)",
                                         "a.x + -3",
                                         "a.x + 1",
                                         "a.x * a.id",
                                         "-a.x",
                                         "coalesce(a.x, 7)",
                                         "length(a.s)",
                                         "nullif(a.x, 2)",
                                         "a.x / 2",
                                         "CASE WHEN a.x > 2 THEN a.id ELSE a.x END",
                                         "CASE a.s WHEN 'ann' THEN 1 END",
                                         "(SELECT max(c.v) FROM b c WHERE c.a_id = a.id)",
                                         "(SELECT count(*) FROM b c)",
                                         NULL };
    static const char *const both[] = { "b.v", "b.id", "b.a_id + a.x", "b.v - a.id", NULL };
    str_add(out, one_of(r, joined && rng_below(r, 2) ? both : plain));
}

static void random_cond(Rng *r, bool joined, int depth, Str *out)
{
    static const char *const signs[] = { "=", "<>", "<", "<=", ">", ">=", NULL };
    static const char *const atoms[] = {
        "a.s LIKE '%n%'",
        "a.s IS NULL",
        "a.x IS NOT NULL",
        "a.s = 'bob'",
        "a.x BETWEEN 1 AND 4",
        "a.x IN (1, 2, 5)",
        "a.x BETWEEN -1 AND - 1",
        "-a.x IN (-3, 0, -1)",
        "a.x NOT IN (1, 3)",
        "EXISTS (SELECT 1 FROM b c WHERE c.a_id = a.id AND c.v > 2)",
        "NOT EXISTS (SELECT 1 FROM b c WHERE c.a_id = a.x)",
        "a.x IN (SELECT c.v FROM b c)",
        "a.x NOT IN (SELECT c.a_id FROM b c WHERE c.v > 3)",
        "a.id IN (SELECT c.a_id FROM b c WHERE c.t = a.s)",
        "a.s < 'cleo'",
        "substr(a.s, 1, 1) = 'b'",
        "a.s || 'x' = 'annx'",
        "upper(a.s) = 'BOB'",
        "a.x IS NOT DISTINCT FROM a.id",
        NULL
    };
    uint64_t k = rng_below(r, depth > 2 ? 2 : 5);
    if (k == 0) {
        str_add(out, one_of(r, atoms));
    } else if (k < 3) {
        random_value(r, joined, out);
        str_addf(out, " %s ", one_of(r, signs));
        random_value(r, joined, out);
    } else {
        str_add(out, rng_below(r, 4) ? "(" : "NOT (");
        random_cond(r, joined, depth + 1, out);
        str_add(out, k == 3 ? " AND " : " OR ");
        random_cond(r, joined, depth + 1, out);
        str_addc(out, ')');
    }
}

static bool random_from(Rng *r, Str *out)
{
    static const char *const joins[] = { "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", NULL };
    uint64_t k = rng_below(r, 4);
    if (k == 0)
        return str_add(out, " FROM a"), false;
    if (k == 1)
        return str_add(out, " FROM a, b"), true;
    str_addf(out, " FROM a %s b ON ", one_of(r, joins));
    if (k == 2)
        str_add(out, "b.a_id = a.id");
    else
        str_add(out, one_of(r, (const char *const[]){ "b.a_id = a.id AND b.v > 2", "b.v > a.x",
                                                      "a.id = b.a_id AND a.x = b.v",
                                                      "b.a_id = a.id OR a.x = b.v", NULL }));
    return true;
}

static void random_plain(Rng *r, Str *out)
{
    Str from = { 0 };
    bool joined = random_from(r, &from);
    size_t n = 1 + rng_below(r, 3);
    str_add(out, rng_below(r, 4) ? "SELECT " : "SELECT DISTINCT ");
    for (size_t i = 0; i < n; i++) {
        str_add(out, i ? ", " : "");
        random_value(r, joined, out);
    }
    if (!rng_below(r, 5) && !strstr(str_c(out), "DISTINCT"))
        str_add(
            out,
            one_of(r,
                   (const char *const[]){
                       ", row_number() OVER (PARTITION BY a.x ORDER BY a.id, a.s)",
                       ", rank() OVER (ORDER BY a.x)", ", sum(a.x) OVER (PARTITION BY a.s)",
                       ", count(*) OVER (ORDER BY a.x)",
                       ", lag(a.x) OVER (PARTITION BY a.s ORDER BY a.id)",
                       ", min(a.x) OVER (ORDER BY a.id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
                       NULL }));
    if (strstr(str_c(out), "OVER") && joined) {
        str_reset(&from);                          /* ties would leave the order open */
        str_add(&from, " FROM a LEFT JOIN (SELECT max(id) AS id, a_id, max(v) AS v, max(t) AS t "
                       "FROM b GROUP BY a_id) b ON b.a_id = a.id");
    }
    str_add(out, str_c(&from));
    if (rng_below(r, 3)) {
        str_add(out, " WHERE ");
        random_cond(r, joined, 0, out);
    }
    str_release(&from);
}

static void random_grouped(Rng *r, Str *out)
{
    static const char *const keys[] = { "a.x", "a.s", "a.x + 1", NULL };
    static const char *const totals[] = { "count(*)",
                                          "sum(a.x)",
                                          "avg(a.y)",
                                          "min(a.s)",
                                          "max(a.id)",
                                          "count(DISTINCT a.x)",
                                          "sum(a.x) + 1",
                                          "count(a.s)",
                                          "sum(CASE WHEN a.x > 2 THEN 1 ELSE 0 END)",
                                          "count(*) FILTER (WHERE a.x > 1)",
                                          NULL };
    const char *key = rng_below(r, 4) ? one_of(r, keys) : NULL;
    str_add(out, "SELECT ");
    if (key)
        str_addf(out, "%s, ", key);
    str_addf(out, "%s, %s", one_of(r, totals), one_of(r, totals));
    bool joined = random_from(r, out);
    if (rng_below(r, 2)) {
        str_add(out, " WHERE ");
        random_cond(r, joined, 1, out);
    }
    if (key)
        str_addf(out, " GROUP BY %s", key);
    if (key && rng_below(r, 2))
        str_addf(out, " HAVING %s",
                 one_of(r,
                        (const char *const[]){ "count(*) > 1", "sum(a.x) > 3",
                                               "min(a.id) < (SELECT avg(c.v) FROM b c)", NULL }));
}

static void random_query(Rng *r, Str *out)
{
    static const char *const ops[] = { "UNION", "UNION ALL", "INTERSECT", "EXCEPT", NULL };
    switch (rng_below(r, 8)) {
    case 0:
        str_addf(out, "SELECT a.x FROM a WHERE ");
        random_cond(r, false, 1, out);
        str_addf(out, " %s SELECT b.v FROM b WHERE b.v > %d", one_of(r, ops), (int)rng_below(r, 6));
        break;
    case 1:
        str_add(out, "WITH c AS (");
        random_grouped(r, out);
        str_add(out, ") SELECT count(*) FROM c");
        break;
    case 2:
        str_addf(out, "SELECT a.id, a.s FROM a WHERE ");
        random_cond(r, false, 1, out);
        str_addf(out, " ORDER BY a.x%s, a.id LIMIT %d OFFSET %d", rng_below(r, 2) ? " DESC" : "",
                 (int)rng_below(r, 4) + 1, (int)rng_below(r, 3));
        break;
    case 3:
    case 4: random_grouped(r, out); break;
    default: random_plain(r, out); break;
    }
}

static Input random_input(Rng *r, const Op *op, size_t n, Arena *a)
{
    static const char *const words[] = { "ann", "bob", "cleo", "", "Ann" };
    Input in = { arena_array(a, const Tuple *, n + 1), n };
    for (size_t i = 0; i < n; i++) {
        Tuple *t = tuple_new(a, op->schema->n);
        for (size_t c = 0; c < t->n; c++) {
            DatumKind k = op->schema->fields[c].type.kind;
            if (!c)
                t->fields[c] = datum_long((int64_t)i);
            else if (op->rules->not_null[c] || rng_below(r, 4))
                t->fields[c] = k == DATUM_TEXT     ? datum_text(a, words[rng_below(r, 5)])
                               : k == DATUM_DOUBLE ? datum_double((double)rng_below(r, 20) / 4 - 1)
                                                   : datum_long((int64_t)rng_below(r, 8) - 2);
        }
        in.rows[i] = t;
    }
    return in;
}

static bool random_one(Rng *rng, size_t number_of)
{
    Str query = { 0 };
    Arena a = { 0 };
    Err err = { 0 };
    random_query(rng, &query);
    char *name = xprintf("random-%zu", number_of);
    Plan *p =
        sql_parse(str_c(&query), name, random_schema, &(SqlOptions){ .dialect = SQL_SQLITE }, &err);
    bool ok = p != NULL;
    if (!p)
        printf("DIFFERS %s\n#   %s\n#   %s\n", name, str_c(&query), err.msg);
    for (int k = 0; ok && k < 3; k++) {
        Input *inputs = arena_array(&a, Input, p->ops.len);
        for (size_t i = 0; i < p->ops.len; i++)
            if (p->ops.items[i]->kind == OP_LOAD)
                inputs[i] = random_input(rng, p->ops.items[i], rng_below(rng, 7), &a);
        Run *r = run_plan(p, &(RunPlan){ .inputs = inputs }, &err);
        ok = r && compare(name, random_schema, str_c(&query), p, r, inputs);
        run_free(r);
    }
    if (ok && number_of % 10 == 0)
        ok = check(name, random_schema, str_c(&query));
    plan_free(p);
    free(name);
    arena_release(&a);
    str_release(&query);
    return ok;
}

/* ---- the command */

static char *text_of(const char *path)
{
    Str s = { 0 };
    Err err = { 0 };
    if (!file_read(path, &s, &err)) {
        fprintf(stderr, "sqlcheck: %s\n", err.msg);
        exit(2);
    }
    str_c(&s);
    return str_take(&s);
}

static int random_queries(uint64_t seed, size_t count)
{
    Rng rng = rng_seeded(seed);
    size_t bad = 0;
    for (size_t i = 1; i <= count; i++)
        bad += !random_one(&rng, i);
    printf("%zu random queries, %zu differ\n", count, bad);
    return bad != 0;
}

int main(int argc, char **argv)
{
    bool mutants = argc > 1 && !strcmp(argv[1], "--mutants");
    if (argc == 4 && !strcmp(argv[1], "--random"))
        return random_queries(strtoull(argv[2], NULL, 10), strtoul(argv[3], NULL, 10));
    if (argc < 3 + mutants) {
        fprintf(stderr, "usage: sqlcheck [--mutants] SCHEMA QUERY… | --random SEED COUNT\n");
        return 2;
    }
    char *schema = text_of(argv[1 + mutants]);
    size_t bad = 0;
    Score sum = { 0 };
    for (int i = 2 + mutants; i < argc; i++) {
        char *query = text_of(argv[i]);
        bad += mutants ? !score(argv[i], schema, query, &sum) : !check(argv[i], schema, query);
        free(query);
    }
    if (mutants)
        printf("%zu mutants: %zu killed by our rows, %zu by as many random rows, %zu by 50 random "
               "rows a table\n",
               sum.mutants, sum.ours, sum.few, sum.many);
    free(schema);
    return bad != 0;
}
