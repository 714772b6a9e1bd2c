/*
 * build - one way to build what is woven, and to keep it.
 *
 *     BuildRecipe r = { .program = p, .name = "cover.so", .link = words,
 *                       .make = make_cover, .arg = &cover };
 *     char *path = build_get(&r, err);           made, or as it was kept
 *
 * A build is kept beside the program's tables, under a name that holds one key:
 *
 *     linked/PROGRAM.bc.KEY.cover.so
 *
 * The key is a hash over everything that decides how the build comes out: the
 * program's units and link command, objects that were not captured, the tool
 * itself, the runtimes and files that go in, compilers, and the recipe's words.
 * Another ingredient is another path, so a kept build never has to be compared
 * with anything.
 *
 * make() writes to a temporary path. The build gets its own name when make()
 * has succeeded; a failed or interrupted build leaves nothing.
 *
 * If the workspace can be stopped (workspace_on_stop()), make() works in a process of its own
 * (build_in_time()), and only its file remains. A build that has begun in time ends when the time does: an error, and
 * workspace_has_stopped().
 */
#ifndef SUNDEW_BUILD_H
#define SUNDEW_BUILD_H
#include "base/err.h"
#include "program/program.h"

/* Writes the build to `out`. */
typedef bool BuildMake(void *arg, const char *out, Err *err);

/* Lists end with NULL; a list or text of NULL is empty. */
typedef struct BuildRecipe {
    const Program *program;
    const char *name;              /* what is made: a file name */
    const char *variant;           /* options of the weave, as text */
    const char *driver;            /* the C text that is compiled in */
    char *const *link;             /* the user's words for the linker */
    const char *const *runtimes;   /* that are linked in … */
    const char *libexec;           /* … from this folder's runtime/NAME.bc */
    const char *const *files;      /* other files and folders whose content counts */
    BuildMake *make;
    void *arg;
} BuildRecipe;

/* The caller frees the paths. */
char *build_get(const BuildRecipe *r, Err *err);
/* Long work that leaves nothing but files, on a program. Who begins it when the time is over already
 * needs it: then it is not ended. */
bool build_in_time(const Program *p, bool (*work)(void *arg, Err *err), void *arg, Err *err);
/* Only if it is kept, else NULL; the recipe needs no make(). */
char *build_kept(const BuildRecipe *r);
/* The path that it has when it is kept. */
char *build_path(const BuildRecipe *r);
#endif
