/*
 * The concolic runtime with regions made by hand: what it writes is read back and
 * computed by src/solve, for the input of the run and for others.
 */
#include "base/rng.h"
#include "engine/concolic/log.h"
#include "runtime/concolic/concolic.h"
#include "runtime/concolic/concolic_int.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

void *sundew_malloc(size_t n);
void *sundew_realloc(void *p, size_t n);
void sundew_free(void *p);

enum { INPUT = 64, SLOTS = 96, ROWS = 96, WORDS = 64 };

static uint32_t numbers[16] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3 };
static uint8_t filled[16];
const struct sundew_object sundew_objects[] = {
    { filled, sizeof filled },
    { numbers, sizeof numbers },
};
const uint64_t sundew_nobjects = 2;

static Log *log_;
static uint8_t input[INPUT];

static int open_all(void **state)
{
    (void)state;
    Err err = { 0 };
    log_ = log_new(&(LogPlan){ .nodes = 1 << 18, .records = 1 << 14, .bytes = 1 << 18 }, &err);
    assert_non_null(log_);
    assert_int_equal(dup2(log_fd(log_), SUNDEW_LOG_FD), SUNDEW_LOG_FD);
    sundew_concolic_open();
    assert_int_equal(log_header(log_)->started, 1);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    log_free(log_);
    return 0;
}

/* A new run in which all of `input` is symbolic. */
static void begin(void)
{
    log_reset(log_, 0, INPUT);
    sundew_concolic_begin();
    sundew_symbolic(input, INPUT, 0);
}

static void fill_input(Rng *rng)
{
    for (int i = 0; i < INPUT; i++)
        input[i] = rng_below(rng, 4) ? (uint8_t)rng_next(rng) : 0;
}

typedef struct Seen {
    Exprs *p;
    uint32_t in;
    Trail t;
} Seen;

static Seen look(void)
{
    Err err = { 0 };
    Seen s = { .p = exprs_new(NULL) };
    s.in = exprs_source(s.p, "input", INPUT);
    if (!log_read(log_, s.p, s.in, &s.t, &err))
        fail_msg("%s", err.msg);
    if (!trail_verify(&s.t, s.p, input, INPUT, &err))
        fail_msg("%s", err.msg);
    return s;
}

static void done(Seen *s)
{
    trail_release(&s->t);
    exprs_free(s->p);
}

/* ---- regions */

typedef struct Region {
    struct sundew_row rows[ROWS];
    uint64_t words[WORDS];
    uint64_t values[SLOTS];
    sundew_label labels[SLOTS];
    uint8_t bits[SLOTS];               /* of the value that begins there; 0: none */
    unsigned nrows, nwords, nslots;
} Region;

static struct sundew_row *row(Region *r, unsigned op, unsigned bits)
{
    assert_true(r->nrows < ROWS);
    struct sundew_row *w = &r->rows[r->nrows++];
    *w = (struct sundew_row){ .op = (uint8_t)op,
                              .bits = (uint8_t)bits,
                              .dst = SUNDEW_NONE,
                              .a = SUNDEW_NONE,
                              .b = SUNDEW_NONE,
                              .c = SUNDEW_NONE,
                              .x = r->nrows * 2 };
    return w;
}

static uint16_t slot(Region *r, unsigned bits, ExprValue v)
{
    uint16_t s = (uint16_t)r->nslots;
    r->nslots += bits > 64 ? 2 : 1;
    assert_true(r->nslots <= SLOTS);
    r->bits[s] = (uint8_t)bits;
    r->values[s] = (uint64_t)v;
    if (bits > 64)
        r->values[s + 1] = (uint64_t)(v >> 64);
    return s;
}

static uint16_t word(Region *r, unsigned bits, ExprValue v)
{
    uint16_t i = (uint16_t)r->nwords;
    r->nwords += bits > 64 ? 2 : 1;
    assert_true(r->nwords <= WORDS);
    r->words[i] = (uint64_t)v;
    if (bits > 64)
        r->words[i + 1] = (uint64_t)(v >> 64);
    return i | SUNDEW_WORD;
}

static ExprValue mask(unsigned bits)
{
    return bits >= 128 ? ~(ExprValue)0 : ((ExprValue)1 << bits) - 1;
}

static ExprValue value(const Region *r, uint16_t o, unsigned bits)
{
    const uint64_t *at = o & SUNDEW_WORD ? r->words + (o & ~SUNDEW_WORD) : r->values + o;
    ExprValue v = at[0];
    if (bits > 64)
        v |= (ExprValue)at[1] << 64;
    return v & mask(bits);
}

static uint16_t address(Region *r, const void *at)
{
    uint16_t s = slot(r, 64, (uintptr_t)at);
    r->bits[s] = 0;                    /* no operand for others */
    return s;
}

static uint16_t load(Region *r, const void *at, unsigned bits)
{
    ExprValue v = 0;
    memcpy(&v, at, (bits + 7) / 8);
    uint16_t dst = slot(r, bits, v & mask(bits)), a = address(r, at);
    struct sundew_row *w = row(r, SUNDEW_ROW_LOAD, bits);
    w->dst = dst;
    w->a = a;
    return dst;
}

static void store(Region *r, void *at, uint16_t from, unsigned bits)
{
    ExprValue v = value(r, from, bits);
    memcpy(at, &v, (bits + 7) / 8);
    uint16_t a = address(r, at);
    struct sundew_row *w = row(r, SUNDEW_ROW_STORE, bits);
    w->a = a;
    w->b = from;
}

