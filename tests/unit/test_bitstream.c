/* program/bitstream, program/debuginfo: any bytes are safe to read. */
#include "compile.h"
#include "base/rng.h"
#include "program/bitstream.h"
#include "program/debuginfo.h"
#include "program/program_int.h"

static const char subject[] =
    "struct list { struct list *next; union { int i; float f[3]; } u; unsigned b : 3; };\n"
    "enum e { A = 1, B = -1 }; typedef enum e (*F)(struct list *, const char *, ...);\n"
    "F table[4]; static int count;\n"
    "int f(struct list *l, enum e e) { static int n; int a[3] = { e }; return l->u.i + a[0] + n + count; }\n";

static Str bitcode_of(Compiled *c)
{
    Str s = { 0 };
    Err err = { 0 };
    compiled_add(c, "a.c", subject, NULL);
    if (!file_read(c->bitcode.items[0], &s, &err))
        fail_msg("%s", err.msg);
    return s;
}

/* Reads all there is, prints all types; false: it was refused. */
static bool read_all(const void *data, size_t n, size_t *types)
{
    DebugInfo d = { 0 };
    Types ts = { 0 };
    TypeOfNode of = { 0 };
    Arena a = { 0 };
    bool ok = debuginfo_read(&d, data, n, NULL);
    if (ok) {
        types_build(&d, &a, &ts, &of);
        Str s = { 0 };
        for (size_t i = 0; i < ts.n; i++) {
            type_print(ts.all[i], "x", &s);
            type_print_definition(ts.all[i], &s);
            type_field_at(ts.all[i], 5);
        }
        str_release(&s);
    }
    *types = ts.n;
    free(of.type);
    debuginfo_release(&d);
    arena_release(&a);
    return ok;
}

static void a_good_file_is_read(void **state)
{
    (void)state;
    Compiled c = compiled_begin();
    Str s = bitcode_of(&c);
    size_t types;
    assert_true(read_all(s.data, s.len, &types));
    assert_true(types > 15);
    DebugInfo d = { 0 };
    assert_true(debuginfo_read(&d, s.data, s.len, NULL));
    assert_int_equal(d.functions.len, 1);
    assert_string_equal(d.functions.items[0].symbol, "f");
    assert_string_equal(debug_text(&d, d.functions.items[0].subprogram, SUBPROGRAM_NAME), "f");
    debuginfo_release(&d);
    str_release(&s);
    compiled_end(&c);
}

static void every_truncation_is_refused_or_read(void **state)
{
    (void)state;
    Compiled c = compiled_begin();
    Str s = bitcode_of(&c);
    size_t types, refused = 0;
    for (size_t n = 0; n < s.len; n += 3) {
        char *copy = xmalloc(n + 1);            /* so that a sanitizer sees */
        memcpy(copy, s.data, n);
        copy = xrealloc(copy, n ? n : 1);
        refused += !read_all(copy, n, &types);
        free(copy);
    }
    assert_true(refused > s.len / 6);
    str_release(&s);
    compiled_end(&c);
}

static void random_damage_is_survived(void **state)
{
    (void)state;
    Compiled c = compiled_begin();
    Str s = bitcode_of(&c);
    Rng r = rng_seeded(1);
    size_t types, refused = 0;
    char *copy = xmalloc(s.len);
    for (int round = 0; round < 3000; round++) {
        memcpy(copy, s.data, s.len);
        for (uint64_t k = rng_below(&r, 6) + 1; k; k--)
            copy[rng_below(&r, s.len)] = (char)rng_next(&r);
        refused += !read_all(copy, s.len, &types);
    }
    assert_true(refused > 100 && refused < 3000);
    free(copy);
    str_release(&s);
    compiled_end(&c);
}

static void what_is_no_bitcode_is_refused(void **state)
{
    (void)state;
    Err err = { 0 };
    assert_null(bits_open("hello, world", 12, &err));
    assert_string_equal(err.msg, "not LLVM bitcode");
    char wrapper[20] = "\xde\xc0\x17\x0b";
    memset(wrapper + 8, 0xff, 8);
    assert_null(bits_open(wrapper, sizeof wrapper, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_file_is_read),
        cmocka_unit_test(every_truncation_is_refused_or_read),
        cmocka_unit_test(random_damage_is_survived),
        cmocka_unit_test(what_is_no_bitcode_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
