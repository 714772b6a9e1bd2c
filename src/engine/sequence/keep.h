/*
 * keep - sequences as JSON, for tests that are run again by a later command.
 *
 *     json_t *steps = seq_to_json(seq);              NULL: it has a step that can't be kept
 *     Seq *again = seq_from_json(&arena, api, steps, err);
 *
 *     [ { "call": "db_open", "args": [ { "string": "78" }, { "room": 8 } ] },
 *       { "call": "db_close", "args": [ { "stored": [0, 1] } ] } ]
 *
 * Bytes are hexadecimal. What is read may be anybody's: a function that the API does not
 * have, a step that comes later, a wrong number of arguments are errors with a word.
 * Fields that are set, and shapes of variadic functions, are not kept.
 */
#ifndef SUNDEW_SEQUENCE_KEEP_H
#define SUNDEW_SEQUENCE_KEEP_H
#include "base/err.h"
#include "engine/sequence/sequence.h"
#include <jansson.h>

json_t *seq_to_json(const Seq *s);
Seq *seq_from_json(Arena *a, const Api *api, const json_t *steps, Err *err);
/* Files that calls ask for: { "a.txt": "6f6e650a" }. */
json_t *seq_files_to_json(const SeqFile *files, size_t n);
bool seq_files_from_json(Arena *a, const json_t *j, const SeqFile **files, size_t *n, Err *err);
#endif
