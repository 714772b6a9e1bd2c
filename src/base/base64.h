/*
 * base64 - bytes as text (RFC 4648, padded).
 */
#ifndef SUNDEW_BASE64_H
#define SUNDEW_BASE64_H
#include "base/str.h"

void base64_encode(Str *out, const void *data, size_t n);
#endif
