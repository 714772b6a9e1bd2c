/*
 * Statements of Pig Latin: a row each in two tables, one for what may stand
 * after "alias =" and one for the rest. Macros are parsed anew at each use,
 * from the text of their body with the arguments put in.
 */
#include "base/file.h"
#include "dataflow/pig_int.h"
#include <assert.h>
#include <ctype.h>
#include <stdio.h>

enum { MOST_DEPTH = 40, MOST_OPS = 20000 };

/* ---- the parser's hands */

Token *pig_peek(Pig *g, size_t ahead)
{
    size_t i = g->at + ahead;
    return &g->tokens.items[i < g->tokens.n ? i : g->tokens.n - 1];
}

Token *pig_next(Pig *g)
{
    Token *t = pig_peek(g, 0);
    if (g->at + 1 < g->tokens.n)
        g->at++;
    return t;
}

bool pig_is_at(Pig *g, size_t ahead, const char *word)
{
    Token *t = pig_peek(g, ahead);
    return (t->kind == TOKEN_NAME || t->kind == TOKEN_SIGN) && !strcasecmp(t->text, word);
}

bool pig_is(Pig *g, const char *word) { return pig_is_at(g, 0, word); }

bool pig_take(Pig *g, const char *word)
{
    if (!pig_is(g, word))
        return false;
    pig_next(g);
    return true;
}

bool pig_fail(Pig *g, SrcPos at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = xvprintf(fmt, ap);
    va_end(ap);
    if (!*g->err->msg)
        err_set(g->err, "%s:%d:%d: %s", at.file, at.line, at.column, text);
    free(text);
    return false;
}

bool pig_expected(Pig *g, const char *what)
{
    Token *t = pig_peek(g, 0);
    if (t->kind == TOKEN_END)
        return pig_fail(g, t->at, "expected %s, found the end of the script", what);
    return pig_fail(g, t->at, "expected %s, found \"%.40s\"", what, t->text);
}

bool pig_want(Pig *g, const char *word, const char *where)
{
    if (pig_take(g, word))
        return true;
    char what[200];
    snprintf(what, sizeof what, "%s%s%s %s", isalpha((unsigned char)*word) ? "" : "\"", word,
             isalpha((unsigned char)*word) ? "" : "\"", where);
    return pig_expected(g, what);
}

const char *pig_want_name(Pig *g, const char *what)
{
    if (pig_peek(g, 0)->kind != TOKEN_NAME) {
        pig_expected(g, what);
        return NULL;
    }
    return pig_next(g)->text;
}

/* ---- relations */

static Op *parse_operator(Pig *g);

static const char *near_alias(Pig *g, const char *name);

static Op *want_relation(Pig *g)
{
    Token *t = pig_peek(g, 0);
    if (pig_take(g, "(")) {
        if (pig_peek(g, 0)->kind == TOKEN_NAME && (pig_is_at(g, 1, ")"))) {
            Op *same = want_relation(g);
            return same && pig_want(g, ")", "after the relation") ? same : NULL;
        }
        Op *op = parse_operator(g);
        return op && pig_want(g, ")", "after the inner operator") ? op : NULL;
    }
    if (pig_take(g, "@")) {
        if (!g->last)
            pig_fail(g, t->at, "@ is the relation before, and there is none");
        return g->last;
    }
    if (t->kind != TOKEN_NAME) {
        pig_expected(g, "a relation");
        return NULL;
    }
    pig_next(g);
    Op *op = pig_relation(g, t);
    if (!op) {
        const char *near = near_alias(g, t->text);
        pig_fail(g, t->at, "there is no relation %s%s%s", t->text, near ? "; did you mean " : "",
                 near ? near : "");
    }
    return op;
}

static const char *near_alias(Pig *g, const char *name)
{
    const char *words[300];
    size_t n = 0;
    for (Names *k = g->names; k; k = k->outer)
        for (size_t i = 0; i < k->aliases.len && n < 299; i++)
            words[n++] = k->aliases.entries[i].key;
    words[n] = NULL;
    return str_nearest(name, words);
}

static Op *new_op(Pig *g, OpKind kind)
{
    if (g->plan->ops.len >= MOST_OPS) {
        pig_fail(g, pig_peek(g, 0)->at, "the script has more than %d operators", MOST_OPS);
        return NULL;
    }
    return plan_op(g->plan, kind, pig_peek(g, 0)->at);
}

static Op *finish(Pig *g, Op *op) { return op_finish(g->plan, op, g->err) ? op : NULL; }

static PigScope scope_of(const Op *in) { return (PigScope){ .types = { .row = in->schema } }; }

/* USING 'hint', PARALLEL n, PARTITION BY class: they change no result. */
static bool skip_hints(Pig *g)
{
    for (;;) {
        if (pig_is(g, "USING") && pig_peek(g, 1)->kind == TOKEN_STRING) {
            pig_next(g);
            pig_next(g);
        } else if (pig_is(g, "PARALLEL")) {
            pig_next(g);
            if (pig_peek(g, 0)->kind != TOKEN_NUMBER)
                return pig_expected(g, "a number after PARALLEL");
            pig_next(g);
        } else if (pig_take(g, "PARTITION")) {
            if (!pig_want(g, "BY", "after PARTITION"))
                return false;
            while (pig_peek(g, 0)->kind == TOKEN_NAME && !pig_is(g, "PARALLEL")) {
                pig_next(g);
                pig_take(g, ".");
            }
        } else {
            return true;
        }
    }
}

static bool want_by(Pig *g, const char *after)
{
    return pig_take(g, "ON") || pig_want(g, "BY", after);
}

/* ---- LOAD and STORE */

/* "Loader('a', 'b')" after USING, and after the name in DEFINE. */
static bool parse_function(Pig *g, Op *op)
{
    Str name = { 0 };
    while (pig_peek(g, 0)->kind == TOKEN_NAME) {
        str_add(&name, pig_next(g)->text);
        if (!pig_take(g, "."))
            break;
        str_addc(&name, '.');
    }
    op->loader = arena_strdup(g->a, str_c(&name));
    str_release(&name);
    if (!*op->loader)
        return pig_expected(g, "a function after USING");
    PigDefine *d = map_get(&g->defines, op->loader);
    if (d) {
        op->loader = d->function;
        op->loader_args = (const char **)d->args;
        op->nloader_args = d->nargs;
    }
    if (!pig_take(g, "("))
        return true;
    Vec(const char *) args = { 0 };
    while (!pig_is(g, ")") && pig_peek(g, 0)->kind != TOKEN_END) {
        if (pig_peek(g, 0)->kind == TOKEN_STRING)
            vec_push(&args, pig_peek(g, 0)->text);
        pig_next(g);
    }
    op->loader_args = arena_array(g->a, const char *, args.len);
    op->nloader_args = args.len;
    if (args.len)
        memcpy(op->loader_args, args.items, args.len * sizeof *args.items);
    vec_release(&args);
    return pig_want(g, ")", "after the loader's arguments");
}

