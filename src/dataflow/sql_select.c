/*
 * SELECT: WITH, set operations, VALUES, and the clauses of one SELECT in the
 * order in which they work: FROM, WHERE, GROUP BY, HAVING, window functions, the
 * columns, DISTINCT, ORDER BY, LIMIT.
 */
#include "dataflow/sql_int.h"
#include <assert.h>
#include <stdio.h>

/* ---- WHERE and HAVING */

static bool filter(Sql *q, Rel *r, json_t *conds, Names *n, const char *word)
{
    Op *f = sql_op(q, OP_FILTER, sql_at(q, conds), r, word);
    f->text = sql_source(q, word, conds);
    f->cond = sql_all_of(q, conds, n);
    r->op = f;
    return f->cond && sql_finish(q, f);
}

static bool no_table(Sql *q, SrcPos at, Rel *out)
{
    Op *op = sql_op(q, OP_VALUES, at, NULL, NULL);
    op->hidden = true;
    op->schema = schema_new(&q->p->arena, 0);
    op->rows = arena_array(&q->p->arena, Tuple *, 1);
    op->rows[op->nrows++] = tuple_new(&q->p->arena, 0);
    *out = (Rel){ .op = op };
    return true;
}

static bool from_where(Sql *q, SqlSelect *sel)
{
    json_t *from = json_object_get(sel->s, "fromClause");
    json_t *where = json_object_get(sel->s, "whereClause"), *rest = json_array();
    bool ok = true;
    if (sql_count(from)) {
        ok = sql_from(q, from, where, &sel->rel, rest);
    } else {
        ok = no_table(q, sql_at(q, sel->s), &sel->rel);
        sql_conjuncts(where, rest);
    }
    if (ok && sql_count(rest))
        ok = filter(q, &sel->rel, rest, sql_names(q, &sel->rel, q->outer), "WHERE");
    if (ok)
        sel->names = sql_names(q, &sel->rel, q->outer);
    json_decref(rest);
    return ok;
}

/* ---- the columns */

static json_t *star_ref(const SqlColumn *c, const json_t *like)
{
    json_t *fields = json_array();
    if (c->table)
        json_array_append_new(fields, json_pack("{s:{s:s}}", "String", "sval", c->table));
    json_array_append_new(fields, json_pack("{s:{s:s}}", "String", "sval", c->name));
    return json_pack("{s:{s:{s:{s:o, s:I}}, s:I}}", "ResTarget", "val", "ColumnRef", "fields",
                     fields, "location", (json_int_t)json_int(like, "location", -1), "location",
                     (json_int_t)json_int(like, "location", -1));
}

/* All columns, or those of one table, in the order of FROM. */
static bool spell_star(Sql *q, const SqlSelect *sel, const json_t *ref, json_t *out)
{
    const json_t *fields = json_object_get(ref, "fields");
    size_t n = sql_count(fields), found = 0;
    const char *table = n > 1 ? sql_text_of(json_array_get(fields, n - 2)) : NULL;
    int last = 0;
    for (size_t i = 0; i < sel->rel.n; i++)
        if (sel->rel.cols[i].item > last)
            last = sel->rel.cols[i].item;
    for (int item = 0; item <= last; item++)
        for (size_t i = 0; i < sel->rel.n; i++) {
            const SqlColumn *c = &sel->rel.cols[i];
            if (c->item != item || (!table && c->merged) ||
                (table && (!c->table || strcmp(c->table, table))))
                continue;
            if (!c->name)
                return sql_fail(q, sql_at(q, ref), "a column without a name; give it one with AS");
            json_array_append_new(out, star_ref(c, ref));
            found++;
        }
    return found || sql_fail(q, sql_at(q, ref), "there are no columns for %s%s*",
                             table ? table : "", table ? "." : "");
}

static bool spell_targets(Sql *q, SqlSelect *sel)
{
    json_t *list = json_object_get(sel->s, "targetList");
    for (size_t i = 0; i < sql_count(list); i++) {
        json_t *t = json_array_get(list, i), *body = json_object_get(t, "ResTarget");
        json_t *ref = json_object_get(json_object_get(body, "val"), "ColumnRef");
        json_t *fields = json_object_get(ref, "fields");
        json_t *tail = json_array_get(fields, sql_count(fields) - 1);
        if (ref && json_object_get(tail, "A_Star")) {
            if (!spell_star(q, sel, ref, sel->targets))
                return false;
        } else {
            json_array_append(sel->targets, t);
        }
    }
    return true;
}

