/*
 * below - files in a folder that a program under test can write.
 *
 *     below_write("/tmp/work", "app/data/x", bytes, n, err);
 *     below_read("/tmp/work", "app/data/x", 1 << 20, &text, err);
 *     below_remove("/tmp/work", "app/data/x");
 *
 * Such a program may have put a link in the place of a file, or of a folder on the way to it. A
 * path would lead outside then. Here each step is taken by itself and links are not followed:
 * nothing outside of the folder is read, written or removed. The folder itself is ours.
 */
#ifndef SUNDEW_BELOW_H
#define SUNDEW_BELOW_H
#include "base/err.h"
#include "base/str.h"
#include <stdint.h>
#include <sys/stat.h>

/* A regular file of at most `most` bytes. */
bool below_read(const char *folder, const char *path, uint64_t most, Str *out, Err *err);
/* Makes the folders on the way; what stands there and is none is removed first. */
bool below_write(const char *folder, const char *path, const void *data, size_t n, Err *err);
void below_remove(const char *folder, const char *path);
/* What is there now, links as links. False: nothing. */
bool below_look(const char *folder, const char *path, struct stat *out);
/* The file gets the owner of the folder that it is in, and these modes. */
bool below_give(const char *folder, const char *path, mode_t mode, Err *err);
#endif