static uint16_t binary(Region *r, unsigned op, unsigned bits, unsigned from, uint16_t a, uint16_t b,
                       ExprValue v)
{
    uint16_t dst = slot(r, bits, v);
    struct sundew_row *w = row(r, op, bits);
    w->from = from == bits ? 0 : (uint8_t)from;
    w->dst = dst;
    w->a = a;
    w->b = b;
    return dst;
}

static void pin(Region *r, uint16_t s)
{
    row(r, SUNDEW_ROW_PIN, r->bits[s])->a = s;
    r->rows[r->nrows - 1].k = SUNDEW_WHY_EXTERNAL;
}

static void run(Region *r)
{
    struct sundew_region d = { r->rows, r->words, r->nrows, (uint16_t)r->nslots, 0 };
    sundew_region(&d, r->values, r->labels);
}

/* ---- what an operation gives, by the solver's own constants */

static ExprValue constant(Exprs *p, Expr e)
{
    ExprValue v = 0;
    assert_true(expr_is_const(p, e, &v));
    return v;
}

static const struct {
    uint8_t node, expr;
} binaries[] = {
#define X(name) { SUNDEW_NODE_##name, EXPR_##name },
    X(ADD) X(SUB) X(MUL) X(UDIV) X(SDIV) X(UREM) X(SREM) X(SHL) X(LSHR) X(ASHR) X(AND) X(OR)
    X(XOR) X(EQ) X(ULT) X(ULE) X(SLT) X(SLE) X(NE) X(UGT) X(UGE) X(SGT) X(SGE) X(UMIN)
    X(UMAX) X(SMIN) X(SMAX) X(UADD_SAT) X(USUB_SAT) X(SADD_SAT) X(SSUB_SAT)
    X(UADD_OVERFLOWS) X(SADD_OVERFLOWS) X(USUB_OVERFLOWS) X(SSUB_OVERFLOWS)
    X(UMUL_OVERFLOWS) X(SMUL_OVERFLOWS)
}, floats[] = {
    X(FADD) X(FSUB) X(FMUL) X(FDIV) X(FREM) X(FOEQ) X(FOLT) X(FOLE) X(FUNO) X(FONE) X(FOGT)
    X(FOGE) X(FORD) X(FUEQ) X(FUNE) X(FULT) X(FULE) X(FUGT) X(FUGE)
}, unaries[] = {
    X(NOT) X(NEG) X(BITREVERSE) X(CTPOP) X(CTLZ) X(CTTZ) X(ABS) X(BSWAP)
#undef X
};
enum {
    NBINARY = sizeof binaries / sizeof *binaries,
    NFLOAT = sizeof floats / sizeof *floats,
    NUNARY = sizeof unaries / sizeof *unaries
};

static bool is_truth(unsigned op)
{
    return (op >= SUNDEW_NODE_EQ && op <= SUNDEW_NODE_SGE) ||
           (op >= SUNDEW_NODE_FOEQ && op <= SUNDEW_NODE_FUGE) ||
           (op >= SUNDEW_NODE_UADD_OVERFLOWS && op <= SUNDEW_NODE_SMUL_OVERFLOWS);
}

/* A program of one region over the input and `memory`; the same seed gives the same rows,
 * whatever the input's values are. */
typedef struct Random {
    Rng rng;
    Exprs *p;                          /* for constants */
    Region r;
    uint8_t memory[96];
} Random;

static unsigned random_width(Rng *g)
{
    static const uint8_t usual[] = { 1, 8, 16, 32, 64, 128 };
    return rng_below(g, 4) ? usual[rng_below(g, 6)] : 1 + (unsigned)rng_below(g, 128);
}

/* A value of this width: one that is there, or a constant, or loaded. */
static uint16_t operand(Random *m, unsigned bits)
{
    Region *r = &m->r;
    for (int tries = 0; tries < 6 && r->nslots; tries++) {
        uint16_t s = (uint16_t)rng_below(&m->rng, r->nslots);
        if (r->bits[s] == bits)
            return s;
    }
    if (rng_below(&m->rng, 3) == 0 && r->nwords + 2 < WORDS) {
        ExprValue v = (ExprValue)rng_next(&m->rng) << 64 | rng_next(&m->rng);
        return word(r, bits, rng_below(&m->rng, 3) ? v : v & 7);
    }
    unsigned n = (bits + 7) / 8;
    if (rng_below(&m->rng, 2))
        return load(r, input + rng_below(&m->rng, INPUT - n + 1), bits);
    return load(r, m->memory + rng_below(&m->rng, sizeof m->memory - n + 1), bits);
}