static bool parse_loader(Pig *g, Op *op) { return !pig_take(g, "USING") || parse_function(g, op); }

/* JsonLoader('a:int, b:chararray') has its schema as an argument. */
static bool schema_of_loader(Pig *g, Op *op)
{
    if (op->schema || !op->loader || !str_ends(op->loader, "JsonLoader") || op->nloader_args != 1)
        return true;
    const char *s = arena_printf(g->a, "(%s)", op->loader_args[0]);
    PigText text = pig_text_of(g->a, op->at.file, s, strlen(s));
    Tokens tokens = g->tokens;
    size_t at = g->at;
    bool ok = pig_tokens(g->a, &text, &g->tokens, g->err);
    for (size_t i = 0; ok && i < g->tokens.n; i++)
        g->tokens.items[i].at = op->at;
    g->at = 0;
    ok = ok && pig_schema(g, &op->schema, &op->typed);
    if (ok && pig_peek(g, 0)->kind != TOKEN_END)
        ok = pig_expected(g, "the end of JsonLoader's schema");
    g->tokens = tokens;
    g->at = at;
    return ok;
}

static Op *parse_load(Pig *g)
{
    Op *op = new_op(g, OP_LOAD);
    if (!op)
        return NULL;
    Token *t = pig_next(g);
    if (t->kind != TOKEN_STRING)
        return pig_fail(g, t->at, "expected a path in quotes after LOAD, found \"%.40s\"", t->text),
               NULL;
    op->path = t->text;
    if (!parse_loader(g, op))
        return NULL;
    if (pig_take(g, "AS") && !pig_schema(g, &op->schema, &op->typed))
        return NULL;
    return schema_of_loader(g, op) ? finish(g, op) : NULL;
}

static bool parse_store(Pig *g)
{
    Op *in = want_relation(g);
    Op *op = in ? new_op(g, OP_STORE) : NULL;
    if (!op || !pig_want(g, "INTO", "after the relation of STORE"))
        return false;
    Token *t = pig_next(g);
    if (t->kind != TOKEN_STRING)
        return pig_fail(g, t->at, "expected a path in quotes after INTO, found \"%.40s\"", t->text);
    size_t len = t->len;
    while (len > 1 && t->text[len - 1] == '/')
        len--;
    op->path = arena_strndup(g->a, t->text, len);
    op->alias = in->alias;
    op_input(g->plan, op, in);
    return parse_loader(g, op) && skip_hints(g) && finish(g, op);
}

static bool parse_dump(Pig *g)
{
    Op *in = want_relation(g);
    Op *op = in ? new_op(g, OP_STORE) : NULL;
    if (!op)
        return false;
    op->alias = in->alias;
    op->hidden = true;
    op_input(g->plan, op, in);
    return finish(g, op);
}

/* ---- rows */

static Op *parse_filter(Pig *g)
{
    Op *in = want_relation(g);
    Op *op = in && want_by(g, "after the relation of FILTER") ? new_op(g, OP_FILTER) : NULL;
    if (!op)
        return NULL;
    op_input(g->plan, op, in);
    PigScope s = scope_of(in);
    op->cond = pig_expr(g, &s);
    return op->cond && skip_hints(g) ? finish(g, op) : NULL;
}

static Op *parse_assert(Pig *g)
{
    Op *in = want_relation(g);
    Op *op = in && want_by(g, "after the relation of ASSERT") ? new_op(g, OP_ASSERT) : NULL;
    if (!op)
        return NULL;
    op_input(g->plan, op, in);
    op->alias = in->alias;
    PigScope s = scope_of(in);
    op->cond = pig_expr(g, &s);
    if (!op->cond)
        return NULL;
    if (pig_take(g, ",") && pig_peek(g, 0)->kind == TOKEN_STRING)
        op->message = pig_next(g)->text;
    return finish(g, op);
}

/* ---- FOREACH */

typedef Vec(Item) Items;

static bool parse_item_as(Pig *g, Item *it)
{
    return !pig_take(g, "AS") || pig_schema(g, &it->as, &it->typed);
}

/* One item of GENERATE: an expression, FLATTEN(e), *, a range. */
static bool parse_item(Pig *g, PigScope *s, Items *out)
{
    bool flatten = pig_is(g, "FLATTEN") && pig_is_at(g, 1, "(");
    if (flatten) {
        g->at += 2;
        Item *it = vec_grow(out);
        it->flatten = true;
        it->expr = pig_expr(g, s);
        return it->expr && pig_want(g, ")", "after FLATTEN") && parse_item_as(g, it);
    }
    Terms columns = { 0 };
    bool ok = pig_columns(g, s, &columns);
    for (size_t i = 0; ok && i < columns.len; i++) {
        Item *it = vec_grow(out);
        it->expr = columns.items[i];
        it->flatten = it->expr->kind == TERM_FIELD && it->expr->index < 0;
    }
    bool one = columns.len == 1;
    const Schema *as = NULL;
    bool typed = false;
    if (ok && pig_is(g, "AS")) {
        pig_next(g);
        ok = pig_schema(g, &as, &typed);
        for (size_t i = 0; ok && i < columns.len; i++) {
            Item *it = &out->items[out->len - columns.len + i];
            it->typed = typed;
            if (one) {
                it->as = as;
            } else if (i < as->n) {
                Schema *f = schema_new(g->a, 1);
                f->fields[0] = as->fields[i];
                it->as = f;
            }
        }
    }
    vec_release(&columns);
    return ok;
}

static bool parse_generate(Pig *g, Op *op, PigScope *s)
{
    Items items = { 0 };
    bool ok = true;
    if (!pig_want(g, "GENERATE", "in FOREACH"))
        return false;
    do {
        ok = parse_item(g, s, &items);
    } while (ok && pig_take(g, ","));
    op->nitems = items.len;
    op->items = arena_array(g->a, Item, items.len + 1);
    if (items.len)
        memcpy(op->items, items.items, items.len * sizeof *op->items);
    vec_release(&items);
    return ok;
}

