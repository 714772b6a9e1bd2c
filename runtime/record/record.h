/*
 * record - the entry points that the recording weave calls.
 *
 * As monitor.h, but each entry and each return becomes an event of the trace:
 *
 *     f.enter:  if (sundew_modes[r]) {
 *                   uint64_t *s = sundew_enter(r, sp);
 *                   if (s) { s[0] = argument 0; … sundew_entered(r, s); }
 *               }
 *     f.leave:  if (sundew_modes[r]) {
 *                   uint64_t *s = sundew_result(r, sp);
 *                   if (s) { s[0] = result; … sundew_returned(r, s); }
 *               }
 *
 * Before a direct call of a variadic function that is recorded stands
 *
 *     sundew_rest(r, "is", 3, "text");      the same arguments, behind their kinds
 *     f(format, 3, "text");
 *
 * A program has either this runtime or the monitor's, so the names may be the
 * same. It records if SUNDEW_TRACE names a folder; otherwise all modes are off
 * and the program runs as it is.
 */
#ifndef SUNDEW_RECORD_H
#define SUNDEW_RECORD_H
#include "runtime/monitor/monitor.h"
#include <stddef.h>
#include <stdint.h>

enum { SUNDEW_RESULT_SLOTS = 4 };

/* sundew_enter() and sundew_entered() are declared in monitor.h. */
uint64_t *sundew_result(uint32_t row, void *sp);
void sundew_returned(uint32_t row, uint64_t *slots, uint32_t nslots);
void sundew_record_start(void);
/* What the next call of a function gets for its "..."; SUNDEW_REST_… of each. */
void sundew_rest(uint32_t row, const char *kinds, ...);
/* An object of the heap begins and ends to be. */
void sundew_record_alloc(void *p, size_t size);
void sundew_record_free(void *p);
/* The stream of this thread ends (enum SundewTraceEnd). */
void sundew_record_end(unsigned how, int64_t value);

/* Redirected as SUNDEW_REDIRECTED of monitor.h. */
#define SUNDEW_RECORDED(X) SUNDEW_ALLOCATING(X) X(_exit) X(_Exit) X(execv) X(execve) X(execvp)
void sundew__exit(int status) __attribute__((noreturn));
void sundew__Exit(int status) __attribute__((noreturn));
int sundew_execv(const char *path, char *const argv[]);
int sundew_execve(const char *path, char *const argv[], char *const env[]);
int sundew_execvp(const char *file, char *const argv[]);
#endif
