/* When `check` runs this technique: on libraries with headers. Tests of an earlier check are held
 * against a library that has changed since. */
#include "base/file.h"
#include "project/plan.h"
#include "technique/regress/regress.h"
#include <string.h>

enum { MOST = 2, FEWEST_FUNCTIONS = 2 };

/* Tests that were made from another state of the library. */
static const Product *old_tests(const Project *p, const ProjectProgram *x)
{
    const Product *made = project_products(p, "tests", x->captured->path, NULL);
    return made && file_is_dir(made->path) && strcmp(made->key, x->key) != 0 ? made : NULL;
}

static void compare(Plan *plan, const ProjectProgram *x, const Product *made)
{
    PlanStep *s = plan_step(plan, STAGE_ANALYSIS, x->shown,
                            "the library has changed since its tests were made");
    s->variant = "diff";
    s->fed_by = arena_strdup(&plan->arena, made->by);
    step_costs(s, 2, 60, 3);
    step_word(plan, s, "--diff");
    step_word(plan, s, "%s", made->path);
    step_program(plan, s, x);
}

/* A program that uses the library, on inputs that a search has found for it. */
static const char *add_found(Project *p, Plan *plan, PlanStep *s, const ProjectProgram *library)
{
    size_t n;
    const ProjectProgram *all = project_programs(p, &n);
    for (size_t i = 0; i < n; i++) {
        ProjectFeed feed;
        if (all[i].is_library || !project_links(&all[i], library) ||
            !project_feed(p, &all[i], true, &feed))
            continue;
        s->fed_by = arena_strdup(&plan->arena, feed.by);
        step_feed(plan, s, &feed);
        return all[i].shown;
    }
    return NULL;
}

/* A test program that is linked with it, the tests, or found inputs: how the library is used. */
static const char *add_example(Project *p, Plan *plan, PlanStep *s, const ProjectProgram *x)
{
    const ProjectProgram *user = project_user(p, x);
    size_t n;
    if (user && user->is_test) {
        step_word(plan, s, "--");
        step_word(plan, s, "%s", user->captured->path);
        return user->shown;
    }
    if (!project_tests(p, &n))
        return add_found(p, plan, s, x);
    step_tests(plan, s, p, 3);
    return "the tests";
}

static bool make(Project *p, Plan *plan, const ProjectProgram *x)
{
    const ProjectHeaders *h = project_headers(p, x);
    if (!h->headers.len || h->declared < FEWEST_FUNCTIONS) {
        plan_skip(plan, x->shown, "no header that declares its functions was found");
        return false;
    }
    PlanStep *s = plan_step(plan, STAGE_RUNS, x->shown, " ");
    const char *folder = arena_printf(&plan->arena, "%s/tests", step_folder(plan, s, p));
    s->open_ended = true;
    step_costs(s, 15, 90, 1);
    step_program(plan, s, x);
    step_headers(plan, s, h);
    step_word(plan, s, "-o");
    step_word(plan, s, "%s", folder);
    const char *example = add_example(p, plan, s, x);
    if (!example) {
        plan_take_back(plan);
        plan_skip(plan, x->shown, "no run was seen that shows how the library is used");
        return false;
    }
    s->reason = arena_printf(&plan->arena, "%zu functions in %zu headers; example: %s", h->declared,
                             h->headers.len, example);
    step_makes(plan, s, "tests", x->captured->path, folder, NULL);
    return true;
}

void regress_plan(Project *p, Plan *plan)
{
    size_t n, planned = 0, libraries = 0;
    const ProjectProgram *all = project_programs(p, &n);
    for (size_t i = 0; i < n && planned < MOST; i++) {
        const ProjectProgram *x = &all[i];
        if (!x->is_library || x->is_test)
            continue;
        libraries++;
        const Product *old = old_tests(p, x);
        if (old)
            compare(plan, x, old);
        planned += old || make(p, plan, x);
    }
    if (!libraries)
        plan_skip(plan, "", "no library was captured");
}
