/*
 * Building plans: ops, expressions, and the walk over them. Types are in
 * types.c.
 */
#include "dataflow/plan.h"
#include "base/file.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

Plan *plan_new(Lang lang, const char *file)
{
    Plan *p = xcalloc(1, sizeof *p);
    p->lang = lang;
    p->file = arena_strdup(&p->arena, file);
    return p;
}

void plan_free(Plan *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->notes.len; i++)
        free(p->notes.items[i].text);
    vec_release(&p->notes);
    vec_release(&p->ops);
    arena_release(&p->arena);
    free(p);
}

Op *plan_nested(Plan *p, OpKind kind, SrcPos at)
{
    Op *op = arena_new(&p->arena, Op);
    op->kind = kind;
    op->at = at;
    op->id = 100000 + p->nnested++;
    return op;
}

Op *plan_op(Plan *p, OpKind kind, SrcPos at)
{
    Op *op = arena_new(&p->arena, Op);
    op->kind = kind;
    op->at = at;
    op->id = (int)p->ops.len;
    vec_push(&p->ops, op);
    return op;
}

void op_input(Plan *p, Op *op, Op *input)
{
    assert(input && input != op);
    Op **in = arena_array(&p->arena, Op *, op->nin + 1);
    if (op->nin)
        memcpy(in, op->in, op->nin * sizeof *in);
    in[op->nin++] = input;
    op->in = in;
    input->nout++;
}

void src_print_line(Str *out, SrcPos at, const char *file)
{
    if (at.file && file && strcmp(at.file, file))
        str_addf(out, "%s ", path_base(at.file));
    str_addf(out, "line %d", at.line);
}

void plan_note(Plan *p, SrcPos at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    PlanNote n = { at, xvprintf(fmt, ap) };
    va_end(ap);
    vec_push(&p->notes, n);
}

static bool is_sink(const Op *op) { return op->kind == OP_STORE; }

bool plan_finish(Plan *p, Err *err)
{
    size_t n = p->ops.len;
    if (!n)
        return err_set(err, "%s: there is no statement that makes a table", p->file);
    for (size_t i = 0; i < n; i++) {
        Op *op = p->ops.items[i];
        if (op->nout || is_sink(op))
            continue;
        Op *store = plan_op(p, OP_STORE, op->at);
        store->hidden = true;
        store->alias = op->alias;
        op_input(p, store, op);
        if (!op_finish(p, store, err))
            return false;
    }
    plan_check(p);
    return true;
}

void plan_check(const Plan *p)
{
    for (size_t i = 0; i < p->ops.len; i++) {
        const Op *op = p->ops.items[i];
        assert(op->id == (int)i);
        for (size_t k = 0; k < op->nin; k++) {
            assert(op->in[k]->id < op->id);
            assert(op->in[k]->nout > 0);
        }
        assert(op->kind != OP_FILTER || op->cond);
        assert(op->kind != OP_SPLIT || (op->cond && op->split));
        assert((op->kind != OP_JOIN && op->kind != OP_GROUP) || op->keys || op->cond || op->all);
    }
}

Op *plan_find(const Plan *p, const char *alias)
{
    for (size_t i = p->ops.len; i-- > 0;)
        if (p->ops.items[i]->alias && p->ops.items[i]->kind != OP_STORE &&
            !strcmp(p->ops.items[i]->alias, alias))
            return p->ops.items[i];
    return NULL;
}

static const char *const kind_names[OP_KINDS] = {
    [OP_LOAD] = "LOAD",     [OP_VALUES] = "VALUES",       [OP_BAG] = "BAG",
    [OP_STORE] = "STORE",   [OP_FILTER] = "FILTER",       [OP_FOREACH] = "FOREACH",
    [OP_GROUP] = "GROUP",   [OP_JOIN] = "JOIN",           [OP_CROSS] = "CROSS",
    [OP_UNION] = "UNION",   [OP_DISTINCT] = "DISTINCT",   [OP_SPLIT] = "SPLIT",
    [OP_ORDER] = "ORDER",   [OP_LIMIT] = "LIMIT",         [OP_SAMPLE] = "SAMPLE",
    [OP_RANK] = "RANK",     [OP_CUBE] = "CUBE",           [OP_ASSERT] = "ASSERT",
    [OP_STREAM] = "STREAM", [OP_INTERSECT] = "INTERSECT", [OP_EXCEPT] = "EXCEPT",
    [OP_WINDOW] = "WINDOW",
};

const char *op_kind_name(OpKind k)
{
    assert((int)k < OP_KINDS);
    return kind_names[k];
}

/* ---- expressions */

Term *term_new(Plan *p, TermKind kind, SrcPos at)
{
    Term *e = arena_new(&p->arena, Term);
    e->kind = kind;
    e->at = at;
    return e;
}

Term *term_const(Plan *p, Datum v, SrcPos at)
{
    Term *e = term_new(p, TERM_CONST, at);
    e->value = v;
    e->type = dtype_of(v.kind);
    return e;
}

Term *term_field(Plan *p, int depth, int index, SrcPos at)
{
    assert(depth >= 0);
    Term *e = term_new(p, TERM_FIELD, at);
    e->depth = depth;
    e->index = index;
    return e;
}

