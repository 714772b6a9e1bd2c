/*
 * Expressions of Pig Latin. From weak to strong: OR; AND; NOT; one comparison,
 * IS NULL, IN or MATCHES; + -; * / %; casts and minus; atoms with . and #.
 *
 * Names become positions at once. A name is looked for in the nested block,
 * then in the row, then in the rows around it; a name of a relation before a
 * dot is a scalar.
 */
#include "dataflow/pig_int.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>

enum { MOST_NESTING = 400, MOST_OPERATORS = 5000 };

static Term *parse_or(Pig *g, PigScope *s);
static Term *parse_unary(Pig *g, PigScope *s);

/* ---- types */

static const struct {
    const char *name;
    DatumKind kind;
} simple_types[] = {
    { "int", DATUM_INT },           { "long", DATUM_LONG },         { "float", DATUM_FLOAT },
    { "double", DATUM_DOUBLE },     { "chararray", DATUM_TEXT },    { "bytearray", DATUM_BYTES },
    { "boolean", DATUM_BOOL },      { "datetime", DATUM_DATETIME }, { "biginteger", DATUM_BIGINT },
    { "bigdecimal", DATUM_BIGDEC }, { "tuple", DATUM_TUPLE },       { "bag", DATUM_BAG },
    { "map", DATUM_MAP },
};

static bool type_word(const Token *t, DatumKind *k)
{
    if (t->kind != TOKEN_NAME)
        return false;
    for (size_t i = 0; i < sizeof simple_types / sizeof *simple_types; i++)
        if (!strcasecmp(simple_types[i].name, t->text)) {
            *k = simple_types[i].kind;
            return true;
        }
    return false;
}

typedef Vec(SchemaField) Fields;

static const Schema *take_fields(Pig *g, Fields *f)
{
    Schema *s = schema_new(g->a, f->len);
    if (f->len)
        memcpy(s->fields, f->items, f->len * sizeof *s->fields);
    vec_release(f);
    return s;
}

/* "name", "name:type" or "type"; *typed is set if a type was given. */
static bool parse_field(Pig *g, SchemaField *f, bool *typed)
{
    DatumKind k;
    f->type = dtype_of(DATUM_BYTES);
    if (pig_is(g, "(") || pig_is(g, "{") || pig_is(g, "["))
        return *typed = true, pig_type(g, &f->type);
    Token *t = pig_peek(g, 0);
    if (type_word(t, &k) && !pig_is_at(g, 1, ":")) {
        *typed = true;
        return pig_type(g, &f->type);
    }
    f->name = pig_want_name(g, "a field name");
    if (!f->name)
        return false;
    if (pig_take(g, ":")) {
        *typed = true;
        return pig_type(g, &f->type);
    }
    return true;
}

static bool parse_fields(Pig *g, const char *close, const Schema **out, bool *typed)
{
    Fields f = { 0 };
    bool ok = true;
    if (!pig_is(g, close))
        do {
            ok = parse_field(g, vec_grow(&f), typed);
        } while (ok && pig_take(g, ","));
    if (!ok || !pig_want(g, close, "in this schema")) {
        vec_release(&f);
        return false;
    }
    *out = take_fields(g, &f);
    return true;
}

/* "{t:(a:int)}", "{(a:int)}", "{a:int}", "{}": after the brace. */
static bool parse_bag_type(Pig *g, Type *t)
{
    bool typed = false;
    *t = dtype_of(DATUM_BAG);
    const Schema *s;
    if (!parse_fields(g, "}", &s, &typed))
        return false;
    if (s->n == 1 && s->fields[0].type.kind == DATUM_TUPLE)
        t->inner = s->fields[0].type.inner;
    else if (s->n)
        t->inner = s;
    return true;
}

