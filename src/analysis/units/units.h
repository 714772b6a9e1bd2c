/*
 * units - which numbers of a program measure the same thing.
 *
 * A length is compared with other lengths, added to them, stored where lengths are
 * stored; never with a colour. So the program's own data flow tells which numbers
 * belong together: what is assigned, passed, returned, compared, added or subtracted
 * has one unit. Products, quotients, shifts and masks make a new one.
 *
 *     Units *u = units_new(p);
 *     unsigned a = units_param(u, fn, 0), b = units_field(u, record, 8);
 *     if (units_of_place(u, a) == units_of_place(u, b)) …
 *     units_free(u);
 *
 * A unit is a number; 0 says that nothing is known, as of a field that no
 * captured code touches.
 */
#ifndef SUNDEW_UNITS_OF_MEASURE_H
#define SUNDEW_UNITS_OF_MEASURE_H
#include "program/program.h"

typedef struct Units Units;

Units *units_new(const Program *p);
void units_free(Units *u);                     /* NULL is fine */

/* A place where a number is kept, 0: no captured code touches it. That of the i-th
 * parameter; i == nparams: of the result. */
unsigned units_param(const Units *u, const Function *fn, unsigned i);
/* Of the field at a byte offset of a struct. */
unsigned units_field(const Units *u, const Type *record, uint64_t offset);
unsigned units_variable(const Units *u, const Variable *v);

unsigned units_text_length(const Units *u);    /* what strlen() returns */
unsigned units_of_place(const Units *u, unsigned place);       /* its unit */
/* Do the two stand together in one expression, comparison or assignment? */
bool units_related(const Units *u, unsigned a, unsigned b);
bool units_compared(const Units *u, unsigned a, unsigned b);   /* … in one comparison */
/* Two fields: does some function store one of them and not the other? */
bool units_stored_apart(const Units *u, unsigned a, unsigned b);
/* Does a number at `place` measure what the array at `array` is indexed with? */
bool units_is_index(const Units *u, unsigned array, unsigned place);
/* … is it itself an index of the array somewhere? */
bool units_indexes(const Units *u, unsigned array, unsigned place);

/*
 * What the source itself puts into a place: constants, or something else, too.
 * A contract that one of the constants breaks is an accident of the runs.
 */
enum { PUTS_MOST = 8 };
typedef struct Put {
    bool any;                 /* it puts something there at all */
    bool other;               /* not only these constants */
    unsigned n;
    int64_t constants[PUTS_MOST];        /* a null pointer is 0 */
} Put;
Put units_put_result(const Units *u, const Function *fn);
Put units_put_param(const Units *u, const Function *fn, unsigned i);
Put units_put_field(const Units *u, const Type *record, uint64_t offset);
Put units_put_variable(const Units *u, const Variable *v);
/* … by a function and those that it calls; calls through pointers are not followed. */
Put units_put_field_in(const Units *u, const Function *fn, const Type *record, uint64_t offset);
/* Does it do so on every way to a return? */
bool units_always_puts(const Units *u, const Function *fn, const Type *record, uint64_t offset);
/* Does the program look whether the place holds 0 or NULL, and go on if it does? */
bool units_is_tested(const Units *u, unsigned place);
/* Does the function look whether the parameter is NULL, and go on if it is? And
 * may others than its own callers decide what it gets? */
bool units_takes_null(const Units *u, const Function *fn, unsigned i);
#endif
