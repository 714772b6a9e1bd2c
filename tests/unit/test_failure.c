/* run/failure.h: what kind of failure it was, read from what is known. */
#include "base/file.h"
#include "run/failure.h"
#include "run/run_int.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <cmocka.h>

static Failure read_end(int wait_status, const char *err)
{
    Failure f = { 0 };
    failure_read(&f, &(Facts){ .wait_status = wait_status, .err = err, .err_len = strlen(err) });
    return f;
}

/* `description` is what people are told. */
static void ends_as(int wait_status, const char *err, FailureKind kind, const char *description)
{
    Failure f = read_end(wait_status, err);
    Str s = { 0 };
    failure_describe(&f, &s);
    assert_string_equal(str_c(&s), description);
    assert_int_equal(f.kind, kind);
    str_release(&s);
    failure_release(&f);
}

static void an_assertion_is_more_than_an_abort(void **state)
{
    (void)state;
    ends_as(SIGABRT, "prog: src/a.c:3: main: Assertion `n > 0' failed.\n", FAILURE_ASSERTION,
            "assertion failed: n > 0, in main at src/a.c:3");
    ends_as(SIGABRT, "", FAILURE_ABORT, "abort");
    ends_as(SIGABRT, "Assertion failed: n > 0 (src/a.c: main: 3)\n", FAILURE_ASSERTION,
            "assertion failed: n > 0, in main at src/a.c:3");
    ends_as(SIGABRT, "**\nERROR:../a.c:3:main: assertion failed: (n > 0)\n", FAILURE_ASSERTION,
            "assertion failed: (n > 0), in main at ../a.c:3");
    /* said, but it did not abort */
    ends_as(1 << 8, "prog: a.c:3: main: Assertion `n > 0' failed.\n", FAILURE_EXIT,
            "exit status 1");
    ends_as(SIGABRT, "p: a.c:3: f: Assertion `!\"it' failed: 'x\"' failed.\n", FAILURE_ASSERTION,
            "assertion failed: !\"it' failed: 'x\", in f at a.c:3");
}

static void the_c_library_says_why_it_aborts(void **state)
{
    (void)state;
    ends_as(SIGABRT, "free(): double free detected in tcache 2\n", FAILURE_ABORT,
            "abort: free(): double free detected in tcache 2");
    ends_as(SIGABRT, "*** stack smashing detected ***: terminated\n", FAILURE_ABORT,
            "abort: *** stack smashing detected ***: terminated");
    ends_as(SIGABRT, "I could not free(): it\n", FAILURE_ABORT, "abort");
}

static const char asan[] =
    "before\n"
    "=================================================================\n"
    "==77==ERROR: AddressSanitizer: heap-buffer-overflow on address "
    "0x602000000014 at pc 0x55 bp 0x7f sp 0x7e\n"
    "WRITE of size 4 at 0x602000000014 thread T0\n"
    "    #0 0x55d1 in __interceptor_memcpy ../../src/libsanitizer/x.inc:827\n"
    "    #1 0x55d2 in list_add /src/list.c:31:12\n"
    "    #2 0x55d3 in main /src/main.c:9\n"
    "    #3 0x7f11 in __libc_start_main (/lib/libc.so.6+0x2724a) (BuildId: 00)\n"
    "\n"
    "0x602000000014 is located 0 bytes after 4-byte region\n"
    "    #0 0x1 in malloc (/prog+0x12)\n";

static void a_report_of_asan_is_read(void **state)
{
    (void)state;
    Failure f = read_end(1 << 8, asan);
    assert_int_equal(f.kind, FAILURE_SANITIZER);
    assert_string_equal(f.tool, "AddressSanitizer");
    assert_string_equal(f.what, "heap-buffer-overflow");
    assert_int_equal(f.access, FAILURE_ACCESS_WRITE);
    assert_int_equal(f.size, 4);
    assert_true(f.has_address);
    assert_int_equal(f.address, 0x602000000014);
    assert_int_equal(f.nframes, 4);
    assert_int_equal(f.site, 1);
    assert_string_equal(failure_site(&f)->function, "list_add");
    assert_string_equal(failure_site(&f)->file, "/src/list.c");
    assert_int_equal(failure_site(&f)->line, 31);
    assert_int_equal(failure_site(&f)->column, 12);
    assert_string_equal(f.frames[3].module, "/lib/libc.so.6");
    assert_int_equal(f.frames[3].offset, 0x2724a);
    failure_release(&f);
}

