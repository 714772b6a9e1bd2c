/*
 * keep - a woven program keeps its place although the command links it anew.
 *
 *     Strings env = { 0 };
 *     keep_environment(&(KeepPlan){ .program = p, .path = path, .standin = file,
 *                                   .folder = scratch, .env = env_of_command }, &env, err);
 *
 * In many small projects `make test` compiles and links the program each time, and runs it at
 * once. So each compiler and linker of the PATH gets a stand-in, a shell script: it calls the real
 * one, and if the program is another file afterwards, puts the woven one there again.
 *
 * That must not hide changes: if a source is newer than the program, the command runs what it
 * builds.
 */
#ifndef SUNDEW_KEEP_H
#define SUNDEW_KEEP_H
#include "base/vec.h"
#include "capture/capture.h"

typedef struct KeepPlan {
    const CapturedProgram *program;
    const char *path;          /* the place of the program, without links */
    const char *standin;       /* the woven file */
    const char *folder;        /* gets a folder "tools"; must be there while the command runs */
    char *const *env;          /* of the command; NULL: ours */
} KeepPlan;

/* The command's environment, with the stand-ins first on its PATH. Without them if the program is
 * older than a source. False: they could not be written. */
bool keep_environment(const KeepPlan *plan, Strings *env, Err *err);
#endif
