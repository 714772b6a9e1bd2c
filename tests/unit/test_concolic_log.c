/* Logs of concolic runs, written by hand: right ones, and broken ones. */
#include "mutate.h"
#include "base/rng.h"
#include "engine/concolic/log.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { NODES = 64, RECORDS = 32, BYTES = 256 };

static Log *new_log(void)
{
    Err err = { 0 };
    Log *log = log_new(&(LogPlan){ .nodes = NODES, .records = RECORDS, .bytes = BYTES }, &err);
    assert_non_null(log);
    log_reset(log, 0, 16);
    return log;
}

static struct sundew_log *head(Log *log)
{
    size_t n;
    return (struct sundew_log *)log_bytes(log, &n);
}

static uint32_t node(Log *log, unsigned op, unsigned bits, unsigned k, uint32_t a, uint32_t b,
                     uint32_t c)
{
    struct sundew_log *h = head(log);
    sundew_log_nodes(h)[h->nodes] =
        (struct sundew_node){ (uint8_t)op, (uint8_t)bits, (uint16_t)k, a, b, c };
    return h->nodes++;
}

static void record(Log *log, unsigned kind, unsigned k, unsigned value, uint32_t n, uint32_t at,
                   uint32_t other)
{
    struct sundew_log *h = head(log);
    sundew_log_records(h)[h->records++] =
        (struct sundew_record){ (uint8_t)kind, (uint8_t)k, (uint8_t)value, 0, n, at, other };
}

/* byte 3 == 'a' was false at edge 7; a table; an imprecision; a pin. */
static void a_good_one(Log *log)
{
    struct sundew_log *h = head(log);
    uint32_t x = node(log, SUNDEW_NODE_BYTE, 8, 0, 3, 0, 0);
    uint32_t a = node(log, SUNDEW_NODE_CONST, 8, 0, 'a', 0, 0);
    uint32_t is = node(log, SUNDEW_NODE_EQ, 1, 0, x, a, 0);
    record(log, SUNDEW_REC_BRANCH, 0, 0, is, 7, 6);
    for (unsigned i = 0; i < 16; i++)
        sundew_log_bytes(h)[8 + i] = (uint8_t)(i * i);
    h->bytes = 24;
    uint32_t wide = node(log, SUNDEW_NODE_ZEXT, 64, 0, x, 0, 0);
    uint32_t table = node(log, SUNDEW_NODE_TABLE, 16, 2, wide, 8, 8);
    uint32_t four = node(log, SUNDEW_NODE_CONST, 16, 0, 4, 0, 0);
    uint32_t less = node(log, SUNDEW_NODE_ULT, 1, 0, table, four, 0);
    record(log, SUNDEW_REC_BUG, SUNDEW_BUG_BOUNDS, 0, less, 9, 0);
    record(log, SUNDEW_REC_OTHER, 0, 1, less, 11, 10);
    record(log, SUNDEW_REC_PIN, SUNDEW_WHY_ADDRESS, 0, x, 12, a);
    memcpy(sundew_log_bytes(h) + h->bytes, "frob", 5);
    record(log, SUNDEW_REC_IMPRECISE, SUNDEW_WHY_EXTERNAL, 0, h->bytes, 13, 0);
    h->bytes += 5;
    record(log, SUNDEW_REC_BRANCH, 1, 1, less, 6, 7);
    record(log, SUNDEW_REC_BRANCH, 0, 0, is, 7, 6);  /* once more: nothing new */
    record(log, SUNDEW_REC_END, SUNDEW_END_NODES, 0, 0, 0, 0);
}

