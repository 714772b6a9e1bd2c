/*
 * tools - stand-ins for compilers, whatever path they are called by.
 *
 *     Tools *c = tools_new(folder, "/…/sundew-cc", err);
 *     if (tools_can_mount(c)) … Proc p = { .enter = tools_mount, .enter_arg = c };
 *
 * A build that was configured before calls /usr/bin/cc, not cc. So the build runs in
 * a mount namespace of its own, in which the wrapper is mounted over the file of each
 * compiler, linker and archiver. Outside of it nothing changes, and nothing that the
 * build writes down (CMakeCache.txt, config.status) names the wrapper:
 *
 *     outside                     in the build
 *     /usr/bin/gcc-12             the wrapper
 *                                 FOLDER/%usr%bin%gcc-12   the real one
 *
 * The mounts are gone with the last process of the build.
 */
#ifndef SUNDEW_TOOLS_H
#define SUNDEW_TOOLS_H
#include "base/err.h"
#include <stdbool.h>

typedef struct Tools Tools;

/* For all tools on the PATH and in the usual other places. `folder` is made; it must
 * be there while the build runs. */
Tools *tools_new(const char *folder, const char *wrapper, Err *err);
void tools_free(Tools *c);                /* NULL is fine */
/* Tries it in a child. False, with the reason: this machine does not allow it. */
bool tools_can_mount(Tools *c, Err *err);
/* In a child, before it executes; false with errno set. */
bool tools_mount(void *tools);

/* For the wrapper: the file that is mounted under the path `tool`. NULL: none, the
 * path is not covered. */
char *tools_real(const char *tool);
#endif
