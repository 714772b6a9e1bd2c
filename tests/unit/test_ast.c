/* program/ast: calls as the source has them. */
#include "base/file.h"
#include "base/tempdir.h"
#include "ast/ast.h"
#include "ast/ast_int.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

/* Sources in a folder of their own, with plain flags. */
typedef struct Bench {
    const char *dir;
    char *cache;
    CompileCommands commands;
    AstIndex *ix;
    Str dump;
} Bench;

static void write_text(Bench *b, const char *name, const char *text)
{
    char *path = path_join(b->dir, name);
    assert_true(file_write(path, text, strlen(text), NULL));
    free(path);
}

static Bench begin(void)
{
    Bench b = { .dir = tempdir_new(NULL, NULL) };
    assert_non_null(b.dir);
    b.cache = path_join(b.dir, "cache");
    return b;
}

static void add(Bench *b, const char *name, const char *text)
{
    write_text(b, name, text);
    CompileCommand *c = vec_grow(&b->commands);
    c->file = path_join(b->dir, name);
    c->directory = b->dir;
    c->output = "";
}

static void index_again(Bench *b, double seconds)
{
    Err err = { 0 };
    AstPlan plan = {
        .commands = &b->commands, .root = b->dir, .cache = b->cache, .jobs = 2, .seconds = seconds
    };
    ast_close(b->ix);
    b->ix = ast_open(&plan, &err);
    if (!b->ix)
        fail_msg("%s", err.msg);
    str_reset(&b->dump);
    ast_check(b->ix);
    ast_dump(b->ix, &b->dump);
}

static void end(Bench *b)
{
    ast_close(b->ix);
    for (size_t i = 0; i < b->commands.len; i++) {
        free((char *)b->commands.items[i].file);
        strings_release(&b->commands.items[i].clang);
    }
    vec_release(&b->commands);
    str_release(&b->dump);
    free(b->cache);
    tempdir_remove(b->dir);
}

static void says(Bench *b, const char *line)
{
    if (!strstr(str_c(&b->dump), line))
        fail_msg("no '%s' in:\n%s", line, str_c(&b->dump));
}

static const char prelude[] = "#include <string.h>\n"
                              "#define BUFSZ 512\n"
                              "#define WIDTH(p) ((p)->w)\n"
                              "#define CALL(a, b) two(a, b)\n"
                              "#define SURE(x) ((x) != 0)\n"
                              "enum color { RED, GREEN };\n"
                              "struct s { int w, h; char to[8]; int (*move)(int dx, int dy); };\n"
                              "int two(int width, int height);\n"
                              "int paint(enum color c, size_t n, void *user);\n";

static void names_come_from_what_is_written(void **state)
{
    (void)state;
    Bench b = begin();
    Str src = { 0 };
    str_add(&src, prelude);
    str_add(&src, "void f(struct s *p, struct s v, int **rows, int x) {\n"
                  "  two(x, (int)v.h); two(*rows[1], -1); two(x + 1, x + v.w);\n"
                  "  two(BUFSZ, WIDTH(p)); two('x', 3 /* height */);\n"
                  "  two(two(1, 2), sizeof v); two(RED, 0 ? p->w : p->w);\n"
                  "}\n");
    add(&b, "a.c", str_c(&src));
    index_again(&b, 0);
    says(&b, "a.c:11:3: two(int width, int height) in f\n"
             "  identifier x: int [plain] parameter 3\n"
             "  member h of v: int [plain]\n");
    says(&b, "  subscript rows: int [plain] parameter 2\n"
             "  literal: int [-1] = -1\n");
    says(&b, "  arithmetic ~x: int [plain]\n  arithmetic: int [plain]\n");
    says(&b, "  macro BUFSZ macro BUFSZ: int [macro] = 512\n"
             "  member w of p macro WIDTH: int [plain]\n");
    says(&b, "  literal: int [character] = 120\n"
             "  literal /*height*/: int [number] = 3\n");
    says(&b, "  call two: int [plain]\n"
             "  sizeof size: unsigned long to int [sizeof] of (v)\n");
    says(&b, "  enumerator RED: int [enum] = 0 in enum color\n"
             "  arithmetic ~w: int [plain]\n");
    str_release(&src);
    end(&b);
}

