/*
 * The rows of a region, done again for labels.
 *
 * The program has already computed the values; a row whose operands have no labels is
 * passed over. Rows stand in the program's order, so memory's labels are what
 * they were when the program came by, while memory itself is as the region left it.
 */
#include "runtime/concolic/concolic_int.h"

typedef struct Run {
    const struct sundew_region *r;
    uint64_t *values;
    sundew_label *labels;
    const struct sundew_row *row;
} Run;

/* ---- operands */

static inline sundew_label label_of(const Run *u, uint16_t o)
{
    return o & SUNDEW_WORD ? 0 : sundew_valid(u->labels[o]);
}

static inline uint64_t low_of(const Run *u, uint16_t o)
{
    return o & SUNDEW_WORD ? u->r->words[o & ~SUNDEW_WORD] : u->values[o];
}

static inline sundew_wide value_of(const Run *u, uint16_t o, unsigned bits)
{
    const uint64_t *at = o & SUNDEW_WORD ? u->r->words + (o & ~SUNDEW_WORD) : u->values + o;
    sundew_wide v = at[0];
    if (bits > 64)
        v |= (sundew_wide)at[1] << 64;
    return v & sundew_mask(bits);
}

/* The label of an operand, or the constant that it is. */
static sundew_label node_of(const Run *u, uint16_t o, unsigned bits)
{
    sundew_label l = label_of(u, o);
    return l ? sundew_fit(l, bits) : sundew_const(bits, value_of(u, o, bits));
}

static inline unsigned operand_bits(const struct sundew_row *w)
{
    return w->from ? w->from : w->bits;
}

static inline void give(Run *u, sundew_label l)
{
    if (u->row->dst != SUNDEW_NONE)
        u->labels[u->row->dst] = sundew_unless_const(l);
}

/* ---- bugs at operations */

static void ask_division(Run *u, unsigned bits)
{
    const struct sundew_row *w = u->row;
    bool is_signed = w->op == SUNDEW_NODE_SDIV || w->op == SUNDEW_NODE_SREM;
    sundew_label lb = label_of(u, w->b);
    if (lb)
        sundew_bug(SUNDEW_BUG_DIVISION,
                   sundew_node(SUNDEW_NODE_EQ, 1, 0, sundew_fit(lb, bits), sundew_const(bits, 0),
                               0),
                   w, w->x);
    if (!is_signed || bits < 32)
        return;
    sundew_wide least = (sundew_wide)1 << (bits - 1), minus = sundew_mask(bits);
    if (label_of(u, w->a) ? !lb && value_of(u, w->b, bits) != minus
                          : value_of(u, w->a, bits) != least)
        return;
    sundew_label a = node_of(u, w->a, bits), b = node_of(u, w->b, bits);
    sundew_label is_least = sundew_node(SUNDEW_NODE_EQ, 1, 0, a, sundew_const(bits, least), 0);
    sundew_label is_minus = sundew_node(SUNDEW_NODE_EQ, 1, 0, b, sundew_const(bits, minus), 0);
    if (is_least && is_minus)
        sundew_bug(SUNDEW_BUG_DIVISION_OVERFLOW,
                   sundew_node(SUNDEW_NODE_AND, 1, 0, is_least, is_minus, 0), w, w->x);
}

/* How many bits a value needs, its sign included, as far as a short look tells. */
static unsigned needs(sundew_label l, unsigned depth)
{
    const struct sundew_node *n = &sundew_state.nodes[l];
    unsigned a, b;
    switch (depth ? n->op : SUNDEW_NODE_N) {
    case SUNDEW_NODE_CONST: {
        uint64_t v = sundew_const_value(l);
        if (v >> (n->bits - 1) & 1)
            v = ~v & (uint64_t)sundew_mask(n->bits);
        return v ? 65 - (unsigned)__builtin_clzll(v) : 1;
    }
    case SUNDEW_NODE_ZEXT: return sundew_bits(n->a) + 1;
    case SUNDEW_NODE_SEXT: return needs(n->a, depth - 1);
    case SUNDEW_NODE_ADD:
    case SUNDEW_NODE_SUB:
        a = needs(n->a, depth - 1);
        b = needs(n->b, depth - 1);
        a = (a > b ? a : b) + 1;
        return a < n->bits ? a : n->bits;
    case SUNDEW_NODE_MUL:
        a = needs(n->a, depth - 1) + needs(n->b, depth - 1);
        return a < n->bits ? a : n->bits;
    default: return n->bits;
    }
}

