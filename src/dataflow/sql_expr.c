/*
 * Expressions of SQL into terms. Names become positions here, and constants
 * take the type of what they are compared with.
 */
#include "dataflow/sql_int.h"
#include "dataflow/date.h"
#include "dataflow/function.h"
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static Term *expr(Sql *q, json_t *node, Names *n);

/* ---- names */

Names *sql_names(Sql *q, const Rel *r, Names *up)
{
    Names *n = arena_new(&q->p->arena, Names);
    n->rel = *r;
    n->up = up;
    n->scope = (Scope){ r->op->schema, up ? &up->scope : NULL };
    return n;
}

bool sql_column_ref(const json_t *ref, const char **table, const char **name)
{
    const json_t *fields = json_object_get(ref, "fields");
    size_t n = sql_count(fields);
    for (size_t i = 0; i < n; i++)
        if (json_object_get(json_array_get(fields, i), "A_Star"))
            return false;
    *name = sql_text_of(json_array_get(fields, n - 1));
    *table = n > 1 ? sql_text_of(json_array_get(fields, n - 2)) : NULL;
    return n > 0;
}

int sql_find_column(const Rel *r, const char *table, const char *name)
{
    int found = -1;
    for (size_t i = 0; i < r->n; i++) {
        const SqlColumn *c = &r->cols[i];
        if (!c->name || strcmp(c->name, name) || (!table && c->merged) ||
            (table && (!c->table || strcmp(c->table, table))))
            continue;
        if (found >= 0)
            return -2;
        found = (int)i;
    }
    return found;
}

/* ---- grouped rows: (key, bag) */

static Term *key_term(Sql *q, const Names *n, size_t k, int depth, SrcPos at)
{
    if (n->flat)
        return term_field(q->p, depth, (int)k, at);
    Term *key = term_field(q->p, depth, 0, at);
    if (n->nkeys == 1)
        return key;
    Term *t = term_new(q->p, TERM_PROJECT, at);
    term_arg(q->p, t, key);
    t->columns = arena_array(&q->p->arena, int, 1);
    t->columns[0] = (int)k;
    t->ncolumns = 1;
    return t;
}

/* The columns of a table's primary key are all grouped by: then each other
 * column of that table has one value in a group. */
static bool depends_on_keys(const Names *n, const SqlColumn *c)
{
    const TableRules *r = c->load ? c->load->rules : NULL;
    for (size_t u = 0; r && u < r->nunique; u++) {
        size_t have = 0;
        for (size_t i = 0; i < r->unique[u].n; i++)
            for (size_t k = 0; k < n->nkeys; k++) {
                const Term *t = n->key_terms[k];
                if (t->kind == TERM_FIELD && !t->depth && n->rel.cols[t->index].load == c->load &&
                    n->rel.cols[t->index].at == r->unique[u].columns[i] &&
                    n->rel.cols[t->index].table && c->table &&
                    !strcmp(n->rel.cols[t->index].table, c->table)) {
                    have++;
                    break;
                }
            }
        if (r->unique[u].primary && have == r->unique[u].n)
            return true;
    }
    return false;
}

static Term *grouped_column(Sql *q, const Names *n, int index, int depth, SrcPos at)
{
    for (size_t k = 0; k < n->nkeys; k++) {
        const Term *t = n->key_terms[k];
        if (t->kind == TERM_FIELD && !t->depth && t->index == index)
            return key_term(q, n, k, depth, at);
    }
    const SqlColumn *c = &n->rel.cols[index];
    bool loose = q->o && q->o->dialect == SQL_SQLITE;
    if (n->flat || (!depends_on_keys(n, c) && !loose)) {
        sql_fail(q, at, "column %s is neither in GROUP BY nor inside an aggregate", c->name);
        return NULL;
    }
    if (!depends_on_keys(n, c))
        plan_note(q->p, at,
                  "column %s is not in GROUP BY: SQLite takes it from any row of the group, "
                  "here it is the least value",
                  c->name);
    Term *t = term_new(q->p, TERM_AGGREGATE, at);
    t->name = "min";
    term_arg(q->p, t, term_field(q->p, depth, 1, at));
    term_arg(q->p, t, term_field(q->p, 0, index, at));
    return t;
}

static Term *column(Sql *q, json_t *ref, Names *n)
{
    const char *table, *name;
    SrcPos at = sql_at(q, ref);
    if (!sql_column_ref(ref, &table, &name)) {
        sql_fail(q, at, "* cannot stand here; expected a column");
        return NULL;
    }
    int depth = 0;
    for (Names *s = n; s; s = s->up, depth++) {
        int i = sql_find_column(&s->rel, table, name);
        if (i == -2) {
            sql_fail(q, at, "%s is ambiguous; write the table in front of it", name);
            return NULL;
        }
        if (i >= 0)
            return s->grouped ? grouped_column(q, s, i, depth, at) : term_field(q->p, depth, i, at);
    }
    sql_fail(q, at, "there is no column %s%s%s", table ? table : "", table ? "." : "", name);
    return NULL;
}

/* ---- constants */

