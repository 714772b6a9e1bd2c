/*
 * shared - memory that a subject shares with us.
 *
 *     Shared s;
 *     if (!shared_new(&s, "sundew-batch", size, err)) …
 *     … hand s.fd to the subject, read and write s.at …
 *     shared_free(&s);
 *
 * The subject may write what it likes there, at any moment, even while we look. So
 * who reads it copies first, checks the copy, and never looks twice.
 *
 * The memory is sealed: nobody can make it shorter, so that reading it never
 * raises SIGBUS, or longer, or seal it against our writing.
 */
#ifndef SUNDEW_SHARED_H
#define SUNDEW_SHARED_H
#include "base/err.h"
#include <stddef.h>
#include <stdint.h>

typedef struct Shared {
    int fd;                    /* -1: none */
    uint8_t *at;               /* NULL: none */
    size_t size;
} Shared;

bool shared_new(Shared *s, const char *name, size_t size, Err *err);
void shared_free(Shared *s);               /* {.fd = -1} is fine */
#endif
