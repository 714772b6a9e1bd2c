/*
 * GROUP BY. Keys are one GROUP. Grouping sets (also ROLLUP and CUBE) are several:
 * each set has a GROUP of its own, whose keys and aggregates become plain columns,
 * and all rows come together again.
 *
 *     GROUP BY ROLLUP (a, b)          GROUP BY (a, b)   a, b, sum(c)
 *                               rows  GROUP BY (a)      a, null, sum(c)   UNION
 *                                     all rows          null, null, sum(c)
 *
 * A set is a number: bit k is set if it has key k.
 */
#include "dataflow/sql_int.h"
#include <assert.h>

enum { MOST_KEYS = 63, MOST_SETS = 64 };

typedef Vec(uint64_t) Sets;

typedef struct Grouping {
    Sql *q;
    SqlSelect *sel;
    Names *rows;               /* of FROM and WHERE */
    Vec(json_t *) keys;
    Vec(Term *) key_terms;     /* … seen from a row */
    Vec(json_t *) columns;     /* aggregates and GROUPING()s */
} Grouping;

/* ---- keys */

/* A key may be the number or the name of an output column. */
static json_t *group_key(Grouping *g, json_t *key)
{
    const SqlSelect *sel = g->sel;
    const json_t *c = json_object_get(key, "A_Const"), *v = json_object_get(c, "ival");
    const json_t *ref = json_object_get(key, "ColumnRef");
    const char *table, *name;
    if (v) {
        long long i = json_int(v, "ival", 0);
        if (i >= 1 && (size_t)i <= sql_count(sel->targets))
            return sql_target_value(sel, (size_t)i - 1);
        sql_fail(g->q, sql_at(g->q, key), "there is no column %lld in the output", i);
        return NULL;
    }
    if (ref && sql_column_ref(ref, &table, &name) && !table &&
        sql_find_column(&sel->rel, NULL, name) == -1)
        for (size_t i = 0; i < sql_count(sel->targets); i++)
            if (!strcmp(json_str(json_object_get(json_array_get(sel->targets, i), "ResTarget"),
                                 "name"),
                        name))
                return sql_target_value(sel, i);
    return key;
}

/* Its number, or -1: failed. Keys that are alike are one. */
static int add_key(Grouping *g, json_t *node)
{
    json_t *key = group_key(g, node);
    Term *t = key ? sql_expr(g->q, key, g->rows) : NULL;
    if (!t)
        return -1;
    for (size_t k = 0; k < g->keys.len; k++) {
        const Term *o = g->key_terms.items[k];
        if (sql_same(g->keys.items[k], key) || (t->kind == TERM_FIELD && o->kind == TERM_FIELD &&
                                                t->depth == o->depth && t->index == o->index))
            return (int)k;
    }
    if (g->keys.len == MOST_KEYS) {
        sql_fail(g->q, sql_at(g->q, node), "GROUP BY has more than %d keys", MOST_KEYS);
        return -1;
    }
    vec_push(&g->keys, key);
    vec_push(&g->key_terms, t);
    return (int)g->keys.len - 1;
}

/* ---- grouping sets */

static bool add_set(Grouping *g, const json_t *at, Sets *out, uint64_t set)
{
    if (out->len == MOST_SETS)
        return sql_fail(g->q, sql_at(g->q, at), "GROUP BY has more than %d grouping sets",
                        MOST_SETS);
    vec_push(out, set);
    return true;
}

/* One key, or several in parentheses. */
static bool key_set(Grouping *g, json_t *node, uint64_t *set)
{
    json_t *row = json_object_get(node, "RowExpr");
    json_t *list = json_object_get(row, "args");
    size_t n = row ? sql_count(list) : 1;
    *set = 0;
    for (size_t i = 0; i < n; i++) {
        int k = add_key(g, row ? json_array_get(list, i) : node);
        if (k < 0)
            return false;
        *set |= UINT64_C(1) << k;
    }
    return true;
}

static bool rollup_or_cube(Grouping *g, json_t *node, bool cube, Sets *out)
{
    json_t *list = json_object_get(json_object_get(node, "GroupingSet"), "content");
    size_t n = sql_count(list);
    uint64_t parts[MOST_KEYS];
    if (n > (cube ? 6 : MOST_SETS - 1))
        return sql_fail(g->q, sql_at(g->q, node), "GROUP BY has more than %d grouping sets",
                        MOST_SETS);
    for (size_t i = 0; i < n; i++)
        if (!key_set(g, json_array_get(list, i), &parts[i]))
            return false;
    for (size_t c = cube ? (size_t)1 << n : n + 1; c-- > 0;) {
        uint64_t set = 0;
        for (size_t i = 0; i < n; i++)
            if (cube ? c >> i & 1 : i < c)
                set |= parts[i];
        if (!add_set(g, node, out, set))
            return false;
    }
    return true;
}

