/* When `check` runs this technique: on programs that start threads, and on libraries that take
 * locks, which means that threads may share them. */
#include "program/program.h"
#include "project/plan.h"
#include "technique/threads/threads.h"
#include <string.h>

enum { MOST = 3 };

static const char *const starts[] = { "pthread_create", "thrd_create", NULL };
static const char *const locks[] = { "pthread_mutex_lock", "pthread_rwlock_wrlock",
                                     "pthread_spin_lock", "mtx_lock", NULL };

static PlanStep *add(Project *p, Plan *plan, const ProjectProgram *x, const char *variant,
                     const char *why)
{
    PlanStep *s = plan_step(plan, STAGE_RUNS, x->shown, "%s", why);
    s->variant = arena_strdup(&plan->arena, variant);
    s->open_ended = true;
    step_program(plan, s, x);
    step_word(plan, s, "-o");
    step_word(plan, s, "%s", step_folder(plan, s, p));
    return s;
}

static bool add_program(Project *p, Plan *plan, const ProjectProgram *x)
{
    const ProjectShape *const *shapes = project_shapes(p, x), *shape = NULL;
    for (; *shapes && !shape; shapes++)
        if (!(*shapes)->has_file || *(*shapes)->example)
            shape = *shapes;
    if (!shape) {
        plan_skip(plan, x->shown, "it starts threads, but no test was seen that starts it");
        return false;
    }
    PlanStep *s = add(p, plan, x, shape ? shape->name : "", "it starts threads");
    step_costs(s, 5, 60, 1);
    step_word(plan, s, "--schedules");
    step_word(plan, s, "400");
    if (shape && shape->args.len)
        step_word(plan, s, "--");
    for (size_t i = 0; shape && i < shape->args.len; i++)
        step_word(plan, s, "%s",
                  strcmp(shape->args.items[i], "@@") == 0 ? shape->example : shape->args.items[i]);
    return true;
}

/* The struct that a parameter points to; NULL: none with a tag. */
static const Type *pointed_to(const Type *t)
{
    unsigned levels = 0;
    const Type *record = t ? type_pointed_record(t, &levels) : NULL;
    return record && levels == 1 && record->kind == TYPE_STRUCT && *record->name ? record : NULL;
}

static bool takes_lock(const Function *f)
{
    for (unsigned i = 0; i < f->ncallees; i++)
        if (!f->callees[i]->defined && str_is_one_of(f->callees[i]->name, locks))
            return true;
    return false;
}

/* Structs whose own functions take a lock: threads may share them. Counts functions. */
static void locked_types(Project *p, const ProjectProgram *x, Map *out)
{
    const Program *model = project_program(p, x);
    size_t n = 0;
    const Function *const *all = model ? program_functions(model, &n) : NULL;
    for (size_t i = 0; i < n; i++) {
        const Function *f = all[i];
        const Type *t = f->defined && f->linkage == LINKAGE_EXTERNAL && f->nparams
                            ? pointed_to(f->params[0].type)
                            : NULL;
        if (!t || !takes_lock(f))
            continue;
        void **slot = map_slot(out, t->name);
        *slot = (char *)*slot + 1;
    }
}

static void add_type(Project *p, Plan *plan, const ProjectProgram *x, const char *type, size_t n)
{
    const ProjectHeaders *h = project_headers(p, x);
    const ProjectProgram *user = project_user(p, x);
    PlanStep *s =
        add(p, plan, x, arena_printf(&plan->arena, "struct %s", type),
            arena_printf(&plan->arena,
                         "%zu function%s of struct %s take%s a lock: threads may share it", n,
                         n == 1 ? "" : "s", type, n == 1 ? "s" : ""));
    step_costs(s, 10, 60, 1.5);
    step_headers(plan, s, h);
    step_word(plan, s, "--type");
    step_word(plan, s, "struct %s", type);
    if (user && user->is_test) {
        step_word(plan, s, "--");
        step_word(plan, s, "%s", user->captured->path);
    }
}

static bool add_library(Project *p, Plan *plan, const ProjectProgram *x)
{
    Map types = { 0 };
    locked_types(p, x, &types);
    if (!types.len)
        plan_skip(plan, x->shown, "it takes locks, but none that belongs to a struct of its API");
    else if (!project_headers(p, x)->headers.len)
        plan_skip(plan, x->shown, "it takes locks, but no header that declares it was found");
    else
        for (size_t i = 0; i < types.len && i < MOST; i++)
            add_type(p, plan, x, types.entries[i].key, (size_t)types.entries[i].value);
    bool any = types.len > 0;
    map_release(&types);
    return any;
}

void threads_plan(Project *p, Plan *plan)
{
    size_t n, planned = 0;
    bool any = false;
    const ProjectProgram *all = project_programs(p, &n);
    for (size_t i = 0; i < n && planned < MOST; i++) {
        const ProjectProgram *x = &all[i];
        if (!project_calls(p, x, x->is_library ? locks : starts))
            continue;
        any = true;
        planned += x->is_library ? add_library(p, plan, x) : add_program(p, plan, x);
    }
    if (!any)
        plan_skip(plan, "", "no program starts threads, and no library takes locks");
}
