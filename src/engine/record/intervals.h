/*
 * intervals - disjoint ranges of addresses, each with a value.
 *
 *     Intervals m = {0};
 *     intervals_put(&m, 0x1000, 64, object);    what it overlaps is gone
 *     intervals_find(&m, 0x1010)                the value, or NULL
 *     intervals_remove(&m, 0x1000);
 *     intervals_release(&m);
 *
 * A treap by address: all are quick, whatever the order of the calls.
 */
#ifndef SUNDEW_INTERVALS_H
#define SUNDEW_INTERVALS_H
#include <stdbool.h>
#include <stdint.h>

typedef struct IntervalNode IntervalNode;
typedef struct Intervals {
    IntervalNode *root;
    uint64_t draws;               /* for the priorities */
} Intervals;

/* A size of 0 counts as one byte. */
void intervals_put(Intervals *m, uint64_t address, uint64_t size, void *value);
/* The value of the range that begins there; NULL: none does. */
void *intervals_remove(Intervals *m, uint64_t address);
/* The value of the range that an address lies in; NULL: none. */
void *intervals_find(const Intervals *m, uint64_t address);
void intervals_release(Intervals *m);
#endif
