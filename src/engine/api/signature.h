/*
 * signature - the types of a function as a short text, for a player that calls
 * it through libffi.
 *
 *     int db_open(const char *, struct db **)     ipp
 *
 * The result comes first, then the parameters, a letter each: v void, c C s S i
 * I l L integers of 1, 2, 4, 8 bytes (capitals unsigned), f d floating, p pointer,
 * {...} a struct. A '.' ends the fixed parameters of a variadic function.
 *
 * A function that has no signature can't be called (ApiFunction.not_callable), so
 * the text belongs to the API and not to its player.
 */
#ifndef SUNDEW_API_SIGNATURE_H
#define SUNDEW_API_SIGNATURE_H
#include "engine/api/api.h"

/* False: a type that can't be passed; `out` may then hold a part of it. */
bool signature_write(const ApiFunction *f, Str *out);
#endif
