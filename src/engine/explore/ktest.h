/*
 * ktest - inputs in KLEE's file format, to exchange them with KLEE.
 *
 *     "KTEST"  version  nargs { length bytes }  [2: nargvs  longest]
 *     nobjects { length name  length bytes }                  numbers: 32 bits, big endian
 *
 * Objects are in the order in which the program makes them symbolic, which is the order in
 * which our input is read: so an input is their bytes, one after the other.
 */
#ifndef SUNDEW_KTEST_H
#define SUNDEW_KTEST_H
#include "base/str.h"

/* The bytes of all objects. False: no such file, or a damaged one. */
bool ktest_read(const char *data, size_t n, Str *out);
/* One object, called `name`, of a run of `program`. */
void ktest_write(const char *program, const char *name, const char *bytes, size_t n, Str *out);
#endif
