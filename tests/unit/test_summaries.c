/* Reading summary lines, and the shipped files. */
#include "tree.h"
#include "base/file.h"
#include "analysis/pointsto/summaries.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

static void a_line_says_what_a_function_does(void **state)
{
    (void)state;
    Summaries *all = summaries_new();
    Err err = { 0 };
    assert_true(
        summaries_read_text(all,
                            "# a remark\n\n"
                            "getl line:rw n:w f ...:r -> new ; *line=new *ret=*f -1 errno  # more\n"
                            "sortl base:rw n cmp:c ; call cmp(base+?, *base)=@last noreturn twice\n"
                            "alias other getl\nvar thing -> static\n",
                            "x.txt", &err));
    const Summary *s = summaries_find(all, "getl");
    assert_non_null(s);
    assert_int_equal(s->nparams, 3);
    assert_int_equal(s->params[0].use, SUMMARY_READ | SUMMARY_WRITE);
    assert_int_equal(s->params[2].use, 0);
    assert_true(s->variadic && s->rest == SUMMARY_READ);
    assert_true(summary_allocates(s));
    assert_int_equal(summary_reallocates(s), 2);
    assert_int_equal(s->nassigns, 2);
    assert_int_equal(s->assigns[0].to.stars, 1);
    assert_int_equal(s->assigns[0].from.kind, SUMMARY_NEW);
    assert_int_equal(s->fails, SUMMARY_FAILS_MINUS_ONE | SUMMARY_FAILS_ERRNO);
    assert_string_equal(s->where, "x.txt:3");
    assert_false(s->noreturn);
    assert_ptr_equal(summaries_find(all, "other"), s);
    s = summaries_find(all, "sortl");
    assert_int_equal(s->ncallbacks, 1);
    assert_int_equal(s->callbacks[0].fn.param, 2);
    assert_int_equal(s->callbacks[0].nargs, 2);
    assert_true(s->callbacks[0].args[0].anywhere);
    assert_int_equal(s->callbacks[0].args[1].stars, 1);
    assert_int_equal(s->callbacks[0].result.kind, SUMMARY_STATE);
    assert_true(s->noreturn && s->twice && !summary_allocates(s));
    assert_int_equal(summaries_variable(all, "thing")->ret.kind, SUMMARY_STATIC);
    assert_null(summaries_variable(all, "getl"));
    assert_null(summaries_find(all, "nothing"));
    summaries_free(all);
}

static void a_bad_line_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        { "f a:q", "t:1: unknown use of a parameter: 'q'" },
        { "\nf a:", "t:2: letters are missing after ':'" },
        { "f a a", "t:1: two parameters of one name: 'a'" },
        { "f ... a", "t:1: nothing may follow '...'" },
        { "f a -> b", "t:1: no such parameter or word: 'b'" },
        { "f a ->", "t:1: nothing follows '->'" },
        { "f a -> a a", "t:1: after the result only ';' may follow: 'a'" },
        { "f a ; a=new", "t:1: can't be assigned to: 'a'" },
        { "f a ; whatever", "t:1: unknown effect: 'whatever'" },
        { "f a ; call", "t:1: nothing follows 'call'" },
        { "f a ; call a", "t:1: call needs f(…): 'a'" },
        { "f a ; call a(b)", "t:1: no such parameter or word: 'b'" },
        { "f a ; ****a=new", "t:1: too many stars in '****a'" },
        { "1f", "t:1: not the name of a function: '1f'" },
        { "alias x", "t:1: alias needs two names" },
        { "alias x y", "t:1: alias of an unknown function: 'y'" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Summaries *all = summaries_new();
        Err err = { 0 };
        assert_false(summaries_read_text(all, rows[i].text, "t", &err));
        assert_string_equal(err.msg, rows[i].message);
        summaries_free(all);
    }
}

static void a_later_line_wins(void **state)
{
    (void)state;
    Summaries *all = summaries_new();
    Err err = { 0 };
    assert_true(summaries_read_text(all, "f a:r", "one", &err));
    uint64_t hash = summaries_hash(all);
    assert_true(summaries_read_text(all, "f a:w", "two", &err));
    assert_int_equal(summaries_find(all, "f")->params[0].use, SUMMARY_WRITE);
    assert_int_equal(summaries_count(all), 1);
    assert_true(hash != summaries_hash(all));
    summaries_free(all);
}

static void the_shipped_ones_cover_the_c_library(void **state)
{
    (void)state;
    Summaries *all = summaries_new();
    Err err = { 0 };
    char *shipped = in_tree("share/summaries");
    bool ok = summaries_read_folder(all, shipped, &err);
    free(shipped);
    if (!ok)
        fail_msg("%s", err.msg);
    assert_true(summaries_count(all) >= 600);
    static const char *const names[] = {
        "malloc",          "__isoc99_sscanf",
        "__memcpy_chk",    "__snprintf_chk",
        "open64",          "__xstat",
        "__xstat64",       "pthread_create",
        "qsort",           "__fprintf_chk",
        "__vsnprintf_chk", "fopen64",
        "__isoc23_strtol", "sinf",
        "getaddrinfo",     "__explicit_bzero_chk",
        "readdir64",       "_setjmp",
        "sigaction",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!summaries_find(all, names[i]))
            fail_msg("%s has no summary", names[i]);
    assert_true(summary_allocates(summaries_find(all, "strdup")));
    assert_false(summary_allocates(summaries_find(all, "strchr")));
    assert_int_equal(summary_reallocates(summaries_find(all, "realloc")), 0);
    assert_int_equal(summary_reallocates(summaries_find(all, "malloc")), -1);
    assert_true(summaries_find(all, "exit")->noreturn);
    assert_false(summaries_find(all, "atexit")->noreturn);
    /* the checked twin of strcpy has its size last, that of sprintf in the middle */
    assert_int_equal(summaries_find(all, "__sprintf_chk")->nparams, 4);
    summaries_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_says_what_a_function_does),
        cmocka_unit_test(a_bad_line_is_named),
        cmocka_unit_test(a_later_line_wins),
        cmocka_unit_test(the_shipped_ones_cover_the_c_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
