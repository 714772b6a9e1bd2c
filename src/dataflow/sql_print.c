/*
 * Rows as SQL and as dbt's unit tests.
 */
#include "dataflow/sql.h"
#include "dataflow/date.h"
#include "dataflow/generate.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>

static void quoted(Str *out, const char *s, size_t n)
{
    str_addc(out, '\'');
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\'')
            str_addc(out, '\'');
        if (s[i])
            str_addc(out, s[i]);
    }
    str_addc(out, '\'');
}

static void real(Str *out, double d)
{
    char buf[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, sizeof buf, "%.*g", digits, d);
        if (strtod(buf, NULL) == d)
            break;
    }
    str_add(out, isfinite(d) ? buf : "NULL");
    if (isfinite(d) && !strpbrk(buf, ".e"))
        str_add(out, ".0");
}

void sql_print_value(Str *out, const Datum *v, bool day)
{
    switch ((DatumKind)v->kind) {
    case DATUM_NULL: str_add(out, "NULL"); break;
    case DATUM_BOOL: str_add(out, v->u.b ? "TRUE" : "FALSE"); break;
    case DATUM_INT:
    case DATUM_LONG:
    case DATUM_BIGINT: str_addf(out, "%lld", (long long)v->u.i); break;
    case DATUM_FLOAT:
    case DATUM_DOUBLE:
    case DATUM_BIGDEC: real(out, v->u.d); break;
    case DATUM_DATETIME:
        str_addc(out, '\'');
        date_print_as(out, v->u.i,
                      day                ? "yyyy-MM-dd"
                      : v->u.i % 1000    ? "yyyy-MM-dd HH:mm:ss.SSS"
                                         : "yyyy-MM-dd HH:mm:ss");
        str_addc(out, '\'');
        break;
    case DATUM_TEXT:
    case DATUM_BYTES: quoted(out, v->u.s, v->len); break;
    default: str_add(out, "NULL"); break;
    }
}

/* A name that SQL takes without quotes, or with them. */
static void name(Str *out, const char *s)
{
    /* Of PostgreSQL and of SQLite. */
    static const char *const reserved[] = {
        "add", "all", "alter", "analyse", "analyze", "and", "any", "array", "as", "asc",
        "asymmetric", "authorization", "autoincrement", "between", "binary", "both", "case",
        "cast", "check", "collate", "collation", "column", "commit", "concurrently",
        "constraint", "create", "cross", "current_catalog", "current_date", "current_role",
        "current_schema", "current_time", "current_timestamp", "current_user", "default",
        "deferrable", "delete", "desc", "distinct", "do", "drop", "else", "end", "escape",
        "except", "exists", "false", "fetch", "for", "foreign", "freeze", "from", "full",
        "grant", "group", "having", "ilike", "in", "index", "initially", "inner", "insert",
        "intersect", "into", "is", "isnull", "join", "lateral", "leading", "left", "like",
        "limit", "localtime", "localtimestamp", "natural", "not", "notnull", "null",
        "offset", "on", "only", "or", "order", "outer", "overlaps", "placing", "primary",
        "references", "returning", "right", "select", "session_user", "set", "similar",
        "some", "symmetric", "table", "tablesample", "then", "to", "trailing",
        "transaction", "true", "union", "unique", "update", "user", "using", "values",
        "variadic", "verbose", "when", "where", "window", "with", NULL
    };
    bool plain = *s && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(s) &&
                 !(*s >= '0' && *s <= '9') && !str_is_one_of(s, reserved);
    if (plain) {
        str_add(out, s);
        return;
    }
    str_addc(out, '"');
    for (; *s; s++) {
        if (*s == '"')
            str_addc(out, '"');
        str_addc(out, *s);
    }
    str_addc(out, '"');
}

static bool is_day(const Op *load, size_t column)
{
    return load->rules && load->rules->whole_days && load->rules->whole_days[column];
}

