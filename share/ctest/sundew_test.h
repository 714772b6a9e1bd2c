/*
 * sundew_test.h - what generated tests stand on. It belongs to the tests: copy
 * it, keep it, change it; it needs nothing but a C compiler.
 *
 *     TEST(adds_at_the_end)
 *     {
 *         CHECK(list_length(l) == 3);
 *     }
 *     #define TESTS(T) T(adds_at_the_end)
 *     TEST_MAIN(TESTS)
 *
 * By default a program of its own that prints TAP and runs each test in a
 * child process, so that one crash does not hide the others. For another
 * framework define one of
 *
 *     SUNDEW_CMOCKA   SUNDEW_CHECK   SUNDEW_CRITERION   SUNDEW_UNITY
 *
 * and link with it.
 */
#ifndef SUNDEW_TEST_H
#define SUNDEW_TEST_H

#if defined SUNDEW_CMOCKA

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#define TEST(name) static void name(void **sundew_state)
#define CHECK(condition) ((void)sundew_state, assert_true(condition))
#define SUNDEW_ROW_(name) cmocka_unit_test(name),
#define TEST_MAIN(LIST)                                                        \
    int main(void)                                                             \
    {                                                                          \
        const struct CMUnitTest all[] = { LIST(SUNDEW_ROW_) };                 \
        return cmocka_run_group_tests(all, NULL, NULL);                        \
    }

#elif defined SUNDEW_CHECK

#include <check.h>
#include <stdlib.h>
#define TEST(name) START_TEST(name)
#define CHECK(condition) ck_assert(condition)
#define SUNDEW_ROW_(name) tcase_add_test(c, name);
#define TEST_MAIN(LIST)                                                        \
    int main(void)                                                             \
    {                                                                          \
        Suite *s = suite_create("sundew");                                     \
        TCase *c = tcase_create("generated");                                  \
        SRunner *r;                                                            \
        int failed;                                                            \
        LIST(SUNDEW_ROW_)                                                      \
        suite_add_tcase(s, c);                                                 \
        r = srunner_create(s);                                                 \
        srunner_run_all(r, CK_NORMAL);                                         \
        failed = srunner_ntests_failed(r);                                     \
        srunner_free(r);                                                       \
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;                           \
    }

#elif defined SUNDEW_CRITERION

#include <criterion/criterion.h>
#define TEST(name) Test(sundew, name)
#define CHECK(condition) cr_assert(condition)
#define TEST_MAIN(LIST)

#elif defined SUNDEW_UNITY

#include <unity.h>
#define TEST(name) static void name(void)
#define CHECK(condition) TEST_ASSERT(condition)
#define SUNDEW_ROW_(name) RUN_TEST(name);
#define TEST_MAIN(LIST)                                                        \
    void setUp(void) {}                                                        \
    void tearDown(void) {}                                                     \
    int main(void)                                                             \
    {                                                                          \
        UNITY_BEGIN();                                                         \
        LIST(SUNDEW_ROW_)                                                      \
        return UNITY_END();                                                    \
    }

#else

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEST(name) static void name(void)
#define CHECK(condition)                                                       \
    ((condition) ? (void)0                                                     \
                 : (printf("# %s:%d: %s\n", __FILE__, __LINE__, #condition),   \
                    fflush(stdout), _exit(1)))
#define SUNDEW_ROW_(name) { #name, name },

static int sundew_run_one(int n, const char *name, void (*test)(void))
{
    int status = 0;
    pid_t child;
    fflush(stdout);
    child = fork();
    if (child == 0) {
        test();
        fflush(stdout);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0) {
        perror("fork");
        return 1;
    }
    if (WIFSIGNALED(status))
        printf("# died with signal %d\n", WTERMSIG(status));
    printf("%sok %d - %s\n", status ? "not " : "", n, name);
    return status != 0;
}

#define TEST_MAIN(LIST)                                                        \
    int main(void)                                                             \
    {                                                                          \
        static const struct {                                                  \
            const char *name;                                                  \
            void (*run)(void);                                                 \
        } all[] = { LIST(SUNDEW_ROW_) };                                       \
        int i, failed = 0, count = (int)(sizeof all / sizeof *all);            \
        printf("1..%d\n", count);                                              \
        for (i = 0; i < count; i++)                                            \
            failed += sundew_run_one(i + 1, all[i].name, all[i].run);          \
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;                           \
    }

#endif
#endif
