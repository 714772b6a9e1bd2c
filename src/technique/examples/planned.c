/* When `check` runs this technique: on dataflow scripts, and on two versions of one that lie side
 * by side. */
#include "base/file.h"
#include "project/plan.h"
#include "technique/examples/examples.h"
#include <string.h>

enum { MOST = 5 };

/* Samples: a folder of this name beside the script. */
static void add_data(Project *p, Plan *plan, PlanStep *s, const char *script)
{
    static const char *const names[] = { "data", "samples", "sample", NULL };
    char *folder = path_dir(script);
    for (const char *const *n = names; *n; n++) {
        const char *path = arena_printf(&plan->arena, "%s/%s/%s", project_root(p), folder, *n);
        if (file_is_dir(path)) {
            step_word(plan, s, "--data");
            step_word(plan, s, "%s", path);
            break;
        }
    }
    vec_push(&s->depends, project_files_key(p, folder));
    free(folder);
}

/* report.pig and report-fixed.pig */
static bool is_version_of(const char *a, const char *b)
{
    size_t n = strlen(a) - strlen(".pig");
    return strncmp(a, b, n) == 0 && (b[n] == '-' || b[n] == '_');
}

static void add(Project *p, Plan *plan, const char *script, const char *other)
{
    PlanStep *s = other ? plan_step(plan, STAGE_SOURCE, script, "another version is beside it: %s",
                                    path_base(other))
                        : plan_step(plan, STAGE_SOURCE, script, "a dataflow script");
    s->variant = other ? arena_printf(&plan->arena, "against %s", path_base(other)) : "";
    step_costs(s, 1, 30, 1);
    step_word(plan, s, "%s/%s", project_root(p), script);
    if (other) {
        step_word(plan, s, "--against");
        step_word(plan, s, "%s/%s", project_root(p), other);
    }
    add_data(p, plan, s, script);
}

void examples_plan(Project *p, Plan *plan)
{
    const Strings *found = project_files(p, ".pig");
    for (size_t i = 0; i < found->len && i < MOST; i++) {
        add(p, plan, found->items[i], NULL);
        for (size_t k = 0; k < found->len; k++)
            if (k != i && is_version_of(found->items[i], found->items[k]))
                add(p, plan, found->items[i], found->items[k]);
    }
    if (!found->len)
        plan_skip(plan, "", "no dataflow script (.pig) is here");
}
