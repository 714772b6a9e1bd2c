/* The runtime's sets of tags, with tables written by hand. */
#include "runtime/tags/tags.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMS = 64 };
static SundewTagParam params[PARAMS];
static const SundewTagSite sites[] = { { "f.c", "f", 7 } };
static const SundewTagFunction functions[] = { { "f", 0, 0 } };
static uint8_t on[PARAMS];
const SundewTagTables sundew_tag_tables = { params, sites, functions, on, NULL, NULL, PARAMS, 1 };

static int begin(void **state)
{
    (void)state;
    for (int i = 0; i < PARAMS; i++) {
        params[i] = (SundewTagParam){ "f", "p", 0, 0 };
        on[i] = 15;
    }
    sundew_tags_start();
    return 0;
}

static void a_set_exists_once(void **state)
{
    (void)state;
    uint32_t slot = sundew_tags_enter(0);
    uint32_t a = sundew_tags_formal(0, slot, 1, 0), b = sundew_tags_formal(0, slot, 2, 0);
    assert_int_not_equal(a, b);
    assert_int_equal(a, sundew_tags_formal(0, slot, 1, 0));
    assert_int_equal(sundew_tags_join(a, b), sundew_tags_join(b, a));
    assert_int_equal(sundew_tags_size(sundew_tags_join(a, b)), 2);
    assert_int_equal(sundew_tags_join(a, a), a);
    assert_int_equal(sundew_tags_join(0, a), a);
    assert_int_equal(sundew_tags_join(sundew_tags_join(a, b), b), sundew_tags_join(a, b));
    sundew_tags_leave(slot);
}

static void recursion_keeps_the_outermost(void **state)
{
    (void)state;
    uint32_t outer = sundew_tags_enter(0), set = sundew_tags_formal(0, outer, 1, 0);
    uint32_t inner = sundew_tags_enter(0);
    assert_int_equal(sundew_tags_formal(set, inner, 1, 0), set);
    uint32_t own = sundew_tags_formal(0, inner, 1, 0);
    assert_int_not_equal(own, set);
    assert_int_equal(sundew_tags_join(own, set), set);
    sundew_tags_leave(inner);
    sundew_tags_leave(outer);
}

static void a_level_further(void **state)
{
    (void)state;
    uint32_t slot = sundew_tags_enter(0), set = sundew_tags_formal(0, slot, 3, 0);
    assert_true(sundew_tags_has(set, 3, 0));
    uint32_t further = sundew_tags_deeper(set);
    assert_true(sundew_tags_has(further, 3, 1) && !sundew_tags_has(further, 3, 0));
    for (int i = 0; i < 5; i++)
        further = sundew_tags_deeper(further);
    assert_true(sundew_tags_has(further, 3, 3));
    assert_int_equal(sundew_tags_size(further), 1);
    assert_int_equal(sundew_tags_deeper(further), further);
    sundew_tags_leave(slot);
}

static void what_is_stored_dies_with_its_frame(void **state)
{
    (void)state;
    void *place = NULL, *at = &place;
    uint32_t outer = sundew_tags_enter(0), kept = sundew_tags_formal(0, outer, 1, 0);
    uint32_t inner = sundew_tags_enter(0);
    uint32_t both = sundew_tags_formal(kept, inner, 2, 0);
    place = at;
    sundew_tags_store(at, (uintptr_t)place, both);
    assert_int_equal(sundew_tags_load(at, 0, (uintptr_t)place), both);
    sundew_tags_leave(inner);
    assert_int_equal(sundew_tags_load(at, 0, (uintptr_t)place), kept);
    inner = sundew_tags_enter(0);                 /* the same slot, later */
    assert_int_equal(sundew_tags_formal(kept, inner, 2, 0), both);
    assert_int_equal(sundew_tags_load(at, 0, (uintptr_t)place), kept);
    sundew_tags_leave(inner);
    sundew_tags_leave(outer);
    outer = sundew_tags_enter(0);
    assert_int_equal(sundew_tags_load(at, 0, (uintptr_t)place), 0);
    sundew_tags_leave(outer);
}

static void another_value_has_no_tags(void **state)
{
    (void)state;
    long place = 1234567;
    uint32_t slot = sundew_tags_enter(0), set = sundew_tags_formal(0, slot, 1, 0);
    sundew_tags_store(&place, 1234567, set);
    assert_int_equal(sundew_tags_load(&place, 0, 1234567), set);
    assert_int_equal(sundew_tags_load(&place, 0, 7654321), 0);
    sundew_tags_store(&place, 1234567, 0);
    assert_int_equal(sundew_tags_load(&place, 0, 1234567), 0);
    sundew_tags_leave(slot);
}

