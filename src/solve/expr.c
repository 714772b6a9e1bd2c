/*
 * The pool: nodes found by their contents, the bytes each depends on, sources
 * and tables. What the constructors make of their operands is simplify.c.
 */
#include "base/map.h"
#include "solve/expr_int.h"
#include "solve/tape.h"
#include <assert.h>

enum { FIRST_SLOTS = 1024 };

/* ---- the pool */

static void start(Exprs *p)
{
    p->nslots = FIRST_SLOTS;
    p->slots = xcalloc(p->nslots, sizeof *p->slots);
    p->cap = FIRST_SLOTS;
    p->nodes = xcalloc(p->cap, sizeof *p->nodes);
    p->deps = xcalloc(p->cap, sizeof *p->deps);
    p->count = 1;
    vec_push(&p->wide, 0);
    deps_init(&p->sets, p->limit / 8);
}

static void stop(Exprs *p)
{
    free(p->slots);
    free(p->nodes);
    free(p->deps);
    vec_release(&p->wide);
    vec_release(&p->tables);
    arena_release(&p->table_bytes);
    p->table_size = 0;
    deps_release(&p->sets);
}

Exprs *exprs_new(const ExprsPlan *plan)
{
    Exprs *p = xcalloc(1, sizeof *p);
    p->limit = plan && plan->memory ? plan->memory : (size_t)512 << 20;
    start(p);
    return p;
}

void exprs_free(Exprs *p)
{
    if (!p)
        return;
    stop(p);
    for (size_t i = 0; i < p->sources.len; i++)
        free(p->sources.items[i].name);
    vec_release(&p->sources);
    free(p);
}

void exprs_reset(Exprs *p)
{
    stop(p);
    start(p);
    p->generation++;
    p->full = false;
}

uint32_t exprs_generation(const Exprs *p) { return p->generation; }

bool exprs_is_full(const Exprs *p) { return p->full; }

size_t exprs_count(const Exprs *p) { return p->count; }

size_t exprs_memory(const Exprs *p)
{
    return p->cap * (sizeof *p->nodes + sizeof *p->deps) + p->nslots * sizeof *p->slots +
           p->wide.cap * sizeof(uint64_t) + p->tables.cap * sizeof(ExprTable) + p->table_size +
           deps_memory(&p->sets);
}

/* ---- sources */

uint32_t exprs_source(Exprs *p, const char *name, uint32_t capacity)
{
    for (size_t i = 0; i < p->sources.len; i++) {
        Source *s = &p->sources.items[i];
        if (!strcmp(s->name, name))
            return s->capacity == capacity ? s->base : UINT32_MAX;
    }
    if (capacity > UINT32_MAX / 2 - p->next_byte)
        return UINT32_MAX;
    Source s = { xstrdup(name), p->next_byte, capacity };
    vec_push(&p->sources, s);
    p->next_byte += capacity;
    return s.base;
}

const char *exprs_source_of(const Exprs *p, uint32_t byte, uint32_t *index)
{
    for (size_t i = 0; i < p->sources.len; i++) {
        const Source *s = &p->sources.items[i];
        if (byte >= s->base && byte - s->base < s->capacity) {
            *index = byte - s->base;
            return s->name;
        }
    }
    return NULL;
}

/* ---- nodes by their contents */

/* clang-format off */
static const uint8_t arity[EXPR_NOPS] = {
    [EXPR_NOT] = 1,  [EXPR_NEG] = 1,     [EXPR_ZEXT] = 1, [EXPR_SEXT] = 1,
    [EXPR_EXTRACT] = 1,
    [EXPR_ADD] = 2,  [EXPR_SUB] = 2,     [EXPR_MUL] = 2,  [EXPR_UDIV] = 2,
    [EXPR_SDIV] = 2, [EXPR_UREM] = 2,    [EXPR_SREM] = 2, [EXPR_SHL] = 2,
    [EXPR_LSHR] = 2, [EXPR_ASHR] = 2,    [EXPR_AND] = 2,  [EXPR_OR] = 2,
    [EXPR_XOR] = 2,  [EXPR_CONCAT] = 2,  [EXPR_EQ] = 2,   [EXPR_ULT] = 2,
    [EXPR_ULE] = 2,  [EXPR_SLT] = 2,     [EXPR_SLE] = 2,
    [EXPR_ITE] = 3,  [EXPR_TABLE] = 1,
    [EXPR_FADD] = 2, [EXPR_FSUB] = 2,    [EXPR_FMUL] = 2, [EXPR_FDIV] = 2,
    [EXPR_FREM] = 2, [EXPR_FOEQ] = 2,    [EXPR_FOLT] = 2, [EXPR_FOLE] = 2,
    [EXPR_FUNO] = 2, [EXPR_FSQRT] = 1,   [EXPR_FROUND] = 1,
    [EXPR_FTOF] = 1, [EXPR_FTOU] = 1,    [EXPR_FTOS] = 1, [EXPR_UTOF] = 1,
    [EXPR_STOF] = 1, [EXPR_FMATH] = 2,   /* the second may be 0 */
};
/* clang-format on */

