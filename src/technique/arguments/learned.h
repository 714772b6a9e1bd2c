/*
 * learned - how often programs pass arguments crosswise, by words.
 *
 * `copy(to, from)` for a parameter list (from, to) is a mistake, or it is a list that
 * runs backwards: other programs show how often each is so. The table
 * share/arguments/learned.txt has a row for two words of equally typed parameters
 * (bench/mine-arguments counts them):
 *
 *     Learned *l = learned_new();
 *     learned_read(l, words, "share/arguments/learned.txt", err);
 *     double rate = learned_crossed(l, words, "from", "to", "to", "from", &calls);
 */
#ifndef SUNDEW_ARGUMENTS_LEARNED_H
#define SUNDEW_ARGUMENTS_LEARNED_H
#include "technique/arguments/names.h"
#include <stdbool.h>

typedef struct Learned Learned;

Learned *learned_new(void);
/* Errors name the file and the line. */
bool learned_read(Learned *l, const char *path, Err *err);
bool learned_add_line(Learned *l, const char *line, Err *err);
void learned_free(Learned *l);                   /* NULL is fine */

/*
 * Parameters p and q get the arguments a and b. Of all calls that pass such words, the
 * share that is crossed (0 to 1). Words that no row has count with the sums of all rows.
 * `calls`: how many calls the share is taken from; 0: the names have no such words.
 */
double learned_crossed(const Learned *l, Words *w, const char *p, const char *q, const char *a,
                       const char *b, unsigned *calls);
#endif
