/*
 * mutate - make an input a little different.
 *
 *     Mutator *m = mutator_new(rng_seed, longest);
 *     mutator_word(m, "GIF", 3);                     for its dictionary
 *     size_t n = mutate(m, bytes, len, other, other_len, &out);
 *
 * One call stacks several small changes: bits, bytes, sums, numbers in both byte
 * orders and as decimal text, blocks that are left out, doubled, moved, filled or taken
 * from `other`, and words of the dictionary. The result is the mutator's, until the next call.
 */
#ifndef SUNDEW_MUTATE_H
#define SUNDEW_MUTATE_H
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

typedef struct Mutator Mutator;

Mutator *mutator_new(uint64_t seed, size_t longest);
void mutator_free(Mutator *m);                   /* NULL is fine */
/* A word that the program compares with; each is kept once. False: it is known, or
 * there are too many. */
bool mutator_word(Mutator *m, const void *bytes, size_t n);

size_t mutate(Mutator *m, const uint8_t *bytes, size_t n, const uint8_t *other, size_t nother,
              const uint8_t **out);
#endif
