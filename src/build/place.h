/*
 * place - a woven program in the place of the original, while a command runs:
 * a test suite, say, that runs or links it.
 *
 *     place_restore(path, err);                 if an earlier run was killed
 *     place_build(w, p, woven, err);            a file of the same kind
 *     place_take(program_captured(p), woven, err);
 *     …                                         make check
 *     place_restore(path, err);
 *
 *     PROGRAM               the woven program, during the command
 *     PROGRAM.sundew-kept   the original
 */
#ifndef SUNDEW_PLACE_H
#define SUNDEW_PLACE_H
#include "weave/weave.h"

/* Of an executable or shared library one that is linked alike, of an archive an
 * archive, of an object an object. */
bool place_build(Woven *w, const Program *p, const char *out, Err *err);
/* Make will not link a program anew because of it, but what is linked with an
 * archive. */
bool place_take(const CapturedProgram *c, const char *woven, Err *err);
/* The original is back in its place, if it was aside. */
bool place_restore(const char *program, Err *err);
#endif
