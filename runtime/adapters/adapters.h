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
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <termios.h>
#include <time.h>

#pragma GCC visibility push(hidden)

/* Does an engine give the events? Not woven: adapters ask at each call. */
int sundew_event_engine(void);

int sundew_event_mark(void);
int sundew_event_wgetch(void *window);
int sundew_event_wget_wch(void *window, unsigned *key);
int sundew_event_halfdelay(int tenths);
int sundew_event_nocbreak(void);
unsigned sundew_event_mousemask(unsigned want, unsigned *old);
struct mouse_event;
int sundew_event_getmouse(struct mouse_event *out);
ssize_t sundew_event_read(int fd, void *to, size_t n);
int sundew_event_getchar(void);
int sundew_event_fgetc(FILE *f);
int sundew_event_getc(FILE *f);
char *sundew_event_fgets(char *to, int n, FILE *f);
int sundew_event_getchar_unlocked(void);
int sundew_event_fgetc_unlocked(FILE *f);
int sundew_event_getc_unlocked(FILE *f);
char *sundew_event_fgets_unlocked(char *to, int n, FILE *f);
char *sundew_event___fgets_chk(char *to, size_t room, int n, FILE *f);
ssize_t sundew_event___read_chk(int fd, void *to, size_t n, size_t room);
ssize_t sundew_event_getline(char **to, size_t *room, FILE *f);
ssize_t sundew_event_getdelim(char **to, size_t *room, int end, FILE *f);
ssize_t sundew_event___getdelim(char **to, size_t *room, int end, FILE *f);
int sundew_event_ungetc(int c, FILE *f);
int sundew_event_feof(FILE *f);
void sundew_event_clearerr(FILE *f);

/* Servers. Bytes of a connection; -2: it is none. */
ssize_t sundew_event_take(int fd, void *to, size_t n);
int sundew_event_poll(struct pollfd *fds, nfds_t n, int timeout);
int sundew_event_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t, const void *mask);
int sundew_event_select(int n, fd_set *in, fd_set *out, fd_set *bad, struct timeval *t);
int sundew_event_epoll_ctl(int queue, int op, int fd, struct epoll_event *event);
int sundew_event_epoll_wait(int queue, struct epoll_event *events, int most, int timeout);
int sundew_event_epoll_pwait(int queue, struct epoll_event *events, int most, int timeout,
                             const sigset_t *mask);
int sundew_event_socket(int domain, int type, int protocol);
int sundew_event_bind(int fd, const struct sockaddr *address, socklen_t n);
int sundew_event_listen(int fd, int most);
int sundew_event_accept4(int fd, struct sockaddr *address, socklen_t *n, int flags);
int sundew_event_accept(int fd, struct sockaddr *address, socklen_t *n);
ssize_t sundew_event_recv(int fd, void *to, size_t n, int flags);
ssize_t sundew_event_recvfrom(int fd, void *to, size_t n, int flags, struct sockaddr *from,
                              socklen_t *len);
ssize_t sundew_event_send(int fd, const void *from, size_t n, int flags);
ssize_t sundew_event_write(int fd, const void *from, size_t n);
ssize_t sundew_event_readv(int fd, const struct iovec *to, int n);
ssize_t sundew_event_writev(int fd, const struct iovec *from, int n);
/* Bytes that have arrived; -1: it is no connection. */
int sundew_event_arrived(int fd);
int sundew_event_close(int fd);
int sundew_event_shutdown(int fd, int how);
int sundew_event_getpeername(int fd, struct sockaddr *address, socklen_t *n);

/* Windows. */
union sundew_sdl_event;
int sundew_event_SDL_PollEvent(union sundew_sdl_event *out);
int sundew_event_SDL_WaitEvent(union sundew_sdl_event *out);
int sundew_event_SDL_WaitEventTimeout(union sundew_sdl_event *out, int ms);
uint32_t sundew_event_SDL_GetTicks(void);
uint64_t sundew_event_SDL_GetTicks64(void);
void sundew_event_SDL_Delay(uint32_t ms);

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
int sundew_event_fstat(int fd, struct stat *out);
int sundew_event_ioctl(int fd, unsigned long what, ...);
int sundew_event_tcgetattr(int fd, struct termios *t);
int sundew_event_tcsetattr(int fd, int when, const struct termios *t);
FILE *sundew_event_fopen(const char *path, const char *mode);
int sundew_event_open(const char *path, int flags, ...);
int sundew_event_unlink(const char *path);
int sundew_event_rename(const char *from, const char *to);

#pragma GCC visibility pop
#endif