static Term *constant(Sql *q, const json_t *c)
{
    SrcPos at = sql_at(q, c);
    Arena *a = &q->p->arena;
    const json_t *v;
    if (json_is_true(json_object_get(c, "isnull")))
        return term_const(q->p, datum_null(), at);
    if ((v = json_object_get(c, "ival")))
        return term_const(q->p, datum_long(json_int(v, "ival", 0)), at);
    if ((v = json_object_get(c, "boolval")))
        return term_const(q->p, datum_bool(json_is_true(json_object_get(v, "boolval"))), at);
    if ((v = json_object_get(c, "sval")))
        return term_const(q->p, datum_text(a, json_str(v, "sval")), at);
    if ((v = json_object_get(c, "fval"))) {
        const char *s = json_str(v, "fval");
        char *end;
        errno = 0;
        long long whole = strtoll(s, &end, 10);
        if (!*end && !errno)
            return term_const(q->p, datum_long(whole), at);
        return term_const(q->p, datum_double(strtod(s, NULL)), at);
    }
    sql_fail(q, at, "not supported: a constant of this kind");
    return NULL;
}

/* A text constant as a date. */
static bool to_date(Sql *q, Term *t)
{
    int64_t ms;
    if (t->kind != TERM_CONST || t->value.kind != DATUM_TEXT)
        return true;
    char buf[64];
    snprintf(buf, sizeof buf, "%s", t->value.u.s);
    if (strlen(buf) > 10 && buf[10] == ' ')
        buf[10] = 'T';
    if (!date_parse(buf, strlen(buf), &ms))
        return sql_fail(q, t->at, "'%s' is no date; expected YYYY-MM-DD", t->value.u.s);
    t->value = datum_datetime(ms);
    t->type = dtype_of(DATUM_DATETIME);
    return true;
}

/* '3 months', '1 year 2 days' */
static bool interval(const char *s, int64_t *months, int64_t *ms)
{
    static const struct {
        const char *word;
        int64_t months, ms;
    } units[] = {
        { "year", 12, 0 },        { "mon", 1, 0 },        { "week", 0, 7 * 86400000LL },
        { "day", 0, 86400000LL }, { "hour", 0, 3600000 }, { "min", 0, 60000 },
        { "sec", 0, 1000 },
    };
    *months = *ms = 0;
    for (;;) {
        char *end, word[16] = "";
        long k = strtol(s, &end, 10);
        int used = 0;
        size_t u = 0;
        if (end == s || sscanf(end, " %15[a-zA-Z] %n", word, &used) != 1)
            return false;
        while (u < 7 && strncasecmp(units[u].word, word, strlen(units[u].word)))
            u++;
        if (u == 7 || labs(k) > 1000000)
            return false;
        *months += k * units[u].months;
        *ms += k * units[u].ms;
        s = end + used;
        if (!*s)
            return true;
    }
}

static const char *type_word(const json_t *type_name)
{
    const json_t *names = json_object_get(type_name, "names");
    return sql_text_of(json_array_get(names, sql_count(names) - 1));
}

static bool is_interval(const json_t *node, const char **text)
{
    const json_t *c = json_object_get(node, "TypeCast");
    const json_t *k = json_object_get(json_object_get(c, "arg"), "A_Const");
    if (!c || strcmp(type_word(json_object_get(c, "typeName")), "interval") || !k)
        return false;
    *text = json_str(json_object_get(k, "sval"), "sval");
    return true;
}

/* The unit of INTERVAL '3' MONTH is a mask of bits. */
static const char *interval_unit(const json_t *type_name)
{
    const json_t *m = json_array_get(json_object_get(type_name, "typmods"), 0);
    long long bits = json_int(json_object_get(json_object_get(m, "A_Const"), "ival"), "ival", 0);
    return bits == 4      ? "year"
           : bits == 2    ? "mon"
           : bits == 8    ? "day"
           : bits == 1024 ? "hour"
           : bits == 2048 ? "min"
           : bits == 4096 ? "sec"
                          : "";
}

static Term *call(Sql *q, const char *name, Term **args, size_t n, SrcPos at)
{
    return term_call(q->p, arena_strdup(&q->p->arena, name), args, n, at);
}

/* date ± interval */
static Term *shift(Sql *q, Term *date, const json_t *node, const char *text, int sign, SrcPos at)
{
    int64_t months, ms;
    const json_t *type = json_object_get(json_object_get(node, "TypeCast"), "typeName");
    char *full = xprintf("%s %s", text, interval_unit(type));
    bool ok = interval(full, &months, &ms);
    free(full);
    if (!ok) {
        sql_fail(q, at, "'%s' is no interval; expected a number and a unit", text);
        return NULL;
    }
    if (!to_date(q, date))
        return NULL;
    if (date->kind == TERM_CONST && date->value.kind == DATUM_DATETIME) {
        Datum args[] = { date->value, datum_long(sign * months), datum_long(sign * ms) };
        CallCtx c = { .arena = &q->p->arena };
        return term_const(q->p, function_find("sql.shift")->call(&c, args, 3), at);
    }
    Term *args[] = { date, term_const(q->p, datum_long(sign * months), at),
                     term_const(q->p, datum_long(sign * ms), at) };
    return call(q, "sql.shift", args, 3, at);
}

static int64_t floor_day(int64_t ms) { return ms - ((ms % 86400000) + 86400000) % 86400000; }

/* The day of a moment. */
static Term *on_day(Sql *q, Term *x)
{
    if (x->kind == TERM_CONST && x->value.kind == DATUM_DATETIME)
        return term_const(q->p, datum_datetime(floor_day(x->value.u.i)), x->at);
    Term *two[] = { term_const(q->p, datum_text(&q->p->arena, "day"), x->at), x };
    return call(q, "sql.trunc", two, 2, x->at);
}

/* The moment, or the day, at which Sundew reads the query. */
static Term *now(Sql *q, bool day, SrcPos at)
{
    int64_t ms = (int64_t)time(NULL) * 1000;
    return term_const(q->p, datum_datetime(day ? floor_day(ms) : ms), at);
}

