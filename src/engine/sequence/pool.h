/*
 * pool - values to call functions with.
 *
 *     Pool *pool = pool_new(api, err);
 *     pool_add(pool, f, 0, &observed);
 *     bool ok = pool_fill(pool, &rng, &a, step);      all but the handles
 *
 * A pool begins with boundary values and with the constants of the program;
 * what was observed in an example run comes on top, for the parameter it was
 * observed at and, less often, for others of its type.
 */
#ifndef SUNDEW_SEQ_POOL_H
#define SUNDEW_SEQ_POOL_H
#include "base/rng.h"
#include "engine/sequence/sequence.h"

typedef struct Pool Pool;

Pool *pool_new(const Api *api, Err *err);
void pool_free(Pool *p);                         /* NULL is fine */
/* An observed value of a parameter; copied. */
void pool_add(Pool *p, const ApiFunction *f, unsigned param, const SeqValue *v);
/* A number or a text that is worth more than others: it stands in code that changed, say. Texts
 * are also put into others. Copied. */
void pool_prefer_number(Pool *p, int64_t n);
void pool_prefer_text(Pool *p, const char *text);
/* A pointer to nobody knows what is 64 bytes of room from now on, not NULL. */
void pool_give_rooms(Pool *p);
/* Gives a value to each argument that is VALUE_NONE and no handle; lengths
 * follow their buffers. */
void pool_fill(const Pool *p, Rng *rng, Arena *a, SeqStep *st);
/* The text in a place had `before` bytes: arguments that lie in it follow. */
void pool_fit_within(SeqStep *st, unsigned place, size_t before);
/* Numbers and words of the program's code, the i-th that may stand in a place; false: there are
 * no more. `old` stands there in the example. */
bool pool_constant(const Pool *p, const ApiPlace *place, const SeqValue *old, size_t i, Arena *a,
                   SeqValue *out);
/* A value like this one: a text with a piece left out, twice, or from another text
 * that was observed; a number beside it. */
SeqValue pool_near(const Pool *p, Rng *rng, Arena *a, const SeqValue *v);
/* The same of what stands in a place: also a text that the call changes there. */
SeqValue pool_near_in(const Pool *p, Rng *rng, Arena *a, const ApiPlace *place, const SeqValue *v);
/* The text that is in memory which a call changes (ApiPlace.in_place), as a string; and memory
 * with another one, as large as `old` or just large enough. VALUE_NONE: it is no such place. */
SeqValue pool_text_in(const ApiPlace *place, const SeqValue *v);
SeqValue pool_put_text(Arena *a, const SeqValue *old, const SeqValue *text);
/* A callback that the library or the C library has stays; one of the example's own
 * becomes a stub. */
SeqValue pool_callback(const Api *api, const SeqValue *v);
/* The bytes of a plain value that a place needs room for: *out, the caller's
 * struct; 0: none. */
size_t pool_room(const ApiPlace *p);
#endif