static void random_row(Random *m)
{
    Region *r = &m->r;
    unsigned bits = random_width(&m->rng), kind = (unsigned)rng_below(&m->rng, 16);
    Exprs *p = m->p;
    if (kind < 6) {
        unsigned i = (unsigned)rng_below(&m->rng, NBINARY);
        uint16_t a = operand(m, bits), b = operand(m, bits);
        Expr e = expr_binary(p, (ExprOp)binaries[i].expr, expr_const(p, bits, value(r, a, bits)),
                             expr_const(p, bits, value(r, b, bits)));
        unsigned to = is_truth(binaries[i].node) ? 1 : bits;
        binary(r, binaries[i].node, to, bits, a, b, constant(p, e));
        if (rng_below(&m->rng, 2))
            r->rows[r->nrows - 1].flags = SUNDEW_ROW_SIGNED;
    } else if (kind < 8) {
        unsigned i = (unsigned)rng_below(&m->rng, NUNARY), n = bits;
        if (unaries[i].node == SUNDEW_NODE_BSWAP)
            n = 16 * (1 + (unsigned)rng_below(&m->rng, 4));
        uint16_t a = operand(m, n);
        Expr e = expr_unary(p, (ExprOp)unaries[i].expr, expr_const(p, n, value(r, a, n)));
        binary(r, unaries[i].node, n, n, a, SUNDEW_NONE, constant(p, e));
    } else if (kind < 10) {
        unsigned to = random_width(&m->rng);
        uint16_t a = operand(m, bits);
        ExprValue v = value(r, a, bits);
        if (to > bits) {
            bool sign = rng_below(&m->rng, 2);
            Expr e = expr_const(p, bits, v);
            e = sign ? expr_sext(p, e, to) : expr_zext(p, e, to);
            binary(r, sign ? SUNDEW_NODE_SEXT : SUNDEW_NODE_ZEXT, to, bits, a, SUNDEW_NONE,
                   constant(p, e));
        } else {
            unsigned low = (unsigned)rng_below(&m->rng, bits - to + 1);
            binary(r, SUNDEW_NODE_EXTRACT, to, bits, a, SUNDEW_NONE, v >> low & mask(to));
            r->rows[r->nrows - 1].k = (uint16_t)low;
        }
    } else if (kind == 10 && bits > 1) {
        unsigned high = 1 + (unsigned)rng_below(&m->rng, bits - 1);
        uint16_t a = operand(m, high), b = operand(m, bits - high);
        binary(r, SUNDEW_NODE_CONCAT, bits, high, a, b,
               value(r, a, high) << (bits - high) | value(r, b, bits - high));
    } else if (kind == 11) {
        uint16_t a = operand(m, 1), b = operand(m, bits), c = operand(m, bits);
        binary(r, SUNDEW_NODE_ITE, bits, bits, a, b,
               value(r, a, 1) ? value(r, b, bits) : value(r, c, bits));
        r->rows[r->nrows - 1].c = c;
    } else if (kind == 12) {
        bool left = rng_below(&m->rng, 2);
        uint16_t a = operand(m, bits), b = operand(m, bits), c = operand(m, bits);
        Expr e = expr_funnel(p, left, expr_const(p, bits, value(r, a, bits)),
                             expr_const(p, bits, value(r, b, bits)),
                             expr_const(p, bits, value(r, c, bits)));
        binary(r, left ? SUNDEW_NODE_FSHL : SUNDEW_NODE_FSHR, bits, bits, a, b, constant(p, e));
        r->rows[r->nrows - 1].c = c;
    } else if (kind == 13) {
        unsigned i = (unsigned)rng_below(&m->rng, NFLOAT), w = rng_below(&m->rng, 2) ? 32 : 64;
        uint16_t a = operand(m, w), b = operand(m, w);
        Expr e = expr_binary(p, (ExprOp)floats[i].expr, expr_const(p, w, value(r, a, w)),
                             expr_const(p, w, value(r, b, w)));
        binary(r, floats[i].node, is_truth(floats[i].node) ? 1 : w, w, a, b, constant(p, e));
    } else if (r->nslots + 2 < SLOTS) {
        uint16_t a = operand(m, bits);
        store(r, m->memory + rng_below(&m->rng, sizeof m->memory - (bits + 7) / 8 + 1), a, bits);
    }
}

static void random_region(Random *m, uint64_t seed)
{
    m->rng = rng_seeded(seed);
    m->r = (Region){ 0 };
    memset(m->memory, 7, sizeof m->memory);
    sundew_forget(m->memory, sizeof m->memory);
    m->p = exprs_new(NULL);
    while (m->r.nslots < SLOTS / 2 && m->r.nrows < ROWS / 3)
        random_row(m);
    exprs_free(m->p);
    unsigned n = m->r.nrows;
    for (unsigned i = 0; i < n; i++)
        if (m->r.rows[i].dst != SUNDEW_NONE)
            pin(&m->r, m->r.rows[i].dst);
}

/* Each value that has a label is computed right: for the input it was made with, and for
 * another, on which the same rows give other values. */
static void labels_mean_what_was_computed(void **state)
{
    (void)state;
    static Random m, other;
    size_t pins = 0;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        Rng rng = rng_seeded(seed * 77);
        fill_input(&rng);
        begin();
        random_region(&m, seed);
        run(&m.r);
        Seen s = look();
        input[rng_below(&rng, INPUT)] ^= (uint8_t)(1 + rng_below(&rng, 255));
        input[rng_below(&rng, INPUT)] ^= (uint8_t)(1 + rng_below(&rng, 255));
        random_region(&other, seed);
        assert_memory_equal(m.r.bits, other.r.bits, sizeof m.r.bits);
        for (size_t i = 0; i < s.t.steps.len; i++) {
            Conjunct c = path_at(s.t.path, i);
            const struct sundew_row *w = &m.r.rows[c.site / 2 - 1];
            bool same = value(&m.r, w->a, w->bits) == value(&other.r, w->a, w->bits);
            if (w->op == SUNDEW_ROW_PIN && !!expr_eval(s.p, c.cond, input, INPUT) != same)
                fail_msg("seed %d: slot %d", (int)seed, w->a);
        }
        pins += s.t.steps.len;
        assert_false(s.t.ended);
        done(&s);
    }
    assert_true(pins > 10000);
}

