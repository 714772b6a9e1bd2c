/*
 * Texts into trees, statements, and the small tools of the SQL front end.
 */
#include "dataflow/sql_int.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/units.h"
#include <assert.h>
#include <ctype.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#if __has_include(<pg_query.h>)
#define HAVE_PG_QUERY
#include <pg_query.h>
#endif

/* ---- the tree */

const char *sql_kind(const json_t *node)
{
    void *it = json_is_object(node) ? json_object_iter((json_t *)node) : NULL;
    return it && json_object_size(node) == 1 ? json_object_iter_key(it) : "";
}

json_t *sql_body(const json_t *node)
{
    void *it = json_is_object(node) ? json_object_iter((json_t *)node) : NULL;
    return it ? json_object_iter_value(it) : NULL;
}

const char *sql_text_of(const json_t *node)
{
    const json_t *s = json_object_get(node, "String");
    return s ? json_str(s, "sval") : "";
}

size_t sql_count(const json_t *array) { return json_array_size(array); }

bool sql_same(const json_t *x, const json_t *y)
{
    if (json_typeof(x) != json_typeof(y))
        return false;
    if (json_is_array(x)) {
        bool same = sql_count(x) == sql_count(y);
        for (size_t i = 0; same && i < sql_count(x); i++)
            same = sql_same(json_array_get(x, i), json_array_get(y, i));
        return same;
    }
    if (!json_is_object(x))
        return json_equal(x, y);
    if (json_object_size(x) != json_object_size(y))
        return false;
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)x, key, v)
    {
        const json_t *w = json_object_get(y, key);
        if (!w || (strcmp(key, "location") && !sql_same(v, w)))
            return false;
    }
    return true;
}

/* The least and the greatest place below a node; -1: none. */
static void extent(const json_t *v, long long *least, long long *most)
{
    const char *key;
    json_t *x;
    size_t i;
    if (json_is_array(v))
        json_array_foreach((json_t *)v, i, x) extent(x, least, most);
    if (!json_is_object(v))
        return;
    json_object_foreach((json_t *)v, key, x)
    {
        long long at = !strcmp(key, "location") ? json_integer_value(x) : -1;
        if (at >= 0 && (*least < 0 || at < *least))
            *least = at;
        if (at > *most)
            *most = at;
        extent(x, least, most);
    }
}

static SrcPos place(const Sql *q, size_t offset)
{
    size_t lo = 0, hi = q->t->nlines;
    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;
        *(q->t->lines[mid] <= offset ? &lo : &hi) = mid;
    }
    return (SrcPos){ q->t->file, (int)lo + 1, (int)(offset - q->t->lines[lo]) + 1 };
}

SrcPos sql_at(const Sql *q, const json_t *node)
{
    long long least = -1, most = -1;
    extent(node, &least, &most);
    return place(q, least < 0 ? 0 : (size_t)least);
}

/* The digits of a constant that begins here: -5, - 5, -(5). */
static size_t digits_at(const SqlText *t, size_t i)
{
    while (i < t->n && !isdigit((unsigned char)t->text[i])) {
        const char *end = NULL, *s = t->text + i;
        bool block = !strncmp(s, "/*", 2);
        if (block || !strncmp(s, "--", 2))
            end = strstr(s, block ? "*/" : "\n");
        i = end ? (size_t)(end - t->text) + 1 : i + 1;
    }
    return i;
}

/* Where the last token of a piece of text ends, and the brackets it opened. */
static size_t piece_end(const SqlText *t, size_t from, size_t last)
{
    if (last < t->n && t->text[last] == '-')
        last = digits_at(t, last);
    size_t i = last;
    if (i < t->n && (t->text[i] == '\'' || t->text[i] == '"')) {
        char quote = t->text[i++];
        while (i < t->n && t->text[i] != quote)
            i++;
        i += i < t->n;
    } else {
        while (i < t->n && (isalnum((unsigned char)t->text[i]) || strchr("_.$", t->text[i])))
            i++;
        i += i == last && i < t->n;
    }
    int open = 0;
    for (size_t k = from; k < i; k++)
        open += t->text[k] == '(' ? 1 : t->text[k] == ')' ? -1 : 0;
    while (open > 0 && i < t->n)
        open -= t->text[i++] == ')';
    return i;
}