static void types_are_those_before_conversion(void **state)
{
    (void)state;
    Bench b = begin();
    Str src = { 0 };
    str_add(&src, prelude);
    str_add(&src, "typedef unsigned long count_t;\n"
                  "void f(struct s *p, count_t n, enum color c, struct s **list) {\n"
                  "  void *q = p;\n"
                  "  paint(c, n, q); paint(GREEN, sizeof(struct s *), (void *)list);\n"
                  "  paint(1, strlen(p->to), NULL);\n"
                  "}\n"
                  "int paint(enum color c, size_t n, void *user)\n"
                  "{ struct s *s = user; return s->w + c + (int)n; }\n");
    add(&b, "a.c", str_c(&src));
    index_again(&b, 0);
    says(&b, "paint(enum color c, size_t n, void * user->struct s *) in f\n"
             "  identifier c: enum color [enum] in enum color parameter 2\n"
             "  identifier n: count_t [plain] parameter 1\n"
             "  identifier q: void * <- struct s *\n");
    says(&b, "  sizeof size: unsigned long [sizeof pointer] of (struct s *)\n"
             "  identifier list: void * from struct s ** parameter 3\n");
    says(&b, "  call strlen: unsigned long [strlen]\n"
             "  literal macro NULL: void * from int = 0\n");
    const AstType *list = b.ix->calls[1]->args[2].inner;
    assert_int_equal(list->kind, AST_POINTER);
    assert_int_equal(list->pointee->pointee->kind, AST_RECORD);
    assert_int_equal(list->pointee->pointee->home, AST_PROJECT);
    assert_non_null(strstr(list->pointee->pointee->decl, "s"));
    str_release(&src);
    end(&b);
}

static void calls_through_pointers_and_macros_are_seen(void **state)
{
    (void)state;
    Bench b = begin();
    Str src = { 0 };
    str_add(&src, prelude);
    str_add(&src, "int (*table[3])(int row, int col);\n"
                  "void f(struct s *p, int x, int y) {\n"
                  "  p->move(x, y); table[1](x, y); (*p->move)(y, x);\n"
                  "  CALL(x, y); if (SURE(two(y, x))) return;\n"
                  "}\n");
    add(&b, "a.c", str_c(&src));
    index_again(&b, 0);
    says(&b, "a.c:12:3: struct s.move(int dx, int dy) in f\n");
    says(&b, "a.c:12:18: table(int row, int col) in f\n");
    says(&b, "a.c:12:34: struct s.move(int dx, int dy) in f\n");
    says(&b, "a.c:13:3: two(int width, int height) in f in macro\n"
             "  identifier x: int [plain] parameter 1\n");
    says(&b, "a.c:13:24: two(int width, int height) in f\n");
    assert_ptr_equal(b.ix->calls[0]->callee, b.ix->calls[2]->callee);
    str_release(&src);
    end(&b);
}

static void a_call_in_a_header_is_there_once(void **state)
{
    (void)state;
    Bench b = begin();
    write_text(&b, "h.h",
               "int two(int a, int b);\n"
               "static inline int in(int x) { return two(x, 1); }\n");
    add(&b, "a.c", "#include \"h.h\"\nint fa(void) { return in(3); }\n");
    add(&b, "b.c",
        "#include \"h.h\"\nint two(int first, int second)\n"
        "{ return first - in(second); }\n");
    index_again(&b, 0);
    assert_int_equal(b.ix->ncalls, 3);
    says(&b, "h.h:2:38: two(int first/a, int second/b) in in\n");
    end(&b);
}

