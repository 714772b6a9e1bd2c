/*
 * The books on allocations (extents.c), with an event of the trace for each
 * entry.
 */
#include "runtime/monitor/monitor_int.h"
#include "runtime/record/record.h"

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
