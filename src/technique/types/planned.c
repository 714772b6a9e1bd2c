/* When `check` runs this technique. */
#include "project/plan.h"
#include "technique/types/types.h"

void types_plan(Project *p, Plan *plan) { plan_source(p, plan); }