/* ---- operators */

static Term *binary(Sql *q, TermKind kind, Term *x, Term *y, SrcPos at)
{
    if (!x || !y)
        return NULL;
    Term *t = term_binary(q->p, kind, x, y);
    t->at = at;
    return t;
}

static Term *negate(Sql *q, Term *x) { return x ? term_unary(q->p, TERM_NOT, x) : NULL; }

static bool is_text_const(const Term *t)
{
    return t->kind == TERM_CONST && t->value.kind == DATUM_TEXT;
}

/* A constant takes the type of what it is compared with: in n = '0' it is a
 * number. In SQLite 5 is a text beside a column of text. */
static void meet(Sql *q, const Term *x, Term *c)
{
    bool sqlite = q->o && q->o->dialect == SQL_SQLITE;
    char *end;
    if (dtype_is_number(x->type.kind) && is_text_const(c) && c->value.len) {
        double d = strtod(c->value.u.s, &end);
        if (*end || strspn(c->value.u.s, " +-.0123456789eE") < c->value.len || !isfinite(d))
            return;
        bool whole = d == floor(d) && fabs(d) < 9e15;
        *c = *term_const(q->p, whole ? datum_long((int64_t)d) : datum_double(d), c->at);
    } else if (sqlite && x->kind == TERM_FIELD && x->type.kind == DATUM_TEXT &&
               c->kind == TERM_CONST && c->value.kind == DATUM_LONG) {
        char text[32];
        snprintf(text, sizeof text, "%lld", (long long)c->value.u.i);
        *c = *term_const(q->p, datum_text(&q->p->arena, text), c->at);
    } else if (sqlite && x->kind == TERM_FIELD && x->type.kind == DATUM_TEXT &&
               c->kind == TERM_SCALAR_QUERY && dtype_is_number(c->type.kind)) {
        Term *inner = arena_new(&q->p->arena, Term);
        *inner = *c;
        *c = *term_cast(q->p, inner, dtype_of(DATUM_TEXT), true);
    }
}

static Term *compare(Sql *q, TermKind kind, Term *x, Term *y, SrcPos at)
{
    if (!x || !y)
        return NULL;
    meet(q, x, y);
    meet(q, y, x);
    if ((x->type.kind == DATUM_DATETIME && !to_date(q, y)) ||
        (y->type.kind == DATUM_DATETIME && !to_date(q, x)))
        return NULL;
    return binary(q, kind, x, y, at);
}

static const struct {
    const char *sign;
    TermKind kind;
} signs[] = {
    { "=", TERM_EQ },  { "<>", TERM_NE }, { "!=", TERM_NE }, { "<", TERM_LT },
    { "<=", TERM_LE }, { ">", TERM_GT },  { ">=", TERM_GE }, { "+", TERM_ADD },
    { "-", TERM_SUB }, { "*", TERM_MUL }, { "/", TERM_DIV }, { "%", TERM_MOD },
};

static bool sign_of(const char *s, TermKind *out)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (!strcmp(signs[i].sign, s)) {
            *out = signs[i].kind;
            return true;
        }
    return false;
}

static Term *plain_operator(Sql *q, json_t *e, Names *n, const char *sign, SrcPos at)
{
    json_t *l = json_object_get(e, "lexpr"), *r = json_object_get(e, "rexpr");
    const char *text;
    TermKind kind;
    if (l && is_interval(r, &text) && (*sign == '+' || *sign == '-')) {
        Term *date = expr(q, l, n);
        return date ? shift(q, date, r, text, *sign == '-' ? -1 : 1, at) : NULL;
    }
    Term *y = expr(q, r, n), *x = l && y ? expr(q, l, n) : NULL;
    if (!y || (l && !x))
        return NULL;
    if (!l && *sign == '-') {
        if (y->kind == TERM_CONST && y->value.kind == DATUM_LONG)
            return term_const(q->p, datum_long(-y->value.u.i), at);
        if (y->kind == TERM_CONST && y->value.kind == DATUM_DOUBLE)
            return term_const(q->p, datum_double(-y->value.u.d), at);
        return term_unary(q->p, TERM_NEG, y);
    }
    if (!l && *sign == '+')
        return y;
    if (l && !strcmp(sign, "||")) {
        Term *args[] = { x, y };
        return call(q, "sql.join", args, 2, at);
    }
    if (!l || !sign_of(sign, &kind)) {
        sql_fail(q, at, "not supported: operator %s", sign);
        return NULL;
    }
    return kind >= TERM_EQ && kind <= TERM_GE ? compare(q, kind, x, y, at)
                                              : binary(q, kind, x, y, at);
}

/* Each is inside of the one before. */
static bool are_few(Sql *q, const json_t *list, SrcPos at)
{
    enum { MOST = 5000 };
    if (sql_count(list) > MOST)
        sql_fail(q, at, "a list of more than %d operands", MOST);
    return sql_count(list) <= MOST;
}

static Term *in_list(Sql *q, json_t *e, Names *n, bool not, SrcPos at)
{
    json_t *items = json_object_get(json_object_get(json_object_get(e, "rexpr"), "List"), "items");
    Term *any = NULL;
    if (!are_few(q, items, at))
        return NULL;
    for (size_t i = 0; i < sql_count(items); i++) {
        Term *x = expr(q, json_object_get(e, "lexpr"), n);
        Term *eq = x ? compare(q, TERM_EQ, x, expr(q, json_array_get(items, i), n), at) : NULL;
        if (!eq)
            return NULL;
        any = any ? binary(q, TERM_OR, any, eq, at) : eq;
    }
    return not ? negate(q, any) : any;
}