static void ask_overflow(Run *u, sundew_label a, sundew_label b)
{
    const struct sundew_row *w = u->row;
    unsigned x = needs(a, 5), y = needs(b, 5);
    if (w->op == SUNDEW_NODE_MUL ? x + y <= w->bits : (x > y ? x : y) < w->bits)
        return;                        /* it can't */
    unsigned op = w->op == SUNDEW_NODE_ADD   ? SUNDEW_NODE_SADD_OVERFLOWS
                  : w->op == SUNDEW_NODE_SUB ? SUNDEW_NODE_SSUB_OVERFLOWS
                                             : SUNDEW_NODE_SMUL_OVERFLOWS;
    sundew_bug(SUNDEW_BUG_OVERFLOW, sundew_node(op, 1, 0, a, b, 0), w, w->x);
}

static void ask_shift(Run *u, unsigned bits)
{
    const struct sundew_row *w = u->row;
    sundew_label b = sundew_fit(label_of(u, w->b), bits);
    if (b && bits > 1)
        sundew_bug(SUNDEW_BUG_SHIFT,
                   sundew_node(SUNDEW_NODE_UGE, 1, 0, b, sundew_const(bits, bits), 0), w, w->x);
}

static void ask_allocation(Run *u)
{
    const struct sundew_row *w = u->row;
    sundew_label la = label_of(u, w->a), lb = label_of(u, w->b);
    const struct sundew_node *nodes = sundew_state.nodes;
    if (!(la | lb) || !sundew_may_ask(w))
        return;
    sundew_label a = node_of(u, w->a, w->bits), size = a;
    if (w->b != SUNDEW_NONE) {
        sundew_label b = node_of(u, w->b, w->bits);
        if (a && b)
            sundew_bug(SUNDEW_BUG_ALLOCATION,
                       sundew_node(SUNDEW_NODE_UMUL_OVERFLOWS, 1, 0, a, b, 0), w, w->x);
        size = a && b ? sundew_node(SUNDEW_NODE_MUL, w->bits, 0, a, b, 0) : 0;
    } else if (a && nodes[a].op == SUNDEW_NODE_MUL) {
        sundew_bug(SUNDEW_BUG_ALLOCATION,
                   sundew_node(SUNDEW_NODE_UMUL_OVERFLOWS, 1, 0, nodes[a].a, nodes[a].b, 0), w,
                   w->x);
    }
    if (size)
        sundew_bug(SUNDEW_BUG_ALLOCATION,
                   sundew_node(SUNDEW_NODE_SLT, 1, 0, size, sundew_const(w->bits, 0), 0), w, w->x);
}

/* ---- operations */

/* An operation with one concrete operand that decides it, or leaves the other as it is.
 * True: done. */
static bool settled(Run *u, sundew_label la, sundew_label lb, unsigned bits)
{
    const struct sundew_row *w = u->row;
    if (la && lb) {
        if (la != lb)
            return false;
        switch (w->op) {
        case SUNDEW_NODE_AND:
        case SUNDEW_NODE_OR:
        case SUNDEW_NODE_UMIN:
        case SUNDEW_NODE_UMAX:
        case SUNDEW_NODE_SMIN:
        case SUNDEW_NODE_SMAX: give(u, la); return true;
        case SUNDEW_NODE_SUB:
        case SUNDEW_NODE_XOR:
        case SUNDEW_NODE_EQ:
        case SUNDEW_NODE_NE:
        case SUNDEW_NODE_ULT:
        case SUNDEW_NODE_ULE:
        case SUNDEW_NODE_UGT:
        case SUNDEW_NODE_UGE:
        case SUNDEW_NODE_SLT:
        case SUNDEW_NODE_SLE:
        case SUNDEW_NODE_SGT:
        case SUNDEW_NODE_SGE: return true;
        default: return false;
        }
    }
    sundew_wide v = value_of(u, la ? w->b : w->a, bits);
    bool none = v == 0, all = v == sundew_mask(bits);
    switch (w->op) {
    case SUNDEW_NODE_AND:
        if (all)
            give(u, la | lb);
        return all || none;
    case SUNDEW_NODE_OR:
        if (none)
            give(u, la | lb);
        return all || none;
    case SUNDEW_NODE_ADD:
    case SUNDEW_NODE_XOR:
        if (none)
            give(u, la | lb);
        return none;
    case SUNDEW_NODE_SUB:
    case SUNDEW_NODE_SHL:
    case SUNDEW_NODE_LSHR:
    case SUNDEW_NODE_ASHR:
        if (none && la)
            give(u, la);
        return none && (la || w->op != SUNDEW_NODE_SUB);
    case SUNDEW_NODE_MUL:
        if (v == 1)
            give(u, la | lb);
        return v == 1 || none;
    default: return false;
    }
}

