/* engine/record/crash: reading what a crash left, and mistrusting it. */
#include "base/rng.h"
#include "engine/record/crash.h"
#include "runtime/format/tables.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include "crash_sample.h"
#include "mutate.h"

static char path[64];
static int memory;             /* a file that no disk waits for */

/* Two frames, three objects: a node on the heap, a string behind it, a freed one. */
static void write_sample(Str *s)
{
    uint64_t slots0[] = { 0x1000 }, slots1[] = { 0x1000, 5 };
    uint64_t pcs[] = { 0x401000, 0x402000 };
    uint64_t node[2] = { 0x2000, 77 }, before[1] = { 42 };
    SundewFailure f = { .kind = SUNDEW_FAIL_SIGNAL,
                        .signal = 11,
                        .access = SUNDEW_READ,
                        .address = 8,
                        .pc = 0x401000 };
    const char *maps = "401000-403000 r-xp 00001000 08:01 12   /bin/a b\n"
                       "garbage\n";
    sample_begin(s);
    sample_build(s, "abc", "prog", 0x400000, SUNDEW_COPY_USED);
    sample_failure(s, f, "said");
    sample_stack(s, pcs, 2);
    sample_frame(s, 0, 3, "inner", slots0, 1);
    sample_frame(s, 1, 4, "outer", slots1, 2);
    sample_copy(s, 0, 0x1008, "\x01\x02\x03\x04\x05\x06\x07\x08", 8);
    sample_copy(s, 1, 0x1008, before, 4);
    sample_memory(s, 0x1000, 16, SUNDEW_HEAP, 9, node, 16);
    sample_memory(s, 0x2000, 6, SUNDEW_HEAP, 0, "hello", 6);
    sample_memory(s, 0x3000, 64, SUNDEW_FREED, 0, "gone", 4);
    uint64_t external[] = { 0x7000 };
    sample_record(s, SUNDEW_REC_EXTERNAL, external, 8, "puts", 4);
    sample_record(s, SUNDEW_REC_MAPS, maps, strlen(maps), NULL, 0);
    SundewFileRecord fr = { .address = 0x9000, .fd = 3, .position = 4 };
    sample_record(s, SUNDEW_REC_FILE, &fr, sizeof fr, "text", 4);
    SundewMissing lack = { .code = SUNDEW_LACK_BUDGET, .amount = 100 };
    sample_record(s, SUNDEW_REC_MISSING, &lack, sizeof lack, "big", 3);
    sample_record(s, 999, "later", 5, NULL, 0);
    sample_end(s);
}

static Crash *open_bytes(const Str *s, Err *err)
{
    assert_int_equal(ftruncate(memory, 0), 0);
    assert_int_equal(pwrite(memory, str_c(s), s->len, 0), (ssize_t)s->len);
    return crash_open(path, err);
}

static Crash *open_sample(void)
{
    Str s = { 0 };
    Err err = { 0 };
    write_sample(&s);
    Crash *c = open_bytes(&s, &err);
    assert_string_equal(err.msg, "");
    assert_non_null(c);
    str_release(&s);
    return c;
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    Crash *c = open_sample();
    assert_false(crash_is_cut_short(c));
    assert_string_equal(crash_key(c), "abc");
    assert_string_equal(crash_program(c), "prog");
    assert_string_equal(crash_build(c), "v1");
    assert_string_equal(crash_strategy(c), "used-fields");
    assert_int_equal(crash_failure(c)->signal, 11);
    assert_string_equal(crash_failure(c)->text, "said");
    size_t n;
    assert_int_equal(crash_stack(c, &n)[1], 0x402000);
    assert_int_equal(n, 2);
    assert_int_equal(crash_nframes(c), 2);
    assert_string_equal(crash_frame(c, 1)->symbol, "outer");
    assert_int_equal(crash_frame(c, 1)->slots[1], 5);
    assert_null(crash_frame(c, 2));
    assert_string_equal(crash_external(c, 0x7000), "puts");
    assert_null(crash_external(c, 0x7001));
    assert_memory_equal(crash_file_at(c, 0x9000)->bytes, "text", 4);
    assert_string_equal(crash_lacks(c, &n)->text, "big");
    uint64_t offset;
    assert_string_equal(crash_mapped(c, 0x401010, &offset), "/bin/a b");
    assert_int_equal(offset, 0x1010);
    assert_null(crash_mapped(c, 0x500000, &offset));
    crash_close(c);
}

