/*
 * Copies of the input: often a compared value is the input's bytes as they
 * stand, or these plus a constant that we need not understand (a table's
 * address, a base, a checksum of the rest). So: find the value in the input,
 * in both byte orders, and write there what the other side wants.
 *
 *     compared: x = 0x2b1a, y = 0x1000;  input: … 1a 2b …   ->  … 00 10 …
 */
#include "solve/expr_int.h"
#include "solve/problem.h"

enum { MAX_WINDOWS = 64 };

/* n bytes at tape byte i as a number; false if they don't follow each other. */
static bool read_window(const Problem *q, size_t i, unsigned n, bool big, uint64_t *v)
{
    size_t count = tape_nbytes(q->tape);
    *v = 0;
    if (i + n > count || q->bytes[i + n - 1] != q->bytes[i] + n - 1)
        return false;
    for (unsigned k = 0; k < n; k++)
        *v |= (uint64_t)q->parent[i + k] << 8 * (big ? n - 1 - k : k);
    return true;
}

static bool write_window(Problem *q, size_t i, unsigned n, bool big, uint64_t v)
{
    for (unsigned k = 0; k < n; k++)
        if (!problem_set(q, i + k, (uint8_t)(v >> 8 * (big ? n - 1 - k : k))))
            return false;
    return true;
}

/* Values that would make the comparison true, or false, for this operand. */
static unsigned targets(const TapeStep *s, bool want, bool second, uint64_t other, uint64_t *out)
{
    if (s->node.op == EXPR_EQ && want) {
        out[0] = other;
        return 1;
    }
    if (s->node.op == EXPR_EQ) {
        out[0] = other + 1;
        return 1;
    }
    bool above = want == second;
    out[0] = above ? other + 1 : other - 1;
    out[1] = other;
    return 2;
}

static bool try_window(Problem *q, size_t i, unsigned n, bool big, uint64_t v)
{
    if (n < 8 && v >> 8 * n)
        return false;
    problem_restart(q);
    return write_window(q, i, n, big, v) && problem_holds(q);
}

/* One side of a comparison: `slot` should get one of the targets. */
static bool copy_side(Problem *q, size_t slot, const uint64_t *to, unsigned nto, size_t *budget)
{
    size_t cost = tape_size(q->tape) + 1;
    unsigned w = tape_steps(q->tape)[slot].node.width;
    uint64_t mask = (uint64_t)expr_mask(w), have, v;
    problem_restart(q);
    problem_holds(q);
    have = (uint64_t)tape_slot(q->tape, slot);
    for (unsigned n = w / 8; n; n /= 2) {
        for (size_t i = 0; i < tape_nbytes(q->tape) && i < MAX_WINDOWS; i++) {
            for (unsigned big = 0; big < 2 && (n > 1 || !big); big++) {
                if (!read_window(q, i, n, big, &v))
                    break;
                uint64_t offset = (have - v) & mask;
                if (offset && n < w / 8)
                    continue;
                for (unsigned k = 0; k < nto; k++) {
                    if (*budget < cost)
                        return false;
                    *budget -= cost;
                    if (try_window(q, i, n, big, (to[k] - offset) & mask))
                        return true;
                }
            }
        }
    }
    return false;
}

static bool copy_condition(Problem *q, size_t root, bool want, size_t *budget)
{
    const TapeStep *steps = tape_steps(q->tape);
    while (steps[root].node.op == EXPR_NOT) {
        root = steps[root].node.a;
        want = !want;
    }
    const TapeStep *s = &steps[root];
    if (s->node.op < EXPR_EQ || s->node.op > EXPR_SLE || s->wa < 8 || s->wa > 64 || s->wa % 8)
        return false;
    uint64_t to[2];
    problem_restart(q);
    problem_holds(q);
    uint64_t a = (uint64_t)tape_slot(q->tape, s->node.a);
    uint64_t b = (uint64_t)tape_slot(q->tape, s->node.b);
    unsigned n = targets(s, want, false, b, to);
    if (steps[s->node.a].reached_by && copy_side(q, s->node.a, to, n, budget))
        return true;
    n = targets(s, want, true, a, to);
    return steps[s->node.b].reached_by && copy_side(q, s->node.b, to, n, budget);
}

bool quick_copy(Problem *q, size_t budget)
{
    for (size_t i = q->first_goal; i < q->rest.len; i++)
        if (copy_condition(q, tape_root(q->tape, i), true, &budget))
            return true;
    return false;
}
