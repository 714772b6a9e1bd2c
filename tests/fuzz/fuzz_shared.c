/* Memory that programs under test share with us. */
#include "fuzz.h"
#include "base/rng.h"
#include "engine/concolic/log.h"
#include "engine/events/events_int.h"
#include "engine/explore/program/fast.h"
#include "engine/explore/queue.h"
#include "runtime/server/batch.h"
#include <stdlib.h>
#include <string.h>

/* ---- logs of concolic runs */

static uint32_t node(struct sundew_log *h, unsigned op, unsigned bits, unsigned k, uint32_t a,
                     uint32_t b, uint32_t c)
{
    sundew_log_nodes(h)[h->nodes] =
        (struct sundew_node){ (uint8_t)op, (uint8_t)bits, (uint16_t)k, a, b, c };
    return h->nodes++;
}

static void record(struct sundew_log *h, unsigned kind, unsigned k, unsigned value, uint32_t n,
                   uint32_t at, uint32_t other)
{
    sundew_log_records(h)[h->records++] =
        (struct sundew_record){ (uint8_t)kind, (uint8_t)k, (uint8_t)value, 0, n, at, other };
}

static void fill_log(struct sundew_log *h)
{
    uint32_t x = node(h, SUNDEW_NODE_BYTE, 8, 0, 3, 0, 0);
    uint32_t a = node(h, SUNDEW_NODE_CONST, 8, 0, 'a', 0, 0);
    uint32_t is = node(h, SUNDEW_NODE_EQ, 1, 0, x, a, 0);
    record(h, SUNDEW_REC_BRANCH, 0, 0, is, 7, 6);
    for (unsigned i = 0; i < 16; i++)
        sundew_log_bytes(h)[8 + i] = (uint8_t)(i * i);
    h->bytes = 24;
    uint32_t wide = node(h, SUNDEW_NODE_ZEXT, 64, 0, x, 0, 0);
    uint32_t table = node(h, SUNDEW_NODE_TABLE, 16, 2, wide, 8, 8);
    uint32_t four = node(h, SUNDEW_NODE_CONST, 16, 0, 4, 0, 0);
    uint32_t less = node(h, SUNDEW_NODE_ULT, 1, 0, table, four, 0);
    record(h, SUNDEW_REC_BUG, SUNDEW_BUG_BOUNDS, 0, less, 9, 0);
    record(h, SUNDEW_REC_OTHER, 0, 1, less, 11, 10);
    record(h, SUNDEW_REC_PIN, SUNDEW_WHY_ADDRESS, 0, x, 12, a);
    memcpy(sundew_log_bytes(h) + h->bytes, "frob", 5);
    record(h, SUNDEW_REC_IMPRECISE, SUNDEW_WHY_EXTERNAL, 0, h->bytes, 13, 0);
    h->bytes += 5;
    record(h, SUNDEW_REC_BRANCH, 1, 1, less, 6, 7);
    record(h, SUNDEW_REC_BRANCH, 0, 0, is, 7, 6);
}

/* A log with one node of each kind, over all that was there before. */
static void fill_kinds(struct sundew_log *h)
{
    uint32_t x = node(h, SUNDEW_NODE_BYTE, 8, 0, 3, 0, 0),
             y = node(h, SUNDEW_NODE_BYTE, 8, 0, 4, 0, 0);
    for (unsigned op = 0; op < 64 && h->nodes < 60; op++)
        node(h, op, op % 2 ? 8 : 1, 0, x, y, x);
    record(h, SUNDEW_REC_BRANCH, 0, 0, 4, 7, 6);
}