static void lost(Run *u, unsigned why)
{
    sundew_imprecise(why, NULL, u->row, u->row->x);
    give(u, 0);
}

static void binary(Run *u)
{
    const struct sundew_row *w = u->row;
    sundew_label la = label_of(u, w->a), lb = label_of(u, w->b);
    unsigned bits = operand_bits(w);
    if (!(la | lb))
        return;
    if (w->op >= SUNDEW_NODE_UDIV && w->op <= SUNDEW_NODE_SREM && sundew_may_ask(w))
        ask_division(u, bits);
    else if (w->op >= SUNDEW_NODE_SHL && w->op <= SUNDEW_NODE_ASHR && lb && sundew_may_ask(w))
        ask_shift(u, bits);
    if (settled(u, la, lb, bits))
        return;
    sundew_label a = node_of(u, w->a, bits), b = node_of(u, w->b, bits);
    if (!a || !b)
        return;
    if (w->flags & SUNDEW_ROW_SIGNED && w->op <= SUNDEW_NODE_MUL && sundew_may_ask(w))
        ask_overflow(u, a, b);
    give(u, sundew_node(w->op, w->bits, w->k, a, b, 0));
}

static void concat(Run *u)
{
    const struct sundew_row *w = u->row;
    if (!(label_of(u, w->a) | label_of(u, w->b)) || w->from >= w->bits)
        return;
    give(u, sundew_concat(node_of(u, w->a, w->from), node_of(u, w->b, w->bits - w->from)));
}

static void unary(Run *u)
{
    const struct sundew_row *w = u->row;
    sundew_label a = sundew_fit(label_of(u, w->a), operand_bits(w));
    if (!a)
        return;
    if (w->op == SUNDEW_NODE_EXTRACT)
        give(u, sundew_extract(a, w->k, w->bits));
    else if (w->op == SUNDEW_NODE_ZEXT || w->op == SUNDEW_NODE_SEXT)
        give(u, sundew_extend(w->op, a, w->bits));
    else
        give(u, sundew_node(w->op, w->bits, w->k, a, 0, 0));
}

static void choice(Run *u)
{
    const struct sundew_row *w = u->row;
    sundew_label cond = sundew_fit(label_of(u, w->a), 1);
    sundew_label yes = label_of(u, w->b), no = label_of(u, w->c);
    if (!cond) {
        give(u, low_of(u, w->a) & 1 ? yes : no);
        return;
    }
    if (!yes && !no && value_of(u, w->b, w->bits) == value_of(u, w->c, w->bits))
        return;
    yes = node_of(u, w->b, w->bits);
    no = node_of(u, w->c, w->bits);
    if (yes && no)
        give(u, yes == no ? yes : sundew_node(SUNDEW_NODE_ITE, w->bits, 0, cond, yes, no));
}

static void funnel(Run *u)
{
    const struct sundew_row *w = u->row;
    if (!(label_of(u, w->a) | label_of(u, w->b) | label_of(u, w->c)))
        return;
    sundew_label a = node_of(u, w->a, w->bits), b = node_of(u, w->b, w->bits),
                 c = node_of(u, w->c, w->bits);
    if (a && b && c)
        give(u, sundew_node(w->op, w->bits, 0, a, b, c));
}

static bool is_float(unsigned bits) { return bits == 32 || bits == 64; }

/* Floats of 32 and 64 bits only, on the side that is one. */
static void floating(Run *u)
{
    const struct sundew_row *w = u->row;
    unsigned from = operand_bits(w);
    bool two = w->b != SUNDEW_NONE && w->op != SUNDEW_NODE_FSQRT && w->op != SUNDEW_NODE_FROUND &&
               (w->op < SUNDEW_NODE_FTOF || w->op == SUNDEW_NODE_FMATH);
    sundew_label la = label_of(u, w->a), lb = two ? label_of(u, w->b) : 0;
    bool in = w->op != SUNDEW_NODE_UTOF && w->op != SUNDEW_NODE_STOF;
    bool out = w->bits != 1 && w->op != SUNDEW_NODE_FTOU && w->op != SUNDEW_NODE_FTOS;
    if (!(la | lb))
        return;
    if ((in && !is_float(from)) || (out && !is_float(w->bits)) ||
        sundew_state.flags & SUNDEW_LOG_NO_FLOAT) {
        lost(u, SUNDEW_WHY_FLOAT);
        return;
    }
    sundew_label a = node_of(u, w->a, from), b = two ? node_of(u, w->b, from) : 0;
    if (a && (b || !two))
        give(u, sundew_node(w->op, w->bits, w->k, a, b, 0));
}

