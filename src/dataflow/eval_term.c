/* Expressions: three-valued logic, Java's arithmetic, Pig's and SQL's ways with
 * null. */
#include "base/units.h"
#include "dataflow/eval_int.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>

void eval_fault(Eval *ev, SrcPos at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = xvprintf(fmt, ap);
    va_end(ap);
    if (ev->faults.len < 100) {
        Fault f = { at, arena_strdup(ev->a, text), ev->op };
        vec_push(&ev->faults, f);
    }
    free(text);
}

bool eval_stop(Eval *ev, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = xvprintf(fmt, ap);
    va_end(ap);
    if (!ev->stopped)
        err_set(&ev->err, "%s", text);
    free(text);
    ev->stopped = true;
    return false;
}

static Datum warn_null(Eval *ev)
{
    ev->warnings++;
    return datum_null();
}

/* ---- arithmetic */

static Datum by_zero(Eval *ev, const Term *t)
{
    if (ev->plan->postgres)
        eval_fault(ev, t->at, "a division by zero ends the query (PostgreSQL)");
    else if (t->kind == TERM_MOD && ev->plan->lang == LANG_PIG)
        eval_fault(ev, t->at, "x %% 0 ends the job");
    return warn_null(ev);
}

static int32_t cut(int64_t i) { return (int32_t)(uint32_t)(uint64_t)i; }

static Datum int_arith(Eval *ev, const Term *t, int64_t x, int64_t y, DatumKind kind)
{
    uint64_t a = (uint64_t)x, b = (uint64_t)y, r = 0;
    switch (t->kind) {
    case TERM_ADD: r = a + b; break;
    case TERM_SUB: r = a - b; break;
    case TERM_MUL: r = a * b; break;
    case TERM_DIV:
        if (!y)
            return by_zero(ev, t);
        r = y == -1 ? 0 - a : (uint64_t)(x / y);
        break;
    case TERM_MOD:
        if (!y)
            return by_zero(ev, t);
        r = y == -1 ? 0 : (uint64_t)(x % y);
        break;
    default: assert(!"reached");
    }
    Datum d = kind == DATUM_INT ? datum_int(cut((int64_t)r)) : datum_long((int64_t)r);
    d.kind = (uint8_t)kind;
    return d;
}

static Datum double_arith(Eval *ev, const Term *t, double x, double y, DatumKind kind)
{
    double r = 0;
    switch (t->kind) {
    case TERM_ADD: r = x + y; break;
    case TERM_SUB: r = x - y; break;
    case TERM_MUL: r = x * y; break;
    case TERM_DIV:
        /* Java's equals: -0.0 is not 0.0. */
        if (y == 0 && (!signbit(y) || ev->plan->lang == LANG_SQL))
            return by_zero(ev, t);
        r = x / y;
        break;
    case TERM_MOD:
        if (y == 0)
            return ev->plan->lang == LANG_SQL ? by_zero(ev, t) : warn_null(ev);
        r = fmod(x, y);
        break;
    default: assert(!"reached");
    }
    Datum d = kind == DATUM_FLOAT ? datum_float(r) : datum_double(r);
    d.kind = (uint8_t)kind;
    return d;
}

static bool is_real(DatumKind k)
{
    return k == DATUM_FLOAT || k == DATUM_DOUBLE || k == DATUM_BIGDEC;
}

/* Dates end with the year 9999. */
static Datum days_later(const Datum *date, bool sooner, double days)
{
    double ms = (double)date->u.i + (sooner ? -days : days) * 86400000;
    return fabs(ms) < 253402300800000.0 ? datum_datetime((int64_t)ms) : datum_null();
}

