/*
 * sha256 - content ids.
 *
 *     char id[33];
 *     sha256_id(bytes, n, id);     the first 128 bits, as 32 hex digits
 */
#ifndef SUNDEW_SHA256_H
#define SUNDEW_SHA256_H
#include <stddef.h>
#include <stdint.h>

#define ID_LEN 32

typedef struct Sha256 {
    uint32_t h[8];
    uint64_t bytes;
    unsigned char block[64];
    size_t fill;
} Sha256;

void sha256_init(Sha256 *s);
void sha256_add(Sha256 *s, const void *data, size_t n);
void sha256_end(Sha256 *s, unsigned char out[32]);
void sha256_end_id(Sha256 *s, char id[ID_LEN + 1]);
void sha256_id(const void *data, size_t n, char id[ID_LEN + 1]);
#endif
