#include "solve/tape.h"
#include "base/vec.h"
#include "solve/expr_int.h"
#include <assert.h>

struct Tape {
    Vec(TapeStep) steps;
    ExprValue *values;        /* one for each step */
    uint32_t *bytes;
    size_t nbytes;
    uint32_t *roots;          /* slots */
    size_t nroots;
    Vec(ExprTable) tables;
};

/* ---- laying out */

/* Which slot an expression has: open addressing, 0 is free. */
typedef struct Slots {
    uint32_t *keys, *slots;
    size_t n, cap;
} Slots;

static size_t slot_place(const Slots *s, Expr e)
{
    size_t at = e * 0x9e3779b1u;
    at ^= at >> 15;
    while (s->keys[at &= s->cap - 1] && s->keys[at] != e)
        at++;
    return at;
}

static void slots_grow(Slots *s)
{
    Slots old = *s;
    s->cap = old.cap ? old.cap * 2 : 64;
    s->keys = xcalloc(s->cap, sizeof *s->keys);
    s->slots = xmalloc(s->cap * sizeof *s->slots);
    for (size_t i = 0; i < old.cap; i++) {
        if (!old.keys[i])
            continue;
        size_t at = slot_place(s, old.keys[i]);
        s->keys[at] = old.keys[i];
        s->slots[at] = old.slots[i];
    }
    free(old.keys);
    free(old.slots);
}

static bool slots_have(const Slots *s, Expr e) { return s->keys[slot_place(s, e)] == e; }

static uint32_t slot_of(const Slots *s, Expr e)
{
    assert(slots_have(s, e));          /* operands are laid first */
    return s->slots[slot_place(s, e)];
}

static void slots_put(Slots *s, Expr e, uint32_t slot)
{
    size_t at = slot_place(s, e);
    s->keys[at] = e;
    s->slots[at] = slot;
    if (++s->n * 2 > s->cap)
        slots_grow(s);
}

/* All operands have slots: the node gets the next one. */
static void lay(Tape *t, const Exprs *p, Slots *s, Expr e)
{
    ExprNode n = p->nodes[e];
    TapeStep step = { .node = n, .expr = e };
    unsigned count = expr_arity((ExprOp)n.op);
    unsigned w = n.width;
    if (count > 0) {
        step.wa = p->nodes[n.a].width;
        step.node.a = slot_of(s, n.a);
        w = step.wa > w ? step.wa : w;
    }
    if (count > 1 && n.b) {
        step.wb = p->nodes[n.b].width;
        step.node.b = slot_of(s, n.b);
        w = step.wb > w ? step.wb : w;
    }
    if (count > 2)
        step.node.c = slot_of(s, n.c);
    if (n.op == EXPR_TABLE) {
        step.node.b = (uint32_t)t->tables.len;
        vec_push(&t->tables, p->tables.items[n.b]);
    }
    step.narrow = w <= 64;
    slots_put(s, e, (uint32_t)t->steps.len);
    vec_push(&t->steps, step);
}

/* Everything below a root, operands first. An expression stays on the stack
 * until its operands are laid. */
