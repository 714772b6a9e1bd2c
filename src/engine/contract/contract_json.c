/*
 * Contracts as JSON, and back. A precondition is
 *
 *     { "text": "s->top < s->cap", "confidence": 0.998, "samples": 40,
 *       "evidence": "own", "kind": "less", "vars": ["s->top", "s->cap"],
 *       "keys": ["(struct stack)->top", "(struct stack)->cap"], "k": [-1] }
 *
 * `text` is for people and for comparing versions; the rest is enough to test new
 * samples against it.
 */
#include "engine/contract/contract.h"
#include <assert.h>
#include <string.h>

static json_t *constant(const Var *v, const Samples *s, Cell c)
{
    if (v->kind == VAR_FLOAT)
        return json_real(c.d);
    if (v->kind == VAR_STRING)
        return json_text(samples_text(s, c.i));
    return json_integer(c.i);
}

static unsigned constants(const Invariant *inv)
{
    switch (inv->kind) {
    case INV_ONE_OF: return inv->n;
    case INV_LINEAR3: return 3;
    case INV_MODULUS:
    case INV_LINEAR: return 2;
    case INV_LOWER:
    case INV_UPPER:
    case INV_FLAGS:
    case INV_LESS:
    case INV_QUOTIENT: return 1;
    default: return 0;
    }
}

static json_t *invariant_json(const FunctionContract *f, const Point *p, const Samples *s,
                              const Invariant *inv)
{
    Str text = { 0 };
    json_t *vars = json_array(), *keys = json_array(), *k = json_array();

    inv_print(inv, p, s, &text);
    for (unsigned i = 0; i < inv_arity(inv->kind); i++) {
        json_array_append_new(vars, json_text(p->vars[inv->v[i]].name));
        json_array_append_new(keys, json_text(p->vars[inv->v[i]].key));
    }
    for (unsigned i = 0; i < constants(inv); i++)
        json_array_append_new(k, constant(&p->vars[inv->v[0]], s, inv->k[i]));
    json_t *o = json_pack("{s:o, s:f, s:I, s:s, s:s, s:o, s:o, s:o}", "text",
                          json_textn(str_c(&text), text.len), "confidence", inv->confidence,
                          "samples", (json_int_t)inv->samples, "evidence",
                          contract_is_own(f, inv, p->is_exit) ? "own" : "borrowed", "kind",
                          inv_kind_name(inv->kind), "vars", vars, "keys", keys, "k", k);
    if (inv->guard) {
        json_object_set_new(o, "when", json_string(guard_name(inv->guard)));
        json_object_set_new(o, "of", json_text(p->vars[inv->v_guard].name));
    }
    if (inv->is_state)
        json_object_set_new(o, "state", json_true());
    str_release(&text);
    return o;
}

static json_t *list_json(const FunctionContract *f, const Point *p, const Samples *s,
                         const Invariants *list)
{
    json_t *a = json_array();

    for (size_t i = 0; i < list->len; i++)
        json_array_append_new(a, invariant_json(f, p, s, &list->items[i]));
    return a;
}

json_t *contract_to_json(const Contracts *c, const FunctionContract *f)
{
    return json_pack("{s:o, s:o, s:i, s:o, s:I, s:o, s:o}", "name", json_text(f->f->name), "file",
                     json_text(f->f->file), "line", (int)f->f->line, "signature",
                     json_text(f->f->signature), "calls", (json_int_t)f->f->calls, "pre",
                     list_json(f, &f->f->entry, c->samples, &f->pre), "post",
                     list_json(f, &f->f->exit, c->samples, &f->post));
}

/* --- back */

static bool read_constants(const json_t *k, const Var *v, Samples *s, Invariant *inv)
{
    size_t n = json_array_size(k);

    if (n > 3)
        return false;
    for (size_t i = 0; i < n; i++) {
        const json_t *x = json_array_get(k, i);
        if (v->kind == VAR_FLOAT)
            inv->k[i].d = json_number_value(x);
        else if (v->kind == VAR_STRING)
            inv->k[i].i = samples_text_number(s, json_string_value(x) ? json_string_value(x) : "");
        else
            inv->k[i].i = json_integer_value(x);
    }
    if (inv->kind == INV_ONE_OF)
        inv->n = (uint8_t)n;
    bool divides = inv->kind == INV_MODULUS || inv->kind == INV_QUOTIENT;
    return n == constants(inv) && (!divides || inv->k[0].i > 0);
}

static bool read_guard(const json_t *o, const Point *p, Invariant *inv)
{
    const char *when = json_str(o, "when");

    if (!*when)
        return true;
    for (int g = GUARD_ZERO; g <= GUARD_NOT_NEGATIVE; g++)
        if (strcmp(guard_name((Guard)g), when) == 0)
            inv->guard = (Guard)g;
    inv->v_guard = point_var(p, json_str(o, "of"));
    return inv->guard != GUARD_NONE && inv->v_guard >= 0;
}

static bool read_invariant(const json_t *o, const Point *p, Samples *s, Invariant *inv)
{
    const json_t *vars = json_object_get(o, "keys");

    *inv = (Invariant){ 0 };
    if (!inv_kind_parse(json_str(o, "kind"), &inv->kind) ||
        json_array_size(vars) != inv_arity(inv->kind))
        return false;
    for (unsigned i = 0; i < inv_arity(inv->kind); i++) {
        const char *name = json_string_value(json_array_get(vars, i));
        inv->v[i] = name ? point_key(p, name) : -1;
        if (inv->v[i] < 0)
            return false;
    }
    inv->confidence = json_number_value(json_object_get(o, "confidence"));
    inv->samples = (uint64_t)json_int(o, "samples", 0);
    return read_constants(json_object_get(o, "k"), &p->vars[inv->v[0]], s, inv) &&
           read_guard(o, p, inv);
}