static Datum eval_arith(Eval *ev, const Term *t, const Env *env)
{
    Datum x = eval_term(ev, t->args[0], env), y = eval_term(ev, t->args[1], env);
    if (x.kind == DATUM_NULL || y.kind == DATUM_NULL)
        return datum_null();
    /* Untyped relations bring values of any type: meet at the wider. */
    if (!datum_is_number(&x) || !datum_is_number(&y)) {
        if (x.kind == DATUM_DATETIME && y.kind == DATUM_DATETIME && t->kind == TERM_SUB)
            return datum_long((x.u.i - y.u.i) / 86400000);
        if (x.kind == DATUM_DATETIME && datum_is_number(&y) && t->type.kind == DATUM_DATETIME)
            return days_later(&x, t->kind == TERM_SUB, datum_as_double(&y));
        return warn_null(ev);
    }
    DatumKind k = t->type.kind;
    if (!dtype_is_number(k))
        k = is_real(x.kind) || is_real(y.kind) ? DATUM_DOUBLE : DATUM_LONG;
    if (is_real(k))
        return double_arith(ev, t, datum_as_double(&x), datum_as_double(&y), k);
    if (is_real(x.kind) || is_real(y.kind))
        return double_arith(ev, t, datum_as_double(&x), datum_as_double(&y), DATUM_DOUBLE);
    return int_arith(ev, t, x.u.i, y.u.i, k);
}

static Datum eval_negative(Eval *ev, const Term *t, const Env *env)
{
    Datum x = eval_term(ev, t->args[0], env);
    if (is_real(x.kind))
        x.u.d = -x.u.d;
    else if (x.kind == DATUM_INT)
        x.u.i = cut(-x.u.i);
    else if (datum_is_number(&x))
        x.u.i = (int64_t)(0 - (uint64_t)x.u.i);
    else
        return datum_null();
    return x;
}

/* ---- comparison and logic */

int eval_compare(const Eval *ev, const Datum *x, const Datum *y)
{
    bool numbers = datum_is_number(x) && datum_is_number(y);
    if (numbers && (x->kind != y->kind || (ev->plan->lang == LANG_SQL && is_real(x->kind)))) {
        if (!is_real(x->kind) && !is_real(y->kind))
            return x->u.i < y->u.i ? -1 : x->u.i > y->u.i;
        double a = datum_as_double(x), b = datum_as_double(y);
        return a < b ? -1 : a > b;
    }
    if ((x->kind == DATUM_BYTES && y->kind == DATUM_TEXT) ||
        (x->kind == DATUM_TEXT && y->kind == DATUM_BYTES)) {
        Datum a = *x, b = *y;
        a.kind = b.kind = DATUM_TEXT;
        return datum_compare(&a, &b);
    }
    return datum_compare(x, y);
}

static Datum eval_comparison(Eval *ev, const Term *t, const Env *env)
{
    Datum x = eval_term(ev, t->args[0], env), y = eval_term(ev, t->args[1], env);
    if (t->kind == TERM_NOT_DISTINCT)
        return datum_bool(eval_compare(ev, &x, &y) == 0);
    if (x.kind == DATUM_NULL || y.kind == DATUM_NULL)
        return datum_null();
    int c = eval_compare(ev, &x, &y);
    switch (t->kind) {
    case TERM_EQ: return datum_bool(c == 0);
    case TERM_NE: return datum_bool(c != 0);
    case TERM_LT: return datum_bool(c < 0);
    case TERM_LE: return datum_bool(c <= 0);
    case TERM_GT: return datum_bool(c > 0);
    default: return datum_bool(c >= 0);
    }
}

Outcome eval_cond(Eval *ev, const Term *t, const Env *env)
{
    Datum d = eval_term(ev, t, env);
    if (d.kind != DATUM_BOOL)
        return OUTCOME_NULL;
    return d.u.b ? OUTCOME_TRUE : OUTCOME_FALSE;
}

static Datum of_outcome(Outcome o)
{
    return o == OUTCOME_NULL ? datum_null() : datum_bool(o == OUTCOME_TRUE);
}

