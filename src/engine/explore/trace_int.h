/* The concolic stage's own, for trace.c and systematic.c. */
#ifndef SUNDEW_TRACE_INT_H
#define SUNDEW_TRACE_INT_H
#include "engine/explore/explore_int.h"

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
    Exprs *pool;
    uint32_t in;
    Solver *solver, *deep;     /* quick, and patient */
    Tries *edges;              /* facts.counters of them */
    Map sites;                 /* of bugs and pins: "kind site" -> Tries */
    Arena arena;
    uint8_t *room;             /* an input */
    uint8_t *values,
        *chosen;  /* an input and its numbers: as they are, and as an answer wants them */
    double solving;            /* seconds, all */
    uint32_t *touched;         /* per edge: last list of questions that had it, and how often */
    uint16_t *here;
    unsigned traces, lists;
    unsigned level;            /* of the input at hand: how often it was traced before */
    Vec(Stone) stones;
    size_t next_stone;
    Map ways;                  /* for which there was a stone */
    Vec(Stone) more;           /* on ways that nobody went, through places that are known */
    size_t more_bytes;
    size_t failed;             /* inputs that fail, of which so many were traced */
    Map turns;                 /* ways that were gone or asked for */
    const Trail *trail;        /* at hand */
    uint64_t before[DEEP];     /* of the trail at hand: names the way up to each step */
};

enum { LONGEST_TRACED = 1 << 16, TRACED_ROOM = LONGEST_TRACED + 4096 };

/* Before a trace: the pool starts anew when it is three quarters full. Trails before are lost. */
void tracer_make_room(Tracer *t);
/* Names the way that goes on with this edge or site after `before`. */
uint64_t tracer_turn(uint64_t before, uint32_t edge);
/* The input with the answer's bytes in it, in t->room. */
void tracer_apply(Tracer *t, const uint8_t *bytes, size_t n, const Answer *a);
/* The job's solver figures become visible to others. */
void tracer_tell_stats(Job *j);
/* Adds its imprecisions to the list. */
void tracer_note_imprecise(Job *j, const Trail *trail, size_t n); /* of an input of n bytes */
/* An address, length or callee has more values than are tried. */
void tracer_note_cut(Job *j, const Step *s);
#endif