const char *sql_source(Sql *q, const char *before, const json_t *node)
{
    long long least = -1, most = -1;
    extent(node, &least, &most);
    if (least < 0)
        return before;
    size_t end = piece_end(q->t, (size_t)least, (size_t)most);
    Str s = { 0 };
    str_addf(&s, "%s ", before);
    bool space = false;
    for (size_t i = (size_t)least; i < end && s.len < 100; i++) {
        bool blank = isspace((unsigned char)q->t->text[i]);
        if (!blank || !space)
            str_addc(&s, blank ? ' ' : q->t->text[i]);
        space = blank;
    }
    if (s.len >= 100) {
        while (s.len && ((unsigned char)s.data[s.len - 1] & 0x80))
            s.len--;
        str_add(&s, "...");
    }
    const char *r = arena_strndup(&q->p->arena, s.data, s.len);
    str_release(&s);
    return r;
}

bool sql_fail(Sql *q, SrcPos at, const char *fmt, ...)
{
    if (q->failed)
        return false;
    va_list ap;
    va_start(ap, fmt);
    char *text = xvprintf(fmt, ap);
    va_end(ap);
    err_set(q->err, "%s:%d:%d: %s", at.file, at.line, at.column, text);
    free(text);
    q->failed = true;
    return false;
}

/* ---- operators */

Op *sql_op(Sql *q, OpKind kind, SrcPos at, const Rel *in, const char *alias)
{
    Op *op = q->nest ? plan_nested(q->p, kind, at) : plan_op(q->p, kind, at);
    op->alias = alias;
    if (in)
        op_input(q->p, op, in->op);
    return op;
}

bool sql_finish(Sql *q, Op *op)
{
    if (q->failed)
        return false;
    if (op_finish_in(q->p, op, q->outer ? &q->outer->scope : NULL, q->err))
        return true;
    q->failed = true;
    return false;
}

SqlColumn *sql_columns(Sql *q, size_t n)
{
    SqlColumn *c = arena_array(&q->p->arena, SqlColumn, n + 1);
    for (size_t i = 0; i < n; i++)
        c[i].at = -1;
    return c;
}

SqlTable *sql_find_table(const Sql *q, const char *name)
{
    for (size_t i = 0; i < q->tables.len; i++)
        if (!strcmp(q->tables.items[i]->name, name))
            return q->tables.items[i];
    return NULL;
}

/* A table and those it refers to, these first. */
Op *sql_load(Sql *q, SqlTable *t)
{
    if (t->load || t->busy)
        return t->load;
    t->busy = true;
    for (size_t i = 0; i < t->rules->nforeign; i++) {
        SqlTable *other = sql_find_table(q, t->foreign[i].table);
        if (other && other != t && !other->load && !other->busy) {
            sql_load(q, other);
            other->load->hidden = true;            /* only there for the key */
            other->load->nout = 1;
        }
    }
    Op *op = plan_op(q->p, OP_LOAD, t->at);
    op->alias = op->path = t->name;
    op->schema = t->schema;
    op->rules = t->rules;
    op->typed = true;
    op->text = arena_printf(&q->p->arena, "table %s", t->name);
    t->load = op;
    t->busy = false;
    return op;
}

/* ---- texts */

static void blank(Str *s, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (s->data[i] != '\n')
            s->data[i] = ' ';
}

