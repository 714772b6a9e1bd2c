/* When `check` runs this technique: on folders with an index.php. */
#include "base/file.h"
#include "project/plan.h"
#include "technique/web/web.h"
#include <string.h>

enum { MOST = 3 };

static bool is_below(const char *folder, const Strings *others, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *top = path_dir(others->items[i]);
        bool below =
            strcmp(top, ".") == 0 || (str_starts(folder, top) && folder[strlen(top)] == '/');
        free(top);
        if (below)
            return true;
    }
    return false;
}

void web_plan(Project *p, Plan *plan)
{
    const Strings *found = project_files(p, "index.php");
    size_t planned = 0;
    for (size_t i = 0; i < found->len && planned < MOST; i++) {
        char *folder = path_dir(found->items[i]);
        if (!is_below(folder, found, i)) {
            PlanStep *s = plan_step(plan, STAGE_RUNS, folder, "it has an index.php");
            s->open_ended = true;
            step_costs(s, 3, 60, 2);
            step_word(plan, s, "%s", folder);
            vec_push(&s->depends, project_files_key(p, folder));
            planned++;
        }
        free(folder);
    }
    if (!planned)
        plan_skip(plan, "", "no folder has an index.php");
}
