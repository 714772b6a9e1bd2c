/*
 * Reading a log: first the records are checked and the nodes that they need are
 * marked, from the last to the first; then these are built as expressions, from the
 * first to the last; then the records become a path.
 *
 * The program may still run and write while we read, so log_read() copies what is used, once,
 * and reads the copy. So what check() has seen holds until the end.
 */
#include "engine/concolic/log.h"
#include "base/escape.h"
#include "base/shared.h"
#include "solve/tape.h"
#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* ---- the memory */

struct Log {
    Shared shared;
    struct sundew_log *map;           /* in `shared` */
    size_t size;
    struct sundew_log begin;          /* the header of an empty log */
    uint32_t from, to;                /* bytes of the input that are symbolic */
};

static uint32_t or_default(uint32_t n, uint32_t otherwise) { return n ? n : otherwise; }

Log *log_new(const LogPlan *plan, Err *err)
{
    LogPlan none = { 0 };
    if (!plan)
        plan = &none;
    uint32_t nodes = or_default(plan->nodes, 1 << 22);
    uint32_t records = or_default(plan->records, 1 << 20);
    uint32_t bytes = or_default(plan->bytes, 16 << 20);
    uint32_t per_site = or_default(plan->per_site, 256);
    Log *log = xcalloc(1, sizeof *log);
    log->size = sizeof(struct sundew_log) + (size_t)nodes * sizeof(struct sundew_node) +
                (size_t)records * sizeof(struct sundew_record) + bytes;
    log->shared.fd = -1;
    if (!shared_new(&log->shared, "concolic log", log->size, err)) {
        err_ctx(err, "memory for a concolic run's log");
        log_free(log);
        return NULL;
    }
    log->map = (struct sundew_log *)log->shared.at;
    log->begin = (struct sundew_log){
        .magic = SUNDEW_LOG_MAGIC,
        .version = SUNDEW_LOG_VERSION,
        .size = log->size,
        .most_nodes = nodes,
        .most_records = records,
        .most_bytes = bytes,
        .most_per_site = per_site == UINT32_MAX ? 0 : per_site,
        .flags = plan->flags,
        .nodes = 1,
        .bytes = 8,
    };
    log_reset(log, 0, 0);
    return log;
}

void log_free(Log *log)
{
    if (!log)
        return;
    shared_free(&log->shared);
    free(log);
}

int log_fd(const Log *log) { return log->shared.fd; }

/* The whole header: the last run may have changed any of it. */
void log_reset(Log *log, uint32_t from, uint32_t to)
{
    *log->map = log->begin;
    log->map->from = log->from = from;
    log->map->to = log->to = to;
}

const struct sundew_log *log_header(const Log *log) { return log->map; }

const void *log_bytes(const Log *log, size_t *n)
{
    *n = log->size;
    return log->map;
}

/* ---- checking */

typedef struct Reader {
    struct sundew_log head;           /* as it was when we came */
    const uint8_t *nodes, *records, *bytes;
    Exprs *p;
    uint32_t in;
    uint8_t *needed;                  /* node i is */
    Expr *exprs;                      /* node i, in the pool; 0: no room */
    uint8_t *bits;
    Trail *out;
    uint8_t *number;                  /* 1 + its place among the numbers, if node i is one */
    uint32_t free; /* byte of the first number; 0: they are what the text says */
    Vec(uint8_t) held; /* expression e is a conjunct already */
    bool holes;
    Err *err;
} Reader;

static struct sundew_node node_at(const Reader *r, uint32_t i)
{
    struct sundew_node n;
    memcpy(&n, r->nodes + (size_t)i * sizeof n, sizeof n);
    return n;
}

static struct sundew_record record_at(const Reader *r, uint32_t i)
{
    struct sundew_record e;
    memcpy(&e, r->records + (size_t)i * sizeof e, sizeof e);
    return e;
}

static bool check_head(Reader *r, const void *bytes, size_t n)
{
    struct sundew_log *h = &r->head;
    if (n < sizeof *h)
        return err_set(r->err, "shorter than its header");
    memcpy(h, bytes, sizeof *h);
    if (h->magic != SUNDEW_LOG_MAGIC || h->version != SUNDEW_LOG_VERSION)
        return err_set(r->err, "no log of this version");
    uint64_t need = sizeof *h + (uint64_t)h->most_nodes * sizeof(struct sundew_node) +
                    (uint64_t)h->most_records * sizeof(struct sundew_record) + h->most_bytes;
    if (need > n)
        return err_set(r->err, "shorter than its parts");
    if (h->nodes > h->most_nodes || h->records > h->most_records || h->bytes > h->most_bytes)
        return err_set(r->err, "counts beyond its parts");
    r->nodes = (const uint8_t *)bytes + sizeof *h;
    r->records = r->nodes + (size_t)h->most_nodes * sizeof(struct sundew_node);
    r->bytes = r->records + (size_t)h->most_records * sizeof(struct sundew_record);
    return true;
}

