/*
 * units - durations and sizes as people write them.
 *
 *     90s  5m  2h  1m30s  250ms        a bare number is seconds
 *     512K  64M  2G  1GiB  100         a bare number is bytes; K is 1024
 */
#ifndef SUNDEW_UNITS_H
#define SUNDEW_UNITS_H
#include <stdbool.h>
#include <stdint.h>

bool duration_parse(const char *text, double *seconds);
bool size_parse(const char *text, uint64_t *bytes);
/* Into `out` (at least 32 bytes), which is returned: "1m30s", "2.0 GiB". */
char *duration_format(double seconds, char *out);
char *size_format(uint64_t bytes, char *out);
/* 3412 as "3,412". */
char *count_format(uint64_t n, char *out);
double clock_seconds(void);               /* monotonic */
#endif
