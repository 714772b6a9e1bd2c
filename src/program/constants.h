/*
 * constants - what a program compares its data with: numbers of comparisons and
 * switches, and texts.
 *
 * Numbers come in both byte orders, in the least bytes that hold them; texts without their zero.
 * Each once, in the order of the module. Lives until constants_free().
 */
#ifndef SUNDEW_CONSTANTS_H
#define SUNDEW_CONSTANTS_H
#include "program/program.h"

typedef struct Constant {
    const uint8_t *bytes;
    size_t n;
    bool text;
} Constant;

typedef struct Constants Constants;

Constants *constants_new(const Program *p);
void constants_free(Constants *c);             /* NULL is fine */
const Constant *constants_all(const Constants *c, size_t *n);
#endif
