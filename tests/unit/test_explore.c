/* What exploring is made of: the queue, mutations, judging of runs, drivers' text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "engine/explore/mutate.h"
#include "engine/explore/numbers.h"
#include "engine/explore/queue.h"
#include "runtime/server/batch.c"
#include <math.h>
#include <stdlib.h>

uint8_t sundew_counters[SUNDEW_BATCH_PAGE];
const uint64_t sundew_counters_size = SUNDEW_BATCH_PAGE;

enum { EDGES = 64 };

/* ---- queue */

static void an_edge_is_news_once_and_a_count_too(void **state)
{
    (void)state;
    Queue *q = queue_new(EDGES, EDGES);
    uint8_t c[EDGES] = { [3] = 1 };
    assert_int_equal(queue_news(q, c, false), SUNDEW_NEWS_EDGE);
    assert_int_equal(queue_news(q, c, true), SUNDEW_NEWS_EDGE);
    assert_int_equal(queue_news(q, c, true), SUNDEW_NEWS_NONE);
    c[3] = 8;
    assert_int_equal(queue_news(q, c, true), SUNDEW_NEWS_COUNT);
    assert_int_equal(queue_covered(q), 1);
    assert_true(queue_covers(q, 3));
    assert_false(queue_covers(q, 4));
    assert_false(queue_covers(q, EDGES + 1));
    queue_check(q);
    queue_free(q);
}

static void the_cheapest_input_of_an_edge_is_favoured(void **state)
{
    (void)state;
    Queue *q = queue_new(EDGES, EDGES);
    Rng rng = rng_seeded(1);
    uint8_t c[EDGES] = { [1] = 1, [2] = 1 };
    QueueRun slow = { .micros = 1000, .parent = UINT32_MAX, .path = 5 };
    QueueRun quick = { .micros = 10, .parent = UINT32_MAX, .path = 6 };
    Entry *a = queue_add(q, (const uint8_t *)"aaaa", 4, c, &slow);
    Entry *b = queue_add(q, (const uint8_t *)"bb", 2, c, &quick);
    assert_non_null(queue_choose(q, &rng));
    assert_false(a->favoured);
    assert_true(b->favoured);
    assert_int_equal(a->nedges, 2);
    assert_int_equal(b->depth, 0);
    assert_memory_equal(b->bytes, "bb", 2);
    unsigned chosen = 0;
    for (unsigned i = 0; i < 200; i++)
        chosen += queue_choose(q, &rng) == b;
    assert_true(chosen > 120 && chosen < 200);
    queue_check(q);
    queue_free(q);
}

static void an_empty_queue_has_nothing_to_choose(void **state)
{
    (void)state;
    Queue *q = queue_new(EDGES, EDGES);
    Rng rng = rng_seeded(1);
    assert_null(queue_choose(q, &rng));
    queue_free(q);
    queue_free(NULL);
}

static void paths_are_counted_each_once(void **state)
{
    (void)state;
    Queue *q = queue_new(EDGES, EDGES);
    for (uint64_t i = 0; i < 100000; i++)
        queue_saw_path(q, i * 0x9e3779b97f4a7c15ull);
    assert_int_equal(queue_paths(q), 100000);
    assert_int_equal(queue_saw_path(q, 7 * 0x9e3779b97f4a7c15ull), 2);
    assert_int_equal(queue_paths(q), 100000);
    queue_free(q);
}

/* ---- mutation */

static void a_mutation_is_never_too_long(void **state)
{
    (void)state;
    Mutator *m = mutator_new(1, 40);
    uint8_t in[64];
    memset(in, '7', sizeof in);
    for (unsigned i = 0; i < 20000; i++) {
        const uint8_t *out;
        size_t n = mutate(m, in, i % 65, in, (i * 7) % 65, &out);
        assert_true(n <= 40);
        memcpy(in, out, n);
    }
    mutator_free(m);
    mutator_free(NULL);
}

static void the_same_seed_gives_the_same_mutations(void **state)
{
    (void)state;
    Mutator *a = mutator_new(9, 1000), *b = mutator_new(9, 1000);
    for (unsigned i = 0; i < 1000; i++) {
        const uint8_t *x, *y;
        size_t n = mutate(a, (const uint8_t *)"hello", 5, (const uint8_t *)"world!", 6, &x);
        assert_int_equal(mutate(b, (const uint8_t *)"hello", 5, (const uint8_t *)"world!", 6, &y),
                         n);
        assert_memory_equal(x, y, n);
    }
    mutator_free(a);
    mutator_free(b);
}

static void words_of_the_dictionary_are_used(void **state)
{
    (void)state;
    Mutator *m = mutator_new(3, 1000);
    assert_true(mutator_word(m, "CONTENT", 7));
    assert_false(mutator_word(m, "CONTENT", 7));
    assert_false(mutator_word(m, "", 0));
    unsigned seen = 0;
    for (unsigned i = 0; i < 1000; i++) {
        const uint8_t *out;
        size_t n = mutate(m, (const uint8_t *)"0123456789", 10, NULL, 0, &out);
        seen += memmem(out, n, "CONTENT", 7) != NULL;
    }
    assert_true(seen > 50);
    mutator_free(m);
}

/* ---- judging a run */