static void a_constant_store_makes_memory_concrete(void **state)
{
    (void)state;
    static uint8_t buffer[32];
    begin();
    Region r = { 0 };
    uint16_t x = load(&r, input, 32);
    store(&r, buffer + 3, x, 32);
    run(&r);
    assert_true(sundew_is_symbolic(buffer, 32));
    assert_true(sundew_is_symbolic(buffer + 6, 1));
    assert_false(sundew_is_symbolic(buffer + 7, 25));
    assert_true(((uint8_t *)SUNDEW_TAGS)[(uintptr_t)buffer >> 6]);
    Region z = { 0 };
    store(&z, buffer + 3, word(&z, 32, 0), 32);
    run(&z);
    assert_false(sundew_is_symbolic(buffer, 32));
    assert_false(((uint8_t *)SUNDEW_TAGS)[((uintptr_t)buffer + 3) >> 6]);
}

static void what_is_stored_is_found_again(void **state)
{
    (void)state;
    static uint8_t buffer[200];
    begin();
    for (unsigned at = 0; at < 100; at += 7) {       /* over the edges of granules */
        Region r = { 0 };
        uint16_t x = load(&r, input + at % 32, 64);
        store(&r, buffer + at, x, 64);
        uint16_t y = load(&r, buffer + at, 64);
        run(&r);
        assert_int_not_equal(r.labels[x], 0);
        assert_int_equal(r.labels[x], r.labels[y]);
    }
}

static void tags_reach_before_the_byte(void **state)
{
    (void)state;
    static _Alignas(64) uint8_t buffer[192];
    const uint8_t *tags = (const uint8_t *)SUNDEW_TAGS + ((uintptr_t)buffer >> 6);
    begin();
    for (unsigned i = 64; i < 128; i++) {
        sundew_symbolic(buffer + i, 1, 0);
        assert_true(tags[1]);
        assert_int_equal(tags[0] != 0, i < 64 + SUNDEW_TAG_REACH);
        assert_false(tags[2]);
        sundew_forget(buffer + i, 1);
        assert_false(tags[0] || tags[1]);
    }
}

static void copies_take_labels_along(void **state)
{
    (void)state;
    static uint8_t buffer[300];
    begin();
    sundew_copy(buffer + 50, input, INPUT, 0, 1);
    memcpy(buffer + 50, input, INPUT);
    for (unsigned step = 0; step < 2; step++) {      /* overlapping, both ways */
        uint8_t *to = buffer + (step ? 40 : 60), *from = buffer + (step ? 60 : 50);
        sundew_copy(to, from, INPUT, 0, 1);
        memmove(to, from, INPUT);
    }
    Region r = { 0 };
    for (unsigned i = 0; i < 16; i++)
        pin(&r, load(&r, buffer + 40 + i, 8));
    run(&r);
    Seen s = look();
    assert_int_equal(s.t.steps.len, 16);
    for (unsigned i = 0; i < 16; i++) {
        size_t n;
        assert_int_equal(expr_bytes(s.p, path_at(s.t.path, i).cond, &n)[0].from, i);
    }
    done(&s);
    sundew_fill(buffer, 0, 0, sizeof buffer, 0, 1);
    memset(buffer, 0, sizeof buffer);
    assert_false(sundew_is_symbolic(buffer, sizeof buffer));
}

/* Code that is not woven writes one byte of four. */
static void a_foreign_write_is_noticed(void **state)
{
    (void)state;
    static uint8_t buffer[4];
    begin();
    sundew_copy(buffer, input, 4, 0, 1);
    memcpy(buffer, input, 4);
    buffer[2] ^= 0x55;
    sundew_passing.external = "frob\x1b";
    Region r = { 0 };
    uint16_t x = load(&r, buffer, 32);
    pin(&r, x);
    run(&r);
    sundew_passing.external = NULL;
    Seen s = look();
    assert_int_equal(s.t.stale, 1);
    assert_int_equal(s.t.notes.len, 1);
    assert_int_equal(s.t.notes.items[0].why, SUNDEW_WHY_WITNESS);
    assert_string_equal(s.t.notes.items[0].name, "frob\x1b");
    assert_int_equal(s.t.steps.len, 1);
    assert_true(s.t.steps.items[0].holes);
    assert_int_equal(expr_bytes_count(s.p, path_at(s.t.path, 0).cond), 3);
    Str out = { 0 };
    trail_dump(&s.t, s.p, &out);
    assert_non_null(strstr(str_c(&out), "not woven by frob\\x1b"));
    str_release(&out);
    done(&s);
}

/* ---- addresses */

/* dst = base[x & 15], x the first byte of the input */
static uint16_t indexed(Region *r, void *base, unsigned size, unsigned and, bool known)
{
    uint16_t x = load(r, input, 8);
    uint16_t i = binary(r, SUNDEW_NODE_AND, 8, 8, x, word(r, 8, and), input[0] & and);
    uint16_t wide = binary(r, SUNDEW_NODE_ZEXT, 64, 8, i, SUNDEW_NONE, input[0] & and);
    uint16_t a = slot(r, 64, (uintptr_t)base), at = slot(r, 64, 0);
    struct sundew_row *w = row(r, SUNDEW_ROW_ADDRESS, 64);
    w->dst = at;
    w->a = a;
    w->b = wide;
    w->c = word(r, 64, size);
    if (known)
        w->object = (uint16_t)((word(r, 64, 16 * size) & ~SUNDEW_WORD) + 1);
    return at;
}

static uint16_t load_at(Region *r, uint16_t at, unsigned bits, ExprValue v)
{
    uint16_t dst = slot(r, bits, v);
    struct sundew_row *w = row(r, SUNDEW_ROW_LOAD, bits);
    w->dst = dst;
    w->a = at;
    return dst;
}

