/*
 * Types of expressions and schemas of operators, with Pig's implicit casts.
 *
 * Numbers widen int < long < float < double < biginteger < bigdecimal. An
 * untyped (bytearray) value takes the type of its partner: a number's, a
 * text's; two untyped ones are compared as bytes and added as doubles. A null
 * constant takes any type.
 */
#include "dataflow/function.h"
#include "dataflow/plan.h"
#include "dataflow/udf.h"
#include <assert.h>
#include <stdio.h>

enum { MOST_COLUMNS = 10000 };

static bool fail(SrcPos at, Err *err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static bool fail(SrcPos at, Err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = xvprintf(fmt, ap);
    va_end(ap);
    err_set(err, "%s:%d:%d: %s", at.file, at.line, at.column, text);
    free(text);
    return false;
}

static int width_of(DatumKind k)
{
    static const DatumKind order[] = { DATUM_INT,    DATUM_LONG,   DATUM_FLOAT,
                                       DATUM_DOUBLE, DATUM_BIGINT, DATUM_BIGDEC };
    for (int i = 0; i < 6; i++)
        if (order[i] == k)
            return i;
    return -1;
}

/* The type that two values meet at; DATUM_NULL for both null constants. */
static bool unify(Type a, Type b, Type *out)
{
    if (a.kind == DATUM_NULL || (a.kind == DATUM_BYTES && b.kind != DATUM_NULL))
        *out = b;
    else if (b.kind == DATUM_NULL || b.kind == DATUM_BYTES)
        *out = a;
    else if (dtype_is_number(a.kind) && dtype_is_number(b.kind))
        *out = width_of(a.kind) >= width_of(b.kind) ? a : b;
    else if (a.kind == b.kind)
        *out = a.inner ? a : b;
    else
        return false;
    return true;
}

static void cast_to(Plan *p, Term **e, Type t)
{
    if ((*e)->type.kind == t.kind || t.kind == DATUM_NULL || t.kind == DATUM_BYTES)
        return;
    if ((*e)->kind == TERM_CONST && (*e)->value.kind == DATUM_NULL) {
        (*e)->type = t;
        return;
    }
    *e = term_cast(p, *e, t, true);
}

static const char *describe(Type t)
{
    return t.kind == DATUM_BYTES ? "an untyped value" : dtype_name(t.kind);
}

static bool not_simple(DatumKind k) { return k >= DATUM_MAP; }

/* ---- expressions */

static bool is_whole(DatumKind k) { return k == DATUM_INT || k == DATUM_LONG || k == DATUM_BIGINT; }

/* date + 5, 5 + date, date - 5 are days. */
static bool is_days_later(Term *e)
{
    bool plus = e->kind == TERM_ADD, minus = e->kind == TERM_SUB;
    if (plus && e->args[1]->type.kind == DATUM_DATETIME && is_whole(e->args[0]->type.kind)) {
        Term *date = e->args[1];
        e->args[1] = e->args[0];
        e->args[0] = date;
    }
    return (plus || minus) && e->args[0]->type.kind == DATUM_DATETIME &&
           is_whole(e->args[1]->type.kind);
}

static bool finish_arith(Plan *p, Term *e, Err *err)
{
    Type t;
    if (p->postgres && is_days_later(e)) {
        e->type = dtype_of(DATUM_DATETIME);
        return true;
    }
    for (size_t i = 0; i < e->nargs; i++) {
        DatumKind k = e->args[i]->type.kind;
        if (k == DATUM_BAG)
            return fail(e->args[i]->at, err,
                        "a bag is no number: use SUM, or another function of bags, on it");
        bool sql_date = p->lang == LANG_SQL && k == DATUM_DATETIME;
        if (!dtype_is_number(k) && k != DATUM_BYTES && k != DATUM_NULL && !sql_date)
            return fail(e->args[i]->at, err, "arithmetic needs numbers, this is %s",
                        describe(e->args[i]->type));
    }
    if (e->nargs == 1)
        t = e->args[0]->type;
    else if (!unify(e->args[0]->type, e->args[1]->type, &t))
        return fail(e->at, err, "%s and %s do not go together", describe(e->args[0]->type),
                    describe(e->args[1]->type));
    if (t.kind == DATUM_BYTES || t.kind == DATUM_NULL)
        t = dtype_of(e->kind == TERM_MOD ? DATUM_LONG : DATUM_DOUBLE);
    if (e->kind == TERM_MOD && p->lang == LANG_PIG && t.kind != DATUM_INT && t.kind != DATUM_LONG &&
        t.kind != DATUM_BIGINT)
        return fail(e->at, err, "%% needs integers, these are %s", dtype_name(t.kind));
    for (size_t i = 0; i < e->nargs; i++)
        cast_to(p, &e->args[i], t);
    e->type = t;
    return true;
}

static bool finish_compare(Plan *p, Term *e, Err *err)
{
    Type a = e->args[0]->type, b = e->args[1]->type, t;
    bool order = e->kind != TERM_EQ && e->kind != TERM_NE && e->kind != TERM_NOT_DISTINCT;
    if (a.kind == DATUM_BAG || b.kind == DATUM_BAG)
        return fail(e->at, err, "a bag cannot be compared");
    if (!unify(a, b, &t)) {
        if (p->lang == LANG_SQL && (dtype_is_number(a.kind) || dtype_is_number(b.kind)))
            t = dtype_of(DATUM_DOUBLE);
        else if (p->lang == LANG_SQL && (a.kind == DATUM_DATETIME || b.kind == DATUM_DATETIME))
            t = dtype_of(DATUM_DATETIME);
        else
            return fail(e->at, err, "%s cannot be compared with %s", describe(a), describe(b));
    }
    if (order && not_simple(t.kind))
        return fail(e->at, err, "%s has no order", describe(t));
    cast_to(p, &e->args[0], t);
    cast_to(p, &e->args[1], t);
    e->type = dtype_of(DATUM_BOOL);
    return true;
}

static bool want_bool(Plan *p, Term **e, Err *err)
{
    DatumKind k = (*e)->type.kind;
    if (k == DATUM_BYTES)
        cast_to(p, e, dtype_of(DATUM_BOOL));
    else if (k == DATUM_NULL)
        (*e)->type = dtype_of(DATUM_BOOL);
    else if (k != DATUM_BOOL)
        return fail((*e)->at, err, "a condition must be boolean, this is %s", describe((*e)->type));
    return true;
}

static bool want_text(Plan *p, Term **e, Err *err)
{
    DatumKind k = (*e)->type.kind;
    if (k == DATUM_BYTES)
        cast_to(p, e, dtype_of(DATUM_TEXT));
    else if (k != DATUM_TEXT && k != DATUM_NULL && p->lang == LANG_PIG)
        return fail((*e)->at, err, "a text is needed here, this is %s", describe((*e)->type));
    return true;
}

/* Branches of a condition: args from `first`, every `step`-th, and the last. */
static bool finish_branches(Plan *p, Term *e, size_t first, size_t step, Err *err)
{
    Type t = dtype_of(DATUM_NULL);
    for (size_t i = 0; i < e->nargs; i++) {
        bool branch = i >= first && ((i - first) % step == 0 || i + 1 == e->nargs);
        Type u = e->args[i]->type;
        if (branch && !unify(t, u, &u))
            return fail(e->args[i]->at, err, "one branch is %s, another %s", describe(t),
                        describe(e->args[i]->type));
        if (branch)
            t = u;
    }
    for (size_t i = first; i < e->nargs; i++)
        if ((i - first) % step == 0 || i + 1 == e->nargs)
            cast_to(p, &e->args[i], t);
    e->type = t.kind == DATUM_NULL ? dtype_of(DATUM_BYTES) : t;
    return true;
}

static bool finish_project(Plan *p, Term *e, Err *err)
{
    Type t = e->args[0]->type;
    if (t.kind == DATUM_BYTES || t.kind == DATUM_NULL) {
        e->type = dtype_of(DATUM_BYTES);
        return true;
    }
    if (t.kind != DATUM_TUPLE && t.kind != DATUM_BAG)
        return fail(e->at, err, "%s has no fields", describe(t));
    Schema *s = t.inner ? schema_new(&p->arena, e->ncolumns) : NULL;
    for (size_t i = 0; s && i < e->ncolumns; i++) {
        if (e->columns[i] < 0 || (size_t)e->columns[i] >= t.inner->n)
            return fail(e->at, err, "there is no field $%d: it has %zu", e->columns[i], t.inner->n);
        s->fields[i] = t.inner->fields[e->columns[i]];
    }
    if (t.kind == DATUM_BAG)
        e->type = dtype_bag(s);
    else if (e->ncolumns == 1 && !e->wrap)
        e->type = s ? s->fields[0].type : dtype_of(DATUM_BYTES);
    else
        e->type = dtype_tuple(s);
    return true;
}

static bool finish_call(Plan *p, Term *e, Err *err)
{
    const Function *f = function_find(e->name);
    Type *types = arena_array(&p->arena, Type, e->nargs + 1);
    if (!f) {
        e->type = udf_type(p, e);
        return true;
    }
    if ((int)e->nargs < f->min || (f->max >= 0 && (int)e->nargs > f->max))
        return fail(e->at, err, "%s takes %d%s arguments, here are %zu", e->name, f->min,
                    f->max < 0        ? " or more"
                    : f->max > f->min ? " or a few more"
                                      : "",
                    e->nargs);
    if (f->aggregate && e->nargs && e->args[0]->type.kind != DATUM_BAG &&
        e->args[0]->type.kind != DATUM_BYTES && e->args[0]->type.kind != DATUM_NULL)
        return fail(e->at, err, "%s works on a bag, this is %s%s", e->name,
                    describe(e->args[0]->type),
                    e->args[0]->kind == TERM_FIELD && e->args[0]->index < 0
                        ? " (* is the whole row; name the bag)"
                        : "");
    for (size_t i = 0; i < e->nargs; i++) {
        if (f->want != DATUM_NULL && e->args[i]->type.kind == DATUM_BYTES && !f->aggregate)
            cast_to(p, &e->args[i], dtype_of(f->want));
        types[i] = e->args[i]->type;
    }
    e->type = function_type(f, types, e->nargs, &p->arena);
    return true;
}

/* The result of an aggregate or a window function of SQL. */
static Type sql_type(const char *name, const Term *arg)
{
    static const char *const counts[] = {
        "count", "row_number", "rank", "dense_rank", "ntile", NULL
    };
    static const char *const doubles[] = { "avg",          "stddev",    "variance",
                                           "percent_rank", "cume_dist", NULL };
    if (str_is_one_of(name, counts))
        return dtype_of(DATUM_LONG);
    if (str_is_one_of(name, doubles))
        return dtype_of(DATUM_DOUBLE);
    if (!strncmp(name, "bool_", 5))
        return dtype_of(DATUM_BOOL);
    if (!strcmp(name, "string_agg") || !strcmp(name, "array_agg"))
        return dtype_of(DATUM_TEXT);
    if (!arg)
        return dtype_of(DATUM_LONG);
    if (!strcmp(name, "sum"))
        return dtype_of(arg->type.kind == DATUM_INT || arg->type.kind == DATUM_LONG ? DATUM_LONG
                                                                                    : DATUM_DOUBLE);
    return arg->type;
}

static bool finish_aggregate(Plan *p, Term *e, const Scope *scope, Err *err)
{
    if (!term_finish(p, &e->args[0], scope, err))
        return false;
    if (e->args[0]->type.kind != DATUM_BAG)
        return fail(e->at, err, "%s needs a group of rows", e->name);
    Scope inside = { e->args[0]->type.inner, scope };
    for (size_t i = 1; i < e->nargs; i++)
        if (!term_finish(p, &e->args[i], &inside, err))
            return false;
    if (e->filter && (!term_finish(p, &e->filter, &inside, err) || !want_bool(p, &e->filter, err)))
        return false;
    e->type = sql_type(e->name, e->nargs > 1 ? e->args[1] : NULL);
    return true;
}

static bool finish_field(Plan *p, Term *e, const Scope *scope, Err *err)
{
    for (int d = 0; d < e->depth && scope; d++)
        scope = scope->up;
    assert(scope);
    if (e->index < 0) {
        e->type = dtype_tuple(scope->row);
    } else if (!scope->row) {
        e->type = dtype_of(DATUM_BYTES);
    } else if ((size_t)e->index >= scope->row->n) {
        return fail(e->at, err, "there is no field $%d: the row has %zu", e->index, scope->row->n);
    } else {
        e->type = scope->row->fields[e->index].type;
    }
    (void)p;
    return true;
}

static bool castable(DatumKind from, DatumKind to)
{
    if (from == to || from == DATUM_BYTES || from == DATUM_NULL || to == DATUM_BYTES)
        return true;
    if (not_simple(from) || not_simple(to))
        return from == to || to == DATUM_TEXT;
    if (from == DATUM_DATETIME || to == DATUM_DATETIME)
        return from == DATUM_TEXT || to == DATUM_TEXT || from == DATUM_LONG || to == DATUM_LONG;
    return true;
}

static Type column_type(const Op *op, int index)
{
    if (op->schema && index >= 0 && (size_t)index < op->schema->n)
        return op->schema->fields[index].type;
    return dtype_of(DATUM_BYTES);
}

static bool finish_kind(Plan *p, Term *e, const Scope *scope, Err *err)
{
    switch (e->kind) {
    case TERM_CONST: e->type = dtype_of(e->value.kind); return true;
    case TERM_FIELD: return finish_field(p, e, scope, err);
    case TERM_PROJECT: return finish_project(p, e, err);
    case TERM_LOOKUP: {
        Type m = e->args[0]->type;
        if (m.kind != DATUM_MAP && m.kind != DATUM_BYTES)
            return fail(e->at, err, "# looks into a map, this is %s", describe(m));
        e->type = m.kind == DATUM_MAP && m.inner && m.inner->n ? m.inner->fields[0].type
                                                               : dtype_of(DATUM_BYTES);
        return true;
    }
    case TERM_NESTED: e->type = dtype_bag(e->op->schema); return true;
    case TERM_SCALAR:
    case TERM_SCALAR_QUERY:
        e->type = column_type(e->op, e->kind == TERM_SCALAR ? e->index : 0);
        return true;
    case TERM_NEG:
    case TERM_ADD:
    case TERM_SUB:
    case TERM_MUL:
    case TERM_DIV:
    case TERM_MOD: return finish_arith(p, e, err);
    case TERM_EQ:
    case TERM_NE:
    case TERM_LT:
    case TERM_LE:
    case TERM_GT:
    case TERM_GE:
    case TERM_NOT_DISTINCT: return finish_compare(p, e, err);
    case TERM_AND:
    case TERM_OR:
    case TERM_NOT:
        for (size_t i = 0; i < e->nargs; i++)
            if (!want_bool(p, &e->args[i], err))
                return false;
        e->type = dtype_of(DATUM_BOOL);
        return true;
    case TERM_MATCHES:
    case TERM_LIKE:
        e->java = e->args[1]->kind != TERM_CONST;
        e->type = dtype_of(DATUM_BOOL);
        return want_text(p, &e->args[0], err) && want_text(p, &e->args[1], err);
    case TERM_COND: return want_bool(p, &e->args[0], err) && finish_branches(p, e, 1, 1, err);
    case TERM_CASE:
        for (size_t i = 0; i + 1 < e->nargs; i += 2)
            if (!want_bool(p, &e->args[i], err))
                return false;
        return finish_branches(p, e, 1, 2, err);
    case TERM_CAST:
        if (!castable(e->args[0]->type.kind, e->type.kind))
            return fail(e->at, err, "%s cannot become %s", describe(e->args[0]->type),
                        dtype_name(e->type.kind));
        return true;
    case TERM_CALL: return finish_call(p, e, err);
    case TERM_IS_NULL:
    case TERM_EXISTS:
    case TERM_IN_QUERY:
    case TERM_QUANTIFIED: e->type = dtype_of(DATUM_BOOL); return true;
    case TERM_AGGREGATE: break;
    }
    assert(!"reached");
    return false;
}

bool term_finish(Plan *p, Term **e, const Scope *scope, Err *err)
{
    Term *x = *e;
    if (x->kind == TERM_AGGREGATE)
        return finish_aggregate(p, x, scope, err);
    for (size_t i = 0; i < x->nargs; i++)
        if (!term_finish(p, &x->args[i], scope, err))
            return false;
    return finish_kind(p, x, scope, err);
}

/* ---- operators */

static const char *prefixed(Plan *p, const char *alias, const char *name)
{
    if (!name || !alias)
        return name;
    return arena_printf(&p->arena, "%s::%s", alias, name);
}

static bool finish_join_schema(Plan *p, Op *op)
{
    size_t n = 0;
    for (size_t i = 0; i < op->nin; i++) {
        if (!op->in[i]->schema)
            return true;
        n += op->in[i]->schema->n;
    }
    Schema *s = schema_new(&p->arena, n);
    n = 0;
    for (size_t i = 0; i < op->nin; i++)
        for (size_t k = 0; k < op->in[i]->schema->n; k++) {
            s->fields[n] = op->in[i]->schema->fields[k];
            s->fields[n].name = prefixed(p, op->in[i]->alias, s->fields[n].name);
            n++;
        }
    op->schema = s;
    return true;
}

/* Keys of all inputs get the same types. */
static bool finish_keys(Plan *p, Op *op, const Scope *up, Err *err)
{
    if (!op->keys)
        return true;
    for (size_t i = 0; i < op->nin; i++) {
        Scope scope = { op->in[i]->schema, up };
        if (op->keys[i].n != op->keys[0].n)
            return fail(op->at, err, "the inputs have %zu and %zu keys", op->keys[0].n,
                        op->keys[i].n);
        for (size_t k = 0; k < op->keys[i].n; k++)
            if (!term_finish(p, &op->keys[i].exprs[k], &scope, err))
                return false;
    }
    for (size_t k = 0; k < op->keys[0].n; k++) {
        Type t = dtype_of(DATUM_NULL);
        for (size_t i = 0; i < op->nin; i++)
            if (!unify(t, op->keys[i].exprs[k]->type, &t))
                return fail(op->at, err, "key %zu is %s in one input and %s in another", k + 1,
                            describe(t), describe(op->keys[i].exprs[k]->type));
        for (size_t i = 0; i < op->nin; i++)
            cast_to(p, &op->keys[i].exprs[k], t);
    }
    return true;
}

static const char *name_of(const Term *e, const Scope *scope)
{
    while (e->kind == TERM_CAST && e->implicit)
        e = e->args[0];
    if (e->kind == TERM_NESTED)
        return e->op->alias;
    if (e->kind == TERM_CAST)
        return name_of(e->args[0], scope);
    if (e->kind == TERM_PROJECT && e->ncolumns == 1 && e->args[0]->type.inner &&
        e->columns[0] >= 0 && (size_t)e->columns[0] < e->args[0]->type.inner->n)
        return e->args[0]->type.kind == DATUM_BAG
                   ? name_of(e->args[0], scope)
                   : e->args[0]->type.inner->fields[e->columns[0]].name;
    if (e->kind != TERM_FIELD || e->index < 0)
        return NULL;
    for (int d = 0; d < e->depth && scope; d++)
        scope = scope->up;
    if (!scope || !scope->row || (size_t)e->index >= scope->row->n)
        return NULL;
    return scope->row->fields[e->index].name;
}

static bool finish_group(Plan *p, Op *op, const Scope *up, Err *err)
{
    if (!finish_keys(p, op, up, err))
        return false;
    Schema *s = schema_new(&p->arena, 1 + op->nin);
    s->fields[0].name = "group";
    if (op->all) {
        s->fields[0].type = dtype_of(DATUM_TEXT);
    } else if (op->keys[0].n == 1) {
        s->fields[0].type = op->keys[0].exprs[0]->type;
    } else {
        Schema *key = schema_new(&p->arena, op->keys[0].n);
        Scope scope = { op->in[0]->schema, up };
        for (size_t k = 0; k < key->n; k++) {
            key->fields[k].name = name_of(op->keys[0].exprs[k], &scope);
            key->fields[k].type = op->keys[0].exprs[k]->type;
        }
        s->fields[0].type = dtype_tuple(key);
    }
    for (size_t i = 0; i < op->nin; i++) {
        s->fields[i + 1].name = op->in[i]->alias;
        s->fields[i + 1].type = dtype_bag(op->in[i]->schema);
    }
    op->schema = s;
    return true;
}

/* The fields that one item of a FOREACH adds. False in *known: not known. */
static void item_fields(Plan *p, const Item *it, const Scope *scope, Schema *out, size_t *n,
                        bool *known)
{
    Type t = it->expr->type;
    const char *name = name_of(it->expr, scope);
    size_t count = 1;
    /* What a user's function gives may be a bag or a tuple of any width. */
    bool opaque = t.kind == DATUM_BYTES && it->expr->kind == TERM_CALL;
    bool spread = it->flatten && (t.kind == DATUM_BAG || t.kind == DATUM_TUPLE || opaque);
    if (spread && !t.inner && !it->as) {
        *known = false;
        return;
    }
    if (spread && t.inner)
        count = t.inner->n;
    else if (spread)
        count = it->as->n;
    if (it->flatten && t.kind == DATUM_MAP)
        count = 2;
    for (size_t i = 0; i < count && out; i++) {
        SchemaField *f = &out->fields[*n + i];
        *f = (SchemaField){ .name = name, .type = t };
        if (spread && t.inner) {
            *f = t.inner->fields[i];
            f->name = prefixed(p, name, f->name);
        } else if (spread) {
            *f = (SchemaField){ .type = dtype_of(DATUM_BYTES) };
        } else if (it->flatten && t.kind == DATUM_MAP) {
            f->type = i ? (t.inner && t.inner->n ? t.inner->fields[0].type : dtype_of(DATUM_BYTES))
                        : dtype_of(DATUM_TEXT);
            f->name = prefixed(p, name, i ? "value" : "key");
        }
        if (it->as && i < it->as->n) {
            if (it->as->fields[i].name)
                f->name = it->as->fields[i].name;
            if (it->typed && it->as->fields[i].type.kind != DATUM_BYTES)
                f->type = it->as->fields[i].type;
            else if (it->as->fields[i].type.inner && !f->type.inner)
                f->type.inner = it->as->fields[i].type.inner;
        }
    }
    *n += count;
}

static bool finish_foreach(Plan *p, Op *op, const Scope *up, Err *err)
{
    Scope scope = { op->in[0]->schema, up };
    bool known = true;
    size_t n = 0;
    for (size_t i = 0; i < op->nitems; i++) {
        Item *it = &op->items[i];
        if (!term_finish(p, &it->expr, &scope, err))
            return false;
        if (it->typed && !it->flatten && it->as && it->as->n == 1 &&
            it->as->fields[0].type.kind != DATUM_BYTES) {
            if (!castable(it->expr->type.kind, it->as->fields[0].type.kind))
                return fail(it->expr->at, err, "%s cannot become %s", describe(it->expr->type),
                            dtype_name(it->as->fields[0].type.kind));
            cast_to(p, &it->expr, it->as->fields[0].type);
        }
        if (it->expr->kind == TERM_FIELD && it->expr->index < 0 && !scope.row)
            known = false;
        item_fields(p, it, &scope, NULL, &n, &known);
    }
    if (!known)
        return true;
    Schema *s = schema_new(&p->arena, n);
    n = 0;
    for (size_t i = 0; i < op->nitems; i++)
        item_fields(p, &op->items[i], &scope, s, &n, &known);
    op->schema = s;
    return true;
}

static bool finish_union_by_name(Plan *p, Op *op, Err *err)
{
    size_t most = 0, n = 0;
    for (size_t i = 0; i < op->nin; i++) {
        if (!op->in[i]->schema)
            return fail(op->at, err, "UNION ONSCHEMA needs a schema on each input");
        most += op->in[i]->schema->n;
    }
    Schema *s = schema_new(&p->arena, most);
    for (size_t i = 0; i < op->nin; i++)
        for (size_t k = 0; k < op->in[i]->schema->n; k++) {
            const SchemaField *f = &op->in[i]->schema->fields[k];
            if (!f->name)
                return fail(op->at, err, "UNION ONSCHEMA: column %zu of input %zu has no name",
                            k + 1, i + 1);
            size_t at = 0;
            while (at < n && strcmp(s->fields[at].name, f->name))
                at++;
            if (at == n)
                s->fields[n++] = *f;
            else if (!unify(s->fields[at].type, f->type, &s->fields[at].type))
                return fail(op->at, err, "UNION: %s is %s in one input and %s in another", f->name,
                            describe(s->fields[at].type), describe(f->type));
        }
    s->n = n;
    op->schema = s;
    return true;
}

static bool finish_union(Plan *p, Op *op, Err *err)
{
    if (op->by_name)
        return finish_union_by_name(p, op, err);
    const Schema *first = op->in[0]->schema;
    if (!first)
        return true;
    Schema *s = schema_new(&p->arena, first->n);
    memcpy(s->fields, first->fields, first->n * sizeof *s->fields);
    for (size_t i = 1; i < op->nin; i++) {
        const Schema *other = op->in[i]->schema;
        if (!other || other->n != s->n)
            return true;
        for (size_t k = 0; k < s->n; k++)
            if (!unify(s->fields[k].type, other->fields[k].type, &s->fields[k].type)) {
                if (p->lang == LANG_SQL)
                    continue;
                return fail(op->at, err, "UNION: column %zu is %s in one input and %s in another",
                            k + 1, describe(s->fields[k].type), describe(other->fields[k].type));
            }
    }
    op->schema = s;
    return true;
}

static bool finish_cube(Plan *p, Op *op, const Scope *up, Err *err)
{
    if (!finish_group(p, op, up, err))
        return false;
    const Keys *k = &op->keys[0];
    const Schema *in = op->in[0]->schema, *keys = op->schema->fields[0].type.inner;
    Schema *s = schema_new(&p->arena, 2);
    if (!keys) {
        Schema *one = schema_new(&p->arena, 1);
        Scope scope = { in, up };
        one->fields[0].name = name_of(k->exprs[0], &scope);
        one->fields[0].type = k->exprs[0]->type;
        keys = one;
    }
    s->fields[0] = (SchemaField){ "group", dtype_tuple(keys) };
    s->fields[1] = (SchemaField){ "cube", dtype_bag(NULL) };
    if (in) {
        /* The dimensions first, then the columns that are none. */
        Schema *b = schema_new(&p->arena, keys->n + in->n);
        memcpy(b->fields, keys->fields, keys->n * sizeof *b->fields);
        b->n = keys->n;
        for (size_t i = 0; i < in->n; i++) {
            bool dim = false;
            for (size_t j = 0; j < k->n; j++)
                dim |= k->exprs[j]->kind == TERM_FIELD && k->exprs[j]->index == (int)i;
            if (!dim)
                b->fields[b->n++] = in->fields[i];
        }
        s->fields[1].type = dtype_bag(b);
    }
    op->schema = s;
    return true;
}

static bool finish_rank(Plan *p, Op *op)
{
    const Schema *in = op->in[0]->schema;
    if (!in)
        return true;
    Schema *s = schema_new(&p->arena, in->n + 1);
    s->fields[0].name =
        arena_printf(&p->arena, "rank_%s", op->in[0]->alias ? op->in[0]->alias : "");
    s->fields[0].type = dtype_of(DATUM_LONG);
    memcpy(&s->fields[1], in->fields, in->n * sizeof *s->fields);
    op->schema = s;
    return true;
}

static bool finish_order(Plan *p, Op *op, const Scope *up, Err *err)
{
    Scope scope = { op->in[0]->schema, up };
    for (size_t i = 0; i < op->norder; i++) {
        Term **e = &op->order[i].expr;
        if (!term_finish(p, e, &scope, err))
            return false;
        if (p->lang == LANG_PIG && (*e)->kind != TERM_FIELD && (*e)->kind != TERM_PROJECT)
            return fail((*e)->at, err, "%s takes columns; compute the key in a FOREACH first",
                        op_kind_name(op->kind));
        if (p->lang == LANG_PIG && not_simple((*e)->type.kind) && (*e)->index >= 0 &&
            !op->order[i].star)
            return fail((*e)->at, err, "%s has no order", describe((*e)->type));
    }
    return true;
}

static bool finish_windows(Plan *p, Op *op, const Scope *up, Err *err)
{
    Scope scope = { op->in[0]->schema, up };
    const Schema *in = op->in[0]->schema;
    assert(in);
    Schema *s = schema_new(&p->arena, in->n + op->nwindows);
    memcpy(s->fields, in->fields, in->n * sizeof *s->fields);
    for (size_t i = 0; i < op->nwindows; i++) {
        Window *w = &op->windows[i];
        for (size_t k = 0; k < w->nargs; k++)
            if (!term_finish(p, &w->args[k], &scope, err))
                return false;
        for (size_t k = 0; k < w->npartition; k++)
            if (!term_finish(p, &w->partition[k], &scope, err))
                return false;
        for (size_t k = 0; k < w->norder; k++)
            if (!term_finish(p, &w->order[k].expr, &scope, err))
                return false;
        s->fields[in->n + i].name = w->column;
        s->fields[in->n + i].type = sql_type(w->name, w->nargs ? w->args[0] : NULL);
    }
    op->schema = s;
    return true;
}

static bool finish_bag(Plan *p, Op *op, const Scope *up, Err *err)
{
    assert(up);
    if (!term_finish(p, &op->source, up, err))
        return false;
    DatumKind k = op->source->type.kind;
    if (k != DATUM_BAG && k != DATUM_BYTES)
        return fail(op->source->at, err, "a bag is needed here, this is %s",
                    describe(op->source->type));
    op->schema = op->source->type.inner;
    return true;
}

/* FILTER … JOIN ON: the condition. */
static bool finish_cond(Plan *p, Op *op, const Schema *row, const Scope *up, Err *err)
{
    Scope scope = { row, up };
    return term_finish(p, &op->cond, &scope, err) && want_bool(p, &op->cond, err);
}

static bool finish_limit(Plan *p, Op *op, const Scope *up, Err *err)
{
    Scope scope = { op->in[0]->schema, up };
    if (op->count && !term_finish(p, &op->count, &scope, err))
        return false;
    if (op->offset && !term_finish(p, &op->offset, &scope, err))
        return false;
    return true;
}

static bool finish_stream(Op *op)
{
    /* AS gives the schema; else nothing is known. */
    (void)op;
    return true;
}

static bool finish_op(Plan *p, Op *op, const Scope *up, Err *err)
{
    switch (op->kind) {
    case OP_LOAD:
    case OP_VALUES: return true;
    case OP_BAG: return finish_bag(p, op, up, err);
    case OP_FILTER:
    case OP_SPLIT:
    case OP_ASSERT: op->schema = op->in[0]->schema; return finish_cond(p, op, op->schema, up, err);
    case OP_FOREACH: return finish_foreach(p, op, up, err);
    case OP_GROUP: return finish_group(p, op, up, err);
    case OP_JOIN:
        if (op->join != JOIN_INNER && op->nin != 2)
            return fail(op->at, err, "an outer join has two inputs, here are %zu", op->nin);
        for (size_t i = 0; i < op->nin && op->join != JOIN_INNER; i++)
            if (!op->in[i]->schema &&
                (op->join == JOIN_FULL || (op->join == JOIN_LEFT) == (i == 1)))
                return fail(op->at, err,
                            "an outer join needs the schema of the side that is "
                            "filled with nulls");
        return finish_join_schema(p, op) && finish_keys(p, op, up, err) &&
               (!op->cond || finish_cond(p, op, op->schema, up, err));
    case OP_CROSS: return finish_join_schema(p, op);
    case OP_UNION:
    case OP_INTERSECT:
    case OP_EXCEPT: return finish_union(p, op, err);
    case OP_CUBE: return finish_cube(p, op, up, err);
    case OP_RANK: return finish_order(p, op, up, err) && finish_rank(p, op);
    case OP_ORDER: op->schema = op->in[0]->schema; return finish_order(p, op, up, err);
    case OP_LIMIT:
    case OP_SAMPLE: op->schema = op->in[0]->schema; return finish_limit(p, op, up, err);
    case OP_DISTINCT:
    case OP_STORE: op->schema = op->in[0]->schema; return true;
    case OP_STREAM: return finish_stream(op);
    case OP_WINDOW: return finish_windows(p, op, up, err);
    }
    assert(!"reached");
    return false;
}

/* Columns, with those of tuples and bags in them; counted to a bit more than `most`. */
static size_t size_of(const Schema *s, size_t most)
{
    size_t n = s ? s->n : 0;
    for (size_t i = 0; s && i < s->n && n <= most; i++)
        n += size_of(s->fields[i].type.inner, most - n);
    return n;
}

/* A few relations that are crossed with themselves have columns without end, and so have tuples of
 * tuples. */
bool op_finish_in(Plan *p, Op *op, const Scope *up, Err *err)
{
    return finish_op(p, op, up, err) &&
           (size_of(op->schema, MOST_COLUMNS) <= MOST_COLUMNS ||
            fail(op->at, err, "this has more than %d columns", MOST_COLUMNS));
}

bool op_finish(Plan *p, Op *op, Err *err) { return op_finish_in(p, op, NULL, err); }