static bool sets_of(Grouping *g, json_t *node, Sets *out)
{
    const json_t *body = json_object_get(node, "GroupingSet");
    json_t *list = json_object_get(body, "content");
    const char *kind = json_str(body, "kind");
    uint64_t set = 0;
    if (!strcmp(kind, "GROUPING_SET_ROLLUP") || !strcmp(kind, "GROUPING_SET_CUBE"))
        return rollup_or_cube(g, node, !strcmp(kind, "GROUPING_SET_CUBE"), out);
    if (strcmp(kind, "GROUPING_SET_SETS"))
        return (body || key_set(g, node, &set)) && add_set(g, node, out, set);
    for (size_t i = 0; i < sql_count(list); i++)
        if (!sets_of(g, json_array_get(list, i), out))
            return false;
    return true;
}

/* What stands in GROUP BY, multiplied. */
static bool all_sets(Grouping *g, json_t *list, Sets *out)
{
    bool ok = add_set(g, list, out, 0);
    for (size_t i = 0; i < sql_count(list) && ok; i++) {
        Sets one = { 0 }, both = { 0 };
        ok = sets_of(g, json_array_get(list, i), &one);
        for (size_t x = 0; x < out->len && ok; x++)
            for (size_t y = 0; y < one.len && ok; y++)
                ok = add_set(g, list, &both, out->items[x] | one.items[y]);
        vec_release(&one);
        vec_release(out);
        *out = both;
    }
    return ok;
}

/* ---- one GROUP */

static Names *grouped_names(Grouping *g, const Op *op, uint64_t set)
{
    Arena *a = &g->q->p->arena;
    Names *n = arena_new(a, Names);
    n->keys = arena_array(a, json_t *, g->keys.len + 1);
    n->key_terms = arena_array(a, Term *, g->keys.len + 1);
    for (size_t k = 0; k < g->keys.len; k++)
        if (set >> k & 1) {
            n->keys[n->nkeys] = g->keys.items[k];
            n->key_terms[n->nkeys++] = g->key_terms.items[k];
        }
    n->rel = g->sel->rel;
    n->grouped = true;
    n->up = g->q->outer;
    n->scope = (Scope){ op ? op->schema : NULL, g->q->outer ? &g->q->outer->scope : NULL };
    return n;
}

static Names *one_group(Grouping *g, SrcPos at, const char *text, uint64_t set, Op **out)
{
    Op *op = sql_op(g->q, OP_GROUP, at, &g->sel->rel, "group");
    Names *n = grouped_names(g, NULL, set);
    op->text = text;
    op->all = op->even_empty = !n->nkeys;
    op->keys = arena_array(&g->q->p->arena, Keys, 1);
    op->keys[0] = (Keys){ .exprs = n->key_terms, .n = n->nkeys };
    if (!sql_finish(g->q, op))
        return NULL;
    n->scope.row = op->schema;
    *out = op;
    return n;
}

/* ---- the GROUPs of several sets */

static void find_columns(Grouping *g, json_t *v)
{
    const char *key;
    json_t *x;
    size_t i;
    if (json_is_array(v))
        json_array_foreach(v, i, x) find_columns(g, x);
    if (!json_is_object(v))
        return;
    json_t *sub = json_object_get(v, "SubLink"), *call = json_object_get(v, "FuncCall");
    if (sub) {
        find_columns(g, json_object_get(sub, "testexpr"));
        return;
    }
    if (json_object_get(v, "GroupingFunc") ||
        (call && !json_object_get(call, "over") && sql_is_aggregate(call))) {
        for (i = 0; i < g->columns.len; i++)
            if (sql_same(g->columns.items[i], v))
                return;
        vec_push(&g->columns, v);
        return;
    }
    json_object_foreach(v, key, x) find_columns(g, x);
}

/* GROUPING(a, b): a bit for each argument, set if it is no key of this set. */
static Term *grouping(Grouping *g, json_t *node, uint64_t set)
{
    json_t *args = json_object_get(json_object_get(node, "GroupingFunc"), "args");
    size_t known = g->keys.len;
    int64_t bits = 0;
    for (size_t i = 0; i < sql_count(args); i++) {
        int k = add_key(g, json_array_get(args, i));
        if (k < 0)
            return NULL;
        if ((size_t)k >= known) {
            sql_fail(g->q, sql_at(g->q, node), "GROUPING: expected a key of GROUP BY");
            return NULL;
        }
        bits = bits << 1 | !(set >> k & 1);
    }
    return term_const(g->q->p, datum_int((int32_t)bits), sql_at(g->q, node));
}

static const char *column_name(Grouping *g, const json_t *node)
{
    const json_t *names = json_object_get(json_object_get(node, "FuncCall"), "funcname");
    const char *table, *name = json_object_get(node, "GroupingFunc") ? "grouping" : "key";
    if (json_object_get(node, "ColumnRef"))
        sql_column_ref(json_object_get(node, "ColumnRef"), &table, &name);
    if (names)
        name = sql_text_of(json_array_get(names, sql_count(names) - 1));
    return arena_strdup(&g->q->p->arena, name);
}

