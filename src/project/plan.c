#include "project/plan.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/str.h"
#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *format(Arena *a, const char *fmt, va_list ap)
{
    char *text = xvprintf(fmt, ap);
    const char *kept = arena_strdup(a, text);
    free(text);
    return kept;
}

PlanStep *plan_step(Plan *plan, PlanStage stage, const char *subject, const char *fmt, ...)
{
    assert(plan->technique && subject);
    PlanStep *s = arena_new(&plan->arena, PlanStep);
    va_list ap;
    va_start(ap, fmt);
    s->technique = plan->technique;
    s->subject = arena_strdup(&plan->arena, subject);
    s->variant = "";
    s->fed_by = "";
    s->reason = format(&plan->arena, fmt, ap);
    s->stage = stage;
    s->least = 1;
    s->most = 30;
    s->value = 1;
    va_end(ap);
    vec_push(&plan->steps, s);
    return s;
}

void plan_skip(Plan *plan, const char *subject, const char *fmt, ...)
{
    assert(plan->technique);
    va_list ap;
    va_start(ap, fmt);
    PlanSkip skip = { plan->technique, arena_strdup(&plan->arena, subject),
                      format(&plan->arena, fmt, ap) };
    va_end(ap);
    vec_push(&plan->skipped, skip);
}

bool plan_has_step(const Plan *plan)
{
    for (size_t i = 0; i < plan->steps.len; i++)
        if (plan->steps.items[i]->technique == plan->technique)
            return true;
    return false;
}

void plan_source(Project *p, Plan *plan)
{
    size_t units = project_units(p);
    if (!units) {
        plan_skip(plan, "", "no C source was captured");
        return;
    }
    PlanStep *s =
        plan_step(plan, STAGE_SOURCE, "the source", "%zu unit%s", units, units == 1 ? "" : "s");
    step_costs(s, 0.5 + 0.02 * (double)units, 5 + 0.5 * (double)units, 1);
    vec_push(&s->depends, project_build_key(p));
}

void step_headers(Plan *plan, PlanStep *s, const ProjectHeaders *h)
{
    for (size_t i = 0; i < h->headers.len; i++) {
        step_word(plan, s, "--headers");
        step_word(plan, s, "%s", h->headers.items[i]);
    }
    for (size_t i = 0; i < h->flags.len; i++)
        step_word(plan, s, "--cflags=%s", h->flags.items[i]);
}

void step_costs(PlanStep *s, double least, double most, double value)
{
    assert(least > 0 && most >= least && value > 0);
    s->least = least;
    s->most = most;
    s->value = value;
}

void step_word(Plan *plan, PlanStep *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vec_push(&s->words, format(&plan->arena, fmt, ap));
    va_end(ap);
}

void step_words(Plan *plan, PlanStep *s, char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        step_word(plan, s, "%s", words[i]);
}

void step_program(Plan *plan, PlanStep *s, const ProjectProgram *x)
{
    step_word(plan, s, "%s", x->captured->path);
    vec_push(&s->programs, x->captured->path);
    vec_push(&s->depends, x->key);
}

void step_tests(Plan *plan, PlanStep *s, const Project *p, double times)
{
    size_t n;
    char *const *tests = project_tests(p, &n);
    if (!tests)
        return;
    step_word(plan, s, "--");
    step_words(plan, s, tests, n);
    vec_push(&s->depends, project_tests_key(p));
    s->least += project_tests_seconds(p);
    s->most += times * project_tests_seconds(p);
}

void step_feed(Plan *plan, PlanStep *s, const ProjectFeed *feed)
{
    step_word(plan, s, "--");
    step_word(plan, s, "sh");
    step_word(plan, s, "%s", feed->script);
}

void step_makes(Plan *plan, PlanStep *s, const char *kind, const char *program, const char *path,
                const Strings *args)
{
    Product made = { .kind = kind,
                     .program = arena_strdup(&plan->arena, program),
                     .path = arena_strdup(&plan->arena, path),
                     .by = "" };
    for (size_t i = 0; args && i < args->len; i++)
        vec_push(&made.args, arena_strdup(&plan->arena, args->items[i]));
    vec_push(&s->products, made);
}

const char *step_name(Plan *plan, const PlanStep *s)
{
    const char *name =
        arena_printf(&plan->arena, "%s%s%s", s->technique, *s->subject ? " " : "", s->subject);
    return *s->variant ? arena_printf(&plan->arena, "%s (%s)", name, s->variant) : name;
}

const char *step_folder(Plan *plan, const PlanStep *s, const Project *p)
{
    const char *name = step_name(plan, s);
    char id[ID_LEN + 1];
    sha256_id(name, strlen(name), id);
    char *safe = path_safe_name(path_base(s->subject));
    const char *folder =
        arena_printf(&plan->arena, "%s/out/%s-%s-%.8s", project_folder(p), s->technique, safe, id);
    free(safe);
    return folder;
}

static int by_stage(const void *a, const void *b)
{
    const PlanStep *x = *(PlanStep *const *)a, *y = *(PlanStep *const *)b;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    double vx = x->value / x->least, vy = y->value / y->least;
    if (vx != vy)
        return vx > vy ? -1 : 1;
    int c = strcmp(x->technique, y->technique);
    c = c ? c : strcmp(x->subject, y->subject);
    return c ? c : strcmp(x->variant, y->variant);
}

void plan_sort(Plan *plan)
{
    if (plan->steps.len)
        qsort(plan->steps.items, plan->steps.len, sizeof *plan->steps.items, by_stage);
}

static void release_step(PlanStep *s)
{
    vec_release(&s->words);
    vec_release(&s->copies);
    vec_release(&s->programs);
    vec_release(&s->depends);
    for (size_t k = 0; k < s->products.len; k++)
        vec_release(&s->products.items[k].args);
    vec_release(&s->products);
}

void plan_take_back(Plan *plan)
{
    assert(plan_has_step(plan));
    release_step(plan->steps.items[--plan->steps.len]);
}

void plan_release(Plan *plan)
{
    for (size_t i = 0; i < plan->steps.len; i++)
        release_step(plan->steps.items[i]);
    vec_release(&plan->steps);
    vec_release(&plan->skipped);
    arena_release(&plan->arena);
    *plan = (Plan){ 0 };
}