static void what_is_there_is_read(void **state)
{
    (void)state;
    Log *log = new_log();
    a_good_one(log);
    Exprs *p = exprs_new(NULL);
    exprs_source(p, "other", 100);
    uint32_t in = exprs_source(p, "input", 16);
    Trail t;
    Err err = { 0 };
    assert_true(log_read(log, p, in, &t, &err));
    trail_check(&t, p);
    assert_int_equal(t.steps.len, 3);
    assert_int_equal(path_length(t.path), 3);
    assert_true(t.steps.items[0].ask && !t.steps.items[0].holes);
    assert_true(t.steps.items[1].kind == SUNDEW_REC_PIN && t.steps.items[1].ask);
    assert_true(t.steps.items[2].holes && !t.steps.items[2].ask);
    assert_int_equal(t.bugs.len, 1);
    assert_int_equal(t.bugs.items[0].index, 1);
    assert_int_equal(t.others.len, 1);
    assert_string_equal(t.notes.items[0].name, "frob");
    assert_int_equal(t.ended, SUNDEW_END_NODES);
    Str s = { 0 };
    expr_print(p, path_at(t.path, 0).cond, &s);
    assert_string_equal(str_c(&s), "input[3] != 'a'");
    str_release(&s);
    /* The pin contradicts the branch: no input follows both. */
    uint8_t input[16] = { 0, 0, 0, 'b' };
    assert_false(trail_verify(&t, p, input, 16, &err));
    assert_non_null(strstr(err.msg, "conjunct 1 at 12"));
    trail_release(&t);
    exprs_free(p);
    log_free(log);
}

/* The number that bytes 4 and 5 say was not above 500. */
static Log *log_with_number(unsigned bits, uint32_t from, uint32_t n)
{
    Log *log = new_log();
    uint32_t high = node(log, SUNDEW_NODE_BYTE, 8, 0, 4, 0, 0);
    uint32_t low = node(log, SUNDEW_NODE_BYTE, 8, 0, 5, 0, 0);
    uint32_t both = node(log, SUNDEW_NODE_ADD, 8, 0, high, low, 0);
    uint32_t value = node(log, SUNDEW_NODE_ZEXT, bits, 0, both, 0, 0);
    uint32_t most = node(log, SUNDEW_NODE_CONST, bits, 0, 500, 0, 0);
    uint32_t more = node(log, SUNDEW_NODE_UGT, 1, 0, value, most, 0);
    record(log, SUNDEW_REC_NUMBER, SUNDEW_NUMBER_UNSIGNED, 10, value, from, n);
    record(log, SUNDEW_REC_BRANCH, 0, 0, more, 7, 6);
    return log;
}

static void a_number_can_be_an_unknown_of_its_own(void **state)
{
    (void)state;
    Log *log = log_with_number(64, 4, 2);
    Exprs *p = exprs_new(NULL);
    uint32_t in = exprs_source(p, "input", 16);
    Trail t, free;
    Err err = { 0 };
    assert_true(log_read(log, p, in, &t, &err));
    assert_int_equal(path_length(t.path), 0);        /* two bytes are never above 500 */
    assert_int_equal(t.numbers.len, 1);
    assert_int_equal(t.numbers.items[0].from, 4);
    assert_int_equal(t.numbers.items[0].n, 2);
    assert_true(log_read_numbers(log, p, in, &free, &err));
    trail_check(&free, p);
    assert_int_equal(path_length(free.path), 1);
    uint8_t wide[64] = { [4] = 7, [5] = 9 };
    assert_int_equal(expr_eval(p, free.numbers.items[0].value, wide, 64), 16);
    Expr cond = path_at(free.path, 0).cond;
    assert_true(free.free + 8 <= sizeof wide);
    assert_int_equal(expr_eval(p, cond, wide, 64), 1);
    wide[free.free + 1] = 2;                          /* 512 */
    assert_int_equal(expr_eval(p, cond, wide, 64), 0);
    trail_release(&t);
    trail_release(&free);
    exprs_free(p);
    log_free(log);
}

static void refused(Log *log, const char *why)
{
    Exprs *p = exprs_new(NULL);
    uint32_t in = exprs_source(p, "input", 16);
    Trail t;
    Err err = { 0 };
    assert_false(log_read(log, p, in, &t, &err));
    if (!strstr(err.msg, why))
        fail_msg("not \"%s\": %s", why, err.msg);
    assert_null(t.path);
    exprs_free(p);
    log_free(log);
}

