/* When `check` runs this technique: the tests teach contracts; then the inputs of tests and of
 * searches are held against them. */
#include "project/plan.h"
#include "technique/invariants/invariants.h"

enum { MOST = 2 };

static void learn(Project *p, Plan *plan, const ProjectProgram *x)
{
    PlanStep *s = plan_step(plan, STAGE_RUNS, x->shown, "the tests run it");
    step_costs(s, 4, 40 + (double)x->captured->nunits, 0.8);
    step_program(plan, s, x);
    step_tests(plan, s, p, 20);
    step_makes(plan, s, "contracts", x->captured->path, x->captured->path, NULL);
}

static void hold_against(Project *p, Plan *plan, const ProjectProgram *x, const Product *contracts)
{
    ProjectFeed feed;
    if (!project_feed(p, x, true, &feed))
        return;
    PlanStep *s = plan_step(plan, STAGE_FED, x->shown,
                            "do other inputs keep the contracts that the tests have taught?");
    s->variant = arena_printf(&plan->arena, "check %s", feed.shape->name);
    s->fed_by = *feed.by ? arena_printf(&plan->arena, "%s, %s", contracts->by, feed.by)
                         : arena_strdup(&plan->arena, contracts->by);
    step_costs(s, 4, 60, 1.5);
    step_program(plan, s, x);
    step_word(plan, s, "--check");
    if (*feed.by)                     /* a search made them up */
        step_word(plan, s, "--made-up");
    step_feed(plan, s, &feed);
    vec_push(&s->depends, contracts->key);
    vec_push(&s->depends, *feed.by ? "with found inputs" : "with seeds");
}

void invariants_plan(Project *p, Plan *plan)
{
    size_t n, planned = 0, words;
    const ProjectProgram *all = project_programs(p, &n);
    if (!project_tests(p, &words)) {
        plan_skip(plan, "", "there are no tests that end, and contracts are learned from runs");
        return;
    }
    for (size_t i = 0; i < n && planned < MOST; i++) {
        const ProjectProgram *x = &all[i];
        if (x->is_library || !x->for_runs || !project_is_run(p, x))
            continue;
        const Product *contracts = project_products(p, "contracts", x->captured->path, NULL);
        learn(p, plan, x);
        if (contracts)
            hold_against(p, plan, x, contracts);
        planned++;
    }
    for (size_t i = 0; i < n && !planned; i++)
        if (all[i].is_library && !all[i].is_test && all[i].captured->kind == PROGRAM_SHARED &&
            project_is_run(p, &all[i])) {
            learn(p, plan, &all[i]);
            planned++;
        }
    if (!planned)
        plan_skip(plan, "", "the tests run none of the captured programs");
}
