#include "base/mem.h"
#include "base/fault.h"
#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void (*hook)(void);

void mem_out_of_memory_hook(void (*h)(void)) { hook = h; }

static _Noreturn void out_of_memory(void)
{
    if (hook)
        hook();
    static const char msg[] = "sundew: out of memory\n";
    ssize_t ignored = write(2, msg, sizeof msg - 1);
    (void)ignored;
    exit(2);
}

void *xrealloc(void *p, size_t n)
{
    void *q = fault_hits_alloc() ? NULL : realloc(p, n ? n : 1);
    if (!q)
        out_of_memory();
    return q;
}

void *xmalloc(size_t n) { return xrealloc(NULL, n); }

void *xcalloc(size_t n, size_t size)
{
    void *q = fault_hits_alloc() ? NULL : calloc(n ? n : 1, size ? size : 1);
    if (!q)
        out_of_memory();
    return q;
}

char *xstrndup(const char *s, size_t n)
{
    char *q = xmalloc(n + 1);
    memcpy(q, s, n);
    q[n] = 0;
    return q;
}

void *xmemdup(const void *p, size_t n)
{
    void *copy = xmalloc(n ? n : 1);
    if (n)
        memcpy(copy, p, n);
    return copy;
}

char *xstrdup(const char *s) { return xstrndup(s, strlen(s)); }

char *xvprintf(const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    assert(n >= 0);
    char *s = xmalloc((size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, fmt, again);
    va_end(again);
    return s;
}

char *xprintf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = xvprintf(fmt, ap);
    va_end(ap);
    return s;
}

/* Blocks double in size; a request larger than a block gets its own. The first
 * block of the list is the one being filled. */
struct ArenaBlock {
    ArenaBlock *next;
    size_t used, size;
    max_align_t data[];
};

static ArenaBlock *new_block(size_t size)
{
    if (size > SIZE_MAX - sizeof(ArenaBlock))
        out_of_memory();
    ArenaBlock *b = xcalloc(1, sizeof *b + size);
    b->size = size;
    return b;
}

void *arena_alloc(Arena *a, size_t n, size_t size, size_t align)
{
    assert(align && !(align & (align - 1)) && align <= _Alignof(max_align_t));
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 2)
        out_of_memory();
    ArenaBlock *b = a->blocks;
    size_t at = b ? (b->used + align - 1) & ~(align - 1) : 0;
    if (!b || at > b->size || bytes > b->size - at) {
        size_t want = b ? b->size * 2 : 4096;
        if (want > (size_t)1 << 20)
            want = (size_t)1 << 20;
        b = new_block(bytes > want ? bytes : want);
        b->next = a->blocks;
        a->blocks = b;
        at = 0;
    }
    b->used = at + bytes;
    assert(b->used <= b->size);
    return (char *)b->data + at;
}

char *arena_strndup(Arena *a, const char *s, size_t n)
{
    char *q = arena_alloc(a, n + 1, 1, 1);
    memcpy(q, s, n);
    return q;
}

char *arena_strdup(Arena *a, const char *s) { return arena_strndup(a, s, strlen(s)); }

char *arena_printf(Arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *s = arena_alloc(a, (size_t)n + 1, 1, 1);
    va_start(ap, fmt);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return s;
}

void arena_release(Arena *a)
{
    for (ArenaBlock *b = a->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    a->blocks = NULL;
}
