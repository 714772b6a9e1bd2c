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
 * child process, so that one crash does not hide the others. With
 * SUNDEW_JUNIT=FOLDER in the environment it leaves FOLDER/FILE.xml there, too, in
 * the format of JUnit. For another framework define one of
 *
 *     SUNDEW_CMOCKA   SUNDEW_CHECK   SUNDEW_CRITERION   SUNDEW_UNITY
 *
 * and link with it.
 *
 * Checks of values, each on one line and with what is expected last:
 *
 *     CHECK_INT(list_length(l), 3);        also CHECK_UINT, CHECK_FLOAT
 *     CHECK_STR(list_name(l), "abc");      CHECK_BYTES(buffer, "ab\000", 3);
 *     CHECK_NULL(p);                       CHECK_NOT_NULL(p);
 *     CHECK_SIGN(strcmp(a, b), -1);        less: -1, equal: 0, more: 1
 *
 * GIVE_FILE("a.txt", "text\n", 5) puts a file into the current folder, which belongs to
 * the test alone.
 *
 * With SUNDEW_ACCEPT in the environment a check that fails says what would be
 * right, and the test goes on. With SUNDEW_LEAKS=1 (and GLIBC_TUNABLES=glibc.malloc.tcache_count=0,
 * so that the C library counts what is in use) a test that passes runs twice more, and fails if
 * each time leaves memory behind.
 */
#ifndef SUNDEW_TEST_H
#define SUNDEW_TEST_H
#include <stdio.h>
#include <string.h>

#define GIVE_FILE(name, bytes, n)                                              \
    do {                                                                       \
        FILE *sundew_file_ = fopen(name, "wb");                                \
        CHECK(sundew_file_ != NULL && fwrite(bytes, 1, n, sundew_file_) == (n)); \
        CHECK(fclose(sundew_file_) == 0);                                      \
    } while (0)

