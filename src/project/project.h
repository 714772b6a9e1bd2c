/*
 * project - what a project has: the model that plans are made from.
 *
 *     Project *p = project_open(&(ProjectPlan){ .workspace = ".sundew" }, err);
 *     size_t n;
 *     const ProjectProgram *all = project_programs(p, &n);
 *     for (size_t i = 0; i < n; i++)
 *         if (!all[i].is_library && project_calls(p, &all[i], thread_functions)) …
 *     project_close(p);
 *
 * It reads the workspace alone: captured programs, how the tests started them (observe.h), files
 * of the source tree, findings, and the products of techniques that have run. A technique's plan
 * function asks it for subjects; it never runs anything.
 *
 * What it hands out lives until project_close().
 */
#ifndef SUNDEW_PROJECT_H
#define SUNDEW_PROJECT_H
#include "base/mem.h"
#include "capture/capture.h"
#include "finding/store.h"
#include "project/observe.h"

typedef struct Program Program;
typedef struct Project Project;

/* ---- programs */

typedef struct ProjectProgram {
    const CapturedProgram *captured;
    const char *shown;         /* its path below the project's folder */
    bool is_library;           /* shared, or an archive */
    bool is_test;              /* by its name or folder: tests, examples, benchmarks */
    bool for_code; /* no test, or the only program with some source that is no test's */
    bool for_runs; /* no test, or the only one that the tests run with such a source */
    const char *key; /* changes if one of its units does */
    size_t index;
} ProjectProgram;

/* The most telling first: those that the tests run, then by size; tests last. A library that is
 * there as an archive too is there once. */
const ProjectProgram *project_programs(const Project *p, size_t *n);
size_t project_left_out(const Project *p); /* programs, where there are too many */
/* The model itself; NULL: it can't be opened. */
const Program *project_program(Project *p, const ProjectProgram *x);
/* Does it call one of these functions, which are not its own? */
bool project_calls(Project *p, const ProjectProgram *x, const char *const *names);
/* Does it use this variable, which is not its own? */
bool project_uses(Project *p, const ProjectProgram *x, const char *variable);
bool project_defines(Project *p, const ProjectProgram *x, const char *name);
/* The program of this path; NULL: none. */
const ProjectProgram *project_program_at(const Project *p, const char *path);
bool project_links(const ProjectProgram *x, const ProjectProgram *library);
/* An executable that is linked with the library, one of the tests if there is one; or NULL. */
const ProjectProgram *project_user(const Project *p, const ProjectProgram *library);

/* Did the tests start it, or for a library a program that is linked with it? */
bool project_is_run(Project *p, const ProjectProgram *x);

/* The headers that declare what a library exports, the one that declares most first, and the -I
 * and -D that its units were compiled with. Empty: none was found. */
typedef struct ProjectHeaders {
    Strings headers, flags;
    size_t declared; /* of its functions */
} ProjectHeaders;
const ProjectHeaders *project_headers(Project *p, const ProjectProgram *library);

/* ---- how programs are started */

/* Runs of one program that differ only in the file they read. */
typedef struct ProjectShape {
    const ProjectProgram *program;
    Strings args; /* with @@ for the file */
    bool has_file; /* @@ is among them */
    ObservedInput input; /* standard input */
    const char *cwd;
    const char *whole;         /* the arguments as one text */
    const char *name;          /* the same, for people: cut if it is long */
    const char *corpus; /* a folder of the files that were read; "" */
    size_t ncorpus; /* files in it */
    size_t runs; /* so often */
    bool works; /* one of them ended with status 0 */
    bool ends; /* one ended by itself */
    const char *example; /* a file that was there and still is, for @@; "" */
    const char *ending; /* of all files for @@: ".c"; "" */
} ProjectShape;

/* Of one program, or of all (NULL): those that work before others; the first has the most files,
 * each of the next the most words that none before had. The array ends with NULL. */
const ProjectShape *const *project_shapes(Project *p, const ProjectProgram *x);

/* Inputs that searches have found for one way of starting a program, the tests' own files too if
 * asked for, and a shell script that runs the program on each. */
typedef struct ProjectFeed {
    const ProjectShape *shape;
    const char *script; /* its path */
    const char *by; /* the step that found inputs; "": there are files of tests only */
} ProjectFeed;
/* Of the first way that has some; false: there are none. */
bool project_feed(Project *p, const ProjectProgram *x, bool with_seeds, ProjectFeed *out);

/* ---- tests */

/* The command that runs the tests, as words; NULL: none is known, or it does not end. */
char *const *project_tests(const Project *p, size_t *n);
double project_tests_seconds(const Project *p);
const char *project_tests_key(const Project *p); /* changes if they may do something else */

/* ---- other things in the tree */

/* Files below the root with this ending (".pig"), or of this name ("index.php"); relative to it.
 * Hidden folders, build folders and the workspace are left out. */
const Strings *project_files(Project *p, const char *ending);
/* Changes if a file below this folder (relative to the root) does. */
const char *project_files_key(Project *p, const char *folder);
size_t project_units(const Project *p); /* C units that were captured */

/* ---- results of techniques */

/* Something that a step left for others. */
typedef struct Product {
    const char *kind; /* "corpus", "failures", "tests" … */
    const char *program; /* the path of its program */
    const char *path; /* a file or folder */
    const char *by; /* the step, for people */
    const char *key; /* of the program when it was made */
    Strings args; /* of the program, with @@ */
} Product;

const Product *project_products(const Project *p, const char *kind, const char *program,
                                const Product *after);
const FindingSet *project_findings(const Project *p); /* NULL: none yet */

const char *project_root(const Project *p);
const char *project_folder(const Project *p); /* .sundew/check */
const char *project_build_key(const Project *p); /* changes if one of all units does */

/* ---- making one */

typedef struct ProjectPlan {
    const char *workspace; /* its folder */
    Map *affected; /* sources that have changed: only programs with one of them; NULL:
                                * all programs */
    char *const *tests; /* NULL: none */
    size_t ntests;
    double tests_seconds;
    bool tests_hang;
} ProjectPlan;

Project *project_open(const ProjectPlan *plan, Err *err);
void project_close(Project *p);
/* What has come since: the project keeps `findings` and frees them. */
void project_set_findings(Project *p, FindingSet *findings);
void project_add_product(Project *p, const Product *product); /* copied */
#endif