/* {{ ref('x') }} becomes x, {{ config(…) }} and {% … %} nothing. */
static size_t shim_template(Str *s, size_t at)
{
    const char *close = s->data[at + 1] == '{' ? "}}" : "%}";
    char *end = strstr(s->data + at, close);
    if (!end)
        return at + 2;
    size_t to = (size_t)(end - s->data) + 2, p = at + 2;
    while (p < to && isspace((unsigned char)s->data[p]))
        p++;
    bool table = s->data[at + 1] == '{' &&
                 (str_starts(s->data + p, "ref") || str_starts(s->data + p, "source"));
    char name[128] = "";
    for (size_t i = p; table && i < to; i++)       /* the last quoted word */
        if (s->data[i] == '\'' || s->data[i] == '"') {
            size_t k = i + 1;
            while (k < to && s->data[k] != s->data[i])
                k++;
            if (k - i - 1 < sizeof name)
                snprintf(name, sizeof name, "%.*s", (int)(k - i - 1), s->data + i + 1);
            i = k;
        }
    blank(s, at, to);
    if (strlen(name) <= to - at)
        memcpy(s->data + at, name, strlen(name));
    return to;
}

/* LIMIT a, b at `at` (behind the word): b OFFSET a, as the numbers allow. */
static void shim_limit(Str *s, size_t at)
{
    unsigned long a, b;
    int n = 0;
    if (sscanf(s->data + at, " %lu , %lu%n", &a, &b, &n) != 2 || !n)
        return;
    Str r = { 0 };
    str_addn(&r, s->data, at);
    str_addf(&r, " %lu OFFSET %lu", b, a);
    str_add(&r, s->data + at + n);
    str_release(s);
    *s = r;
}

static size_t skip_quoted(const Str *s, size_t i)
{
    char quote = s->data[i++];
    while (i < s->len && s->data[i] != quote)
        i++;
    return i + 1;
}

static void shim(Str *s)
{
    str_c(s);
    for (size_t i = 0; i < s->len;) {
        char c = s->data[i];
        if (c == '\'' || c == '"') {
            i = skip_quoted(s, i);
        } else if (c == '-' && s->data[i + 1] == '-') {
            i += strcspn(s->data + i, "\n");
        } else if (c == '/' && s->data[i + 1] == '*') {
            const char *end = strstr(s->data + i, "*/");
            i = end ? (size_t)(end - s->data) + 2 : s->len;
        } else if (c == '{' && (s->data[i + 1] == '{' || s->data[i + 1] == '%')) {
            i = shim_template(s, i);
        } else {
            if (c == '`')
                s->data[i] = '"';
            if (!strncasecmp(s->data + i, "limit", 5) && i &&
                isspace((unsigned char)s->data[i - 1]))
                shim_limit(s, i + 5);
            i++;
        }
    }
}

static SqlText *text_new(Sql *q, const char *file, const char *text)
{
    SqlText *t = arena_new(&q->p->arena, SqlText);
    Str s = { 0 };
    str_add(&s, text);
    shim(&s);
    t->file = arena_strdup(&q->p->arena, file);
    t->text = arena_strdup(&q->p->arena, str_c(&s));
    t->n = strlen(t->text);
    for (size_t i = 0; i < t->n; i++)
        t->nlines += t->text[i] == '\n';
    t->lines = arena_array(&q->p->arena, size_t, ++t->nlines);
    for (size_t i = 0, k = 1; i < t->n; i++)
        if (t->text[i] == '\n')
            t->lines[k++] = i + 1;
    str_release(&s);
    return t;
}

bool sql_available(void)
{
#ifdef HAVE_PG_QUERY
    return true;
#else
    return false;
#endif
}

#ifdef HAVE_PG_QUERY
/* Other databases take a subquery in FROM without a name. Gives it one; `at` is
 * its parenthesis. */
static bool name_subquery(Sql *q, size_t at, int number)
{
    Str s = { 0 };
    int open = 0;
    size_t i = at;
    str_addn(&s, q->t->text, q->t->n);
    for (; i < s.len; i++) {
        if (s.data[i] == '\'' || s.data[i] == '"') {
            i = skip_quoted(&s, i) - 1;
            continue;
        }
        open += s.data[i] == '(' ? 1 : s.data[i] == ')' ? -1 : 0;
        if (!open)
            break;
    }
    bool ok = i < s.len && i > at;
    if (ok) {
        char *text = arena_printf(&q->p->arena, "%.*s AS unnamed%d%s", (int)i + 1, str_c(&s),
                                  number, str_c(&s) + i + 1);
        q->t = text_new(q, q->t->file, text);
    }
    str_release(&s);
    return ok;
}

