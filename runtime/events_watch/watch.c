/* What the build that watches accesses needs besides: the books on the heap, and the
 * functions that the weave of coverage calls. */
#include "runtime/heap/extents.c"
#include "runtime/heap/alloc.c"
#include "runtime/events/events.h"
#include <unistd.h>

/* extents.c can look variables up in these; there is another table for them here. */
const SundewTables sundew_tables;

__attribute__((constructor(101))) static void begin(void) { sundew_tracking = 1; }

void sundew_note_malloc(void *p, size_t n) { sundew_extent_malloc(p, n); }

void sundew_note_free(void *p) { sundew_extent_free(p); }

#pragma GCC visibility push(hidden)
void sundew_compared(uint8_t *counters, const uint8_t *a, const uint8_t *b, uint64_t most,
                     uint32_t how);
_Noreturn void sundew_exit(int status);
_Noreturn void sundew_exit_now(int status);
int sundew_atexit(void (*handler)(void));
int sundew_fork(void);
#pragma GCC visibility pop

void sundew_compared(uint8_t *counters, const uint8_t *a, const uint8_t *b, uint64_t most,
                     uint32_t how)
{
    (void)counters, (void)a, (void)b, (void)most, (void)how;
}

_Noreturn void sundew_exit(int status) { exit(status); }

_Noreturn void sundew_exit_now(int status) { _exit(status); }

int sundew_atexit(void (*handler)(void)) { return atexit(handler); }

int sundew_fork(void)
{
    sundew_event_hides(SUNDEW_EVENT_FORKED, NULL);
    return fork();
}
