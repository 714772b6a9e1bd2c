/*
 * FROM: tables, subqueries, joins.
 *
 * A join by equal columns has keys; what else ON asks is a FILTER above an inner
 * join, and the condition of an outer one. Tables in a list with commas are
 * joined by the equalities in WHERE, so that the plan says JOIN where the author
 * thought of one.
 */
#include "dataflow/sql_int.h"
#include <assert.h>
#include <stdio.h>

void sql_conjuncts(json_t *cond, json_t *out)
{
    json_t *b = json_object_get(cond, "BoolExpr");
    if (b && !strcmp(json_str(b, "boolop"), "AND_EXPR")) {
        json_t *args = json_object_get(b, "args");
        for (size_t i = 0; i < sql_count(args); i++)
            sql_conjuncts(json_array_get(args, i), out);
    } else if (cond) {
        json_array_append(out, cond);
    }
}

/* ---- which columns an expression uses */

/* All columns are of `r`, there is one, and there is no subquery. */
static bool uses_only(const json_t *v, const Rel *r, bool *any)
{
    const char *key, *table, *name;
    json_t *x;
    size_t i;
    if (json_is_array(v)) {
        json_array_foreach((json_t *)v, i, x) if (!uses_only(x, r, any)) return false;
        return true;
    }
    if (!json_is_object(v))
        return true;
    if (json_object_get(v, "SubLink"))
        return false;
    const json_t *ref = json_object_get(v, "ColumnRef");
    if (ref) {
        *any = true;
        return sql_column_ref(ref, &table, &name) && sql_find_column(r, table, name) >= 0;
    }
    json_object_foreach((json_t *)v, key, x) if (!uses_only(x, r, any)) return false;
    return true;
}

static bool only_of(const json_t *v, const Rel *r)
{
    bool any = false;
    return uses_only(v, r, &any) && any;
}

/* l-expression = r-expression, either way round. */
static bool is_key(const json_t *cond, const Rel *l, const Rel *r, json_t **x, json_t **y)
{
    json_t *e = json_object_get(cond, "A_Expr");
    if (!e || strcmp(json_str(e, "kind"), "AEXPR_OP") ||
        strcmp(sql_text_of(json_array_get(json_object_get(e, "name"), 0)), "="))
        return false;
    json_t *a = json_object_get(e, "lexpr"), *b = json_object_get(e, "rexpr");
    bool straight = only_of(a, l) && only_of(b, r), crossed = only_of(b, l) && only_of(a, r);
    *x = straight ? a : b;
    *y = straight ? b : a;
    return straight != crossed;
}

/* ---- joining */

static Rel both(Sql *q, Op *op, const Rel *l, const Rel *r)
{
    Rel out = { op, sql_columns(q, l->n + r->n), l->n + r->n };
    memcpy(out.cols, l->cols, l->n * sizeof *l->cols);
    memcpy(out.cols + l->n, r->cols, r->n * sizeof *r->cols);
    return out;
}

/* Columns as the query names them. */
static void name_columns(Sql *q, Rel *r)
{
    Schema *s = schema_new(&q->p->arena, r->n);
    assert(r->op->schema && r->op->schema->n == r->n);
    for (size_t i = 0; i < r->n; i++) {
        s->fields[i] = r->op->schema->fields[i];
        s->fields[i].name =
            r->cols[i].table && r->cols[i].name
                ? arena_printf(&q->p->arena, "%s.%s", r->cols[i].table, r->cols[i].name)
                : r->cols[i].name;
    }
    r->op->schema = s;
}

typedef struct Joining {
    JoinKind kind;
    Rel l, r;
    json_t *keys;              /* pairs of expressions */
    json_t *rest;              /* other conditions */
    SrcPos at;
    const char *text;
} Joining;