static void copies_carry_sets(void **state)
{
    (void)state;
    uint64_t from[8], to[8];
    uint32_t slot = sundew_tags_enter(0), set = sundew_tags_formal(0, slot, 1, 0);
    uint32_t other = sundew_tags_formal(0, slot, 2, 0);
    for (int i = 0; i < 8; i++)
        from[i] = (uintptr_t)&from[i];
    sundew_tags_store(&from[3], from[3], set);
    memcpy(to, from, sizeof to);
    sundew_tags_move(to, from, sizeof to, 0);
    assert_int_equal(sundew_tags_load(&to[3], 0, to[3]), set);
    assert_int_equal(sundew_tags_load(&to[2], 0, to[2]), 0);
    sundew_tags_move(to, from, sizeof to, other);
    assert_true(sundew_tags_has(sundew_tags_load(&to[2], 0, to[2]), 2, 1));
    assert_int_equal(sundew_tags_size(sundew_tags_load(&to[3], 0, to[3])), 2);
    memmove(from + 1, from, 7 * sizeof *from);
    sundew_tags_move(from + 1, from, 7 * sizeof *from, 0);
    assert_int_equal(sundew_tags_load(&from[4], 0, from[4]), set);
    sundew_tags_leave(slot);
}

static void too_much_is_dropped(void **state)
{
    (void)state;
    uint32_t slot = sundew_tags_enter(0), set = 0;
    for (uint32_t i = 0; i < PARAMS; i++)
        set = sundew_tags_formal(set, slot, i, 0);
    assert_int_equal(sundew_tags_size(set), TAGS_MOST);
    sundew_tags_leave(slot);
    uint32_t slots[5] = { 0 }, deepest = 0, n = 0;
    for (uint32_t i = 0; i < TAGS_DEPTH + 100; i++) {
        uint32_t s = sundew_tags_enter(0);
        if (i < 5)
            slots[i] = s;
        if (s)
            deepest = s, n++;
    }
    assert_true(n >= TAGS_DEPTH - 2 && n <= TAGS_DEPTH);
    assert_int_equal(sundew_tags_formal(0, 0, 1, 0), 0);
    assert_true(deepest > slots[0]);
    sundew_tags_leave(slots[0]);
}

static void arguments_are_for_one_callee(void **state)
{
    (void)state;
    sundew_tags_pass(0, 5);
    sundew_tags_call(77);
    assert_int_equal(sundew_tags_called(78, 0), 0);
    sundew_tags_call(77);
    assert_int_equal(sundew_tags_arg(sundew_tags_called(77, 0), 0), 5);
    assert_int_equal(sundew_tags_called(77, 0), 0);       /* only once */
    sundew_tags_call(0x400000);
    assert_int_equal(sundew_tags_called(77, 0x400000), 1);
}

static void what_was_told_is_settled(void **state)
{
    (void)state;
    uint32_t slot = sundew_tags_enter(0), set = sundew_tags_formal(0, slot, 9, 0);
    sundew_tags_write(sundew_tags_deeper(set), 0);
    assert_int_equal(on[9], TAGS_USED | 1);
    sundew_tags_write(set, 0);
    assert_int_equal(on[9], TAGS_USED);
    assert_int_equal(sundew_tags_formal(0, slot, 9, 0), 0);
    sundew_tags_leave(slot);
}

static void *in_thread(void *arg)
{
    uint32_t slot = sundew_tags_enter(0);
    void **place = arg;
    uint32_t seen = sundew_tags_load(place, 0, (uintptr_t)*place);
    sundew_tags_leave(slot);
    return (void *)(uintptr_t)seen;
}

static void tags_are_of_one_thread(void **state)
{
    (void)state;
    void *place = &place, *seen;
    pthread_t t;
    uint32_t slot = sundew_tags_enter(0), set = sundew_tags_formal(0, slot, 1, 0);
    sundew_tags_store(&place, (uintptr_t)place, set);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(pthread_create(&t, NULL, in_thread, &place), 0);
        pthread_join(t, &seen);
        assert_null(seen);
    }
    assert_int_equal(sundew_tags_load(&place, 0, (uintptr_t)place), set);
    sundew_tags_leave(slot);
}

static void a_jump_pops_frames(void **state)
{
    (void)state;
    void *place = &place;
    uint32_t slot = sundew_tags_enter(0), below = sundew_tags_enter(0);
    uint32_t set = sundew_tags_formal(0, below, 1, 0);
    sundew_tags_store(&place, (uintptr_t)place, set);
    sundew_tags_landed(slot);
    assert_int_equal(sundew_tags_load(&place, 0, (uintptr_t)place), 0);
    assert_int_equal(sundew_tags_enter(0), below);
    assert_int_equal(sundew_tags_load(&place, 0, (uintptr_t)place), 0);
    sundew_tags_leave(below);
    sundew_tags_leave(slot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_set_exists_once, begin),
        cmocka_unit_test_setup(recursion_keeps_the_outermost, begin),
        cmocka_unit_test_setup(a_level_further, begin),
        cmocka_unit_test_setup(what_is_stored_dies_with_its_frame, begin),
        cmocka_unit_test_setup(another_value_has_no_tags, begin),
        cmocka_unit_test_setup(copies_carry_sets, begin),
        cmocka_unit_test_setup(too_much_is_dropped, begin),
        cmocka_unit_test_setup(arguments_are_for_one_callee, begin),
        cmocka_unit_test_setup(what_was_told_is_settled, begin),
        cmocka_unit_test_setup(tags_are_of_one_thread, begin),
        cmocka_unit_test_setup(a_jump_pops_frames, begin),
    };
    return cmocka_run_group_tests_name("tags", tests, NULL, NULL);
}