static void every_sanitizer_is_known(void **state)
{
    (void)state;
    ends_as(1 << 8,
            "==9==ERROR: LeakSanitizer: detected memory leaks\n\n"
            "Direct leak of 10 byte(s) in 1 object(s) allocated from:\n"
            "    #0 0x4c in malloc (/p+0xc6)\n    #1 0x4d in mk a.c:5:3\n",
            FAILURE_SANITIZER, "memory-leak (LeakSanitizer), in mk at a.c:5");
    ends_as(66 << 8,
            "==================\nWARNING: ThreadSanitizer: data race "
            "(pid=7)\n  Write of size 8 at 0x72 by thread T1:\n"
            "    #0 count /a.c:4:3 (p+0xd1) (BuildId: 3)\n",
            FAILURE_SANITIZER, "data race (ThreadSanitizer), writing 8 bytes, in count at /a.c:4");
    ends_as(77 << 8,
            "==9==WARNING: MemorySanitizer: use-of-uninitialized-value"
            "\n    #0 0x49 in main /a.c:4:7\n",
            FAILURE_SANITIZER, "use-of-uninitialized-value (MemorySanitizer), in main at /a.c:4");
    ends_as(0, "a.c:3:10: runtime error: division by zero\n", FAILURE_SANITIZER,
            "division by zero (UndefinedBehaviorSanitizer), in a.c:3");
    ends_as(0,
            "a.c:3:10: runtime error: load of misaligned address 0x7f1361754807 for type 'int', "
            "which requires 4 byte alignment\n",
            FAILURE_SANITIZER,
            "load of misaligned address for type 'int', which requires 4 byte alignment "
            "(UndefinedBehaviorSanitizer), in a.c:3");
    ends_as(0,
            "a.c:3:10: runtime error: division by zero\n"
            "    #0 0x1 in f /d/a.c:3:10\n",
            FAILURE_SANITIZER, "division by zero (UndefinedBehaviorSanitizer), in f at /d/a.c:3");
    ends_as(1 << 8,
            "==9==ERROR: AddressSanitizer: SEGV on unknown address "
            "0x000000000003 (pc 0x5 T0)\n==9==The signal is caused by a READ "
            "memory access.\n    #0 0x1 in f a.c:1:1\n",
            FAILURE_SANITIZER, "SEGV (AddressSanitizer), reading, in f at a.c:1");
    ends_as(1 << 8,
            "==9==ERROR: AddressSanitizer: stack-overflow on address "
            "0x7f (pc 0x5)\n    #0 0x1 in f a.c:1:1\n",
            FAILURE_STACK_OVERFLOW, "stack overflow, in f at a.c:1");
    ends_as(1 << 8,
            "==9==ERROR: AddressSanitizer: attempting double-free on "
            "0x60 in thread T0:\n    #0 0x1 in free (/p+0x2)\n"
            "    #1 0x1 in f a.c:1:1\n",
            FAILURE_SANITIZER, "double-free (AddressSanitizer), in f at a.c:1");
}

static void what_only_looks_like_a_report_is_none(void **state)
{
    (void)state;
    ends_as(0, "script: runtime error: x is nil\n", FAILURE_NONE, "no failure");
    ends_as(0, "lua:3: runtime error: x is nil\n", FAILURE_NONE, "no failure");
    ends_as(1 << 8, "see ERROR: AddressSanitizer: in the manual\n", FAILURE_EXIT, "exit status 1");
    ends_as(1 << 8, "==x==ERROR: AddressSanitizer: odd\n", FAILURE_EXIT, "exit status 1");
}

static void signals_keep_their_facts(void **state)
{
    (void)state;
    FailureFrame frames[] = { { .module = "/lib/libc.so.6", .offset = 5 },
                              { .module = "/p", .function = "f", .offset = 9 } };
    Facts facts = { .wait_status = SIGSEGV,
                    .has_signal_info = true,
                    .code = 1,
                    .address = 0x10,
                    .sp = 0x7fff0000,
                    .access = FAILURE_ACCESS_READ,
                    .frames = frames,
                    .nframes = 2 };
    Failure f = { 0 }, g = { 0 };
    Str s = { 0 };
    failure_read(&f, &facts);
    failure_describe(&f, &s);
    assert_string_equal(str_c(&s), "SIGSEGV, reading 0x10, in f at /p+0x9");
    facts.address = facts.sp - 8;
    failure_read(&g, &facts);
    assert_int_equal(g.kind, FAILURE_STACK_OVERFLOW);
    assert_false(failure_same(&f, &g, FAILURE_SAME_KIND));
    str_release(&s);
    failure_release(&f);
    failure_release(&g);
}