static bool join_keys(Sql *q, Joining *j, Op *op)
{
    Names *nl = sql_names(q, &j->l, q->outer), *nr = sql_names(q, &j->r, q->outer);
    size_t n = sql_count(j->keys) / 2;
    op->keys = arena_array(&q->p->arena, Keys, 2);
    for (size_t side = 0; side < 2; side++) {
        op->keys[side].n = n;
        op->keys[side].exprs = arena_array(&q->p->arena, Term *, n + 1);
        for (size_t i = 0; i < n; i++) {
            op->keys[side].exprs[i] =
                sql_expr(q, json_array_get(j->keys, 2 * i + side), side ? nr : nl);
            if (!op->keys[side].exprs[i])
                return false;
        }
    }
    return true;
}

/* The row that ON sees has both sides. */
static bool join_cond(Sql *q, Joining *j, Op *op, json_t *conds)
{
    Rel row = both(q, NULL, &j->l, &j->r);
    Op seen = { .schema = NULL };
    Schema *s = schema_new(&q->p->arena, row.n);
    memcpy(s->fields, j->l.op->schema->fields, j->l.n * sizeof *s->fields);
    memcpy(s->fields + j->l.n, j->r.op->schema->fields, j->r.n * sizeof *s->fields);
    seen.schema = s;
    row.op = &seen;
    Names *n = sql_names(q, &row, q->outer);
    op->cond = sql_all_of(q, conds, n);
    return op->cond != NULL;
}

static bool add_filter(Sql *q, Rel *r, json_t *conds, const char *word)
{
    Op *f = sql_op(q, OP_FILTER, sql_at(q, conds), r, word);
    f->text = sql_source(q, word, conds);
    f->cond = sql_all_of(q, conds, sql_names(q, r, q->outer));
    r->op = f;
    return f->cond && sql_finish(q, f);
}

static bool join(Sql *q, Joining *j, json_t *on, Rel *out)
{
    bool keyed = sql_count(j->keys) > 0, rest = sql_count(j->rest) > 0;
    bool outer = j->kind != JOIN_INNER, cross = !outer && !keyed && !rest;
    Rel l = j->l;
    Op *op = sql_op(q, cross ? OP_CROSS : OP_JOIN, j->at, &l, "join");
    op_input(q->p, op, j->r.op);
    op->join = j->kind;
    op->text = j->text;
    if (keyed && (!outer || !rest)) {
        if (!join_keys(q, j, op))
            return false;
    } else if (!cross && !join_cond(q, j, op, on)) {
        return false;
    }
    *out = both(q, op, &j->l, &j->r);
    if (!sql_finish(q, op))
        return false;
    name_columns(q, out);
    if (keyed && !outer && rest)
        return add_filter(q, out, j->rest, "ON");
    return true;
}

static void split_on(Joining *j, json_t *on)
{
    json_t *x, *y;
    for (size_t i = 0; i < sql_count(on); i++) {
        json_t *c = json_array_get(on, i);
        if (is_key(c, &j->l, &j->r, &x, &y)) {
            json_array_append(j->keys, x);
            json_array_append(j->keys, y);
        } else {
            json_array_append(j->rest, c);
        }
    }
}

/* ---- USING and NATURAL */

static json_t *make_ref(const char *table, const char *name, const json_t *like)
{
    long long least = json_int(like, "location", -1);
    json_t *fields = json_array();
    if (table)
        json_array_append_new(fields, json_pack("{s:{s:s}}", "String", "sval", table));
    json_array_append_new(fields, json_pack("{s:{s:s}}", "String", "sval", name));
    return json_pack("{s:{s:o, s:I}}", "ColumnRef", "fields", fields, "location",
                     (json_int_t)least);
}

static bool using_column(Sql *q, Joining *j, const char *name, json_t *on)
{
    int a = sql_find_column(&j->l, NULL, name), b = sql_find_column(&j->r, NULL, name);
    if (a < 0 || b < 0)
        return sql_fail(q, j->at, "USING: column %s is not once on each side", name);
    if (j->kind == JOIN_FULL)
        return sql_fail(q, j->at, "not supported: USING in a FULL JOIN; write ON");
    json_t *x = make_ref(j->l.cols[a].table, name, NULL);
    json_t *y = make_ref(j->r.cols[b].table, name, NULL);
    json_array_append_new(on, json_pack("{s:{s:s, s:[{s:{s:s}}], s:O, s:O}}", "A_Expr", "kind",
                                        "AEXPR_OP", "name", "String", "sval", "=", "lexpr", x,
                                        "rexpr", y));
    json_array_append_new(j->keys, x);
    json_array_append_new(j->keys, y);
    return true;
}

