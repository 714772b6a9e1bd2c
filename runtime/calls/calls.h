/*
 * calls - the entry points that the weave of API calls uses.
 *
 *     r = sqlite3_step(s);      c = sundew_call_begin(17, s, 0, 0, NULL, NULL);
 *                               r = sqlite3_step(s);
 *                               sundew_call_end(c, r);
 *
 * Arguments of sundew_call_begin() are the site, the handles that go in, and pointers
 * to where handles come out; 0 and NULL stand for none. The result of it goes to
 * sundew_call_end(), with the call's own result. NULL: nothing is recorded.
 *
 * Calls are recorded if SUNDEW_CALLS names a folder (runtime/format/callfile.h).
 * SUNDEW_CALLS_MOST is the number of records of a process, at most.
 * SUNDEW_CALLS_FAULT ("17 stream") lets the environment fail once in each process, at the
 * first call from a site: `open`, no descriptor is free during the call; `stream`,
 * `folder`, `descriptor`: what the first handle reads or writes fails from then on. The API
 * itself is not changed; it meets a real failure.
 * errno stays as the call left it.
 */
#ifndef SUNDEW_CALLS_RUNTIME_H
#define SUNDEW_CALLS_RUNTIME_H
#include "runtime/format/callfile.h"
#include <pthread.h>

SundewCallRecord *sundew_call_begin(uint32_t site, uint64_t a, uint64_t b, uint64_t c, void **x,
                                    void **y);
void sundew_call_end(SundewCallRecord *r, uint64_t result);
/* Before a pthread_mutex_ function: a plain mutex that nobody holds begins to check
 * for errors, so that misuse gives a code and no hang. */
void sundew_call_mutex(pthread_mutex_t *m);
/* A function of the program, which makes handles, returns. */
void sundew_call_left(uint32_t function);
void sundew_calls_start(void);
void sundew__exit(int status) __attribute__((noreturn));
void sundew__Exit(int status) __attribute__((noreturn));
#endif
