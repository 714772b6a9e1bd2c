/* For the plain program. */
#include <stdint.h>
void sundew_symbolic(void *at, uint64_t n, uint64_t offset);
int sundew_is_symbolic(const void *at, uint64_t n);
void sundew_symbolic(void *at, uint64_t n, uint64_t offset) { (void)at, (void)n, (void)offset; }
int sundew_is_symbolic(const void *at, uint64_t n) { (void)at, (void)n; return 1; }