static sundew_wide product(sundew_wide a, sundew_wide b, unsigned bits)
{
    uint64_t v = 0, low[2] = { (uint64_t)a, (uint64_t)b };
    if (bits == 32) {
        float x, y;
        memcpy(&x, &low[0], 4);
        memcpy(&y, &low[1], 4);
        x *= y;
        memcpy(&v, &x, 4);
    } else {
        double x, y;
        memcpy(&x, &low[0], 8);
        memcpy(&y, &low[1], 8);
        x *= y;
        memcpy(&v, &x, 8);
    }
    return v;
}

/* Operations that are several nodes. */
static sundew_label several(Run *u, sundew_label a, sundew_label b)
{
    const struct sundew_row *w = u->row;
    unsigned bits = w->bits;
    sundew_wide sign = (sundew_wide)1 << (bits - 1);
    if (w->op == SUNDEW_ROW_FMULADD) {
        sundew_label c = node_of(u, w->c, bits);
        sundew_label p =
            sundew_is_const(a) && sundew_is_const(b)
                ? sundew_const(bits, product(sundew_const_value(a), sundew_const_value(b), bits))
                : sundew_node(SUNDEW_NODE_FMUL, bits, 0, a, b, 0);
        return c && p ? sundew_node(SUNDEW_NODE_FADD, bits, 0, p, c, 0) : 0;
    }
    if (w->op == SUNDEW_ROW_COPYSIGN) {
        sundew_label s = sundew_node(SUNDEW_NODE_AND, bits, 0, b, sundew_const(bits, sign), 0);
        a = sundew_node(SUNDEW_NODE_AND, bits, 0, a, sundew_const(bits, sign - 1), 0);
        return a && s ? sundew_node(SUNDEW_NODE_OR, bits, 0, a, s, 0) : 0;
    }
    bool least = w->op == SUNDEW_ROW_FMIN;
    sundew_label less = sundew_node(SUNDEW_NODE_FOLT, 1, 0, least ? a : b, least ? b : a, 0);
    sundew_label nan = sundew_node(SUNDEW_NODE_FUNO, 1, 0, b, b, 0);
    sundew_label first = less && nan ? sundew_node(SUNDEW_NODE_OR, 1, 0, less, nan, 0) : 0;
    return first ? sundew_node(SUNDEW_NODE_ITE, bits, 0, first, a, b) : 0;
}

static void composed(Run *u)
{
    const struct sundew_row *w = u->row;
    bool third = w->op == SUNDEW_ROW_FMULADD && label_of(u, w->c);
    if (!(label_of(u, w->a) | label_of(u, w->b)) && !third)
        return;
    if (!is_float(w->bits) || sundew_state.flags & SUNDEW_LOG_NO_FLOAT) {
        lost(u, SUNDEW_WHY_FLOAT);
        return;
    }
    sundew_label a = node_of(u, w->a, w->bits), b = node_of(u, w->b, w->bits);
    give(u, a && b ? several(u, a, b) : 0);
}

/* ---- memory */

static void address(Run *u)
{
    const struct sundew_row *w = u->row;
    unsigned from = w->from ? w->from : 64;
    if (from > 64)
        from = 64;
    uint64_t base = low_of(u, w->a), scale = u->r->words[w->c & ~SUNDEW_WORD];
    uint64_t index = low_of(u, w->b);
    uint64_t wide = (uint64_t)((int64_t)(index << (64 - from)) >> (64 - from));
    u->values[w->dst] = base + wide * scale;
    sundew_label la = label_of(u, w->a), lb = label_of(u, w->b);
    if (!(la | lb))
        return;
    sundew_label l = sundew_address(la, base, lb, from, index, scale);
    give(u, l);
    if (l && w->object && !la)
        sundew_address_known(l, base, u->r->words[w->object - 1]);
}

