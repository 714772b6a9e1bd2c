/* finding/ctest: generated tests compile and run, in every framework that is
 * installed, whatever their names and purposes contain. */
#include "base/file.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include "finding/ctest.h"
#include "skip.h"
#include "tree.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

static const CTestCase good[] = {
    { "adds up", "From the run `calc 1 2`: covers the branch at calc.c:3.",
      "int x = 1 + 2;\nCHECK(x == 3);\n" },
    { "adds up", "The same name once more.", "CHECK(1);\n" },
    { "*/ int evil; /*", "*/ system(\"x\"); /* \\\n", "CHECK(sizeof(int) >= 2);\n" },
    { "../../etc/passwd", "?\?/\n", "CHECK(!0);\n" },
    { "int", NULL, "CHECK(2 > 1);\n" },
};
static const CTestCase bad[] = {
    { "fine", NULL, "CHECK(1);\n" },
    { "wrong", NULL, "int one = 1;\nCHECK(one == 2);\n" },
    { "crashes", NULL, "abort();\n" },
    { "fine_again", NULL, "CHECK(1);\n" },
};

static int sh(const char *folder, const char *command, Str *out)
{
    char *argv[] = { "sh", "-c", (char *)command, NULL };
    Proc p = { .argv = argv, .cwd = folder, .capture = true, .seconds = 120 };
    ProcResult r = { 0 };
    assert_true(proc_run(&p, &r, NULL));
    if (out)
        str_addn(out, r.out.data, r.out.len);
    if (r.status && !out)
        print_message("%s%s", str_c(&r.out), str_c(&r.err));
    proc_result_release(&r);
    return r.status;
}

static const char *write_tests(const CTestCase *cases, size_t n)
{
    CTestFile files[] = {
        { .name = "calc", .includes = "#include <stdlib.h>\n", .tests = cases, .ntests = n },
        { .name = "a/../b c", .tests = good, .ntests = 1 },
    };
    char *cflags[] = { "-Wall", "-Wextra", "-Werror", NULL }, *libraries[] = { "-lm", NULL };
    CTestProject p = { .cflags = cflags, .libraries = libraries };
    Err err = { 0 };
    char *sh_dir = in_tree("share");
    const char *dir = tempdir_new(NULL, &err);
    if (!ctest_write(dir, sh_dir, files, 2, &p, &err))
        fail_msg("%s", err.msg);
    free(sh_dir);
    return dir;
}

static void they_pass_as_plain_programs(void **state)
{
    (void)state;
    const char *dir = write_tests(good, 5);
    Str out = { 0 };
    assert_int_equal(sh(dir, "make -s CC='gcc -std=c11 -D_GNU_SOURCE' check", &out), 0);
    assert_non_null(strstr(str_c(&out), "1..5"));
    assert_non_null(strstr(str_c(&out), "ok 1 - adds_up\n"));
    assert_non_null(strstr(str_c(&out), "ok 2 - adds_up_2\n"));
    assert_non_null(strstr(str_c(&out), "ok 5 - int_\n"));
    assert_null(strstr(str_c(&out), "not ok"));
    str_release(&out);
    assert_int_equal(sh(dir, "make -s clean && make -s CC=clang-19 check", NULL), 0);
    tempdir_remove(dir);
}

static void a_failure_and_a_crash_are_told_and_hide_nothing(void **state)
{
    (void)state;
    const char *dir = write_tests(bad, 4);
    Str out = { 0 };
    assert_int_not_equal(sh(dir, "make -s check", &out), 0);
    assert_non_null(strstr(str_c(&out), "\nok 1 - fine\n"));
    assert_non_null(strstr(str_c(&out), "test_calc.c:"));
    assert_non_null(strstr(str_c(&out), "one == 2\nnot ok 2 - wrong\n"));
    assert_non_null(strstr(str_c(&out), "# died with signal 6\nnot ok 3 - crashes"));
    assert_non_null(strstr(str_c(&out), "\nok 4 - fine_again\n"));
    str_release(&out);
    tempdir_remove(dir);
}

static void results_are_there_as_junit_has_them(void **state)
{
    (void)state;
    const char *dir = write_tests(bad, 4);
    Str out = { 0 };
    assert_int_not_equal(sh(dir,
                            "mkdir j && SUNDEW_JUNIT=$PWD/j make -s check "
                            "CFLAGS=-DSUNDEW_TEST_LEAKS >/dev/null",
                            NULL),
                         0);
    assert_int_equal(
        sh(dir,
           "python3 -c '\n"
           "import sys, xml.etree.ElementTree as e\n"
           "s = e.parse(\"j/test_calc.c.xml\").getroot()\n"
           "print(s.get(\"tests\"), [(c.get(\"name\"), [f.get(\"message\") for f in c]) for c in s])\n"
           "'",
           &out),
        0);
    assert_non_null(strstr(str_c(&out), "4 [('fine', []), ('wrong', ['a check failed']), "
                                        "('crashes"));
    assert_non_null(strstr(str_c(&out), "['died with signal 6']), ('fine_again', [])]"));
    str_release(&out);
    tempdir_remove(dir);
}

static void they_build_with_cmake_and_meson(void **state)
{
    (void)state;
    const char *dir = write_tests(good, 5);
    assert_int_equal(sh(dir,
                        "cmake -S . -B c >/dev/null && cmake --build c >/dev/null && "
                        "cd c && ctest >out && grep -q '100% tests passed' out",
                        NULL),
                     0);
    assert_int_equal(sh(dir, "meson setup m >/dev/null && ninja -C m test >/dev/null", NULL), 0);
    tempdir_remove(dir);
}

/* Good tests pass in a framework, bad ones fail. */
static void framework_runs_them(const char *build)
{
    const char *dir = write_tests(good, 5);
    if (sh(dir, build, NULL) != 0)
        fail_msg("%s", build);
    tempdir_remove(dir);
    dir = write_tests(bad, 4);
    Str out = { 0 };
    assert_int_not_equal(sh(dir, build, &out), 0);
    str_release(&out);
    tempdir_remove(dir);
}

/* Those of the frameworks that Debian packages; Unity is not among them. */
static void other_frameworks_run_them(void **state)
{
    (void)state;
    framework_runs_them("gcc -DSUNDEW_CMOCKA test_calc.c -o t -lcmocka && ./t");
    framework_runs_them(
        "gcc -DSUNDEW_CHECK test_calc.c -o t $(pkg-config --cflags --libs check) && ./t");
}

static void criterion_runs_them(void **state)
{
    (void)state;
    if (access("/dev/shm", W_OK) != 0)
        SKIP("Criterion needs shared memory (/dev/shm)");
    framework_runs_them("gcc -DSUNDEW_CRITERION test_calc.c -o t -lcriterion && ./t");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_pass_as_plain_programs),
        cmocka_unit_test(a_failure_and_a_crash_are_told_and_hide_nothing),
        cmocka_unit_test(results_are_there_as_junit_has_them),
        cmocka_unit_test(they_build_with_cmake_and_meson),
        cmocka_unit_test(other_frameworks_run_them),
        cmocka_unit_test(criterion_runs_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
