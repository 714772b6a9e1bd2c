/*
 * tally - sums under names.
 *
 * A tally is thread-safe: any function but tally_free() may be called by
 * several threads at the same time.
 */
#ifndef TALLY_H
#define TALLY_H

struct tally;

struct tally *tally_new(void);                  /* NULL without memory */
void tally_free(struct tally *t);
int tally_add(struct tally *t, const char *key, long amount);
long tally_get(struct tally *t, const char *key);       /* 0 if absent */
void tally_clear(struct tally *t);

#endif