static size_t count_pins(const Seen *s, unsigned why)
{
    size_t n = 0;
    for (size_t i = 0; i < s->t.steps.len; i++)
        n += s->t.steps.items[i].kind == SUNDEW_REC_PIN && s->t.steps.items[i].why == why;
    return n;
}

static void a_table_is_read_precisely(void **state)
{
    (void)state;
    for (unsigned v = 0; v < 16; v++) {
        input[0] = (uint8_t)(0x30 | v);
        begin();
        Region r = { 0 };
        uint16_t at = indexed(&r, numbers, 4, 15, false);
        pin(&r, load_at(&r, at, 32, numbers[v]));
        run(&r);
        assert_int_equal(r.values[at], (uintptr_t)&numbers[v]);
        Seen s = look();
        assert_int_equal(count_pins(&s, SUNDEW_WHY_ADDRESS), 0);
        Expr last = path_at(s.t.path, s.t.steps.len - 1).cond;
        for (unsigned other = 0; other < 256; other++) {
            uint8_t b = (uint8_t)other;
            assert_int_equal(expr_eval(s.p, last, &b, 1), numbers[other & 15] == numbers[v]);
        }
        assert_int_equal(s.t.bugs.len, 0);           /* it can't leave: folded away */
        done(&s);
    }
}

static void an_index_that_can_leave_is_a_bug_and_stays_inside(void **state)
{
    (void)state;
    input[0] = 3;
    begin();
    Region r = { 0 };
    uint16_t at = indexed(&r, numbers, 4, 31, false);
    pin(&r, load_at(&r, at, 32, numbers[3]));
    run(&r);
    Seen s = look();
    assert_int_equal(s.t.bugs.len, 1);
    assert_int_equal(s.t.bugs.items[0].kind, SUNDEW_BUG_BOUNDS);
    assert_int_equal(s.t.bugs.items[0].index, 0);
    assert_int_equal(s.t.ninside, 1);
    for (unsigned v = 0; v < 256; v++) {
        uint8_t b = (uint8_t)v;
        assert_int_equal(expr_eval(s.p, s.t.bugs.items[0].cond, &b, 1), (v & 31) > 15);
        assert_int_equal(expr_eval(s.p, path_at(s.t.path, 0).cond, &b, 1), (v & 31) <= 15);
    }
    done(&s);
}

static void heap_objects_have_bounds_and_tables_may_be_symbolic(void **state)
{
    (void)state;
    uint8_t *heap = sundew_malloc(20);
    input[0] = 2;
    begin();
    for (unsigned i = 0; i < 20; i++)
        heap[i] = (uint8_t)(i * 3);
    sundew_copy(heap + 4, input + 8, 4, 0, 1);
    memcpy(heap + 4, input + 8, 4);
    Region r = { 0 };
    uint16_t at = indexed(&r, heap, 1, 31, false);
    pin(&r, load_at(&r, at, 8, heap[2]));
    run(&r);
    Seen s = look();
    assert_int_equal(s.t.bugs.len, 1);
    Expr last = path_at(s.t.path, s.t.steps.len - 1).cond;
    for (unsigned v = 0; v < 20; v++) {
        uint8_t in[INPUT];
        memcpy(in, input, INPUT);
        in[0] = (uint8_t)v;
        in[9] = heap[2];
        bool same = v == 5 || (v >= 4 && v < 8 ? in[8 + v - 4] : heap[v]) == heap[2];
        assert_int_equal(expr_eval(s.p, last, in, INPUT), same);
    }
    done(&s);
    uint8_t *more = sundew_realloc(heap, 4000);
    assert_true(sundew_is_symbolic(more + 4, 4));
    sundew_free(more);
    assert_false(sundew_is_symbolic(more + 4, 4));
}

static void an_unknown_object_is_pinned_and_a_known_array_is_not(void **state)
{
    (void)state;
    uint16_t local[16];
    for (unsigned i = 0; i < 16; i++)
        local[i] = (uint16_t)(i * i);
    for (int known = 0; known < 2; known++) {
        input[0] = 4;
        begin();
        Region r = { 0 };
        uint16_t at = indexed(&r, local, 2, 31, known);
        load_at(&r, at, 16, local[4]);
        run(&r);
        Seen s = look();
        assert_int_equal(count_pins(&s, SUNDEW_WHY_ADDRESS), !known);
        assert_int_equal(s.t.ninside, known);
        assert_int_equal(s.t.bugs.len, known);
        done(&s);
    }
}

/* The region goes on to write into the table: what it was is no longer known. */
static void a_table_that_changed_meanwhile_is_pinned(void **state)
{
    (void)state;
    input[0] = 2;
    begin();
    Region r = { 0 };
    uint16_t at = indexed(&r, filled, 1, 15, false);
    load_at(&r, at, 8, filled[2]);
    store(&r, filled + 9, word(&r, 8, 77), 8);
    run(&r);
    Seen s = look();
    assert_int_equal(count_pins(&s, SUNDEW_WHY_ADDRESS), 1);
    done(&s);
}

