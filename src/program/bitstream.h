/*
 * bitstream - read LLVM's bitstream container: blocks and records.
 *
 *     BitReader *r = bits_open(data, n, err);
 *     for (;;) switch (bits_next(r)) {
 *     case BITS_RECORD: use(r->code, r->ops, r->nops); break;
 *     case BITS_BLOCK:  interesting(r->block) ? bits_enter(r) : bits_skip(r);
 *                       break;
 *     case BITS_LEAVE:  … the end of the block that was entered last
 *     case BITS_END: case BITS_BAD: …
 *     }
 *     bits_close(r);
 *
 * Abbreviations are resolved in here. Any input is safe: what goes beyond the
 * data or makes no sense is BITS_BAD, for good. Operands and the blob are valid
 * until the next call; the blob points into the data.
 */
#ifndef SUNDEW_BITSTREAM_H
#define SUNDEW_BITSTREAM_H
#include "base/err.h"
#include <stddef.h>
#include <stdint.h>

typedef enum { BITS_RECORD, BITS_BLOCK, BITS_LEAVE, BITS_END, BITS_BAD } BitsEvent;

typedef struct BitReader {
    unsigned block;           /* of a BITS_BLOCK: its id */
    unsigned code;            /* of a BITS_RECORD */
    const uint64_t *ops;
    size_t nops;
    const unsigned char *blob;
    size_t blob_len;
} BitReader;

BitReader *bits_open(const void *data, size_t n, Err *err);
void bits_close(BitReader *r);              /* NULL is fine */
BitsEvent bits_next(BitReader *r);
bool bits_enter(BitReader *r);              /* false: BITS_BAD from now on */
bool bits_skip(BitReader *r);

/* A number of `width` bits that continues while its top bit is set, at bit
 * *at of `data`, for blobs that hold such. False at the end. */
bool bits_vbr(const unsigned char *data, size_t n, size_t *at, unsigned width, uint64_t *value);
#endif