void term_arg(Plan *p, Term *e, Term *arg)
{
    assert(arg);
    Term **args = arena_array(&p->arena, Term *, e->nargs + 1);
    if (e->nargs)
        memcpy(args, e->args, e->nargs * sizeof *args);
    args[e->nargs++] = arg;
    e->args = args;
}

Term *term_unary(Plan *p, TermKind kind, Term *x)
{
    Term *e = term_new(p, kind, x->at);
    term_arg(p, e, x);
    return e;
}

Term *term_binary(Plan *p, TermKind kind, Term *x, Term *y)
{
    Term *e = term_unary(p, kind, x);
    term_arg(p, e, y);
    return e;
}

Term *term_call(Plan *p, const char *name, Term **args, size_t n, SrcPos at)
{
    Term *e = term_new(p, TERM_CALL, at);
    e->name = name;
    e->args = arena_array(&p->arena, Term *, n);
    if (n)
        memcpy(e->args, args, n * sizeof *args);
    e->nargs = n;
    return e;
}

Term *term_cast(Plan *p, Term *x, Type to, bool implicit)
{
    Term *e = term_unary(p, TERM_CAST, x);
    e->type = to;
    e->implicit = implicit;
    return e;
}

void term_walk(Term *e, void (*see)(Term *e, void *arg), void *arg)
{
    if (!e)
        return;
    see(e, arg);
    for (size_t i = 0; i < e->nargs; i++)
        term_walk(e->args[i], see, arg);
    term_walk(e->filter, see, arg);
}

static const char *const operators[] = {
    [TERM_ADD] = "+",     [TERM_SUB] = "-",
    [TERM_MUL] = "*",     [TERM_DIV] = "/",
    [TERM_MOD] = "%",     [TERM_EQ] = "==",
    [TERM_NE] = "!=",     [TERM_LT] = "<",
    [TERM_LE] = "<=",     [TERM_GT] = ">",
    [TERM_GE] = ">=",     [TERM_AND] = "AND",
    [TERM_OR] = "OR",     [TERM_MATCHES] = "MATCHES",
    [TERM_LIKE] = "LIKE", [TERM_NOT_DISTINCT] = "IS NOT DISTINCT FROM",
};

static void print_args(const Term *e, const char *name, Str *out)
{
    str_addf(out, "%s(", name);
    for (size_t i = 0; i < e->nargs; i++) {
        if (i)
            str_add(out, ", ");
        term_print(e->args[i], out);
    }
    str_addc(out, ')');
}

static void print_const(const Datum *v, Str *out)
{
    if (v->kind == DATUM_NULL) {
        str_add(out, "null");
    } else if (v->kind == DATUM_TEXT) {
        str_addc(out, '\'');
        datum_print(out, v, false);
        str_addc(out, '\'');
    } else {
        datum_print(out, v, false);
    }
}

static void print_columns(const Term *e, Str *out)
{
    term_print(e->args[0], out);
    str_add(out, ".(");
    for (size_t i = 0; i < e->ncolumns; i++)
        str_addf(out, "%s$%d", i ? "," : "", e->columns[i]);
    str_addc(out, ')');
}

void term_print(const Term *e, Str *out)
{
    switch (e->kind) {
    case TERM_CONST: print_const(&e->value, out); break;
    case TERM_FIELD:
        for (int i = 0; i < e->depth; i++)
            str_addc(out, '^');
        if (e->index < 0)
            str_addc(out, '*');
        else
            str_addf(out, "$%d", e->index);
        break;
    case TERM_PROJECT: print_columns(e, out); break;
    case TERM_LOOKUP:
        term_print(e->args[0], out);
        str_addc(out, '#');
        term_print(e->args[1], out);
        break;
    case TERM_CAST:
        if (!e->implicit) {
            str_addc(out, '(');
            dtype_print(out, e->type);
            str_addc(out, ')');
        }
        term_print(e->args[0], out);
        break;
    case TERM_NESTED:
    case TERM_SCALAR:
        str_addf(out, "%s", e->op->alias ? e->op->alias : "?");
        if (e->kind == TERM_SCALAR)
            str_addf(out, ".$%d", e->index);
        break;
    case TERM_NEG: print_args(e, "-", out); break;
    case TERM_NOT: print_args(e, "NOT ", out); break;
    case TERM_IS_NULL:
        term_print(e->args[0], out);
        str_add(out, " IS NULL");
        break;
    case TERM_COND:
    case TERM_CASE: print_args(e, "CASE", out); break;
    case TERM_CALL:
    case TERM_AGGREGATE: print_args(e, e->name, out); break;
    case TERM_EXISTS:
    case TERM_IN_QUERY:
    case TERM_SCALAR_QUERY:
    case TERM_QUANTIFIED: print_args(e, "subquery", out); break;
    default:
        str_addc(out, '(');
        term_print(e->args[0], out);
        str_addf(out, " %s ", operators[e->kind]);
        term_print(e->args[1], out);
        str_addc(out, ')');
        break;
    }
}

bool term_sign_holds(TermKind sign, int c)
{
    switch (sign) {
    case TERM_EQ: return c == 0;
    case TERM_NE: return c != 0;
    case TERM_LT: return c < 0;
    case TERM_LE: return c <= 0;
    case TERM_GT: return c > 0;
    default: return c >= 0;
    }
}