static void a_write_reaches_other_elements(void **state)
{
    (void)state;
    memset(filled, 0, sizeof filled);
    input[0] = 2;
    begin();
    Region r = { 0 };
    uint16_t at = indexed(&r, filled, 1, 15, false);
    struct sundew_row *w = row(&r, SUNDEW_ROW_STORE, 8);
    w->a = at;
    w->b = word(&r, 8, 1);
    filled[2] = 1;
    uint16_t five = load(&r, filled + 5, 8);
    pin(&r, five);
    run(&r);
    Seen s = look();
    Expr last = path_at(s.t.path, s.t.steps.len - 1).cond;
    for (unsigned v = 0; v < 16; v++) {
        uint8_t b = (uint8_t)v;
        assert_int_equal(expr_eval(s.p, last, &b, 1), v != 5);
    }
    assert_int_equal(s.t.notes.len, 1);
    done(&s);
}

/* ---- records */

static void branches_and_switches(void **state)
{
    (void)state;
    memset(input, 'b', INPUT);
    begin();
    Region r = { 0 };
    uint16_t x = load(&r, input, 8);
    uint16_t c = binary(&r, SUNDEW_NODE_EQ, 1, 8, x, word(&r, 8, 'a'), 0);
    row(&r, SUNDEW_ROW_BRANCH, 1)->a = c;
    r.rows[r.nrows - 1].x = 10;
    uint16_t y = load(&r, input + 1, 8), cases = word(&r, 8, 'a');
    word(&r, 8, 'b');
    word(&r, 8, 'c');
    word(&r, 8, 'x');
    struct sundew_row *w = row(&r, SUNDEW_ROW_SWITCH, 8);
    w->a = y;
    w->b = cases & ~SUNDEW_WORD;
    w->c = 4;
    w->x = 20;
    uint16_t z = load(&r, input + 2, 8);
    *row(&r, SUNDEW_ROW_SWITCH, 8) =
        (struct sundew_row){ .op = SUNDEW_ROW_SWITCH,
                             .bits = 8,
                             .dst = SUNDEW_NONE,
                             .a = z,
                             .b = (uint16_t)((cases & ~SUNDEW_WORD) + 2),
                             .c = 2,
                             .x = 30 };
    run(&r);
    run(&r);                                         /* the same once more adds nothing */
    Seen s = look();
    assert_int_equal(s.t.steps.len, 3);
    assert_int_equal(s.t.steps.items[0].at, 11);
    assert_int_equal(s.t.steps.items[0].other, 10);
    assert_true(s.t.steps.items[0].ask);
    assert_int_equal(s.t.steps.items[1].at, 22);
    assert_int_equal(s.t.steps.items[2].at, 30);
    assert_int_equal(s.t.others.len, 4 + 2);
    static const uint32_t edges[] = { 21, 23, 24, 20, 31, 32 };
    for (unsigned v = 0; v < 256; v++) {
        uint8_t in[3] = { 'b', (uint8_t)v, (uint8_t)v };
        for (unsigned i = 0; i < 6; i++) {
            Chance o = s.t.others.items[i];
            assert_int_equal(o.at, edges[i]);
            bool want = o.at == 20                 ? v != 'a' && v != 'b' && v != 'c' && v != 'x'
                        : o.at == 21               ? v == 'a'
                        : o.at == 24 || o.at == 32 ? v == 'x'
                                                   : v == 'c';
            assert_int_equal(expr_eval(s.p, o.cond, in, 3), want);
        }
    }
    done(&s);
}

/* A switch of the self-check on what has a label, and on what has none although the slots that
 * its cases' numbers look like have some. */
static void the_self_check_looks_at_operands(void **state)
{
    (void)state;
    memset(input, 'b', INPUT);
    begin();
    for (unsigned labelled = 0; labelled < 2; labelled++) {
        Region r = { 0 };
        uint16_t x = load(&r, input, 8), y = load(&r, input + 1, 8);
        uint16_t cases = word(&r, 8, 'a');
        word(&r, 8, 'b');
        assert_true(x < 2 && y < 3);
        *row(&r, SUNDEW_ROW_SWITCH, 8) = (struct sundew_row){ .op = SUNDEW_ROW_SWITCH,
                                                              .bits = 8,
                                                              .dst = SUNDEW_NONE,
                                                              .flags = SUNDEW_ROW_OUTSIDE,
                                                              .a = labelled ? x : cases,
                                                              .b = x,
                                                              .c = y,
                                                              .x = 20 };
        run(&r);
        Seen s = look();
        unsigned missed = 0;
        for (size_t i = 0; i < s.t.notes.len; i++)
            missed += s.t.notes.items[i].why == SUNDEW_WHY_ANALYSIS;
        assert_int_equal(missed, labelled);
        done(&s);
    }
}

static void bugs_at_operations(void **state)
{
    (void)state;
    memset(input, 0, INPUT);
    input[0] = input[4] = 1;
    begin();
    Region r = { 0 };
    uint16_t x = load(&r, input, 32), y = load(&r, input + 4, 32);
    binary(&r, SUNDEW_NODE_SDIV, 32, 32, x, y, 1);
    binary(&r, SUNDEW_NODE_SHL, 32, 32, x, y, 2);
    binary(&r, SUNDEW_NODE_ADD, 32, 32, x, y, 2);
    r.rows[r.nrows - 1].flags = SUNDEW_ROW_SIGNED;
    uint16_t wide = binary(&r, SUNDEW_NODE_SEXT, 64, 32, x, SUNDEW_NONE, 1);
    binary(&r, SUNDEW_NODE_MUL, 64, 64, wide, word(&r, 64, 1000), 1000);   /* it can't */
    r.rows[r.nrows - 1].flags = SUNDEW_ROW_SIGNED;
    row(&r, SUNDEW_ROW_ALLOCATION, 64)->a = wide;
    run(&r);
    Seen s = look();
    static const uint8_t kinds[] = { SUNDEW_BUG_DIVISION, SUNDEW_BUG_DIVISION_OVERFLOW,
                                     SUNDEW_BUG_SHIFT, SUNDEW_BUG_OVERFLOW, SUNDEW_BUG_ALLOCATION };
    static const uint8_t inputs[][8] = {
        { 1, 1, 1, 1, 0, 0, 0, 0 },    { 0, 0, 0, 0x80, 255, 255, 255, 255 },
        { 1, 1, 1, 1, 32, 0, 0, 0 },   { 255, 255, 255, 127, 1, 0, 0, 0 },
        { 0, 0, 0, 0x80, 1, 1, 1, 1 },
    };
    assert_int_equal(s.t.bugs.len, 5);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(s.t.bugs.items[i].kind, kinds[i]);
        assert_int_equal(expr_eval(s.p, s.t.bugs.items[i].cond, inputs[i], 8), 1);
        assert_int_equal(expr_eval(s.p, s.t.bugs.items[i].cond, input, 8), 0);
    }
    done(&s);
}