static void a_frame_sees_memory_as_it_was_at_its_entry(void **state)
{
    (void)state;
    Crash *c = open_sample();
    uint64_t v;
    assert_int_equal(crash_read(c, 2, 0x1008, (uint8_t *)&v, 8, NULL), 8);
    assert_int_equal(v, 77);
    crash_read(c, 0, 0x1008, (uint8_t *)&v, 8, NULL);
    assert_int_equal(v, 0x0807060504030201);
    crash_read(c, 1, 0x1008, (uint8_t *)&v, 8, NULL);     /* 4 own, 4 of frame 0 */
    assert_int_equal(v, 0x080706050000002a);
    assert_true(crash_was_copied(c, 1, 0x1008));
    assert_false(crash_was_copied(c, 1, 0x1000));
    bool known[8];
    uint8_t bytes[8];
    assert_int_equal(crash_read(c, 0, 0x2002, bytes, 8, known), 4);
    assert_true(known[3]);
    assert_false(known[4]);
    crash_close(c);
}

static void an_address_finds_its_object(void **state)
{
    (void)state;
    Crash *c = open_sample();
    assert_int_equal(crash_nobjects(c), 3);
    assert_int_equal(crash_object_at(c, 0x100f)->address, 0x1000);
    assert_int_equal(crash_object_at(c, 0x1010)->address, 0x1000);
    assert_null(crash_object_at(c, 0x1011));
    assert_null(crash_object_at(c, 0));
    assert_true(crash_object_at(c, 0x2000)->complete);
    assert_false(crash_object_at(c, 0x3000)->complete);
    assert_int_equal(crash_object_at(c, 0x3020)->place, SUNDEW_FREED);
    crash_close(c);
}

/* Everything that a Crash can be asked. */
static void ask_all(const Crash *c)
{
    size_t n;
    uint8_t bytes[64];
    bool known[64];
    crash_stack(c, &n);
    crash_lacks(c, &n);
    uint64_t sum = strlen(crash_strategy(c)) + strlen(crash_program(c));
    for (size_t i = 0; i < crash_nobjects(c); i++) {
        const CrashObject *o = crash_object(c, i);
        assert_true(o->address + o->size >= o->address);
        assert_non_null(crash_object_at(c, o->address));
        for (size_t f = 0; f <= crash_nframes(c); f++)
            sum += crash_read(c, f, o->address + o->size / 2, bytes, 64, known);
        crash_was_copied(c, 1, o->address);
    }
    for (size_t f = 0; f < crash_nframes(c); f++) {
        const CrashFrame *fr = crash_frame(c, f);
        for (unsigned k = 0; k < fr->nslots; k++)
            sum += fr->slots[k];
        sum += strlen(fr->symbol);
    }
    crash_read(c, 0, UINT64_MAX - 10, bytes, 64, known);
    assert_true(sum || !sum);
}

static void any_cut_is_survived_and_said(void **state)
{
    (void)state;
    Str s = { 0 };
    write_sample(&s);
    size_t whole = s.len, opened = 0;
    for (size_t n = 0; n < whole; n++) {
        Err err = { 0 };
        s.len = n;
        Crash *c = open_bytes(&s, &err);
        assert_true(c || *err.msg);
        if (c) {
            assert_true(crash_is_cut_short(c) || n + 8 > whole);
            ask_all(c);
            opened++;
        }
        crash_close(c);
    }
    assert_true(opened > whole / 2);
    s.len = whole;
    str_release(&s);
}