/* Do the rows that follow write there? */
static bool calm(void *arg, uint64_t from, uint64_t to)
{
    Run u = *(Run *)arg;
    const struct sundew_row *end = u.r->rows + u.r->nrows;
    for (u.row++; u.row < end; u.row++) {
        if (u.row->op == SUNDEW_ROW_ADDRESS) {
            unsigned n = u.row->from && u.row->from < 64 ? 64 - u.row->from : 0;
            u.values[u.row->dst] =
                low_of(&u, u.row->a) + (uint64_t)((int64_t)(low_of(&u, u.row->b) << n) >> n) *
                                           u.r->words[u.row->c & ~SUNDEW_WORD];
        } else if (u.row->op == SUNDEW_ROW_STORE) {
            uint64_t at = low_of(&u, u.row->a);
            if (at < to && from < at + (u.row->bits + 7u) / 8)
                return false;
        }
    }
    return true;
}

static void load(Run *u)
{
    const struct sundew_row *w = u->row;
    sundew_wide v = value_of(u, w->dst, w->bits);
    uint8_t seen[16];
    memcpy(seen, &v, sizeof seen);
    SundewAccess a = { w, sundew_fit(label_of(u, w->a), 64), low_of(u, w->a), (w->bits + 7u) / 8 };
    if (w->bits % 8)                   /* bits that were not read are as they were */
        seen[a.n - 1] |= (uint8_t)(sundew_shadow_witness(a.at + a.n - 1) & 0xff << w->bits % 8);
    sundew_label l = 0;
    if (!a.label || !sundew_address_read(&a, seen, calm, u, &l))
        l = sundew_shadow_load(a.at, a.n, seen, w->x);
    if (l)
        give(u, sundew_extract(l, 0, w->bits));
}

static void store(Run *u)
{
    const struct sundew_row *w = u->row;
    sundew_wide v = value_of(u, w->b, w->bits);
    uint8_t stored[16];
    memcpy(stored, &v, sizeof stored);
    SundewAccess a = { w, sundew_fit(label_of(u, w->a), 64), low_of(u, w->a), (w->bits + 7u) / 8 };
    sundew_label l = sundew_fit(sundew_fit(label_of(u, w->b), w->bits), a.n * 8);
    if (SUNDEW_RARE(a.label != 0))
        sundew_address_written(&a, l ? l : sundew_const(a.n * 8, v), calm, u);
    sundew_shadow_store(a.at, a.n, stored, l);
}

/* ---- ends of blocks */

static void branch(Run *u)
{
    const struct sundew_row *w = u->row;
    sundew_label l = sundew_fit(label_of(u, w->a), 1);
    bool yes = low_of(u, w->a) & 1;
    if (l)
        sundew_branch(l, yes, yes ? w->x : w->x + 1, yes ? w->x + 1 : w->x, w->x, false);
}

/* Is the value one of the cases? Neighbours in the list that follow each other are
 * one range. */
static sundew_label any_case(const Run *u, sundew_label l, unsigned bits)
{
    const uint64_t *cases = u->r->words + u->row->b;
    sundew_label any = 0;
    for (unsigned i = 0, j; i < u->row->c; i = j) {
        for (j = i + 1; j < u->row->c && cases[j] == cases[j - 1] + 1; j++)
            ;
        sundew_label least = sundew_const(bits, cases[i]), part = l;
        if (j > i + 1 && cases[i])
            part = sundew_node(SUNDEW_NODE_SUB, bits, 0, l, least, 0);
        if (j > i + 1)
            part = sundew_node(SUNDEW_NODE_ULE, 1, 0, part, sundew_const(bits, j - i - 1), 0);
        else
            part = sundew_node(SUNDEW_NODE_EQ, 1, 0, l, least, 0);
        any = any && part ? sundew_node(SUNDEW_NODE_OR, 1, 0, any, part, 0) : part;
        if (!any)
            return 0;
    }
    return any;
}

/* All cases that were not taken, while the site has a budget for them. */
static void tell_others(const Run *u, sundew_label l, unsigned bits, unsigned taken)
{
    const struct sundew_row *w = u->row;
    const uint64_t *cases = u->r->words + w->b;
    for (unsigned i = 0; i < w->c; i++) {
        if (i == taken)
            continue;
        sundew_label is = sundew_node(SUNDEW_NODE_EQ, 1, 0, l, sundew_const(bits, cases[i]), 0);
        if (is)
            sundew_record(SUNDEW_REC_OTHER, 0, 1, is, w->x + 1 + i, w->x);
    }
    sundew_label any = taken < w->c ? any_case(u, l, bits) : 0;
    if (any)
        sundew_record(SUNDEW_REC_OTHER, 0, 0, any, w->x, w->x);
}