static void equal_static_names_stay_apart(void **state)
{
    (void)state;
    Bench b = begin();
    const char *text = "static int two(int a, int b) { return a - b; }\n"
                       "int %s(int x) { return two(x, 1); }\n";
    char *one = xprintf(text, "fa"), *other = xprintf(text, "fb");
    add(&b, "a.c", one);
    add(&b, "b.c", other);
    index_again(&b, 0);
    assert_int_equal(b.ix->ncalls, 2);
    assert_ptr_not_equal(b.ix->calls[0]->callee, b.ix->calls[1]->callee);
    free(one);
    free(other);
    end(&b);
}

static void a_unit_is_parsed_again_only_if_something_changed(void **state)
{
    (void)state;
    Bench b = begin();
    write_text(&b, "h.h", "int two(int a, int b);\n");
    add(&b, "a.c", "#include \"h.h\"\nint fa(void) { return two(3, 4); }\n");
    add(&b, "b.c", "int two(int a, int b); int fb(void) { return two(3, 4); }\n");
    index_again(&b, 0);
    assert_int_equal(b.ix->ncached, 0);
    Str first = { 0 };
    str_add(&first, str_c(&b.dump));
    index_again(&b, 0);
    assert_int_equal(b.ix->ncached, 2);
    assert_string_equal(str_c(&first), str_c(&b.dump));
    write_text(&b, "h.h", "int two(int a, int b);\n");   /* only its time */
    index_again(&b, 0);
    assert_int_equal(b.ix->ncached, 2);
    write_text(&b, "h.h", "int two(int from, int to);\n");
    index_again(&b, 0);
    assert_int_equal(b.ix->ncached, 1);
    says(&b, "two(int from/a, int to/b) in fa");
    str_release(&first);
    end(&b);
}

static void damaged_facts_are_not_believed(void **state)
{
    (void)state;
    Bench b = begin();
    add(&b, "a.c",
        "int two(int a, char *b); int fa(int x) "
        "{ return two(x, \"s\"); }\n");
    index_again(&b, 0);
    Strings names = { 0 };
    Str data = { 0 };
    assert_true(dir_list(b.cache, &names, NULL));
    assert_int_equal(names.len, 1);
    char *path = path_join(b.cache, names.items[0]);
    assert_true(file_read(path, &data, NULL));
    for (size_t i = 0; i < data.len; i++) {
        char *copy = xmalloc(data.len);
        memcpy(copy, data.data, data.len);
        copy[i] ^= 0x55;
        AstStore st = { 0 };
        ast_merge(&st, copy, data.len);          /* any answer, no crash */
        ast_store_release(&st);
        AstStore cut = { 0 };
        assert_false(ast_merge(&cut, data.data, i));
        ast_store_release(&cut);
        free(copy);
    }
    AstStore whole = { 0 };
    assert_true(ast_merge(&whole, data.data, data.len));
    assert_int_equal(whole.calls.len, 1);
    ast_store_release(&whole);
    write_text(&b, "cache/x", "");
    assert_true(file_write(path, "rubbish", 7, NULL));
    index_again(&b, 0);
    assert_int_equal(b.ix->ncached, 0);
    assert_int_equal(b.ix->ncalls, 1);
    strings_release(&names);
    str_release(&data);
    free(path);
    end(&b);
}

static void what_does_not_compile_gives_a_note(void **state)
{
    (void)state;
    Bench b = begin();
    add(&b, "a.c", "#include \"missing.h\"\nint f(int a) { return g(a, a); }\n");
    add(&b, "b.c", "int two(int a, int b); int f(void) { return two(1, }\n");
    add(&b, "c.c", "int two(int a, int b); int h(void) { return two(1, 2); }\n");
    add(&b, "gone.c", "");
    unlink(b.commands.items[3].file);
    index_again(&b, 0);
    assert_int_equal(b.ix->ncalls, 1);
    assert_int_equal(b.ix->nnotes, 3);
    says(&b, "note: a.c: a.c:1: 'missing.h' file not found\n");
    says(&b, "note: b.c: b.c:1: expected expression\n");
    says(&b, "note: gone.c: ");
    end(&b);
}