unsigned expr_arity(ExprOp op) { return op < EXPR_NOPS ? arity[op] : 0; }

static size_t hash_node(const ExprNode *n, ExprValue wide)
{
    uint64_t h = (uint64_t)n->op << 16 | (uint64_t)n->width << 8 | n->k;
    h = (h ^ (uint64_t)n->a << 32 ^ n->b) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
    h = (h ^ n->c ^ (uint64_t)(wide >> 64)) * 0xbf58476d1ce4e5b9u;
    return h ^ h >> 32;
}

static ExprValue const_value(const Exprs *p, const ExprNode *n)
{
    return (ExprValue)p->wide.items[n->c] << 64 | (uint64_t)n->b << 32 | n->a;
}

static bool same(const Exprs *p, const ExprNode *x, const ExprNode *n, ExprValue wide)
{
    if (x->op != n->op || x->width != n->width || x->k != n->k || x->a != n->a || x->b != n->b)
        return false;
    if (n->op == EXPR_CONST)
        return p->wide.items[x->c] == (uint64_t)(wide >> 64);
    return x->c == n->c;
}

/* `n` of a constant has c = 0, and `wide` is its value. */
static size_t find_slot(const Exprs *p, const ExprNode *n, ExprValue wide)
{
    for (size_t at = hash_node(n, wide);; at++) {
        uint32_t e = p->slots[at &= p->nslots - 1];
        if (!e || same(p, &p->nodes[e], n, wide))
            return at;
    }
}

static void grow_slots(Exprs *p)
{
    free(p->slots);
    p->nslots *= 2;
    p->slots = xcalloc(p->nslots, sizeof *p->slots);
    for (Expr e = 1; e < p->count; e++) {
        ExprNode n = p->nodes[e];
        ExprValue wide = 0;
        if (n.op == EXPR_CONST) {
            wide = const_value(p, &n);
            n.c = 0;
        }
        p->slots[find_slot(p, &n, wide)] = e;
    }
}

/* Room for one more node, within the limit. */
static bool make_room(Exprs *p)
{
    if (p->full)
        return false;
    size_t cost = 0;
    if (p->count == p->cap)
        cost += p->cap * (sizeof *p->nodes + sizeof *p->deps);
    bool more_slots = p->count * 3 > p->nslots * 2;
    if (more_slots)
        cost += p->nslots * sizeof *p->slots;
    if (cost && (exprs_memory(p) + cost > p->limit || p->count >= UINT32_MAX / 4)) {
        p->full = true;
        return false;
    }
    if (more_slots)
        grow_slots(p);
    if (p->count == p->cap) {
        p->cap *= 2;
        p->nodes = xrealloc(p->nodes, p->cap * sizeof *p->nodes);
        p->deps = xrealloc(p->deps, p->cap * sizeof *p->deps);
    }
    return true;
}

static uint32_t deps_of(Exprs *p, const ExprNode *n)
{
    if (n->op == EXPR_BYTE)
        return deps_one(&p->sets, n->a);
    unsigned count = arity[n->op];
    uint32_t d = count > 0 ? p->deps[n->a] : 0;
    if (count > 1)
        d = deps_union(&p->sets, d, p->deps[n->b]);
    if (count > 2)
        d = deps_union(&p->sets, d, p->deps[n->c]);
    return d;
}

static uint8_t flags_of(const Exprs *p, const ExprNode *n)
{
    unsigned count = arity[n->op];
    uint8_t f = 0;
    if (n->op >= EXPR_FADD)
        f |= EXPR_HAS_FLOAT;
    if (n->op == EXPR_FMATH || n->op == EXPR_FREM)
        f |= EXPR_HAS_MATH;
    if (count > 0)
        f |= p->nodes[n->a].flags;
    if (count > 1)
        f |= p->nodes[n->b].flags;
    if (count > 2)
        f |= p->nodes[n->c].flags;
    return f;
}

Expr expr_intern(Exprs *p, ExprNode n, ExprValue wide)
{
    size_t at = find_slot(p, &n, wide);
    if (p->slots[at])
        return p->slots[at];
    size_t slots = p->nslots;
    if (!make_room(p))
        return 0;
    if (p->nslots != slots)
        at = find_slot(p, &n, wide);
    if (n.op == EXPR_CONST && wide >> 64) {
        n.c = (uint32_t)p->wide.len;
        vec_push(&p->wide, (uint64_t)(wide >> 64));
    }
    n.flags = flags_of(p, &n);
    Expr e = (Expr)p->count++;
    p->nodes[e] = n;
    p->deps[e] = deps_of(p, &n);
    p->slots[at] = e;
    return e;
}

/* ---- what always holds */