static bool need(Reader *r, uint32_t node, uint32_t below, const char *what, uint32_t i)
{
    if (node == 0 || node >= below)
        return err_set(r->err, "%s %" PRIu32 ": no node %" PRIu32, what, i, node);
    r->needed[node] = 1;
    return true;
}

static bool list_number(Reader *r, struct sundew_record e)
{
    Trail *t = r->out;
    if (r->number[e.node] || t->numbers.len == TRAIL_NUMBERS)
        return true;
    vec_push(&t->numbers, ((Number){ .kind = e.k, .base = e.value, .from = e.at, .n = e.other }));
    r->number[e.node] = (uint8_t)t->numbers.len;
    return true;
}

static bool check_record(Reader *r, uint32_t i)
{
    struct sundew_record e = record_at(r, i);
    uint32_t n = r->head.nodes;
    switch (e.kind) {
    case SUNDEW_REC_BRANCH:
    case SUNDEW_REC_OTHER:
    case SUNDEW_REC_BUG:
        if (e.value > 1 || (e.kind == SUNDEW_REC_BUG && (!e.k || e.k >= SUNDEW_BUG_N)))
            break;
        return need(r, e.node, n, "record", i);
    case SUNDEW_REC_PIN:
        if (!e.k || e.k >= SUNDEW_WHY_N)
            break;
        return need(r, e.node, n, "record", i) && need(r, e.other, n, "record", i);
    case SUNDEW_REC_IMPRECISE:
        if (!e.k || e.k >= SUNDEW_WHY_N || (e.node && e.node >= r->head.bytes))
            break;
        return true;
    case SUNDEW_REC_END:
        if (!e.k || e.k > SUNDEW_END_SITE)
            break;
        return true;
    case SUNDEW_REC_NUMBER:
        if (!e.k || e.k >= SUNDEW_NUMBER_N || !e.other || e.other > SUNDEW_NUMBER_LONGEST ||
            e.at < r->head.from || e.at > r->head.to || e.other > r->head.to - e.at)
            break;
        return need(r, e.node, n, "record", i) && list_number(r, e);
    default: break;
    }
    return err_set(r->err, "record %" PRIu32 " of kind %u makes no sense", i, e.kind);
}

/* Operands are nodes a, b, c: how many? For leaves and tables 0. */
static unsigned operands(unsigned op)
{
    switch (op) {
    case SUNDEW_NODE_CONST:
    case SUNDEW_NODE_BYTE: return 0;
    case SUNDEW_NODE_NOT:
    case SUNDEW_NODE_NEG:
    case SUNDEW_NODE_ZEXT:
    case SUNDEW_NODE_SEXT:
    case SUNDEW_NODE_EXTRACT:
    case SUNDEW_NODE_TABLE:
    case SUNDEW_NODE_CHOOSE:
    case SUNDEW_NODE_FSQRT:
    case SUNDEW_NODE_FROUND:
    case SUNDEW_NODE_FTOF:
    case SUNDEW_NODE_FTOU:
    case SUNDEW_NODE_FTOS:
    case SUNDEW_NODE_UTOF:
    case SUNDEW_NODE_STOF:
    case SUNDEW_NODE_FNEG:
    case SUNDEW_NODE_FABS:
    case SUNDEW_NODE_BSWAP:
    case SUNDEW_NODE_BITREVERSE:
    case SUNDEW_NODE_CTPOP:
    case SUNDEW_NODE_CTLZ:
    case SUNDEW_NODE_CTTZ:
    case SUNDEW_NODE_ABS: return 1;
    case SUNDEW_NODE_ITE:
    case SUNDEW_NODE_FSHL:
    case SUNDEW_NODE_FSHR: return 3;
    default: return 2;
    }
}

static uint32_t item_at(const Reader *r, uint32_t offset, uint32_t i)
{
    uint32_t item;
    memcpy(&item, r->bytes + offset + (size_t)i * sizeof item, sizeof item);
    return item;
}

static bool check_table(Reader *r, uint32_t i, struct sundew_node n)
{
    bool choose = n.op == SUNDEW_NODE_CHOOSE;
    uint64_t size = choose ? 4 : n.k;
    if (!choose && ((n.k != 1 && n.k != 2 && n.k != 4 && n.k != 8) || n.bits != n.k * 8))
        return err_set(r->err, "node %" PRIu32 ": elements of %u bytes", i, n.k);
    if (!n.c || n.b > r->head.bytes || n.c * size > r->head.bytes - n.b)
        return err_set(r->err, "node %" PRIu32 ": a table beyond the log", i);
    for (uint32_t j = 0; choose && j < n.c; j++)
        if (!need(r, item_at(r, n.b, j), i, "node", i))
            return false;
    return true;
}

