/* protocols - modules that break the rules of an API they use; see README.md. */
#ifndef SUNDEW_PROTOCOLS_H
#define SUNDEW_PROTOCOLS_H
#include "session/command.h"

extern const Command technique_protocols;
/* planned.c */
void protocols_plan(Project *p, Plan *plan);
#endif
