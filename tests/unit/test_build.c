/* build/build: one key over what decides a build, and only whole builds are kept. */
#include "build/build.h"
#include "compile.h"
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Making {
    int made;                    /* how often make() was called */
    bool fails, dies;            /* after half of it */
} Making;

static bool make(void *arg, const char *out, Err *err)
{
    Making *m = arg;
    m->made++;
    if (!file_write(out, m->fails || m->dies ? "hal" : "whole", m->fails || m->dies ? 3 : 5, err))
        return false;
    if (m->dies)
        _exit(7);
    return !m->fails || err_set(err, "the linker said no");
}

/* A program, a folder with runtime/a.bc and runtime/b.bc, and a recipe for both. */
typedef struct Bench {
    Compiled compiled;
    Making making;
    BuildRecipe recipe;
} Bench;

static const char *const runtimes[] = { "a", NULL };

static Bench *bench_new(void)
{
    Bench *b = xcalloc(1, sizeof *b);
    Err err = { 0 };
    b->compiled = compiled("int f(void) { return 1; }\n");
    char *folder = path_join(b->compiled.dir, "runtime");
    assert_true(dir_make(folder, &err));
    compiled_file(&b->compiled, "runtime/a.bc", "first");
    compiled_file(&b->compiled, "runtime/b.bc", "second");
    free(folder);
    b->recipe = (BuildRecipe){ .program = b->compiled.program,
                               .name = "thing.so",
                               .libexec = b->compiled.dir,
                               .runtimes = runtimes,
                               .make = make,
                               .arg = &b->making };
    return b;
}

static void bench_free(Bench *b)
{
    compiled_end(&b->compiled);
    free(b);
}

/* Is the path of `r` another one than that of the bench's recipe? */
static bool differs(Bench *b, BuildRecipe r)
{
    char *a = build_path(&b->recipe), *c = build_path(&r);
    bool other = strcmp(a, c) != 0;
    free(a);
    free(c);
    return other;
}

static void the_same_recipe_is_made_once(void **state)
{
    (void)state;
    Err err = { 0 };
    Bench *b = bench_new();
    char *none = build_kept(&b->recipe), *first = build_get(&b->recipe, &err);
    char *second = build_get(&b->recipe, &err), *kept = build_kept(&b->recipe);
    assert_null(none);
    assert_string_equal(first, second);
    assert_string_equal(first, kept);
    assert_int_equal(b->making.made, 1);
    Str text = { 0 };
    assert_true(file_read(first, &text, &err));
    assert_string_equal(str_c(&text), "whole");
    str_release(&text);
    free(first);
    free(second);
    free(kept);
    bench_free(b);
}

static void another_ingredient_is_another_path(void **state)
{
    (void)state;
    static char *const link[] = { "-lz", NULL }, *const longer[] = { "-lz", "-lm", NULL };
    static const char *const both[] = { "a", "b", NULL };
    Bench *b = bench_new();
    BuildRecipe r = b->recipe;
    assert_false(differs(b, r));
    r.make = NULL;                           /* how it is made is not what it is */
    assert_false(differs(b, r));
    r = b->recipe, r.name = "other.so";
    assert_true(differs(b, r));
    r = b->recipe, r.variant = "argv";
    assert_true(differs(b, r));
    r = b->recipe, r.driver = "argv";        /* the same text elsewhere */
    assert_true(differs(b, r));
    BuildRecipe with_variant = b->recipe;
    with_variant.variant = "argv";
    char *one = build_path(&with_variant), *two = build_path(&r);
    assert_string_not_equal(one, two);
    free(one);
    free(two);
    r = b->recipe, r.link = link;
    assert_true(differs(b, r));
    b->recipe.link = longer;
    assert_true(differs(b, r));
    b->recipe.link = NULL;
    r = b->recipe, r.runtimes = both;
    assert_true(differs(b, r));
    bench_free(b);
}

