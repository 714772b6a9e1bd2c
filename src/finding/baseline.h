/* baseline - reading sundew.baseline; store.h has what other rooms use. */
#ifndef SUNDEW_BASELINE_H
#define SUNDEW_BASELINE_H
#include "base/map.h"
#include "finding/store.h"

/* Fingerprint to its whole line (a char * to free). No file is no entries; a
 * line that is neither entry nor comment is an error. */
bool baseline_read(const char *path, Map *entries, Err *err);
void baseline_release(Map *entries);
#endif
