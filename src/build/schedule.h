/*
 * schedule - a program woven for scheduling, and the table of its sites.
 *
 *     ScheduleBuild b = {0};
 *     if (!build_schedule(program, calls, libexec, true, &b, err)) …
 *     … run b.path; site 17 is b.sites[17] …
 *     schedule_build_release(&b);
 */
#ifndef SUNDEW_BUILD_SCHEDULE_H
#define SUNDEW_BUILD_SCHEDULE_H
#include "base/err.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "analysis/pointsto/calls.h"
#include "program/program.h"

/* Where an access or a call stands that a schedule may name. */
typedef struct ScheduleSite {
    const char *function, *file;     /* file: absolute; "" if not known */
    const char *what;                /* read, write, atomic, or the function called */
    unsigned line;
} ScheduleSite;

typedef struct ScheduleBuild {
    char *path;                      /* the program */
    char key[ID_LEN + 1];            /* what schedules are for: the program and its sites. Another
                                      * Sundew that weaves the same points has the same */
    ScheduleSite *sites;
    size_t nsites;
    size_t accesses, escaping, probed;     /* as in ScheduleFigures (weave.h) */
    Arena arena;
} ScheduleBuild;

/* With the address sanitizer if `strict`. `calls`, of the program, tells which memory belongs to
 * one thread, which is not watched; NULL: less is known. */
bool build_schedule(const Program *p, const Calls *calls, const char *libexec, bool strict,
                    ScheduleBuild *out, Err *err);
/* A library as a shared object for a player, with the address sanitizer if `strict` and if it is
 * there.
 * `preload` is the sanitizer's library, which must come first; NULL: without. `link` has
 * words for the linker; NULL: none. */
bool build_schedule_library(const Program *p, const Calls *calls, const char *libexec, bool strict,
                            char *const *link, ScheduleBuild *out, char **preload, Err *err);
/* The same with all static functions and variables in sight (weave_expose()); a program
 * with a main() will do. */
bool build_schedule_exposed(const Program *p, const char *libexec, char *const *link,
                            ScheduleBuild *out, char **preload, Err *err);
void schedule_build_release(ScheduleBuild *b);
#endif