/* The content of a file decides, not its time. */
static void the_content_of_files_is_an_ingredient(void **state)
{
    (void)state;
    Bench *b = bench_new();
    char *folder = path_join(b->compiled.dir, "tables"), *file = path_join(folder, "t.txt");
    const char *const files[] = { folder, NULL };
    assert_true(dir_make(folder, NULL));
    compiled_file(&b->compiled, "tables/t.txt", "one");
    b->recipe.files = files;
    char *before = build_path(&b->recipe);
    struct timespec old[2] = { { .tv_sec = 1000000 }, { .tv_sec = 1000000 } };
    assert_int_equal(utimensat(AT_FDCWD, file, old, 0), 0);
    char *touched = build_path(&b->recipe);
    assert_string_equal(before, touched);
    compiled_file(&b->compiled, "tables/t.txt", "two");
    char *changed = build_path(&b->recipe);
    assert_string_not_equal(before, changed);
    compiled_file(&b->compiled, "runtime/a.bc", "newer");
    char *runtime = build_path(&b->recipe);
    assert_string_not_equal(changed, runtime);
    free(before);
    free(touched);
    free(changed);
    free(runtime);
    free(folder);
    free(file);
    bench_free(b);
}

static void another_program_is_another_path(void **state)
{
    (void)state;
    Bench *b = bench_new();
    Compiled other = compiled("int f(void) { return 2; }\n");
    BuildRecipe r = b->recipe;
    r.program = other.program;
    char *one = build_path(&b->recipe), *two = build_path(&r);
    /* The folders differ in any case: bitcode has a temporary one. */
    assert_string_not_equal(path_base(one), path_base(two));
    free(one);
    free(two);
    compiled_end(&other);
    bench_free(b);
}

static void a_failed_build_is_not_kept(void **state)
{
    (void)state;
    Err err = { 0 };
    Bench *b = bench_new();
    b->making.fails = true;
    assert_null(build_get(&b->recipe, &err));
    assert_string_equal(err.msg, "the linker said no");
    assert_null(build_kept(&b->recipe));
    assert_null(build_get(&b->recipe, &err));
    assert_int_equal(b->making.made, 2);
    b->making.fails = false;
    char *path = build_get(&b->recipe, &err);
    assert_non_null(path);
    free(path);
    bench_free(b);
}

static void a_half_written_build_is_not_kept(void **state)
{
    (void)state;
    Err err = { 0 };
    Bench *b = bench_new();
    b->making.dies = true;
    pid_t pid = fork();
    if (pid == 0) {
        build_get(&b->recipe, &err);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_null(build_kept(&b->recipe));
    b->making.dies = false;
    char *path = build_get(&b->recipe, &err), *folder = path_dir(path);
    assert_non_null(path);
    assert_int_equal(file_size(path), 5);
    Strings names = { 0 };                     /* its scratch is gone, too */
    assert_true(dir_list(folder, &names, &err));
    for (size_t i = 0; i < names.len; i++)
        assert_false(str_starts(names.items[i], "sundew-"));
    strings_release(&names);
    free(folder);
    free(path);
    bench_free(b);
}

/* Builds of the same name that nobody has used for long go, others stay. */
static void old_builds_go(void **state)
{
    (void)state;
    Err err = { 0 };
    Bench *b = bench_new();
    struct timespec old[2] = { { .tv_sec = 1000000 }, { .tv_sec = 1000000 } };
    b->recipe.variant = "older";
    char *older = build_get(&b->recipe, &err);
    b->recipe.variant = "newer";
    char *newer = build_get(&b->recipe, &err);
    b->recipe.name = "another.so";
    char *another = build_get(&b->recipe, &err);
    assert_int_equal(utimensat(AT_FDCWD, older, old, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, another, old, 0), 0);
    b->recipe.name = "thing.so";
    b->recipe.variant = "newest";
    char *newest = build_get(&b->recipe, &err);
    assert_false(file_exists(older));
    assert_true(file_exists(newer) && file_exists(newest) && file_exists(another));
    free(older);
    free(newer);
    free(another);
    free(newest);
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_recipe_is_made_once),
        cmocka_unit_test(another_ingredient_is_another_path),
        cmocka_unit_test(the_content_of_files_is_an_ingredient),
        cmocka_unit_test(another_program_is_another_path),
        cmocka_unit_test(a_failed_build_is_not_kept),
        cmocka_unit_test(a_half_written_build_is_not_kept),
        cmocka_unit_test(old_builds_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
