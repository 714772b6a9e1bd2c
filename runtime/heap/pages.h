/* pages - memory of our own, and where the program lies. errno stays as it was. */
#ifndef SUNDEW_PAGES_H
#define SUNDEW_PAGES_H
#include <stddef.h>
#include <stdint.h>
#pragma GCC visibility push(hidden)

void *sundew_pages(size_t n);          /* mmap'd, zeroed, reserved only; NULL */
void sundew_pages_free(void *p, size_t n);
void sundew_pages_reset(void *p, size_t n);    /* all 0 again; whole pages */
/* Load address minus linked address of the program or library. */
uint64_t sundew_slide(void);

#pragma GCC visibility pop
#endif
