/* When `check` runs this technique. */
#include "project/plan.h"
#include "technique/arguments/arguments.h"

void arguments_plan(Project *p, Plan *plan)
{
    size_t units = project_units(p);
    if (!units) {
        plan_skip(plan, "", "no C source was captured");
        return;
    }
    PlanStep *s = plan_step(plan, STAGE_SOURCE, "the source", "%zu units", units);
    step_costs(s, 0.5 + 0.02 * (double)units, 5 + 0.5 * (double)units, 1);
    vec_push(&s->depends, project_build_key(p));
}
