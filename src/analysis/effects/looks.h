/*
 * looks - has a function only looked at what it was given?
 *
 *     int size_of(const struct type *t)
 *     {
 *         switch (code_of(t)) {                     code_of() changes nothing
 *         case INT: return 4;
 *         default: internal("no such type");        looks_until(p, size_of, this line): true
 */
#ifndef SUNDEW_LOOKS_H
#define SUNDEW_LOOKS_H
#include "program/program.h"

/* When it comes to a call that never returns, at a line of its own: is no function called on a
 * way there that may change memory? What it writes itself does not count. False too: there is no such call. */
bool looks_until(const Program *p, const Function *fn, unsigned line);
#endif