static void check_node(const Exprs *p, Expr e)
{
    ExprNode n = p->nodes[e];
    unsigned count = n.op < EXPR_NOPS ? arity[n.op] : 0;
    assert(n.op < EXPR_NOPS && n.width && n.width <= EXPR_MAX_WIDTH);
    assert(count < 1 || (n.a && n.a < e));
    assert(count < 2 || n.b < e);
    assert(count < 3 || (n.c && n.c < e));
    assert(n.op != EXPR_TABLE || n.b < p->tables.len);
    assert(n.flags == flags_of(p, &n));
    ExprValue wide = 0;
    if (n.op == EXPR_CONST) {
        wide = const_value(p, &n);
        assert((wide & ~expr_mask(n.width)) == 0);
        n.c = 0;
    }
    assert(p->slots[find_slot(p, &n, wide)] == e);
}

void exprs_check(const Exprs *p)
{
    size_t used = 0;
    assert(p->count && p->count <= p->cap);
    assert((p->nslots & (p->nslots - 1)) == 0);
    for (Expr e = 1; e < p->count; e++)
        check_node(p, e);
    for (size_t i = 0; i < p->nslots; i++) {
        assert(p->slots[i] < p->count);
        used += p->slots[i] != 0;
    }
    assert(used == p->count - 1);
}

/* ---- leaves */

Expr expr_const(Exprs *p, unsigned width, ExprValue v)
{
    if (!width || width > EXPR_MAX_WIDTH)
        return 0;
    v &= expr_mask(width);
    ExprNode n = {
        .op = EXPR_CONST, .width = (uint8_t)width, .a = (uint32_t)v, .b = (uint32_t)(v >> 32)
    };
    return expr_intern(p, n, v);
}

Expr expr_bool(Exprs *p, bool v) { return expr_const(p, 1, v); }

Expr expr_byte(Exprs *p, uint32_t byte)
{
    if (byte > UINT32_MAX / 2)
        return 0;
    return expr_intern(p, (ExprNode){ .op = EXPR_BYTE, .width = 8, .a = byte }, 0);
}

/* ---- tables */

static uint32_t intern_table(Exprs *p, const void *bytes, uint32_t n, unsigned size)
{
    size_t len = (size_t)n * size;
    for (uint32_t i = 0; i < p->tables.len; i++) {
        ExprTable *t = &p->tables.items[i];
        if (t->n == n && t->size == size && !memcmp(t->bytes, bytes, len))
            return i;
    }
    if (p->full || exprs_memory(p) + len > p->limit) {
        p->full = true;
        return UINT32_MAX;
    }
    uint8_t *copy = arena_alloc(&p->table_bytes, len, 1, 1);
    memcpy(copy, bytes, len);
    p->table_size += len;
    vec_push(&p->tables, ((ExprTable){ copy, n, size }));
    return (uint32_t)p->tables.len - 1;
}

Expr expr_table(Exprs *p, const void *bytes, uint32_t n, unsigned size, Expr index)
{
    if (!index || !n || (size != 1 && size != 2 && size != 4 && size != 8))
        return 0;
    ExprValue at;
    ExprTable all = { bytes, n, size };
    if (expr_is_const(p, index, &at))
        return expr_const(p, size * 8, expr_table_at(&all, at));
    uint32_t t = intern_table(p, bytes, n, size);
    if (t == UINT32_MAX)
        return 0;
    return expr_raw(p, EXPR_TABLE, size * 8, index, t, 0);
}

ExprValue expr_table_at(const ExprTable *t, ExprValue index)
{
    uint64_t v = 0;
    if (index < t->n)
        memcpy(&v, t->bytes + (size_t)index * t->size, t->size);
    return v;
}

/* ---- looking */

ExprNode expr_node(const Exprs *p, Expr e)
{
    assert(e < p->count);
    return p->nodes[e];
}

unsigned expr_width(const Exprs *p, Expr e)
{
    assert(e < p->count);
    return p->nodes[e].width;
}

bool expr_is_const(const Exprs *p, Expr e, ExprValue *v)
{
    assert(e < p->count);
    if (!e || p->nodes[e].op != EXPR_CONST)
        return false;
    if (v)
        *v = const_value(p, &p->nodes[e]);
    return true;
}

const ByteRange *expr_bytes(const Exprs *p, Expr e, size_t *n)
{
    return deps_ranges(&p->sets, p->deps[e], n);
}

uint32_t expr_bytes_id(const Exprs *p, Expr e) { return p->deps[e]; }

uint32_t expr_bytes_count(const Exprs *p, Expr e) { return p->sets.sets.items[p->deps[e]].bytes; }

ExprValue expr_eval(const Exprs *p, Expr e, const uint8_t *bytes, size_t n)
{
    Tape *t = tape_new(p, &e, 1);
    uint8_t *values = xcalloc(tape_nbytes(t), 1);
    const uint32_t *which = tape_bytes(t);
    for (size_t i = 0; i < tape_nbytes(t); i++)
        values[i] = which[i] < n ? bytes[which[i]] : 0;
    tape_run(t, values);
    ExprValue v = tape_value(t, 0);
    free(values);
    tape_free(t);
    return v;
}