static Log *good_log(void)
{
    Log *log = new_log();
    a_good_one(log);
    return log;
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    refused(log_with_number(64, 4, 0), "makes no sense");
    refused(log_with_number(64, 15, 2), "makes no sense");
    refused(log_with_number(32, 4, 2), "a number of 32 bits");
    Log *log = good_log();
    head(log)->magic++;
    refused(log, "overwritten");
    log = good_log();
    head(log)->nodes = NODES + 1;
    refused(log, "overwritten");
    log = good_log();
    sundew_log_nodes(head(log))[3].a = 3;            /* itself */
    refused(log, "no node 3");
    log = good_log();
    sundew_log_nodes(head(log))[1].a = 16;           /* not symbolic */
    refused(log, "not symbolic");
    log = good_log();
    sundew_log_nodes(head(log))[2].bits = 9;
    refused(log, "don't fit");
    log = good_log();
    sundew_log_nodes(head(log))[5].c = 20;           /* beyond the bytes that were told */
    refused(log, "beyond the log");
    log = good_log();
    sundew_log_nodes(head(log))[5].k = 3;
    refused(log, "elements of 3");
    log = good_log();
    sundew_log_records(head(log))[0].node = 1;       /* eight bits */
    refused(log, "no truth value");
    log = good_log();
    sundew_log_records(head(log))[0].kind = 99;
    refused(log, "kind 99");
    log = good_log();
    sundew_log_records(head(log))[4].node = 250;     /* a name beyond */
    refused(log, "makes no sense");
}

/* A byte is changed, or many: read or refused, never worse. */
static void broken_logs_do_no_harm(void **state)
{
    (void)state;
    Rng rng = rng_seeded(5);
    Log *log = good_log();
    size_t n, accepted = 0;
    const uint8_t *good = log_bytes(log, &n);
    uint8_t *bad = malloc(n);
    assert_non_null(bad);
    for (unsigned i = 0; i < mutations(10000); i++) {
        memcpy(bad, good, n);
        for (unsigned k = 1 + (unsigned)rng_below(&rng, 6); k > 0; k--) {
            size_t end = rng_below(&rng, 4) ? sizeof(struct sundew_log) + 8 * 16 : n;
            uint8_t *at =
                bad + (rng_below(&rng, 3) ? rng_below(&rng, end)
                                          : (size_t)NODES * 16 + sizeof(struct sundew_log) +
                                                rng_below(&rng, 7 * 16));
            *at = rng_below(&rng, 2) ? (uint8_t)rng_next(&rng) : (uint8_t)rng_below(&rng, 9);
        }
        Exprs *p = exprs_new(&(ExprsPlan){ .memory = 1 << 20 });
        uint32_t in = exprs_source(p, "input", 16);
        Trail t;
        Err err = { 0 };
        size_t len = rng_below(&rng, 8) ? n : rng_below(&rng, n);
        if (log_parse(bad, len, p, in, &t, &err)) {
            trail_check(&t, p);
            uint8_t input[16] = { 1, 2, 3, 4 };
            trail_verify(&t, p, input, 16, &err);
            Str s = { 0 };
            trail_dump(&t, p, &s);
            str_release(&s);
            trail_release(&t);
            accepted++;
        } else {
            assert_true(*err.msg);
        }
        exprs_free(p);
    }
    assert_in_range(accepted, 100, 5900);
    free(bad);
    log_free(log);
}

/* Random nodes of all operations: those that are accepted have the width they say. */
static void random_nodes_do_no_harm(void **state)
{
    (void)state;
    Rng rng = rng_seeded(6);
    size_t accepted = 0;
    static const uint8_t widths[] = { 1, 8, 16, 32, 64, 128 };
    for (unsigned i = 0; i < 4000; i++) {
        Log *log = new_log();
        head(log)->bytes = BYTES;
        for (unsigned k = 0; k < 4; k++)
            node(log, SUNDEW_NODE_BYTE, 8, 0, k, 0, 0);
        for (unsigned k = 0; k < 20; k++) {
            uint32_t m = head(log)->nodes;
            unsigned bits = widths[rng_below(&rng, 6)];
            if (rng_below(&rng, 20) == 0)
                bits = (unsigned)rng_below(&rng, 256);
            node(log, (unsigned)rng_below(&rng, SUNDEW_NODE_N), bits, (unsigned)rng_below(&rng, 9),
                 (uint32_t)rng_below(&rng, m + 1), (uint32_t)rng_below(&rng, m + 1),
                 (uint32_t)rng_below(&rng, m + 1));
        }
        record(log, SUNDEW_REC_PIN, SUNDEW_WHY_SIZE, 0, 5 + (uint32_t)rng_below(&rng, 6), 1,
               5 + (uint32_t)rng_below(&rng, 6));
        Exprs *p = exprs_new(&(ExprsPlan){ .memory = 1 << 20 });
        uint32_t in = exprs_source(p, "input", 16);
        Trail t;
        Err err = { 0 };
        if (log_read(log, p, in, &t, &err)) {
            trail_check(&t, p);
            accepted++;
            trail_release(&t);
        }
        exprs_free(p);
        log_free(log);
    }
    assert_in_range(accepted, 20, 3900);
}