static bool parse_sort_keys(Pig *g, Op *op, PigScope *s);
static bool parse_block(Pig *g, Op *op, PigScope *s, int level);

static Op *finish_nested(Pig *g, Op *op, PigScope *outer)
{
    return op_finish_in(g->plan, op, &outer->types, g->err) ? op : NULL;
}

static Op *nested_on(Pig *g, OpKind kind, PigScope *s, SrcPos at)
{
    Op *in = pig_nested_source(g, s);
    if (!in)
        return NULL;
    Op *op = plan_nested(g->plan, kind, at);
    op_input(g->plan, op, in);
    return op;
}

static PigScope scope_inside(const Op *in, PigScope *outer)
{
    return (PigScope){ .types = { in->schema, &outer->types }, .up = outer };
}

static Op *nested_filter(Pig *g, PigScope *s, SrcPos at, int level)
{
    (void)level;
    Op *op = nested_on(g, OP_FILTER, s, at);
    if (!op || !want_by(g, "after the bag of FILTER"))
        return NULL;
    PigScope in = scope_inside(op->in[0], s);
    op->cond = pig_expr(g, &in);
    return op->cond ? finish_nested(g, op, s) : NULL;
}

static Op *nested_order(Pig *g, PigScope *s, SrcPos at, int level)
{
    (void)level;
    Op *op = nested_on(g, OP_ORDER, s, at);
    if (!op || !want_by(g, "after the bag of ORDER"))
        return NULL;
    PigScope in = scope_inside(op->in[0], s);
    return parse_sort_keys(g, op, &in) ? finish_nested(g, op, s) : NULL;
}

static Op *nested_distinct(Pig *g, PigScope *s, SrcPos at, int level)
{
    (void)level;
    Op *op = nested_on(g, OP_DISTINCT, s, at);
    return op ? finish_nested(g, op, s) : NULL;
}

static Op *nested_limit(Pig *g, PigScope *s, SrcPos at, int level)
{
    (void)level;
    Op *op = nested_on(g, OP_LIMIT, s, at);
    if (!op)
        return NULL;
    PigScope in = scope_inside(op->in[0], s);
    op->count = pig_expr(g, &in);
    return op->count ? finish_nested(g, op, s) : NULL;
}

static Op *nested_cross(Pig *g, PigScope *s, SrcPos at, int level)
{
    (void)level;
    Op *op = plan_nested(g->plan, OP_CROSS, at);
    do {
        const char *name = pig_peek(g, 0)->kind == TOKEN_NAME ? pig_peek(g, 0)->text : NULL;
        Op *in = pig_nested_source(g, s);
        if (!in)
            return NULL;
        if (!in->alias)
            in->alias = name;
        op_input(g->plan, op, in);
    } while (pig_take(g, ","));
    return finish_nested(g, op, s);
}

static Op *nested_foreach(Pig *g, PigScope *s, SrcPos at, int level)
{
    Op *op = nested_on(g, OP_FOREACH, s, at);
    if (!op)
        return NULL;
    PigScope in = scope_inside(op->in[0], s);
    Map names = { 0 };
    in.nested = &names;
    bool ok = pig_is(g, "{") ? level < 3 ? parse_block(g, op, &in, level + 1)
                                         : pig_fail(g, at, "FOREACH may be nested twice")
                             : parse_generate(g, op, &in);
    map_release(&names);
    return ok ? finish_nested(g, op, s) : NULL;
}

static const struct {
    const char *word;
    Op *(*parse)(Pig *g, PigScope *s, SrcPos at, int level);
} nested_ops[] = {
    { "FILTER", nested_filter }, { "ORDER", nested_order }, { "DISTINCT", nested_distinct },
    { "LIMIT", nested_limit },   { "CROSS", nested_cross }, { "FOREACH", nested_foreach },
};

static bool parse_nested_value(Pig *g, PigScope *s, int level, NestedName *n)
{
    SrcPos at = pig_peek(g, 0)->at;
    bool call = pig_is_at(g, 1, "(");
    for (size_t i = 0; i < sizeof nested_ops / sizeof *nested_ops && !call; i++)
        if (pig_take(g, nested_ops[i].word)) {
            n->op = nested_ops[i].parse(g, s, at, level);
            return n->op != NULL;
        }
    static const char *const refused[] = { "GROUP", "COGROUP", "JOIN", "UNION", "SPLIT", NULL };
    for (size_t i = 0; refused[i] && !call; i++)
        if (pig_is(g, refused[i]) && pig_peek(g, 1)->kind == TOKEN_NAME)
            return pig_fail(g, at, "%s may not stand in a nested block", refused[i]);
    n->expr = pig_expr(g, s);
    if (!n->expr || !term_finish(g->plan, &n->expr, &s->types, g->err))
        return false;
    if (n->expr->type.kind == DATUM_BAG && n->expr->kind != TERM_NESTED) {
        n->op = plan_nested(g->plan, OP_BAG, at);
        n->op->source = n->expr;
        n->op->hidden = true;
        n->expr = NULL;
        return finish_nested(g, n->op, s) != NULL;
    }
    return true;
}

/* "{ x = …; y = …; GENERATE …; }" */
static bool parse_block(Pig *g, Op *op, PigScope *s, int level)
{
    Vec(Op *) block = { 0 };
    bool ok = pig_want(g, "{", "in FOREACH");
    while (ok && !pig_is(g, "GENERATE")) {
        const char *name = pig_want_name(g, "an alias or GENERATE");
        NestedName *n = arena_new(g->a, NestedName);
        ok = name && pig_want(g, "=", "after the alias") && parse_nested_value(g, s, level, n) &&
             pig_want(g, ";", "after the nested statement");
        if (ok && n->op) {
            if (!n->op->alias)
                n->op->alias = name;
            vec_push(&block, n->op);
        }
        if (ok)
            map_put(s->nested, name, n);
    }
    ok = ok && parse_generate(g, op, s);
    if (ok)
        pig_take(g, ";");
    ok = ok && pig_want(g, "}", "after the nested block");
    op->nblock = block.len;
    op->block = arena_array(g->a, Op *, block.len + 1);
    if (block.len)
        memcpy(op->block, block.items, block.len * sizeof *op->block);
    vec_release(&block);
    return ok;
}

