/* arguments - calls whose equally typed arguments look swapped: the command. */
#ifndef SUNDEW_ARGUMENTS_H
#define SUNDEW_ARGUMENTS_H
#include "session/command.h"

extern const Command technique_arguments;
/* planned.c */
void arguments_plan(Project *p, Plan *plan);
#endif
