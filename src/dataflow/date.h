/*
 * date - datetimes as milliseconds since 1970 in UTC, in the proleptic
 * Gregorian calendar.
 *
 *     int64_t ms;
 *     if (date_parse("2009-01-07T01:07:01.000Z", len, &ms)) …
 *
 * date_parse() takes ISO 8601: a date, optionally with a time, a fraction and a
 * zone. date_parse_as() and date_print_as() take Joda patterns (yyyy-MM-dd
 * HH:mm:ss).
 */
#ifndef SUNDEW_DATAFLOW_DATE_H
#define SUNDEW_DATAFLOW_DATE_H
#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct Date {
    int64_t year;
    int month, day, hour, minute, second, ms;
} Date;

Date date_split(int64_t ms);
int64_t date_join(const Date *d);              /* fields may run over */
bool date_parse(const char *s, size_t n, int64_t *ms);
bool date_parse_as(const char *s, size_t n, const char *pattern, int64_t *ms);
void date_print(Str *out, int64_t ms);         /* 2009-01-07T01:07:01.000Z */
void date_print_as(Str *out, int64_t ms, const char *pattern);
/* ISO 8601 duration (P1Y2M3DT4H5M6.7S, P2W) added `sign` times. */
bool date_add(int64_t ms, const char *duration, size_t n, int sign, int64_t *out);
int date_weekday(int64_t ms);                  /* 1 Monday … 7 */
void date_week(int64_t ms, int *year, int *week);   /* ISO week */
#endif