json_t *sql_target_value(const SqlSelect *sel, size_t i)
{
    return json_object_get(json_object_get(json_array_get(sel->targets, i), "ResTarget"), "val");
}

static const char *target_name(Sql *q, const SqlSelect *sel, size_t i)
{
    const json_t *t = json_object_get(json_array_get(sel->targets, i), "ResTarget");
    const char *name = json_str(t, "name"), *table;
    const json_t *v = json_object_get(t, "val"), *names;
    if (!*name && json_object_get(v, "ColumnRef"))
        sql_column_ref(json_object_get(v, "ColumnRef"), &table, &name);
    if (!*name && (names = json_object_get(json_object_get(v, "FuncCall"), "funcname")))
        name = sql_text_of(json_array_get(names, sql_count(names) - 1));
    if (!*name && json_object_get(v, "CaseExpr"))
        name = "case";
    if (!*name && json_object_get(v, "CoalesceExpr"))
        name = "coalesce";
    return *name ? arena_strdup(&q->p->arena, name) : "?column?";
}

/* ---- GROUP BY, HAVING */

static bool group(Sql *q, SqlSelect *sel)
{
    json_t *having = json_object_get(sel->s, "havingClause");
    bool wanted = json_object_get(sel->s, "groupClause") || having ||
                  sql_has_aggregate(sel->targets) ||
                  sql_has_aggregate(json_object_get(sel->s, "sortClause"));
    if (!wanted || !having)
        return !wanted || sql_group(q, sel);
    json_t *conds = json_array();
    sql_conjuncts(having, conds);
    bool ok = sql_group(q, sel) && filter(q, &sel->rel, conds, sel->names, "HAVING");
    json_decref(conds);
    return ok;
}

/* ---- window functions */

static void find_windows(json_t *v, json_t *out)
{
    const char *key;
    json_t *x;
    size_t i;
    if (json_is_array(v))
        json_array_foreach(v, i, x) find_windows(x, out);
    if (!json_is_object(v) || json_object_get(v, "SubLink"))
        return;
    json_t *c = json_object_get(v, "FuncCall");
    if (c && json_object_get(c, "over")) {
        for (i = 0; i < sql_count(out); i++)
            if (sql_same(json_array_get(out, i), c))
                return;
        json_array_append(out, c);
        return;
    }
    json_object_foreach(v, key, x) find_windows(x, out);
}

static bool windows(Sql *q, SqlSelect *sel, json_t *found)
{
    find_windows(sel->targets, found);
    find_windows(json_object_get(sel->s, "sortClause"), found);
    size_t n = sql_count(found);
    if (!n)
        return true;
    Op *op = sql_op(q, OP_WINDOW, sql_at(q, found), &sel->rel, "window");
    op->text = sql_source(q, "window", found);
    op->nwindows = n;
    op->windows = arena_array(&q->p->arena, Window, n);
    json_t **nodes = arena_array(&q->p->arena, json_t *, n);
    for (size_t i = 0; i < n; i++) {
        nodes[i] = json_array_get(found, i);
        if (!sql_window(q, nodes[i], json_object_get(sel->s, "windowClause"), sel->names,
                        &op->windows[i]))
            return false;
    }
    size_t at = op->in[0]->schema->n;
    if (!sql_finish(q, op))
        return false;
    Names *names = arena_new(&q->p->arena, Names);
    *names = *sel->names;
    names->scope.row = op->schema;
    names->windows = nodes;
    names->nwindows = n;
    names->window_at = (int)at;
    sel->rel.op = op;
    sel->names = names;
    return true;
}

/* ---- the output */