static Op *parse_foreach(Pig *g)
{
    Op *in = want_relation(g);
    Op *op = in ? new_op(g, OP_FOREACH) : NULL;
    if (!op)
        return NULL;
    op_input(g->plan, op, in);
    PigScope s = scope_of(in);
    Map names = { 0 };
    s.nested = &names;
    bool ok = pig_is(g, "{") ? parse_block(g, op, &s, 1) : parse_generate(g, op, &s);
    map_release(&names);
    return ok && skip_hints(g) ? finish(g, op) : NULL;
}

/* ---- keys */

static bool parse_keys(Pig *g, const Op *in, Keys *k)
{
    PigScope s = scope_of(in);
    Terms columns = { 0 };
    bool ok = pig_columns(g, &s, &columns);
    /* (a, b) was read as a tuple: it is a list of keys. */
    if (ok && columns.len == 1 && columns.items[0]->kind == TERM_CALL &&
        !strcmp(columns.items[0]->name, "TOTUPLE")) {
        k->n = columns.items[0]->nargs;
        k->exprs = columns.items[0]->args;
    } else if (ok) {
        k->n = columns.len;
        k->exprs = arena_array(g->a, Term *, columns.len + 1);
        memcpy(k->exprs, columns.items, columns.len * sizeof *k->exprs);
    }
    vec_release(&columns);
    return ok && (k->n || pig_expected(g, "a key"));
}

typedef Vec(Keys) KeyList;

static void take_keys(Pig *g, Op *op, KeyList *keys)
{
    op->keys = arena_array(g->a, Keys, keys->len + 1);
    if (keys->len)
        memcpy(op->keys, keys->items, keys->len * sizeof *op->keys);
    vec_release(keys);
}

static bool group_input(Pig *g, Op *op, KeyList *keys)
{
    Op *in = want_relation(g);
    if (!in)
        return false;
    op_input(g->plan, op, in);
    Keys *k = vec_grow(keys);
    if (pig_take(g, "ALL") || pig_take(g, "ANY")) {
        op->all = true;
        return true;
    }
    if (!want_by(g, "or ALL after the relation of GROUP") || !parse_keys(g, in, k))
        return false;
    if (pig_take(g, "INNER"))
        k->inner = true;
    else
        pig_take(g, "OUTER");
    return true;
}

/* The operator stands before its inputs are known, so it is made last: inputs
 * given inline must come before it in the plan. */
static void move_to_end(Pig *g, Op *op)
{
    Plan *p = g->plan;
    for (size_t i = (size_t)op->id; i + 1 < p->ops.len; i++) {
        p->ops.items[i] = p->ops.items[i + 1];
        p->ops.items[i]->id = (int)i;
    }
    op->id = (int)p->ops.len - 1;
    p->ops.items[op->id] = op;
}

static Op *parse_group(Pig *g)
{
    Op *op = new_op(g, OP_GROUP);
    KeyList keys = { 0 };
    bool ok = op != NULL;
    if (ok)
        do {
            ok = group_input(g, op, &keys);
        } while (ok && pig_take(g, ","));
    if (!ok) {
        vec_release(&keys);
        return NULL;
    }
    take_keys(g, op, &keys);
    if (op->all)
        op->keys = NULL;
    move_to_end(g, op);
    return skip_hints(g) ? finish(g, op) : NULL;
}

static bool join_kind(Pig *g, Op *op)
{
    static const struct {
        const char *word;
        JoinKind kind;
    } words[] = {
        { "LEFT", JOIN_LEFT },
        { "RIGHT", JOIN_RIGHT },
        { "FULL", JOIN_FULL },
    };
    for (size_t i = 0; i < 3; i++)
        if (pig_take(g, words[i].word)) {
            op->join = words[i].kind;
            pig_take(g, "OUTER");
            return true;
        }
    return pig_take(g, "OUTER") ? pig_expected(g, "LEFT, RIGHT or FULL before OUTER") : true;
}

static Op *parse_join(Pig *g)
{
    Op *op = new_op(g, OP_JOIN);
    KeyList keys = { 0 };
    bool ok = op != NULL;
    if (ok)
        do {
            Op *in = want_relation(g);
            ok = in && want_by(g, "after the relation of JOIN");
            if (ok)
                op_input(g->plan, op, in);
            ok = ok && parse_keys(g, in, vec_grow(&keys)) && join_kind(g, op);
        } while (ok && pig_take(g, ","));
    if (ok && op->nin < 2)
        ok = pig_expected(g, "\",\" and a second relation in JOIN");
    if (!ok) {
        vec_release(&keys);
        return NULL;
    }
    take_keys(g, op, &keys);
    move_to_end(g, op);
    return skip_hints(g) ? finish(g, op) : NULL;
}

/* Several relations with commas: CROSS, UNION. */
static Op *parse_list(Pig *g, OpKind kind)
{
    Op *op = new_op(g, kind);
    if (!op)
        return NULL;
    if (kind == OP_UNION)
        op->by_name = pig_take(g, "ONSCHEMA");
    do {
        Op *in = want_relation(g);
        if (!in)
            return NULL;
        op_input(g->plan, op, in);
    } while (pig_take(g, ","));
    if (op->nin < 2)
        return pig_expected(g, "\",\" and a second relation"), NULL;
    move_to_end(g, op);
    return skip_hints(g) ? finish(g, op) : NULL;
}

static Op *parse_cross(Pig *g) { return parse_list(g, OP_CROSS); }

static Op *parse_union(Pig *g) { return parse_list(g, OP_UNION); }

static Op *parse_distinct(Pig *g)
{
    Op *in = want_relation(g);
    Op *op = in ? new_op(g, OP_DISTINCT) : NULL;
    if (!op)
        return NULL;
    op_input(g->plan, op, in);
    return skip_hints(g) ? finish(g, op) : NULL;
}

/* ---- order */