static void functions_that_c_cannot_express(void **state)
{
    (void)state;
    double x = 0.5, r = -1.0 / 3;
    memcpy(input, &x, 8);
    begin();
    sundew_copy(&x, input, 8, 0, 1);
    sundew_math(&r, &x, NULL, EXPR_MATH_EXP2, 64);
    r = 0x1.6a09e667f3bcdp+0;                        /* what exp2() gave */
    assert_false(sundew_is_symbolic(&r, 8));         /* … after the label was given */
    sundew_math(&r, &x, NULL, EXPR_MATH_EXP2, 64);
    assert_true(sundew_is_symbolic(&r, 8));
    sundew_pin(&r, 8, SUNDEW_WHY_EXTERNAL);
    Seen s = look();
    assert_int_equal(s.t.steps.len, 8);
    done(&s);
    char format[] = "x%s";
    begin();
    sundew_label l = sundew_byte_label(input);
    assert_int_not_equal(l, 0);
    sundew_set_byte_label(format, l);
    sundew_format(format);
    assert_true(sundew_is_symbolic(format, 1));
    s = look();
    assert_int_equal(s.t.bugs.len, 1);
    assert_int_equal(s.t.bugs.items[0].kind, SUNDEW_BUG_FORMAT);
    done(&s);
}

static void a_number_is_told_with_its_text(void **state)
{
    (void)state;
    char text[9] = " -12x", other[9] = "";
    double v = 0;
    memcpy(input, text, 8);
    begin();
    sundew_copy(text, input, 8, 0, 1);
    sundew_copy(&v, input, 8, 0, 1);                 /* any value with a label will do */
    sundew_number(&v, text, 4, SUNDEW_NUMBER_FLOAT, 10);
    sundew_number(&v, text, 0, SUNDEW_NUMBER_SIGNED, 10);   /* the same one */
    sundew_copy(other, text + 2, 1, 0, 1);
    sundew_copy(other + 1, text + 2, 1, 0, 1);
    sundew_number(&v, other, 2, SUNDEW_NUMBER_FLOAT, 10);   /* no two bytes of the input */
    sundew_number(&v, "12", 2, SUNDEW_NUMBER_FLOAT, 10);    /* nobody's */
    Seen s = look();
    assert_int_equal(s.t.steps.len, 0);              /* and nothing is asked */
    assert_int_equal(s.t.numbers.len, 1);
    assert_int_equal(s.t.numbers.items[0].from, 1);
    assert_int_equal(s.t.numbers.items[0].n, 3);
    done(&s);
}

static uint16_t composed(Region *r, unsigned op, uint16_t a, uint16_t b, uint16_t c, double v)
{
    ExprValue bits = 0;
    memcpy(&bits, &v, 8);
    uint16_t dst = binary(r, op, 64, 64, a, b, bits);
    r->rows[r->nrows - 1].c = c;
    return dst;
}

static void floating_point_of_several_nodes(void **state)
{
    (void)state;
    double x = 1.5, y = -4.25, q;
    memcpy(input, &x, 8);
    memcpy(input + 8, &y, 8);
    begin();
    Region r = { 0 };
    ExprValue three = 0;
    q = 3;
    memcpy(&three, &q, 8);
    uint16_t a = load(&r, input, 64), b = load(&r, input + 8, 64), k = word(&r, 64, three);
    pin(&r, composed(&r, SUNDEW_ROW_FMULADD, a, b, k, x * y + 3));
    pin(&r, composed(&r, SUNDEW_ROW_FMULADD, k, k, b, 9 + y));
    pin(&r, composed(&r, SUNDEW_ROW_FMIN, a, k, SUNDEW_NONE, 1.5));
    pin(&r, composed(&r, SUNDEW_ROW_FMAX, a, b, SUNDEW_NONE, 1.5));
    pin(&r, composed(&r, SUNDEW_ROW_COPYSIGN, a, b, SUNDEW_NONE, -1.5));
    run(&r);
    Seen s = look();
    assert_int_equal(s.t.steps.len, 5);
    done(&s);
}

/* ---- limits */

static void count_to_the_end(unsigned n)
{
    for (unsigned i = 1; i <= n; i++) {
        Region r = { 0 };
        uint16_t x = load(&r, input, 32);
        uint16_t c = binary(&r, SUNDEW_NODE_ULT, 1, 32, x, word(&r, 32, i), 0);
        row(&r, SUNDEW_ROW_BRANCH, 1)->a = c;
        r.rows[r.nrows - 1].x = 10;
        memset(input, 255, 4);
        r.values[c] = 0;
        r.values[x] = UINT32_MAX;
        run(&r);
    }
}