static bool parse_type(Pig *g, Type *t)
{
    DatumKind k = DATUM_NULL;
    Token *word = pig_peek(g, 0);
    bool typed = false;
    if (type_word(word, &k)) {
        pig_next(g);
        if (k != DATUM_TUPLE && k != DATUM_BAG && k != DATUM_MAP)
            return *t = dtype_of(k), true;
    }
    *t = dtype_of(k);
    if ((k == DATUM_NULL || k == DATUM_TUPLE) && pig_take(g, "(")) {
        t->kind = DATUM_TUPLE;
        if (!parse_fields(g, ")", &t->inner, &typed))
            return false;
        if (!t->inner->n)
            t->inner = NULL;
        return true;
    }
    if ((k == DATUM_NULL || k == DATUM_BAG) && pig_take(g, "{"))
        return parse_bag_type(g, t);
    if ((k == DATUM_NULL || k == DATUM_MAP) && pig_take(g, "[")) {
        t->kind = DATUM_MAP;
        if (pig_take(g, "]"))
            return true;
        Schema *s = schema_new(g->a, 1);
        t->inner = s;
        return pig_type(g, &s->fields[0].type) && pig_want(g, "]", "after the type of a map");
    }
    return k != DATUM_NULL || pig_expected(g, "a type");
}

bool pig_type(Pig *g, Type *t)
{
    if (g->nesting > MOST_NESTING)
        return pig_fail(g, pig_peek(g, 0)->at, "this type is nested too deep");
    g->nesting++;
    bool ok = parse_type(g, t);
    g->nesting--;
    return ok;
}

bool pig_schema(Pig *g, const Schema **out, bool *typed)
{
    *typed = false;
    if (pig_take(g, "("))
        return parse_fields(g, ")", out, typed);
    Schema *s = schema_new(g->a, 1);
    *out = s;
    return parse_field(g, &s->fields[0], typed);
}

/* ---- names */

Op *pig_relation(Pig *g, const Token *t)
{
    Names *n = t->put && g->names->outer ? g->names->outer : g->names;
    for (; n; n = n->outer) {
        Op *op = map_get(&n->aliases, t->text);
        if (op)
            return op;
    }
    return NULL;
}

/* Moves references to rows outside of nested parts of the expression. */
static void shift_in_place(Term *e, int by)
{
    if (e->kind == TERM_FIELD || e->kind == TERM_NESTED)
        e->depth += by;
}

static Term *clone(Pig *g, const Term *e)
{
    Term *c = term_new(g->plan, e->kind, e->at);
    *c = *e;
    c->args = arena_array(g->a, Term *, e->nargs + 1);
    for (size_t i = 0; i < e->nargs; i++)
        c->args[i] = clone(g, e->args[i]);
    return c;
}

static void shift_all(Term *e, int by)
{
    shift_in_place(e, by);
    for (size_t i = 0; i < e->nargs; i++)
        shift_all(e->args[i], by);
}

Term *pig_shift(Pig *g, Term *e, int by)
{
    Term *c = clone(g, e);
    shift_all(c, by);
    return c;
}

/* The innermost scope with this name. NULL with *ambiguous: several fields. */
static Term *find_name(Pig *g, PigScope *s, const char *name, SrcPos at, bool *ambiguous)
{
    int depth = 0;
    for (; s; s = s->up, depth++) {
        NestedName *n = s->nested ? map_get(s->nested, name) : NULL;
        if (n && n->expr)
            return pig_shift(g, n->expr, depth);
        if (n) {
            Term *e = term_new(g->plan, TERM_NESTED, at);
            e->op = n->op;
            e->depth = depth;
            return e;
        }
        int i = s->types.row ? schema_find(s->types.row, name) : -1;
        if (i == -2) {
            *ambiguous = true;
            return NULL;
        }
        if (i >= 0)
            return term_field(g->plan, depth, i, at);
    }
    return NULL;
}

static void name_hint(const PigScope *s, const char *name, Str *out)
{
    const char *names[200];
    size_t n = 0;
    for (; s; s = s->up)
        for (size_t i = 0; s->types.row && i < s->types.row->n && n < 199; i++)
            if (s->types.row->fields[i].name)
                names[n++] = s->types.row->fields[i].name;
    names[n] = NULL;
    const char *near = str_nearest(name, names);
    if (near) {
        str_addf(out, "; did you mean %s?", near);
    } else if (n) {
        str_add(out, "; the fields are");
        for (size_t i = 0; i < n && i < 12; i++)
            str_addf(out, "%s %s", i ? "," : "", names[i]);
    }
}

