/* threads - see README.md. */
#ifndef SUNDEW_TECHNIQUE_THREADS_H
#define SUNDEW_TECHNIQUE_THREADS_H
#include "session/command.h"

extern const Command technique_threads;
/* planned.c */
void threads_plan(Project *p, Plan *plan);
#endif
