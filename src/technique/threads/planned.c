/* When `check` runs this technique: on programs that start threads, and on libraries that take
 * locks, which means that threads may share them. */
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
    if (!shape && !x->is_test) {
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

static bool add_library(Project *p, Plan *plan, const ProjectProgram *x)
{
    const ProjectHeaders *h = project_headers(p, x);
    const ProjectProgram *user = project_user(p, x);
    if (!h->headers.len) {
        plan_skip(plan, x->shown, "it takes locks, but no header that declares it was found");
        return false;
    }
    PlanStep *s = add(p, plan, x, "", "it takes locks: threads may share what it makes");
    step_costs(s, 10, 90, 1.5);
    for (size_t i = 0; i < h->headers.len; i++) {
        step_word(plan, s, "--headers");
        step_word(plan, s, "%s", h->headers.items[i]);
    }
    for (size_t i = 0; i < h->flags.len; i++)
        step_word(plan, s, "--cflags=%s", h->flags.items[i]);
    if (user && user->is_test) {
        step_word(plan, s, "--");
        step_word(plan, s, "%s", user->captured->path);
    }
    return true;
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
