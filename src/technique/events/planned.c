/* When `check` runs this technique: on programs that wait for keys, connections or input. */
#include "base/file.h"
#include "project/plan.h"
#include "technique/events/events.h"
#include <string.h>

enum { MOST = 3 };

static const char *const terminal[] = { "getch", "wgetch", "get_wch", "wget_wch", NULL };
static const char *const waits[] = { "poll", "ppoll", "select", "epoll_wait", "accept", NULL };
static const char *const bytes[] = { "getchar", "getc", "fgetc", "read", "_IO_getc", NULL };

/* A file that is there stands for @@. */
static void add_args(Plan *plan, PlanStep *s, const ProjectShape *shape)
{
    if (shape->args.len)
        step_word(plan, s, "--");
    for (size_t i = 0; i < shape->args.len; i++)
        step_word(plan, s, "%s",
                  strcmp(shape->args.items[i], "@@") == 0 ? shape->example : shape->args.items[i]);
}

static void add(Project *p, Plan *plan, const ProjectProgram *x, const ProjectShape *shape,
                const char *why)
{
    PlanStep *s = plan_step(plan, STAGE_RUNS, x->shown, "%s", why);
    s->variant = shape ? arena_strdup(&plan->arena, shape->name) : "";
    s->open_ended = true;
    step_costs(s, 8, 40, shape ? 1.5 : 0.8);
    step_program(plan, s, x);
    step_word(plan, s, "-o");
    step_word(plan, s, "%s", step_folder(plan, s, p));
    if (shape)
        add_args(plan, s, shape);
}

/* A way of starting it in which another process writes its standard input. A script's loop hands
 * its own input on to all that it runs, so the rarest way is the most telling. */
static const ProjectShape *fed_shape(Project *p, const ProjectProgram *x)
{
    const ProjectShape *found = NULL;
    for (const ProjectShape *const *s = project_shapes(p, x); *s; s++)
        if ((*s)->input == INPUT_PIPE && (!(*s)->has_file || *(*s)->example) &&
            (!found || (*s)->runs < found->runs))
            found = *s;
    return found;
}

void events_plan(Project *p, Plan *plan)
{
    size_t n, planned = 0;
    const ProjectProgram *all = project_programs(p, &n);
    for (size_t i = 0; i < n && planned < MOST; i++) {
        const ProjectProgram *x = &all[i];
        if (x->is_library || !x->for_code)
            continue;
        const ProjectShape *fed = fed_shape(p, x);
        size_t before = plan->steps.len;
        if (project_calls(p, x, terminal))
            add(p, plan, x, fed, "it waits for keys of a terminal");
        else if (project_calls(p, x, waits))
            add(p, plan, x, fed, "it waits for connections or input (poll, select, accept)");
        else if (fed && project_calls(p, x, bytes))
            add(p, plan, x, fed, "it reads byte after byte, and the tests type into it");
        planned += plan->steps.len - before;
    }
    if (!planned)
        plan_skip(plan, "", "no program waits for keys or connections, and no test types into one");
}
