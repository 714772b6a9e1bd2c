/* explore - the technique's row of the command line. */
#ifndef SUNDEW_TECHNIQUE_EXPLORE_H
#define SUNDEW_TECHNIQUE_EXPLORE_H
#include "session/command.h"

extern const Command technique_explore;
/* planned.c */
void explore_plan(Project *p, Plan *plan);
#endif