static void a_limit_of_a_command_is_told_without_more(void **state)
{
    (void)state;
    Failure f = { .kind = FAILURE_TIMEOUT };     /* of a command only the kind is known */
    Str s = { 0 };
    failure_describe(&f, &s);
    assert_string_equal(str_c(&s), "time limit");
    str_release(&s);
}

static void a_limit_decides_before_everything_else(void **state)
{
    (void)state;
    Failure f = { 0 };
    failure_read(&f, &(Facts){ .wait_status = SIGKILL,
                               .stop = FAILURE_STOP_MEMORY,
                               .err = asan,
                               .err_len = strlen(asan) });
    assert_int_equal(f.kind, FAILURE_MEMORY_LIMIT);
    failure_release(&f);
    ends_as(SIGXCPU, "", FAILURE_CPU_LIMIT, "CPU time limit");
    ends_as(SIGXFSZ, "", FAILURE_FILE_LIMIT, "file size limit");
    ends_as(SIGKILL, "", FAILURE_SIGNAL, "SIGKILL");
}

static void sameness_has_levels(void **state)
{
    (void)state;
    Failure a = read_end(0, "a.c:3:1: runtime error: index 4 out of bounds\n"
                            "    #0 0x1 in f a.c:3:1\n    #1 0x1 in g a.c:9:1\n");
    Failure b = read_end(0, "/x/a.c:3:1: runtime error: index 77 out of bounds\n"
                            "    #0 0x1 in f /x/a.c:3:1\n"
                            "    #1 0x1 in h /x/a.c:5:1\n");
    Failure c = read_end(0, "a.c:8:1: runtime error: index 4 out of bounds\n"
                            "    #0 0x1 in f a.c:8:1\n    #1 0x1 in g a.c:9:1\n");
    Failure d = read_end(0, "a.c:3:1: runtime error: division by zero\n"
                            "    #0 0x1 in f a.c:3:1\n");
    assert_true(failure_same(&a, &a, FAILURE_SAME_STACK));
    assert_true(failure_same(&a, &b, FAILURE_SAME_SITE));
    assert_false(failure_same(&a, &b, FAILURE_SAME_STACK));
    assert_true(failure_same(&a, &c, FAILURE_SAME_KIND));
    assert_false(failure_same(&a, &c, FAILURE_SAME_SITE));
    assert_false(failure_same(&a, &d, FAILURE_SAME_KIND));
    Failure copy = { 0 };
    failure_copy(&copy, &a);
    failure_release(&a);
    assert_true(failure_same(&copy, &b, FAILURE_SAME_SITE));
    Failure one = read_end(1 << 8, ""), two = read_end(2 << 8, "");
    assert_false(failure_same(&one, &two, FAILURE_SAME_KIND));
    failure_release(&copy);
    failure_release(&b);
    failure_release(&c);
    failure_release(&d);
}

static void assertions_differ_by_their_text(void **state)
{
    (void)state;
    Failure a = read_end(SIGABRT, "p: a.c:3: f: Assertion `x' failed.\n");
    Failure b = read_end(SIGABRT, "p: a.c:3: f: Assertion `y' failed.\n");
    assert_true(failure_same(&a, &b, FAILURE_SAME_KIND));
    assert_false(failure_same(&a, &b, FAILURE_SAME_SITE));
    failure_release(&a);
    failure_release(&b);
}

static void every_kind_has_a_name_that_is_read_back(void **state)
{
    (void)state;
    for (FailureKind k = FAILURE_NONE; k <= FAILURE_PROCESS_LIMIT; k++) {
        FailureKind back;
        assert_true(failure_kind_parse(failure_kind_name(k), &back));
        assert_int_equal(k, back);
    }
    FailureKind k;
    assert_false(failure_kind_parse("nonsense", &k));
}

/* Every beginning of a report, and every report with a byte changed, is read
 * without harm and without disagreement with itself. */
