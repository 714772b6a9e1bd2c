/* invariants - likely contracts of functions; see README.md. */
#ifndef SUNDEW_INVARIANTS_H
#define SUNDEW_INVARIANTS_H
#include "session/command.h"

extern const Command technique_invariants;
/* planned.c */
void invariants_plan(Project *p, Plan *plan);
#endif