static void any_corruption_is_survived(void **state)
{
    (void)state;
    Str s = { 0 };
    write_sample(&s);
    Rng rng = rng_seeded(20260101);
    for (unsigned round = 0; round < mutations(20000); round++) {
        Str t = { 0 };
        str_addn(&t, s.data, s.len);
        for (unsigned k = 0, n = 1 + rng_below(&rng, 8); k < n; k++) {
            static const uint8_t nasty[] = { 0, 1, 0x7f, 0x80, 0xff };
            uint8_t v =
                rng_below(&rng, 2) ? nasty[rng_below(&rng, 5)] : (uint8_t)rng_below(&rng, 256);
            t.data[16 + rng_below(&rng, t.len - 16)] = (char)v;
        }
        Err err = { 0 };
        Crash *c = open_bytes(&t, &err);
        assert_true(c || *err.msg);
        if (c)
            ask_all(c);
        crash_close(c);
        str_release(&t);
    }
    str_release(&s);
}

/* Names become words for the assembler in a generated test. */
static void a_name_is_a_name(void **state)
{
    (void)state;
    Str s = { 0 };
    Err err = { 0 };
    uint64_t good[] = { 0x7000 }, bad[] = { 0x8000 };
    const char *text = "x\n\t.section .init_array\n\t.quad 0";
    sample_begin(&s);
    sample_build(&s, "abc", "prog", 0x400000, SUNDEW_COPY_USED);
    sample_failure(&s, (SundewFailure){ .kind = SUNDEW_FAIL_SIGNAL, .signal = 11 }, "");
    sample_record(&s, SUNDEW_REC_EXTERNAL, good, 8, "memcpy@GLIBC_2.14", 17);
    sample_record(&s, SUNDEW_REC_EXTERNAL, bad, 8, text, strlen(text));
    sample_end(&s);
    Crash *c = open_bytes(&s, &err);
    assert_non_null(c);
    assert_string_equal(crash_external(c, 0x7000), "memcpy@GLIBC_2.14");
    assert_null(crash_external(c, 0x8000));
    crash_close(c);
    str_release(&s);
}

static void the_name_of_a_file_stays_below_its_folder(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool taken;
    } names[] = { { "rows", true },  { "in/rows", true }, { "/etc/passwd", false },
                  { "../x", false }, { "a/../x", false }, { "a//x", false },
                  { ".x", false },   { "a/", false },     { "", false },
                  { "a\nx", false } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Str s = { 0 };
        Err err = { 0 };
        SundewFileRecord fr = { .address = 0x9000, .fd = 3 };
        sample_begin(&s);
        sample_build(&s, "abc", "prog", 0, SUNDEW_COPY_USED);
        sample_failure(&s, (SundewFailure){ .kind = SUNDEW_FAIL_SIGNAL }, "");
        sample_record(&s, SUNDEW_REC_FILE, &fr, sizeof fr, "text", 4);
        sample_record(&s, SUNDEW_REC_FILE_NAME, &fr.address, 8, names[i].name,
                      strlen(names[i].name));
        sample_end(&s);
        Crash *c = open_bytes(&s, &err);
        assert_non_null(c);
        const char *name = crash_file_at(c, 0x9000)->name;
        if (names[i].taken)
            assert_string_equal(name, names[i].name);
        else
            assert_null(name);
        crash_close(c);
        str_release(&s);
    }
}

static void other_files_are_refused_in_words(void **state)
{
    (void)state;
    Err err = { 0 };
    Str s = { 0 };
    str_add(&s, "#!/bin/sh\n# this is no crash file\n");
    assert_null(open_bytes(&s, &err));
    assert_non_null(strstr(err.msg, "not a crash file"));
    assert_null(crash_open("/nonexistent", &err));
    str_reset(&s);
    sample_begin(&s);
    s.data[8] = 9;
    assert_null(open_bytes(&s, &err));
    assert_non_null(strstr(err.msg, "version 9"));
    s.data[8] = SUNDEW_CRASH_VERSION;
    assert_null(open_bytes(&s, &err));
    assert_non_null(strstr(err.msg, "cut short"));
    str_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(a_frame_sees_memory_as_it_was_at_its_entry),
        cmocka_unit_test(an_address_finds_its_object),
        cmocka_unit_test(any_cut_is_survived_and_said),
        cmocka_unit_test(any_corruption_is_survived),
        cmocka_unit_test(a_name_is_a_name),
        cmocka_unit_test(the_name_of_a_file_stays_below_its_folder),
        cmocka_unit_test(other_files_are_refused_in_words),
    };
    memory = memfd_create("sample.crash", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
