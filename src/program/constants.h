/*
 * constants - numbers and strings that stand in a program's code.
 *
 *     Constants c = {0};
 *     program_constants(p, &c);
 *     for (size_t i = 0; i < c.nintegers; i++) use(c.integers[i]);
 *     constants_release(&c);
 *
 * What code compares its input with, and the words it knows, are good values to
 * call it with. Numbers are those of comparisons and switches; strings those of 1
 * to 64 bytes. Each once, in the order of the module.
 */
#ifndef SUNDEW_CONSTANTS_H
#define SUNDEW_CONSTANTS_H
#include "base/mem.h"
#include "program/program.h"

typedef struct Constants {
    int64_t *integers;
    size_t nintegers;
    const char **strings;
    size_t nstrings;
    Arena arena;
} Constants;

bool program_constants(const Program *p, Constants *out, Err *err);
void constants_release(Constants *c);
#endif
