/* When `check` runs this technique: on programs that the tests run, and again on the inputs that
 * searches have found. */
#include "project/plan.h"
#include "technique/confirm/confirm.h"

enum { MOST = 2 };

static void watch_tests(Project *p, Plan *plan, const ProjectProgram *x)
{
    PlanStep *s =
        plan_step(plan, STAGE_RUNS, x->shown, "warnings of static checkers, and tests that run it");
    step_costs(s, 4, 60 + 3 * (double)x->captured->nunits, 1.5);
    step_program(plan, s, x);
    step_tests(plan, s, p, 10);
    step_makes(plan, s, "warnings", x->captured->path, x->captured->path, NULL);
}

/* Inputs that a search has found reach more than the tests. */
static void watch_corpus(Project *p, Plan *plan, const ProjectProgram *x)
{
    ProjectFeed feed;
    if (!project_feed(p, x, false, &feed))
        return;
    PlanStep *s =
        plan_step(plan, STAGE_FED, x->shown, "inputs that were found reach more than the tests");
    s->variant = arena_printf(&plan->arena, "on %s", feed.shape->name);
    s->fed_by = arena_strdup(&plan->arena, feed.by);
    step_costs(s, 4, 60 + 3 * (double)x->captured->nunits, 0.8);
    step_program(plan, s, x);
    step_word(plan, s, "--merge");
    step_feed(plan, s, &feed);
}

void confirm_plan(Project *p, Plan *plan)
{
    size_t n, planned = 0, words;
    const ProjectProgram *all = project_programs(p, &n);
    if (!project_tests(p, &words)) {
        plan_skip(plan, "", "there are no tests that end, and warnings are confirmed by runs");
        return;
    }
    for (size_t i = 0; i < n && planned < MOST; i++) {
        const ProjectProgram *x = &all[i];
        if (x->is_library || !x->for_runs || !project_is_run(p, x))
            continue;
        watch_tests(p, plan, x);
        watch_corpus(p, plan, x);
        planned++;
    }
    for (size_t i = 0; i < n && !planned; i++)
        if (all[i].is_library && !all[i].is_test && all[i].captured->kind == PROGRAM_SHARED &&
            project_is_run(p, &all[i])) {
            watch_tests(p, plan, &all[i]);
            planned++;
        }
    if (!planned)
        plan_skip(plan, "", "the tests run none of the captured programs");
}