static Term *between(Sql *q, json_t *e, Names *n, bool not, SrcPos at)
{
    json_t *items = json_object_get(json_object_get(json_object_get(e, "rexpr"), "List"), "items");
    json_t *x = json_object_get(e, "lexpr");
    Term *lo = compare(q, TERM_GE, expr(q, x, n), expr(q, json_array_get(items, 0), n), at);
    Term *hi =
        lo ? compare(q, TERM_LE, expr(q, x, n), expr(q, json_array_get(items, 1), n), at) : NULL;
    Term *t = binary(q, TERM_AND, lo, hi, at);
    return not ? negate(q, t) : t;
}

static Term *like(Sql *q, json_t *e, Names *n, const char *sign, SrcPos at)
{
    Term *t = binary(q, TERM_LIKE, expr(q, json_object_get(e, "lexpr"), n),
                     expr(q, json_object_get(e, "rexpr"), n), at);
    if (!t)
        return NULL;
    t->fold = strchr(sign, '*') || (q->o && q->o->dialect == SQL_SQLITE);
    return *sign == '!' ? negate(q, t) : t;
}

static Term *nullif(Sql *q, json_t *e, Names *n, SrcPos at)
{
    Term *x = expr(q, json_object_get(e, "lexpr"), n);
    Term *eq = compare(q, TERM_EQ, x, expr(q, json_object_get(e, "rexpr"), n), at);
    Term *t = term_new(q->p, TERM_CASE, at);
    if (!eq)
        return NULL;
    term_arg(q->p, t, eq);
    term_arg(q->p, t, term_const(q->p, datum_null(), at));
    term_arg(q->p, t, expr(q, json_object_get(e, "lexpr"), n));
    return t;
}

static Term *operator_expr(Sql *q, json_t *e, Names *n)
{
    const char *kind = json_str(e, "kind");
    const char *sign = sql_text_of(json_array_get(json_object_get(e, "name"), 0));
    SrcPos at = sql_at(q, e);
    json_t *l = json_object_get(e, "lexpr"), *r = json_object_get(e, "rexpr");
    if (!strcmp(sql_kind(l), "RowExpr") || !strcmp(sql_kind(r), "RowExpr")) {
        sql_fail(q, at, "not supported: rows in comparisons");
        return NULL;
    }
    if (!strcmp(kind, "AEXPR_OP"))
        return plain_operator(q, e, n, sign, at);
    if (!strcmp(kind, "AEXPR_IN"))
        return in_list(q, e, n, *sign == '<', at);
    if (!strcmp(kind, "AEXPR_LIKE") || !strcmp(kind, "AEXPR_ILIKE"))
        return like(q, e, n, sign, at);
    if (!strcmp(kind, "AEXPR_BETWEEN") || !strcmp(kind, "AEXPR_NOT_BETWEEN"))
        return between(q, e, n, kind[6] == 'N', at);
    if (!strcmp(kind, "AEXPR_NULLIF"))
        return nullif(q, e, n, at);
    if (!strcmp(kind, "AEXPR_DISTINCT") || !strcmp(kind, "AEXPR_NOT_DISTINCT")) {
        Term *t = compare(q, TERM_NOT_DISTINCT, expr(q, l, n), expr(q, r, n), at);
        return kind[6] == 'N' ? t : negate(q, t);
    }
    sql_fail(q, at, "not supported: %s", kind + strlen("AEXPR_"));
    return NULL;
}

static Term *bool_expr(Sql *q, json_t *e, Names *n)
{
    const char *op = json_str(e, "boolop");
    json_t *args = json_object_get(e, "args");
    if (!strcmp(op, "NOT_EXPR"))
        return negate(q, expr(q, json_array_get(args, 0), n));
    TermKind kind = !strcmp(op, "AND_EXPR") ? TERM_AND : TERM_OR;
    Term *all = NULL;
    if (!are_few(q, args, sql_at(q, e)))
        return NULL;
    for (size_t i = 0; i < sql_count(args); i++) {
        Term *x = expr(q, json_array_get(args, i), n);
        if (!x)
            return NULL;
        all = all ? binary(q, kind, all, x, x->at) : x;
    }
    return all;
}

Term *sql_all_of(Sql *q, const json_t *conjuncts, Names *n)
{
    Term *all = NULL;
    for (size_t i = 0; i < sql_count(conjuncts); i++) {
        Term *x = sql_expr(q, json_array_get(conjuncts, i), n);
        if (!x)
            return NULL;
        all = all ? binary(q, TERM_AND, all, x, all->at) : x;
    }
    return all;
}

static Term *null_test(Sql *q, json_t *e, Names *n)
{
    Term *x = expr(q, json_object_get(e, "arg"), n);
    if (!x)
        return NULL;
    Term *t = term_unary(q->p, TERM_IS_NULL, x);
    return strcmp(json_str(e, "nulltesttype"), "IS_NULL") ? negate(q, t) : t;
}

/* x IS [NOT] TRUE, FALSE, UNKNOWN */
static Term *bool_test(Sql *q, json_t *e, Names *n)
{
    const char *kind = json_str(e, "booltesttype");
    Term *x = expr(q, json_object_get(e, "arg"), n);
    if (!x)
        return NULL;
    bool not = str_starts(kind, "IS_NOT_");
    const char *what = kind + (not? 7 : 3);
    Term *t;
    if (!strcmp(what, "UNKNOWN"))
        t = term_unary(q->p, TERM_IS_NULL, x);
    else
        t = binary(q, TERM_NOT_DISTINCT, x,
                   term_const(q->p, datum_bool(!strcmp(what, "TRUE")), x->at), x->at);
    return not ? negate(q, t) : t;
}