static bool parse_sort_keys(Pig *g, Op *op, PigScope *s)
{
    Vec(SortKey) keys = { 0 };
    bool ok = true;
    do {
        Terms columns = { 0 };
        bool paren = pig_is(g, "(") && !pig_is_at(g, 1, ")");
        if (paren)
            pig_next(g);
        bool star = pig_is(g, "*");
        do {
            ok = pig_columns(g, s, &columns);
        } while (ok && paren && pig_take(g, ","));
        ok = ok && (!paren || pig_want(g, ")", "after the keys"));
        bool down = pig_take(g, "DESC");
        if (!down)
            pig_take(g, "ASC");
        for (size_t i = 0; ok && i < columns.len; i++) {
            SortKey k = { columns.items[i], down, !down, star };
            vec_push(&keys, k);
        }
        vec_release(&columns);
    } while (ok && pig_take(g, ","));
    op->norder = keys.len;
    op->order = arena_array(g->a, SortKey, keys.len + 1);
    if (keys.len)
        memcpy(op->order, keys.items, keys.len * sizeof *op->order);
    vec_release(&keys);
    return ok;
}

static Op *parse_order(Pig *g)
{
    Op *in = want_relation(g);
    Op *op = in && want_by(g, "after the relation of ORDER") ? new_op(g, OP_ORDER) : NULL;
    if (!op)
        return NULL;
    op_input(g->plan, op, in);
    PigScope s = scope_of(in);
    return parse_sort_keys(g, op, &s) && skip_hints(g) ? finish(g, op) : NULL;
}

static Op *parse_rank(Pig *g)
{
    Op *in = want_relation(g);
    Op *op = in ? new_op(g, OP_RANK) : NULL;
    if (!op)
        return NULL;
    op_input(g->plan, op, in);
    PigScope s = scope_of(in);
    if (pig_take(g, "BY") && !parse_sort_keys(g, op, &s))
        return NULL;
    op->dense = pig_take(g, "DENSE");
    return skip_hints(g) ? finish(g, op) : NULL;
}

static Op *parse_counted(Pig *g, OpKind kind)
{
    Op *in = want_relation(g);
    Op *op = in ? new_op(g, kind) : NULL;
    if (!op)
        return NULL;
    op_input(g->plan, op, in);
    PigScope s = scope_of(in);
    op->count = pig_expr(g, &s);
    return op->count && skip_hints(g) ? finish(g, op) : NULL;
}

static Op *parse_limit(Pig *g) { return parse_counted(g, OP_LIMIT); }

static Op *parse_sample(Pig *g) { return parse_counted(g, OP_SAMPLE); }

/* CUBE a BY CUBE(x, y), ROLLUP(z): one list of keys; ROLLUPs stand first. */
static Op *parse_cube(Pig *g)
{
    Op *in = want_relation(g);
    Op *op = in && want_by(g, "after the relation of CUBE") ? new_op(g, OP_CUBE) : NULL;
    if (!op)
        return NULL;
    op_input(g->plan, op, in);
    PigScope s = scope_of(in);
    Terms cube = { 0 }, rollup = { 0 };
    bool ok = true;
    do {
        bool roll = pig_take(g, "ROLLUP");
        ok = (roll || pig_want(g, "CUBE", "or ROLLUP after BY")) &&
             pig_want(g, "(", "before the dimensions");
        do {
            ok = ok && pig_columns(g, &s, roll ? &rollup : &cube);
        } while (ok && pig_take(g, ","));
        ok = ok && pig_want(g, ")", "after the dimensions");
    } while (ok && pig_take(g, ","));
    if (ok) {
        op->keys = arena_array(g->a, Keys, 1);
        op->rollup = rollup.len;
        for (size_t i = 0; i < cube.len; i++)
            vec_push(&rollup, cube.items[i]);
        op->keys[0].n = rollup.len;
        op->keys[0].exprs = arena_array(g->a, Term *, rollup.len + 1);
        if (rollup.len)
            memcpy(op->keys[0].exprs, rollup.items, rollup.len * sizeof(Term *));
    }
    vec_release(&cube);
    vec_release(&rollup);
    return ok && skip_hints(g) ? finish(g, op) : NULL;
}

static Op *parse_stream(Pig *g)
{
    Op *in = want_relation(g);
    Op *op =
        in && pig_want(g, "THROUGH", "after the relation of STREAM") ? new_op(g, OP_STREAM) : NULL;
    if (!op)
        return NULL;
    op_input(g->plan, op, in);
    Token *t = pig_next(g);
    bool typed;
    op->path = t->text;
    if (pig_take(g, "AS") && !pig_schema(g, &op->schema, &typed))
        return NULL;
    plan_note(g->plan, op->at, "STREAM runs a program: its output is not known, and empty here");
    return finish(g, op);
}

/* Runs a job of its own: nothing is known about its output. */
static Op *parse_native(Pig *g)
{
    Op *op = new_op(g, OP_LOAD);
    if (!op)
        return NULL;
    op->path = "native";
    bool typed;
    while (!pig_is(g, ";") && pig_peek(g, 0)->kind != TOKEN_END)
        if (pig_next(g)->kind == TOKEN_NAME && pig_is(g, "AS")) {
            pig_next(g);
            if (!pig_schema(g, &op->schema, &typed))
                return NULL;
        }
    plan_note(g->plan, op->at, "MAPREDUCE runs a job of its own: its output counts as a table");
    return finish(g, op);
}

static const struct {
    const char *word;
    Op *(*parse)(Pig *g);
} operators[] = {
    { "LOAD", parse_load },        { "FILTER", parse_filter }, { "FOREACH", parse_foreach },
    { "GROUP", parse_group },      { "COGROUP", parse_group }, { "JOIN", parse_join },
    { "CROSS", parse_cross },      { "UNION", parse_union },   { "DISTINCT", parse_distinct },
    { "ORDER", parse_order },      { "LIMIT", parse_limit },   { "SAMPLE", parse_sample },
    { "RANK", parse_rank },        { "CUBE", parse_cube },     { "STREAM", parse_stream },
    { "MAPREDUCE", parse_native }, { "NATIVE", parse_native }, { "ASSERT", parse_assert },
};

static Op *parse_operator(Pig *g)
{
    if (!g->nesting)
        g->operators = 0;
    if (g->nesting > 100) {
        pig_fail(g, pig_peek(g, 0)->at, "relations are nested too deep");
        return NULL;
    }
    g->nesting++;
    Op *op = NULL;
    bool found = false;
    for (size_t i = 0; i < sizeof operators / sizeof *operators && !found; i++)
        if (pig_take(g, operators[i].word)) {
            op = operators[i].parse(g);
            found = true;
        }
    if (!found)
        pig_expected(g, "an operator such as LOAD, FILTER or JOIN");
    g->nesting--;
    return op;
}

