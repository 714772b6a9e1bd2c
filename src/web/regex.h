/*
 * regex - text that a regular expression of PHP's matches.
 *
 *     char *s = regex_sample("/^[a-z]+@x\\.(de|at)$/i", &rng);     "kq@x.de"
 *
 * A guess, read from the pattern: look-around, back references and what else
 * is not understood is passed over. The run that follows shows whether it fits.
 * NULL: the pattern has no delimiters. To free.
 */
#ifndef SUNDEW_WEB_REGEX_H
#define SUNDEW_WEB_REGEX_H
#include "base/rng.h"

char *regex_sample(const char *pattern, Rng *rng);
#endif