static bool project(Sql *q, SqlSelect *sel, Rel *out)
{
    size_t n = sql_count(sel->targets);
    Op *op = sql_op(q, OP_FOREACH, sql_at(q, sel->targets), &sel->rel, "select");
    op->text = sql_source(q, "SELECT", sel->targets);
    op->items = arena_array(&q->p->arena, Item, n + 1);
    op->nitems = n;
    *out = (Rel){ op, sql_columns(q, n), n };
    for (size_t i = 0; i < n; i++) {
        Schema *as = schema_new(&q->p->arena, 1);
        Term *e = sql_expr(q, sql_target_value(sel, i), sel->names);
        if (!e)
            return false;
        as->fields[0].name = out->cols[i].name = target_name(q, sel, i);
        op->items[i] = (Item){ .expr = e, .as = as };
        if (e->kind == TERM_FIELD && !e->depth && !sel->names->grouped &&
            (size_t)e->index < sel->names->rel.n) {
            out->cols[i].load = sel->names->rel.cols[e->index].load;
            out->cols[i].at = sel->names->rel.cols[e->index].at;
        }
    }
    return sql_finish(q, op);
}

static bool distinct(Sql *q, json_t *s, Rel *r)
{
    json_t *d = json_object_get(s, "distinctClause");
    if (!d)
        return true;
    if (json_object_size(json_array_get(d, 0)))
        return sql_fail(q, sql_at(q, d), "not supported: DISTINCT ON");
    Op *op = sql_op(q, OP_DISTINCT, r->op->at, r, "distinct");
    op->text = "DISTINCT";
    r->op = op;
    return sql_finish(q, op);
}

/* ---- ORDER BY and LIMIT */

/* The output column that a sort key names; -1: none. `sel` may be NULL. */
static int sort_column(const SqlSelect *sel, const Rel *out, const json_t *node)
{
    const json_t *c = json_object_get(json_object_get(node, "A_Const"), "ival");
    const json_t *ref = json_object_get(node, "ColumnRef");
    const char *table, *name;
    if (c) {
        long long i = json_int(c, "ival", 0);
        return i >= 1 && (size_t)i <= out->n ? (int)i - 1 : -1;
    }
    if (ref && sql_column_ref(ref, &table, &name) && !table)
        for (size_t i = 0; i < out->n; i++)
            if (out->cols[i].name && !strcmp(out->cols[i].name, name))
                return (int)i;
    for (size_t i = 0; sel && i < sql_count(sel->targets); i++)
        if (sql_same(sql_target_value(sel, i), node))
            return (int)i;
    return -1;
}

/* Sorts `r`; keys are columns of `out`, or, if `n`, expressions seen from r. */
static bool order(Sql *q, SqlSelect *sel, json_t *list, Rel *r, const Rel *out, Names *n)
{
    Op *op = sql_op(q, OP_ORDER, sql_at(q, list), r, "order");
    op->text = sql_source(q, "ORDER BY", list);
    op->norder = sql_count(list);
    op->order = arena_array(&q->p->arena, SortKey, op->norder + 1);
    for (size_t i = 0; i < op->norder; i++) {
        json_t *s = json_object_get(json_array_get(list, i), "SortBy");
        json_t *node = json_object_get(s, "node");
        int column = sort_column(sel, out, node);
        if (!sql_sort_key(q, s, &op->order[i]))
            return false;
        if (n)
            op->order[i].expr =
                sql_expr(q, column >= 0 ? sql_target_value(sel, (size_t)column) : node, n);
        else if (column >= 0)
            op->order[i].expr = term_field(q->p, 0, column, sql_at(q, node));
        else
            return sql_fail(q, sql_at(q, node), "ORDER BY: expected a column of the output");
        if (!op->order[i].expr)
            return false;
    }
    r->op = op;
    return sql_finish(q, op);
}

static bool limit(Sql *q, json_t *s, Rel *r)
{
    json_t *count = json_object_get(s, "limitCount"), *offset = json_object_get(s, "limitOffset");
    Rel nothing = { .op = arena_new(&q->p->arena, Op) };
    if (json_is_true(json_object_get(json_object_get(count, "A_Const"), "isnull")))
        count = NULL;
    if (!count && !offset)
        return true;
    if (!strcmp(json_str(s, "limitOption"), "LIMIT_OPTION_WITH_TIES"))
        return sql_fail(q, sql_at(q, count), "not supported: FETCH … WITH TIES");
    nothing.op->schema = schema_new(&q->p->arena, 0);
    Names *n = sql_names(q, &nothing, NULL);
    Op *op = sql_op(q, OP_LIMIT, sql_at(q, count ? count : offset), r, "limit");
    op->text = sql_source(q, count ? "LIMIT" : "OFFSET", count ? count : offset);
    if (count && !(op->count = sql_expr(q, count, n)))
        return false;
    if (offset && !(op->offset = sql_expr(q, offset, n)))
        return false;
    r->op = op;
    return sql_finish(q, op);
}

