/*
 * alloc - the malloc family, with books kept (extents.c).
 *
 * Memory is noted after the allocator gave it and before it gets it back, so
 * that no other thread can have it in between.
 */
#include "runtime/monitor/monitor_int.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/heap/wrappers.h"

static inline void *noted(void *p, size_t n)
{
    if (SUNDEW_LIKELY(p && sundew_tracking))
        sundew_note_malloc(p, n);
    return p;
}

/* What was just allocated and means nothing yet says so (SUNDEW_UNWRITTEN). */
static inline void *filled(void *p, size_t from, size_t n)
{
    if (sundew_fills && p && n > from && from < SUNDEW_MOST_UNWRITTEN)
        memset((char *)p + from, SUNDEW_UNWRITTEN,
               (n < SUNDEW_MOST_UNWRITTEN ? n : SUNDEW_MOST_UNWRITTEN) - from);
    return p;
}

void *sundew_malloc(size_t n) { return noted(filled(malloc(n), 0, n), n); }

void *sundew_calloc(size_t m, size_t n) { return noted(calloc(m, n), m * n); }

void sundew_free(void *p)
{
    if (p && sundew_tracking)
        sundew_note_free(p);
    free(p);
}

/* The old object's fate is noted first: when realloc() returns, another
 * thread may have it. If it wasn't moved or freed, it is noted anew. */
void *sundew_realloc(void *p, size_t n)
{
    SundewExtent was = { 0 };
    bool known = false;
    if (p && sundew_tracking) {
        known = sundew_extent_at((uintptr_t)p, &was) && was.start == (uintptr_t)p && !was.freed;
        sundew_note_free(p);
    }
    uintptr_t old = (uintptr_t)p;
    void *q = realloc(p, n);
    if (!sundew_tracking)
        return q;
    if (q && (known || !old))
        filled(q, known ? was.size : 0, n);
    if (q)
        sundew_note_malloc(q, n);
    else if (n && known)
        sundew_note_malloc((void *)old, was.size);
    return q;
}

void *sundew_reallocarray(void *p, size_t m, size_t n)
{
    size_t size;
    if (__builtin_mul_overflow(m, n, &size)) {
        errno = ENOMEM;
        return NULL;
    }
    return sundew_realloc(p, size);
}

void *sundew_aligned_alloc(size_t alignment, size_t n)
{
    return noted(filled(aligned_alloc(alignment, n), 0, n), n);
}

void *sundew_memalign(size_t alignment, size_t n)
{
    return noted(filled(memalign(alignment, n), 0, n), n);
}

int sundew_posix_memalign(void **p, size_t alignment, size_t n)
{
    int failed = posix_memalign(p, alignment, n);
    if (!failed)
        noted(filled(*p, 0, n), n);
    return failed;
}

void *sundew_valloc(size_t n) { return noted(filled(valloc(n), 0, n), n); }

char *sundew_strdup(const char *s)
{
    char *p = strdup(s);
    if (p && sundew_tracking)
        sundew_note_malloc(p, strlen(p) + 1);
    return p;
}

char *sundew_strndup(const char *s, size_t n)
{
    char *p = strndup(s, n);
    if (p && sundew_tracking)
        sundew_note_malloc(p, strlen(p) + 1);
    return p;
}

ssize_t sundew_getdelim(char **line, size_t *n, int delimiter, FILE *f)
{
    char *was = line ? *line : NULL;
    size_t size = n ? *n : 0;
    ssize_t got = getdelim(line, n, delimiter, f);
    if (sundew_tracking && line && n && *line && (*line != was || *n != size)) {
        /* The buffer that it left can only be told freed now; nobody but this
         * thread's allocator can have it. */
        if (was && *line != was)
            sundew_note_free(was);
        sundew_note_malloc(*line, *n);
    }
    return got;
}

ssize_t sundew_getline(char **line, size_t *n, FILE *f)
{
    return sundew_getdelim(line, n, '\n', f);
}

int sundew_vasprintf(char **out, const char *format, va_list args)
{
    int n = vasprintf(out, format, args);
    if (n >= 0)
        noted(*out, (size_t)n + 1);
    return n;
}

int sundew_asprintf(char **out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = sundew_vasprintf(out, format, args);
    va_end(args);
    return n;
}

/* Programs have allocators of their own, which get their blocks so. */
void *sundew_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    enum { MOST = 16 << 20 };          /* more is an address space, not a block */
    void *p = mmap(at, n, protection, flags, fd, offset);
    bool block = flags & MAP_ANONYMOUS && protection & PROT_WRITE && !(flags & MAP_FIXED);
    return p != MAP_FAILED && block && n <= MOST ? noted(p, n) : p;
}

void *sundew_mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    return sundew_mmap(at, n, protection, flags, fd, offset);
}

int sundew_munmap(void *p, size_t n)
{
    SundewExtent e = { 0 };
    if (sundew_tracking && sundew_extent_at((uintptr_t)p, &e) && e.start == (uintptr_t)p &&
        e.size <= n && !e.freed)
        sundew_note_free(p);
    return munmap(p, n);
}
