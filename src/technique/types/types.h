/* types - the technique's row of the command line. */
#ifndef SUNDEW_TYPES_H
#define SUNDEW_TYPES_H
#include "session/command.h"

extern const Command technique_types;
/* planned.c */
void types_plan(Project *p, Plan *plan);
#endif
