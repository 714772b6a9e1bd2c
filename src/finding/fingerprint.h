/*
 * fingerprint - names for findings that survive shifted lines and moved
 * checkouts (finding.h says what they are made of).
 */
#ifndef SUNDEW_FINGERPRINT_H
#define SUNDEW_FINGERPRINT_H
#include "base/sha256.h"
#include "finding/finding.h"
#include "finding/source.h"

/* out[i] is the fingerprint of items[i]; an empty one means that the finding
 * repeats another (same place, same message) and is to be dropped. */
void fingerprints(const Finding *const *items, size_t n, Sources *sources, char (*out)[ID_LEN + 1]);
#endif
