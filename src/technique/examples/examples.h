/* examples - the technique's row of the command line. */
#ifndef SUNDEW_EXAMPLES_H
#define SUNDEW_EXAMPLES_H
#include "session/command.h"

extern const Command technique_examples;
/* planned.c */
void examples_plan(Project *p, Plan *plan);
#endif
