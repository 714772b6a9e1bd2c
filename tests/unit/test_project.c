/* src/project/: recognised builds, observed runs, plans. */
#include "base/file.h"
#include "base/tempdir.h"
#include "project/plan.h"
#include "project/recognise.h"
#include <setjmp.h>
#include <stdarg.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/stat.h>
#include <time.h>

static void put(const char *root, const char *name, const char *text)
{
    char *path = path_join(root, name), *dir = path_dir(path);
    assert_true(dir_make(dir, NULL) && file_write(path, text, strlen(text), NULL));
    free(dir);
    free(path);
}

static void a_makefile_comes_before_cmake_and_both_are_tried(void **state)
{
    (void)state;
    const char *root = tempdir_new(NULL, NULL);
    Builds b = { 0 };
    put(root, "Makefile", "");
    put(root, "CMakeLists.txt", "");
    recognise(root, "/ws", 3, &b);
    assert_int_equal(b.len, 2);
    assert_string_equal(b.items[0].command, "make -j3");
    assert_string_equal(b.items[1].system, "CMake");
    assert_non_null(strstr(b.items[1].command, "cmake --build /ws/build-CMake-"));
    builds_release(&b);
    tempdir_remove(root);
}

/* Seconds since the file was written. */
static void set_age(const char *root, const char *name, time_t age)
{
    char *path = path_join(root, name);
    time_t then = time(NULL) - age;
    struct timespec times[2] = { { .tv_sec = then }, { .tv_sec = then } };
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    free(path);
}

static void a_configure_script_makes_the_makefile(void **state)
{
    (void)state;
    const char *root = tempdir_new(NULL, NULL);
    Builds b = { 0 };
    put(root, "configure", "");
    put(root, "configure.ac", "");
    put(root, "Makefile", "");                 /* the project's, for developers */
    set_age(root, "Makefile", 20);
    set_age(root, "configure", 10);
    recognise(root, "/ws", 1, &b);
    assert_int_equal(b.len, 2);
    assert_string_equal(b.items[0].command, "sh ./configure && make -j1");
    assert_string_equal(b.items[1].system, "autoreconf");    /* if that does not work */
    builds_release(&b);
    set_age(root, "Makefile", 5); /* somebody has configured it, perhaps with options */
    recognise(root, "/ws", 1, &b);
    assert_int_equal(b.len, 3);
    assert_string_equal(b.items[0].command, "make -j1");
    assert_string_equal(b.items[1].command, "sh ./configure && make -j1");
    builds_release(&b);
    tempdir_remove(root);
}

static void a_folder_that_was_configured_in_is_built(void **state)
{
    (void)state;
    const char *root = tempdir_new(NULL, NULL);
    Builds b = { 0 };
    put(root, "configure", "");
    put(root, "out/config.status", "ac_pwd='/x/out'\n\nsrcdir='..'\nINSTALL='x'\n");
    put(root, "out/Makefile", "");
    put(root, "part/config.status", "\nsrcdir='.'\n");       /* a project of its own */
    put(root, "part/Makefile", "");
    recognise(root, "/ws", 1, &b);
    assert_int_equal(b.len, 1);
    assert_string_equal(b.items[0].command, "make -j1");
    assert_true(str_ends(b.items[0].folder, "/out"));
    builds_release(&b);
    put(root, "config.status", "\nsrcdir='.'\n");            /* and here, too */
    recognise(root, "/ws", 1, &b);
    assert_int_equal(b.len, 1);
    assert_string_equal(b.items[0].folder, root);
    builds_release(&b);
    tempdir_remove(root);
}

static void folders_are_looked_at_where_the_root_has_no_build(void **state)
{
    (void)state;
    const char *root = tempdir_new(NULL, NULL);
    Builds b = { 0 };
    put(root, "one/Makefile", "");
    put(root, "two; rm -rf x/meson.build", "");
    put(root, ".hidden/Makefile", "");
    recognise(root, "/ws", 1, &b);
    assert_int_equal(b.len, 2);
    assert_true(str_ends(b.items[0].folder, "/one"));
    assert_null(strstr(b.items[1].command, "; rm")); /* names are made safe */
    builds_release(&b);
    tempdir_remove(root);
}

static void a_log_of_runs_is_read_as_a_strangers_file(void **state)
{
    (void)state;
    const char *root = tempdir_new(NULL, NULL);
    ObservedRuns runs = { 0 };
    put(root, "runs.json",
        "{\"run\":1,\"program\":\"/p\",\"cwd\":\"/\",\"args\":[\"a\",\"b\"],\"file\":1,\"input\":\"pipe\",\"seed\":\"\"}\n"
        "nonsense\n[1]\n{\"run\":9,\"status\":3}\n{\"run\":1,\"status\":3}\n"
        "{\"run\":2,\"program\":\"/p\",\"file\":7,\"seed\":\"../../etc/passwd\"}\n"
        "{\"run\":3,\"program\":\"/p\",\"file\":7,\"seed\":\"s\"}\n"
        "{\"run\":1,\"seed\":\"late\"}\n{\"run\":2,\"seed\":\"../x\"}\n{\"run\":7,\"seed\":\"s\"}\n"
        "{\"run\":4,\"prog");
    char *log = path_join(root, "runs.json");
    observe_read(log, &runs);
    assert_int_equal(runs.len, 2);
    assert_int_equal(runs.items[0].status, 3);
    assert_int_equal(runs.items[0].file, 1);
    assert_int_equal(runs.items[0].input, INPUT_PIPE);
    assert_int_equal(runs.items[1].file, -1); /* there is no such argument */
    assert_true(str_ends(runs.items[1].seed, "/seeds/s"));
    assert_true(str_ends(runs.items[0].seed, "/seeds/late"));
    observed_release(&runs);
    free(log);
    tempdir_remove(root);
}