static Datum eval_logic(Eval *ev, const Term *t, const Env *env)
{
    Outcome x = eval_cond(ev, t->args[0], env);
    if (t->kind == TERM_NOT)
        return x == OUTCOME_NULL ? datum_null() : datum_bool(x == OUTCOME_FALSE);
    Outcome wins = t->kind == TERM_AND ? OUTCOME_FALSE : OUTCOME_TRUE;
    if (x == wins)
        return of_outcome(x);
    Outcome y = eval_cond(ev, t->args[1], env);
    if (y == wins)
        return of_outcome(y);
    return of_outcome(x == OUTCOME_NULL || y == OUTCOME_NULL ? OUTCOME_NULL : x);
}

/* The compiled pattern; wrong ones are told once. */
static const Regex *regex_of(Eval *ev, const Term *t, const Datum *pattern)
{
    Str key = { 0 };
    str_addf(&key, "%d%d%d", t->kind, t->fold, t->java);
    str_addn(&key, pattern->u.s, pattern->len);
    void **slot = map_slotn(&ev->regexes, key.data, key.len);
    static char wrong;
    if (!*slot) {
        Err err = { 0 };
        bool simple = !t->java && regex_is_simple(pattern->u.s, pattern->len);
        int flags = simple ? REGEX_DOT_ALL : 0;
        Regex *r = t->kind == TERM_LIKE
                       ? regex_like(&ev->regex_arena, pattern->u.s, pattern->len, t->fold, &err)
                       : regex_new(&ev->regex_arena, pattern->u.s, pattern->len, flags, &err);
        if (!r)
            eval_fault(ev, t->at, "%s", err.msg);
        *slot = r ? (void *)r : (void *)&wrong;
    }
    str_release(&key);
    const Regex *found = *slot == &wrong ? NULL : *slot;
    return found;
}

static Datum eval_matches(Eval *ev, const Term *t, const Env *env)
{
    Datum x = eval_term(ev, t->args[0], env), p = eval_term(ev, t->args[1], env);
    if (x.kind == DATUM_NULL || p.kind == DATUM_NULL)
        return datum_null();
    if ((x.kind != DATUM_TEXT && x.kind != DATUM_BYTES) || p.kind != DATUM_TEXT)
        return warn_null(ev);
    const Regex *r = regex_of(ev, t, &p);
    if (!r)
        return datum_null();
    RegexAnswer a = regex_full(r, x.u.s, x.len, NULL);
    if (a == REGEX_GAVE_UP) {
        eval_fault(ev, t->at, "the regular expression takes too long on \"%.40s\"", x.u.s);
        return datum_null();
    }
    return datum_bool(a == REGEX_YES);
}

/* ---- structure */

static Datum field_of(const Tuple *row, int index)
{
    return index >= 0 && (size_t)index < row->n ? row->fields[index] : datum_null();
}

static const Env *env_up(const Env *env, int depth)
{
    while (depth-- && env)
        env = env->up;
    assert(env);
    return env;
}

static Tuple *project_tuple(Eval *ev, const Term *t, const Tuple *from)
{
    Tuple *r = tuple_new(ev->a, t->ncolumns);
    for (size_t i = 0; i < t->ncolumns; i++)
        r->fields[i] = field_of(from, t->columns[i]);
    return r;
}

static Datum eval_project(Eval *ev, const Term *t, const Env *env)
{
    Datum x = eval_term(ev, t->args[0], env);
    if (x.kind == DATUM_TUPLE) {
        if (t->ncolumns == 1 && !t->wrap)
            return field_of(x.u.tuple, t->columns[0]);
        return datum_tuple(project_tuple(ev, t, x.u.tuple));
    }
    if (x.kind != DATUM_BAG)
        return datum_null();
    Bag *b = bag_new(ev->a, x.u.bag->n);
    for (size_t i = 0; i < b->n; i++)
        b->items[i] = project_tuple(ev, t, x.u.bag->items[i]);
    return datum_bag(b);
}

