/*
 * changes - which functions of a program are not as they were in an older one.
 *
 *     Changes c = {0};
 *     if (program_changes(old, new, &c, err))
 *         for each function f of new: c.distance[f->index]
 *     changes_release(&c);
 *
 * A function is the same if its instructions are, with the same constants, the same callees by
 * name, and the same content of the constant data that they use. Lines and names of local values
 * do not count.
 */
#ifndef SUNDEW_CHANGES_H
#define SUNDEW_CHANGES_H
#include "program/constants.h"
#include "program/program.h"

enum { CHANGES_FAR = 255 };

typedef struct Changes {
    uint8_t *distance; /* by index in the newer program: 0 it changed or is new, n it calls
                                  * one that changed over n calls; CHANGES_FAR: neither */
    bool *was_changed; /* by index in the older program: it is another now, or gone */
    size_t nchanged;
    Constants constants; /* of what changed: numbers and texts of the old and the new
                                  * functions that are not in both */
} Changes;

bool program_changes(const Program *old, const Program *now, Changes *out, Err *err);
void changes_release(Changes *c);
#endif