/* A pool without room: the path has holes, and says so. */
static void a_full_pool_leaves_holes(void **state)
{
    (void)state;
    Err err = { 0 };
    Log *log = log_new(&(LogPlan){ .nodes = 1 << 17, .records = 1 << 16, .bytes = 8 }, &err);
    assert_non_null(log);
    log_reset(log, 0, 16);
    uint32_t x = node(log, SUNDEW_NODE_BYTE, 8, 0, 3, 0, 0);
    uint32_t wide = node(log, SUNDEW_NODE_ZEXT, 32, 0, x, 0, 0);
    uint32_t twice = node(log, SUNDEW_NODE_MUL, 32, 0, wide, wide, 0);
    for (unsigned i = 0; i < 40000; i++) {
        uint32_t c = node(log, SUNDEW_NODE_CONST, 32, 0, i, 0, 0);
        uint32_t is = node(log, SUNDEW_NODE_EQ, 1, 0, twice, c, 0);
        record(log, SUNDEW_REC_BRANCH, 0, 0, is, 2 * i, 2 * i + 1);
    }
    for (int full = 0; full < 2; full++) {
        Exprs *p = exprs_new(&(ExprsPlan){ .memory = full ? 1 << 20 : 64 << 20 });
        uint32_t in = exprs_source(p, "input", 16);
        Trail t;
        assert_true(log_read(log, p, in, &t, &err));
        trail_check(&t, p);
        assert_int_equal(t.steps.len, 40000);
        assert_int_equal(exprs_is_full(p), full);
        assert_int_equal(t.steps.items[0].holes, full);    /* no room for its negation */
        assert_int_equal(t.steps.items[39999].holes, full);
        trail_release(&t);
        exprs_free(p);
    }
    log_free(log);
}

static void a_run_that_goes_another_way_is_noticed(void **state)
{
    (void)state;
    Step parent[] = { { .kind = SUNDEW_REC_BRANCH, .at = 1, .other = 2 },
                      { .kind = SUNDEW_REC_PIN, .at = 9 },
                      { .kind = SUNDEW_REC_BRANCH, .at = 3, .other = 4 },
                      { .kind = SUNDEW_REC_BRANCH, .at = 5, .other = 6, .holes = true } };
    Step child[] = { { .kind = SUNDEW_REC_BRANCH, .at = 1, .other = 2 },
                     { .kind = SUNDEW_REC_BRANCH, .at = 4, .other = 3 } };
    Trail p = { .steps = { parent, 4, 4 } }, c = { .steps = { child, 2, 2 } };
    assert_int_equal(trail_followed(&p, &c, 2, 4, 100), FOLLOWED);
    assert_int_equal(trail_followed(&p, &c, 0, 2, 100), FOLLOWED_NOT);
    assert_int_equal(trail_followed(&p, &c, 3, 6, 100), FOLLOWED_UNSURE);
    c.steps.len = 1;
    assert_int_equal(trail_followed(&p, &c, 2, 4, 100), FOLLOWED_NOT);
    /* A standin's branches come and go. */
    parent[0].at = 101;
    parent[0].other = 102;
    c.steps.len = 0;
    assert_int_equal(trail_followed(&p, &c, 0, 102, 100), FOLLOWED_UNSURE);
    c.steps.len = 2;
    assert_int_equal(trail_followed(&p, &c, 2, 1, 100), FOLLOWED);
    assert_int_equal(trail_followed(&p, &c, 3, 4, 100), FOLLOWED_UNSURE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_there_is_read),
        cmocka_unit_test(a_number_can_be_an_unknown_of_its_own),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(broken_logs_do_no_harm),
        cmocka_unit_test(random_nodes_do_no_harm),
        cmocka_unit_test(a_full_pool_leaves_holes),
        cmocka_unit_test(a_run_that_goes_another_way_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