/* Records of each kind with each reason, and a note without a name. */
static void fill_records(struct sundew_log *h)
{
    uint32_t x = node(h, SUNDEW_NODE_BYTE, 8, 0, 3, 0, 0);
    uint32_t last = 0;
    for (unsigned why = 1; why < SUNDEW_WHY_N; why++) {
        uint32_t c = node(h, SUNDEW_NODE_CONST, 8, 0, why, 0, 0);
        last = node(h, SUNDEW_NODE_EQ, 1, 0, x, c, 0);
        record(h, SUNDEW_REC_PIN, why, 0, x, 12 + why, c);
        record(h, SUNDEW_REC_IMPRECISE, why, 0, 0, 20 + why, 0);
        record(h, SUNDEW_REC_BRANCH, why % 2, why % 2, last, 100 + why, 30 + why);
    }
    for (unsigned bug = 1; bug < SUNDEW_BUG_N; bug++)
        record(h, SUNDEW_REC_BUG, bug, bug % 2, last, 40 + bug, 0);
    uint32_t never = node(h, SUNDEW_NODE_CONST, 1, 0, 0, 0, 0);
    for (unsigned value = 0; value < 2; value++) {
        record(h, SUNDEW_REC_OTHER, 0, value, last, 50, 51);
        record(h, SUNDEW_REC_OTHER, 0, value, never, 52, 53);
        record(h, SUNDEW_REC_BRANCH, 0, value, never, 54, 55);
    }
    for (unsigned end = 1; end <= SUNDEW_END_SITE; end++)
        record(h, SUNDEW_REC_END, end, 0, 0, 0, 0);
}

/* Mathematics and rounding have a number besides; so do choices among nodes. */
static void fill_numbers(struct sundew_log *h)
{
    uint32_t x = node(h, SUNDEW_NODE_BYTE, 8, 0, 3, 0, 0), items[2];
    uint32_t wide = node(h, SUNDEW_NODE_ZEXT, 64, 0, x, 0, 0);
    for (unsigned k = 0; k < EXPR_MATH_N; k++) {
        uint32_t e = node(h, SUNDEW_NODE_FMATH, 64, k, wide, k < EXPR_MATH_POW ? 0 : wide, 0);
        record(h, SUNDEW_REC_BRANCH, 0, 0, node(h, SUNDEW_NODE_FOLT, 1, 0, e, wide, 0), 7 + k, 6);
    }
    for (unsigned k = 0; k <= EXPR_ROUND_AWAY; k++)
        items[k % 2] = node(h, SUNDEW_NODE_FROUND, 64, k, wide, 0, 0);
    memcpy(sundew_log_bytes(h) + 8, items, sizeof items);
    h->bytes = 16;
    uint32_t chosen = node(h, SUNDEW_NODE_CHOOSE, 64, 0, wide, 8, 2);
    record(h, SUNDEW_REC_BUG, SUNDEW_BUG_NULL, 0, node(h, SUNDEW_NODE_EQ, 1, 0, chosen, wide, 0),
           70, 0);
}

/* Does a log with this last node read well? */
static bool is_read(const void *bytes, size_t n)
{
    Exprs *p = exprs_new(&(ExprsPlan){ .memory = 1 << 18 });
    uint32_t in = exprs_source(p, "input", 16);
    Trail t;
    Err err = { 0 };
    bool ok = log_parse(bytes, n, p, in, &t, &err);
    if (ok)
        trail_release(&t);
    exprs_free(p);
    return ok;
}

/* A log for each operation, width and kind of operands that is right. */
static void make_nodes(Samples_ *out)
{
    static const uint8_t widths[] = { 1, 4, 8, 16, 32, 64 };
    Err err = { 0 };
    for (unsigned op = 0; op < SUNDEW_NODE_N; op++)
        for (unsigned i = 0, found = 0; i < 6 * 6 && found < 3; i++) {
            Log *log = log_new(&(LogPlan){ .nodes = 16, .records = 8, .bytes = 64 }, &err);
            size_t n;
            log_reset(log, 0, 16);
            struct sundew_log *h = (struct sundew_log *)log_bytes(log, &n);
            uint32_t x[6];
            x[2] = node(h, SUNDEW_NODE_BYTE, 8, 0, 3, 0, 0);
            uint32_t y = node(h, SUNDEW_NODE_BYTE, 8, 0, 4, 0, 0);
            x[0] = node(h, SUNDEW_NODE_EQ, 1, 0, x[2], y, 0);
            x[1] = node(h, SUNDEW_NODE_EXTRACT, 4, 0, x[2], 0, 0);
            for (unsigned k = 3; k < 6; k++)
                x[k] = node(h, SUNDEW_NODE_ZEXT, widths[k], 0, x[2], 0, 0);
            for (unsigned k = 0; k < 16; k++)
                sundew_log_bytes(h)[8 + k] = (uint8_t)(k % 4 ? 0 : x[2]);
            h->bytes = 24;
            uint32_t a = x[i / 6];
            bool table = op == SUNDEW_NODE_TABLE || op == SUNDEW_NODE_CHOOSE;
            uint32_t last = node(h, op, widths[i % 6], table ? widths[i % 6] / 8 : 0,
                                 op == SUNDEW_NODE_ITE ? x[0] : a, table ? 8 : a, table ? 2 : a);
            uint32_t one = node(h, SUNDEW_NODE_ZEXT, 64, 0, x[0], 0, 0);
            uint32_t is = widths[i % 6] == 1 ? last : node(h, SUNDEW_NODE_EQ, 1, 0, last, last, 0);
            if (widths[i % 6] == 64)
                is = node(h, SUNDEW_NODE_ULT, 1, 0, last, one, 0);
            for (unsigned kind = 0; kind < 8; kind++)
                record(h, kind, kind % 3, 0, kind % 2 ? is : x[0], 7 + kind, 6);
            h->records = 1;
            sundew_log_records(h)[0] =
                (struct sundew_record){ SUNDEW_REC_BRANCH, 0, 0, 0, is, 7, 6 };
            if (is_read(h, n)) {
                found++;
                h->records = 8;
                fuzz_sample(out, h, n);
                h->records = 1;
                fuzz_sample(out, h, n);
            }
            log_free(log);
        }
}