static Datum eval_bag_of(Eval *ev, const Op *op, const Env *env)
{
    Rows rows = { 0 };
    if (!eval_nested(ev, op, env, &rows)) {
        free(rows.items);
        return datum_null();
    }
    Bag *b = bag_new(ev->a, rows.len);
    for (size_t i = 0; i < rows.len; i++)
        b->items[i] = rows.items[i]->tuple;
    free(rows.items);
    return datum_bag(b);
}

static Datum eval_scalar(Eval *ev, const Term *t)
{
    if (!ev->tables)
        return datum_null();
    const Table *table = &ev->tables[t->op->id];
    if (table->n > 1) {
        eval_fault(ev, t->at,
                   "scalar has more than one row: %s has %zu here (did you mean "
                   "%s::… instead of %s.…?)",
                   t->op->alias, table->n, t->op->alias, t->op->alias);
        return datum_null();
    }
    return table->n ? field_of(table->rows[0]->tuple, t->index) : datum_null();
}

/* ---- subqueries of SQL */

/* x sign ANY or ALL of the first columns; three-valued. */
static Datum quantified(Eval *ev, const Datum *x, const Rows *rows, TermKind sign, bool all)
{
    bool null = false;
    for (size_t i = 0; i < rows->len; i++) {
        Datum y = field_of(rows->items[i]->tuple, 0);
        if (x->kind == DATUM_NULL || y.kind == DATUM_NULL)
            null = true;
        else if (term_sign_holds(sign, eval_compare(ev, x, &y)) != all)
            return datum_bool(!all);
    }
    return null ? datum_null() : datum_bool(all);
}

static Datum eval_query(Eval *ev, const Term *t, const Env *env)
{
    Rows rows = { 0 };
    Datum r = datum_null();
    if (eval_nested(ev, t->op, env, &rows)) {
        Datum x = t->nargs ? eval_term(ev, t->args[0], env) : datum_null();
        if (t->kind == TERM_EXISTS)
            r = datum_bool(rows.len > 0);
        else if (t->kind == TERM_IN_QUERY)
            r = quantified(ev, &x, &rows, TERM_EQ, false);
        else if (t->kind == TERM_QUANTIFIED)
            r = quantified(ev, &x, &rows, t->compare, t->all);
        else if (rows.len > 1)
            eval_fault(ev, t->at, "the subquery gives more than one row");
        else if (rows.len)
            r = field_of(rows.items[0]->tuple, 0);
    }
    free(rows.items);
    return r;
}

/* ---- conditions */

static Datum eval_case(Eval *ev, const Term *t, const Env *env)
{
    size_t i = 0;
    for (; i + 1 < t->nargs; i += 2)
        if (eval_cond(ev, t->args[i], env) == OUTCOME_TRUE)
            return eval_term(ev, t->args[i + 1], env);
    return i < t->nargs ? eval_term(ev, t->args[i], env) : datum_null();
}

static Datum eval_ternary(Eval *ev, const Term *t, const Env *env)
{
    Outcome o = eval_cond(ev, t->args[0], env);
    if (o == OUTCOME_NULL)
        return datum_null();
    return eval_term(ev, t->args[o == OUTCOME_TRUE ? 1 : 2], env);
}

/* ---- calls */

static Datum eval_call(Eval *ev, const Term *t, const Env *env)
{
    Datum few[8], *args = t->nargs <= 8 ? few : arena_array(ev->a, Datum, t->nargs);
    bool null = false;
    for (size_t i = 0; i < t->nargs; i++) {
        args[i] = eval_term(ev, t->args[i], env);
        null |= args[i].kind == DATUM_NULL;
    }
    const Function *f = function_find(t->name);
    if (!f) {
        Datum out;
        if (ev->udfs && udf_call(ev->udfs, ev->a, t->name, t->type, args, t->nargs, &out))
            return out;
        if (!(ev->udfs && udf_known(ev->udfs, t->name)))
            ev->missing = t->name;
        return datum_null();
    }
    if (null && !f->sees_nulls)
        return datum_null();
    ev->call.ctor = t->ctor;
    ev->call.nctor = t->nctor;
    ev->call.arena = ev->a;
    Datum out = f->call(&ev->call, args, t->nargs);
    if (ev->call.failed) {
        eval_fault(ev, t->at, "%s: %s", t->name, ev->call_err.msg);
        ev->call.failed = false;
        ev->call_err = (Err){ 0 };
        return datum_null();
    }
    return out;
}

