/*
 * ptset - sparse bit sets, for sets of locations.
 *
 * A sorted array of blocks of 128 bits: dense runs are cheap, and so is a set
 * of three members out of a million. A PtBits of {0} is empty.
 */
#ifndef SUNDEW_PTSET_H
#define SUNDEW_PTSET_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct PtBlock {
    uint32_t index;              /* of the block: member / 128 */
    uint64_t bits[2];
} PtBlock;

typedef struct PtBits {
    PtBlock *blocks;
    uint32_t len, cap;
} PtBits;

bool ptbits_add(PtBits *s, uint32_t x);            /* true: it is new */
void ptbits_remove(PtBits *s, uint32_t x);
bool ptbits_has(const PtBits *s, uint32_t x);
/* s |= from. What is new in s is also added to `fresh` (may be NULL). */
bool ptbits_union(PtBits *s, const PtBits *from, PtBits *fresh);
size_t ptbits_count(const PtBits *s);
bool ptbits_meet(const PtBits *a, const PtBits *b);
void ptbits_release(PtBits *s);

/* for (PtIter i = ptbits_first(s); i.on; ptbits_next(&i)) use(i.x); */
typedef struct PtIter {
    const PtBits *set;
    uint32_t block, word;
    uint64_t rest;
    uint32_t x;
    bool on;
} PtIter;
PtIter ptbits_first(const PtBits *s);
void ptbits_next(PtIter *i);
#endif
