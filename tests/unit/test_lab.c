/* build/lab: C tests that include a unit, linked with the rest of the program. */
#include "build/lab.h"
#include "compile.h"
#include <string.h>

static const char a_c[] = "int get(void);\n"
                          "static int twice(int n) { return 2 * n + get(); }\n"
                          "int main(void) { return twice(1); }\n";
static const char b_c[] = "static int count = 5;\n"
                          "const int limit = 9;\n"
                          "static int step(void) { return ++count; }\n"
                          "int get(void) { return step(); }\n";

/* A program of two units that one command compiled and linked, as captured. */
typedef struct Bench {
    Compiled c;
    Unit units[2];
    const Unit *list[2];
    CapturedProgram captured;
    Workspace *ws;
    Program *program;
    char *folder, *help_h, *help_c;
    const char *support[3];
    Lab *lab;
} Bench;

static void add_unit(Bench *b, int i, const char *name, const char *text)
{
    Unit *u = &b->units[i];
    compiled_add(&b->c, name, text, NULL);
    u->id = i ? "unit-b" : "unit-a";
    u->source = path_join(b->c.dir, name);
    u->bitcode = b->c.bitcode.items[i];
    u->directory = b->c.dir;
    u->output = "";
    strings_add(&u->arguments, "gcc");
    strings_add(&u->arguments, u->source);
    strings_add(&b->captured.link, u->source);
    b->list[i] = u;
}

static Bench *bench_new(bool asan)
{
    Err err = { 0 };
    Bench *b = xcalloc(1, sizeof *b);
    b->c = compiled_begin();
    strings_add(&b->captured.link, "gcc");
    add_unit(b, 0, "a.c", a_c);
    add_unit(b, 1, "b.c", b_c);
    strings_add(&b->captured.link, "-o");
    strings_add(&b->captured.link, "prog");
    b->captured.name = b->captured.path = "prog";
    b->captured.link_directory = b->c.dir;
    b->captured.units = b->list;
    b->captured.nunits = 2;
    char *ws = path_join(b->c.dir, ".sundew");
    b->ws = workspace_open(ws, true, &err);
    b->program = b->ws ? program_open(b->ws, &b->captured, &err) : NULL;
    free(ws);
    b->folder = path_join(b->c.dir, "tests");
    assert_true(dir_make(b->folder, &err));
    compiled_file(&b->c, "help.h", "int help(void);\n");
    compiled_file(&b->c, "help.c", "int help(void) { return 3; }\n");
    b->support[0] = b->help_h = path_join(b->c.dir, "help.h");
    b->support[1] = b->help_c = path_join(b->c.dir, "help.c");
    b->lab = b->program ? lab_new(&(LabPlan){ .program = b->program,
                                              .folder = b->folder,
                                              .support = b->support,
                                              .asan = asan },
                                  &err)
                        : NULL;
    if (!b->lab)
        fail_msg("%s", err.msg);
    return b;
}

static void bench_free(Bench *b)
{
    lab_free(b->lab);
    program_close(b->program);
    workspace_close(b->ws);
    strings_release(&b->captured.link);
    for (int i = 0; i < 2; i++) {
        free((char *)b->units[i].source);
        strings_release(&b->units[i].arguments);
    }
    free(b->folder);
    free(b->help_h);
    free(b->help_c);
    compiled_end(&b->c);
    free(b);
}

static void declare_int(void *arg, const Variable *v, const char *name, Str *out)
{
    (void)arg, (void)v;
    str_addf(out, "int %s", name);
}

