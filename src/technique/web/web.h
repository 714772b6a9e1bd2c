/* web - the technique's row of the command line. */
#ifndef SUNDEW_TECHNIQUE_WEB_H
#define SUNDEW_TECHNIQUE_WEB_H
#include "session/command.h"

extern const Command technique_web;
/* planned.c */
void web_plan(Project *p, Plan *plan);
#endif