static struct sundew_batch *new_batch(void)
{
    struct sundew_batch *b = xcalloc(1, SUNDEW_BATCH_HEADER + 4 * SUNDEW_BATCH_PAGE);
    b->counters = SUNDEW_BATCH_PAGE;
    b->n = 2;
    memset(sundew_counters, 0, sizeof sundew_counters);
    return b;
}

static void counts_become_bits_and_news(void **state)
{
    (void)state;
    struct sundew_batch *b = new_batch();
    sundew_counters[5] = 1;
    sundew_counters[100] = 200;
    sundew_batch_judge(b, 0, 7);
    assert_int_equal(b->slots[0].news, SUNDEW_NEWS_EDGE);
    assert_int_equal(b->slots[0].edges, 2);
    assert_int_equal(sundew_counters[100], 128);
    uint64_t path = b->slots[0].path;
    sundew_batch_judge(b, 0, 7);            /* bits again: 1 stays 1, 128 is many */
    assert_int_equal(b->slots[0].news, SUNDEW_NEWS_NONE);
    assert_int_equal(b->slots[0].path, path);
    sundew_counters[5] = 3;
    sundew_batch_judge(b, 0, 7);
    assert_int_equal(b->slots[0].news, SUNDEW_NEWS_COUNT);
    assert_true(b->slots[0].path != path);
    free(b);
}

static void a_run_that_died_has_news_of_its_own(void **state)
{
    (void)state;
    struct sundew_batch *b = new_batch();
    sundew_counters[9] = 1;
    sundew_batch_judge(b, 11, 0);
    assert_int_equal(b->slots[0].news, SUNDEW_NEWS_EDGE);
    assert_int_equal(sundew_batch_seen(b, 0)[9], 0);
    assert_int_equal(sundew_batch_seen(b, 1)[9], 1);
    sundew_batch_judge(b, 0, 0);
    assert_int_equal(b->slots[0].news, SUNDEW_NEWS_EDGE);
    free(b);
}

/* ---- numbers */

/* "a=7;b=12;" with other values for the two numbers; the text that it becomes. */
static const char *written(NumbersHow how, unsigned kind, uint64_t first, uint64_t second)
{
    static uint8_t out[64];
    static const char text[] = "a=7;b=12;";
    uint8_t before[32] = "", after[32];
    Number numbers[] = { { .kind = (uint8_t)kind, .base = 10, .from = 2, .n = 1 },
                         { .kind = (uint8_t)kind, .base = 10, .from = 6, .n = 2 } };
    Trail t = { .free = 16 };
    t.numbers.items = numbers;
    t.numbers.len = 2;
    memcpy(before, text, 9);
    before[16] = 7;
    before[24] = 12;
    memcpy(after, before, 32);
    memcpy(after + 16, &first, 8);
    memcpy(after + 24, &second, 8);
    size_t n = numbers_write(&t, before, after, 9, how, out, 32);
    out[n] = 0;
    return (const char *)out;
}

static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, 8);
    return bits;
}

static void numbers_become_text(void **state)
{
    (void)state;
    unsigned whole = SUNDEW_NUMBER_SIGNED, real = SUNDEW_NUMBER_FLOAT;
    assert_string_equal(written(NUMBERS_MOVE, whole, 1234, 12), "a=1234;b=12;");
    assert_string_equal(written(NUMBERS_MOVE, whole, 7, (uint64_t)-5), "a=7;b=-5;");
    assert_string_equal(written(NUMBERS_MOVE, whole, 100, 3), "a=100;b=3;");
    assert_string_equal(written(NUMBERS_OVERWRITE, whole, 7, 3), "a=7;b=03;");
    assert_string_equal(written(NUMBERS_OVERWRITE, whole, 123, 12), "a=123;12;");
    assert_string_equal(written(NUMBERS_MOVE, real, bits_of(27.125), 12), "a=27.125;b=12;");
    assert_string_equal(written(NUMBERS_MOVE, real, 7, bits_of(1e30)), "a=7;b=1e+30;");
    assert_string_equal(written(NUMBERS_MOVE, real, 7, bits_of(0.1 + 0.2)),
                        "a=7;b=0.30000000000000004;");
    /* Nothing changed, no room, no text; the other way gives the same. */
    assert_string_equal(written(NUMBERS_MOVE, whole, 7, 12), "");
    assert_string_equal(written(NUMBERS_MOVE, whole, 1ull << 62, 1ull << 62), "");
    assert_string_equal(written(NUMBERS_MOVE, real, 7, bits_of(INFINITY)), "");
    assert_string_equal(written(NUMBERS_OVERWRITE, whole, 8, 12), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_become_text),
        cmocka_unit_test(an_edge_is_news_once_and_a_count_too),
        cmocka_unit_test(the_cheapest_input_of_an_edge_is_favoured),
        cmocka_unit_test(an_empty_queue_has_nothing_to_choose),
        cmocka_unit_test(paths_are_counted_each_once),
        cmocka_unit_test(a_mutation_is_never_too_long),
        cmocka_unit_test(the_same_seed_gives_the_same_mutations),
        cmocka_unit_test(words_of_the_dictionary_are_used),
        cmocka_unit_test(counts_become_bits_and_news),
        cmocka_unit_test(a_run_that_died_has_news_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
