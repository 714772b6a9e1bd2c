/* What the files of this folder share. */
#ifndef SUNDEW_WATCH_INT_H
#define SUNDEW_WATCH_INT_H
#include "runtime/format/watch.h"
#include "runtime/watch/watch.h"
#include <errno.h>
#pragma GCC visibility push(hidden)

#define RELAXED __ATOMIC_RELAXED

/* NULL: nobody watches, or there is no such slot. */
struct sundew_watch_slot *sundew_watch_slot_of(uint32_t slot);
/* One more opportunity; how many there were before. */
uint64_t sundew_watch_note(struct sundew_watch_slot *s);
void sundew_watch_range(int64_t *low, int64_t *high, int64_t v);
/* A bad observation. The first one of a slot leaves its values, errno and stack. */
void sundew_watch_bad(struct sundew_watch_slot *s, uint64_t bits, int64_t v, int64_t v2);
/* Size of a live heap object; 0: not known. */
uint64_t sundew_watch_size(const void *p);
/* The table of objects: no pointer in it counts. */
void sundew_watch_table(uint64_t *at, uint64_t *size);
/* Was it freed, and not handed out again? */
int sundew_watch_is_freed(const void *p);

#pragma GCC visibility pop
#endif