/* ---- statements */

static void define_alias(Pig *g, const Token *name, Op *op)
{
    Names *n = name->put && g->names->outer ? g->names->outer : g->names;
    map_put(&n->aliases, name->text, op);
    g->last = op;
}

/* The statement's text on one line, for people. */
static const char *statement_text(Pig *g, size_t from)
{
    Str s = { 0 };
    size_t end = g->tokens.items[g->at].from;
    bool blank = false;
    for (size_t i = from; i < end && s.len < 300; i++) {
        char c = g->text.s[i];
        if (isspace((unsigned char)c)) {
            blank = true;
            continue;
        }
        if (blank && s.len)
            str_addc(&s, ' ');
        blank = false;
        str_addc(&s, c);
    }
    const char *r = arena_strndup(g->a, str_c(&s), s.len);
    str_release(&s);
    return r;
}

/* B = A: another name for the same rows. */
static Op *rename_relation(Pig *g, Op *in)
{
    Op *op = new_op(g, OP_FOREACH);
    if (!op)
        return NULL;
    op->hidden = true;
    op_input(g->plan, op, in);
    size_t n = in->schema ? in->schema->n : 1;
    op->items = arena_array(g->a, Item, n);
    op->nitems = n;
    for (size_t i = 0; i < n; i++) {
        op->items[i].expr = term_field(g->plan, 0, in->schema ? (int)i : -1, op->at);
        op->items[i].flatten = !in->schema;
    }
    return finish(g, op);
}

static bool parse_macro_call(Pig *g, Token *const *outs, size_t nouts);

static bool is_macro_call(Pig *g)
{
    Token *t = pig_peek(g, 0);
    return t->kind == TOKEN_NAME && pig_is_at(g, 1, "(") && map_has(&g->macros, t->text);
}

/* "a = …" or "a, b = macro(…)" */
static bool parse_assignment(Pig *g)
{
    Token *outs[32];
    size_t n = 0, from = pig_peek(g, 0)->from, first = g->plan->ops.len;
    do {
        if (pig_peek(g, 0)->kind != TOKEN_NAME || n == 32)
            return pig_expected(g, "an alias");
        outs[n++] = pig_next(g);
    } while (pig_take(g, ","));
    if (!pig_want(g, "=", "after the alias"))
        return false;
    if (is_macro_call(g))
        return parse_macro_call(g, outs, n);
    if (n > 1)
        return pig_expected(g, "a macro's name, because there are several aliases");
    Op *op;
    Token *t = pig_peek(g, 0);
    if (t->kind == TOKEN_NAME && pig_is_at(g, 1, ";") && pig_relation(g, t)) {
        pig_next(g);
        op = rename_relation(g, pig_relation(g, t));
    } else {
        op = parse_operator(g);
    }
    if (!op)
        return false;
    if (op->kind != OP_ASSERT || !op->alias || strcmp(op->alias, outs[0]->text))
        op->alias = outs[0]->text;
    op->at = outs[0]->at;
    op->text = statement_text(g, from);
    for (size_t i = first; i < g->plan->ops.len; i++)
        if (!g->plan->ops.items[i]->text)
            g->plan->ops.items[i]->text = op->text;
    define_alias(g, outs[0], op);
    return true;
}

/* NOT (a OR b …); with ALL also where that is null. */
static Term *otherwise_of(Pig *g, Op *const *branches, size_t n, bool all, SrcPos at)
{
    Term *any = NULL;
    for (size_t i = 0; i < n; i++)
        any = any ? term_binary(g->plan, TERM_OR, any, branches[i]->cond) : branches[i]->cond;
    if (!any)
        return term_const(g->plan, datum_bool(true), at);
    Term *e = term_unary(g->plan, TERM_NOT, any);
    if (all)
        e = term_binary(g->plan, TERM_OR, e, term_unary(g->plan, TERM_IS_NULL, any));
    e->at = at;
    return e;
}

static bool parse_split(Pig *g)
{
    size_t from = pig_peek(g, 0)->from;
    Op *in = want_relation(g);
    if (!in || !pig_want(g, "INTO", "after the relation of SPLIT"))
        return false;
    Vec(Op *) branches = { 0 };
    bool ok = true;
    do {
        Token *name = pig_peek(g, 0);
        Op *op = pig_want_name(g, "an alias") ? new_op(g, OP_SPLIT) : NULL;
        if (!op) {
            ok = false;
            break;
        }
        op->at = name->at;
        op->alias = name->text;
        op_input(g->plan, op, in);
        op->split = branches.len ? branches.items[0] : op;
        PigScope s = scope_of(in);
        if (pig_take(g, "OTHERWISE")) {
            op->otherwise = true;
            op->cond = otherwise_of(g, branches.items, branches.len, pig_take(g, "ALL"), name->at);
        } else {
            ok = pig_want(g, "IF", "or OTHERWISE after the alias in SPLIT") &&
                 (op->cond = pig_expr(g, &s));
        }
        ok = ok && finish(g, op);
        if (ok)
            define_alias(g, name, op);
        vec_push(&branches, op);
    } while (ok && pig_take(g, ","));
    if (ok && branches.len < 2)
        ok = pig_expected(g, "\",\" and a second branch of SPLIT");
    for (size_t i = 0; ok && i < branches.len; i++)
        branches.items[i]->text = arena_printf(g->a, "SPLIT %s", statement_text(g, from));
    vec_release(&branches);
    return ok && skip_hints(g);
}

/* ---- DEFINE, IMPORT, macros */

static bool parse_names(Pig *g, const char *close, const char ***out, size_t *n)
{
    Vec(const char *) names = { 0 };
    bool ok = true;
    if (!pig_is(g, close))
        do {
            const char *name = pig_want_name(g, "a name");
            ok = name != NULL;
            vec_push(&names, name);
        } while (ok && pig_take(g, ","));
    *n = names.len;
    *out = arena_array(g->a, const char *, names.len + 1);
    if (names.len)
        memcpy(*out, names.items, names.len * sizeof **out);
    vec_release(&names);
    return ok;
}

static PigText slice_of(Pig *g, size_t from, size_t to)
{
    assert(from <= to && to <= g->text.n);
    return (PigText){ g->text.file, g->text.s + from, to - from, g->text.pos + from,
                      g->text.put + from };
}

