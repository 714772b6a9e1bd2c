/* When `check` runs this technique: on libraries, whose headers promise const, and on programs
 * that have sources of their own. */
#include "project/plan.h"
#include "technique/mutability/mutability.h"

enum { MOST = 4 };

void mutability_plan(Project *p, Plan *plan)
{
    size_t n, planned = 0;
    Map seen = { 0 };
    const ProjectProgram *all = project_programs(p, &n);
    for (int libraries = 1; libraries >= 0; libraries--)
        for (size_t i = 0; i < n && planned < MOST; i++) {
            const CapturedProgram *c = all[i].captured;
            size_t own = 0;
            if (!all[i].for_code || all[i].is_library != libraries)
                continue;
            for (size_t k = 0; k < c->nunits; k++)
                own += map_put(&seen, c->units[k]->source, NULL);
            if (!own)
                continue;
            PlanStep *s =
                plan_step(plan, STAGE_ANALYSIS, all[i].shown,
                          "%zu unit%s that no other program has", own, own == 1 ? "" : "s");
            step_program(plan, s, &all[i]);
            step_costs(s, 0.5 + 0.05 * (double)c->nunits, 10 + (double)c->nunits, 0.5);
            planned++;
        }
    map_release(&seen);
    if (!planned)
        plan_skip(plan, "", "no program was captured");
}
