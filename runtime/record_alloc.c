/*
 * The books on allocations (extents.c), with an event of the trace for each
 * entry.
 */
#define sundew_note_malloc sundew_extent_malloc
#define sundew_note_free sundew_extent_free
#include "extents.c"
#undef sundew_note_malloc
#undef sundew_note_free
#include "record.h"

void sundew_note_malloc(void *p, size_t n);
void sundew_note_free(void *p);

void sundew_note_malloc(void *p, size_t n)
{
    sundew_extent_malloc(p, n);
    sundew_record_alloc(p, n);
}

void sundew_note_free(void *p)
{
    sundew_record_free(p);
    sundew_extent_free(p);
}
