/*
 * describe - what a test is about, in a name and in a sentence.
 *
 *     Str name = {0}, sentence = {0};
 *     describe_test(test, usage, &name, &sentence);
 *
 *     test_list_get_gives_null_after_list_clear
 *     "list_get() returns NULL when index is 0, after list_clear()."
 *
 * Both come from the call that the test is about: the last one that neither closes nor
 * only looks. What is special are its values (NULL, an empty text, zero, a negative number),
 * what it gives, and the change before it.
 */
#ifndef SUNDEW_SUITE_DESCRIBE_H
#define SUNDEW_SUITE_DESCRIBE_H
#include "engine/suite/settle.h"

/* The step that a test is about. */
unsigned describe_step(const SeqTest *t);
/* `usage` says what is not special because the example always has it; NULL: none is known.
 * A `longer` name also says where the object comes from. */
void describe_test(const SeqTest *t, const Usage *usage, bool longer, Str *name, Str *sentence);
/* "returns 3": what came out of a place of this type. */
void describe_observation(const Observation *o, const Type *type, Str *out);
#endif
