/* confirm - see README.md. */
#ifndef SUNDEW_TECHNIQUE_CONFIRM_H
#define SUNDEW_TECHNIQUE_CONFIRM_H
#include "session/command.h"

extern const Command technique_confirm;
/* planned.c */
void confirm_plan(Project *p, Plan *plan);
#endif
