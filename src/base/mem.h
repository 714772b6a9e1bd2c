/*
 * mem - memory: a heap that never returns NULL, and arenas.
 *
 * Running out of memory ends the tool with status 2 and one line.
 *
 * An Arena of {0} is ready for use. What it hands out is zeroed and lives
 * until arena_release(); whoever owns the arena decides how long.
 *
 *     Arena a = {0};
 *     Step *st = arena_new(&a, Step);
 *     Arg *args = arena_array(&a, Arg, n);      n * size is checked
 *     char *s = arena_printf(&a, "%s.o", base);
 *     arena_release(&a);
 */
#ifndef SUNDEW_MEM_H
#define SUNDEW_MEM_H
#include <stdarg.h>
#include <stddef.h>

void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
void *xmemdup(const void *p, size_t n);   /* never NULL, also for n of 0 */
char *xprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvprintf(const char *fmt, va_list ap);

/* Called instead of ending the tool, where something else must still happen;
 * must not return. */
void mem_out_of_memory_hook(void (*hook)(void));

typedef struct ArenaBlock ArenaBlock;
typedef struct Arena {
    ArenaBlock *blocks;
} Arena;

#define arena_new(a, T)      arena_array((a), T, 1)
#define arena_array(a, T, n) ((T *)arena_alloc((a), (n), sizeof(T), _Alignof(T)))

void *arena_alloc(Arena *a, size_t n, size_t size, size_t align);
char *arena_strdup(Arena *a, const char *s);
char *arena_strndup(Arena *a, const char *s, size_t n);
char *arena_printf(Arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void arena_release(Arena *a);
#endif