static void lay_all(Tape *t, const Exprs *p, Slots *s, Expr root)
{
    Vec(Expr) stack = { 0 };
    vec_push(&stack, root);
    while (stack.len) {
        Expr e = stack.items[stack.len - 1];
        ExprNode n = p->nodes[e];
        if (slots_have(s, e)) {
            stack.len--;
            continue;
        }
        unsigned count = expr_arity((ExprOp)n.op);
        Expr operands[3] = { n.a, n.b, n.c };
        size_t before = stack.len;
        for (unsigned i = 0; i < count; i++)
            if (operands[i] && !slots_have(s, operands[i]))
                vec_push(&stack, operands[i]);
        if (stack.len == before) {
            lay(t, p, s, e);
            stack.len--;
        }
    }
    vec_release(&stack);
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Number the bytes in ascending order, and say what each step is reached by. */
static void number_bytes(Tape *t)
{
    Vec(uint32_t) all = { 0 };
    for (size_t i = 0; i < t->steps.len; i++)
        if (t->steps.items[i].node.op == EXPR_BYTE)
            vec_push(&all, t->steps.items[i].node.a);
    if (all.len)
        qsort(all.items, all.len, sizeof *all.items, ascending);
    t->bytes = all.items;
    t->nbytes = all.len;
    for (size_t i = 0; i < t->steps.len; i++) {
        TapeStep *s = &t->steps.items[i];
        unsigned count = expr_arity((ExprOp)s->node.op);
        if (s->node.op == EXPR_BYTE) {
            s->node.a = (uint32_t)tape_byte_index(t, s->node.a);
            assert(s->node.a < t->nbytes);
            s->reached_by = tape_bit(s->node.a);
        }
        if (count > 0)
            s->reached_by |= t->steps.items[s->node.a].reached_by;
        if (count > 1 && s->wb)
            s->reached_by |= t->steps.items[s->node.b].reached_by;
        if (count > 2)
            s->reached_by |= t->steps.items[s->node.c].reached_by;
    }
}

Tape *tape_new(const Exprs *p, const Expr *roots, size_t n)
{
    Tape *t = xcalloc(1, sizeof *t);
    Slots s = { 0 };
    slots_grow(&s);
    for (size_t i = 0; i < n; i++) {
        assert(roots[i] && roots[i] < p->count);
        lay_all(t, p, &s, roots[i]);
    }
    t->nroots = n;
    t->roots = xmalloc(n * sizeof *t->roots);
    for (size_t i = 0; i < n; i++)
        t->roots[i] = slot_of(&s, roots[i]);
    number_bytes(t);
    t->values = xcalloc(t->steps.len, sizeof *t->values);
    for (size_t i = 0; i < t->steps.len; i++)
        expr_is_const(p, t->steps.items[i].expr, &t->values[i]);
    free(s.keys);
    free(s.slots);
    return t;
}

void tape_free(Tape *t)
{
    if (!t)
        return;
    vec_release(&t->steps);
    vec_release(&t->tables);
    free(t->values);
    free(t->bytes);
    free(t->roots);
    free(t);
}

/* ---- computing */

static uint64_t mask64(unsigned width)
{
    return width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

/* The frequent operations on 64 bits; false: not one of them. */
static inline bool step64(const TapeStep *s, const ExprValue *v, uint64_t *out)
{
    const ExprNode *n = &s->node;
    uint64_t a = (uint64_t)v[n->a];
    switch ((ExprOp)n->op) {
    case EXPR_NOT: *out = ~a; break;
    case EXPR_ZEXT: *out = a; break;
    case EXPR_SEXT: *out = (uint64_t)((int64_t)(a << (64 - s->wa)) >> (64 - s->wa)); break;
    case EXPR_EXTRACT: *out = a >> n->k; break;
    case EXPR_ADD: *out = a + (uint64_t)v[n->b]; break;
    case EXPR_SUB: *out = a - (uint64_t)v[n->b]; break;
    case EXPR_MUL: *out = a * (uint64_t)v[n->b]; break;
    case EXPR_AND: *out = a & (uint64_t)v[n->b]; break;
    case EXPR_OR: *out = a | (uint64_t)v[n->b]; break;
    case EXPR_XOR: *out = a ^ (uint64_t)v[n->b]; break;
    case EXPR_CONCAT: *out = a << s->wb | (uint64_t)v[n->b]; break;
    case EXPR_EQ: *out = a == (uint64_t)v[n->b]; break;
    case EXPR_ULT: *out = a < (uint64_t)v[n->b]; break;
    case EXPR_ULE: *out = a <= (uint64_t)v[n->b]; break;
    case EXPR_ITE: *out = (uint64_t)(a ? v[n->b] : v[n->c]); break;
    default: return false;
    }
    *out &= mask64(n->width);
    return true;
}

static inline void compute(Tape *t, size_t i, const uint8_t *values)
{
    const TapeStep *s = &t->steps.items[i];
    ExprValue *v = t->values;
    uint64_t small;
    if (s->node.op == EXPR_CONST)
        return;
    if (s->node.op == EXPR_BYTE)
        v[i] = values[s->node.a];
    else if (s->node.op == EXPR_TABLE)
        v[i] = expr_table_at(&t->tables.items[s->node.b], v[s->node.a]);
    else if (s->narrow && step64(s, v, &small))
        v[i] = small;
    else
        v[i] = expr_apply(&s->node, s->wa, s->wb, v[s->node.a], s->wb ? v[s->node.b] : 0,
                          v[s->node.c]);
}

void tape_run(Tape *t, const uint8_t *values)
{
    for (size_t i = 0; i < t->steps.len; i++)
        compute(t, i, values);
}

size_t tape_rerun(Tape *t, const uint8_t *values, uint64_t changed)
{
    size_t n = 0;
    for (size_t i = 0; i < t->steps.len; i++)
        if (t->steps.items[i].reached_by & changed) {
            compute(t, i, values);
            n++;
        }
    return n;
}

/* ---- looking */

size_t tape_size(const Tape *t) { return t->steps.len; }

size_t tape_nbytes(const Tape *t) { return t->nbytes; }

const uint32_t *tape_bytes(const Tape *t) { return t->bytes; }

size_t tape_byte_index(const Tape *t, uint32_t byte)
{
    size_t from = 0, to = t->nbytes;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (t->bytes[middle] < byte)
            from = middle + 1;
        else
            to = middle;
    }
    return from < t->nbytes && t->bytes[from] == byte ? from : SIZE_MAX;
}

ExprValue tape_value(const Tape *t, size_t root)
{
    assert(root < t->nroots);
    return t->values[t->roots[root]];
}

size_t tape_truths(const Tape *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->nroots; i++)
        n += t->values[t->roots[i]] != 0;
    return n;
}

const TapeStep *tape_steps(const Tape *t) { return t->steps.items; }

size_t tape_root(const Tape *t, size_t root) { return t->roots[root]; }

ExprValue tape_slot(const Tape *t, size_t slot) { return t->values[slot]; }

const ExprTable *tape_table(const Tape *t, size_t slot)
{
    assert(t->steps.items[slot].node.op == EXPR_TABLE);
    return &t->tables.items[t->steps.items[slot].node.b];
}