static bool check_node(Reader *r, uint32_t i)
{
    struct sundew_node n = node_at(r, i);
    if (n.op >= SUNDEW_NODE_N || !n.bits || n.bits > EXPR_MAX_WIDTH)
        return err_set(r->err, "node %" PRIu32 ": no operation of %u bits", i, n.bits);
    if (n.op == SUNDEW_NODE_BYTE && (n.a < r->head.from || n.a >= r->head.to || n.bits != 8))
        return err_set(r->err, "node %" PRIu32 ": byte %" PRIu32 " is not symbolic", i, n.a);
    if ((n.op == SUNDEW_NODE_TABLE || n.op == SUNDEW_NODE_CHOOSE) && !check_table(r, i, n))
        return false;
    unsigned k = operands(n.op);
    if (n.op == SUNDEW_NODE_FMATH && n.k < EXPR_MATH_POW && !n.b)
        k = 1;
    return (k < 1 || need(r, n.a, i, "node", i)) && (k < 2 || need(r, n.b, i, "node", i)) &&
           (k < 3 || need(r, n.c, i, "node", i));
}

/* What is needed, from the last to the first. */
static bool check(Reader *r)
{
    for (uint32_t i = 0; i < r->head.records; i++)
        if (!check_record(r, i))
            return false;
    for (uint32_t i = r->head.nodes; i-- > 1;)
        if (r->needed[i] && !check_node(r, i))
            return false;
    return true;
}

/* ---- building */

/* clang-format off */
#define SAME(X)                                                                              \
    X(NOT) X(NEG) X(ADD) X(SUB) X(MUL) X(UDIV) X(SDIV) X(UREM) X(SREM) X(SHL) X(LSHR)        \
    X(ASHR) X(AND) X(OR) X(XOR) X(CONCAT) X(EQ) X(ULT) X(ULE) X(SLT) X(SLE) X(NE) X(UGT)     \
    X(UGE) X(SGT) X(SGE) X(FADD) X(FSUB) X(FMUL) X(FDIV) X(FREM) X(FOEQ) X(FOLT) X(FOLE)     \
    X(FUNO) X(FONE) X(FOGT) X(FOGE) X(FORD) X(FUEQ) X(FUNE) X(FULT) X(FULE) X(FUGT) X(FUGE)  \
    X(FSQRT) X(FTOF) X(FTOU) X(FTOS) X(UTOF) X(STOF) X(FNEG) X(FABS) X(UMIN) X(UMAX) X(SMIN) \
    X(SMAX) X(UADD_SAT) X(USUB_SAT) X(SADD_SAT) X(SSUB_SAT) X(UADD_OVERFLOWS)                \
    X(SADD_OVERFLOWS) X(USUB_OVERFLOWS) X(SSUB_OVERFLOWS) X(UMUL_OVERFLOWS)                  \
    X(SMUL_OVERFLOWS) X(BSWAP) X(BITREVERSE) X(CTPOP) X(CTLZ) X(CTTZ) X(ABS)
/* clang-format on */

static const uint8_t op_of[SUNDEW_NODE_N] = {
#define X(name) [SUNDEW_NODE_##name] = EXPR_##name,
    SAME(X)
#undef X
};

static Expr build_choose(Reader *r, struct sundew_node n, Expr index)
{
    Expr *items = xcalloc(n.c, sizeof *items);
    Expr e = 0;
    uint32_t i = 0;
    for (; i < n.c; i++) {
        if (!(items[i] = r->exprs[item_at(r, n.b, i)]))
            break;
    }
    if (i == n.c)
        e = expr_choose(r->p, items, n.c, index);
    free(items);
    return e;
}

static Expr build_table(Reader *r, struct sundew_node n, Expr index)
{
    /* A copy, because equal tables are found by their bytes. */
    size_t size = (size_t)n.c * n.k;
    uint8_t *copy = xmalloc(size);
    memcpy(copy, r->bytes + n.b, size);
    Expr e = expr_table(r->p, copy, n.c, n.k, index);
    free(copy);
    return e;
}