static void broken_reports_are_harmless(void **state)
{
    (void)state;
    static const char *const texts[] = {
        asan,
        "p: a.c:3: f: Assertion `x' failed.\n",
        "Assertion failed: n > 0 (src/a.c: main: 3)",
        "ERROR:../a.c:3:main: assertion failed: (n > 0)",
        "a.c:3:10: runtime error: x\n    #0 0x1 in f /d/a.c:3:10\n",
        "==9==ERROR: AddressSanitizer: \n  #0\n #1 \n #2 (\n #3 ()\n #4 )(\n",
    };
    static const char bytes[] = { 0, '\n', ':', '#', '(', ')', '`', '\'', (char)0xff };
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        size_t len = strlen(texts[t]);
        for (size_t n = 0; n <= len * sizeof bytes; n++) {
            size_t cut = n < len ? n : len;
            char *copy = xmalloc(cut + 1);      /* exact, for the sanitizer */
            memcpy(copy, texts[t], cut);
            if (n >= len && len)
                copy[n % len] = bytes[n / len % sizeof bytes];
            Failure f = { 0 };
            Str s = { 0 };
            failure_read(&f, &(Facts){ .wait_status = SIGABRT, .err = copy, .err_len = cut });
            failure_describe(&f, &s);
            failure_dump(&f, &s);
            assert_true(failure_same(&f, &f, FAILURE_SAME_STACK));
            assert_true(f.site <= f.nframes);
            str_release(&s);
            failure_release(&f);
            free(copy);
        }
    }
}

static void instructions_tell_reads_from_writes(void **state)
{
    (void)state;
    static const struct {
        uint8_t code[8];
        FailureAccess access;
    } rows[] = {
        { { 0x8b, 0x00 }, FAILURE_ACCESS_READ },             /* mov (%rax),%eax */
        { { 0x89, 0x08 }, FAILURE_ACCESS_WRITE },            /* mov %ecx,(%rax) */
        { { 0x48, 0x89, 0x08 }, FAILURE_ACCESS_WRITE },
        { { 0xc7, 0x00, 1, 0, 0, 0 }, FAILURE_ACCESS_WRITE },
        { { 0x0f, 0xb6, 0x00 }, FAILURE_ACCESS_READ },       /* movzbl */
        { { 0x0f, 0x11, 0x00 }, FAILURE_ACCESS_WRITE },      /* movups to memory */
        { { 0x0f, 0x10, 0x00 }, FAILURE_ACCESS_READ },
        { { 0xf3, 0x0f, 0x7f, 0x00 }, FAILURE_ACCESS_WRITE },
        { { 0xf3, 0x0f, 0x7e, 0x00 }, FAILURE_ACCESS_READ }, /* movq from memory */
        { { 0x66, 0x0f, 0x7e, 0x00 }, FAILURE_ACCESS_WRITE },/* movd to memory */
        { { 0x83, 0x00, 1 }, FAILURE_ACCESS_WRITE },         /* addl $1,(%rax) */
        { { 0x83, 0x38, 1 }, FAILURE_ACCESS_READ },          /* cmpl $1,(%rax) */
        { { 0x55 }, FAILURE_ACCESS_WRITE },                  /* push */
        { { 0xc5, 0xfe, 0x7f, 0x00 }, FAILURE_ACCESS_WRITE },/* vmovdqu to memory */
        { { 0xc5, 0xfe, 0x6f, 0x00 }, FAILURE_ACCESS_READ },
        { { 0x62, 0xe1, 0xfe, 0x28, 0x7f, 0x00 }, FAILURE_ACCESS_WRITE },
        { { 0xf3, 0xaa }, FAILURE_ACCESS_WRITE },            /* rep stosb */
        { { 0xf3, 0xa4 }, FAILURE_ACCESS_UNKNOWN },          /* rep movsb */
        { { 0x89, 0xc8 }, FAILURE_ACCESS_UNKNOWN },          /* mov %ecx,%eax */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(decode_access(rows[i].code, 8), rows[i].access);
    assert_int_equal(decode_access((const uint8_t *)"", 0), FAILURE_ACCESS_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_assertion_is_more_than_an_abort),
        cmocka_unit_test(the_c_library_says_why_it_aborts),
        cmocka_unit_test(a_report_of_asan_is_read),
        cmocka_unit_test(every_sanitizer_is_known),
        cmocka_unit_test(what_only_looks_like_a_report_is_none),
        cmocka_unit_test(signals_keep_their_facts),
        cmocka_unit_test(a_limit_decides_before_everything_else),
        cmocka_unit_test(sameness_has_levels),
        cmocka_unit_test(assertions_differ_by_their_text),
        cmocka_unit_test(a_limit_of_a_command_is_told_without_more),
        cmocka_unit_test(every_kind_has_a_name_that_is_read_back),
        cmocka_unit_test(broken_reports_are_harmless),
        cmocka_unit_test(instructions_tell_reads_from_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
