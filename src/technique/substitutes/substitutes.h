/* substitutes - does a replacement behave like the thing it replaces? See README.md. */
#ifndef SUNDEW_SUBSTITUTES_H
#define SUNDEW_SUBSTITUTES_H
#include "session/command.h"

extern const Command technique_substitutes;
/* planned.c */
void substitutes_plan(Project *p, Plan *plan);
#endif