static Term *no_such_name(Pig *g, PigScope *s, const Token *t, bool ambiguous)
{
    Str hint = { 0 };
    if (ambiguous)
        pig_fail(g, t->at, "several fields are called %s: write ALIAS::%s", t->text, t->text);
    else if (s && !s->types.row && !s->up)
        pig_fail(g, t->at, "%s: the schema is not known here: use $0, $1, or give LOAD an AS",
                 t->text);
    else {
        name_hint(s, t->text, &hint);
        pig_fail(g, t->at, "there is no field %s%s", t->text, str_c(&hint));
    }
    str_release(&hint);
    return NULL;
}

/* The number of "$3". */
static bool position(Pig *g, const Token *t, int *out)
{
    long n = strtol(t->text + 1, NULL, 10);
    if (n < 0 || n > 100000)
        return pig_fail(g, t->at, "there is no field %s", t->text);
    *out = (int)n;
    return true;
}

/* "C.total", "C.$0": the relation's one row. */
static Term *parse_scalar(Pig *g, Op *op)
{
    Term *e = term_new(g->plan, TERM_SCALAR, pig_peek(g, 0)->at);
    e->op = op;
    op->nout++;
    if (!pig_want(g, ".", "after the name of a relation"))
        return NULL;
    bool paren = pig_take(g, "(");
    Token *t = pig_next(g);
    if (t->kind == TOKEN_POSITION) {
        if (!position(g, t, &e->index))
            return NULL;
    } else if (t->kind == TOKEN_NAME && op->schema && schema_find(op->schema, t->text) >= 0) {
        e->index = schema_find(op->schema, t->text);
    } else {
        return pig_fail(g, t->at, "%s has no field %s", op->alias ? op->alias : "the relation",
                        t->text),
               NULL;
    }
    if (paren && !pig_want(g, ")", "after the field"))
        return NULL;
    return e;
}

static Term *parse_name(Pig *g, PigScope *s)
{
    Token *t = pig_next(g);
    bool ambiguous = false;
    Term *e = find_name(g, s, t->text, t->at, &ambiguous);
    if (e)
        return e;
    Op *op = !ambiguous && pig_is(g, ".") ? pig_relation(g, t) : NULL;
    if (op)
        return parse_scalar(g, op);
    return no_such_name(g, s, t, ambiguous);
}

static Term *parse_position(Pig *g, PigScope *s)
{
    Token *t = pig_next(g);
    int n = 0;
    (void)s;
    return position(g, t, &n) ? term_field(g->plan, 0, n, t->at) : NULL;
}

/* ---- projections */

/* The schema of what stands before a dot. */
static const Schema *inner_of(Pig *g, Term **e, PigScope *s)
{
    /* Types are needed for names; finishing twice does no harm. */
    if (!term_finish(g->plan, e, &s->types, g->err))
        return NULL;
    return (*e)->type.kind == DATUM_TUPLE || (*e)->type.kind == DATUM_BAG ? (*e)->type.inner : NULL;
}

typedef Vec(int) Ints;

static bool add_column(Pig *g, const Schema *inner, Ints *out)
{
    Token *t = pig_next(g);
    if (t->kind == TOKEN_POSITION) {
        int n = 0;
        if (!position(g, t, &n))
            return false;
        vec_push(out, n);
        return true;
    }
    if (t->kind == TOKEN_SIGN && !strcmp(t->text, "*") && inner) {
        for (size_t i = 0; i < inner->n; i++)
            vec_push(out, (int)i);
        return true;
    }
    if (t->kind != TOKEN_NAME)
        return pig_fail(g, t->at, "expected a field after the dot, found \"%s\"", t->text);
    int i = inner ? schema_find(inner, t->text) : -1;
    if (i == -2)
        return pig_fail(g, t->at, "several fields are called %s: write ALIAS::%s", t->text,
                        t->text);
    if (i < 0) {
        PigScope fields = { .types = { .row = inner } };
        Str hint = { 0 };
        name_hint(&fields, t->text, &hint);
        pig_fail(g, t->at,
                 inner ? "there is no field %s in it%s"
                       : "%s: the fields are not known here: use $0, $1%s",
                 t->text, str_c(&hint));
        str_release(&hint);
        return false;
    }
    vec_push(out, i);
    return true;
}

