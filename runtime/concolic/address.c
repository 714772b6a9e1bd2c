/*
 * Addresses that depend on the input.
 *
 * An address is kept as  constant + scale * x  where that is what it is:
 *
 *     table[i]      0x4010 + 4 * i
 *
 * If the object around the concrete address is known, the elements that x can
 * reach are those of the same stride within it, before and behind:
 *
 *     object  |  e0  e1  e2  e3  |        x - least: 0 … 3
 *                     ▲ concrete
 *
 * A read is then a TABLE of these elements (or a CHOOSE, if some depend on the input)
 * at index x - least, and the path gets the conjunct that the index stays inside;
 * before it stands a bug record for the case that it doesn't. A write into an object
 * of few elements makes each of them "the new value if the index is mine, else the old".
 * In all other cases the address is pinned: a conjunct says that it is what it was.
 */
#include "runtime/concolic/concolic_int.h"

enum { KNOWN = 256, TABLES = 256, WRITTEN = 64, WRITES_PER_ROW = 32 };

sundew_label sundew_address(sundew_label base, uint64_t vbase, sundew_label index, unsigned from,
                            uint64_t vindex, uint64_t scale)
{
    const struct sundew_node *n = sundew_state.nodes;
    uint64_t constant = 0;
    sundew_label x = 0;
    if (index && scale) {
        x = sundew_extend(SUNDEW_NODE_SEXT, sundew_fit(index, from), 64);
        if (x && scale != 1)
            x = sundew_node(SUNDEW_NODE_MUL, 64, 0, x, sundew_const(64, scale), 0);
        if (!x)
            return 0;
    } else {
        constant = (uint64_t)((int64_t)(vindex << (64 - from)) >> (64 - from)) * scale;
    }
    if (!base) {
        constant += vbase;
    } else {
        base = sundew_fit(base, 64);
        if (n[base].op == SUNDEW_NODE_ADD && sundew_is_const(n[base].a)) {
            constant += sundew_const_value(n[base].a);
            base = n[base].b;
        }
        x = x ? sundew_node(SUNDEW_NODE_ADD, 64, 0, base, x, 0) : base;
    }
    if (!x || !constant)
        return x;
    return sundew_node(SUNDEW_NODE_ADD, 64, 0, sundew_const(64, constant), x, 0);
}

/* ---- objects that the weave knows, by the label of the address */

static struct {
    sundew_label label;
    SundewSpan span;
} known[KNOWN];

void sundew_address_known(sundew_label l, uint64_t start, uint64_t size)
{
    known[l % KNOWN].label = l;
    known[l % KNOWN].span = (SundewSpan){ start, size };
}

static bool object_of(const SundewAccess *a, SundewSpan *s)
{
    if (known[a->label % KNOWN].label == a->label)
        *s = known[a->label % KNOWN].span;
    else if (!sundew_object_at(a->at, s))
        return false;
    return a->at >= s->start && a->at - s->start <= s->size && a->n <= s->size - (a->at - s->start);
}

/* ---- constant + stride * x */

typedef struct Linear {
    sundew_label x;                    /* 64 bits */
    uint64_t stride;
    uint64_t value;                    /* of x */
} Linear;

static Linear linear(const SundewAccess *a)
{
    const struct sundew_node *nodes = sundew_state.nodes, *n = &nodes[a->label];
    Linear l = { a->label, 1, a->at };
    if (n->op != SUNDEW_NODE_ADD || !sundew_is_const(n->a))
        return l;
    l.x = n->b;
    l.value = a->at - sundew_const_value(n->a);
    n = &nodes[l.x];
    if (n->op != SUNDEW_NODE_MUL || !sundew_is_const(n->b))
        return l;
    int64_t stride = (int64_t)sundew_const_value(n->b);
    if (stride > 0 && (int64_t)l.value % stride == 0) {      /* else it wrapped around */
        l.x = n->a;
        l.stride = (uint64_t)stride;
        l.value = (uint64_t)((int64_t)l.value / stride);
    }
    return l;
}

/* What the address depends on has had this value for some time: it is as good as
 * concrete. */
static bool is_pinned(const Linear *l)
{
    sundew_label same = sundew_node(SUNDEW_NODE_EQ, 1, 0, l->x, sundew_const(64, l->value), 0);
    return !same || sundew_is_held(same);
}

static void pin(const SundewAccess *a, const Linear *l)
{
    sundew_pin_label(l->x, l->value, SUNDEW_WHY_ADDRESS, a->row->x);
}

/* ---- elements in reach */

