/*
 * lines - functions and lines of a program at addresses of its file.
 *
 *     PlaceNames *n = places_new();
 *     places_find(n, "prog", addresses, count, &places);
 *     places_free(n);
 *
 * Inlined functions are included, innermost first. Answers are remembered by the
 * path of the program, and live as long as `n`.
 */
#ifndef SUNDEW_LINES_H
#define SUNDEW_LINES_H
#include "base/vec.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct Place {
    const char *function;
    const char *file;
    unsigned line;
} Place;
typedef Vec(Place) Places;

typedef struct PlaceNames PlaceNames;
PlaceNames *places_new(void);
void places_free(PlaceNames *n);               /* NULL is fine */
/* A text that lives as long as `n`, for places from elsewhere. */
const char *places_text(PlaceNames *n, const char *text);
bool places_find(PlaceNames *n, const char *binary, const uint64_t *at, size_t count, Places *out);
#endif