static void make_logs(Samples_ *out)
{
    make_nodes(out);
    Err err = { 0 };
    static void (*const fill[])(struct sundew_log *) = { fill_log, fill_kinds, fill_records,
                                                         fill_numbers };
    for (int i = 0; i < 4; i++) {
        Log *log = log_new(&(LogPlan){ .nodes = 100, .records = 80, .bytes = 256 }, &err);
        size_t n;
        log_reset(log, 0, 16);
        struct sundew_log *h = (struct sundew_log *)log_bytes(log, &n);
        fill[i](h);
        if (i == 0)
            record(h, SUNDEW_REC_END, SUNDEW_END_NODES, 0, 0, 0, 0);
        fuzz_sample(out, h, n);
        for (unsigned how = 1; how < 64; how += 3) {
            ((char *)h)[n - 1] = (char)how;
            fuzz_sample(out, h, n);
        }
        log_free(log);
    }
}

/* Is it as the first good one expected? */
static void follow(const Trail *t)
{
    static Trail first;
    static Exprs *pool;
    if (!pool) {
        Err err = { 0 };
        size_t n;
        Log *log = log_new(&(LogPlan){ .nodes = 100, .records = 80, .bytes = 256 }, &err);
        log_reset(log, 0, 16);
        fill_log((struct sundew_log *)log_bytes(log, &n));
        pool = exprs_new(&(ExprsPlan){ .memory = 1 << 18 });
        if (!log_read(log, pool, exprs_source(pool, "input", 16), &first, &err))
            abort();
        log_free(log);
    }
    for (uint32_t index = 0; index < 4; index++)
        for (uint32_t standins = 0; standins < 110; standins += 9) {
            trail_followed(t, t, index, 7, standins);
            trail_followed(t, &first, index, 6, standins);
            trail_followed(&first, t, index, 200, standins);
        }
}

/* As if a run had left it in the memory that it shares with us. */
static bool read_shared(const uint8_t *data, size_t n, Exprs *p, uint32_t in, Trail *t, Err *err)
{
    static Log *log;
    size_t size;
    if (!log)
        log = log_new(&(LogPlan){ .nodes = 100, .records = 80, .bytes = 256 }, err);
    log_reset(log, 0, 16);
    uint8_t *to = (uint8_t *)log_bytes(log, &size);
    memset(to, 0, size);
    memcpy(to, data, n < size ? n : size);
    return log_read(log, p, in, t, err);
}

