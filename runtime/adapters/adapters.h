/*
 * adapters - functions that wait for an event, as a program under the engine sees
 * them (runtime/events/events.h). They are woven like the program itself, so that
 * the bytes of an event keep their labels. Without an engine each calls the real
 * function.
 *
 * The terminal is ours: a key comes when the engine has one, its size is 80 x 24, and
 * what is written to it goes nowhere. So is the clock: it moves when the program
 * sleeps.
 */
#ifndef SUNDEW_ADAPTERS_H
#define SUNDEW_ADAPTERS_H
#include "runtime/events/events.h"
#include <stdio.h>
#include <sys/types.h>
#include <termios.h>
#include <time.h>

#pragma GCC visibility push(hidden)

/* Does an engine give the events? Not woven: adapters ask at each call. */
int sundew_event_engine(void);

int sundew_event_mark(void);
int sundew_event_wgetch(void *window);
ssize_t sundew_event_read(int fd, void *to, size_t n);
int sundew_event_getchar(void);
int sundew_event_fgetc(FILE *f);
int sundew_event_getc(FILE *f);
char *sundew_event_fgets(char *to, int n, FILE *f);

time_t sundew_event_time(time_t *out);
int sundew_event_clock_gettime(clockid_t clock, struct timespec *out);
int sundew_event_gettimeofday(struct timeval *out, void *zone);
unsigned sundew_event_sleep(unsigned seconds);
int sundew_event_usleep(useconds_t us);
int sundew_event_nanosleep(const struct timespec *want, struct timespec *left);
int sundew_event_napms(int ms);
int sundew_event_rand(void);
void sundew_event_srand(unsigned seed);
long sundew_event_random(void);
void sundew_event_srandom(unsigned seed);
int sundew_event_isatty(int fd);
int sundew_event_tcgetattr(int fd, struct termios *t);
int sundew_event_tcsetattr(int fd, int when, const struct termios *t);
FILE *sundew_event_fopen(const char *path, const char *mode);
int sundew_event_open(const char *path, int flags, ...);
int sundew_event_unlink(const char *path);
int sundew_event_rename(const char *from, const char *to);

#pragma GCC visibility pop
#endif