/* ---- one SELECT */

static bool all_in_output(const SqlSelect *sel, const json_t *list, const Rel *out)
{
    for (size_t i = 0; i < sql_count(list); i++) {
        json_t *s = json_object_get(json_array_get(list, i), "SortBy");
        if (sort_column(sel, out, json_object_get(s, "node")) < 0)
            return false;
    }
    return true;
}

/* The names of the output, before it is made. */
static Rel coming(Sql *q, const SqlSelect *sel)
{
    size_t n = sql_count(sel->targets);
    Rel r = { NULL, sql_columns(q, n), n };
    for (size_t i = 0; i < n; i++)
        r.cols[i].name = target_name(q, sel, i);
    return r;
}

static bool one_select(Sql *q, SqlSelect *sel, json_t *found, Rel *out)
{
    json_t *sort = json_object_get(sel->s, "sortClause");
    if (json_object_get(sel->s, "lockingClause"))
        plan_note(q->p, sql_at(q, sel->s), "FOR UPDATE is passed over");
    if (!from_where(q, sel) || !spell_targets(q, sel) || !group(q, sel) || !windows(q, sel, found))
        return false;
    if (!sql_count(sel->targets))
        return sql_fail(q, sql_at(q, sel->s), "SELECT has no columns");
    Rel names = coming(q, sel);
    bool late = all_in_output(sel, sort, &names) || json_object_get(sel->s, "distinctClause");
    if (sort && !late && !order(q, sel, sort, &sel->rel, &names, sel->names))
        return false;
    if (!project(q, sel, out) || !distinct(q, sel->s, out))
        return false;
    if (sort && late && !order(q, sel, sort, out, out, NULL))
        return false;
    return limit(q, sel->s, out);
}

static bool simple(Sql *q, json_t *s, Rel *out)
{
    SqlSelect sel = { .s = s, .targets = json_array() };
    json_t *found = json_array();
    bool ok = one_select(q, &sel, found, out);
    json_decref(found);
    json_decref(sel.targets);
    return ok;
}

/* ---- VALUES */

static bool value_row(Sql *q, json_t *list, Op *op, Schema *s, Evaluator *ev)
{
    json_t *items = json_object_get(json_object_get(list, "List"), "items");
    Tuple *t = tuple_new(&q->p->arena, s->n);
    Rel nothing = { .op = arena_new(&q->p->arena, Op) };
    nothing.op->schema = schema_new(&q->p->arena, 0);
    Names *n = sql_names(q, &nothing, NULL);
    if (sql_count(items) != s->n)
        return sql_fail(q, sql_at(q, list), "VALUES: the rows have different lengths");
    for (size_t i = 0; i < s->n; i++) {
        Term *e = sql_expr(q, json_array_get(items, i), n);
        if (!e)
            return false;
        Datum d = evaluator_value(ev, e, tuple_new(&q->p->arena, 0), NULL);
        t->fields[i] = datum_copy(&q->p->arena, &d);
        if (s->fields[i].type.kind == DATUM_NULL || e->type.kind == DATUM_DOUBLE)
            s->fields[i].type = e->type;
    }
    op->rows[op->nrows++] = t;
    return true;
}

static bool values(Sql *q, json_t *lists, Rel *out)
{
    Op *op = sql_op(q, OP_VALUES, sql_at(q, lists), NULL, "values");
    json_t *first = json_object_get(json_object_get(json_array_get(lists, 0), "List"), "items");
    size_t n = sql_count(first);
    Schema *s = schema_new(&q->p->arena, n);
    Evaluator *ev = evaluator_new(q->p, NULL);
    bool ok = true;
    *out = (Rel){ op, sql_columns(q, n), n };
    for (size_t i = 0; i < n; i++)
        s->fields[i].name = out->cols[i].name = arena_printf(&q->p->arena, "column%zu", i + 1);
    op->text = sql_source(q, "VALUES", lists);
    op->schema = s;
    op->rows = arena_array(&q->p->arena, Tuple *, sql_count(lists));
    for (size_t i = 0; i < sql_count(lists) && ok; i++)
        ok = value_row(q, json_array_get(lists, i), op, s, ev);
    evaluator_free(ev);
    return ok && sql_finish(q, op);
}

