/* mutability - the technique's row of the command line. */
#ifndef SUNDEW_TECHNIQUE_MUTABILITY_H
#define SUNDEW_TECHNIQUE_MUTABILITY_H
#include "session/command.h"

extern const Command technique_mutability;
/* planned.c */
void mutability_plan(Project *p, Plan *plan);
#endif
