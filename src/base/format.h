/*
 * format - what the arguments behind a printf format are for.
 *
 *     FormatArg a = format_argument("%*d of %lld", 11, 2);      'd', long_long
 *
 * Conversions of a program's own ("%q") are letters like others.
 */
#ifndef SUNDEW_FORMAT_H
#define SUNDEW_FORMAT_H
#include <stdbool.h>
#include <stddef.h>

typedef struct FormatArg {
    char letter;       /* of the conversion; 0: none, '*': a width, '$': arguments are
                        * numbered, and not looked at */
    bool long_long;    /* "ll" stands before it */
} FormatArg;

/* The format ends with a NUL or after `len`; n counts from 0. */
FormatArg format_argument(const char *format, size_t len, unsigned n);
#endif
