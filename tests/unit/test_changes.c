/* program/changes.h: which functions differ between two programs, and their constants. */
#include "compile.h"
#include "program/changes.h"
#include <string.h>

static const char old[] = "static int limit(int n) { return n > 40; }\n"
                          "int same(int n) { return n + 1; }\n"
                          "int caller(int n) { return limit(n) + 2; }\n"
                          "int far(int n) { return caller(n); }\n"
                          "static const int table[] = { 1, 2, 3 };\n"
                          "int look(int n) { return table[n & 1]; }\n"
                          "int main(void) { return far(1) + same(2) + look(0); }\n";
static const char now[] = "/* moved down by a line */\n"
                          "static int limit(int n) { return n > 41 || n == 7777; }\n"
                          "int same(int value) { return value + 1; }\n"
                          "int caller(int n) { return limit(n) + 2; }\n"
                          "int far(int n) { return caller(n); }\n"
                          "static const int table[] = { 1, 2, 4 };\n"
                          "int look(int n) { return table[n & 1]; }\n"
                          "int main(void) { return far(1) + same(2) + look(0); }\n";

static unsigned distance(const Program *p, const Changes *c, const char *name)
{
    const Function *f = program_function(p, name);
    assert_non_null(f);
    return c->distance[f->index];
}

static bool has_number(const Constants *c, int64_t n)
{
    for (size_t i = 0; i < c->nintegers; i++)
        if (c->integers[i] == n)
            return true;
    return false;
}

static void functions_that_changed_and_their_callers(void **state)
{
    (void)state;
    Err err = { 0 };
    Changes c = { 0 };
    Compiled a = compiled(old), b = compiled(now);
    Program *before = compiled_open(&a), *after = compiled_open(&b);
    assert_true(program_changes(before, after, &c, &err));
    assert_int_equal(distance(after, &c, "limit"), 0);
    assert_int_equal(distance(after, &c, "caller"), 1);
    assert_int_equal(distance(after, &c, "far"), 2);
    assert_int_equal(distance(after, &c, "look"), 0);            /* other data */
    assert_int_equal(distance(after, &c, "same"), CHANGES_FAR);  /* only a name is another */
    assert_int_equal(c.nchanged, 2);
    assert_true(c.was_changed[program_function(before, "limit")->index]);
    assert_false(c.was_changed[program_function(before, "same")->index]);
    assert_true(has_number(&c.constants, 41) && has_number(&c.constants, 40));
    assert_true(has_number(&c.constants, 7777));
    changes_release(&c);
    compiled_end(&a);
    compiled_end(&b);
}

static void a_program_does_not_differ_from_itself(void **state)
{
    (void)state;
    Err err = { 0 };
    Changes c = { 0 };
    Compiled a = compiled(old), b = compiled(old);
    assert_true(program_changes(compiled_open(&a), compiled_open(&b), &c, &err));
    assert_int_equal(c.nchanged, 0);
    changes_release(&c);
    compiled_end(&a);
    compiled_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_that_changed_and_their_callers),
        cmocka_unit_test(a_program_does_not_differ_from_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
