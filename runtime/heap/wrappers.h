/*
 * wrappers - what calls of the C library go to instead (SUNDEW_REDIRECTED of
 * monitor.h). Each does what the function does whose name it carries.
 */
#ifndef SUNDEW_WRAPPERS_H
#define SUNDEW_WRAPPERS_H
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#pragma GCC visibility push(hidden)
void *sundew_malloc(size_t n);
void *sundew_calloc(size_t m, size_t n);
void *sundew_realloc(void *p, size_t n);
void *sundew_reallocarray(void *p, size_t m, size_t n);
void sundew_free(void *p);
void *sundew_aligned_alloc(size_t alignment, size_t n);
void *sundew_memalign(size_t alignment, size_t n);
int sundew_posix_memalign(void **p, size_t alignment, size_t n);
void *sundew_valloc(size_t n);
char *sundew_strdup(const char *s);
char *sundew_strndup(const char *s, size_t n);
ssize_t sundew_getdelim(char **line, size_t *n, int delimiter, FILE *f);
ssize_t sundew_getline(char **line, size_t *n, FILE *f);
int sundew_vasprintf(char **out, const char *format, va_list args);
int sundew_asprintf(char **out, const char *format, ...) __attribute__((format(printf, 2, 3)));

void *sundew_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset);
void *sundew_mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset);
int sundew_munmap(void *p, size_t n);

int sundew_sigaction(int sig, const struct sigaction *act, struct sigaction *old);
void (*sundew_signal(int sig, void (*handler)(int)))(int);
void (*sundew___sysv_signal(int sig, void (*handler)(int)))(int);
int sundew_sigprocmask(int how, const sigset_t *set, sigset_t *old);
int sundew_pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
int sundew_sigsuspend(const sigset_t *set);
int sundew_sigaltstack(const stack_t *ss, stack_t *old);
int sundew_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *),
                          void *arg);
void sundew___assert_fail(const char *expression, const char *file, unsigned line,
                          const char *function) __attribute__((noreturn));
#pragma GCC visibility pop
#endif