/* After a dot: "x", "$0", "(x, y)". */
static Term *parse_projection(Pig *g, Term *of, PigScope *s)
{
    Term *e = term_new(g->plan, TERM_PROJECT, of->at);
    const Schema *inner = inner_of(g, &of, s);
    if (*g->err->msg)
        return NULL;
    term_arg(g->plan, e, of);
    Ints columns = { 0 };
    bool ok = true;
    if (pig_take(g, "(")) {
        e->wrap = true;
        do {
            ok = add_column(g, inner, &columns);
        } while (ok && pig_take(g, ","));
        ok = ok && pig_want(g, ")", "after the fields");
    } else {
        ok = add_column(g, inner, &columns);
    }
    e->ncolumns = columns.len;
    e->columns = arena_array(g->a, int, columns.len);
    if (columns.len)
        memcpy(e->columns, columns.items, columns.len * sizeof(int));
    vec_release(&columns);
    return ok ? e : NULL;
}

static Term *parse_suffixes(Pig *g, Term *e, PigScope *s)
{
    while (e) {
        if (pig_is(g, ".") && !pig_is_at(g, 1, ".")) {
            pig_next(g);
            e = parse_projection(g, e, s);
        } else if (pig_take(g, "#")) {
            Token *t = pig_next(g);
            if (t->kind != TOKEN_STRING)
                return pig_fail(g, t->at, "expected a key in quotes after #, found \"%s\"",
                                t->text),
                       NULL;
            e = term_binary(g->plan, TERM_LOOKUP, e,
                            term_const(g->plan, datum_textn(g->a, t->text, t->len), t->at));
        } else {
            break;
        }
    }
    return e;
}

/* ---- atoms */

static Term *parse_number(Pig *g, bool minus)
{
    Token *t = pig_next(g);
    char last = (char)(t->text[t->len - 1] | 32), before = t->len > 1 ? t->text[t->len - 2] : 0;
    double sign = minus ? -1 : 1;
    errno = 0;
    if ((before | 32) == 'b' && last == 'i') {
        Datum v = datum_long((int64_t)strtoll(t->text, NULL, 10) * (minus ? -1 : 1));
        v.kind = DATUM_BIGINT;
        return term_const(g->plan, v, t->at);
    }
    if ((before | 32) == 'b' && last == 'd') {
        Datum v = datum_double(sign * strtod(t->text, NULL));
        v.kind = DATUM_BIGDEC;
        return term_const(g->plan, v, t->at);
    }
    if (last == 'f')
        return term_const(g->plan, datum_float(sign * strtof(t->text, NULL)), t->at);
    if (strpbrk(t->text, ".eE"))
        return term_const(g->plan, datum_double(sign * strtod(t->text, NULL)), t->at);
    unsigned long long n = strtoull(t->text, NULL, 10);
    unsigned long long most = last == 'l' ? INT64_MAX : INT32_MAX;
    if (errno || n > most + minus)
        return pig_fail(g, t->at, "%s is too large for %s", t->text,
                        last == 'l' ? "a long" : "an int: write an L behind it"),
               NULL;
    int64_t v = (int64_t)(minus ? 0 - n : n);
    return term_const(g->plan, last == 'l' ? datum_long(v) : datum_int((int32_t)v), t->at);
}

/* Is this a function's name: names and dots up to a parenthesis? */
static size_t function_name_tokens(Pig *g)
{
    size_t i = 0;
    while (pig_peek(g, i)->kind == TOKEN_NAME) {
        if (pig_is_at(g, i + 1, "("))
            return i + 1;
        if (!pig_is_at(g, i + 1, "."))
            return 0;
        i += 2;
    }
    return 0;
}

static bool parse_args(Pig *g, PigScope *s, Terms *out)
{
    if (pig_take(g, ")"))
        return true;
    do {
        if (!pig_columns(g, s, out))
            return false;
    } while (pig_take(g, ","));
    return pig_want(g, ")", "after the arguments");
}

