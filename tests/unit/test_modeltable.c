/* The table of models: lines, names, errors. */
#include "base/str.h"
#include "program/models.h"
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
    Err err = {0};
    Models *m = models_new();
    assert_true(models_read_text(m,
                                 "# a remark\n"
                                 "model strlen fgetc=getc   # two\n"
                                 "\n"
                                 "pin lseek 2 3\n"
                                 "pin malloc\n"
                                 "concretise time\n"
                                 "concretise regexec\n"
                                 "ignore puts\n"
                                 "ignore strlen2\n",
                                 "t", &err));
    const Model *one = models_find(m, "fgetc");
    assert_non_null(one);
    assert_int_equal(one->kind, MODEL_OWN);
    assert_string_equal(one->own, "sundew_model_getc");
    assert_string_equal(one->where, "t:2");
    assert_string_equal(models_find(m, "strlen")->own, "sundew_model_strlen");
    assert_int_equal(models_find(m, "lseek")->arguments, 6);
    assert_int_equal(models_find(m, "malloc")->arguments, 0);
    assert_int_equal(models_find(m, "malloc")->kind, MODEL_PIN);
    assert_int_equal(models_find(m, "lseek64")->kind, MODEL_PIN);
    assert_int_equal(models_find(m, "__isoc99_strlen")->kind, MODEL_OWN);
    assert_int_equal(models_find(m, "time")->kind, MODEL_CONCRETISE);
    assert_null(models_find(m, "unknown"));
    assert_int_equal(models_count(m), 8);
    assert_string_equal(model_kind_name(models_at(m, 0)->kind), "model");
    /* a later line wins */
    assert_true(models_read_text(m, "ignore time", "u", &err));
    assert_int_equal(models_find(m, "time")->kind, MODEL_IGNORE);
    models_free(m);
}

static void errors(void **state)
{
    (void)state;
    static const struct { const char *text, *says; } bad[] = {
        { "model strlen\nmodle strcmp\n", "t:2: no kind 'modle'; did you mean 'model'?" },
        { "always 2nd\n", "t:1: not the name of a function" },
        { "model\n", "t:1: a function's name is missing" },
        { "\n\npin lseek two\n", "t:3: not the number of an argument" },
        { "pin lseek 0\n", "t:1: not the number of an argument" },
        { "pin lseek 33\n", "t:1: not the number of an argument" },
        { "model 2nd\n", "t:1: not the name of a function" },
        { "model a=\n", "t:1: not the name of a function" },
        { "ignore a-b\n", "t:1: not the name of a function" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Err err = {0};
        Models *m = models_new();
        assert_false(models_read_text(m, bad[i].text, "t", &err));
        if (!strstr(err.msg, bad[i].says))
            fail_msg("%s", err.msg);
        models_free(m);
    }
}

/* The shipped table can be read, and names each function once. */
static void shipped(void **state)
{
    (void)state;
    Err err = {0};
    Models *m = models_new();
    char *folder = in_tree("share/models");
    if (!models_read_folder(m, folder, &err))
        fail_msg("%s", err.msg);
    free(folder);
    assert_true(models_count(m) > 250);
    assert_int_equal(models_find(m, "memcpy")->kind, MODEL_OWN);
    assert_int_equal(models_find(m, "fgetc")->kind, MODEL_ALWAYS);
    assert_int_equal(models_find(m, "__isoc99_sscanf")->kind, MODEL_OWN);
    models_free(m);
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