static void merge_column(Joining *j, Rel *out, const char *name)
{
    bool right = j->kind == JOIN_RIGHT;
    for (size_t i = 0; i < out->n; i++)
        if (out->cols[i].name && !strcmp(out->cols[i].name, name) && (i >= j->l.n) != right)
            out->cols[i].merged = true;
}

/* ---- items of FROM */

static bool from_item(Sql *q, json_t *item, int number, Rel *out);

static void set_alias(Sql *q, Rel *r, const json_t *alias, const char *name, int number)
{
    const json_t *columns = json_object_get(alias, "colnames");
    const char *table = alias ? json_str(alias, "aliasname") : name;
    SqlColumn *c = sql_columns(q, r->n);
    memcpy(c, r->cols, r->n * sizeof *c);
    for (size_t i = 0; i < r->n; i++) {
        c[i].table = table ? arena_strdup(&q->p->arena, table) : NULL;
        c[i].item = number;
        c[i].merged = false;
        if (i < sql_count(columns))
            c[i].name = arena_strdup(&q->p->arena, sql_text_of(json_array_get(columns, i)));
    }
    r->cols = c;
}

static bool table_item(Sql *q, const json_t *v, int number, Rel *out)
{
    const char *name = json_str(v, "relname");
    const json_t *alias = json_object_get(v, "alias");
    for (SqlCte *c = json_object_get(v, "schemaname") ? NULL : q->ctes; c; c = c->next)
        if (!strcmp(c->name, name)) {
            *out = c->rel;
            set_alias(q, out, alias, name, number);
            return true;
        }
    SqlTable *t = sql_find_table(q, name);
    if (!t)
        return sql_fail(q, sql_at(q, v),
                        q->tables.len ? "there is no table %s in the schema"
                                      : "there is no table %s; give its CREATE TABLE with --schema",
                        name);
    bool fresh = !t->load;
    *out = (Rel){ sql_load(q, t), sql_columns(q, t->schema->n), t->schema->n };
    if (fresh || out->op->hidden) {
        out->op->at = sql_at(q, v);
        out->op->nout = 0;
        out->op->hidden = false;
    }
    for (size_t i = 0; i < out->n; i++) {
        out->cols[i].name = t->schema->fields[i].name;
        out->cols[i].load = out->op;
        out->cols[i].at = (int)i;
    }
    set_alias(q, out, alias, name, number);
    return true;
}

static bool join_item(Sql *q, json_t *v, int number, Rel *out)
{
    const char *kind = json_str(v, "jointype");
    json_t *on = json_array(), *names = json_object_get(v, "usingClause");
    Joining j = { .kind = !strcmp(kind, "JOIN_LEFT")    ? JOIN_LEFT
                          : !strcmp(kind, "JOIN_RIGHT") ? JOIN_RIGHT
                          : !strcmp(kind, "JOIN_FULL")  ? JOIN_FULL
                                                        : JOIN_INNER,
                  .keys = json_array(),
                  .rest = json_array() };
    static const char *const words[] = { "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN" };
    Strings merged = { 0 };
    bool ok = from_item(q, json_object_get(v, "larg"), number, &j.l) &&
              from_item(q, json_object_get(v, "rarg"), number, &j.r);
    json_t *shown = json_array();
    json_array_append(shown, json_object_get(v, "rarg"));
    json_array_append(shown,
                      json_object_get(v, "quals") ? json_object_get(v, "quals") : json_null());
    j.at = sql_at(q, json_object_get(v, "rarg"));
    j.text = sql_source(q, words[j.kind], shown);
    for (size_t i = 0; ok && i < sql_count(names); i++)
        strings_add(&merged, sql_text_of(json_array_get(names, i)));
    for (size_t i = 0; ok && json_is_true(json_object_get(v, "isNatural")) && i < j.l.n; i++)
        if (j.l.cols[i].name && sql_find_column(&j.r, NULL, j.l.cols[i].name) >= 0)
            strings_add(&merged, j.l.cols[i].name);
    for (size_t i = 0; ok && i < merged.len; i++)
        ok = using_column(q, &j, merged.items[i], on);
    if (ok && !merged.len) {
        sql_conjuncts(json_object_get(v, "quals"), on);
        split_on(&j, on);
    }
    ok = ok && join(q, &j, on, out);
    for (size_t i = 0; ok && i < merged.len; i++)
        merge_column(&j, out, merged.items[i]);
    if (ok && json_object_get(v, "alias"))
        set_alias(q, out, json_object_get(v, "alias"), NULL, number);
    strings_release(&merged);
    json_decref(shown);
    json_decref(on);
    json_decref(j.keys);
    json_decref(j.rest);
    return ok;
}

