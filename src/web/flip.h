/*
 * flip - a request for which conditions of a trace hold.
 *
 *     Cond c[] = { { node_a, true }, { node_b, false } };
 *     Request *r = flip_solve(&plan, c, 2, &why);
 *
 * The first request tried is the plan's base. A condition that does not hold is
 * repaired: the value that it should have is pushed backwards through the
 * expression to a parameter, which gives a few candidates. All conditions are
 * computed with PHP's own rules before a request is handed out. Where that is
 * not possible (a function that is not known here) the request is a guess, and
 * the run shows.
 */
#ifndef SUNDEW_WEB_FLIP_H
#define SUNDEW_WEB_FLIP_H
#include "base/rng.h"
#include "web/eval.h"

typedef struct Cond {
    uint32_t node;
    bool wanted;
} Cond;

typedef enum FlipWhy {
    FLIP_SOLVED,
    FLIP_GUESSED,
    FLIP_UNSAT,                /* the candidates contradict other conditions */
    FLIP_NATIVE,               /* a library function stands in the way */
    FLIP_STATE,                /* it is about the session, not the request */
    FLIP_BUDGET,
    FLIP_NWHY
} FlipWhy;

/* A value that an earlier request should have kept. */
typedef struct Wish {
    char *path, *text;
} Wish;
typedef Vec(Wish) Wishes;
void wishes_release(Wishes *w);

typedef struct FlipPlan {
    const Trace *trace;
    const Request *base;
    bool base_holds;           /* all but the last condition hold for the base */
    const Strings *words;      /* constants of the program, credentials; may be NULL */
    Rng *rng;
    Wishes *wishes;            /* values that kept inputs should have are added; may be NULL */
    bool apart; /* values that only have to be there differ from parameter to parameter */
    size_t budget; /* requests tried; 0: 2000 */
} FlipPlan;

/* NULL if there is none; *why says why. */
Request *flip_solve(const FlipPlan *plan, const Cond *conds, size_t n, FlipWhy *why);
/* The plan's base with another value, so that the node has this one; NULL: none is known. */
Request *flip_value(const FlipPlan *plan, uint32_t node, PhpValue v);
/* A value for a parameter that only has to be there; 8 bytes are enough. */
const char *flip_filling(const char *path, bool apart, char *room);
/* The library function, nearest to the condition, that can't be computed; or NULL. */
const char *flip_obstacle(const Trace *t, uint32_t node);
#endif
