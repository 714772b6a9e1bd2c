/*
 * recognise - how a project is built and tested, by the files that it has.
 *
 *     Builds b = {0};
 *     recognise(root, ".sundew/check", jobs, &b);
 *     for (size_t i = 0; i < b.len; i++) use(b.items[i].command);
 *     builds_release(&b);
 *
 * Several may fit one folder (a Makefile beside a CMakeLists.txt): they stand in the order in
 * which they should be tried, and the first that works is enough. If the root has no build, the
 * folders in it are looked at, one level deep.
 *
 * CMake and Meson build in a folder of the workspace, the others where the source is, as a
 * person would do it.
 */
#ifndef SUNDEW_RECOGNISE_H
#define SUNDEW_RECOGNISE_H
#include "base/vec.h"
#include <stdbool.h>

typedef struct Build {
    const char *system;        /* "make", "CMake", "Meson", "configure", … */
    char *folder;              /* absolute */
    char *command;             /* for sh, in that folder */
    char *clean;               /* what makes it build everything again; "": nothing is known */
    char *out;                 /* where CMake and Meson build; "" */
    char *needs;               /* a tool that is not installed; "" */
    bool in_place;             /* builds where the source is */
} Build;
typedef Vec(Build) Builds;

void recognise(const char *root, const char *workspace, unsigned jobs, Builds *out);
void builds_release(Builds *b);

/* If `path` lies in a tree that CMake or Meson was configured in, as `b` would be, `b` builds there
 * and not in the workspace. False: it does not. */
bool recognise_tree(Build *b, const char *path, unsigned jobs);

/* Commands that run the tests of a project that is built, for sh in the build's folder, the most
 * likely first: some have a `make check` that does nothing. None: it seems to have no tests. */
void recognise_tests(const Build *b, Strings *out);
#endif
