/* engine/record/restore: the state at a frame's entry as C. */
#include "engine/record/restore.h"
#include "base/rng.h"
#include "compile.h"
#include "crash_sample.h"
#include "runtime/format/tables.h"
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static const char source[] =
    "enum color { RED, GREEN = 5 };\n"
    "struct node { struct node *next, *other; const char *name; enum color color;\n"
    "    int n; };\n"
    "union any { void *pointer; long number; };\n"
    "struct mix { unsigned low : 3, high : 5; union any any; int (*call)(int);\n"
    "    char text[8]; double d; };\n"
    "struct pair { int x, y; };\n"
    "int counter;\n"
    "struct node *current;\n"
    "int twice(int n) { return 2 * n; }\n"
    "int walk(struct node *l, int depth, char c) { return l ? depth + c : counter; }\n"
    "int mixed(struct mix *m, struct pair p) { return m->low + p.x; }\n"
    "int text(const char *s, const int *numbers, void *raw) {\n"
    "    return *s + *numbers + (raw != 0); }\n";

struct node {
    uint64_t next, other, name;
    uint32_t color;
    int32_t n;
};
struct mix {
    uint64_t bits, any, call;
    char text[8];
    double d;
};

static Compiled subject;
static char path[64];
static int memory;

static bool sees(void *arg, const char *file)
{
    (void)arg;
    return str_ends(file, "a.c");
}

static const char *code(void *arg, uint64_t address)
{
    (void)arg;
    return address == 0x7777 ? "twice" : NULL;
}

static const char *variable(void *arg, const Variable *v, bool *fixed)
{
    (void)arg;
    (void)fixed;
    return strcmp(v->name, "counter") == 0   ? "counter"
           : strcmp(v->name, "current") == 0 ? "current"
                                             : NULL;
}

static const RestoreWorld world = { .sees = sees, .code = code, .variable = variable };
static const RestoreWorld plain = {
    .sees = sees, .code = code, .variable = variable, .plain = true
};

static uint32_t number_of(const char *function)
{
    return program_function(subject.program, function)->index + 1;
}

static void begin(Str *s)
{
    SundewFailure f = { .kind = SUNDEW_FAIL_SIGNAL, .signal = 11 };
    sample_begin(s);
    sample_build(s, "key", "prog", 0, SUNDEW_COPY_USED);
    sample_failure(s, f, "");
}

static Crash *finish(Str *s)
{
    Err err = { 0 };
    sample_end(s);
    assert_int_equal(ftruncate(memory, 0), 0);
    assert_int_equal(pwrite(memory, str_c(s), s->len, 0), (ssize_t)s->len);
    Crash *c = crash_open(path, &err);
    assert_string_equal(err.msg, "");
    str_release(s);
    return c;
}

/* The statements of the test of frame 0; the caller frees them. */
static char *printed(const Crash *c, const RestoreWorld *w)
{
    Str out = { 0 };
    Restore *r = restore_new(c, subject.program, 0, w, true);
    assert_non_null(r);
    restore_print(r, &out);
    restore_free(r);
    return str_take(&out);
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no '%s' in:\n%s", part, text);
}

/* Two nodes that point to each other, and one that was freed: in the frame
 * alive - 1, or nobody knows when. */
static Crash *list_with(uint32_t alive)
{
    Str s = { 0 };
    uint64_t slots[] = { 0x101000, (uint64_t)-3 & 0xffffffff, 'x' };
    struct node a = { 0x102000, 0x103000, 0x104000, 5, 7 }, b = { 0x101000, 0x101008, 0, 9, 0 };
    struct node before = a;
    before.n = 1;
    begin(&s);
    sample_frame(&s, 0, number_of("walk"), "walk", slots, 3);
    sample_copy(&s, 0, 0x101000, &before, sizeof before);
    sample_memory(&s, 0x101000, sizeof a, SUNDEW_HEAP, 0, &a, sizeof a);
    sample_memory(&s, 0x102000, sizeof b, SUNDEW_HEAP, 0, &b, sizeof b);
    SundewMemory freed = {
        .address = 0x103000, .size = sizeof b, .place = SUNDEW_FREED, .variable = alive
    };
    sample_record(&s, SUNDEW_REC_MEMORY, &freed, sizeof freed, &b, sizeof b);
    sample_memory(&s, 0x104000, 6, SUNDEW_TEXT_LITERAL, 0, "a\"b\\\n", 6);
    return finish(&s);
}

static Crash *list(void) { return list_with(0); }

static void what_the_function_freed_was_alive_before(void **state)
{
    (void)state;
    for (uint32_t alive = 1; alive <= 2; alive++) {
        Crash *c = list_with(alive);
        char *text = printed(c, &world);
        has(text, "struct node *other = ");
        if (alive == 1)
            assert_null(strstr(text, "restore_freed"));
        else                                     /* freed when it was entered */
            has(text, "restore_freed(other);");
        free(text);
        Restore *r = restore_new(c, subject.program, 0, &world, true);
        assert_int_equal(restore_revives(r), alive == 1);
        restore_free(r);
        Str out = { 0 };
        r = restore_new(c, subject.program, 0, &world, false);   /* as at the crash */
        assert_false(restore_revives(r));
        restore_print(r, &out);
        has(str_c(&out), "restore_freed(other);");
        str_release(&out);
        restore_free(r);
        crash_close(c);
    }
}