typedef struct Reach {
    uint64_t first, stride, count;     /* addresses: first + i * stride */
    uint64_t here;                     /* which was accessed */
    sundew_label index;                /* 64 bits */
    sundew_label inside;               /* index < count */
} Reach;

static bool reach_of(const SundewAccess *a, const Linear *l, const SundewSpan *s, Reach *r)
{
    r->stride = l->stride;
    r->here = (a->at - s->start) / r->stride;
    r->first = a->at - r->here * r->stride;
    r->count = r->here + (s->start + s->size - a->n - a->at) / r->stride + 1;
    uint64_t least = l->value - r->here;
    r->index =
        !least ? l->x : sundew_node(SUNDEW_NODE_SUB, 64, 0, l->x, sundew_const(64, least), 0);
    sundew_label count = sundew_const(64, r->count);
    r->inside = r->index && count ? sundew_node(SUNDEW_NODE_ULT, 1, 0, r->index, count, 0) : 0;
    return r->inside != 0;
}

/* What could go wrong at this address; false if no object is known. */
static bool ask(const SundewAccess *a, const Linear *l, Reach *r, SundewSpan *s)
{
    const struct sundew_node *n = &sundew_state.nodes[a->label];
    if (!object_of(a, s) || !reach_of(a, l, s, r)) {
        if (n->op != SUNDEW_NODE_ADD || !sundew_is_const(n->a))
            sundew_bug(SUNDEW_BUG_NULL,
                       sundew_node(SUNDEW_NODE_EQ, 1, 0, a->label, sundew_const(64, 0), 0), a->row,
                       a->row->x);
        return false;
    }
    sundew_label outside =
        sundew_node(SUNDEW_NODE_UGE, 1, 0, r->index, sundew_const(64, r->count), 0);
    sundew_bug(SUNDEW_BUG_BOUNDS, outside, a->row, a->row->x);
    return true;
}

/* ---- reading */

static struct Table {
    uint64_t first, stride;
    uint32_t count, n, offset;
} tables[TABLES];

static bool same_contents(const struct Table *t)
{
    const uint8_t *kept = sundew_state.bytes + t->offset, *now = (const uint8_t *)t->first;
    if (t->stride == t->n)
        return memcmp(kept, now, (size_t)t->count * t->n) == 0;
    for (uint32_t i = 0; i < t->count; i++)
        if (memcmp(kept + (size_t)i * t->n, now + i * t->stride, t->n) != 0)
            return false;
    return true;
}

static uint32_t put_contents(const Reach *r, unsigned n)
{
    static uint8_t room[SUNDEW_TABLE_BYTES];
    if (r->stride == n)
        return sundew_log_put((const void *)r->first, (uint32_t)r->count * n);
    for (uint64_t i = 0; i < r->count; i++)
        memcpy(room + i * n, (const uint8_t *)r->first + i * r->stride, n);
    return sundew_log_put(room, (uint32_t)r->count * n);
}

/* The elements as they are now, in the log; 0. */
static uint32_t contents(const SundewAccess *a, const Reach *r)
{
    struct Table *t = &tables[(r->first ^ r->first >> 8 ^ r->stride * 7 ^ a->n) % TABLES];
    if (t->offset && t->first == r->first && t->stride == r->stride && t->count == r->count &&
        t->n == a->n && same_contents(t))
        return t->offset;
    if (!sundew_first_times(a->row, 64, SUNDEW_TABLES_PER_ROW))
        return 0;
    *t = (struct Table){ r->first, r->stride, (uint32_t)r->count, a->n, put_contents(r, a->n) };
    return t->offset;
}

static sundew_label element(const Reach *r, uint64_t i, unsigned n, uint32_t site)
{
    uint64_t at = r->first + i * r->stride, v = 0;
    sundew_label l = sundew_shadow_load(at, n, (const uint8_t *)at, site);
    memcpy(&v, (const void *)at, n);
    return l ? l : sundew_const(n * 8, v);
}

static sundew_label choose(const SundewAccess *a, const Reach *r)
{
    uint32_t items[SUNDEW_CHOICES];
    if (r->count > SUNDEW_CHOICES || !sundew_first_times(a->row, 65, SUNDEW_TABLES_PER_ROW))
        return 0;
    for (uint64_t i = 0; i < r->count; i++)
        if (!(items[i] = element(r, i, a->n, a->row->x)))
            return 0;
    uint32_t offset = sundew_log_put(items, (uint32_t)(r->count * sizeof *items));
    return offset
               ? sundew_node(SUNDEW_NODE_CHOOSE, a->n * 8, 0, r->index, offset, (uint32_t)r->count)
               : 0;
}

