/* When `check` runs this technique: on programs that use an API of which the order matters, and
 * that the tests run. */
#include "base/file.h"
#include "project/plan.h"
#include "technique/protocols/protocols.h"
#include <string.h>

enum { MOST = 2 };

/* Families of share/protocols/, each known by a function that makes a handle. */
static const struct family {
    const char *name;
    const char *makes[4];
} families[] = {
    { "stdio", { "fopen", "fdopen", "fopen64" } },
    { "dirent", { "opendir", "fdopendir" } },
    { "regex", { "regcomp" } },
    { "zlib", { "inflateInit_", "deflateInit_", "inflateInit2_" } },
    { "sqlite3", { "sqlite3_open", "sqlite3_open_v2" } },
    { "curl", { "curl_easy_init" } },
    { "expat", { "XML_ParserCreate" } },
    { "evp", { "EVP_CIPHER_CTX_new", "EVP_MD_CTX_new" } },
};

/* Headers of the project's own libraries that the program is linked with. */
static void own_headers(Project *p, const ProjectProgram *x, Str *names)
{
    size_t n;
    Map seen = { 0 };
    const ProjectProgram *all = project_programs(p, &n);
    for (size_t i = 0; i < n; i++) {
        if (!all[i].is_library || all[i].is_test || !project_links(x, &all[i]))
            continue;
        const ProjectHeaders *h = project_headers(p, &all[i]);
        for (size_t k = 0; k < h->headers.len && k < 3; k++)
            if (map_put(&seen, path_base(h->headers.items[k]), p))
                str_addf(names, "%s%s", names->len ? "," : "", path_base(h->headers.items[k]));
    }
    map_release(&seen);
}

static void known_families(Project *p, const ProjectProgram *x, Str *names)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (project_calls(p, x, families[i].makes))
            str_addf(names, "%s%s", names->len ? "," : "", families[i].name);
}

static void words(Plan *plan, PlanStep *s, const ProjectProgram *x, const char *names,
                  const char *count)
{
    step_program(plan, s, x);
    step_word(plan, s, "--api");
    step_word(plan, s, "%s", names);
    step_word(plan, s, "--count");
    step_word(plan, s, "%s", count);
}

/* The tests teach the protocol. Inputs that a search has found reach ways that no test takes. */
static void add(Project *p, Plan *plan, const ProjectProgram *x, const char *names, bool own)
{
    ProjectFeed feed;
    PlanStep *s = plan_step(plan, STAGE_RUNS, x->shown, "it uses %s, and the tests run it", names);
    s->variant = arena_strdup(&plan->arena, names);
    step_costs(s, 6, 60, own ? 1.2 : 0.6);
    words(plan, s, x, names, "1000");
    step_tests(plan, s, p, 10);

    if (!project_feed(p, x, false, &feed))
        return;
    s = plan_step(plan, STAGE_FED, x->shown, "inputs that were found use %s, too", names);
    s->variant = arena_printf(&plan->arena, "%s on %s", names, feed.shape->name);
    s->fed_by = arena_strdup(&plan->arena, feed.by);
    step_costs(s, 4, 40, own ? 0.8 : 0.4);
    words(plan, s, x, names, "0");
    step_feed(plan, s, &feed);
}

void protocols_plan(Project *p, Plan *plan)
{
    size_t n, planned = 0, words;
    const ProjectProgram *all = project_programs(p, &n);
    if (!project_tests(p, &words)) {
        plan_skip(plan, "", "there are no tests that end, and protocols are learned from runs");
        return;
    }
    for (size_t i = 0; i < n && planned < MOST; i++) {
        const ProjectProgram *x = &all[i];
        if (x->is_library || !x->for_runs || !project_is_run(p, x))
            continue;
        Str own = { 0 }, known = { 0 };
        own_headers(p, x, &own);
        known_families(p, x, &known);
        if (own.len)
            add(p, plan, x, str_c(&own), true);
        if (known.len)
            add(p, plan, x, str_c(&known), false);
        planned += own.len || known.len;
        str_release(&own);
        str_release(&known);
    }
    if (!planned)
        plan_skip(plan, "", "no program that the tests run uses an API whose calls have an order");
}
