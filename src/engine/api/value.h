/*
 * value - what stands in an argument place of a sequence, or came out of one.
 *
 * A value never holds an address. Handles are named by the step that made them:
 *
 *     VALUE_INTEGER   3, -1, RED, O_RDWR|O_CREAT      integer, the bits
 *     VALUE_FLOAT     2.5                             real
 *     VALUE_NULL      NULL
 *     VALUE_STRING    "abc"                           bytes, without the NUL
 *     VALUE_BYTES     { 0x1f, 0x8b }                  bytes; what a pointer leads
 *                                                     to, or a struct by value
 *     VALUE_ROOM      char b[64]                      n writable bytes, zeroed
 *     VALUE_RESULT    r3                              what step 3 returned
 *     VALUE_STORED    *out of step 3                  what step 3 put into the
 *                                                     room at its parameter
 *     VALUE_STORAGE   &x of step 3                    that room itself, again
 *     VALUE_WITHIN    argument 0 + 5                  a place in what another argument
 *                                                     of the same call leads to
 *     VALUE_FUNCTION  a callback: a stub, or a function of the API
 *     VALUE_SELF      in a usage: where the object itself stands
 *
 * Pointers inside bytes are no bytes but values of their own, `links`:
 *
 *     struct item { const char *name; struct item *next; int n; }
 *     {0 0 2}  link 0: "one"  link 8: {0 0 1}, with a link 0: "two"
 *
 * Bytes are borrowed: they live as long as the arena they were made in.
 */
#ifndef SUNDEW_SEQ_VALUE_H
#define SUNDEW_SEQ_VALUE_H
#include "base/mem.h"
#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

typedef enum {
    VALUE_NONE,                /* void; not known */
    VALUE_INTEGER,
    VALUE_FLOAT,
    VALUE_NULL,
    VALUE_STRING,
    VALUE_BYTES,
    VALUE_ROOM,
    VALUE_RESULT,
    VALUE_STORED,
    VALUE_STORAGE,
    VALUE_FUNCTION,
    VALUE_SELF,
    VALUE_WITHIN,
} SeqValueKind;

typedef struct SeqLink SeqLink;

typedef struct SeqValue {
    SeqValueKind kind;
    uint64_t integer;          /* also the bits of an enum; within: bytes from the start */
    double real;
    const uint8_t *bytes;      /* string, bytes */
    size_t n;                  /* their number; size of a room */
    unsigned step, param;      /* result, stored, storage; within: the argument */
    const char *symbol;        /* function; NULL: a stub that does nothing */
    const SeqLink *links;      /* of bytes: pointers in them */
    size_t nlinks;
    bool given;                /* string, bytes, room: from malloc(), and the library's from
                                * now on */
    bool bare; /* string, bytes, room: in the example it was memory that the library
                                * made, or more of it lay before; only these bytes are here */
} SeqValue;

struct SeqLink {
    uint32_t offset;
    SeqValue value;
};

SeqValue value_integer(uint64_t bits);
SeqValue value_float(double x);
SeqValue value_null(void);
SeqValue value_string(Arena *a, const char *text); /* copies */
SeqValue value_bytes(Arena *a, const void *bytes, size_t n); /* copies */
SeqValue value_room(size_t n);
SeqValue value_result(unsigned step);
SeqValue value_stored(unsigned step, unsigned param);
SeqValue value_storage(unsigned step, unsigned param);
SeqValue value_function(const char *symbol);
SeqValue value_within(unsigned param, uint64_t offset);

/* The same thing; what a value does not use is not compared. */
bool value_equal(const SeqValue *a, const SeqValue *b);
/* Its bytes in another arena. */
SeqValue value_copy(Arena *a, const SeqValue *v);
/* Is it something that another step made? */
bool value_is_made(const SeqValue *v);
/* For people and tests: 3, "abc", NULL, r3, {1f 8b}, room 64. */
void value_print(const SeqValue *v, Str *out);
#endif
