/* regress - regression tests from an example run. README.md explains it. */
#ifndef SUNDEW_REGRESS_H
#define SUNDEW_REGRESS_H
#include "session/command.h"
extern const Command technique_regress;
/* planned.c */
void regress_plan(Project *p, Plan *plan);
#endif