static void a_site_has_a_budget(void **state)
{
    (void)state;
    memset(input, 255, 4);
    begin();
    count_to_the_end(256 * 8 + 100);
    Seen s = look();
    assert_int_equal(s.t.steps.len, 256 * 8);
    assert_int_equal(s.t.sites_ended, 1);
    assert_int_equal(s.t.ended, 0);
    assert_true(s.t.steps.items[255].ask);
    assert_false(s.t.steps.items[256].ask);
    done(&s);
}

static void the_log_ends_cleanly(void **state)
{
    (void)state;
    memset(input, 255, 4);
    Log *kept = log_;
    struct sundew_log *h = (struct sundew_log *)log_header(log_);
    for (unsigned which = 1; which <= 2; which++) {
        begin();
        h->most_per_site = 0;
        sundew_concolic_begin();
        sundew_symbolic(input, INPUT, 0);
        if (which == SUNDEW_END_NODES)
            sundew_state.most_nodes = 1000;
        count_to_the_end(20000);
        assert_int_equal(sundew_alive, 0);
        assert_true(h->nodes <= (which == SUNDEW_END_NODES ? 1000 : 1 << 18));
        Seen s = look();
        assert_int_equal(s.t.ended, which);
        assert_true(s.t.steps.len > 300);
        done(&s);
        sundew_state.most_nodes = h->most_nodes;
        h->most_per_site = 256;
    }
    assert_ptr_equal(kept, log_);
}

/* ---- threads, children, handlers */

static void *in_a_thread(void *arg)
{
    unsigned from = *(unsigned *)arg;
    for (unsigned i = from; i < from + 400; i++) {
        Region r = { 0 };
        uint16_t x = load(&r, input, 32);
        uint16_t c = binary(&r, SUNDEW_NODE_EQ, 1, 32, x, word(&r, 32, i), 0);
        row(&r, SUNDEW_ROW_BRANCH, 1)->a = c;
        r.rows[r.nrows - 1].x = i;
        run(&r);
    }
    return NULL;
}

static void threads_and_children_share_the_log(void **state)
{
    (void)state;
    memset(input, 255, 4);
    begin();
    pthread_t threads[3];
    unsigned from[] = { 1000, 2000, 3000, 4000, 5000 };
    pid_t child = sundew_fork();
    if (child == 0) {
        in_a_thread(&from[3]);
        _exit(0);
    }
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, in_a_thread, &from[i]);
    in_a_thread(&from[4]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    waitpid(child, NULL, 0);
    Seen s = look();
    assert_int_equal(s.t.steps.len, 5 * 400);
    assert_true(s.t.notes.len >= 1);
    assert_int_equal(s.t.notes.items[0].why, SUNDEW_WHY_THREAD);
    done(&s);
}

static void on_alarm(int sig)
{
    (void)sig;
    unsigned from = 1000;
    in_a_thread(&from);
}

static void a_handler_may_come_at_any_moment(void **state)
{
    (void)state;
    memset(input, 255, 4);
    begin();
    struct sigaction sa = { .sa_handler = on_alarm };
    sigaction(SIGALRM, &sa, NULL);
    ualarm(300, 300);
    errno = 77;
    for (unsigned i = 0; i < 100; i++) {
        unsigned from = 2000;
        in_a_thread(&from);
    }
    assert_int_equal(errno, 77);
    ualarm(0, 0);
    Seen s = look();
    assert_true(s.t.steps.len >= 400);
    done(&s);
}

static void nothing_happens_without_an_input(void **state)
{
    (void)state;
    log_reset(log_, 0, 0);
    sundew_concolic_begin();
    sundew_symbolic(input, INPUT, 0);
    assert_int_equal(sundew_alive, 0);
    assert_false(sundew_is_symbolic(input, INPUT));
    assert_int_equal(log_header(log_)->nodes, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_mean_what_was_computed),
        cmocka_unit_test(a_constant_store_makes_memory_concrete),
        cmocka_unit_test(what_is_stored_is_found_again),
        cmocka_unit_test(tags_reach_before_the_byte),
        cmocka_unit_test(copies_take_labels_along),
        cmocka_unit_test(a_foreign_write_is_noticed),
        cmocka_unit_test(a_table_is_read_precisely),
        cmocka_unit_test(an_index_that_can_leave_is_a_bug_and_stays_inside),
        cmocka_unit_test(heap_objects_have_bounds_and_tables_may_be_symbolic),
        cmocka_unit_test(an_unknown_object_is_pinned_and_a_known_array_is_not),
        cmocka_unit_test(a_table_that_changed_meanwhile_is_pinned),
        cmocka_unit_test(a_write_reaches_other_elements),
        cmocka_unit_test(branches_and_switches),
        cmocka_unit_test(the_self_check_looks_at_operands),
        cmocka_unit_test(bugs_at_operations),
        cmocka_unit_test(functions_that_c_cannot_express),
        cmocka_unit_test(a_number_is_told_with_its_text),
        cmocka_unit_test(floating_point_of_several_nodes),
        cmocka_unit_test(a_site_has_a_budget),
        cmocka_unit_test(the_log_ends_cleanly),
        cmocka_unit_test(threads_and_children_share_the_log),
        cmocka_unit_test(a_handler_may_come_at_any_moment),
        cmocka_unit_test(nothing_happens_without_an_input),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