static Term *parse_call(Pig *g, PigScope *s, size_t ntokens)
{
    SrcPos at = pig_peek(g, 0)->at;
    Str name = { 0 };
    for (size_t i = 0; i < ntokens; i++)
        str_add(&name, pig_next(g)->text);
    const char *full = arena_strdup(g->a, str_c(&name));
    str_release(&name);
    pig_next(g);
    Terms args = { 0 };
    bool ok = parse_args(g, s, &args);
    Term *e = NULL;
    if (ok) {
        PigDefine *d = map_get(&g->defines, full);
        e = term_call(g->plan, d ? d->function : full, args.items, args.len, at);
        e->ctor = d ? d->args : NULL;
        e->nctor = d ? d->nargs : 0;
    }
    vec_release(&args);
    return e;
}

static Term *call_of(Pig *g, const char *name, Terms *args, SrcPos at)
{
    Term *e = term_call(g->plan, name, args->items, args->len, at);
    vec_release(args);
    return e;
}

/* "{e, …}" and "(e, …)" after their first sign. */
static Term *parse_constructor(Pig *g, PigScope *s, const char *name, const char *close,
                               Term *first, SrcPos at)
{
    Terms args = { 0 };
    bool ok = true;
    if (first)
        vec_push(&args, first);
    if (first ? pig_take(g, ",") : !pig_is(g, close))
        do {
            ok = pig_columns(g, s, &args);
        } while (ok && pig_take(g, ","));
    if (!ok || !pig_want(g, close, "after the values")) {
        vec_release(&args);
        return NULL;
    }
    return call_of(g, name, &args, at);
}

/* "['k'#v, …]" after the bracket. */
static Term *parse_map(Pig *g, PigScope *s, SrcPos at)
{
    Terms args = { 0 };
    while (!pig_is(g, "]")) {
        Token *t = pig_next(g);
        Term *v = NULL;
        if (t->kind != TOKEN_STRING)
            pig_fail(g, t->at, "expected a key in quotes, found \"%s\"", t->text);
        else if (pig_want(g, "#", "after the key"))
            v = parse_or(g, s);
        if (!v) {
            vec_release(&args);
            return NULL;
        }
        vec_push(&args, term_const(g->plan, datum_textn(g->a, t->text, t->len), t->at));
        vec_push(&args, v);
        if (!pig_take(g, ","))
            break;
    }
    if (!pig_want(g, "]", "after the map")) {
        vec_release(&args);
        return NULL;
    }
    return call_of(g, "TOMAP", &args, at);
}

/* Is this "(type)" before something to be cast? */
static bool is_cast(Pig *g)
{
    DatumKind k;
    if (pig_is_at(g, 1, "{") || pig_is_at(g, 1, "["))
        return pig_is_at(g, 1, "[") ? pig_is_at(g, 2, "]")
                                    : pig_is_at(g, 2, "(") || pig_is_at(g, 2, "}");
    if (!type_word(pig_peek(g, 1), &k))
        return false;
    if (pig_is_at(g, 2, ")"))
        return true;
    return (k == DATUM_BAG && pig_is_at(g, 2, "{")) || (k == DATUM_MAP && pig_is_at(g, 2, "[")) ||
           (k == DATUM_TUPLE && pig_is_at(g, 2, "("));
}

static Term *parse_cast(Pig *g, PigScope *s)
{
    SrcPos at = pig_next(g)->at;
    Type t;
    if (!pig_type(g, &t) || !pig_want(g, ")", "after the type"))
        return NULL;
    Term *x = parse_unary(g, s);
    if (!x)
        return NULL;
    Term *e = term_cast(g->plan, x, t, false);
    e->at = at;
    return e;
}

