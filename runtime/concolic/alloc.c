/*
 * Where objects begin and end: the books on the heap (extents.c), and the weave's
 * table of variables. Memory that is given back, or handed out, has no labels.
 */
#include "runtime/heap/extents.c"

#define sundew_realloc      sundew_plain_realloc
#define sundew_reallocarray sundew_plain_reallocarray
#include "runtime/heap/alloc.c"
#undef sundew_realloc
#undef sundew_reallocarray
void *sundew_realloc(void *p, size_t n);
void *sundew_reallocarray(void *p, size_t m, size_t n);

#include "runtime/concolic/concolic.h"
#include "runtime/concolic/alloc.h"

/* extents.c can look variables up in these; there is another table for them here. */
const SundewTables sundew_tables;

void sundew_alloc_start(void) { sundew_tracking = 1; }

void sundew_note_malloc(void *p, size_t n)
{
    sundew_extent_malloc(p, n);
    if (SUNDEW_UNLIKELY(sundew_alive))
        sundew_forget(p, n);
}

void sundew_note_free(void *p)
{
    SundewExtent e;
    if (SUNDEW_UNLIKELY(sundew_alive) && sundew_extent_at((uintptr_t)p, &e) &&
        e.start == (uintptr_t)p)
        sundew_forget(p, e.size);
    sundew_extent_free(p);
}

/* Labels don't move with realloc(): where there are some, it is done by hand. */
void *sundew_realloc(void *p, size_t n)
{
    SundewExtent e;
    if (!p || !n || !sundew_alive || !sundew_extent_at((uintptr_t)p, &e) ||
        e.start != (uintptr_t)p || !sundew_is_symbolic(p, e.size))
        return sundew_plain_realloc(p, n);
    void *q = sundew_malloc(n);
    if (!q)
        return NULL;
    size_t kept = n < e.size ? n : (size_t)e.size;
    sundew_copy(q, p, kept, 0, 0);
    memcpy(q, p, kept);
    sundew_free(p);
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

/* ---- which object an address lies in */

static Sorted objects_sorted;

static uint64_t object_address(uint32_t i) { return (uintptr_t)sundew_objects[i].at; }

static bool variable_at(uint64_t address, SundewSpan *s)
{
    long i = find(&objects_sorted, (uint32_t)sundew_nobjects, object_address, address);
    if (i < 0 || address - (uintptr_t)sundew_objects[i].at >= sundew_objects[i].size)
        return false;
    *s = (SundewSpan){ (uintptr_t)sundew_objects[i].at, sundew_objects[i].size };
    return true;
}

bool sundew_object_at(uint64_t address, SundewSpan *s)
{
    SundewExtent e;
    if (variable_at(address, s))
        return true;
    if (!sundew_extent_at(address, &e) || e.freed || address - e.start >= e.size)
        return false;
    *s = (SundewSpan){ e.start, e.size };
    return true;
}