/* ---- CASE and its kin */

/* Constants among branches take the type of the others. */
static bool meet_branches(Sql *q, Term **branches, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            if (branches[i]->kind == TERM_CONST)
                continue;
            if (branches[i]->type.kind == DATUM_DATETIME && !to_date(q, branches[k]))
                return false;
            if (dtype_is_number(branches[i]->type.kind))
                meet(q, branches[i], branches[k]);
        }
    return true;
}

static Term *case_expr(Sql *q, json_t *e, Names *n)
{
    json_t *arms = json_object_get(e, "args"), *of = json_object_get(e, "arg");
    Term *t = term_new(q->p, TERM_CASE, sql_at(q, e));
    for (size_t i = 0; i < sql_count(arms); i++) {
        json_t *w = json_object_get(json_array_get(arms, i), "CaseWhen");
        Term *c = expr(q, json_object_get(w, "expr"), n);
        if (of && c)
            c = compare(q, TERM_EQ, expr(q, of, n), c, c->at);
        Term *v = c ? expr(q, json_object_get(w, "result"), n) : NULL;
        if (!v)
            return NULL;
        term_arg(q->p, t, c);
        term_arg(q->p, t, v);
    }
    json_t *otherwise = json_object_get(e, "defresult");
    Term *v = otherwise ? expr(q, otherwise, n) : NULL;
    if (otherwise && !v)
        return NULL;
    if (v)
        term_arg(q->p, t, v);
    return t;
}

static Term *coalesce(Sql *q, json_t *args, Names *n, SrcPos at)
{
    Term *t = term_new(q->p, TERM_CASE, at);
    size_t count = sql_count(args);
    Term **x = arena_array(&q->p->arena, Term *, count + 1);
    for (size_t i = 0; i < count; i++)
        if (!(x[i] = expr(q, json_array_get(args, i), n)))
            return NULL;
    if (!meet_branches(q, x, count))
        return NULL;
    for (size_t i = 0; i + 1 < count; i++) {
        term_arg(q->p, t, negate(q, term_unary(q->p, TERM_IS_NULL, x[i])));
        term_arg(q->p, t, x[i]);
    }
    if (count)
        term_arg(q->p, t, x[count - 1]);
    return t->nargs == 1 ? t->args[0] : t;
}

/* GREATEST and LEAST pass over nulls. */
static Term *extreme(Sql *q, json_t *e, Names *n)
{
    json_t *args = json_object_get(e, "args");
    TermKind kind = strstr(json_str(e, "op"), "GREATEST") ? TERM_GE : TERM_LE;
    Term *best = expr(q, json_array_get(args, 0), n);
    for (size_t i = 1; best && i < sql_count(args); i++) {
        Term *x = expr(q, json_array_get(args, i), n);
        Term *t = term_new(q->p, TERM_CASE, best->at);
        if (!x)
            return NULL;
        term_arg(q->p, t, term_unary(q->p, TERM_IS_NULL, x));
        term_arg(q->p, t, best);
        term_arg(q->p, t, binary(q, kind, best, x, best->at));
        term_arg(q->p, t, best);
        term_arg(q->p, t, x);
        best = t;
    }
    return best;
}

static Term *cast(Sql *q, json_t *e, Names *n)
{
    Type to;
    bool day;
    int size, decimals;
    json_t *type = json_object_get(e, "typeName");
    Term *x = expr(q, json_object_get(e, "arg"), n);
    if (!x || !sql_type(q, type, &to, &day, &size, &decimals))
        return NULL;
    if (to.kind == DATUM_DATETIME && x->kind == TERM_CONST && x->value.kind == DATUM_TEXT)
        return to_date(q, x) ? x : NULL;
    if (to.kind == DATUM_BOOL && x->kind == TERM_CONST && x->value.kind == DATUM_TEXT)
        return term_const(q->p, datum_bool(x->value.u.s[0] == 't'), x->at);
    if (to.kind == x->type.kind)
        return to.kind == DATUM_DATETIME && day ? on_day(q, x) : x;
    return term_cast(q->p, x, to, false);
}

/* ---- subqueries */

static bool subquery(Sql *q, json_t *select, Names *n, Rel *out)
{
    Names *outer = q->outer;
    q->outer = n;
    q->nest++;
    bool ok = sql_select(q, select, out);
    q->nest--;
    q->outer = outer;
    return ok;
}

static Term *sub_link(Sql *q, json_t *e, Names *n)
{
    const char *kind = json_str(e, "subLinkType");
    json_t *test = json_object_get(e, "testexpr"), *names = json_object_get(e, "operName");
    SrcPos at = sql_at(q, e);
    bool any = !strcmp(kind, "ANY_SUBLINK"), all = !strcmp(kind, "ALL_SUBLINK");
    Term *t = term_new(q->p,
                       !strcmp(kind, "EXISTS_SUBLINK") ? TERM_EXISTS
                       : !strcmp(kind, "EXPR_SUBLINK") ? TERM_SCALAR_QUERY
                       : any && !names                 ? TERM_IN_QUERY
                                                       : TERM_QUANTIFIED,
                       at);
    Rel r;
    if (!any && !all && t->kind == TERM_QUANTIFIED) {
        sql_fail(q, at, "not supported: a subquery of kind %s", kind);
        return NULL;
    }
    if (!strcmp(sql_kind(test), "RowExpr")) {
        sql_fail(q, at, "not supported: IN with several columns");
        return NULL;
    }
    t->all = all;
    t->compare = TERM_EQ;
    if (names && !sign_of(sql_text_of(json_array_get(names, 0)), &t->compare)) {
        sql_fail(q, at, "not supported: this operator with ANY or ALL");
        return NULL;
    }
    if (test) {
        Term *x = expr(q, test, n);
        if (!x)
            return NULL;
        term_arg(q->p, t, x);
    }
    if (!subquery(q, sql_body(json_object_get(e, "subselect")), n, &r))
        return NULL;
    if (t->kind != TERM_EXISTS && r.n != 1) {
        sql_fail(q, at, "the subquery has %zu columns; expected one", r.n);
        return NULL;
    }
    t->op = r.op;
    return t;
}

