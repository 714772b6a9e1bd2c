/* What the files of the technique share. */
#ifndef SUNDEW_TECHNIQUE_EXPLORE_INT_H
#define SUNDEW_TECHNIQUE_EXPLORE_INT_H
#include "engine/explore/explore.h"
#include "engine/explore/program/c_front.h"
#include "session/session.h"

typedef struct Exploration {
    Session *s;
    const Program *program;
    const CapturedProgram *captured;
    const Function *function;    /* --function; NULL */
    const char *out;             /* -o */
    Strings argv;                /* of the program */
    Str input;                   /* SUNDEW_INPUT */
    CFront *front;               /* how the program is explored */
} Exploration;

/* --plan: what may become symbolic, and what will be imprecise. */
bool plan_show(Exploration *e, Err *err);
/* Findings, summary, JSON. */
bool report_exploration(Exploration *e, ExploreResult *r, Err *err);
/* Will other orders of the program's threads be tried? */
bool orders_matter(const Exploration *e);
/* Tries them on all inputs; findings. */
bool orders_run(Exploration *e, const ExploreResult *found, Err *err);
/* The live line. */
void status_show(const ExploreStatus *st, void *exploration);
void status_wipe(void);
#endif
