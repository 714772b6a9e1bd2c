/* When `check` runs this technique: on each way in which the tests start a program with a file or
 * an input, and on programs that seem to read one. */
#include "project/plan.h"
#include "technique/explore/explore.h"
#include <string.h>

/* A program that is started in a wrong way says so at once. */
enum { MOST = 8, MOST_OF_PROGRAM = 4, TRIAL = 15 };

static const char *const reads_files[] = { "fopen", "fopen64", "open", "open64", "openat", NULL };
static const char *const reads_input[] = { "fgets",          "fgetc", "getchar", "getline", "scanf",
                                           "__isoc99_scanf", "fread", "read",    "getc",    NULL };
static const char *const is_server[] = { "accept", "accept4", "listen", NULL };

/* `ending`: of the file that stands for @@. */
static PlanStep *add(Project *p, Plan *plan, const ProjectProgram *x, const char *variant,
                     const char *corpus, const Strings *args, const char *ending, const char *why)
{
    Strings words = { 0 };
    for (size_t i = 0; i < args->len; i++)
        strings_addf(&words, "%s%s", args->items[i],
                     strcmp(args->items[i], "@@") == 0 ? ending : "");
    PlanStep *s = plan_step(plan, STAGE_RUNS, x->shown, "%s", why);
    s->variant = arena_strdup(&plan->arena, variant);
    const char *folder = step_folder(plan, s, p);
    s->open_ended = true;
    step_program(plan, s, x);
    step_word(plan, s, "-o");
    step_word(plan, s, "%s", folder);
    step_word(plan, s, "--resume");
    if (*corpus) {
        step_word(plan, s, "-i");
        step_word(plan, s, "%s", corpus);
    }
    if (args->len) {
        step_word(plan, s, "--");
        step_words(plan, s, words.items, words.len);
    }
    step_makes(plan, s, "corpus", x->captured->path, arena_printf(&plan->arena, "%s/queue", folder),
               args);
    step_makes(plan, s, "failures", x->captured->path,
               arena_printf(&plan->arena, "%s/failures", folder), &words);
    strings_release(&words);
    return s;
}

/* The ways that the tests have shown. The first gets most of the time, so that its builds are ready:
 * the others begin with them. A program that can wait for connections does so in some ways only. */
static size_t add_observed(Project *p, Plan *plan, const ProjectProgram *x, bool waits)
{
    size_t n = 0;
    for (const ProjectShape *const *s = project_shapes(p, x); *s && n < MOST_OF_PROGRAM; s++) {
        if ((!(*s)->has_file && (*s)->input == INPUT_NONE) || (waits && !(*s)->ends))
            continue;
        PlanStep *step =
            add(p, plan, x, (*s)->name, (*s)->corpus, &(*s)->args, (*s)->ending,
                arena_printf(&plan->arena, "the tests start it so %zu times, with %zu files",
                             (*s)->runs, (*s)->ncorpus));
        step_costs(step, 8, 120, n ? 0.6 / (double)n : 2.5);
        n++;
    }
    return n;
}

static void add_guess(Project *p, Plan *plan, const ProjectProgram *x)
{
    Strings none = { 0 }, file = { 0 };
    vec_push(&file, "@@");
    bool target = project_defines(p, x, "LLVMFuzzerTestOneInput");
    bool opens = !target && project_calls(p, x, reads_files);
    /* fread() and the like serve files too. */
    bool input =
        !target && project_calls(p, x, reads_input) && (!opens || project_uses(p, x, "stdin"));
    double value = opens && input ? 0.7 : 1;
    PlanStep *s;
    if (target) {
        s = add(p, plan, x, "fuzz target", "", &none, "", "it has LLVMFuzzerTestOneInput()");
        step_costs(s, 8, 60, value);
    }
    if (opens) {
        s = add(p, plan, x, "@@", "", &file, "", "it opens files; no test was seen that starts it");
        step_costs(s, 8, 60, value);
        s->trial = TRIAL;
    }
    if (input) {
        s = add(p, plan, x, "<", "", &none, "",
                "it reads its standard input; no test was seen that starts it");
        step_costs(s, 8, 60, value);
        s->trial = TRIAL;
    }
    vec_release(&file);
}

void explore_plan(Project *p, Plan *plan)
{
    size_t n, planned = 0;
    const ProjectProgram *all = project_programs(p, &n);
    for (size_t i = 0; i < n && planned < MOST; i++) {
        const ProjectProgram *x = &all[i];
        if (x->is_library || (!x->for_code && !project_defines(p, x, "LLVMFuzzerTestOneInput")))
            continue;
        bool waits = project_calls(p, x, is_server);
        size_t before = plan->steps.len;
        if (!add_observed(p, plan, x, waits) && !waits)
            add_guess(p, plan, x);
        planned += plan->steps.len - before;
        if (plan->steps.len == before)
            plan_skip(plan, x->shown,
                      waits ? "it waits for connections, which explore does not make"
                            : "it seems to read no file and no input");
    }
    if (!planned)
        plan_skip(plan, "", "no program that reads a file or its standard input");
}
