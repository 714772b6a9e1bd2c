/* When `check` runs this technique: on programs that fill a struct of function pointers in
 * several ways. */
#include "program/optables.h"
#include "project/plan.h"
#include "technique/substitutes/substitutes.h"

enum { MOST = 3 };

/* Implementations that can take each other's place. */
static size_t implementations(const OpTable *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->nimpls; i++)
        n += t->impls[i].nfilled >= 2 && !t->impls[i].wrong && !t->impls[i].at_run_time;
    return n;
}

static void plan_table(Project *p, Plan *plan, const ProjectProgram *x, const OpTable *t, size_t n)
{
    PlanStep *s = plan_step(plan, STAGE_RUNS, x->shown, "%s: %zu implementations of %u functions",
                            t->name, n, t->nslots);
    s->variant = arena_strdup(&plan->arena, t->name);
    s->open_ended = true;
    step_costs(s, 4, 40, 1.5);
    step_program(plan, s, x);
    step_word(plan, s, "--table");
    step_word(plan, s, "%s", t->name);
    step_word(plan, s, "--tests");
    step_word(plan, s, "400");
    step_word(plan, s, "-o");
    step_word(plan, s, "%s", step_folder(plan, s, p));
}

void substitutes_plan(Project *p, Plan *plan)
{
    size_t n, planned = 0;
    Map seen = { 0 };
    const ProjectProgram *all = project_programs(p, &n);
    for (size_t i = 0; i < n && planned < MOST; i++) {
        const Program *model = !all[i].for_code ? NULL : project_program(p, &all[i]);
        OpTables tables = { 0 };
        if (model && optables_find(model, &tables, NULL))
            for (size_t k = 0; k < tables.n && planned < MOST; k++) {
                const OpTable *t = &tables.all[k];
                size_t impls = implementations(t);
                if (t->nslots < 2 || impls < 2 || impls > 4 || !map_put(&seen, t->name, NULL))
                    continue;
                plan_table(p, plan, &all[i], t, impls);
                planned++;
            }
        optables_release(&tables);
    }
    if (!planned)
        plan_skip(plan, "", "no table of operations has two to four implementations");
    map_release(&seen);
}
