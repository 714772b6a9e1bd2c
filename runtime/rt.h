/*
 * rt - what the files of the runtime use of each other.
 */
#ifndef SUNDEW_RT_H
#define SUNDEW_RT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As memcpy(), but stops at memory that can't be read; how much it copied. */
size_t sundew_safe_copy(void *to, const void *from, size_t n);
/* The object that an address lies in. False: none is known. */
bool sundew_extent(uint64_t address, uint64_t *base, uint64_t *size);
/* Load address minus linked address. */
uint64_t sundew_slide(void);

/* What the allocation wrappers tell a recording program. */
void sundew_on_alloc(void *p, size_t size, void *from);
void sundew_on_free(void *p);
#endif