static inline int sundew_sign_(long long x)
{
    return (x > 0) - (x < 0);
}

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

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#define TEST(name) static void name(void)
#define CHECK(condition)                                                       \
    ((condition) ? (void)0                                                     \
                 : (fprintf(SUNDEW_OUT_, "# %s:%d: %s\n", __FILE__, __LINE__,  \
                            #condition),                                       \
                    fflush(SUNDEW_OUT_), SUNDEW_LEAVE_(1)))
#define SUNDEW_ROW_(name) { #name, name },

#ifdef __GNUC__
#define SUNDEW_UNUSED_ __attribute__((unused))
#else
#define SUNDEW_UNUSED_
#endif

/* Ends a test. Measuring coverage (--coverage) has to write down what it saw. */
#if defined __GNUC__ && defined __ELF__
extern void __gcov_exit(void) __attribute__((weak));     /* gcc */
extern void __gcov_dump(void) __attribute__((weak));     /* clang, --coverage */
extern int __llvm_profile_write_file(void) __attribute__((weak));
#define SUNDEW_LEAVE_(status)                                                  \
    (__gcov_exit   ? __gcov_exit()                                             \
     : __gcov_dump ? __gcov_dump()                                             \
                   : (void)0,                                                  \
     (void)(__llvm_profile_write_file ? __llvm_profile_write_file() : 0), _exit(status))
#else
#define SUNDEW_LEAVE_(status) _exit(status)
#endif

/* With SUNDEW_TEST_QUIET a test runs as it did when it was made: in an empty
 * folder, without input, and what is tested does not write to our output. */
static SUNDEW_UNUSED_ FILE *sundew_out_;
static SUNDEW_UNUSED_ char sundew_folder_[] = "/tmp/sundew-test-XXXXXX";
static SUNDEW_UNUSED_ void sundew_be_quiet_(void)
{
    int copy = fcntl(1, F_DUPFD, 200), null = open("/dev/null", O_RDWR);
    sundew_out_ = copy < 0 ? NULL : fdopen(copy, "w");
    if (sundew_out_ && null >= 0) {
        dup2(null, 0);
        dup2(null, 1);
    }
    for (null = 3; null < 200; null++)
        close(null);             /* what make and others have left open */
#ifdef M_PERTURB
    mallopt(M_PERTURB, 0x5a);    /* who reads memory that nobody has written shall notice */
#endif
    if (chdir(sundew_folder_) != 0)
        _exit(1);
}

/* Bytes that are allocated; 0: not known. */
static SUNDEW_UNUSED_ size_t sundew_heap_(void)
{
#if defined __GLIBC__ && defined __GLIBC_PREREQ
#if __GLIBC_PREREQ(2, 33)
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
#endif
#endif
    return 0;
}

/* Does each run of a test leave memory behind? It runs in a process of its own: what it did
 * once may make it do something else now. */
static SUNDEW_UNUSED_ int sundew_leaks_(void (*test)(void))
{
    int status = 0;
    pid_t child = getenv("SUNDEW_LEAKS") ? fork() : -1;
    if (child == 0) {
        size_t heap[3];
        sundew_out_ = fopen("/dev/null", "w");
        heap[0] = sundew_heap_();
        test();
        heap[1] = sundew_heap_();
        test();
        heap[2] = sundew_heap_();
        _exit(heap[1] > heap[0] && heap[2] > heap[1] ? 24 : 0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 24;
}

/* The folder, and what tests may have left in it. */
static SUNDEW_UNUSED_ void sundew_clean_(void)
{
    DIR *d = opendir(sundew_folder_);
    struct dirent *e;
    while (d && (e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
}
#define SUNDEW_OUT_ (sundew_out_ ? sundew_out_ : stdout)

/* A check that failed; whether the test goes on. */
static SUNDEW_UNUSED_ int sundew_failed_;
static SUNDEW_UNUSED_ void sundew_end_check_(void)
{
    fputc('\n', SUNDEW_OUT_);
    fflush(SUNDEW_OUT_);
    sundew_failed_ = 1;
    if (!getenv("SUNDEW_ACCEPT"))
        SUNDEW_LEAVE_(1);
}

static SUNDEW_UNUSED_ void sundew_bytes_(const void *bytes, size_t n)
{
    const unsigned char *p = (const unsigned char *)bytes;
    size_t i;
    fputc('"', SUNDEW_OUT_);
    for (i = 0; i < n; i++)
        if (p[i] < 32 || p[i] > 126 || p[i] == '"' || p[i] == '\\' ||
            (p[i] == '?' && i && p[i - 1] == '?'))
            fprintf(SUNDEW_OUT_, "\\%03o", p[i]);
        else
            fputc(p[i], SUNDEW_OUT_);
    fputc('"', SUNDEW_OUT_);
}

static SUNDEW_UNUSED_ void sundew_int_(const char *file, int line, const char *what,
                                       long long is, long long wanted)
{
    if (is == wanted)
        return;
    fprintf(SUNDEW_OUT_, "# %s:%d: is %lld, not %lld: %s", file, line, is, wanted, what);
    sundew_end_check_();
}

static SUNDEW_UNUSED_ void sundew_uint_(const char *file, int line, const char *what,
                                        unsigned long long is, unsigned long long wanted)
{
    if (is == wanted)
        return;
    fprintf(SUNDEW_OUT_, "# %s:%d: is %lluu, not %lluu: %s", file, line, is, wanted, what);
    sundew_end_check_();
}

static SUNDEW_UNUSED_ void sundew_float_(const char *file, int line, const char *what,
                                         double is, double wanted)
{
    double d = is > wanted ? is - wanted : wanted - is;
    double size = wanted < 0 ? -wanted : wanted;
    if (d <= size * 1e-12 || (is != is && wanted != wanted))
        return;
    if (is == wanted)
        return;
    fprintf(SUNDEW_OUT_, "# %s:%d: is %.17g, not %.17g: %s", file, line, is, wanted, what);
    sundew_end_check_();
}

static SUNDEW_UNUSED_ void sundew_text_(const char *file, int line, const char *what,
                                        const char *is, const char *wanted)
{
    if (is && wanted && strcmp(is, wanted) == 0)
        return;
    fprintf(SUNDEW_OUT_, "# %s:%d: is ", file, line);
    if (is)
        sundew_bytes_(is, strlen(is));
    else
        fprintf(SUNDEW_OUT_, "NULL");
    fprintf(SUNDEW_OUT_, ", not ");
    sundew_bytes_(wanted, strlen(wanted));
    fprintf(SUNDEW_OUT_, ": %s", what);
    sundew_end_check_();
}

static SUNDEW_UNUSED_ void sundew_memory_(const char *file, int line, const char *what,
                                          const void *is, const void *wanted, size_t n)
{
    if (is && memcmp(is, wanted, n) == 0)
        return;
    fprintf(SUNDEW_OUT_, "# %s:%d: is ", file, line);
    if (is)
        sundew_bytes_(is, n);
    else
        fprintf(SUNDEW_OUT_, "NULL");
    fprintf(SUNDEW_OUT_, ", not ");
    sundew_bytes_(wanted, n);
    fprintf(SUNDEW_OUT_, ": %s", what);
    sundew_end_check_();
}

static SUNDEW_UNUSED_ void sundew_null_(const char *file, int line, const char *what,
                                        int is, int wanted)
{
    if (is == wanted)
        return;
    fprintf(SUNDEW_OUT_, "# %s:%d: is %s, not %s: %s", file, line, is ? "NULL" : "NOT_NULL",
            wanted ? "NULL" : "NOT_NULL", what);
    sundew_end_check_();
    SUNDEW_LEAVE_(1);            /* what follows would use it */
}

#ifdef SUNDEW_TEST_QUIET
#define SUNDEW_BEGIN_                                                          \
    if (!mkdtemp(sundew_folder_)) {                                            \
        perror("mkdtemp");                                                     \
        return EXIT_FAILURE;                                                   \
    }
#define SUNDEW_END_ rmdir(sundew_folder_);
#else
#define SUNDEW_BEGIN_
#define SUNDEW_END_
#endif

#define CHECK_INT(is, wanted) \
    sundew_int_(__FILE__, __LINE__, #is, (long long)(is), (long long)(wanted))
#define CHECK_SIGN(is, wanted) \
    sundew_int_(__FILE__, __LINE__, #is, sundew_sign_(is), wanted)
#define CHECK_UINT(is, wanted) \
    sundew_uint_(__FILE__, __LINE__, #is, (unsigned long long)(is), (unsigned long long)(wanted))
#define CHECK_FLOAT(is, wanted) \
    sundew_float_(__FILE__, __LINE__, #is, (double)(is), (double)(wanted))
#define CHECK_STR(is, wanted) \
    sundew_text_(__FILE__, __LINE__, #is, (const char *)(is), wanted)
#define CHECK_BYTES(is, wanted, n) \
    sundew_memory_(__FILE__, __LINE__, #is, (const void *)(is), wanted, n)
#define CHECK_NULL(is) sundew_null_(__FILE__, __LINE__, #is, (is) == NULL, 1)
#define CHECK_NOT_NULL(is) sundew_null_(__FILE__, __LINE__, #is, (is) == NULL, 0)

#ifndef SUNDEW_TEST_SECONDS
#define SUNDEW_TEST_SECONDS 120  /* a test that takes longer has failed */
#endif

/* Results as JUnit has them, if somebody wants that; NULL. The names of tests and of
 * generated files need no escaping. */
static FILE *sundew_junit_(const char *source, int count)
{
    const char *folder = getenv("SUNDEW_JUNIT"), *base = strrchr(source, '/');
    char path[4096];
    FILE *f;
    int n;
    base = base ? base + 1 : source;
    n = folder && *folder ? snprintf(path, sizeof path, "%s/%s.xml", folder, base) : 0;
    if (n <= 0 || (size_t)n >= sizeof path)
        return NULL;
    f = fopen(path, "w");
    if (!f)
        perror(path);
    else
        fprintf(f, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<testsuite name=\"%s\" tests=\"%d\">\n", base, count);
    return f;
}

static void sundew_junit_case_(FILE *f, const char *source, const char *name, int status)
{
    const char *base = strrchr(source, '/');
    if (!f)
        return;
    fprintf(f, "  <testcase classname=\"%s\" name=\"%s\"", base ? base + 1 : source, name);
    if (WIFSIGNALED(status))
        fprintf(f, "><failure message=\"died with signal %d\"/></testcase>\n", WTERMSIG(status));
    else if (status)
        fprintf(f, "><failure message=\"a check failed\"/></testcase>\n");
    else
        fprintf(f, "/>\n");
}

static int sundew_run_one(int n, const char *name, void (*test)(void))
{
    int status = 0;
    pid_t child;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        alarm(SUNDEW_TEST_SECONDS);
#ifdef SUNDEW_TEST_QUIET
        sundew_be_quiet_();
#endif
        test();
        fflush(stdout);
#ifdef SUNDEW_TEST_QUIET
        if (!sundew_failed_ && sundew_leaks_(test)) {
            fprintf(SUNDEW_OUT_, "# leaves memory behind\n");
            fflush(SUNDEW_OUT_);
            SUNDEW_LEAVE_(1);
        }
#endif
#ifdef SUNDEW_TEST_LEAKS
        if (!sundew_failed_)
            exit(0);             /* a leak check runs here */
#endif
        SUNDEW_LEAVE_(sundew_failed_);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0) {
        perror("fork");
        return 1 << 8;
    }
#ifdef SUNDEW_TEST_QUIET
    sundew_clean_();
#endif
    if (WIFSIGNALED(status))
        printf("# died with signal %d\n", WTERMSIG(status));
    printf("%sok %d - %s\n", status ? "not " : "", n, name);
    return status;
}

#define TEST_MAIN(LIST)                                                        \
    int main(void)                                                             \
    {                                                                          \
        static const struct {                                                  \
            const char *name;                                                  \
            void (*run)(void);                                                 \
        } all[] = { LIST(SUNDEW_ROW_) };                                       \
        int i, failed = 0, count = (int)(sizeof all / sizeof *all);            \
        FILE *junit = sundew_junit_(__FILE__, count);                          \
        printf("1..%d\n", count);                                              \
        SUNDEW_BEGIN_                                                          \
        for (i = 0; i < count; i++) {                                          \
            int status = sundew_run_one(i + 1, all[i].name, all[i].run);       \
            sundew_junit_case_(junit, __FILE__, all[i].name, status);          \
            failed += status != 0;                                             \
        }                                                                      \
        if (junit) {                                                           \
            fprintf(junit, "</testsuite>\n");                                  \
            fclose(junit);                                                     \
        }                                                                      \
        SUNDEW_END_                                                            \
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;                           \
    }

#endif

#ifndef CHECK_INT
static int sundew_near_(double is, double wanted)
{
    double d = is > wanted ? is - wanted : wanted - is;
    double size = wanted < 0 ? -wanted : wanted;
    return is == wanted || d <= size * 1e-12 || (is != is && wanted != wanted);
}
#define CHECK_INT(is, wanted) CHECK((long long)(is) == (long long)(wanted))
#define CHECK_SIGN(is, wanted) CHECK(sundew_sign_(is) == (wanted))
#define CHECK_UINT(is, wanted) CHECK((unsigned long long)(is) == (unsigned long long)(wanted))
#define CHECK_FLOAT(is, wanted) \
    CHECK(sundew_near_ != 0 && sundew_near_((double)(is), (double)(wanted)))
#define CHECK_STR(is, wanted) CHECK(strcmp((const char *)(is), wanted) == 0)
#define CHECK_BYTES(is, wanted, n) CHECK(memcmp((const void *)(is), wanted, n) == 0)
#define CHECK_NULL(is) CHECK((is) == NULL)
#define CHECK_NOT_NULL(is) CHECK((is) != NULL)
#endif
#endif