static Datum eval_cast(Eval *ev, const Term *t, const Env *env)
{
    Datum x = eval_term(ev, t->args[0], env), out;
    if (!datum_cast(ev->a, &x, t->type, &out))
        return warn_null(ev);
    return out;
}

static Datum eval_lookup(Eval *ev, const Term *t, const Env *env)
{
    Datum m = eval_term(ev, t->args[0], env), k = eval_term(ev, t->args[1], env);
    if (m.kind != DATUM_MAP || k.kind != DATUM_TEXT)
        return datum_null();
    return datum_lookup(m.u.map, k.u.s, k.len);
}

static Datum eval_kind(Eval *ev, const Term *t, const Env *env)
{
    switch (t->kind) {
    case TERM_CONST: return t->value;
    case TERM_FIELD: {
        const Env *e = env_up(env, t->depth);
        return t->index < 0 ? datum_tuple(e->row) : field_of(e->row, t->index);
    }
    case TERM_PROJECT: return eval_project(ev, t, env);
    case TERM_LOOKUP: return eval_lookup(ev, t, env);
    case TERM_NESTED: return eval_bag_of(ev, t->op, env_up(env, t->depth));
    case TERM_SCALAR: return eval_scalar(ev, t);
    case TERM_NEG: return eval_negative(ev, t, env);
    case TERM_ADD:
    case TERM_SUB:
    case TERM_MUL:
    case TERM_DIV:
    case TERM_MOD: return eval_arith(ev, t, env);
    case TERM_EQ:
    case TERM_NE:
    case TERM_LT:
    case TERM_LE:
    case TERM_GT:
    case TERM_GE:
    case TERM_NOT_DISTINCT: return eval_comparison(ev, t, env);
    case TERM_AND:
    case TERM_OR:
    case TERM_NOT: return eval_logic(ev, t, env);
    case TERM_IS_NULL: {
        Datum x = eval_term(ev, t->args[0], env);
        return datum_bool(x.kind == DATUM_NULL);
    }
    case TERM_MATCHES:
    case TERM_LIKE: return eval_matches(ev, t, env);
    case TERM_COND: return eval_ternary(ev, t, env);
    case TERM_CASE: return eval_case(ev, t, env);
    case TERM_CAST: return eval_cast(ev, t, env);
    case TERM_CALL: return eval_call(ev, t, env);
    case TERM_AGGREGATE: return eval_aggregate(ev, t, env);
    case TERM_EXISTS:
    case TERM_IN_QUERY:
    case TERM_SCALAR_QUERY:
    case TERM_QUANTIFIED: return eval_query(ev, t, env);
    }
    return datum_null();
}

Datum eval_term(Eval *ev, const Term *t, const Env *env) { return eval_kind(ev, t, env); }

/* A computed value is invented if some cell that it comes from is. */
bool eval_is_made(Eval *ev, const Term *t, const Env *env)
{
    if (t->kind == TERM_FIELD || t->kind == TERM_PROJECT) {
        Datum d = eval_kind(ev, t, env);
        return datum_is_made(&d);
    }
    if (t->kind == TERM_NESTED) {
        Datum d = datum_tuple(env_up(env, t->depth)->row);
        return datum_is_made(&d);
    }
    for (size_t i = 0; i < t->nargs; i++)
        if (!(t->kind == TERM_AGGREGATE && i) && eval_is_made(ev, t->args[i], env))
            return true;
    return false;
}
