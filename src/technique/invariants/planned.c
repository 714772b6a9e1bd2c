/* When `check` runs this technique: the tests teach contracts; then the inputs of tests and of
 * searches are held against them. */
#include "base/file.h"
#include "project/plan.h"
#include "technique/invariants/invariants.h"
#include <string.h>

enum { MOST = 2, MOST_FOLDERS = 16 };

static void learn(Project *p, Plan *plan, const ProjectProgram *x)
{
    PlanStep *s = plan_step(plan, STAGE_RUNS, x->shown, "the tests run it");
    step_costs(s, 4, 40 + (double)x->captured->nunits, 0.8);
    step_program(plan, s, x);
    step_tests(plan, s, p, 20);
    step_makes(plan, s, "contracts", x->captured->path, x->captured->path, NULL);
}

/* The folders of inputs for this way of starting the program. */
static const char **inputs(Project *p, Plan *plan, const ProjectShape *shape, const char **by)
{
    const char **all = arena_array(&plan->arena, const char *, MOST_FOLDERS + 1);
    size_t n = 0;
    if (*shape->corpus)
        all[n++] = shape->corpus;
    const char *path = shape->program->captured->path;
    for (const Product *q = project_products(p, "corpus", path, NULL); q && n < MOST_FOLDERS;
         q = project_products(p, "corpus", path, q)) {
        bool same = q->args.len == shape->args.len && file_is_dir(q->path);
        for (size_t i = 0; same && i < q->args.len; i++)
            same = strcmp(q->args.items[i], shape->args.items[i]) == 0;
        if (same) {
            *by = q->by;
            all[n++] = q->path;
        }
    }
    return all;
}

static void hold_against(Project *p, Plan *plan, const ProjectProgram *x, const Product *contracts)
{
    for (const ProjectShape *const *shape = project_shapes(p, x); *shape; shape++) {
        const char *by = "";
        const char **folders = inputs(p, plan, *shape, &by);
        if (!(*shape)->has_file || !folders[0])
            continue;
        const char *script = project_runner(p, *shape, folders);
        if (!script)
            continue;
        PlanStep *s = plan_step(plan, STAGE_FED, x->shown,
                                "do other inputs keep the contracts that the tests have taught?");
        s->variant = arena_printf(&plan->arena, "check %s", (*shape)->name);
        s->fed_by = *by ? arena_printf(&plan->arena, "%s, %s", contracts->by, by) : contracts->by;
        step_costs(s, 4, 60, 1.5);
        step_program(plan, s, x);
        step_word(plan, s, "--check");
        if (*by)                      /* a search made them up */
            step_word(plan, s, "--made-up");
        step_word(plan, s, "--");
        step_word(plan, s, "sh");
        step_word(plan, s, "%s", script);
        vec_push(&s->depends, contracts->key);
        vec_push(&s->depends, *by ? "with found inputs" : "with seeds");
        return;                       /* one way is enough */
    }
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
        if (x->is_library || x->is_test || !project_is_run(p, x))
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