/* ---- set operations */

static bool set_operation(Sql *q, json_t *s, Rel *out)
{
    const char *kind = json_str(s, "op");
    bool all = json_is_true(json_object_get(s, "all"));
    Rel l, r;
    if (!sql_select(q, json_object_get(s, "larg"), &l) ||
        !sql_select(q, json_object_get(s, "rarg"), &r))
        return false;
    SrcPos at = sql_at(q, json_object_get(s, "rarg"));
    if (l.n != r.n)
        return sql_fail(q, at, "the two sides have %zu and %zu columns", l.n, r.n);
    bool join = !strcmp(kind, "SETOP_UNION");
    Op *op = sql_op(q,
                    join                               ? OP_UNION
                    : !strcmp(kind, "SETOP_INTERSECT") ? OP_INTERSECT
                                                       : OP_EXCEPT,
                    at, &l, "set");
    op_input(q->p, op, r.op);
    op->text = arena_printf(&q->p->arena, "%s%s", kind + strlen("SETOP_"), all ? " ALL" : "");
    op->all = all;
    *out = (Rel){ op, sql_columns(q, l.n), l.n };
    for (size_t i = 0; i < l.n; i++)
        out->cols[i].name = l.cols[i].name;
    if (!sql_finish(q, op))
        return false;
    if (!join || all)
        return true;
    op = sql_op(q, OP_DISTINCT, at, out, "distinct");
    op->text = "UNION: without duplicates";
    out->op = op;
    return sql_finish(q, op);
}

/* ---- WITH */

static bool with(Sql *q, json_t *clause)
{
    json_t *list = json_object_get(clause, "ctes");
    if (json_is_true(json_object_get(clause, "recursive")))
        return sql_fail(q, sql_at(q, clause), "not supported: a recursive WITH");
    for (size_t i = 0; i < sql_count(list); i++) {
        json_t *c = json_object_get(json_array_get(list, i), "CommonTableExpr");
        json_t *query = json_object_get(c, "ctequery"),
               *names = json_object_get(c, "aliascolnames");
        SqlCte *cte = arena_new(&q->p->arena, SqlCte);
        if (strcmp(sql_kind(query), "SelectStmt"))
            return sql_fail(q, sql_at(q, c), "not supported: %s in WITH", sql_kind(query));
        if (!sql_select(q, sql_body(query), &cte->rel))
            return false;
        for (size_t k = 0; k < sql_count(names) && k < cte->rel.n; k++)
            cte->rel.cols[k].name =
                arena_strdup(&q->p->arena, sql_text_of(json_array_get(names, k)));
        cte->name = arena_strdup(&q->p->arena, json_str(c, "ctename"));
        cte->rel.op->alias = cte->name;
        cte->next = q->ctes;
        q->ctes = cte;
    }
    return true;
}

bool sql_select(Sql *q, json_t *s, Rel *out)
{
    SqlCte *before = q->ctes;
    json_t *clause = json_object_get(s, "withClause"), *lists = json_object_get(s, "valuesLists");
    json_t *sort = json_object_get(s, "sortClause");
    if (++q->depth > SQL_MOST_DEPTH)
        return sql_fail(q, sql_at(q, s), "the query is nested too deeply");
    bool ok = !clause || with(q, clause);
    bool set = strcmp(json_str(s, "op"), "SETOP_NONE") && *json_str(s, "op");
    if (ok && json_object_get(s, "intoClause"))
        ok = sql_fail(q, sql_at(q, s), "not supported: SELECT INTO");
    if (ok && !set && !lists)
        ok = simple(q, s, out);
    else if (ok)
        ok = (set ? set_operation(q, s, out) : values(q, lists, out)) &&
             (!sort || order(q, NULL, sort, out, out, NULL)) && limit(q, s, out);
    q->ctes = before;
    q->depth--;
    return ok;
}