static void insert(const Op *op, const Input *in, Str *out)
{
    if (!in->n)
        return;
    str_add(out, "INSERT INTO ");
    name(out, op->path);
    str_add(out, " (");
    for (size_t i = 0; i < op->schema->n; i++) {
        str_add(out, i ? ", " : "");
        name(out, op->schema->fields[i].name);
    }
    str_add(out, ") VALUES\n");
    for (size_t k = 0; k < in->n; k++) {
        str_add(out, "  (");
        assert(in->rows[k]->n == op->schema->n);
        for (size_t i = 0; i < in->rows[k]->n; i++) {
            str_add(out, i ? ", " : "");
            sql_print_value(out, &in->rows[k]->fields[i], is_day(op, i));
        }
        str_add(out, k + 1 < in->n ? "),\n" : ");\n");
    }
}

void sql_print_inserts(const Plan *p, const struct Input *inputs, Str *out)
{
    for (size_t i = 0; i < p->ops.len; i++)
        if (p->ops.items[i]->kind == OP_LOAD)
            insert(p->ops.items[i], &inputs[i], out);
}

/* ---- dbt */

static void yaml_text(Str *out, const char *s, size_t n)
{
    str_addc(out, '"');
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\')
            str_addf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            str_addf(out, "\\x%02x", c);
        else
            str_addc(out, (char)c);
    }
    str_addc(out, '"');
}

static void yaml_value(Str *out, const Datum *v, bool day)
{
    Str s = { 0 };
    if (v->kind == DATUM_NULL) {
        str_add(out, "null");
    } else if (v->kind == DATUM_BOOL) {
        str_add(out, v->u.b ? "true" : "false");
    } else if (v->kind == DATUM_TEXT || v->kind == DATUM_BYTES) {
        yaml_text(out, v->u.s, v->len);
    } else {
        sql_print_value(&s, v, day);
        str_add(out, str_c(&s));
    }
    str_release(&s);
}

static void yaml_row(Str *out, const Schema *s, const Tuple *t, const Op *load)
{
    str_add(out, "          - {");
    for (size_t i = 0; i < t->n; i++) {
        const char *column = s->fields[i].name ? s->fields[i].name : "column";
        str_add(out, i ? ", " : "");
        yaml_text(out, column, strlen(column));
        str_add(out, ": ");
        yaml_value(out, &t->fields[i],
                   load ? is_day(load, i)
                        : t->fields[i].kind == DATUM_DATETIME && t->fields[i].u.i % 86400000 == 0);
    }
    str_add(out, "}\n");
}

void sql_print_dbt(const struct Examples *e, const char *model, Str *out)
{
    const Plan *p = e->plan;
    str_add(out, "# Made by sundew examples. The expected rows are what the query gives today:\n"
                 "# review them before you trust them.\nunit_tests:\n  - name: ");
    str_addf(out, "%s_examples\n    model: %s\n    given:\n", model, model);
    for (size_t i = 0; i < p->ops.len; i++) {
        const Op *op = p->ops.items[i];
        if (op->kind != OP_LOAD || op->hidden)
            continue;
        str_addf(out, "      - input: ref('%s')\n        rows:%s\n", op->path,
                 e->inputs[i].n ? "" : " []");
        for (size_t k = 0; k < e->inputs[i].n; k++) {
            const char *why = e->why[i] ? e->why[i][k] : NULL;
            if (why && *why)
                str_addf(out, "          # %s\n", why);
            yaml_row(out, op->schema, e->inputs[i].rows[k], op);
        }
    }
    for (size_t i = 0; i < p->ops.len; i++) {
        const Op *op = p->ops.items[i];
        if (op->kind != OP_STORE)
            continue;
        const Table *t = run_table(e->run, op);
        str_addf(out, "    expect:\n        rows:%s\n", t->n ? "" : " []");
        for (size_t k = 0; k < t->n; k++)
            yaml_row(out, op->schema, t->rows[k]->tuple, NULL);
    }
}