void sundew_address_reset(void)
{
    memset(known, 0, sizeof known);
    memset(tables, 0, sizeof tables);
}

static void stays_inside(const SundewAccess *a, const Reach *r)
{
    sundew_pin_label(r->inside, 1, SUNDEW_WHY_INSIDE, a->row->x);
}

bool sundew_address_read(const SundewAccess *a, const uint8_t *seen, SundewCalm *calm, void *arg,
                         sundew_label *result)
{
    Reach r;
    SundewSpan s;
    Linear x = linear(a);
    if (is_pinned(&x))
        return false;
    if (!ask(a, &x, &r, &s)) {
        pin(a, &x);
        return false;
    }
    sundew_label l = 0;
    bool possible = (a->n == 1 || a->n == 2 || a->n == 4 || a->n == 8) &&
                    r.count <= SUNDEW_TABLE_BYTES / a->n && r.count > 1 &&
                    memcmp((const void *)a->at, seen, a->n) == 0 &&
                    calm(arg, s.start, s.start + s.size);
    if (possible && sundew_tagged(s.start, s.size)) {
        l = choose(a, &r);
    } else if (possible) {
        uint32_t offset = contents(a, &r);
        if (offset)
            l = sundew_node(SUNDEW_NODE_TABLE, a->n * 8, a->n, r.index, offset, (uint32_t)r.count);
    }
    if (!l) {
        pin(a, &x);
        return false;
    }
    stays_inside(a, &r);
    *result = l;
    return true;
}

/* ---- writing */

/* The element that was written on this run has lost what it was before, and keeps its
 * new value for other indices too: that is noted. */
static void write_others(const SundewAccess *a, const Reach *r, sundew_label value)
{
    stays_inside(a, r);
    sundew_imprecise(SUNDEW_WHY_ADDRESS, NULL, a->row, a->row->x);
    for (uint64_t i = 0; i < r->count; i++) {
        uint64_t at = r->first + i * r->stride;
        if (i == r->here)
            continue;
        sundew_label old = element(r, i, a->n, a->row->x);
        sundew_label mine = sundew_node(SUNDEW_NODE_EQ, 1, 0, r->index, sundew_const(64, i), 0);
        sundew_label now =
            !old || !mine ? 0 : sundew_node(SUNDEW_NODE_ITE, a->n * 8, 0, mine, value, old);
        sundew_shadow_store(at, a->n, (const uint8_t *)at, now);
    }
}

void sundew_address_written(const SundewAccess *a, sundew_label value, SundewCalm *calm, void *arg)
{
    Reach r;
    SundewSpan s;
    Linear x = linear(a);
    if (is_pinned(&x))
        return;
    if (ask(a, &x, &r, &s) && value && r.count > 1 && r.count <= WRITTEN && r.stride >= a->n &&
        calm(arg, s.start, s.start + s.size) && sundew_first_times(a->row, 66, WRITES_PER_ROW))
        write_others(a, &r, value);
    else
        pin(a, &x);
}

/* ---- lengths */

/* Can n, a label of 64 bits, be more than there is from `at` to the end of its object? */
static void ask_room(const void *at, SundewSpan s, sundew_label n, uint32_t site)
{
    const void *row = (const void *)((uintptr_t)site << 8 | 1);
    uint64_t offset = (uintptr_t)at - s.start;
    if (offset > s.size)
        return;
    sundew_label beyond =
        sundew_node(SUNDEW_NODE_UGT, 1, 0, n, sundew_const(64, s.size - offset), 0);
    sundew_bug(SUNDEW_BUG_BOUNDS, beyond, row, site);
}

void sundew_length(const void *at, sundew_label n, uint64_t vn, uint32_t site)
{
    SundewSpan s;
    n = sundew_fit(n, 64);
    if (!n)
        return;
    if (sundew_object_at((uintptr_t)at, &s))
        ask_room(at, s, n, site);
    sundew_pin_label(n, vn, SUNDEW_WHY_SIZE, site);
}

void sundew_room(const void *at, const void *object, uint64_t size, sundew_label nlabel,
                 uint32_t site)
{
    if (!sundew_alive || !nlabel || !sundew_concolic_enter())
        return;
    nlabel = sundew_valid(nlabel);
    sundew_label n = nlabel ? sundew_fit(nlabel, 64) : 0;
    if (n)
        ask_room(at, (SundewSpan){ (uintptr_t)object, size }, n, site);
    sundew_concolic_leave();
}
