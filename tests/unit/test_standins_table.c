/* The table of standins: lines, names, errors. */
#include "base/str.h"
#include "analysis/symbolic/standins.h"
#include "tree.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void lines(void **state)
{
    (void)state;
    Err err = { 0 };
    Standins *m = standins_new();
    assert_true(standins_read_text(m,
                                   "# a remark\n"
                                   "own strlen fgetc=getc   # two\n"
                                   "\n"
                                   "pin lseek 2 3\n"
                                   "pin malloc\n"
                                   "concretise time\n"
                                   "concretise regexec\n"
                                   "ignore puts\n"
                                   "ignore strlen2\n",
                                   "t", &err));
    const Standin *one = standins_find(m, "fgetc");
    assert_non_null(one);
    assert_int_equal(one->kind, STANDIN_OWN);
    assert_string_equal(one->own, "sundew_standin_getc");
    assert_string_equal(one->where, "t:2");
    assert_string_equal(standins_find(m, "strlen")->own, "sundew_standin_strlen");
    assert_int_equal(standins_find(m, "lseek")->arguments, 6);
    assert_int_equal(standins_find(m, "malloc")->arguments, 0);
    assert_int_equal(standins_find(m, "malloc")->kind, STANDIN_PIN);
    assert_int_equal(standins_find(m, "lseek64")->kind, STANDIN_PIN);
    assert_int_equal(standins_find(m, "__isoc99_strlen")->kind, STANDIN_OWN);
    assert_int_equal(standins_find(m, "time")->kind, STANDIN_CONCRETISE);
    assert_null(standins_find(m, "unknown"));
    assert_int_equal(standins_count(m), 8);
    assert_string_equal(standin_kind_name(standins_at(m, 0)->kind), "own");
    /* a later line wins */
    assert_true(standins_read_text(m, "ignore time", "u", &err));
    assert_int_equal(standins_find(m, "time")->kind, STANDIN_IGNORE);
    standins_free(m);
}

static void errors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "own strlen\nonw strcmp\n", "t:2: no kind 'onw'; did you mean 'own'?" },
        { "always 2nd\n", "t:1: not the name of a function" },
        { "own\n", "t:1: a function's name is missing" },
        { "\n\npin lseek two\n", "t:3: not the number of an argument" },
        { "pin lseek 0\n", "t:1: not the number of an argument" },
        { "pin lseek 33\n", "t:1: not the number of an argument" },
        { "own 2nd\n", "t:1: not the name of a function" },
        { "own a=\n", "t:1: not the name of a function" },
        { "ignore a-b\n", "t:1: not the name of a function" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Err err = { 0 };
        Standins *m = standins_new();
        assert_false(standins_read_text(m, bad[i].text, "t", &err));
        if (!strstr(err.msg, bad[i].says))
            fail_msg("%s", err.msg);
        standins_free(m);
    }
}

/* The shipped table can be read, and names each function once. */
static void shipped(void **state)
{
    (void)state;
    Err err = { 0 };
    Standins *m = standins_new();
    char *folder = in_tree("share/standins");
    if (!standins_read_folder(m, folder, &err))
        fail_msg("%s", err.msg);
    free(folder);
    assert_true(standins_count(m) > 250);
    assert_int_equal(standins_find(m, "memcpy")->kind, STANDIN_OWN);
    assert_int_equal(standins_find(m, "fgetc")->kind, STANDIN_ALWAYS);
    assert_int_equal(standins_find(m, "__isoc99_sscanf")->kind, STANDIN_OWN);
    standins_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),
        cmocka_unit_test(errors),
        cmocka_unit_test(shipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