static void a_list_keeps_its_shape(void **state)
{
    (void)state;
    Crash *c = list();
    char *text = printed(c, &world);
    has(text, "struct node *l = restore_object(sizeof *l);");
    has(text, "struct node *next = restore_object(sizeof *next);");
    has(text, ".next = next,");
    has(text, ".next = l,");
    has(text, ".name = \"a\\\"b\\\\\\n\",");
    has(text, ".color = GREEN,");
    has(text, ".color = 9");                     /* no name for it */
    has(text, ".n = 1\n");                       /* as it was at the entry */
    has(text, "(void *)((char *)l + 8)");        /* into the middle */
    has(text, "restore_freed(other);");
    has(text, "walk(l, -3, 'x');");
    free(text);
    crash_close(c);
}

static void without_types_it_is_bytes_and_pointers(void **state)
{
    (void)state;
    Crash *c = list();
    char *text = printed(c, &plain);
    assert_null(strstr(text, "struct"));
    has(text, "void *object_1 = restore_object(32);");
    has(text, "restore_pointer(object_1, (void *)object_1_");
    has(text, "walk(object_1, -3, 'x');");
    free(text);
    crash_close(c);
}

static void members_of_all_kinds(void **state)
{
    (void)state;
    Str s = { 0 };
    uint64_t slots[] = { 0x101000, 0x0000000200000001 };
    struct mix m = { .bits = 5 | 17 << 3, .any = 42, .call = 0x7777, .text = "hey", .d = 0.5 };
    begin(&s);
    sample_frame(&s, 0, number_of("mixed"), "mixed", slots, 2);
    sample_memory(&s, 0x101000, sizeof m, SUNDEW_HEAP, 0, &m, sizeof m);
    Crash *c = finish(&s);
    char *text = printed(c, &world);
    has(text, ".low = 5,");
    has(text, ".high = 17,");
    has(text, ".any.number = 42,");
    has(text, ".call = twice,");
    has(text, ".text = \"hey\",");
    has(text, ".d = 0.5");
    has(text, "mixed(m, (struct pair){ .x = 1, .y = 2 });");
    free(text);
    Strings told = { 0 };
    Restore *r = restore_new(c, subject.program, 0, &world, true);
    restore_describe(r, &told);
    assert_int_not_equal(told.len, 0);
    has(told.items[0], ".call = twice");
    strings_release(&told);
    restore_free(r);
    crash_close(c);
}

static void arrays_strings_and_memory_without_a_type(void **state)
{
    (void)state;
    Str s = { 0 };
    uint64_t slots[] = { 0x101000, 0x102004, 0x103000 };
    int numbers[4] = { 1, 0, -7, 0 };
    uint64_t raw[3] = { 0x101002, 0x1234567, 0 };
    begin(&s);
    sample_frame(&s, 0, number_of("text"), "text", slots, 3);
    sample_memory(&s, 0x101000, 6, SUNDEW_HEAP, 0, "hello", 6);
    sample_memory(&s, 0x102000, sizeof numbers, SUNDEW_HEAP, 0, numbers, sizeof numbers);
    sample_memory(&s, 0x103000, sizeof raw, SUNDEW_HEAP, 0, raw, sizeof raw);
    Crash *c = finish(&s);
    char *text = printed(c, &world);
    has(text, "char *s = restore_object(6);");
    has(text, "restore_bytes(s, \"hello\", 6);");
    has(text, "numbers[2] = -7;");
    has(text, "restore_pointer(raw, (void *)(void *)((char *)s + 2));");
    has(text, "text(s, &numbers[1], raw);");
    free(text);
    crash_close(c);
}

/* The bytes of an address may read as text: "65432A". */
static void an_address_is_no_text(void **state)
{
    (void)state;
    Str s = { 0 };
    uint64_t slots[] = { 0x101000, 0, 0x103000 };
    uint64_t raw[4] = { 0x413233343536, 0, 0, 0x414243444546 };
    memcpy((char *)raw + 11, raw, sizeof *raw);        /* a token in a buffer, say */
    begin(&s);
    sample_frame(&s, 0, number_of("text"), "text", slots, 3);
    sample_memory(&s, 0x101000, 8, SUNDEW_HEAP, 0, "65432B\0", 8);
    sample_memory(&s, 0x413233343536, 8, SUNDEW_HEAP, 0, "within\0", 8);
    sample_memory(&s, 0x103000, sizeof raw, SUNDEW_HEAP, 0, raw, sizeof raw);
    Crash *c = finish(&s);
    char *text = printed(c, &world);
    has(text, "restore_pointer(raw, (void *)object);");
    has(text, "restore_pointer((char *)raw + 11, (void *)object);");
    has(text, "restore_bytes(s, \"65432B\", 7);");
    has(text, "FEDCBA");
    free(text);
    crash_close(c);
}

