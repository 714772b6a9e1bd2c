/*
 * CREATE TABLE and ALTER TABLE … ADD CONSTRAINT: columns, types, and what a
 * table promises.
 *
 * CHECK conditions are terms over a row of the table. Foreign keys name other
 * tables, which may come later: they are bound when all are known.
 */
#include "dataflow/sql_int.h"
#include <assert.h>
#include <stdio.h>

/* ---- types */

static const struct {
    const char *name;
    DatumKind kind;
    bool day;
    int bytes;                 /* of a number; 0: any */
} types[] = {
    { "int2", DATUM_LONG, false, 2 },          { "int4", DATUM_LONG, false, 4 },
    { "int8", DATUM_LONG, false, 8 },          { "int", DATUM_LONG, false, 4 },
    { "integer", DATUM_LONG, false, 4 },       { "tinyint", DATUM_LONG, false, 1 },
    { "mediumint", DATUM_LONG, false, 3 },     { "serial", DATUM_LONG, false, 4 },
    { "bigserial", DATUM_LONG, false, 8 },     { "smallserial", DATUM_LONG, false, 2 },
    { "oid", DATUM_LONG, false, 8 },           { "float4", DATUM_DOUBLE, false, 4 },
    { "float8", DATUM_DOUBLE, false, 0 },      { "double", DATUM_DOUBLE, false, 0 },
    { "float", DATUM_DOUBLE, false, 0 },       { "numeric", DATUM_DOUBLE, false, 0 },
    { "number", DATUM_DOUBLE, false, 0 },      { "decimal", DATUM_DOUBLE, false, 0 },
    { "money", DATUM_DOUBLE, false, 0 },       { "bool", DATUM_BOOL, false, 0 },
    { "boolean", DATUM_BOOL, false, 0 },       { "date", DATUM_DATETIME, true, 0 },
    { "timestamp", DATUM_DATETIME, false, 0 }, { "timestamptz", DATUM_DATETIME, false, 0 },
    { "datetime", DATUM_DATETIME, false, 0 },  { "text", DATUM_TEXT, false, 0 },
    { "varchar", DATUM_TEXT, false, 0 },       { "bpchar", DATUM_TEXT, false, 0 },
    { "char", DATUM_TEXT, false, 0 },          { "name", DATUM_TEXT, false, 0 },
    { "string", DATUM_TEXT, false, 0 },        { "uuid", DATUM_TEXT, false, 0 },
    { "json", DATUM_TEXT, false, 0 },          { "jsonb", DATUM_TEXT, false, 0 },
    { "longtext", DATUM_TEXT, false, 0 },      { "mediumtext", DATUM_TEXT, false, 0 },
    { "tinytext", DATUM_TEXT, false, 0 },      { "bytea", DATUM_TEXT, false, 0 },
    { "blob", DATUM_TEXT, false, 0 },          { "citext", DATUM_TEXT, false, 0 },
};

static int modifier(const json_t *type_name, size_t i, int otherwise)
{
    const json_t *mods = json_object_get(type_name, "typmods");
    const json_t *c = json_object_get(json_array_get(mods, i), "A_Const");
    return c ? (int)json_int(json_object_get(c, "ival"), "ival", 0) : otherwise;
}

bool sql_type(Sql *q, const json_t *type_name, Type *out, bool *day, int *size, int *decimals)
{
    const json_t *names = json_object_get(type_name, "names");
    const char *name = sql_text_of(json_array_get(names, sql_count(names) - 1));
    SrcPos at = sql_at(q, type_name);
    *day = false;
    *size = 0;
    *decimals = -1;
    if (json_object_get(type_name, "arrayBounds"))
        return sql_fail(q, at, "not supported: arrays (type %s[])", name);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcasecmp(types[i].name, name))
            continue;
        *out = dtype_of(types[i].kind);
        *day = types[i].day;
        if (types[i].kind == DATUM_TEXT)
            *size = modifier(type_name, 0, 0);
        else if (!q->o || q->o->dialect != SQL_SQLITE) /* there, all numbers have eight */
            *size = types[i].bytes;
        if (types[i].kind == DATUM_DOUBLE && modifier(type_name, 0, -1) >= 0)
            *decimals = modifier(type_name, 1, 0);
        return true;
    }
    *out = dtype_of(DATUM_TEXT);
    plan_note(q->p, at, "type %s is read as text", name);
    return true;
}

/* ---- columns */

static int column_of(const SqlTable *t, const char *name)
{
    for (size_t i = 0; i < t->schema->n; i++)
        if (!strcmp(t->schema->fields[i].name, name))
            return (int)i;
    return -1;
}

static bool columns_of(Sql *q, const SqlTable *t, const json_t *keys, SrcPos at, int **out,
                       size_t *n)
{
    *n = sql_count(keys);
    *out = arena_array(&q->p->arena, int, *n + 1);
    for (size_t i = 0; i < *n; i++) {
        const char *name = sql_text_of(json_array_get(keys, i));
        (*out)[i] = column_of(t, name);
        if ((*out)[i] < 0)
            return sql_fail(q, at, "table %s has no column %s", t->name, name);
    }
    return true;
}

