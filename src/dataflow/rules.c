#include "dataflow/rules.h"
#include "base/map.h"
#include "dataflow/eval_int.h"
#include <assert.h>
#include <math.h>

/* The key of a row as bytes; false: a part is null. */
static bool key_of(const Tuple *row, const int *columns, size_t n, Str *out)
{
    str_reset(out);
    for (size_t i = 0; i < n; i++) {
        assert((size_t)columns[i] < row->n);
        if (row->fields[columns[i]].kind == DATUM_NULL)
            return false;
        eval_key(out, &row->fields[columns[i]]);
    }
    return true;
}

static size_t nulls(const TableRules *r, const Input *in)
{
    size_t n = 0;
    for (size_t i = 0; r->not_null && i < in->n; i++)
        for (size_t c = 0; c < in->rows[i]->n; c++)
            n += r->not_null[c] && in->rows[i]->fields[c].kind == DATUM_NULL;
    return n;
}

static size_t duplicates(const struct UniqueKey *u, const Input *in)
{
    Map seen = { 0 };
    Str key = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < in->n; i++)
        if (key_of(in->rows[i], u->columns, u->n, &key))
            n += !map_putn(&seen, str_c(&key), key.len, (void *)in);
    map_release(&seen);
    str_release(&key);
    return n;
}

static size_t orphans(const struct ForeignKey *f, const Input *in, const Input *others)
{
    Map parents = { 0 };
    Str key = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < others->n; i++)
        if (key_of(others->rows[i], f->others, f->n, &key))
            map_putn(&parents, str_c(&key), key.len, (void *)in);
    for (size_t i = 0; i < in->n; i++)
        if (key_of(in->rows[i], f->columns, f->n, &key))
            n += !map_getn(&parents, str_c(&key), key.len);
    map_release(&parents);
    str_release(&key);
    return n;
}

static size_t checks(const Plan *p, const TableRules *r, const Input *in)
{
    Evaluator *ev = r->nchecks ? evaluator_new(p, NULL) : NULL;
    size_t n = 0;
    for (size_t k = 0; k < r->nchecks; k++)
        for (size_t i = 0; i < in->n; i++) {
            Datum d = evaluator_value(ev, r->checks[k], in->rows[i], NULL);
            n += d.kind == DATUM_BOOL && !d.u.b;
        }
    if (ev)
        evaluator_free(ev);
    return n;
}

size_t rules_broken(const Plan *p, const Input *inputs)
{
    size_t n = 0;
    for (size_t i = 0; i < p->ops.len; i++) {
        const Op *op = p->ops.items[i];
        const TableRules *r = op->kind == OP_LOAD ? op->rules : NULL;
        if (!r)
            continue;
        n += nulls(r, &inputs[i]) + checks(p, r, &inputs[i]);
        for (size_t k = 0; k < r->nunique; k++)
            n += duplicates(&r->unique[k], &inputs[i]);
        for (size_t k = 0; k < r->nforeign; k++)
            if (r->foreign[k].table)
                n += orphans(&r->foreign[k], &inputs[i], &inputs[r->foreign[k].table->id]);
    }
    return n;
}

Datum rules_fit(const Op *load, size_t column, Datum v, Arena *a)
{
    const TableRules *r = load->rules;
    int most = r && r->max_length ? r->max_length[column] : 0;
    int decimals = r && r->decimals ? r->decimals[column] : -1;
    if (v.kind == DATUM_DOUBLE && decimals >= 0) {
        double unit = pow(10, decimals);
        v.u.d = round(v.u.d * unit) / unit;
    }
    if (v.kind == DATUM_DOUBLE && most == sizeof(float))
        v.u.d = (float)v.u.d;
    if (v.kind != DATUM_TEXT || most <= 0 || v.len <= (uint32_t)most)
        return v;
    size_t n = (size_t)most;
    while (n && ((unsigned char)v.u.s[n] & 0xc0) == 0x80)
        n--;
    Datum cut = datum_textn(a, v.u.s, n);
    cut.made = v.made;
    return cut;
}