static void starts_of_programs_are_observed(void **state)
{
    (void)state;
    const char *root = tempdir_new(NULL, NULL);
    char *real = path_real(root), *log = path_join(root, "runs.json");
    char *seeds = path_join(root, "seeds"), *tool = path_join(real, "tool");
    Str binary = { 0 };
    put(root, "input.txt", "hello");
    assert_true(file_read("/bin/cat", &binary, NULL) &&
                file_write(tool, str_c(&binary), binary.len, NULL));
    char *script = xprintf(
        "chmod +x %s; cd %s; ./tool input.txt >/dev/null; "
        "mkdir tmp; cp tool tmp; ./tmp/tool input.txt >/dev/null; "
        "{ echo x; sleep 0.1; echo y; } | ./tool - >/dev/null; ./tool missing 2>/dev/null; exit 5",
        tool, real);
    char *argv[] = { "sh", "-c", script, NULL };
    char *tools = path_join(real, "tmp");
    ObservePlan plan = { .argv = argv, .root = real, .tools = tools, .log = log, .seeds = seeds };
    ProcResult r = { 0 };
    Err err = { 0 };
    ObservedRuns runs = { 0 };
    assert_true(observe_run(&plan, &r, &err));
    assert_int_equal(r.status, 5);
    observe_read(log, &runs);
    assert_int_equal(runs.len, 3);
    assert_string_equal(runs.items[0].args.items[0], "input.txt");
    assert_int_equal(runs.items[0].file, 0);
    assert_int_equal(runs.items[0].status, 0);
    assert_int_equal(file_size(runs.items[0].seed), 5);
    assert_int_equal(runs.items[1].input, INPUT_PIPE);
    Str piped = { 0 };
    assert_true(file_read(runs.items[1].seed, &piped, NULL));
    assert_string_equal(str_c(&piped), "x\ny\n");
    str_release(&piped);
    assert_int_equal(runs.items[2].file, -1);
    assert_int_equal(runs.items[2].status, 1);
    assert_string_equal(runs.items[2].seed, "");
    observed_release(&runs);
    str_release(&binary);
    free(script);
    free(tools);
    free(tool);
    free(seeds);
    free(log);
    free(real);
    tempdir_remove(root);
}

static void a_copy_is_a_run_of_its_original(void **state)
{
    (void)state;
    const char *root = tempdir_new(NULL, NULL), *other = tempdir_new(NULL, NULL);
    char *real = path_real(root), *log = path_join(root, "runs.json");
    char *seeds = path_join(root, "seeds"), *tool = path_join(real, "tool");
    Map captured = { 0 };
    map_put(&captured, tool, NULL);
    char *script = xprintf("cp /bin/cat %s; cp %s %s/a; cp /bin/echo %s/b; %s/a /dev/null; "
                           "%s/b x >/dev/null",
                           tool, tool, other, other, other, other);
    char *argv[] = { "sh", "-c", script, NULL };
    ObservePlan plan = {
        .argv = argv, .root = real, .besides = &captured, .log = log, .seeds = seeds
    };
    ProcResult r = { 0 };
    ObservedRuns runs = { 0 };
    assert_true(observe_run(&plan, &r, NULL));
    observe_read(log, &runs);
    assert_int_equal(runs.len, 1);
    assert_string_equal(runs.items[0].program, tool);
    assert_string_equal(runs.items[0].args.items[0], "/dev/null");
    observed_release(&runs);
    map_release(&captured);
    free(script);
    free(tool);
    free(seeds);
    free(log);
    free(real);
    tempdir_remove(root);
    tempdir_remove(other);
}

static void a_plan_has_cheap_and_valuable_steps_first(void **state)
{
    (void)state;
    Plan plan = { .technique = "b" };
    step_costs(plan_step(&plan, STAGE_FED, "x", "r"), 1, 1, 100);
    step_costs(plan_step(&plan, STAGE_RUNS, "slow", "r"), 10, 20, 1);
    step_costs(plan_step(&plan, STAGE_RUNS, "quick", "%d files", 3), 1, 20, 1);
    plan.technique = "a";
    assert_false(plan_has_step(&plan));
    step_costs(plan_step(&plan, STAGE_SOURCE, "s", "r"), 100, 100, 1);
    plan_skip(&plan, "", "no %s", "reason");
    plan_sort(&plan);
    assert_string_equal(plan.steps.items[0]->subject, "s");
    assert_string_equal(plan.steps.items[1]->subject, "quick");
    assert_string_equal(plan.steps.items[1]->reason, "3 files");
    assert_string_equal(plan.steps.items[3]->subject, "x");
    assert_string_equal(plan.skipped.items[0].why, "no reason");
    plan.steps.items[1]->variant = "@@";
    assert_string_equal(step_name(&plan, plan.steps.items[1]), "b quick (@@)");
    plan_release(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_makefile_comes_before_cmake_and_both_are_tried),
        cmocka_unit_test(a_configure_script_makes_the_makefile),
        cmocka_unit_test(a_folder_that_was_configured_in_is_built),
        cmocka_unit_test(a_copy_is_a_run_of_its_original),
        cmocka_unit_test(folders_are_looked_at_where_the_root_has_no_build),
        cmocka_unit_test(a_log_of_runs_is_read_as_a_strangers_file),
        cmocka_unit_test(starts_of_programs_are_observed),
        cmocka_unit_test(a_plan_has_cheap_and_valuable_steps_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