/* ---- constraints; `own` is the column that one was written at, or -1 */

static bool add_unique(Sql *q, SqlTable *t, const json_t *c, int own, bool primary)
{
    TableRules *r = t->rules;
    struct UniqueKey *u = arena_array(&q->p->arena, struct UniqueKey, r->nunique + 1);
    if (r->nunique)
        memcpy(u, r->unique, r->nunique * sizeof *u);
    struct UniqueKey *k = &u[r->nunique];
    k->primary = primary;
    if (own >= 0) {
        k->columns = arena_array(&q->p->arena, int, 1);
        k->columns[k->n++] = own;
    } else if (!columns_of(q, t, json_object_get(c, "keys"), sql_at(q, c), &k->columns, &k->n)) {
        return false;
    }
    for (size_t i = 0; primary && i < k->n; i++)
        r->not_null[k->columns[i]] = true;
    r->unique = u;
    r->nunique++;
    return true;
}

static bool add_foreign(Sql *q, SqlTable *t, const json_t *c, int own)
{
    TableRules *r = t->rules;
    size_t n = r->nforeign;
    struct ForeignKey *f = arena_array(&q->p->arena, struct ForeignKey, n + 1);
    struct SqlForeign *s = arena_array(&q->p->arena, struct SqlForeign, n + 1);
    if (n) {
        memcpy(f, r->foreign, n * sizeof *f);
        memcpy(s, t->foreign, n * sizeof *s);
    }
    s[n].at = sql_at(q, c);
    s[n].table = arena_strdup(&q->p->arena, json_str(json_object_get(c, "pktable"), "relname"));
    const json_t *others = json_object_get(c, "pk_attrs");
    s[n].nothers = sql_count(others);
    s[n].others = arena_array(&q->p->arena, char *, s[n].nothers + 1);
    for (size_t i = 0; i < s[n].nothers; i++)
        s[n].others[i] = arena_strdup(&q->p->arena, sql_text_of(json_array_get(others, i)));
    if (own >= 0) {
        f[n].columns = arena_array(&q->p->arena, int, 1);
        f[n].columns[f[n].n++] = own;
    } else if (!columns_of(q, t, json_object_get(c, "fk_attrs"), s[n].at, &f[n].columns, &f[n].n)) {
        return false;
    }
    r->foreign = f;
    t->foreign = s;
    r->nforeign++;
    return true;
}

/* The names in CHECK and DEFAULT: the table's own columns. */
static Names *own_names(Sql *q, const SqlTable *t)
{
    Op *row = arena_new(&q->p->arena, Op);
    row->schema = t->schema;
    Rel r = { row, sql_columns(q, t->schema->n), t->schema->n };
    for (size_t i = 0; i < r.n; i++) {
        r.cols[i].table = t->name;
        r.cols[i].name = t->schema->fields[i].name;
    }
    return sql_names(q, &r, NULL);
}

static bool add_check(Sql *q, SqlTable *t, const json_t *c)
{
    TableRules *r = t->rules;
    Names *n = own_names(q, t);
    Term *e = sql_expr(q, json_object_get(c, "raw_expr"), n);
    if (!e)
        return false;
    Term **checks = arena_array(&q->p->arena, Term *, r->nchecks + 1);
    if (r->nchecks)
        memcpy(checks, r->checks, r->nchecks * sizeof *checks);
    checks[r->nchecks++] = e;
    r->checks = checks;
    return true;
}

static bool add_default(Sql *q, SqlTable *t, const json_t *c, int own)
{
    json_t *value = json_object_get(c, "raw_expr");
    if (own < 0 || strcmp(sql_kind(value), "A_Const"))
        return true;                               /* now(), nextval(…): as if there were none */
    Term *e = sql_expr(q, value, own_names(q, t));
    Datum d;
    if (!e)
        return false;
    if (e->kind == TERM_CONST &&
        datum_cast(&q->p->arena, &e->value, t->schema->fields[own].type, &d))
        t->rules->defaults[own] = d;
    return true;
}

static bool constraint(Sql *q, SqlTable *t, const json_t *c, int own)
{
    const char *kind = json_str(c, "contype");
    if (!strcmp(kind, "CONSTR_PRIMARY") || !strcmp(kind, "CONSTR_UNIQUE"))
        return add_unique(q, t, c, own, !strcmp(kind, "CONSTR_PRIMARY"));
    if (!strcmp(kind, "CONSTR_FOREIGN"))
        return add_foreign(q, t, c, own);
    if (!strcmp(kind, "CONSTR_CHECK"))
        return add_check(q, t, c);
    if (!strcmp(kind, "CONSTR_DEFAULT"))
        return add_default(q, t, c, own);
    if (!strcmp(kind, "CONSTR_NOTNULL") && own >= 0)
        t->rules->not_null[own] = true;
    if (!strcmp(kind, "CONSTR_EXCLUSION") || !strcmp(kind, "CONSTR_GENERATED"))
        return sql_fail(q, sql_at(q, c), "not supported: %s", kind + strlen("CONSTR_"));
    return true;
}