static Expr build(Reader *r, struct sundew_node n)
{
    Exprs *p = r->p;
    unsigned k = operands(n.op);
    Expr a = k >= 1 ? r->exprs[n.a] : 0, b = k >= 2 && n.b ? r->exprs[n.b] : 0,
         c = k >= 3 ? r->exprs[n.c] : 0;
    switch (n.op) {
    case SUNDEW_NODE_CONST: return expr_const(p, n.bits, n.a | (uint64_t)n.b << 32);
    case SUNDEW_NODE_BYTE: return expr_byte(p, r->in + n.a);
    case SUNDEW_NODE_ZEXT: return expr_zext(p, a, n.bits);
    case SUNDEW_NODE_SEXT: return expr_sext(p, a, n.bits);
    case SUNDEW_NODE_EXTRACT: return expr_extract(p, a, n.k, n.bits);
    case SUNDEW_NODE_ITE: return expr_ite(p, a, b, c);
    case SUNDEW_NODE_TABLE: return a ? build_table(r, n, a) : 0;
    case SUNDEW_NODE_CHOOSE: return a ? build_choose(r, n, a) : 0;
    case SUNDEW_NODE_FROUND: return n.k <= EXPR_ROUND_AWAY ? expr_fround(p, (ExprRound)n.k, a) : 0;
    case SUNDEW_NODE_FMATH: return n.k < EXPR_MATH_N ? expr_fmath(p, (ExprMath)n.k, a, b) : 0;
    case SUNDEW_NODE_FTOF:
    case SUNDEW_NODE_FTOU:
    case SUNDEW_NODE_FTOS:
    case SUNDEW_NODE_UTOF:
    case SUNDEW_NODE_STOF: return expr_fconvert(p, (ExprOp)op_of[n.op], a, n.bits);
    case SUNDEW_NODE_FSHL:
    case SUNDEW_NODE_FSHR: return expr_funnel(p, n.op == SUNDEW_NODE_FSHL, a, b, c);
    default:
        return k == 1 ? expr_unary(p, (ExprOp)op_of[n.op], a)
                      : expr_binary(p, (ExprOp)op_of[n.op], a, b);
    }
}

/* Which widths an operation allows. The constructors rely on some of it. */
typedef enum Widths {
    WIDTHS_ANY, /* checked elsewhere, or all will do */
    WIDTHS_SAME, /* operands and result; also of one operand */
    WIDTHS_TRUTH, /* operands are alike, the result is one bit */
    WIDTHS_CONST,
    WIDTHS_EXTEND,
    WIDTHS_EXTRACT,
    WIDTHS_CONCAT,
    WIDTHS_ITE,
    WIDTHS_SWAP,
} Widths;

static Widths widths_of(unsigned op)
{
    switch (op) {
    case SUNDEW_NODE_CONST: return WIDTHS_CONST;
    case SUNDEW_NODE_BYTE:
    case SUNDEW_NODE_TABLE:
    case SUNDEW_NODE_CHOOSE:
    case SUNDEW_NODE_FTOF:
    case SUNDEW_NODE_FTOU:
    case SUNDEW_NODE_FTOS:
    case SUNDEW_NODE_UTOF:
    case SUNDEW_NODE_STOF:
    case SUNDEW_NODE_FMATH: return WIDTHS_ANY;
    case SUNDEW_NODE_ZEXT:
    case SUNDEW_NODE_SEXT: return WIDTHS_EXTEND;
    case SUNDEW_NODE_EXTRACT: return WIDTHS_EXTRACT;
    case SUNDEW_NODE_CONCAT: return WIDTHS_CONCAT;
    case SUNDEW_NODE_ITE: return WIDTHS_ITE;
    case SUNDEW_NODE_BSWAP: return WIDTHS_SWAP;
    default: break;
    }
    bool truth = (op >= SUNDEW_NODE_EQ && op <= SUNDEW_NODE_SGE) ||
                 (op >= SUNDEW_NODE_FOEQ && op <= SUNDEW_NODE_FUGE) ||
                 (op >= SUNDEW_NODE_UADD_OVERFLOWS && op <= SUNDEW_NODE_SMUL_OVERFLOWS);
    return truth ? WIDTHS_TRUTH : WIDTHS_SAME;
}

static bool widths_fit(const Reader *r, struct sundew_node n)
{
    unsigned k = operands(n.op), a = k >= 1 ? r->bits[n.a] : 0, b = k >= 2 ? r->bits[n.b] : a,
             c = k >= 3 ? r->bits[n.c] : a;
    switch (widths_of(n.op)) {
    case WIDTHS_ANY: return true;
    case WIDTHS_SAME: return a == n.bits && b == a && c == a;
    case WIDTHS_TRUTH: return n.bits == 1 && a == b;
    case WIDTHS_CONST: return n.bits <= 64;
    case WIDTHS_EXTEND: return a <= n.bits;
    case WIDTHS_EXTRACT: return n.k + n.bits <= a;
    case WIDTHS_CONCAT: return a + b == n.bits;
    case WIDTHS_ITE: return a == 1 && b == n.bits && c == n.bits;
    case WIDTHS_SWAP: return a == n.bits && a % 16 == 0;
    }
    return false;
}