/* The parser calls itself for what is inside, and has no end to that: a long text is tried by a
 * child first. */
static bool can_be_parsed(const char *text)
{
    enum { ALWAYS = 8 << 10, SECONDS = 60 };
    if (strlen(text) <= ALWAYS)
        return true;
    ProcResult r = { 0 };
    struct rlimit none = { 0, 0 };
    pid_t pid = proc_fork();
    if (pid == 0) {
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGSEGV, SIG_DFL);
        pg_query_parse(text);
        _exit(0);
    }
    if (pid < 0)
        return false;
    if (!proc_wait_until(pid, clock_seconds() + SECONDS, &r)) {
        kill(pid, SIGKILL);
        proc_wait(pid, &r);
    }
    return r.status == 0;
}

static PgQueryParseResult parse(Sql *q)
{
    PgQueryParseResult r = pg_query_parse(q->t->text);
    for (int k = 1; k < 20 && r.error && strstr(r.error->message, "in FROM must have an alias");
         k++) {
        if (r.error->cursorpos <= 0 || !name_subquery(q, (size_t)r.error->cursorpos - 1, k))
            break;
        pg_query_free_parse_result(r);
        r = pg_query_parse(q->t->text);
    }
    return r;
}

/* The parser's tree has {} for 0 and for every negative integer: the source says
 * which. */
static void mend_integers(const SqlText *t, json_t *node)
{
    json_t *v, *ival = json_object_get(node, "ival");
    size_t i;
    const char *key;
    long long at = json_int(node, "location", 0);
    bool lost = json_is_object(ival) && !json_object_size(ival);
    if (lost && at >= 0 && (size_t)at < t->n && t->text[at] == '-')
        json_object_set_new(ival, "ival",
                            json_integer(-strtoll(t->text + digits_at(t, (size_t)at), NULL, 10)));
    json_object_foreach(node, key, v) mend_integers(t, v);
    json_array_foreach(node, i, v) mend_integers(t, v);
}

static json_t *tree_of(Sql *q)
{
    json_t *tree = NULL;
    if (!can_be_parsed(q->t->text)) {
        sql_fail(q, place(q, 0), "the query is nested too deeply");
        return NULL;
    }
    PgQueryParseResult r = parse(q);
    if (r.error) {
        size_t at = r.error->cursorpos > 0 ? (size_t)r.error->cursorpos - 1 : 0;
        sql_fail(q, place(q, at < q->t->n ? at : q->t->n), "%s", r.error->message);
    } else {
        Err why = { 0 };
        tree = json_parse(r.parse_tree, strlen(r.parse_tree), &why);
        if (!tree)
            sql_fail(q, place(q, 0), "the query is nested too deeply");
        mend_integers(q->t, tree);
    }
    pg_query_free_parse_result(r);
    return tree;
}
#else
static json_t *tree_of(Sql *q)
{
    err_set(q->err,
            "%s: Sundew was built without a parser for SQL. Install it and build again: "
            "apt-get install libpg-query-dev && make",
            q->t->file);
    q->failed = true;
    return NULL;
}
#endif

/* ---- statements */

static bool skippable(const char *kind)
{
    static const char *const kinds[] = { "InsertStmt",       "VariableSetStmt",     "IndexStmt",
                                         "DropStmt",         "TransactionStmt",     "CommentStmt",
                                         "CreateSchemaStmt", "CreateSeqStmt",       "GrantStmt",
                                         "AlterOwnerStmt",   "CreateExtensionStmt", NULL };
    return str_is_one_of(kind, kinds);
}