/* DEFINE name (a, b) RETURNS x, y { body } */
static bool parse_macro(Pig *g, const char *name)
{
    Macro *m = arena_new(g->a, Macro);
    m->name = name;
    if (!pig_want(g, "(", "after the macro's name") ||
        !parse_names(g, ")", &m->params, &m->nparams) ||
        !pig_want(g, ")", "after the macro's parameters") ||
        !pig_want(g, "RETURNS", "after the macro's parameters"))
        return false;
    if (!pig_take(g, "void") && !parse_names(g, "{", &m->returns, &m->nreturns))
        return false;
    Token *open = pig_peek(g, 0);
    if (!pig_want(g, "{", "before the macro's body"))
        return false;
    int depth = 1;
    while (depth && pig_peek(g, 0)->kind != TOKEN_END) {
        Token *t = pig_next(g);
        if (t->kind == TOKEN_SIGN)
            depth += !strcmp(t->text, "{") - !strcmp(t->text, "}");
        if (!depth)
            m->body = slice_of(g, open->to, t->from);
    }
    if (depth)
        return pig_fail(g, open->at, "the body of the macro %s has no end", name);
    map_put(&g->macros, name, m);
    return true;
}

/* Is this "name ( … ) RETURNS"? */
static bool is_macro_definition(Pig *g)
{
    size_t i = 0;
    if (!pig_is_at(g, 0, "("))
        return false;
    while (pig_peek(g, i)->kind != TOKEN_END && !pig_is_at(g, i, ")"))
        i++;
    return pig_is_at(g, i + 1, "RETURNS");
}

static bool parse_define(Pig *g)
{
    const char *name = pig_want_name(g, "a name after DEFINE");
    if (!name)
        return false;
    if (is_macro_definition(g))
        return parse_macro(g, name);
    PigDefine *d = arena_new(g->a, PigDefine);
    if (pig_peek(g, 0)->kind == TOKEN_COMMAND) {
        while (!pig_is(g, ";") && pig_peek(g, 0)->kind != TOKEN_END)
            pig_next(g);
        return true;
    }
    Op made = { 0 };
    if (!parse_function(g, &made))
        return false;
    d->function = made.loader;
    d->args = made.loader_args;
    d->nargs = made.nloader_args;
    map_put(&g->defines, name, d);
    return true;
}

static bool parse_script(Pig *g, const PigText *text);

/* Parses another text in the middle of this one. */
static bool parse_inside(Pig *g, const PigText *text)
{
    if (g->depth >= MOST_DEPTH)
        return pig_fail(g, pig_peek(g, 0)->at, "imports or macros are nested too deep");
    PigText saved = g->text;
    Tokens tokens = g->tokens;
    size_t at = g->at;
    g->depth++;
    bool ok = parse_script(g, text);
    g->depth--;
    g->text = saved;
    g->tokens = tokens;
    g->at = at;
    return ok;
}

/* Beside the script, in folders around it, and in their folders "macros". */
static char *find_import(const char *script, const char *name)
{
    char *dir = path_dir(script), *first = path_join(dir, name), *found = NULL;
    for (int up = 0; up < 4 && !found; up++) {
        char *plain = path_join(dir, name), *macros = path_join(dir, "macros");
        char *inside = path_join(macros, name);
        if (file_exists(plain))
            found = xstrdup(plain);
        else if (file_exists(inside))
            found = xstrdup(inside);
        free(plain);
        free(macros);
        free(inside);
        char *parent = path_join(dir, "..");
        free(dir);
        dir = parent;
    }
    free(dir);
    if (!found)
        return first;
    free(first);
    return found;
}

static bool parse_import(Pig *g)
{
    Token *t = pig_next(g);
    if (t->kind != TOKEN_STRING)
        return pig_fail(g, t->at, "expected a path in quotes after IMPORT, found \"%s\"", t->text);
    char *path = find_import(g->text.file, t->text);
    Str text = { 0 };
    Err inner = { 0 };
    bool ok = file_read(path, &text, &inner) || pig_fail(g, t->at, "IMPORT: %s", inner.msg);
    if (ok) {
        PigText raw = pig_text_of(g->a, arena_strdup(g->a, path),
                                  arena_strndup(g->a, str_c(&text), text.len), text.len);
        PigText done;
        ok = pig_replace(g->a, &raw, &g->params, false, &done, g->err) && parse_inside(g, &done);
    }
    str_release(&text);
    free(path);
    return ok;
}

/* The arguments of a macro become parameters of its body. */
static bool macro_params(Pig *g, const Macro *m, Token *const *outs, size_t nouts, PigParams *p)
{
    Token *call = pig_peek(g, 0);
    pig_next(g);
    pig_next(g);
    size_t n = 0;
    while (!pig_is(g, ")")) {
        Token *t = pig_next(g);
        bool minus = t->kind == TOKEN_SIGN && !strcmp(t->text, "-");
        if (minus)
            t = pig_next(g);
        if (t->kind == TOKEN_END || (t->kind == TOKEN_SIGN) || n >= m->nparams)
            return pig_fail(g, t->at,
                            n >= m->nparams ? "%s has fewer arguments"
                                            : "expected an argument of %s",
                            m->name);
        char *low = xstrdup(m->params[n++]);
        for (char *c = low; *c; c++)
            *c = (char)tolower((unsigned char)*c);
        map_put(&p->fixed, low, arena_printf(g->a, "%s%s", minus ? "-" : "", t->text));
        free(low);
        if (!pig_take(g, ","))
            break;
    }
    if (!pig_want(g, ")", "after the macro's arguments"))
        return false;
    if (n != m->nparams || nouts != m->nreturns)
        return pig_fail(g, call->at, "the macro %s takes %zu arguments and gives %zu relations",
                        m->name, m->nparams, m->nreturns);
    for (size_t i = 0; i < nouts; i++) {
        char *low = xstrdup(m->returns[i]);
        for (char *c = low; *c; c++)
            *c = (char)tolower((unsigned char)*c);
        map_put(&p->fixed, low, (void *)outs[i]->text);
        free(low);
    }
    return true;
}

/* A macro that is called in a macro may give what that one gives: the name then
 * belongs one level further out. */
static void hand_out(Pig *g, const Token *out)
{
    void *op = out->put && g->names->outer ? map_get(&g->names->aliases, out->text) : NULL;
    if (op)
        map_put(&g->names->outer->aliases, out->text, op);
}