/* What its text says, and what the rest of the run goes on with. */
static Expr build_number(Reader *r, unsigned place, Expr said)
{
    Expr bytes[8];
    r->out->numbers.items[place].value = said;
    for (unsigned k = 0; r->free && k < 8; k++)
        bytes[k] = expr_byte(r->p, r->free + 8 * place + k);
    return r->free ? expr_le(r->p, bytes, 8) : said;
}

static bool build_all(Reader *r)
{
    for (uint32_t i = 1; i < r->head.nodes; i++) {
        if (!r->needed[i])
            continue;
        struct sundew_node n = node_at(r, i);
        unsigned k = operands(n.op);
        assert(n.op < SUNDEW_NODE_N && (k < 1 || n.a < i) && (k < 2 || n.b < i) &&
               (k < 3 || n.c < i));
        if (!widths_fit(r, n))
            return err_set(r->err, "node %" PRIu32 ": widths that don't fit", i);
        r->bits[i] = n.bits;
        Expr e = r->exprs[i] = build(r, n);
        if (e && expr_width(r->p, e) != n.bits)
            return err_set(r->err, "node %" PRIu32 ": %u bits, not %u", i, expr_width(r->p, e),
                           n.bits);
        bool lacks = (k >= 1 && !r->exprs[n.a]) || (k >= 2 && n.b && !r->exprs[n.b]) ||
                     (k >= 3 && !r->exprs[n.c]) || n.op == SUNDEW_NODE_CHOOSE;
        if (!e && !lacks && !exprs_is_full(r->p))
            return err_set(r->err, "node %" PRIu32 ": operation %u has no meaning there", i, n.op);
        if (r->number[i] && n.bits != 64)
            return err_set(r->err, "node %" PRIu32 ": a number of %u bits", i, n.bits);
        if (r->number[i])
            r->exprs[i] = build_number(r, r->number[i] - 1u, e);
    }
    return true;
}

/* ---- the path */

/* The runtime finds most repetitions, but not all, and not the same ones each time: which it
 * forgets depends on addresses. True if this one is new, and can be false. */
static bool is_news(Reader *r, Expr cond, bool taken)
{
    Expr held = taken ? cond : expr_not(r->p, cond);
    if (!held)
        return true;
    if (expr_is_const(r->p, held, NULL))
        return false;
    while (r->held.len <= held)
        vec_push(&r->held, 0);
    bool news = !r->held.items[held];
    r->held.items[held] = 1;
    return news;
}

static void add_step(Reader *r, struct sundew_record e)
{
    Trail *t = r->out;
    Expr cond = r->exprs[e.node];
    bool taken = e.value;
    if (e.kind == SUNDEW_REC_PIN) {
        cond = expr_binary(r->p, EXPR_EQ, cond, r->exprs[e.other]);
        taken = true;
    }
    if (!cond)
        r->holes = true;
    if (!is_news(r, cond, taken))
        return;
    t->ninside += e.kind == SUNDEW_REC_PIN && e.k == SUNDEW_WHY_INSIDE;
    size_t i = path_add(t->path, cond, e.at, taken);
    if (!path_at(t->path, i).cond) { /* its negation had no room in the pool */
        r->holes = true;
        cond = 0;
    }
    Step s = { .kind = e.kind, .at = e.at, .holes = r->holes };
    if (e.kind == SUNDEW_REC_BRANCH) {
        s.ask = e.k == 0 && cond;
        s.other = e.other;
    } else {
        s.why = e.k;
        s.what = r->exprs[e.node];
        s.value = r->exprs[e.other];
        s.ask = cond && (e.k == SUNDEW_WHY_ADDRESS || e.k == SUNDEW_WHY_SIZE ||
                         e.k == SUNDEW_WHY_EXTERNAL || e.k == SUNDEW_WHY_CALL);
    }
    vec_push(&t->steps, s);
}

static void add_chance(Reader *r, struct sundew_record e)
{
    Trail *t = r->out;
    Expr cond = r->exprs[e.node];
    if (e.kind == SUNDEW_REC_OTHER && !e.value)
        cond = expr_not(r->p, cond);
    Chance c = { .cond = cond,
                 .index = (uint32_t)path_length(t->path),
                 .at = e.at,
                 .kind = e.kind == SUNDEW_REC_BUG ? e.k : 0,
                 .holes = r->holes };
    ExprValue v;
    if (!cond || (expr_is_const(r->p, cond, &v) && !v))
        return;
    if (e.kind == SUNDEW_REC_BUG)
        vec_push(&t->bugs, c);
    else
        vec_push(&t->others, c);
}

