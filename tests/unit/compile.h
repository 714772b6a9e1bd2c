/*
 * compile - small C subjects made into bitcode while a test runs, as a capture
 * would make it.
 *
 *     Compiled c = compiled_begin();
 *     compiled_add(&c, "a.c", "int f(void) { return 1; }\n", NULL);
 *     Program *p = compiled_open(&c);
 *     …
 *     compiled_end(&c);                      closes the program too
 */
#ifndef SUNDEW_TEST_COMPILE_H
#define SUNDEW_TEST_COMPILE_H
#include "base/file.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include "program/program.h"
#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

typedef struct Compiled {
    const char *dir;
    Strings bitcode;
    Program *program;
} Compiled;

static inline Compiled compiled_begin(void)
{
    Err err = { 0 };
    Compiled c = { .dir = tempdir_new(NULL, &err) };
    assert_non_null(c.dir);
    return c;
}

/* A file beside the units: a header. */
static inline void compiled_file(Compiled *c, const char *name, const char *text)
{
    Err err = { 0 };
    char *path = path_join(c->dir, name);
    if (!file_write(path, text, strlen(text), &err))
        fail_msg("%s", err.msg);
    free(path);
}

/* A unit, compiled with one more flag if that is not NULL. */
static inline void compiled_add(Compiled *c, const char *name, const char *text, const char *flag)
{
    Err err = { 0 };
    compiled_file(c, name, text);
    char *source = path_join(c->dir, name);
    char *out = xprintf("%s.bc", source);
    char *argv[] = { "clang-19", "-w",         "-O0",  "-g", "-Xclang", "-disable-O0-optnone",
                     "-c",       "-emit-llvm", source, "-o", out,       (char *)flag,
                     NULL };
    ProcResult r = { 0 };
    Proc proc = { .argv = argv, .capture = true, .seconds = 60, .cwd = c->dir };
    if (!proc_run(&proc, &r, &err))
        fail_msg("%s", err.msg);
    if (r.status != 0)
        fail_msg("%s", str_c(&r.err));
    proc_result_release(&r);
    strings_add(&c->bitcode, out);
    free(source);
    free(out);
}

static inline Program *compiled_open(Compiled *c)
{
    Err err = { 0 };
    c->program = program_open_bitcode((const char *const *)c->bitcode.items, c->bitcode.len, &err);
    if (!c->program)
        fail_msg("%s", err.msg);
    return c->program;
}

/* One unit, opened. */
static inline Compiled compiled(const char *text)
{
    Compiled c = compiled_begin();
    compiled_add(&c, "subject.c", text, NULL);
    compiled_open(&c);
    return c;
}

static inline void compiled_end(Compiled *c)
{
    program_close(c->program);
    strings_release(&c->bitcode);
    tempdir_remove(c->dir);
}
#endif