/* ---- calls */

static const char *call_name(const json_t *call)
{
    const json_t *names = json_object_get(call, "funcname");
    return sql_text_of(json_array_get(names, sql_count(names) - 1));
}

static const char *const aggregates[] = { "count",       "sum",        "avg",          "min",
                                          "max",         "string_agg", "group_concat", "array_agg",
                                          "bool_and",    "bool_or",    "every",        "stddev",
                                          "stddev_samp", "variance",   "var_samp",     NULL };

bool sql_is_aggregate(const json_t *call)
{
    const json_t *args = json_object_get(call, "args");
    bool pair = sql_count(args) == 2 &&
                (!strcmp(call_name(call), "min") || !strcmp(call_name(call), "max"));
    return str_is_one_of(call_name(call), aggregates) && !pair;
}

bool sql_has_aggregate(const json_t *v)
{
    const char *key;
    json_t *x;
    size_t i;
    if (json_is_array(v))
        json_array_foreach((json_t *)v, i, x) if (sql_has_aggregate(x)) return true;
    if (!json_is_object(v) || json_object_get(v, "SubLink"))
        return false;
    const json_t *c = json_object_get(v, "FuncCall");
    if (c && !json_object_get(c, "over") && sql_is_aggregate(c))
        return true;
    json_object_foreach((json_t *)v, key, x) if (sql_has_aggregate(x)) return true;
    return false;
}