static bool parse_macro_call(Pig *g, Token *const *outs, size_t nouts)
{
    const Macro *m = map_get(&g->macros, pig_peek(g, 0)->text);
    PigParams params = { .outer = &g->params };
    PigText body;
    Names inner = { .outer = g->names };
    bool ok = macro_params(g, m, outs, nouts, &params) &&
              pig_replace(g->a, &m->body, &params, true, &body, g->err);
    if (ok) {
        g->names = &inner;
        ok = parse_inside(g, &body);
        g->names = inner.outer;
    }
    for (size_t i = 0; ok && i < nouts; i++)
        hand_out(g, outs[i]);
    for (size_t i = 0; ok && i < nouts; i++)
        if (!pig_relation(g, outs[i]))
            ok = pig_fail(g, outs[i]->at, "the macro %s does not define $%s", m->name,
                          m->returns[i]);
    map_release(&inner.aliases);
    map_release(&params.fixed);
    map_release(&params.soft);
    return ok;
}

static const struct {
    const char *word;
    bool (*parse)(Pig *g);
} statements[] = {
    { "STORE", parse_store },   { "DUMP", parse_dump },     { "SPLIT", parse_split },
    { "DEFINE", parse_define }, { "IMPORT", parse_import },
};

static bool parse_statement(Pig *g)
{
    size_t from = pig_peek(g, 0)->from, first = g->plan->ops.len;
    bool assignment = pig_is_at(g, 1, "=") || pig_is_at(g, 1, ",");
    for (size_t i = 0; i < sizeof statements / sizeof *statements && !assignment; i++)
        if (pig_take(g, statements[i].word)) {
            if (!statements[i].parse(g))
                return false;
            for (size_t k = first; k < g->plan->ops.len; k++)
                if (!g->plan->ops.items[k]->text)
                    g->plan->ops.items[k]->text = statement_text(g, from);
            return true;
        }
    if (!assignment && is_macro_call(g))
        return parse_macro_call(g, NULL, 0);
    if (!assignment && (pig_is(g, "ASSERT"))) {
        pig_next(g);
        return parse_assert(g) != NULL;
    }
    if (pig_peek(g, 0)->kind == TOKEN_NAME && !assignment)
        return pig_fail(g, pig_peek(g, 0)->at, "\"%s\" is no statement, and no = follows",
                        pig_peek(g, 0)->text);
    return parse_assignment(g);
}

static bool parse_script(Pig *g, const PigText *text)
{
    g->text = *text;
    g->at = 0;
    if (!pig_tokens(g->a, text, &g->tokens, g->err))
        return false;
    while (pig_peek(g, 0)->kind != TOKEN_END) {
        if (pig_take(g, ";"))
            continue;
        bool block = pig_is(g, "DEFINE");
        if (!parse_statement(g))
            return false;
        /* A block may end a statement without a semicolon. */
        const Token *last = &g->tokens.items[g->at - 1];
        bool brace = last->kind == TOKEN_SIGN && !strcmp(last->text, "}");
        if (pig_take(g, ";") || pig_peek(g, 0)->kind == TOKEN_END || block || brace)
            continue;
        if (!pig_expected(g, "\";\" after the statement"))
            return false;
    }
    return true;
}

/* ---- parameters from outside */

static bool put_outside(Pig *g, const char *text, size_t n, const char *from)
{
    const char *eq = memchr(text, '=', n);
    if (!eq || eq == text)
        return err_set(g->err, "%s: expected NAME=VALUE, found \"%.*s\"", from, (int)n, text);
    char *name = xstrndup(text, (size_t)(eq - text));
    for (char *c = name; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    while (*name && isspace((unsigned char)name[strlen(name) - 1]))
        name[strlen(name) - 1] = 0;
    const char *v = eq + 1;
    size_t len = n - (size_t)(v - text);
    while (len && isspace((unsigned char)*v))
        v++, len--;
    while (len && isspace((unsigned char)v[len - 1]))
        len--;
    if (len > 1 && (*v == '\'' || *v == '"') && v[len - 1] == *v)
        v++, len -= 2;
    if (!map_has(&g->params.fixed, name))
        map_put(&g->params.fixed, name, arena_strndup(g->a, v, len));
    free(name);
    return true;
}

static bool read_param_file(Pig *g, const char *path)
{
    Str s = { 0 };
    bool ok = file_read(path, &s, g->err);
    for (size_t i = 0; ok && i < s.len;) {
        size_t end = i;
        while (end < s.len && s.data[end] != '\n')
            end++;
        size_t from = i;
        while (from < end && isspace((unsigned char)s.data[from]))
            from++;
        if (from < end && s.data[from] != '#')
            ok = put_outside(g, s.data + from, end - from, path);
        i = end + 1;
    }
    str_release(&s);
    return ok;
}

static bool read_params(Pig *g)
{
    const PigOptions *o = g->options;
    for (size_t i = 0; o && o->params && o->params[i]; i++)
        if (!put_outside(g, o->params[i], strlen(o->params[i]), "--param"))
            return false;
    for (size_t i = 0; o && o->param_files && o->param_files[i]; i++)
        if (!read_param_file(g, o->param_files[i]))
            return false;
    return true;
}

Plan *pig_parse(const char *text, size_t n, const char *name, const PigOptions *o, Err *err)
{
    Err own = { 0 };
    Plan *plan = plan_new(LANG_PIG, name);
    Names names = { 0 };
    Pig g = { .plan = plan, .a = &plan->arena, .options = o, .names = &names, .err = &own };
    plan->udfs = o ? o->udfs : NULL;
    PigText raw = pig_text_of(g.a, plan->file, arena_strndup(g.a, text, n), n), done;
    bool ok = read_params(&g) && pig_replace(g.a, &raw, &g.params, false, &done, &own) &&
              parse_script(&g, &done) && plan_finish(plan, &own);
    map_release(&names.aliases);
    map_release(&g.params.fixed);
    map_release(&g.params.soft);
    map_release(&g.macros);
    map_release(&g.defines);
    if (ok)
        return plan;
    if (err)
        *err = own;
    plan_free(plan);
    return NULL;
}

Plan *pig_read(const char *path, const PigOptions *o, Err *err)
{
    Str s = { 0 };
    Plan *p = NULL;
    if (file_read(path, &s, err))
        p = pig_parse(str_c(&s), s.len, path, o, err);
    str_release(&s);
    return p;
}
