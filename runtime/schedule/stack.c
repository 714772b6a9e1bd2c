/*
 * Where an access is called from: the chain of frame pointers, which woven code keeps.
 *
 *     frame -> | caller's frame | return address | …
 *
 * Code that is not woven may use the register for something else. So a frame counts only if
 * it is above the last one and below the top of the thread's stack. Return addresses are
 * told if they are in the woven file.
 */
#include "runtime/schedule/schedule_int.h"
#include <elf.h>

enum { MOST_FRAMES = 64 };

uintptr_t sundew_stack_top;

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

/* The address in the file; 0: it is not there. */
static uint32_t in_file(uintptr_t at)
{
    uintptr_t base = (uintptr_t)&__ehdr_start;
    if (at <= base || at > (uintptr_t)etext)
        return 0;
    return (uint32_t)(__ehdr_start.e_type == ET_EXEC ? at : at - base);
}

/* The control block of a thread lies above its stack. */
static uintptr_t top_of(const SchedThread *me)
{
    return me->number ? (uintptr_t)pthread_self() : sundew_stack_top;
}

__attribute__((no_sanitize("address"))) void sundew_stack(const SchedThread *me, uint32_t *out)
{
    const uintptr_t *frame = me->frame;
    uintptr_t top = top_of(me), at = (uintptr_t)frame;
    unsigned n = 0;
    for (unsigned i = 0; frame && i < MOST_FRAMES && n < SUNDEW_SCHEDULE_STACK; i++) {
        uint32_t back = in_file(frame[1]);
        if (back)
            out[n++] = back - 1;                 /* in the call, not after it */
        if (frame[0] <= at || frame[0] % sizeof at || frame[0] + 2 * sizeof at > top)
            break;
        at = frame[0];
        frame = (const uintptr_t *)at;
    }
    while (n < SUNDEW_SCHEDULE_STACK)
        out[n++] = 0;
}