static Term *parse_paren(Pig *g, PigScope *s)
{
    SrcPos at = pig_next(g)->at;
    if (pig_is(g, ")") || pig_is(g, "*"))
        return parse_constructor(g, s, "TOTUPLE", ")", NULL, at);
    Term *e = parse_or(g, s);
    if (!e)
        return NULL;
    if (pig_take(g, "?")) {
        Term *yes = parse_or(g, s);
        if (!yes || !pig_want(g, ":", "between the two values of ?:"))
            return NULL;
        Term *no = parse_or(g, s);
        if (!no || !pig_want(g, ")", "after ?:"))
            return NULL;
        Term *c = term_unary(g->plan, TERM_COND, e);
        c->at = at;
        term_arg(g->plan, c, yes);
        term_arg(g->plan, c, no);
        return c;
    }
    if (pig_is(g, ","))
        return parse_constructor(g, s, "TOTUPLE", ")", e, at);
    if (pig_is(g, "..")) {
        pig_expected(g, "\")\"");
        return NULL;
    }
    return pig_want(g, ")", "after the expression") ? e : NULL;
}

static Term *make_cond(Pig *g, Term *c, Term *yes, Term *no)
{
    Term *e = term_unary(g->plan, TERM_COND, c);
    term_arg(g->plan, e, yes);
    term_arg(g->plan, e, no);
    return e;
}

/* CASE is a chain of ?:. Pig tests the WHENs of the form with a value from the
 * last to the first, those of the other form from the first to the last. */
static Term *parse_case(Pig *g, PigScope *s)
{
    SrcPos at = pig_next(g)->at;
    Term *of = NULL;
    if (!pig_is(g, "WHEN") && !(of = parse_or(g, s)))
        return NULL;
    Terms parts = { 0 };
    bool ok = true;
    while (ok && pig_take(g, "WHEN")) {
        Term *c = parse_or(g, s), *v = NULL;
        ok = c && pig_want(g, "THEN", "after the condition of WHEN") && (v = parse_or(g, s));
        vec_push(&parts, c);
        vec_push(&parts, v);
    }
    Term *e = NULL;
    if (ok && pig_take(g, "ELSE"))
        ok = (e = parse_or(g, s)) != NULL;
    if (ok && !parts.len)
        ok = pig_expected(g, "WHEN");
    ok = ok && pig_want(g, "END", "after CASE");
    if (ok && !e)
        e = term_const(g->plan, datum_null(), at);
    for (size_t i = 0; ok && i < parts.len; i += 2) {
        size_t k = of ? i : parts.len - 2 - i;
        Term *c = parts.items[k];
        if (of)
            c = term_binary(g->plan, TERM_EQ, clone(g, of), c);
        e = make_cond(g, c, parts.items[k + 1], e);
        e->at = at;
    }
    vec_release(&parts);
    return ok ? e : NULL;
}

static Term *parse_word(Pig *g, PigScope *s)
{
    size_t n = function_name_tokens(g);
    Token *t = pig_peek(g, 0);
    if (n && !pig_is(g, "CASE"))
        return parse_call(g, s, n);
    if (!strcasecmp(t->text, "null")) {
        pig_next(g);
        return term_const(g->plan, datum_null(), t->at);
    }
    if (!strcasecmp(t->text, "case") && (pig_is_at(g, 1, "WHEN") || !pig_is_at(g, 1, ".")))
        return parse_case(g, s);
    if (!strcasecmp(t->text, "true") || !strcasecmp(t->text, "false")) {
        pig_next(g);
        return term_const(g->plan, datum_bool((t->text[0] | 32) == 't'), t->at);
    }
    return parse_name(g, s);
}

static Term *parse_atom(Pig *g, PigScope *s)
{
    Token *t = pig_peek(g, 0);
    switch (t->kind) {
    case TOKEN_NUMBER: return parse_number(g, false);
    case TOKEN_STRING:
        pig_next(g);
        return term_const(g->plan, datum_textn(g->a, t->text, t->len), t->at);
    case TOKEN_POSITION: return parse_position(g, s);
    case TOKEN_NAME: return parse_word(g, s);
    case TOKEN_SIGN:
        if (!strcmp(t->text, "("))
            return parse_paren(g, s);
        if (!strcmp(t->text, "{")) {
            pig_next(g);
            return parse_constructor(g, s, "TOBAG", "}", NULL, t->at);
        }
        if (!strcmp(t->text, "[")) {
            pig_next(g);
            return parse_map(g, s, t->at);
        }
        break;
    default: break;
    }
    pig_expected(g, "a value");
    return NULL;
}