/* The case that was taken, or "none of them", is a conjunct. */
static void many(Run *u)
{
    const struct sundew_row *w = u->row;
    unsigned bits = w->bits;
    sundew_label l = sundew_fit(label_of(u, w->a), bits);
    if (!l)
        return;
    if (bits > 64) {
        sundew_pin_label(l, value_of(u, w->a, bits), SUNDEW_WHY_WIDE, w->x);
        return;
    }
    const uint64_t *cases = u->r->words + w->b;
    uint64_t mask = (uint64_t)sundew_mask(bits), v = low_of(u, w->a) & mask;
    unsigned taken = 0;
    while (taken < w->c && (cases[taken] & mask) != v)
        taken++;
    bool one = taken < w->c;
    sundew_label held =
        one ? sundew_node(SUNDEW_NODE_EQ, 1, 0, l, sundew_const(bits, v), 0) : any_case(u, l, bits);
    if (!held || sundew_is_held(held))
        return;
    if (sundew_site_is_new(w->x))
        tell_others(u, l, bits, taken);
    sundew_branch(held, one, one ? w->x + 1 + taken : w->x, w->x, w->x, true);
}

/* ---- the region */

static bool any_label(const Run *u)
{
    const struct sundew_row *w = u->row;
    sundew_label l = label_of(u, w->a);
    if (w->op != SUNDEW_ROW_SWITCH) /* its b and c are no operands; nor is ADDRESS's c */
        l |= label_of(u, w->b) | (w->op == SUNDEW_ROW_ADDRESS ? 0 : label_of(u, w->c));
    return l;
}

static void other_row(Run *u)
{
    const struct sundew_row *w = u->row;
    switch (w->op) {
    case SUNDEW_ROW_LOAD: load(u); break;
    case SUNDEW_ROW_STORE: store(u); break;
    case SUNDEW_ROW_ADDRESS: address(u); break;
    case SUNDEW_ROW_BRANCH: branch(u); break;
    case SUNDEW_ROW_SWITCH: many(u); break;
    case SUNDEW_ROW_PIN:
        sundew_pin_label(sundew_fit(label_of(u, w->a), w->bits), value_of(u, w->a, w->bits), w->k,
                         w->x);
        break;
    case SUNDEW_ROW_SAME: give(u, label_of(u, w->a)); break;
    case SUNDEW_ROW_LOST:
        if (any_label(u))
            lost(u, w->k);
        break;
    case SUNDEW_ROW_ALLOCATION: ask_allocation(u); break;
    case SUNDEW_ROW_FMULADD:
    case SUNDEW_ROW_FMIN:
    case SUNDEW_ROW_FMAX:
    case SUNDEW_ROW_COPYSIGN: composed(u); break;
    default: break;
    }
}

static inline void one_row(Run *u)
{
    unsigned op = u->row->op;
    if (op >= SUNDEW_ROW_LOAD)
        other_row(u);
    else if (op >= SUNDEW_NODE_FADD && op <= SUNDEW_NODE_FMATH && op != SUNDEW_NODE_FNEG &&
             op != SUNDEW_NODE_FABS)
        floating(u);
    else if (op == SUNDEW_NODE_CONCAT)
        concat(u);
    else if (op == SUNDEW_NODE_ITE)
        choice(u);
    else if (op == SUNDEW_NODE_FSHL || op == SUNDEW_NODE_FSHR)
        funnel(u);
    else if ((op >= SUNDEW_NODE_NOT && op <= SUNDEW_NODE_EXTRACT) || op == SUNDEW_NODE_FNEG ||
             op == SUNDEW_NODE_FABS || (op >= SUNDEW_NODE_BSWAP && op <= SUNDEW_NODE_ABS))
        unary(u);
    else if ((op >= SUNDEW_NODE_ADD && op <= SUNDEW_NODE_SGE) ||
             (op >= SUNDEW_NODE_UMIN && op <= SUNDEW_NODE_SMUL_OVERFLOWS))
        binary(u);
}

void sundew_region(const struct sundew_region *r, uint64_t *values, sundew_label *labels)
{
    if (!sundew_concolic_enter())
        return;
    sundew_state.log->regions++;
    Run u = { r, values, labels, r->rows };
    for (const struct sundew_row *end = r->rows + r->nrows; u.row < end; u.row++) {
        if (SUNDEW_RARE(u.row->flags & SUNDEW_ROW_OUTSIDE) && any_label(&u))
            sundew_imprecise(SUNDEW_WHY_ANALYSIS, NULL, u.row, u.row->x);
        one_row(&u);
    }
    sundew_concolic_leave();
}