static void add_note(Reader *r, struct sundew_record e)
{
    Trail *t = r->out;
    Note n = { .why = e.k, .site = e.at, .index = (uint32_t)path_length(t->path), .name = "" };
    if (e.node)
        n.name = arena_strndup(&t->text, (const char *)r->bytes + e.node,
                               strnlen((const char *)r->bytes + e.node, r->head.bytes - e.node));
    vec_push(&t->notes, n);
    r->holes = true;
}

static void add_end(Reader *r, struct sundew_record e)
{
    if (e.k == SUNDEW_END_SITE) {
        r->out->sites_ended++;
        r->holes = true;
    } else if (e.k == SUNDEW_END_BYTES) {
        r->out->no_tables = true;
    } else {
        r->out->ended = e.k;
    }
}

static bool read_records(Reader *r)
{
    for (uint32_t i = 0; i < r->head.records; i++) {
        struct sundew_record e = record_at(r, i);
        bool one =
            e.kind == SUNDEW_REC_BRANCH || e.kind == SUNDEW_REC_OTHER || e.kind == SUNDEW_REC_BUG;
        if (one && r->bits[e.node] != 1)
            return err_set(r->err, "record %" PRIu32 ": its node is no truth value", i);
        if (e.kind == SUNDEW_REC_PIN && r->bits[e.node] != r->bits[e.other])
            return err_set(r->err, "record %" PRIu32 ": pinned to another width", i);
        switch (e.kind) {
        case SUNDEW_REC_BRANCH:
        case SUNDEW_REC_PIN: add_step(r, e); break;
        case SUNDEW_REC_IMPRECISE: add_note(r, e); break;
        case SUNDEW_REC_END: add_end(r, e); break;
        case SUNDEW_REC_NUMBER: break;
        default: add_chance(r, e); break;
        }
    }
    return true;
}

static bool parse(const void *bytes, size_t n, Exprs *p, uint32_t in, uint32_t numbers, Trail *out,
                  Err *err)
{
    Reader r = { .p = p, .in = in, .free = numbers, .out = out, .err = err };
    *out = (Trail){ .path = path_new(p), .in = in, .free = numbers };
    bool ok = check_head(&r, bytes, n);
    if (ok) {
        r.needed = xcalloc((size_t)r.head.nodes + 1, 1);
        r.bits = xcalloc((size_t)r.head.nodes + 1, 1);
        r.number = xcalloc((size_t)r.head.nodes + 1, 1);
        r.exprs = xcalloc((size_t)r.head.nodes + 1, sizeof *r.exprs);
        out->started = r.head.started == 1;
        out->nodes = r.head.nodes;
        out->records = r.head.records;
        out->regions = r.head.regions;
        out->stale = r.head.stale;
        ok = check(&r) && build_all(&r) && read_records(&r);
    }
    vec_release(&r.held);
    free(r.needed);
    free(r.bits);
    free(r.number);
    free(r.exprs);
    if (!ok) {
        err_ctx(err, "log of a concolic run");
        trail_release(out);
    }
    return ok;
}

bool log_parse(const void *bytes, size_t n, Exprs *p, uint32_t in, Trail *out, Err *err)
{
    return parse(bytes, n, p, in, 0, out, err);
}

static uint8_t *append(uint8_t *to, const void *from, size_t n)
{
    memcpy(to, from, n);
    return to + n;
}

/* A copy of what is used, with the sizes that we gave it. The program can change the
 * log at any moment, also while it is read. NULL with `err`: its counts are wrong. */
static uint8_t *log_copy(const Log *log, size_t *size, Err *err)
{
    const struct sundew_log *b = &log->begin;
    struct sundew_log h = *log->map;
    if (h.magic != b->magic || h.version != b->version || h.nodes > b->most_nodes ||
        h.records > b->most_records || h.bytes > b->most_bytes) {
        err_set(err, "the program has overwritten its log");
        return NULL;
    }
    size_t nodes = (size_t)b->most_nodes * sizeof(struct sundew_node);
    size_t records = (size_t)b->most_records * sizeof(struct sundew_record);
    const uint8_t *from = log->shared.at + sizeof h;
    h.most_nodes = h.nodes;
    h.most_records = h.records;
    h.most_bytes = h.bytes;
    h.from = log->from;
    h.to = log->to;
    *size = sizeof h + (size_t)h.nodes * sizeof(struct sundew_node) +
            (size_t)h.records * sizeof(struct sundew_record) + h.bytes;
    uint8_t *copy = xmalloc(*size), *to = append(copy, &h, sizeof h);
    to = append(to, from, (size_t)h.nodes * sizeof(struct sundew_node));
    to = append(to, from + nodes, (size_t)h.records * sizeof(struct sundew_record));
    to = append(to, from + nodes + records, h.bytes);
    assert((size_t)(to - copy) == *size);
    return copy;
}