static Term *parse_unary(Pig *g, PigScope *s)
{
    Term *e;
    if (g->nesting > MOST_NESTING) {
        pig_fail(g, pig_peek(g, 0)->at, "this expression is nested too deep");
        return NULL;
    }
    g->nesting++;
    if (pig_is(g, "(") && is_cast(g)) {
        e = parse_cast(g, s);
    } else if (pig_is(g, "-")) {
        pig_next(g);
        if (pig_peek(g, 0)->kind == TOKEN_NUMBER) {
            e = parse_number(g, true);
        } else {
            e = parse_unary(g, s);
            e = e ? term_unary(g->plan, TERM_NEG, e) : NULL;
        }
    } else {
        e = parse_atom(g, s);
        e = e ? parse_suffixes(g, e, s) : NULL;
    }
    g->nesting--;
    return e;
}

/* ---- operators */

typedef struct Sign {
    const char *text;
    TermKind kind;
} Sign;

static const Sign products[] = { { "*", TERM_MUL }, { "/", TERM_DIV }, { "%", TERM_MOD }, { 0 } };
static const Sign sums[] = { { "+", TERM_ADD }, { "-", TERM_SUB }, { 0 } };
static const Sign comparisons[] = {
    { "==", TERM_EQ },
    { "!=", TERM_NE },
    { "<=", TERM_LE },
    { ">=", TERM_GE },
    { "<", TERM_LT },
    { ">", TERM_GT },
    { "eq", TERM_EQ },
    { "neq", TERM_NE },
    { "lt", TERM_LT },
    { "gt", TERM_GT },
    { "lte", TERM_LE },
    { "gte", TERM_GE },
    { "matches", TERM_MATCHES },
    { 0 },
};

static const Sign *take_sign(Pig *g, const Sign *signs)
{
    for (; signs->text; signs++)
        if (pig_take(g, signs->text))
            return signs;
    return NULL;
}

static bool one_more(Pig *g)
{
    return ++g->operators <= MOST_OPERATORS ||
           pig_fail(g, pig_peek(g, 0)->at, "this expression has more than %d operators",
                    MOST_OPERATORS);
}

static Term *parse_chain(Pig *g, PigScope *s, const Sign *signs,
                         Term *(*below)(Pig *g, PigScope *s))
{
    Term *e = below(g, s);
    const Sign *sign;
    while (e && (sign = take_sign(g, signs))) {
        Term *y = one_more(g) ? below(g, s) : NULL;
        e = y ? term_binary(g->plan, sign->kind, e, y) : NULL;
    }
    return e;
}

static Term *parse_product(Pig *g, PigScope *s) { return parse_chain(g, s, products, parse_unary); }

static Term *parse_sum(Pig *g, PigScope *s) { return parse_chain(g, s, sums, parse_product); }

static Term *parse_is(Pig *g, Term *e)
{
    bool not = pig_take(g, "NOT");
    if (!pig_want(g, "NULL", "after IS"))
        return NULL;
    e = term_unary(g->plan, TERM_IS_NULL, e);
    return not ? term_unary(g->plan, TERM_NOT, e) : e;
}

/* x IN (a, b) is x == a OR x == b. */
static Term *parse_in(Pig *g, PigScope *s, Term *x)
{
    Term *e = NULL;
    if (!pig_want(g, "(", "after IN"))
        return NULL;
    do {
        Term *v = one_more(g) ? parse_or(g, s) : NULL;
        if (!v)
            return NULL;
        Term *eq = term_binary(g->plan, TERM_EQ, e ? clone(g, x) : x, v);
        e = e ? term_binary(g->plan, TERM_OR, e, eq) : eq;
    } while (pig_take(g, ","));
    return pig_want(g, ")", "after the values of IN") ? e : NULL;
}

