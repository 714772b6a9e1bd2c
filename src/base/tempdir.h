/*
 * tempdir - temporary folders that are gone afterwards on every exit: return
 * from main, exit(), and death by SIGINT, SIGTERM or SIGHUP. After a kill -9
 * the next tempdir_new() sweeps what dead processes left behind.
 */
#ifndef SUNDEW_TEMPDIR_H
#define SUNDEW_TEMPDIR_H
#include "base/err.h"

/* A new private folder below `parent` (NULL: $TMPDIR or /tmp). The string
 * stays valid until tempdir_remove() or the end of the process. */
const char *tempdir_new(const char *parent, Err *err);
void tempdir_remove(const char *path);
#endif