static bool read_log(const Log *log, Exprs *p, uint32_t in, uint32_t numbers, Trail *out, Err *err)
{
    size_t size;
    *out = (Trail){ 0 };
    uint8_t *copy = log_copy(log, &size, err);
    bool ok = copy && parse(copy, size, p, in, numbers, out, err);
    free(copy);
    return ok;
}

bool log_read(const Log *log, Exprs *p, uint32_t in, Trail *out, Err *err)
{
    return read_log(log, p, in, 0, out, err);
}

bool log_read_numbers(const Log *log, Exprs *p, uint32_t in, Trail *out, Err *err)
{
    uint32_t first = exprs_source(p, "number", 8 * TRAIL_NUMBERS);
    assert(first && first != UINT32_MAX);
    return read_log(log, p, in, first, out, err);
}

void trail_release(Trail *t)
{
    path_free(t->path);
    vec_release(&t->steps);
    vec_release(&t->others);
    vec_release(&t->bugs);
    vec_release(&t->notes);
    vec_release(&t->numbers);
    arena_release(&t->text);
    *t = (Trail){ 0 };
}

/* ---- looking at it */

static const char *const why_names[SUNDEW_WHY_N] = {
    [SUNDEW_WHY_ADDRESS] = "symbolic address",
    [SUNDEW_WHY_SIZE] = "symbolic length",
    [SUNDEW_WHY_CALL] = "call through a symbolic pointer",
    [SUNDEW_WHY_EXTERNAL] = "passed to code that is not woven",
    [SUNDEW_WHY_WITNESS] = "overwritten by code that is not woven",
    [SUNDEW_WHY_FLOAT] = "floating point",
    [SUNDEW_WHY_ASM] = "assembly",
    [SUNDEW_WHY_WIDE] = "more than 128 bits",
    [SUNDEW_WHY_THREAD] = "another thread",
    [SUNDEW_WHY_VARIADIC] = "variable arguments",
    [SUNDEW_WHY_INSIDE] = "stays in its object",
    [SUNDEW_WHY_ANALYSIS] = "the analysis missed it",
    [SUNDEW_WHY_MEMORY] = "no room for labels",
};

static const char *const bug_names[SUNDEW_BUG_N] = {
    [SUNDEW_BUG_BOUNDS] = "out of bounds",
    [SUNDEW_BUG_NULL] = "null pointer",
    [SUNDEW_BUG_DIVISION] = "division by zero",
    [SUNDEW_BUG_DIVISION_OVERFLOW] = "division overflow",
    [SUNDEW_BUG_OVERFLOW] = "signed overflow",
    [SUNDEW_BUG_SHIFT] = "oversized shift",
    [SUNDEW_BUG_ALLOCATION] = "allocation size",
    [SUNDEW_BUG_FORMAT] = "format string from input",
};

const char *log_why_name(unsigned why)
{
    return why < SUNDEW_WHY_N && why_names[why] ? why_names[why] : "unknown";
}

const char *log_bug_name(unsigned bug)
{
    return bug < SUNDEW_BUG_N && bug_names[bug] ? bug_names[bug] : "unknown";
}

static void dump_chances(const Trail *t, const Exprs *p, bool bugs, Str *out)
{
    size_t n = bugs ? t->bugs.len : t->others.len;
    for (size_t i = 0; i < n; i++) {
        Chance c = bugs ? t->bugs.items[i] : t->others.items[i];
        str_addf(out, "%s %" PRIu32 " after %" PRIu32 ": ", bugs ? log_bug_name(c.kind) : "other",
                 c.at, c.index);
        expr_print(p, c.cond, out);
        str_add(out, "\n");
    }
}

void trail_dump(const Trail *t, const Exprs *p, Str *out)
{
    for (size_t i = 0; i < t->steps.len; i++) {
        Step s = t->steps.items[i];
        str_addf(out, "%zu %s %" PRIu32 "%s: ", i,
                 s.kind == SUNDEW_REC_BRANCH ? "branch" : log_why_name(s.why), s.at,
                 s.ask ? "" : " (settled)");
        expr_print(p, path_at(t->path, i).cond, out);
        str_add(out, "\n");
    }
    dump_chances(t, p, false, out);
    dump_chances(t, p, true, out);
    for (size_t i = 0; i < t->notes.len; i++) {
        Note n = t->notes.items[i];
        str_addf(out, "imprecise %" PRIu32 ": %s", n.site, log_why_name(n.why));
        if (*n.name) {
            str_add(out, " by ");
            escape_terminal_z(out, n.name);
        }
        str_add(out, "\n");
    }
    if (t->ended || t->sites_ended || t->no_tables)
        str_addf(out, "ended: %" PRIu32 ", sites %" PRIu32 "%s\n", t->ended, t->sites_ended,
                 t->no_tables ? ", no room for tables" : "");
}