/* ---- tables */

static bool add_columns(Sql *q, SqlTable *t, const json_t *elements)
{
    Schema *s = schema_new(&q->p->arena, sql_count(elements));
    Arena *a = &q->p->arena;
    TableRules *r = t->rules;
    size_t n = 0;
    r->not_null = arena_array(a, bool, s->n + 1);
    r->whole_days = arena_array(a, bool, s->n + 1);
    r->max_length = arena_array(a, int, s->n + 1);
    r->decimals = arena_array(a, int, s->n + 1);
    r->defaults = arena_array(a, Datum, s->n + 1);
    for (size_t i = 0; i < sql_count(elements); i++) {
        const json_t *c = json_object_get(json_array_get(elements, i), "ColumnDef");
        if (!c)
            continue;
        s->fields[n].name = arena_strdup(a, json_str(c, "colname"));
        if (!sql_type(q, json_object_get(c, "typeName"), &s->fields[n].type, &r->whole_days[n],
                      &r->max_length[n], &r->decimals[n]))
            return false;
        n++;
    }
    s->n = n;
    t->schema = s;
    return true;
}

static bool all_constraints(Sql *q, SqlTable *t, const json_t *elements)
{
    int column = 0;
    for (size_t i = 0; i < sql_count(elements); i++) {
        const json_t *e = json_array_get(elements, i), *c = json_object_get(e, "ColumnDef");
        const json_t *list = json_object_get(c, "constraints");
        for (size_t k = 0; k < sql_count(list); k++)
            if (!constraint(q, t, sql_body(json_array_get(list, k)), column))
                return false;
        column += c != NULL;
        c = json_object_get(e, "Constraint");
        if (c && !constraint(q, t, c, -1))
            return false;
    }
    return true;
}

bool sql_create_table(Sql *q, const json_t *stmt)
{
    const json_t *rel = json_object_get(stmt, "relation");
    const json_t *elements = json_object_get(stmt, "tableElts");
    SqlTable *t = arena_new(&q->p->arena, SqlTable);
    t->name = arena_strdup(&q->p->arena, json_str(rel, "relname"));
    t->at = sql_at(q, rel);
    t->rules = arena_new(&q->p->arena, TableRules);
    if (sql_find_table(q, t->name))
        return sql_fail(q, t->at, "table %s was there already", t->name);
    if (!add_columns(q, t, elements) || !all_constraints(q, t, elements))
        return false;
    vec_push(&q->tables, t);
    return true;
}

bool sql_alter_table(Sql *q, const json_t *stmt)
{
    SqlTable *t = sql_find_table(q, json_str(json_object_get(stmt, "relation"), "relname"));
    const json_t *cmds = json_object_get(stmt, "cmds");
    for (size_t i = 0; t && i < sql_count(cmds); i++) {
        const json_t *cmd = json_object_get(json_array_get(cmds, i), "AlterTableCmd");
        const json_t *c = json_object_get(json_object_get(cmd, "def"), "Constraint");
        if (c && !strcmp(json_str(cmd, "subtype"), "AT_AddConstraint") && !constraint(q, t, c, -1))
            return false;
    }
    return true;
}

/* The columns that a foreign key names, or the primary key. */
static bool bind_foreign(Sql *q, struct ForeignKey *f, const struct SqlForeign *s)
{
    SqlTable *other = sql_find_table(q, s->table);
    if (!other)
        return sql_fail(q, s->at, "a foreign key names table %s, which is not there", s->table);
    f->others = arena_array(&q->p->arena, int, f->n + 1);
    const struct UniqueKey *primary = NULL;
    for (size_t i = 0; i < other->rules->nunique; i++)
        if (other->rules->unique[i].primary)
            primary = &other->rules->unique[i];
    if (s->nothers ? s->nothers != f->n : !primary || primary->n != f->n)
        return sql_fail(q, s->at, "the foreign key and the key of %s have different lengths",
                        s->table);
    for (size_t i = 0; i < f->n; i++) {
        f->others[i] = s->nothers ? column_of(other, s->others[i]) : primary->columns[i];
        if (f->others[i] < 0)
            return sql_fail(q, s->at, "table %s has no column %s", s->table, s->others[i]);
    }
    return true;
}

bool sql_bind_rules(Sql *q)
{
    for (size_t i = 0; i < q->tables.len; i++) {
        SqlTable *t = q->tables.items[i];
        for (size_t k = 0; k < t->rules->nforeign; k++)
            if (!bind_foreign(q, &t->rules->foreign[k], &t->foreign[k]))
                return false;
    }
    return true;
}

void sql_bind_loads(Sql *q)
{
    for (size_t i = 0; i < q->tables.len; i++) {
        SqlTable *t = q->tables.items[i];
        for (size_t k = 0; t->load && k < t->rules->nforeign; k++)
            t->rules->foreign[k].table = sql_find_table(q, t->foreign[k].table)->load;
    }
}
