/*
 * world - what a test of a crashed program's unit can name: variables and code as
 * the build room names them (build/lab.h), code by its address at the crash.
 *
 *     Worlds *all = worlds_new(lab, program, crash, monitored);
 *     const RestoreWorld *w = world_of(all, unit, false, err);   for restore_new()
 *     world_preamble(w, body, &text);
 *     worlds_free(all);                          before the lab
 */
#ifndef SUNDEW_WORLD_H
#define SUNDEW_WORLD_H
#include "build/lab.h"
#include "engine/record/restore.h"

typedef struct Worlds Worlds;

/* `monitored` is the program that crashed, with its symbols. */
Worlds *worlds_new(Lab *lab, const Program *p, const Crash *c, const char *monitored);
void worlds_free(Worlds *all);                 /* NULL is fine */

/* One for each unit, with or without types of the program. NULL: the unit can't be
 * read any more. */
const RestoreWorld *world_of(Worlds *all, const LabUnit *u, bool plain, Err *err);
void world_preamble(const RestoreWorld *w, const char *body, Str *out);
#endif
