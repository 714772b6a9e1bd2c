/* When `check` runs this technique: on programs that the tests run, and again on the inputs that
 * searches have found. */
#include "base/file.h"
#include "project/plan.h"
#include "technique/confirm/confirm.h"
#include <string.h>

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
    const char *path = x->captured->path;
    const Product *q = project_products(p, "corpus", path, NULL);
    const ProjectShape *found = NULL;
    for (; q && !found; q = found ? q : project_products(p, "corpus", path, q))
        for (const ProjectShape *const *s = project_shapes(p, x); *s && !found; s++) {
            bool same = q->args.len == (*s)->args.len && (*s)->has_file && file_is_dir(q->path);
            for (size_t i = 0; same && i < q->args.len; i++)
                same = strcmp(q->args.items[i], (*s)->args.items[i]) == 0;
            found = same ? *s : NULL;
        }
    const char *folders[] = { q ? q->path : NULL, NULL };
    const char *script = found ? project_runner(p, found, folders) : NULL;
    if (!script)
        return;
    PlanStep *s =
        plan_step(plan, STAGE_FED, x->shown, "inputs that were found reach more than the tests");
    s->variant = arena_printf(&plan->arena, "on %s", found->name);
    s->fed_by = arena_strdup(&plan->arena, q->by);
    step_costs(s, 4, 60 + 3 * (double)x->captured->nunits, 0.8);
    step_program(plan, s, x);
    step_word(plan, s, "--merge");
    step_word(plan, s, "--");
    step_word(plan, s, "sh");
    step_word(plan, s, "%s", script);
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
        if (x->is_library || x->is_test || !project_is_run(p, x))
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