static Term *parse_comparison(Pig *g, PigScope *s)
{
    Term *e = parse_sum(g, s);
    if (!e)
        return NULL;
    const Sign *sign = take_sign(g, comparisons);
    if (sign) {
        Term *y = parse_sum(g, s);
        return y ? term_binary(g->plan, sign->kind, e, y) : NULL;
    }
    if (pig_take(g, "IS"))
        return parse_is(g, e);
    if (pig_is(g, "IN") && pig_is_at(g, 1, "(")) {
        pig_next(g);
        return parse_in(g, s, e);
    }
    return e;
}

static Term *parse_not(Pig *g, PigScope *s)
{
    if (!pig_is(g, "NOT"))
        return parse_comparison(g, s);
    SrcPos at = pig_next(g)->at;
    if (++g->nesting > MOST_NESTING)
        return pig_fail(g, at, "this expression is nested too deep"), NULL;
    Term *e = parse_not(g, s);
    g->nesting--;
    return e ? term_unary(g->plan, TERM_NOT, e) : NULL;
}

static const Sign ands[] = { { "and", TERM_AND }, { 0 } };
static const Sign ors[] = { { "or", TERM_OR }, { 0 } };

static Term *parse_and(Pig *g, PigScope *s) { return parse_chain(g, s, ands, parse_not); }

static Term *parse_or(Pig *g, PigScope *s) { return parse_chain(g, s, ors, parse_and); }

Term *pig_expr(Pig *g, PigScope *s)
{
    if (!g->nesting)
        g->operators = 0;
    return parse_or(g, s);
}

/* ---- columns */

static bool range_end(Pig *g)
{
    return pig_is(g, ",") || pig_is(g, ")") || pig_is(g, ";") || pig_is(g, "ASC") ||
           pig_is(g, "DESC") || pig_is(g, "AS") || pig_peek(g, 0)->kind == TOKEN_END;
}

static bool add_range(Pig *g, PigScope *s, int from, int to, SrcPos at, Terms *out)
{
    if (!s->types.row)
        return pig_fail(g, at, "a range needs a known schema");
    if (to < 0)
        to = (int)s->types.row->n - 1;
    if (from > to)
        return pig_fail(g, at, "this range ends before it begins");
    for (int i = from; i <= to; i++)
        vec_push(out, term_field(g->plan, 0, i, at));
    return true;
}

static bool bound(Pig *g, PigScope *s, int *index)
{
    SrcPos at = pig_peek(g, 0)->at;
    Term *e = parse_sum(g, s);
    if (!e)
        return false;
    if (e->kind != TERM_FIELD || e->depth || e->index < 0)
        return pig_fail(g, at, "a range goes from a field to a field");
    *index = e->index;
    return true;
}

bool pig_columns(Pig *g, PigScope *s, Terms *out)
{
    SrcPos at = pig_peek(g, 0)->at;
    int to = -1;
    if (pig_is(g, "*")) {
        pig_next(g);
        if (s->types.row)
            return add_range(g, s, 0, -1, at, out);
        vec_push(out, term_field(g->plan, 0, -1, at));
        return true;
    }
    if (pig_take(g, "..")) {
        if (!range_end(g) && !bound(g, s, &to))
            return false;
        return add_range(g, s, 0, to, at, out);
    }
    Term *e = parse_or(g, s);
    if (!e)
        return false;
    if (!pig_is(g, "..")) {
        vec_push(out, e);
        return true;
    }
    pig_next(g);
    if (e->kind != TERM_FIELD || e->depth || e->index < 0)
        return pig_fail(g, at, "a range goes from a field to a field");
    if (!range_end(g) && !bound(g, s, &to))
        return false;
    return add_range(g, s, e->index, to, at, out);
}

Op *pig_nested_source(Pig *g, PigScope *s)
{
    SrcPos at = pig_peek(g, 0)->at;
    Term *e = parse_unary(g, s);
    if (!e)
        return NULL;
    if (e->kind == TERM_NESTED && !e->depth)
        return e->op;
    Op *op = plan_nested(g->plan, OP_BAG, at);
    op->source = e;
    op->hidden = true;
    if (!op_finish_in(g->plan, op, &s->types, g->err))
        return NULL;
    return op;
}