/* The keys and aggregates of one set as plain columns. */
static Op *flat_rows(Grouping *g, Op *group, Names *n, uint64_t set)
{
    Sql *q = g->q;
    size_t nkeys = g->keys.len, all = nkeys + g->columns.len;
    Op *op = sql_op(q, OP_FOREACH, group->at, &(Rel){ .op = group }, "group");
    op->hidden = true;
    op->text = "keys and aggregates of this grouping set";
    op->items = arena_array(&q->p->arena, Item, all + 1);
    op->nitems = all;
    for (size_t i = 0; i < all; i++) {
        json_t *node = i < nkeys ? g->keys.items[i] : g->columns.items[i - nkeys];
        Schema *as = schema_new(&q->p->arena, 1);
        Term *e;
        if (i < nkeys && !(set >> i & 1))
            e = term_cast(q->p, term_const(q->p, datum_null(), group->at),
                          g->key_terms.items[i]->type, true);
        else if (json_object_get(node, "GroupingFunc"))
            e = grouping(g, node, set);
        else
            e = sql_expr(q, node, n);
        if (!e)
            return NULL;
        as->fields[0].name = column_name(g, node);
        op->items[i] = (Item){ .expr = e, .as = as };
    }
    return sql_finish(q, op) ? op : NULL;
}

static const char *set_text(Grouping *g, uint64_t set)
{
    Str s = { 0 };
    for (size_t k = 0; k < g->keys.len; k++)
        if (set >> k & 1)
            str_addf(&s, "%s%s", s.len ? "," : "", sql_source(g->q, "", g->keys.items[k]));
    const char *text = str_c(&s);
    const char *r = s.len ? arena_printf(&g->q->p->arena, "GROUP BY (%s)", text + (*text == ' '))
                          : "all rows as one group";
    str_release(&s);
    return r;
}

static bool several_groups(Grouping *g, SrcPos at, const Sets *sets)
{
    Sql *q = g->q;
    find_columns(g, g->sel->targets);
    static const char *const clauses[] = { "havingClause", "sortClause", "windowClause" };
    for (size_t i = 0; i < sizeof clauses / sizeof *clauses; i++)
        find_columns(g, json_object_get(g->sel->s, clauses[i]));
    Op *flat[MOST_SETS] = { NULL };
    assert(sets->len && sets->len <= MOST_SETS);
    for (size_t i = 0; i < sets->len; i++) {
        Op *op;
        Names *n = one_group(g, at, set_text(g, sets->items[i]), sets->items[i], &op);
        if (!n || !(flat[i] = flat_rows(g, op, n, sets->items[i])))
            return false;
    }
    Op *all = flat[0];
    if (sets->len > 1) {
        all = sql_op(q, OP_UNION, at, NULL, "group");
        all->hidden = all->all = true;
        all->text = "all grouping sets";
        for (size_t i = 0; i < sets->len; i++)
            op_input(q->p, all, flat[i]);
        if (!sql_finish(q, all))
            return false;
    }
    Names *n = grouped_names(g, all, UINT64_MAX);
    n->nflat = g->columns.len;
    n->flat = arena_array(&q->p->arena, json_t *, n->nflat + 1);
    for (size_t i = 0; i < n->nflat; i++)
        n->flat[i] = g->columns.items[i];
    g->sel->rel.op = all;
    g->sel->names = n;
    return true;
}

static bool has_sets(const json_t *list)
{
    for (size_t i = 0; i < sql_count(list); i++)
        if (json_object_get(json_array_get(list, i), "GroupingSet"))
            return true;
    return false;
}

bool sql_group(Sql *q, SqlSelect *sel)
{
    json_t *list = json_object_get(sel->s, "groupClause");
    SrcPos at = sql_at(q, sql_count(list) ? list : sel->targets);
    Grouping g = { .q = q, .sel = sel, .rows = sel->names };
    Sets sets = { 0 };
    if (json_is_true(json_object_get(sel->s, "groupDistinct")))
        return sql_fail(q, at, "not supported: GROUP BY DISTINCT");
    bool ok = all_sets(&g, list, &sets);
    if (ok && has_sets(list)) {
        ok = several_groups(&g, at, &sets);
    } else if (ok) {
        Op *op;
        sel->names =
            one_group(&g, at,
                      sql_count(list) ? sql_source(q, "GROUP BY", list) : "all rows as one group",
                      UINT64_MAX, &op);
        ok = sel->names != NULL;
        sel->rel.op = ok ? op : NULL;
    }
    vec_release(&sets);
    vec_release(&g.keys);
    vec_release(&g.key_terms);
    vec_release(&g.columns);
    return ok;
}
