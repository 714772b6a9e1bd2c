/* monitor - the technique's row of the command line. */
#ifndef SUNDEW_TECHNIQUE_MONITOR_H
#define SUNDEW_TECHNIQUE_MONITOR_H
#include "session/command.h"

extern const Command technique_monitor;
/* planned.c */
void monitor_plan(Project *p, Plan *plan);
#endif
