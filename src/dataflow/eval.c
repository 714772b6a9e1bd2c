#include "dataflow/eval.h"
#include "base/units.h"
#include "dataflow/eval_int.h"
#include <assert.h>
#include <stdio.h>

struct Run {
    Arena arena;
    const Plan *plan;
    Udfs *udfs;
    Table *tables;
    uint8_t **outcomes;        /* by op; NULL: none */
    Fault *faults;
    size_t nfaults, warnings;
    const char *missing;
};

void eval_init(Eval *ev, const Plan *p, Arena *a, Udfs *udfs, uint64_t seed)
{
    *ev = (Eval){ .plan = p, .a = a, .udfs = udfs, .max_rows = 1000000 };
    ev->rng = rng_seeded(seed);
    ev->call = (CallCtx){ .arena = a, .now = 1262304000000LL };
}

void eval_release(Eval *ev)
{
    map_release(&ev->regexes);
    arena_release(&ev->regex_arena);
    vec_release(&ev->faults);
}

static void load(Eval *ev, const Op *op, const Input *in, Rows *out)
{
    ev->op = op;
    for (size_t i = 0; in && i < in->n; i++) {
        Row *r = eval_row(ev, out, in->rows[i], NULL, 0);
        if (!r)
            return;
        r->base = (int)i;
    }
}

static bool run_one(Eval *ev, Run *r, const RunPlan *rp, const Op *op)
{
    Rows out = { 0 };
    if (op->kind == OP_LOAD) {
        load(ev, op, &rp->inputs[op->id], &out);
    } else {
        Table *ins = arena_array(&r->arena, Table, op->nin + 1);
        for (size_t i = 0; i < op->nin; i++)
            ins[i] = r->tables[op->in[i]->id];
        if (op->kind == OP_FILTER || op->kind == OP_SPLIT || op->kind == OP_ASSERT)
            r->outcomes[op->id] = arena_array(&r->arena, uint8_t, ins[0].n + 1);
        eval_op(ev, op, ins, NULL, &out, r->outcomes[op->id]);
    }
    Table *t = &r->tables[op->id];
    t->n = out.len;
    t->rows = arena_array(&r->arena, Row *, out.len + 1);
    if (out.len)
        memcpy(t->rows, out.items, out.len * sizeof *t->rows);
    free(out.items);
    return !ev->stopped;
}

Run *run_plan(const Plan *p, const RunPlan *rp, Err *err)
{
    Run *r = xcalloc(1, sizeof *r);
    Eval ev;
    eval_init(&ev, p, &r->arena, rp->udfs, rp->seed);
    ev.call.rng = &ev.rng;
    ev.call.err = &ev.call_err;
    ev.marks = rp->marks;
    if (rp->max_rows)
        ev.max_rows = rp->max_rows;
    if (rp->seconds)
        ev.deadline = clock_seconds() + rp->seconds;
    r->plan = p;
    r->udfs = rp->udfs;
    r->tables = arena_array(&r->arena, Table, p->ops.len);
    r->outcomes = arena_array(&r->arena, uint8_t *, p->ops.len);
    ev.tables = r->tables;
    bool ok = true;
    for (size_t i = 0; i < p->ops.len && ok; i++)
        ok = run_one(&ev, r, rp, p->ops.items[i]);
    r->nfaults = ev.faults.len;
    r->warnings = ev.warnings + ev.call.warnings;
    r->missing = ev.missing;
    r->faults = arena_array(&r->arena, Fault, ev.faults.len + 1);
    if (ev.faults.len)
        memcpy(r->faults, ev.faults.items, ev.faults.len * sizeof *r->faults);
    if (!ok && err)
        *err = ev.err;
    eval_release(&ev);
    if (ok)
        return r;
    run_free(r);
    return NULL;
}

void run_free(Run *r)
{
    if (!r)
        return;
    arena_release(&r->arena);
    free(r);
}

const Table *run_table(const Run *r, const Op *op)
{
    assert(op->id < (int)r->plan->ops.len);
    return &r->tables[op->id];
}

Outcome run_outcome(const Run *r, const Op *op, size_t i)
{
    assert(r->outcomes[op->id] && i < r->tables[op->in[0]->id].n);
    return (Outcome)r->outcomes[op->id][i];
}

size_t run_faults(const Run *r, const Fault **out)
{
    *out = r->faults;
    return r->nfaults;
}

size_t run_warnings(const Run *r) { return r->warnings; }

const char *run_missing(const Run *r) { return r->missing; }

Arena *run_arena(Run *r) { return &r->arena; }

static int by_base(const void *x, const void *y)
{
    const BaseRow *a = x, *b = y;
    return a->op != b->op ? a->op - b->op : a->row - b->row;
}

void row_lineage(const Row *row, BaseRows *out)
{
    Map seen = { 0 };
    Vec(const Row *) todo = { 0 };
    vec_push(&todo, row);
    while (todo.len) {
        const Row *r = todo.items[--todo.len];
        if (!map_putn(&seen, &r, sizeof r, (void *)r))
            continue;
        if (r->base >= 0) {
            BaseRow b = { r->op, r->base };
            vec_push(out, b);
        }
        for (size_t i = 0; i < r->nfrom; i++)
            vec_push(&todo, r->from[i]);
    }
    if (out->len)
        qsort(out->items, out->len, sizeof *out->items, by_base);
    vec_release(&todo);
    map_release(&seen);
}

/* ---- one expression */

Evaluator *evaluator_new(const Plan *p, Udfs *udfs)
{
    Evaluator *e = xcalloc(1, sizeof *e);
    eval_init(&e->ev, p, &e->arena, udfs, 1);
    e->ev.call.rng = &e->ev.rng;
    e->ev.call.err = &e->ev.call_err;
    return e;
}

Evaluator *run_evaluator(const Run *r)
{
    Evaluator *e = evaluator_new(r->plan, r->udfs);
    e->ev.tables = r->tables;
    return e;
}

void evaluator_free(Evaluator *e)
{
    if (!e)
        return;
    eval_release(&e->ev);
    arena_release(&e->arena);
    free(e);
}

Datum evaluator_value(Evaluator *e, const Term *t, const Tuple *row, bool *fault)
{
    size_t before = e->ev.faults.len;
    Env env = { row, NULL };
    Datum d = eval_term(&e->ev, t, &env);
    if (fault)
        *fault = e->ev.faults.len > before;
    return d;
}
