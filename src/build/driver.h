/*
 * driver - call one function with arguments made of the input.
 *
 *     Str text = {0};
 *     if (!driver_write(fn, &text, err)) …        it takes what can't be made
 *
 * The text is C: sundew_program_main(), which fills arguments with sundew_ask()
 * (runtime/input/input.h) and calls the function. A number is taken as it is, an enum is one of its
 * values, a pointer leads to a new object: a string of up to 63 bytes, an array of 8 numbers, a
 * struct, whose pointers lead to such objects again (two deep, then NULL). Pointers
 * to functions are NULL; structs by value and variadic functions can't be called.
 */
#ifndef SUNDEW_DRIVER_H
#define SUNDEW_DRIVER_H
#include "base/err.h"
#include "base/str.h"
#include "program/program.h"

bool driver_write(const Function *fn, Str *out, Err *err);
/* The same as a program's test: asks for these bytes, and main() is called `name`. */
bool driver_write_test(const Function *fn, const uint8_t *bytes, size_t n, Str *out, Err *err);
#endif
