/*
 * edges - numbers for the branches of a program, the same in every weave.
 *
 * Each conditional branch has two edges (taken, not taken), each switch one for
 * its default and one for each case, in the order of the module as captured.
 * A site is the number of its first edge; other instructions have sites too, with
 * numbers behind those of all edges. Each function has one edge more, its
 * entry. So coverage counters, branch records of a concolic run and what the
 * user reads speak of the same thing, whichever build said it.
 */
#ifndef SUNDEW_WEAVE_EDGES_H
#define SUNDEW_WEAVE_EDGES_H
#include "analysis/pointsto/calls.h"
#include "program/program.h"
#include <stddef.h>
#include <stdint.h>

typedef struct EdgeInfo {
    const Function *fn;
    const char *file;         /* "" if not known */
    unsigned line, column;
    uint32_t site;            /* first edge of its branch */
    uint32_t outcome;         /* 0: taken or default, 1: not taken or the first case, … */
    bool entry;               /* a function's beginning */
} EdgeInfo;

typedef struct Edges Edges;

Edges *edges_new(const Program *p, Err *err);
void edges_free(Edges *e);                     /* NULL is fine */
size_t edges_count(const Edges *e);
/* Of an edge, or of any site. NULL: there is none, or it is in a model of a library
 * function. */
const EdgeInfo *edges_at(const Edges *e, uint32_t edge);
/* Edges of functions that `entry` can reach, by the call graph: what may be
 * covered. NULL: all that can be called from outside. */
size_t edges_reachable(const Edges *e, const Calls *calls, const char *entry);
#endif
