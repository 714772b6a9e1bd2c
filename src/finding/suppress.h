/*
 * suppress - findings that people have decided to live with.
 *
 * In the source, before the line or on it:
 *
 *     // sundew: ignore arguments (the API is mirrored on purpose)
 *     set_range(b, length, start);   // sundew: ignore swapped, copies (same)
 *
 * names a technique, a rule or technique/rule. In the file sundew.ignore of
 * the project's root, a pattern for the rule and one for the path:
 *
 *     arguments  third_party/  (not ours)
 *
 * A reason is required: without one the entry does not count and is reported,
 * as is one that matches nothing although its technique looked at the file.
 */
#ifndef SUNDEW_SUPPRESS_H
#define SUNDEW_SUPPRESS_H
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "finding/source.h"
#include "finding/store.h"

#define IGNORE_FILE "sundew.ignore"

/* A file that runs have looked at, and which techniques did (of complete runs
 * only). */
typedef struct SeenFile {
    const char *path;
    Strings techniques;
} SeenFile;

/* Marks the suppressed findings of `set` and lists what is wrong with the
 * suppressions. `whole`: the set is not limited to one scope, so that the
 * ignore file's entries can be judged too. Texts go to `a`. */
bool suppressions_apply(FindingSet *set, const SeenFile *seen, size_t nseen, bool whole,
                        Sources *sources, Arena *a, Err *err);
#endif
