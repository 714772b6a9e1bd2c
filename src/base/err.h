/*
 * err - an error as a value: one line that says what went wrong.
 *
 * Whoever detects an error states the fact, callers put what they know in
 * front of it, and the command line prints the whole once:
 *
 *     err_set(err, "%s", strerror(errno));         "No such file or directory"
 *     err_ctx(err, "trace %s", path);              "trace a.trc: No such file…"
 *
 * Both return false, so that a failing function ends in one line. A NULL Err
 * is allowed: the caller does not care. An Err of {0} says "no error".
 */
#ifndef SUNDEW_ERR_H
#define SUNDEW_ERR_H
#include <stdbool.h>

typedef struct Err {
    char msg[1024];
} Err;

bool err_set(Err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool err_ctx(Err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "WHAT: strerror(errno)" */
bool err_errno(Err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#endif
