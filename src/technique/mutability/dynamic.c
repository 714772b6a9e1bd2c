/* What a run shows: see dynamic.h. */
#include "technique/mutability/dynamic.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/progress.h"
#include "base/tempdir.h"
#include "analysis/mutability/facts.h"
#include "build/place.h"
#include "engine/record/record.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SECONDS = 24 * 3600 };     /* of the command, without --time */

/* ---- which parameters */

/* All whose verdict a write would change. */
static unsigned is_unknown(const Function *fn, unsigned i, void *plan)
{
    const MutParam *p = mutability_param(((DynamicPlan *)plan)->mutability, fn, i);
    unsigned levels = 0;

    if (!p || !p->pointer)
        return 0;
    if (p->deep.verdict == MUT_UNKNOWN)
        levels = TAG_LEVELS & ~1u;
    if (p->own.verdict == MUT_UNKNOWN)
        levels |= 1;
    return levels;
}

static unsigned is_promised(const Function *fn, unsigned i, void *arg)
{
    const DynamicPlan *plan = arg;
    const MutParam *p = mutability_param(plan->mutability, fn, i);

    if (!p || !p->pointer)
        return 0;
    if (p->deep.verdict == MUT_IMMUTABLE && p->deep.sound)
        return TAG_LEVELS | TAG_CLAIMED;
    if (p->by_value)
        return 0;
    if (p->own.verdict == MUT_IMMUTABLE && p->own.sound)
        return 1 | TAG_CLAIMED;
    return p->declared_const && !plan->only_proven ? 1 | TAG_DECLARED : 0;
}

/* ---- the build */

typedef unsigned Wanted(const Function *fn, unsigned i, void *plan);

static bool weave(const DynamicPlan *plan, Wanted *wanted, bool counts, const char *out,
                  size_t *params, Err *err)
{
    Progress progress = progress_start("mutability", 2);
    TagPlan tags = { .wanted = wanted,
                     .arg = (void *)plan,
                     .counts = counts,
                     .summaries = calls_summaries(plan->calls) };
    size_t functions;

    progress_step(&progress, 0, "tags");
    Woven *w = weave_begin(plan->program, err);
    bool ok = w && weave_tags(w, &tags, err) &&
              weave_runtime(w, session_libexec(plan->session), "tags", err);
    progress_step(&progress, 1, "optimise and link");
    if (ok) {
        weave_tags_figures(w, params, &functions);
        ok = place_build(w, plan->program, out, err);
    }
    progress_end(&progress);
    weave_end(w);
    return ok;
}

/* How many parameters are proven, how many only declared const. */
static void count_promises(const DynamicPlan *plan, size_t *claimed, size_t *declared)
{
    size_t n;
    const Function *const *fns = program_functions(plan->program, &n);

    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < fns[i]->nparams; k++) {
            unsigned p = is_promised(fns[i], k, (void *)plan);
            *claimed += (p & TAG_CLAIMED) != 0;
            *declared += (p & TAG_DECLARED) != 0;
        }
}

bool dynamic_enforce(const DynamicPlan *plan, const char *out, Err *err)
{
    size_t params = 0, claimed = 0, declared = 0;

    if (!weave(plan, is_promised, false, out, &params, err))
        return false;
    if (session_flag(plan->session, "json")) {
        count_promises(plan, &claimed, &declared);
        json_t *j = json_pack("{s:o, s:o, s:I, s:I, s:I}", "program",
                              json_text(program_captured(plan->program)->path), "out",
                              json_text(out), "enforced", (json_int_t)params, "claimed",
                              (json_int_t)claimed, "declared", (json_int_t)declared);
        json_print(j, session_out(plan->session));
        json_decref(j);
        return true;
    }
    escape_terminal_z(session_out(plan->session), out);
    str_addf(session_out(plan->session), ": stops at writes through %zu parameters\n", params);
    return true;
}