static void steps_that_are_left_out_are_not_printed(void **state)
{
    (void)state;
    Crash *c = list();
    Restore *r = restore_new(c, subject.program, 0, &world, true);
    size_t n = restore_nsteps(r), objects, bytes;
    bool *keep = xcalloc(n + 1, sizeof *keep);
    Str out = { 0 }, all = { 0 };
    Strings named = { 0 };
    restore_state(r, &all, &named);
    assert_memory_equal(all.data, "RESTORE1", 8);
    restore_keep(r, keep);
    restore_print(r, &out);
    assert_null(strstr(str_c(&out), "next"));
    has(str_c(&out), "walk(l, -3, 'x');");
    restore_size(r, &objects, &bytes);
    assert_int_equal(objects, 1);
    assert_int_equal(bytes, 0);
    str_release(&out);
    str_release(&all);
    strings_release(&named);
    free(keep);
    restore_free(r);
    crash_close(c);
}

static size_t links_of_variables(Crash *c)
{
    Restore *r = restore_new(c, subject.program, 0, &world, true);
    size_t found = 0, n = restore_nsteps(r);
    for (size_t i = 0; i < n; i++)
        found += restore_is_link_of_variable(r, i);
    restore_free(r);
    crash_close(c);
    return found;
}

static void pointers_of_variables_are_links(void **state)
{
    (void)state;
    Str s = { 0 };
    uint64_t slots[] = { 0, 1, 'x' }, current = 0x101000;
    struct node a = { .next = 0x101000, .n = 7 };
    size_t n;
    const Variable *all = program_variables(subject.program, &n);
    SundewMemory m = { .address = 0x200000, .size = 8, .place = SUNDEW_GLOBAL };
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].name, "current") == 0)
            m.variable = (uint32_t)i + 1;
    begin(&s);
    sample_frame(&s, 0, number_of("walk"), "walk", slots, 3);
    sample_record(&s, SUNDEW_REC_MEMORY, &m, sizeof m, &current, sizeof current);
    sample_memory(&s, 0x101000, sizeof a, SUNDEW_HEAP, 0, &a, sizeof a);
    assert_int_equal(links_of_variables(finish(&s)), 1);
    assert_int_equal(links_of_variables(list()), 0);
}

static void what_was_passed_is_told(void **state)
{
    (void)state;
    Crash *c = list();
    Restore *r = restore_new(c, subject.program, 0, &world, true);
    Strings lines = { 0 }, changed = { 0 };
    restore_describe(r, &lines);
    assert_int_equal(lines.len, 3);
    has(lines.items[0], "l = &{ .next = ...");
    has(lines.items[0], ".other = (freed)");
    assert_string_equal(lines.items[1], "depth = -3");
    restore_differences(r, 10, &changed);
    assert_int_equal(changed.len, 1);
    assert_string_equal(changed.items[0], "l->n: 1 at the entry, 7 at the crash");
    strings_release(&lines);
    strings_release(&changed);
    restore_free(r);
    crash_close(c);
}

/* Whatever a file says, it is survived. */
static void corrupted_files_are_survived(void **state)
{
    (void)state;
    Str s = { 0 };
    Rng rng = rng_seeded(7);
    Crash *good = list();
    crash_close(good);
    char bytes[4096];
    ssize_t n = pread(memory, bytes, sizeof bytes, 0);
    for (unsigned round = 0; round < 3000; round++) {
        Err err = { 0 };
        str_reset(&s);
        str_addn(&s, bytes, (size_t)n);
        for (int k = 0; k < 4; k++)
            s.data[16 + rng_below(&rng, (uint64_t)n - 16)] = (char)rng_below(&rng, 256);
        assert_int_equal(pwrite(memory, s.data, s.len, 0), (ssize_t)s.len);
        Crash *c = crash_open(path, &err);
        for (size_t f = 0; c && f < crash_nframes(c); f++) {
            Str out = { 0 };
            Strings lines = { 0 };
            Restore *r =
                restore_new(c, subject.program, f, round % 2 ? &world : &plain, round % 3 > 0);
            if (r) {
                restore_print(r, &out);
                restore_describe(r, &lines);
                restore_differences(r, 5, &lines);
            }
            restore_free(r);
            strings_release(&lines);
            str_release(&out);
        }
        crash_close(c);
    }
    str_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_keeps_its_shape),
        cmocka_unit_test(what_the_function_freed_was_alive_before),
        cmocka_unit_test(without_types_it_is_bytes_and_pointers),
        cmocka_unit_test(members_of_all_kinds),
        cmocka_unit_test(arrays_strings_and_memory_without_a_type),
        cmocka_unit_test(an_address_is_no_text),
        cmocka_unit_test(steps_that_are_left_out_are_not_printed),
        cmocka_unit_test(pointers_of_variables_are_links),
        cmocka_unit_test(what_was_passed_is_told),
        cmocka_unit_test(corrupted_files_are_survived),
    };
    memory = memfd_create("sample.crash", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    subject = compiled_begin();
    compiled_add(&subject, "a.c", source, NULL);
    compiled_open(&subject);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    compiled_end(&subject);
    return failed;
}
