/* When has a test failed as the program did? */
#include "technique/reproduce/trial.h"
#include "compile.h"
#include <signal.h>
#include <string.h>

static Ending ending(FailureKind kind, int sig, uint64_t address)
{
    return (
        Ending){ .kind = kind, .signal = sig, .has_address = sig == SIGSEGV, .address = address };
}

static void at(Ending *e, const char *function, unsigned line)
{
    Place p = { .function = function, .file = "a.c", .line = line };
    vec_push(&e->stack, p);
}

static void the_site_is_the_innermost_function(void **state)
{
    (void)state;
    Ending crash = ending(FAILURE_SIGNAL, SIGSEGV, 0), test = crash, other = crash;
    at(&crash, "get", 5);
    at(&crash, "sum", 20);
    at(&test, "get", 6);                        /* lines of one statement differ */
    at(&other, "put", 5);
    at(&other, "sum", 30);
    assert_true(ending_same(&crash, &test, SAME_SITE));
    assert_false(ending_same(&crash, &other, SAME_SITE));
    assert_true(ending_same(&crash, &other, SAME_KIND));
    ending_release(&crash);
    ending_release(&test);
    ending_release(&other);
}

static void an_inlined_function_is_its_callers(void **state)
{
    (void)state;
    Ending crash = ending(FAILURE_SIGNAL, SIGSEGV, 8), test = crash, other = crash;
    at(&crash, "sum", 20);
    at(&crash, "main", 40);
    at(&test, "get", 5);
    at(&test, "sum", 20);
    at(&other, "get", 5);
    at(&other, "sum", 22);                      /* another call */
    assert_true(ending_same(&crash, &test, SAME_SITE));
    assert_true(ending_same(&test, &crash, SAME_SITE));
    assert_false(ending_same(&crash, &other, SAME_SITE));
    assert_false(ending_same(&crash, &test, SAME_STACK));
    ending_release(&crash);
    ending_release(&test);
    ending_release(&other);
}

static void a_null_pointer_is_no_wild_one(void **state)
{
    (void)state;
    Ending crash = ending(FAILURE_SIGNAL, SIGSEGV, 0), test = crash;
    at(&crash, "get", 5);
    at(&test, "get", 5);
    test.address = 0x414141414141;
    assert_false(ending_same(&crash, &test, SAME_SITE));
    test.address = 16;
    assert_true(ending_same(&crash, &test, SAME_SITE));
    ending_release(&crash);
    ending_release(&test);
}

/* Such an access has no address, and its signal depends on the register. */
static void an_address_outside_of_all_is_a_wild_one(void **state)
{
    (void)state;
    Ending crash = ending(FAILURE_SIGNAL, SIGBUS, 0), test = ending(FAILURE_SIGNAL, SIGSEGV, 0);
    crash.nowhere = true;
    at(&crash, "get", 5);
    at(&test, "get", 5);
    assert_false(ending_same(&crash, &test, SAME_SITE));   /* null */
    test.address = 0x414141414141;
    assert_true(ending_same(&crash, &test, SAME_SITE));
    test.has_address = false;
    test.nowhere = true;
    assert_true(ending_same(&crash, &test, SAME_SITE));
    test.signal = SIGFPE;
    assert_false(ending_same(&crash, &test, SAME_SITE));
    ending_release(&crash);
    ending_release(&test);
}

static void reports_are_told_apart_by_name(void **state)
{
    (void)state;
    Ending crash = ending(FAILURE_SANITIZER, 0, 0), test = crash;
    at(&crash, "get", 5);
    at(&test, "get", 5);
    strcpy(crash.text, "heap-use-after-free");
    strcpy(test.text, "heap-buffer-overflow");
    assert_false(ending_same(&crash, &test, SAME_SITE));
    strcpy(test.text, "heap-use-after-free");
    assert_true(ending_same(&crash, &test, SAME_SITE));
    ending_release(&crash);
    ending_release(&test);
}

static void where_a_broken_heap_is_found_is_chance(void **state)
{
    (void)state;
    Ending crash = { .kind = FAILURE_ABORT, .heap = true };
    Ending test = { .kind = FAILURE_ABORT, .heap = true };
    at(&crash, "release", 4);
    at(&test, "append", 9);
    at(&crash, "main", 20);
    at(&test, "main", 20);
    assert_true(ending_same(&crash, &test, SAME_SITE));
    assert_false(ending_same(&crash, &test, SAME_STACK));
    test.heap = false;                       /* abort() of its own */
    assert_false(ending_same(&crash, &test, SAME_SITE));
    ending_release(&crash);
    ending_release(&test);
}

static void a_stack_overflow_is_known_by_its_recursion(void **state)
{
    (void)state;
    Ending crash = ending(FAILURE_STACK_OVERFLOW, SIGSEGV, 0), test = crash, other = crash;
    at(&crash, "hash", 1);
    at(&test, "lookup", 1);
    at(&other, "lookup", 1);
    for (unsigned i = 0; i < 10; i++) {
        at(&crash, "walk", 9);
        at(&test, "walk", 9);
        at(&other, "climb", 9);
    }
    assert_true(ending_same(&crash, &test, SAME_SITE));
    assert_false(ending_same(&crash, &other, SAME_SITE));
    ending_release(&crash);
    ending_release(&test);
    ending_release(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_site_is_the_innermost_function),
        cmocka_unit_test(an_inlined_function_is_its_callers),
        cmocka_unit_test(a_null_pointer_is_no_wild_one),
        cmocka_unit_test(an_address_outside_of_all_is_a_wild_one),
        cmocka_unit_test(reports_are_told_apart_by_name),
        cmocka_unit_test(where_a_broken_heap_is_found_is_chance),
        cmocka_unit_test(a_stack_overflow_is_known_by_its_recursion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