static void a_hanging_worker_is_ended_and_named(void **state)
{
    (void)state;
    Bench b = begin();
    Str deep = { 0 };
    str_add(&deep, "#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(A(x))))\n"
                   "int v = 0 B(B(+ 1));\n");
    add(&b, "slow.c", str_c(&deep));
    add(&b, "c.c", "int two(int a, int b); int h(void) { return two(1, 2); }\n");
    index_again(&b, 2);
    assert_int_equal(b.ix->ncalls, 1);
    assert_int_equal(b.ix->nnotes, 1);
    assert_string_equal(path_base(b.ix->notes[0].file), "slow.c");
    str_release(&deep);
    end(&b);
}

/* The first unit can't be read with so little memory: its worker dies, and
 * the rest of the batch, too, each in a worker of its own. */
static void a_dying_worker_is_a_note(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    const size_t lost = 0;             /* memory can't be limited there */
#else
    const size_t lost = 2;
#endif
    Bench b = begin();
    Err err = { 0 };
    add(&b, "a.c", "int two(int a, int b); int f(void) { return two(1, 2); }\n");
    add(&b, "b.c", "int two(int a, int b); int g(void) { return two(1, 2); }\n");
    AstPlan plan = { .commands = &b.commands, .root = b.dir, .jobs = 1, .memory = 1 << 20 };
    b.ix = ast_open(&plan, &err);
    assert_non_null(b.ix);
    assert_int_equal(b.ix->nnotes, lost);
    assert_int_equal(b.ix->ncalls, 2 - lost);
    for (size_t i = 0; i < lost; i++)
        assert_non_null(strstr(b.ix->notes[i].file, i ? "b.c" : "a.c"));
    end(&b);
}

static void hostile_and_large_sources_are_read(void **state)
{
    (void)state;
    Bench b = begin();
    Str big = { 0 };
    str_add(&big, "/* gr\xfc\xdf"
                  "e */\nint two(int a, int b);\nvoid f(int x) {\n");
    for (int i = 0; i < 10000; i++)
        str_addf(&big, "  two(x, %d);\n", i);
    str_add(&big, "}\n");
    add(&b, "big.c", str_c(&big));
    add(&b, "latin.c",
        "int two(int gr\xf6\xdf, const char *b);\n"
        "int g(void) { return two(1, \"\xff\xfe\"); }\n");
    Str nest = { 0 };
    str_add(&nest, "int one(int a); int d(int x) { return ");
    for (int i = 0; i < 200; i++)
        str_add(&nest, "one(");
    str_add(&nest, "x");
    for (int i = 0; i < 200; i++)
        str_add(&nest, ")");
    str_add(&nest, "; }\n");
    add(&b, "nest.c", str_c(&nest));
    add(&b, "made.c",
        "/* Generated by hand. DO NOT EDIT */\n"
        "int one(int a); int e(void) { return one(1); }\n");
    index_again(&b, 0);
    size_t big_calls = 0, made = 0;
    for (size_t i = 0; i < b.ix->ncalls; i++) {
        big_calls += strcmp(path_base(b.ix->calls[i]->place.file->path), "big.c") == 0;
        made += b.ix->calls[i]->place.file->generated;
    }
    assert_int_equal(big_calls, 10000);
    assert_int_equal(made, 1);
    says(&b, "one(int a) in d\n  call one: int [plain]\n");
    str_release(&big);
    str_release(&nest);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_come_from_what_is_written),
        cmocka_unit_test(types_are_those_before_conversion),
        cmocka_unit_test(calls_through_pointers_and_macros_are_seen),
        cmocka_unit_test(a_call_in_a_header_is_there_once),
        cmocka_unit_test(equal_static_names_stay_apart),
        cmocka_unit_test(a_unit_is_parsed_again_only_if_something_changed),
        cmocka_unit_test(damaged_facts_are_not_believed),
        cmocka_unit_test(what_does_not_compile_gives_a_note),
        cmocka_unit_test(a_hanging_worker_is_ended_and_named),
        cmocka_unit_test(a_dying_worker_is_a_note),
        cmocka_unit_test(hostile_and_large_sources_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