static void check_chance(const Trail *t, const Exprs *p, const Chance *c)
{
    assert(c->index <= path_length(t->path));
    assert(expr_width(p, c->cond) == 1);
}

void trail_check(const Trail *t, const Exprs *p)
{
    size_t n = t->path ? path_length(t->path) : 0;
    assert(t->steps.len == n);
    for (size_t i = 0; i < n; i++) {
        const Step *s = &t->steps.items[i];
        Expr cond = path_at(t->path, i).cond;
        assert(s->kind == SUNDEW_REC_BRANCH || s->kind == SUNDEW_REC_PIN);
        assert(cond ? expr_width(p, cond) == 1 : !s->ask && s->holes);
        assert(i == 0 || s->holes >= t->steps.items[i - 1].holes); /* they stay */
    }
    for (size_t i = 0; i < t->others.len; i++)
        check_chance(t, p, &t->others.items[i]);
    for (size_t i = 0; i < t->bugs.len; i++)
        check_chance(t, p, &t->bugs.items[i]);
    for (size_t i = 0; i < t->notes.len; i++)
        assert(t->notes.items[i].index <= n && t->notes.items[i].name);
}

bool trail_verify(const Trail *t, const Exprs *p, const uint8_t *input, size_t n, Err *err)
{
    Vec(Expr) roots = { 0 };
    Vec(size_t) index = { 0 };
    for (size_t i = 0; i < t->steps.len; i++) {
        Expr cond = path_at(t->path, i).cond;
        if (cond) {
            vec_push(&roots, cond);
            vec_push(&index, i);
        }
    }
    Tape *tape = tape_new(p, roots.items, roots.len);
    uint8_t *values = xcalloc(tape_nbytes(tape) + 1, 1);
    for (size_t i = 0; i < tape_nbytes(tape); i++) {
        uint32_t byte = tape_bytes(tape)[i] - t->in;
        values[i] = byte < n ? input[byte] : 0;
    }
    tape_run(tape, values);
    bool ok = true;
    for (size_t i = 0; ok && i < roots.len; i++) {
        if (tape_value(tape, i))
            continue;
        Str s = { 0 };
        expr_print(p, roots.items[i], &s);
        ok = err_set(err, "conjunct %zu at %" PRIu32 " does not hold: %.300s", index.items[i],
                     t->steps.items[index.items[i]].at, str_c(&s));
        str_release(&s);
    }
    free(values);
    tape_free(tape);
    vec_release(&roots);
    vec_release(&index);
    return ok;
}

/* The next branch of the program from step i on. */
static size_t next_branch(const Trail *t, size_t i, uint32_t standins)
{
    while (i < t->steps.len &&
           (t->steps.items[i].kind != SUNDEW_REC_BRANCH || t->steps.items[i].at >= standins))
        i++;
    return i;
}

/* Is it taken from step i on, before the program branches again? */
static bool taken_next(const Trail *t, size_t i, uint32_t want, uint32_t standins)
{
    for (; i < t->steps.len; i++) {
        const Step *s = &t->steps.items[i];
        if (s->kind != SUNDEW_REC_BRANCH)
            continue;
        if (s->at == want)
            return true;
        if (s->at < standins)
            return false;
    }
    return false;
}

Followed trail_followed(const Trail *parent, const Trail *child, uint32_t index, uint32_t want,
                        uint32_t standins)
{
    bool holes =
        index < parent->steps.len ? parent->steps.items[index].holes : parent->notes.len > 0;
    size_t i = next_branch(parent, 0, standins), j = next_branch(child, 0, standins), after = 0;
    for (; i < index && i < parent->steps.len; i = next_branch(parent, i + 1, standins)) {
        if (j >= child->steps.len || child->steps.items[j].at != parent->steps.items[i].at)
            return holes ? FOLLOWED_UNSURE : FOLLOWED_NOT;
        after = j + 1;
        j = next_branch(child, after, standins);
    }
    if (taken_next(child, after, want, standins))
        return FOLLOWED;
    return holes || want >= standins ? FOLLOWED_UNSURE : FOLLOWED_NOT;
}
