/*
 * ctest - write generated C tests into a folder.
 *
 *     CTestFile f = { .name = "list", .includes = "#include \"list.h\"\n",
 *                     .tests = tests, .ntests = n };
 *     CTestProject p = { .cflags = (char *[]){ "-I../include", NULL } };
 *     ctest_write(folder, share, &f, 1, &p, err);
 *
 * The folder gets the tests, sundew_test.h (no other dependency; adapters for
 * cmocka, Check, Criterion and Unity are in it), a Makefile, a CMakeLists.txt
 * and a meson.build, in which words stay words whatever is in them. Names are made safe as identifiers and file names; the
 * purpose becomes a comment whatever it contains. Bodies and includes are C
 * written by an engine, which escapes what comes from programs.
 */
#ifndef SUNDEW_CTEST_H
#define SUNDEW_CTEST_H
#include "base/err.h"
#include <stddef.h>

typedef struct CTestCase {
    const char *name;          /* any text */
    const char *purpose;       /* which run, which branch, which value */
    const char *body;          /* statements, with CHECK(condition) */
} CTestCase;

typedef struct CTestFile {
    const char *name;          /* any text */
    const char *includes;      /* lines of C before the tests; or NULL */
    const CTestCase *tests;
    size_t ntests;
} CTestFile;

/* In these words CTEST_HERE stands for the folder of the tests, before a path that is seen from
 * there: "-I" CTEST_HERE "../include". Each build file has its own way to say that. */
#define CTEST_HERE "\001"
typedef struct CTestProject {
    char *const *cflags;       /* words: "-I…", "-DX", NULL; or NULL */
    char *const *libraries;    /* "libx.a", "-lm", NULL; or NULL */
} CTestProject;

bool ctest_write(const char *folder, const char *share, const CTestFile *files, size_t n,
                 const CTestProject *p, Err *err);
#endif
