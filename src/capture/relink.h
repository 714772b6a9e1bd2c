/*
 * relink - a program's link command again, with some of its units replaced.
 *
 *     Map units = {0};                        ids of the units that are replaced
 *     Relink r = { .units = &units, .objects = objects, .out = "prog.woven",
 *                  .scratch = tempdir };
 *     Strings argv = {0};
 *     if (!relink_command(ws, captured, &r, &argv, err)) …
 *     run argv in captured->link_directory
 *
 * What is not replaced stays as the build had it: libraries, linker flags (but for -s and its
 * kin: names and lines stay), objects that were not captured. An archive loses the members that are
 * replaced (a copy in `scratch` does), so that --whole-archive works too.
 */
#ifndef SUNDEW_RELINK_H
#define SUNDEW_RELINK_H
#include "base/map.h"
#include "capture/capture.h"

typedef struct Relink {
    const Map *units;            /* keys: ids */
    char *const *objects;        /* that stand for them, absolute paths;
                                  * NULL-terminated */
    char *const *more;           /* last words; NULL: none */
    const char *out;             /* absolute */
    const char *scratch;         /* a folder */
    bool no_fuzzer;           /* main() is ours: without that of libFuzzer */
    Strings *spare;              /* filled with the bitcode of captured units in
                                  * archives of the command that the program has
                                  * no use for; NULL: nobody asks */
} Relink;

bool relink_command(Workspace *ws, const CapturedProgram *p, const Relink *r, Strings *argv,
                    Err *err);
/* The word for a linked file that is not position-independent (-no-pie,
 * -static) is in the command. */
bool relink_is_static(const CapturedProgram *p);
#endif
