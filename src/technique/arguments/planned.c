/* When `check` runs this technique. */
#include "project/plan.h"
#include "technique/arguments/arguments.h"

void arguments_plan(Project *p, Plan *plan) { plan_source(p, plan); }
