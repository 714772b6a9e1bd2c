/* events - see README.md. */
#ifndef SUNDEW_TECHNIQUE_EVENTS_H
#define SUNDEW_TECHNIQUE_EVENTS_H
#include "session/command.h"

extern const Command technique_events;
/* planned.c */
void events_plan(Project *p, Plan *plan);
#endif
