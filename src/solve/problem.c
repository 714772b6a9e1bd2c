#include "solve/problem.h"
#include "base/mem.h"
#include "solve/expr_int.h"
#include <assert.h>

/* ---- conditions on one byte */

struct Masks {
    size_t entries;           /* a power of two */
    struct {
        Expr e;
        ByteSet set;
    } *items;                 /* by number, newer ones push out older ones */
};

Masks *masks_new(size_t entries)
{
    Masks *m = xcalloc(1, sizeof *m);
    m->entries = 64;
    while (m->entries < entries)
        m->entries *= 2;
    m->items = xcalloc(m->entries, sizeof *m->items);
    return m;
}

void masks_free(Masks *m)
{
    if (!m)
        return;
    free(m->items);
    free(m);
}

void masks_reset(Masks *m) { memset(m->items, 0, m->entries * sizeof *m->items); }

static ByteSet try_all_values(const Exprs *p, Expr e)
{
    ByteSet set = { { 0 } };
    Tape *t = tape_new(p, &e, 1);
    assert(tape_nbytes(t) == 1);
    for (unsigned v = 0; v < 256; v++) {
        uint8_t value = (uint8_t)v;
        tape_run(t, &value);
        if (tape_value(t, 0))
            byteset_add(&set, value);
    }
    tape_free(t);
    return set;
}

/* The values of its one byte for which a condition holds. */
static ByteSet values_of(Masks *m, const Exprs *p, Expr e)
{
    size_t at = e & (m->entries - 1);
    if (m->items[at].e != e) {
        m->items[at].set = try_all_values(p, e);
        m->items[at].e = e;
    }
    return m->items[at].set;
}

/* ---- problems */

static size_t find_byte(Problem *q, uint32_t byte)
{
    size_t i = tape_byte_index(q->tape, byte);
    if (i != SIZE_MAX)
        return i;
    for (i = tape_nbytes(q->tape); i < q->n; i++)
        if (q->bytes[i] == byte)
            return i;
    return SIZE_MAX;
}

static uint32_t only_byte(const Exprs *p, Expr e)
{
    size_t n;
    return expr_bytes(p, e, &n)->from;
}

/* Bytes of the tape first, then those that only single conditions name. */
static void collect_bytes(Problem *q, const Expr *single, size_t n)
{
    size_t on_tape = tape_nbytes(q->tape);
    q->bytes = xmalloc((on_tape + n + 1) * sizeof *q->bytes);
    for (size_t i = 0; i < on_tape; i++)
        q->bytes[i] = tape_bytes(q->tape)[i];
    q->n = on_tape;
    for (size_t i = 0; i < n; i++) {
        uint32_t b = only_byte(q->p, single[i]);
        if (find_byte(q, b) == SIZE_MAX)
            q->bytes[q->n++] = b;
    }
}

static void start_values(Problem *q, const uint8_t *parent, size_t len)
{
    q->allowed = xmalloc((q->n + 1) * sizeof *q->allowed);
    q->parent = xcalloc(q->n + 1, 1);
    q->values = xcalloc(q->n + 1, 1);
    for (size_t i = 0; i < q->n; i++) {
        q->allowed[i] = byteset_all();
        if (q->bytes[i] < len)
            q->parent[i] = parent[q->bytes[i]];
    }
}

/* Intersect the sets; false and the culprits if one becomes empty. */
static bool apply_single(Problem *q, Masks *masks, const Expr *single, size_t n, Slice *core)
{
    for (size_t k = 0; k < n; k++) {
        size_t i = find_byte(q, only_byte(q->p, single[k]));
        assert(i < q->n);
        ByteSet set = values_of(masks, q->p, single[k]);
        byteset_keep(&q->allowed[i], &set);
        if (byteset_count(&q->allowed[i]))
            continue;
        core->len = 0;
        for (size_t j = 0; j < n; j++)
            if (only_byte(q->p, single[j]) == q->bytes[i])
                vec_push(core, single[j]);
        return false;
    }
    for (size_t i = 0; i < q->n; i++)
        q->parent[i] = byteset_nearest(&q->allowed[i], q->parent[i]);
    return true;
}

bool problem_init(Problem *q, const Exprs *p, Masks *masks, const Expr *conds, size_t n,
                  size_t first_goal, const uint8_t *parent, size_t len, Slice *core)
{
    Slice single = { 0 };
    *q = (Problem){ .p = p, .rng = rng_seeded(1) };
    for (size_t i = 0; i < n; i++) {
        assert(expr_width(p, conds[i]) == 1);
        if (i == first_goal)
            q->first_goal = q->rest.len;
        if (expr_bytes_count(p, conds[i]) == 1)
            vec_push(&single, conds[i]);
        else
            vec_push(&q->rest, conds[i]);
    }
    q->tape = tape_new(p, q->rest.items, q->rest.len);
    collect_bytes(q, single.items, single.len);
    start_values(q, parent, len);
    bool ok = apply_single(q, masks, single.items, single.len, core);
    vec_release(&single);
    problem_restart(q);
    return ok;
}

void problem_release(Problem *q)
{
    vec_release(&q->rest);
    tape_free(q->tape);
    free(q->bytes);
    free(q->allowed);
    free(q->parent);
    free(q->values);
}

void problem_restart(Problem *q) { memcpy(q->values, q->parent, q->n); }

bool problem_holds(Problem *q)
{
    tape_run(q->tape, q->values);
    return tape_truths(q->tape) == q->rest.len;
}

bool problem_set(Problem *q, size_t i, uint8_t v)
{
    assert(i < q->n);
    if (!byteset_has(&q->allowed[i], v))
        return false;
    q->values[i] = v;
    return true;
}

bool problem_stopped(const Problem *q) { return q->stop && atomic_load(q->stop); }

/* ---- few candidates: all of them */

SolveStatus quick_small(Problem *q, size_t budget)
{
    size_t n = tape_nbytes(q->tape), all = 1;
    for (size_t i = 0; i < n; i++) {
        all *= byteset_count(&q->allowed[i]);
        if (all * tape_size(q->tape) > budget)
            return SOLVE_UNKNOWN;
    }
    for (size_t i = 0; i < n; i++) {
        assert(byteset_count(&q->allowed[i]));       /* problem_init() saw to it */
        q->values[i] = byteset_least(&q->allowed[i]);
    }
    bool found = problem_holds(q);
    while (!found) {
        /* Count on: the first byte that has a next value gets it, those before
         * it start again. */
        size_t i = 0;
        for (; i < n; i++) {
            unsigned v = q->values[i];
            while (++v < 256 && !byteset_has(&q->allowed[i], (uint8_t)v))
                ;
            q->values[i] = v < 256 ? (uint8_t)v : byteset_least(&q->allowed[i]);
            tape_rerun(q->tape, q->values, tape_bit(i));
            if (v < 256)
                break;
        }
        if (i == n)
            return SOLVE_UNSAT;
        found = tape_truths(q->tape) == q->rest.len;
    }
    return SOLVE_SAT;
}