static const Variable *variable(const Bench *b, const char *name)
{
    size_t n;
    const Variable *all = program_variables(b->program, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    fail_msg("no variable %s", name);
    return NULL;
}

static int run_in(const char *cwd, char *const *argv)
{
    ProcResult r = { 0 };
    Err err = { 0 };
    Proc p = { .argv = argv, .capture = true, .seconds = 120, .cwd = cwd };
    if (!proc_run(&p, &r, &err))
        fail_msg("%s", err.msg);
    if (r.status)
        print_message("%s%s\n", str_c(&r.out), str_c(&r.err));
    int status = r.status;
    proc_result_release(&r);
    return status;
}

/* A test of the static twice() that names static things of the other unit. */
static const LabUnit *write_test(Bench *b)
{
    static const char body[] =
        "int main(void)\n{\n    program_count = 7;\n"
        "    int stepped = twice(2);\n"
        "    program_step();\n"
        "    return stepped == 4 + 8 && program_count == 9 && help() == 3 ? 0 : 1;\n}\n";
    Err err = { 0 };
    Str text = { 0 };
    bool fixed = true;
    const LabUnit *u = lab_unit_of(b->lab, program_function(b->program, "twice"), NULL);
    assert_non_null(u);
    assert_true(str_ends(lab_unit_source(u), "/a.c"));
    LabView *v = lab_view(b->lab, u, &(LabViewPlan){ .declaration = declare_int }, &err);
    if (!v)
        fail_msg("%s", err.msg);
    assert_true(lab_sees(v, lab_unit_source(u)));
    assert_false(lab_sees(v, b->units[1].source));
    assert_true(map_has(lab_taken(v), "get"));
    assert_string_equal(lab_variable(v, variable(b, "count"), &fixed), "program_count");
    assert_false(fixed);
    assert_non_null(lab_variable(v, variable(b, "limit"), &fixed));
    assert_true(fixed);
    assert_string_equal(lab_function(v, "step"), "program_step");
    assert_string_equal(lab_function(v, "twice"), "twice");
    lab_preamble(v, body, &text);
    assert_null(strstr(str_c(&text), "limit"));          /* the body does not name it */
    str_add(&text, body);
    char *path = path_join(b->folder, "t.c");
    assert_true(file_write(path, str_c(&text), text.len, &err));
    free(path);
    str_release(&text);
    return u;
}

static void build_and_run(bool asan)
{
    Err err = { 0 };
    Bench *b = bench_new(asan);
    const LabUnit *u = write_test(b);
    char *source = path_join(b->folder, "t.c"), *out = path_join(b->folder, "t");
    char *argv[] = { out, NULL };
    if (!lab_build(b->lab, u, source, out, 0, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(run_in(b->folder, argv), 0);
    free(source);
    free(out);
    bench_free(b);
}

static void a_test_names_static_things(void **state)
{
    (void)state;
    build_and_run(false);
}

static void a_test_runs_with_the_address_sanitizer(void **state)
{
    (void)state;
    build_and_run(true);
}

static void a_test_that_does_not_compile_says_why(void **state)
{
    (void)state;
    Err err = { 0 };
    Bench *b = bench_new(false);
    const LabUnit *u = write_test(b);
    char *source = path_join(b->folder, "t.c"), *out = path_join(b->folder, "t");
    assert_true(file_write(source, "int main(void) { return missing; }\n", 35, NULL));
    assert_false(lab_build(b->lab, u, source, out, 0, &err));
    assert_non_null(strstr(err.msg, "missing"));
    assert_false(file_exists(out));
    free(source);
    free(out);
    bench_free(b);
}

static void the_makefile_builds_it_from_nothing(void **state)
{
    (void)state;
    Err err = { 0 };
    Bench *b = bench_new(false);
    const LabUnit *unit = write_test(b);
    const LabTest tests[] = { { "t", unit, false }, { "u", unit, true } };
    Str text = { 0 };
    char *path = path_join(b->folder, "Makefile"), *objects = path_join(b->folder, "objects");
    char *make[] = { "make", "-s", "t", NULL }, *test[] = { "./t", NULL };
    if (!lab_makefile(b->lab, tests, 2, &text, &err))
        fail_msg("%s", err.msg);
    assert_true(file_write(path, str_c(&text), text.len, &err));
    assert_non_null(strstr(strstr(str_c(&text), "\nu: u.c"), " -O0 "));
    dir_remove(objects);
    assert_int_equal(run_in(b->folder, make), 0);
    assert_int_equal(run_in(b->folder, test), 0);
    str_release(&text);
    free(path);
    free(objects);
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_test_names_static_things),
        cmocka_unit_test(a_test_runs_with_the_address_sanitizer),
        cmocka_unit_test(a_test_that_does_not_compile_says_why),
        cmocka_unit_test(the_makefile_builds_it_from_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
