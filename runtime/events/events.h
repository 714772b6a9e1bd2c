/*
 * events - the side of a woven program that gets events.
 *
 * A program that waits for events calls sundew_event_boundary() in the place where it
 * would block. Without an engine (no descriptor SUNDEW_EVENTS_FD) the call
 * returns 0, and the program waits as ever. Under an engine the first call starts
 * the fork server: all runs begin here. Each run has its events as input
 * (runtime/input/input.h). The call returns 1 if there is one more, which is then
 * read with sundew_ask(). When there is none, the run is over: the call tells the
 * engine what the last event did (runtime/format/events.h) and does not return.
 *
 *     for (;;) {                              a loop: one call of a function is an event
 *         sundew_event_boundary();
 *         sundew_event_step();                written by src/build/loop.h
 *     }
 *
 * The state of the program is its variables, the local variables of the functions
 * that are waiting, and the heap that can be reached from these. state.c reads it
 * at two boundaries, before and behind the last event.
 *
 * The same code is in two builds: one that follows the event (with the concolic
 * runtime), and one that notes accesses, counts edges and has sanitizers.
 */
#ifndef SUNDEW_EVENTS_H
#define SUNDEW_EVENTS_H
#include "runtime/format/events.h"
#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* ---- called by woven code and adapters */

int sundew_event_boundary(void);
/* The same, and the event's n bytes. */
int sundew_event_next(void *to, size_t n);
/* A function that is a loop's step begins. The first time the loop runs, and this never returns. */
void sundew_event_reached(void);
/* Variables of a function that waits; `n` of them go when it does so no more. */
void sundew_event_local(void *at, uint64_t size);
void sundew_event_leave(uint32_t n);
/* Before setjmp(), and behind it: there it may have come back from a function that waited. */
void sundew_event_jump(const void *buffer);
void sundew_event_landed(const void *buffer);
/* Before an access; how: SUNDEW_EVENT_READ or SUNDEW_EVENT_TOUCHED. */
void sundew_event_access(const void *at, uint64_t size, uint32_t how);
/* Before a call of code that is not woven: it may read and write the whole object. */
void sundew_event_object(const void *at, uint32_t how);
/* Something happened that the state does not show: SUNDEW_EVENT_WROTE_FILE … */
void sundew_event_hides(uint32_t what, const char *name);

/* The pointers that the loop's function got when the program called it; NULL where it did not. */
enum { SUNDEW_LOOP_ARGUMENTS = 16 };
void sundew_event_offered(uint32_t argument, void *pointer);
extern void *sundew_loop_arguments[SUNDEW_LOOP_ARGUMENTS];

/* Functions that wait for an event, and others that must know of it: calls go to
 * sundew_event_NAME() in runtime/adapters/, which is woven like the program. */
/* clang-format off */
#define SUNDEW_EVENT_ADAPTERS(X) \
    X(sundew_event) X(wgetch) X(wget_wch) X(read) X(getchar) X(fgetc) X(getc) X(fgets) \
    X(getchar_unlocked) X(fgetc_unlocked) X(getc_unlocked) X(fgets_unlocked) X(getline) \
    X(getdelim) X(__getdelim) X(__fgets_chk) X(__read_chk) \
    X(poll) X(ppoll) X(select) X(epoll_wait) X(epoll_pwait) X(accept) X(accept4) X(recv) \
    X(recvfrom) X(readv) X(SDL_PollEvent) X(SDL_WaitEvent) X(SDL_WaitEventTimeout)
#define SUNDEW_EVENT_HELPERS(X) \
    X(time) X(clock_gettime) X(gettimeofday) X(sleep) X(usleep) X(nanosleep) X(napms) \
    X(rand) X(srand) X(random) X(srandom) X(isatty) X(fstat) X(ioctl) X(tcgetattr) X(tcsetattr) \
    X(halfdelay) X(nocbreak) X(mousemask) X(getmouse) \
    X(ungetc) X(feof) X(clearerr) X(fopen) X(open) X(unlink) X(rename) \
    X(socket) X(bind) X(listen) X(epoll_ctl) X(send) X(write) X(writev) X(close) X(shutdown) \
    X(getpeername) X(SDL_GetTicks) X(SDL_GetTicks64) X(SDL_Delay)
/* clang-format on */

/* ---- made by the weave (src/weave/events.c), or by the driver */

struct sundew_event_object {
    void *at;
    uint64_t size;
};
extern const struct sundew_event_object sundew_event_objects[];
extern const uint64_t sundew_event_nobjects;

/* ---- between the files of this runtime */

extern struct sundew_events *sundew_events; /* NULL: nobody explores */
void sundew_state_before(void); /* the last event comes now */
void sundew_state_after(void); /* it is over: tells the engine */
/* Tells of a location; false: no more room. */
bool sundew_event_tell(uint32_t object, uint64_t offset, uint64_t size, uint32_t how);
/* labels.c: values in this object that depend on the event. Only in the build that follows it. */
void sundew_event_labels(uint32_t object, const void *at, uint64_t size) __attribute__((weak));
void sundew_event_labels_end(void) __attribute__((weak));
void sundew_event_labels_begin(void) __attribute__((weak)); /* the last event comes now */

#pragma GCC visibility pop
#endif
