/* The concolic stage's own, for trace.c and condition.c. */
#ifndef SUNDEW_TRACE_INT_H
#define SUNDEW_TRACE_INT_H
#include "engine/explore/explore_int.h"
#include "engine/concolic/log.h"

enum { DEEP = 2048 };          /* steps of a trail in which every other way counts */

/* What has been tried for an edge or a site. */
typedef struct Tries {
    uint32_t asked, sat;
    float seconds;
} Tries;

/* An answer that went nowhere new in the program, but another way through a library
 * function or to another address: traced once, because the next answer may need it. */
typedef struct Stone {
    uint8_t *bytes;
    size_t n;
    uint32_t parent;           /* entry */
    uint32_t depth;            /* conjuncts before the one that was turned */
} Stone;

struct Tracer {
    Subject *subject;
    Log *log;
    Exprs *pool;
    uint32_t in;
    Solver *solver, *deep;     /* quick, and patient */
    Tries *edges;              /* x->counters of them */
    Map sites;                 /* of bugs and pins: "kind site" -> Tries */
    Arena arena;
    uint8_t *room;             /* an input */
    double solving;            /* seconds, all */
    uint32_t *touched;         /* per edge: last trace that asked, and how often */
    uint16_t *here;
    unsigned traces;
    unsigned level;            /* of the input at hand: how often it was traced before */
    Vec(Stone) stones;
    size_t next_stone;
    Map ways;                  /* for which there was a stone */
    Vec(Stone) more;           /* on ways that nobody went, through places that are known */
    size_t more_bytes;
    Map turns;                 /* ways that were gone or asked for */
    uint64_t before[DEEP];     /* of the trail at hand: names the way up to each step */
};

/* Runs the input and reads what it said; trail->path NULL: it could not be read. False: no more
 * runs are possible. */
bool tracer_run(Job *j, const uint8_t *bytes, size_t n, Trail *trail);
#endif