/* One statement; *query gets the first SELECT. */
static bool statement(Sql *q, json_t *stmt, json_t **query)
{
    const char *kind = sql_kind(stmt);
    json_t *body = sql_body(stmt);
    if (!strcmp(kind, "CreateStmt"))
        return sql_create_table(q, body);
    if (!strcmp(kind, "AlterTableStmt"))
        return sql_alter_table(q, body);
    if (!strcmp(kind, "ViewStmt"))
        body = sql_body(json_object_get(body, "query"));
    else if (!strcmp(kind, "CreateTableAsStmt"))
        body = sql_body(json_object_get(body, "query"));
    else if (skippable(kind))
        return plan_note(q->p, sql_at(q, stmt), "%s is passed over", kind), true;
    else if (strcmp(kind, "SelectStmt"))
        return sql_fail(q, sql_at(q, stmt), "not supported: %s; expected SELECT or CREATE TABLE",
                        kind);
    if (!query)
        return true;
    if (*query)
        return sql_fail(q, sql_at(q, stmt), "a second query; expected one SELECT in a file");
    *query = json_incref(body);
    return true;
}

static bool read_text(Sql *q, const char *file, const char *text, json_t **query)
{
    q->t = text_new(q, file, text);
    json_t *tree = tree_of(q), *stmts = json_object_get(tree, "stmts");
    for (size_t i = 0; i < sql_count(stmts) && !q->failed; i++)
        statement(q, json_object_get(json_array_get(stmts, i), "stmt"), query);
    json_decref(tree);
    return !q->failed;
}

static bool read_files(Sql *q)
{
    for (size_t i = 0; q->o && q->o->schemas && q->o->schemas[i]; i++) {
        Str s = { 0 };
        bool ok = file_read(q->o->schemas[i], &s, q->err);
        q->failed |= !ok;
        ok = ok && read_text(q, q->o->schemas[i], str_c(&s), NULL);
        str_release(&s);
        if (!ok)
            return false;
    }
    return true;
}

/* All tables that a query names come first in the plan: a subquery's tables are
 * there before the operator that asks it. They are hidden until FROM names them. */
static void load_tables(Sql *q, const json_t *v)
{
    const char *key;
    json_t *x;
    size_t i;
    if (json_is_array(v))
        json_array_foreach((json_t *)v, i, x) load_tables(q, x);
    if (!json_is_object(v))
        return;
    const json_t *range = json_object_get(v, "RangeVar");
    SqlTable *t = range ? sql_find_table(q, json_str(range, "relname")) : NULL;
    if (t && !t->load) {
        sql_load(q, t);
        t->load->hidden = true;
        t->load->nout = 1;
    }
    json_object_foreach((json_t *)v, key, x) load_tables(q, x);
}

static bool build(Sql *q, json_t *query)
{
    Rel r;
    if (!query)
        return sql_fail(q, place(q, 0), "there is no query; expected SELECT");
    if (!sql_bind_rules(q))
        return false;
    load_tables(q, query);
    if (!sql_select(q, query, &r))
        return false;
    sql_bind_loads(q);
    r.op->alias = "result";
    if (r.op->kind == OP_LOAD)                     /* TABLE t */
        r.op->nout = 0;
    return plan_finish(q->p, q->err);
}

Plan *sql_parse(const char *text, const char *name, const char *schema, const SqlOptions *o,
                Err *err)
{
    Err own = { 0 };
    Sql q = { .o = o, .err = err ? err : &own };
    json_t *query = NULL;
    q.p = plan_new(LANG_SQL, name);
    q.p->postgres = !q.o || q.o->dialect == SQL_POSTGRES;
    bool ok = read_files(&q) && (!schema || read_text(&q, "schema", schema, NULL)) &&
              read_text(&q, name, text, &query) && build(&q, query);
    json_decref(query);
    vec_release(&q.tables);
    if (ok)
        return q.p;
    plan_free(q.p);
    return NULL;
}

Plan *sql_read(const char *path, const SqlOptions *o, Err *err)
{
    Str s = { 0 };
    Plan *p = file_read(path, &s, err) ? sql_parse(str_c(&s), path, NULL, o, err) : NULL;
    str_release(&s);
    return p;
}