static bool stop_asked(void *session) { return session_interrupted(session); }

static bool run_command(const DynamicPlan *plan, const char *woven, const char *folder, Err *err)
{
    Session *s = plan->session;
    size_t n;
    char **words = session_tail(s, &n);
    RunResult r = { 0 };
    RecordRun run = { .original = program_captured(plan->program),
                      .woven = woven,
                      .words = words,
                      .nwords = n,
                      .in_place = true,
                      .folder = folder,
                      .root = session_root(s),
                      .seconds = session_time(s) ? session_time(s) : MOST_SECONDS,
                      .stop = stop_asked,
                      .arg = s };
    bool ok = record_run(&run, &r, err);
    if (ok && r.failure.kind == FAILURE_TIMEOUT)
        session_incomplete(s, "the time was over before the command ended");
    else if (ok && r.failure.status)
        session_note(s, "%s ended with status %d", words[0], r.failure.status);
    run_result_release(&r);
    return ok;
}

/* ---- heuristic A */

typedef struct Counted {
    unsigned long calls, covered, blocks;
} Counted;

/* Calls of all processes; the coverage of the best of them. */
static void read_counts(const char *path, Map *out, Arena *a)
{
    Str text = { 0 };
    Err none = { 0 };
    char *rest = NULL;

    if (!file_read_left(path, 256u << 20, &text, &none))
        return;
    str_addc(&text, '\0');
    for (char *line = strtok_r(text.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char word[512];
        Counted c;
        if (sscanf(line, "%511s %lu %lu %lu", word, &c.calls, &c.covered, &c.blocks) != 4)
            continue;
        Counted *old = map_get(out, word);
        if (!old) {
            old = arena_new(a, Counted);
            map_put(out, word, old);
        }
        old->calls += c.calls;
        if (c.covered > old->covered)
            old->covered = c.covered;
        old->blocks = c.blocks;
    }
    str_release(&text);
}

static void judge_absence(const DynamicPlan *plan, const char *path)
{
    Map counts = { 0 };
    Arena a = { 0 };
    size_t n;
    const Function *const *fns = program_functions(plan->program, &n);

    read_counts(path, &counts, &a);
    for (size_t i = 0; i < n; i++) {
        const Counted *c = map_get(&counts, fns[i]->symbol);
        if (!c || c->calls < plan->calls_needed || !c->blocks ||
            c->covered * 100 < (unsigned long)plan->coverage * c->blocks)
            continue;
        for (unsigned k = 0; k < fns[i]->nparams; k++)
            mutability_presume(plan->mutability, fns[i], k);
    }
    map_release(&counts);
    arena_release(&a);
}

/* ---- observe */

/* `watched`: parameters with probes; without any a run writes nothing down. */
static bool read_observed(const DynamicPlan *plan, const char *folder, size_t watched, Err *err)
{
    char *observed = path_join(folder, "observed"), *counts = path_join(folder, "counts");
    bool ran = file_exists(counts) || file_exists(observed);
    bool ok = !file_exists(observed) ||
              mut_observations_read(plan->mutability, plan->program, observed, err);

    if (!ran && watched)
        session_incomplete(plan->session,
                           "the command did not run %s to its end, or built it again",
                           program_captured(plan->program)->path);
    if (ok && plan->absence)
        judge_absence(plan, counts);
    free(observed);
    free(counts);
    return ok;
}

bool dynamic_observe(const DynamicPlan *plan, Err *err)
{
    size_t params = 0;
    const char *scratch = tempdir_new(NULL, err);

    if (!scratch)
        return false;
    char *woven = path_join(scratch, "woven"), *folder = path_join(scratch, "tags");
    bool ok = dir_make(folder, err) && weave(plan, is_unknown, true, woven, &params, err) &&
              run_command(plan, woven, folder, err) && read_observed(plan, folder, params, err);
    free(woven);
    free(folder);
    tempdir_remove(scratch);
    return ok;
}
