/* When `check` runs this technique: on inputs that make a program fail. */
#include "base/file.h"
#include "project/plan.h"
#include "technique/reproduce/reproduce.h"
#include <string.h>

enum { MOST = 4 };

/* The file of the product that shows the finding; NULL: it is another's. */
static const char *input_of(Plan *plan, const Product *q, const Finding *f)
{
    for (size_t i = 0; i < f->nattachments; i++) {
        const Attachment *a = &f->attachments[i];
        if (strcmp(a->kind, "input") != 0 || strchr(a->name, '/'))
            continue;
        const char *path = arena_printf(&plan->arena, "%s/%s", q->path, a->name);
        /* Inputs of two programs may have the same name: the finding's command tells whose it is. */
        if (file_is_regular(path) && f->rerun && strstr(f->rerun, a->name) &&
            strstr(f->rerun, q->path))
            return path;
    }
    return NULL;
}

static void add_step(Project *p, Plan *plan, const Product *q, const StoredFinding *f,
                     const char *input)
{
    const ProjectProgram *x = project_program_at(p, q->program);
    if (!x)
        return;
    PlanStep *s = plan_step(plan, STAGE_RUNS, x->shown, "%s", f->finding.message);
    s->variant = arena_printf(&plan->arena, "%.8s", f->fingerprint);
    s->fed_by = arena_strdup(&plan->arena, q->by);
    step_costs(s, 4, 60, 2);
    const char *folder = step_folder(plan, s, p);
    const char *ending = NULL; /* "@@.c" is a file that is called so */
    for (size_t i = 0; i < q->args.len && !ending; i++)
        ending = str_starts(q->args.items[i], "@@") ? q->args.items[i] + 2 : NULL;
    const char *name = arena_printf(&plan->arena, "input%s", ending ? ending : "");
    StepCopy copy = { input, arena_printf(&plan->arena, "%s-files/%s", folder, name) };
    vec_push(&s->copies, copy);
    step_program(plan, s, x);
    step_word(plan, s, "-o");
    step_word(plan, s, "%s", folder);
    step_word(plan, s, "--files");
    step_word(plan, s, "%s-files", folder);
    if (!ending) {
        step_word(plan, s, "--stdin");
        step_word(plan, s, "%s-files/input", folder);
    }
    step_word(plan, s, "--");
    for (size_t i = 0; i < q->args.len; i++)
        step_word(plan, s, "%s", str_starts(q->args.items[i], "@@") ? name : q->args.items[i]);
}

/* The same failure may have been found in several ways. */
static bool is_new(Map *seen, const StoredFinding *f)
{
    char *place =
        xprintf("%s:%d", f->finding.where.file ? f->finding.where.file : "", f->finding.where.line);
    bool new = map_put(seen, place, NULL);
    free(place);
    return new;
}

/* Undefined behaviour after which the program goes on: there is no crash to make a test of. */
static bool goes_on(const Finding *f)
{
    static const char *const kinds[] = {
        "shift",         "integer overflow",     "negation of",
        "misaligned",    "outside the range of", "not a valid value",
        "pointer index", "zero offset to null",  NULL
    };
    bool undefined = strstr(f->message, "(UndefinedBehaviorSanitizer)") != NULL;
    for (const char *const *k = kinds; undefined && *k; k++)
        if (strstr(f->message, *k))
            return true;
    return false;
}

void reproduce_plan(Project *p, Plan *plan)
{
    const FindingSet *set = project_findings(p);
    size_t planned = 0, going_on = 0;
    Map seen = { 0 };
    for (const Product *q = project_products(p, "failures", NULL, NULL); q && set;
         q = project_products(p, "failures", NULL, q))
        for (size_t i = 0; i < set->len && planned < MOST; i++) {
            const StoredFinding *f = &set->items[i];
            const char *input = finding_counts(f) && f->finding.level == LEVEL_ERROR
                                    ? input_of(plan, q, &f->finding)
                                    : NULL;
            if (!input || !is_new(&seen, f))
                continue;
            if (goes_on(&f->finding)) {
                going_on++;
                continue;
            }
            add_step(p, plan, q, f, input);
            planned++;
        }
    map_release(&seen);
    if (!planned)
        plan_skip(plan, "",
                  going_on ? "after the failures that are known a program goes on: nothing crashes"
                           : "no input that makes a program fail is known");
}
