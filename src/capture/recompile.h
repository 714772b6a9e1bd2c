/*
 * recompile - a unit's own compiler call again, for other flags.
 *
 *     Strings argv = {0};
 *     recompile_flags(unit, &argv);           compiler and flags, no files
 *     strings_add(&argv, "-g");
 *     if (!recompile_run(unit, &argv, unit->source, "new.o", err)) …
 */
#ifndef SUNDEW_RECOMPILE_H
#define SUNDEW_RECOMPILE_H
#include "base/str.h"
#include "capture/capture.h"

/* Without what names this unit's files and dependencies, asks for the linker, or makes
 * errors of warnings. */
void recompile_flags(const Unit *u, Strings *flags);
/* The folders in which the units of a program find headers, absolute, each once: those that
 * -I, -isystem and the like name. */
void recompile_include_folders(const CapturedProgram *p, Strings *out);
/* FLAGS -c SOURCE -o OBJECT in the unit's folder. */
bool recompile_run(const Unit *u, const Strings *flags, const char *source, const char *object,
                   Err *err);
/* Runs a tool of the compiler's; its standard output goes to `out` (may be NULL).
 * False with what it said. */
bool recompile_tool(char *const *argv, const char *cwd, Str *out, Err *err);
#endif
