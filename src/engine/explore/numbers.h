/*
 * numbers - answers that say which number the input should have, in place of its text.
 *
 * A trace with numbers (log_read_numbers()) has conditions on the values of numbers that
 * stand as text in the input. The solver chooses values; here they become text:
 *
 *     numbers_values(trail, pool, bytes, n, before);         what they are now
 *     … `after` is `before` with the bytes of an answer …
 *     n = numbers_write(trail, before, after, n, NUMBERS_MOVE, out, room);
 *
 * "x=7;" with 1234.5 for the 7 is "x=1234.5;". The text behind a number moves, or it is
 * written over: only the program knows which of the two leaves it whole.
 */
#ifndef SUNDEW_EXPLORE_NUMBERS_H
#define SUNDEW_EXPLORE_NUMBERS_H
#include "engine/concolic/log.h"

typedef enum { NUMBERS_MOVE, NUMBERS_OVERWRITE } NumbersHow;

/* Bytes of a parent that has the numbers, too. */
size_t numbers_wide(const Trail *t);
/* Fills in the parent: the input, zeros behind it, the numbers. */
void numbers_values(const Trail *t, const Exprs *p, const uint8_t *bytes, size_t n, uint8_t *wide);
/* Is it a condition on a number? */
bool numbers_matter(const Trail *t, const Exprs *p, Expr cond);
/* The input (n bytes of `after`) with the text of all numbers that are not what they were; its length.
 * 0: none is, there is no such text, or it does not fit. Overwriting also gives 0 if moving does the
 * same. */
size_t numbers_write(const Trail *t, const uint8_t *before, const uint8_t *after, size_t n,
                     NumbersHow how, uint8_t *out, size_t room);
#endif