void contract_from_json(const json_t *list, const Point *p, Samples *s, Invariants *out,
                        size_t *lost)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        Invariant inv;
        if (read_invariant(json_array_get(list, i), p, s, &inv))
            vec_push(out, inv);
        else
            (*lost)++;
    }
}

/* --- a new run */

static bool is_far(const Point *p, const Invariant *inv)
{
    for (unsigned i = 0; i < inv_arity(inv->kind); i++)
        if (p->vars[inv->v[i]].depth > 1)
            return true;
    return false;
}

static bool is_robust_unary(const Invariant *inv, const Var *v)
{
    bool result = v->role == ROLE_RESULT;

    if (v->kind == VAR_STRING || v->kind == VAR_FACT)
        return false;
    switch (inv->kind) {
    case INV_NONZERO:
        return v->kind == VAR_POINTER && inv->samples >= (v->role == ROLE_MEMORY ? 100 : 30);
    case INV_LOWER: return inv->samples >= 30 && inv->k[0].i <= 0;
    case INV_ONE_OF: return result && inv->samples >= 100 && !inv->guard;
    case INV_UNCHANGED: return inv->samples >= 20;
    default: return false;
    }
}

bool contract_is_robust(const Invariant *inv, const Point *p)
{
    const Var *v = &p->vars[inv->v[0]];

    if (inv->guard && inv->samples < 30)
        return false;
    if (inv_arity(inv->kind) == 1)
        return is_robust_unary(inv, v) && !is_far(p, inv);
    if (inv->kind == INV_LESS)
        return v->twin == inv->v[1] ? inv->samples >= 100
                                    : point_related(p, inv->v[0], inv->v[1]) && inv->k[0].i >= -1 &&
                                          inv->samples >= 20;
    if (inv->kind == INV_EQUAL && v->twin == inv->v[1])
        return inv->samples >= 50;
    return inv->samples >= 20 && !is_far(p, inv);
}

/* Are they plain numbers that a caller passes? They come from the input as they are. */
static bool are_passed(const Invariant *inv, const Point *p)
{
    bool passed = !p->is_exit;
    for (unsigned i = 0; passed && i < inv_arity(inv->kind); i++)
        passed = p->vars[inv->v[i]].param >= 0 && !p->vars[inv->v[i]].depth;
    return passed;
}

bool contract_is_relation(const Invariant *inv, const Point *p)
{
    if (inv->guard)
        return true;
    return inv_arity(inv->kind) > 1 && p->vars[inv->v[0]].twin != inv->v[1] && !are_passed(inv, p);
}

static void check_point(const json_t *list, const FunctionSamples *f, const Point *p, Samples *s,
                        bool all, BrokenList *out, size_t *lost)
{
    Invariants known = { 0 };

    if (!p->nvars)
        return;
    contract_from_json(list, p, s, &known, lost);
    for (size_t i = 0; i < known.len; i++) {
        Broken b = { .f = f,
                     .is_exit = p->is_exit,
                     .inv = known.items[i],
                     .confidence = known.items[i].confidence,
                     .samples = known.items[i].samples };
        for (size_t r = 0; r < p->rows.len && (all || contract_is_robust(&b.inv, p)); r++) {
            if (inv_holds(&known.items[i], p, &p->rows.items[r]))
                continue;
            if (!b.times)
                b.row = p->rows.items[r];
            b.times += p->rows.items[r].count;
        }
        if (b.times)
            vec_push(out, b);
    }
    vec_release(&known);
}

void contracts_check(const json_t *functions, Samples *fresh, bool all, BrokenList *out,
                     size_t *lost)
{
    *lost = 0;
    for (size_t i = 0; i < json_array_size(functions); i++) {
        const json_t *o = json_array_get(functions, i);
        const FunctionSamples *f = samples_find(fresh, json_str(o, "name"));
        if (!f)
            continue;
        check_point(json_object_get(o, "pre"), f, &f->entry, fresh, all, out, lost);
        check_point(json_object_get(o, "post"), f, &f->exit, fresh, all, out, lost);
    }
}

static void keep_steady(json_t *list, const Point *p, Samples *again)
{
    for (size_t i = json_array_size(list); i-- > 0;) {
        Invariant inv;
        bool steady = p && p->nvars && read_invariant(json_array_get(list, i), p, again, &inv);
        for (size_t r = 0; steady && r < p->rows.len; r++)
            steady = inv_holds(&inv, p, &p->rows.items[r]);
        if (!steady)
            json_array_remove(list, i);
    }
}

void contracts_keep_steady(json_t *functions, Samples *again)
{
    for (size_t i = 0; i < json_array_size(functions); i++) {
        json_t *o = json_array_get(functions, i);
        const FunctionSamples *f = samples_find(again, json_str(o, "name"));
        keep_steady(json_object_get(o, "pre"), f ? &f->entry : NULL, again);
        keep_steady(json_object_get(o, "post"), f ? &f->exit : NULL, again);
    }
}