/* The last byte says how: in a small pool some expressions have no room. */
static void read_log(const uint8_t *data, size_t n)
{
    static size_t empty;
    unsigned how = n ? data[n - 1] : 0;
    Exprs *p = exprs_new(&(ExprsPlan){ .memory = !empty || how < 2 ? 1 << 18 : empty + how * 64 });
    if (!empty)
        empty = exprs_memory(p);
    uint32_t in = exprs_source(p, "input", 16);
    Trail t;
    Err err = { 0 };
    bool ok = how % 2 ? read_shared(data, n, p, in, &t, &err) : log_parse(data, n, p, in, &t, &err);
    fuzz_said(ok, &err);
    if (ok) {
        uint8_t input[16] = { 1, 2, 3, 4 };
        Str s = { 0 };
        trail_check(&t, p);
        trail_verify(&t, p, input, how % 3 ? 16 : 2, &err);
        trail_dump(&t, p, &s);
        follow(&t);
        str_release(&s);
        trail_release(&t);
    }
    exprs_free(p);
}

/* ---- counts of quick runs: one slot, then the counters */

enum { COUNTERS = 4096 };

static void make_counts(Samples_ *out)
{
    Str s = { 0 };
    FastResult r = { .len = 4, .status = 0, .micros = 12, .path = 7, .news = 2, .edges = 3 };
    str_addn(&s, (char *)&r, sizeof r);
    for (unsigned i = 0; i < 64; i++)
        str_addc(&s, i % 5 ? 0 : (char)(1 << i % 8));
    vec_push(out, s);
    r.status = 11;
    r.news = 77;
    r.edges = UINT32_MAX;
    fuzz_sample(out, &r, sizeof r);
}

static void read_counts(const uint8_t *data, size_t n)
{
    static Queue *q;
    static unsigned kept;
    FastResult from = { 0 }, to = { 0 };
    uint8_t counters[COUNTERS] = { 0 };
    memcpy(&from, data, n < sizeof from ? n : sizeof from);
    fast_take(&from, COUNTERS, &to);
    if (n > sizeof from)
        memcpy(counters, data + sizeof from,
               n - sizeof from < COUNTERS ? n - sizeof from : COUNTERS);
    if (!q || kept > 2000) {
        queue_free(q);
        q = queue_new(COUNTERS, 100);
        kept = 0;
    }
    unsigned news = queue_news(q, counters, to.news);
    QueueRun run = { .origin = FROM_MUTATION,
                     .parent = UINT32_MAX,
                     .path = to.path,
                     .micros = to.micros,
                     .new_edge = news == SUNDEW_NEWS_EDGE };
    queue_saw_path(q, to.path);
    if (news || to.edges > 10) {
        Rng rng = rng_seeded(to.path);
        queue_add(q, data, n < 16 ? n : 16, counters, &run);
        kept++;
        if (queue_length(q) < 40)
            queue_check(q);
        queue_energy(q, queue_choose(q, &rng));
    }
}

/* ---- what a run of events left */

static void make_events(Samples_ *out)
{
    static struct sundew_events h;
    h = (struct sundew_events){ .stage = SUNDEW_EVENTS_DONE, .nlocations = 3 };
    Str s = { 0 };
    str_addn(&s, (char *)&h.stage,
             offsetof(struct sundew_events, ignored) - offsetof(struct sundew_events, stage));
    for (uint32_t i = 0; i < 3; i++) {
        Place p = { i, i ? UINT32_MAX : 8, 4, SUNDEW_EVENT_READ };
        str_addn(&s, (char *)&p, sizeof p);
    }
    vec_push(out, s);
}

static void read_events(const uint8_t *data, size_t n)
{
    static struct sundew_events h;
    enum { HEAD = offsetof(struct sundew_events, ignored) - offsetof(struct sundew_events, stage) };
    Watched w = { 0 };
    memset(&h, 0, sizeof h);
    memcpy(&h.stage, data, n < HEAD ? n : HEAD);
    if (n > HEAD)
        memcpy(h.locations, data + HEAD,
               n - HEAD < sizeof h.locations ? n - HEAD : sizeof h.locations);
    events_take(&h, n % 2, &w);
    if (strlen(w.file) >= sizeof w.file)
        abort();
    for (size_t i = 0; i < w.places.len; i++)
        place_meets(&w.places, &w.places.items[i], SUNDEW_EVENT_READ);
    watched_release(&w);
}

const FuzzReader fuzz_shared[] = {
    { .name = "log", .read = read_log, .make = make_logs },
    { .name = "coverage", .read = read_counts, .make = make_counts },
    { .name = "events", .read = read_events, .make = make_events },
    { 0 },
};
