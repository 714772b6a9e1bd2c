/* concolic_alloc - where objects begin and end, for symbolic addresses. */
#ifndef SUNDEW_CONCOLIC_ALLOC_H
#define SUNDEW_CONCOLIC_ALLOC_H
#include <stdbool.h>
#include <stdint.h>

typedef struct SundewSpan {
    uint64_t start, size;
} SundewSpan;

#pragma GCC visibility push(hidden)
void sundew_alloc_start(void);
/* The variable or live heap object that an address lies in. */
bool sundew_object_at(uint64_t address, SundewSpan *s);
#pragma GCC visibility pop
#endif