static const char *aggregate_name(const char *name)
{
    static const struct {
        const char *from, *to;
    } same[] = {
        { "group_concat", "string_agg" },
        { "every", "bool_and" },
        { "stddev_samp", "stddev" },
        { "var_samp", "variance" },
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (!strcmp(name, same[i].from))
            return same[i].to;
    return name;
}

/* An aggregate or GROUPING() that is a column of flat groups; NULL: none. */
static Term *flat_column(Sql *q, const json_t *body, const Names *n)
{
    for (size_t i = 0; i < n->nflat; i++)
        if (sql_same(sql_body(n->flat[i]), body))
            return term_field(q->p, 0, (int)(n->nkeys + i), sql_at(q, body));
    return NULL;
}

/* GROUPING(): without grouping sets all its arguments are keys. */
static Term *grouping(Sql *q, json_t *e, Names *n)
{
    Term *t = flat_column(q, e, n);
    if (t)
        return t;
    json_t *args = json_object_get(e, "args");
    for (size_t i = 0; i < sql_count(args); i++) {
        Term *x = n->grouped && !n->flat ? expr(q, json_array_get(args, i), n) : NULL;
        if (!x || x->kind == TERM_AGGREGATE) {
            sql_fail(q, sql_at(q, e), "GROUPING: expected a key of GROUP BY");
            return NULL;
        }
    }
    return term_const(q->p, datum_int(0), sql_at(q, e));
}

static Term *aggregate(Sql *q, json_t *c, Names *n)
{
    SrcPos at = sql_at(q, c);
    Term *column = flat_column(q, c, n);
    if (column)
        return column;
    json_t *args = json_object_get(c, "args"), *filter = json_object_get(c, "agg_filter");
    if (!n->grouped || n->flat) {
        sql_fail(q, at, "%s cannot stand here: there is no group", call_name(c));
        return NULL;
    }
    if (json_object_get(c, "agg_order") || json_object_get(c, "agg_within_group")) {
        sql_fail(q, at, "not supported: ORDER BY inside of an aggregate");
        return NULL;
    }
    Names *row = arena_new(&q->p->arena, Names);
    row->rel = n->rel;
    row->up = n;
    row->scope = (Scope){ n->scope.row->fields[1].type.inner, &n->scope };
    Term *t = term_new(q->p, TERM_AGGREGATE, at);
    t->name = arena_strdup(&q->p->arena, aggregate_name(call_name(c)));
    t->distinct = json_is_true(json_object_get(c, "agg_distinct"));
    term_arg(q->p, t, term_field(q->p, 0, 1, at));
    for (size_t i = 0; i < sql_count(args); i++) {
        Term *x = expr(q, json_array_get(args, i), row);
        if (!x)
            return NULL;
        term_arg(q->p, t, x);
    }
    if (filter && !(t->filter = expr(q, filter, row)))
        return NULL;
    return t;
}

/* SQL's names of functions, and ours. */
static const struct {
    const char *sql, *ours;
} functions[] = {
    { "lower", "LOWER" },
    { "lcase", "LOWER" },
    { "upper", "UPPER" },
    { "ucase", "UPPER" },
    { "length", "sql.length" },
    { "char_length", "sql.length" },
    { "character_length", "sql.length" },
    { "substring", "sql.substr" },
    { "substr", "sql.substr" },
    { "left", "sql.left" },
    { "right", "sql.right" },
    { "trim", "sql.trim" },
    { "btrim", "sql.trim" },
    { "ltrim", "sql.ltrim" },
    { "rtrim", "sql.rtrim" },
    { "replace", "sql.replace" },
    { "strpos", "sql.strpos" },
    { "instr", "sql.strpos" },
    { "position", "sql.strpos" },
    { "concat", "sql.concat" },
    { "abs", "ABS" },
    { "round", "sql.round" },
    { "floor", "FLOOR" },
    { "ceil", "CEIL" },
    { "ceiling", "CEIL" },
    { "sqrt", "SQRT" },
    { "exp", "EXP" },
    { "ln", "LOG" },
    { "power", "sql.power" },
    { "pow", "sql.power" },
    { "mod", "sql.mod" },
    { "extract", "sql.part" },
    { "date_part", "sql.part" },
    { "date_trunc", "sql.trunc" },
};

static Term *date_function(Sql *q, const char *name, json_t *args, Names *n, SrcPos at)
{
    Term *x = expr(q, json_array_get(args, 0), n);
    if (!x)
        return NULL;
    if (!strcmp(name, "date"))
        return to_date(q, x) ? on_day(q, x) : NULL;
    Term *two[] = { term_const(q->p, datum_text(&q->p->arena, name), at), x };
    return call(q, "sql.part", two, 2, at);
}

static Term *function(Sql *q, json_t *c, Names *n)
{
    const char *name = call_name(c);
    json_t *args = json_object_get(c, "args");
    SrcPos at = sql_at(q, c);
    size_t count = sql_count(args), k = 0;
    static const char *const parts[] = { "year", "month", "day", "date", NULL };
    if (!strcmp(name, "ifnull") || !strcmp(name, "nvl"))
        return coalesce(q, args, n, at);
    if (str_is_one_of(name, parts) && count == 1)
        return date_function(q, name, args, n, at);
    if (!strcmp(name, "now") && !count)
        return now(q, false, at);
    while (k < sizeof functions / sizeof *functions && strcmp(functions[k].sql, name))
        k++;
    if (k == sizeof functions / sizeof *functions) {
        sql_fail(q, at, "not supported: function %s", name);
        return NULL;
    }
    Term **terms = arena_array(&q->p->arena, Term *, count + 1);
    for (size_t i = 0; i < count; i++)
        if (!(terms[i] = expr(q, json_array_get(args, i), n)))
            return NULL;
    if (!strcmp(functions[k].ours, "sql.part") && count == 2 && !to_date(q, terms[1]))
        return NULL;
    return call(q, functions[k].ours, terms, count, at);
}

static Term *func_call(Sql *q, json_t *c, Names *n)
{
    if (json_object_get(c, "over")) {
        for (size_t i = 0; i < n->nwindows; i++)
            if (sql_same(n->windows[i], c))
                return term_field(q->p, 0, n->window_at + (int)i, sql_at(q, c));
        sql_fail(q, sql_at(q, c), "a window function cannot stand here");
        return NULL;
    }
    return sql_is_aggregate(c) ? aggregate(q, c, n) : function(q, c, n);
}

/* ---- window functions */

bool sql_sort_key(Sql *q, const json_t *sort_by, SortKey *out)
{
    const char *dir = json_str(sort_by, "sortby_dir"), *nulls = json_str(sort_by, "sortby_nulls");
    bool sqlite = q->o && q->o->dialect == SQL_SQLITE;
    out->descending = !strcmp(dir, "SORTBY_DESC");
    out->nulls_first = !strcmp(nulls, "SORTBY_NULLS_FIRST") ||
                       (strcmp(nulls, "SORTBY_NULLS_LAST") && out->descending != sqlite);
    if (!strcmp(dir, "SORTBY_USING"))
        return sql_fail(q, sql_at(q, sort_by), "not supported: ORDER BY … USING");
    return true;
}

static bool frame_offset(Sql *q, const json_t *w, const char *key, int64_t *out)
{
    const json_t *c = json_object_get(json_object_get(w, key), "A_Const");
    const json_t *v = json_object_get(c, "ival");
    if (!v)
        return sql_fail(q, sql_at(q, w), "the frame's bound is no number");
    *out = json_int(v, "ival", 0);
    return true;
}

static bool frame(Sql *q, const json_t *w, Window *out)
{
    enum {
        NONDEFAULT = 1,
        ROWS = 4,
        GROUPS = 8,
        START_UNBOUNDED = 0x20,
        END_UNBOUNDED = 0x100,
        START_BEFORE = 0x800,
        END_BEFORE = 0x1000,
        START_AFTER = 0x2000,
        END_AFTER = 0x4000,
        EXCLUDE = 0x38000
    };
    long long f = json_int(w, "frameOptions", 0);
    int64_t a = 0, b = 0;
    if (!(f & NONDEFAULT))
        return true;
    out->frame = true;
    out->rows = f & ROWS;
    if (f & (GROUPS | EXCLUDE) ||
        (!out->rows && f & (START_BEFORE | END_BEFORE | START_AFTER | END_AFTER)))
        return sql_fail(q, sql_at(q, w),
                        "not supported: this frame; expected ROWS, or RANGE of "
                        "UNBOUNDED and CURRENT ROW");
    if (f & (START_BEFORE | START_AFTER) && !frame_offset(q, w, "startOffset", &a))
        return false;
    if (f & (END_BEFORE | END_AFTER) && !frame_offset(q, w, "endOffset", &b))
        return false;
    out->from = f & START_UNBOUNDED ? INT64_MIN : f & START_BEFORE ? -a : a;
    out->to = f & END_UNBOUNDED ? INT64_MAX : f & END_BEFORE ? -b : b;
    return true;
}

static json_t *named_window(Sql *q, json_t *over, json_t *named)
{
    const char *name = json_str(over, "name");
    if (!*name)
        return over;
    for (size_t i = 0; i < sql_count(named); i++) {
        json_t *w = json_object_get(json_array_get(named, i), "WindowDef");
        if (!strcmp(json_str(w, "name"), name))
            return w;
    }
    sql_fail(q, sql_at(q, over), "there is no window %s", name);
    return NULL;
}

bool sql_window(Sql *q, json_t *c, json_t *named, Names *n, Window *out)
{
    static const char *const known[] = { "row_number",   "rank",        "dense_rank", "lag",
                                         "lead",         "first_value", "last_value", "ntile",
                                         "percent_rank", "cume_dist",   NULL };
    const char *name = call_name(c);
    json_t *args = json_object_get(c, "args");
    json_t *w = named_window(q, json_object_get(c, "over"), named);
    out->at = sql_at(q, c);
    if (!w)
        return false;
    if (!str_is_one_of(name, known) && !sql_is_aggregate(c))
        return sql_fail(q, out->at, "not supported: window function %s", name);
    if (json_object_get(c, "agg_filter") || json_object_get(c, "agg_distinct") ||
        json_object_get(w, "refname"))
        return sql_fail(q, out->at, "not supported: FILTER, DISTINCT or a base window in OVER");
    json_t *parts = json_object_get(w, "partitionClause");
    json_t *order = json_object_get(w, "orderClause");
    Arena *a = &q->p->arena;
    out->name = arena_strdup(a, aggregate_name(name));
    out->column = out->name;
    out->nargs = sql_count(args);
    out->npartition = sql_count(parts);
    out->norder = sql_count(order);
    out->args = arena_array(a, Term *, out->nargs + 1);
    out->partition = arena_array(a, Term *, out->npartition + 1);
    out->order = arena_array(a, SortKey, out->norder + 1);
    for (size_t i = 0; i < out->nargs; i++)
        if (!(out->args[i] = expr(q, json_array_get(args, i), n)))
            return false;
    for (size_t i = 0; i < out->npartition; i++)
        if (!(out->partition[i] = expr(q, json_array_get(parts, i), n)))
            return false;
    for (size_t i = 0; i < out->norder; i++) {
        json_t *s = json_object_get(json_array_get(order, i), "SortBy");
        if (!sql_sort_key(q, s, &out->order[i]) ||
            !(out->order[i].expr = expr(q, json_object_get(s, "node"), n)))
            return false;
    }
    return frame(q, w, out);
}

/* ---- all */

static Term *any_kind(Sql *q, json_t *node, Names *n)
{
    const char *kind = sql_kind(node);
    json_t *e = sql_body(node);
    if (!strcmp(kind, "ColumnRef"))
        return column(q, e, n);
    if (!strcmp(kind, "A_Const"))
        return constant(q, e);
    if (!strcmp(kind, "A_Expr"))
        return operator_expr(q, e, n);
    if (!strcmp(kind, "BoolExpr"))
        return bool_expr(q, e, n);
    if (!strcmp(kind, "NullTest"))
        return null_test(q, e, n);
    if (!strcmp(kind, "BooleanTest"))
        return bool_test(q, e, n);
    if (!strcmp(kind, "CaseExpr"))
        return case_expr(q, e, n);
    if (!strcmp(kind, "CoalesceExpr"))
        return coalesce(q, json_object_get(e, "args"), n, sql_at(q, e));
    if (!strcmp(kind, "MinMaxExpr"))
        return extreme(q, e, n);
    if (!strcmp(kind, "TypeCast"))
        return cast(q, e, n);
    if (!strcmp(kind, "SubLink"))
        return sub_link(q, e, n);
    if (!strcmp(kind, "FuncCall"))
        return func_call(q, e, n);
    if (!strcmp(kind, "GroupingFunc"))
        return grouping(q, e, n);
    if (!strcmp(kind, "SQLValueFunction") && strstr(json_str(e, "op"), "CURRENT_DATE"))
        return now(q, true, sql_at(q, e));
    if (!strcmp(kind, "SQLValueFunction") && strstr(json_str(e, "op"), "TIMESTAMP"))
        return now(q, false, sql_at(q, e));
    if (!strcmp(kind, "CollateClause"))
        return expr(q, json_object_get(e, "arg"), n);
    sql_fail(q, sql_at(q, node), "not supported: %s in an expression", *kind ? kind : "this");
    return NULL;
}

static Term *expr(Sql *q, json_t *node, Names *n)
{
    if (q->failed || ++q->depth > SQL_MOST_DEPTH) {
        sql_fail(q, sql_at(q, node), "the expression is nested too deeply");
        return NULL;
    }
    Term *t = NULL;
    for (size_t k = 0; n->grouped && k < n->nkeys && !t; k++)
        if (sql_same(n->keys[k], node))
            t = key_term(q, n, k, 0, sql_at(q, node));
    if (!t)
        t = any_kind(q, node, n);
    q->depth--;
    if (t && !term_finish(q->p, &t, &n->scope, q->err)) {
        q->failed = true;
        return NULL;
    }
    return q->failed ? NULL : t;
}

Term *sql_expr(Sql *q, json_t *node, Names *n) { return expr(q, node, n); }