static bool from_item(Sql *q, json_t *item, int number, Rel *out)
{
    const char *kind = sql_kind(item);
    json_t *v = sql_body(item);
    if (++q->depth > SQL_MOST_DEPTH)
        return sql_fail(q, sql_at(q, item), "the query is nested too deeply");
    bool ok;
    if (!strcmp(kind, "RangeVar")) {
        ok = table_item(q, v, number, out);
    } else if (!strcmp(kind, "JoinExpr")) {
        ok = join_item(q, v, number, out);
    } else if (!strcmp(kind, "RangeSubselect")) {
        if (json_is_true(json_object_get(v, "lateral")))
            return sql_fail(q, sql_at(q, item), "not supported: LATERAL");
        ok = sql_select(q, sql_body(json_object_get(v, "subquery")), out);
        if (ok)
            set_alias(q, out, json_object_get(v, "alias"), NULL, number);
    } else {
        ok = sql_fail(q, sql_at(q, item),
                      "not supported: %s in FROM; expected a table, a join or "
                      "a subquery",
                      !strcmp(kind, "RangeFunction") ? "a function" : kind);
    }
    q->depth--;
    return ok;
}

/* ---- the list */

/* The conditions of WHERE that join these two; they leave `where`. */
static void take_keys(Joining *j, json_t *where)
{
    json_t *x, *y;
    for (size_t i = 0; i < sql_count(where);) {
        if (is_key(json_array_get(where, i), &j->l, &j->r, &x, &y)) {
            json_array_append(j->keys, x);
            json_array_append(j->keys, y);
            json_array_remove(where, i);
        } else {
            i++;
        }
    }
}

static bool linked(const Rel *l, const Rel *r, const json_t *where)
{
    json_t *x, *y;
    for (size_t i = 0; i < sql_count(where); i++)
        if (is_key(json_array_get(where, i), l, r, &x, &y))
            return true;
    return false;
}

static bool join_next(Sql *q, Rel *all, const Rel *next, json_t *item, json_t *where)
{
    Joining j = {
        .l = *all, .r = *next, .keys = json_array(), .rest = json_array(), .at = sql_at(q, item)
    };
    take_keys(&j, where);
    j.text = sql_source(q, sql_count(j.keys) ? "JOIN" : "CROSS JOIN", item);
    bool ok = join(q, &j, NULL, all);
    json_decref(j.keys);
    json_decref(j.rest);
    return ok;
}

bool sql_from(Sql *q, json_t *from, json_t *where, Rel *out, json_t *rest)
{
    size_t n = sql_count(from);
    Rel *items = arena_array(&q->p->arena, Rel, n + 1);
    bool *done = arena_array(&q->p->arena, bool, n + 1);
    sql_conjuncts(where, rest);
    for (size_t i = 0; i < n; i++)
        if (!from_item(q, json_array_get(from, i), (int)i, &items[i]))
            return false;
    *out = items[0];
    for (size_t k = 1; k < n; k++) {
        size_t next = 0;
        for (size_t i = 1; i < n && !next; i++)
            if (!done[i] && linked(out, &items[i], rest))
                next = i;
        for (size_t i = 1; i < n && !next; i++)
            if (!done[i])
                next = i;
        done[next] = true;
        if (!join_next(q, out, &items[next], json_array_get(from, next), rest))
            return false;
    }
    return true;
}
