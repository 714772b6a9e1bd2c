#ifndef SUNDEW_REPRODUCE_H
#define SUNDEW_REPRODUCE_H
#include "session/command.h"

extern const Command technique_reproduce;
/* planned.c */
void reproduce_plan(Project *p, Plan *plan);
#endif
