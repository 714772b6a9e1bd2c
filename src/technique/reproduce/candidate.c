/*
 * From frames to tests: which fail as the program did, and what they need.
 *
 * All candidates of one unit are compiled together, since compiling the unit is
 * what takes the time; if that fails one by one; and if that fails again without
 * the program's types. Their states are data that they read. Each that fails
 * like the crash is shrunk by leaving out steps, written as C for people,
 * compiled and run once more: only what was seen to fail as a file of its own is
 * kept.
 */
#include "base/escape.h"
#include "base/file.h"
#include "base/progress.h"
#include "base/units.h"
#include "runtime/format/crashfile.h"
#include "technique/reproduce/reproduce_int.h"
#include <assert.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define MOST_CANDIDATES 24             /* frames that are all tried; of more … */
#define MOST_INNER      6                   /* … the innermost, and … */
#define MOST_OUTER      2                   /* … the outermost of each function */
#define SHRINK_TRIALS   400
#define SHRINK_SECONDS  15                  /* …on a machine where a trial is quick */
#define SHRINK_MOST     60
#define NULL_PAGE       65536

/* What would come behind the failure if it were mended: share/reproduce/trial.c */
static const char *const ways[] = { "skip", "return" };
enum { WAY_SKIP, WAY_RETURN, NWAYS };

/* ---- finding */

static const Function *function_of(const Program *p, uint32_t number)
{
    size_t n;
    const Function *const *all = program_functions(p, &n);
    for (size_t i = 0; i < n; i++)
        if (all[i]->index + 1 == number)
            return all[i];
    return NULL;
}

/* In a deep recursion the frames in the middle are all alike. `of_function` counts
 * those that were seen, from main() inwards. */
static bool is_wanted(const Candidate *c, size_t n, Map *of_function)
{
    void **seen = map_slotn(of_function, &c->fn, sizeof c->fn);
    *seen = (char *)*seen + 1;
    return n <= MOST_CANDIDATES || c->frame < MOST_INNER || (size_t)*seen <= MOST_OUTER;
}

/* Inlined functions say no word when they are left. They are still there if the machine's
 * stack names them, in this order, from main() inwards. */
static void find_gone(Reproduction *rp)
{
    enum { MOST_STACK = 500 };                  /* of more, the outer part is not known */
    size_t at = rp->was.stack.len;
    for (size_t i = rp->n; i-- > 0 && rp->was.stack.len < MOST_STACK;) {
        Candidate *c = &rp->candidates[i];
        size_t k = at;
        while (c->fn && k > 0 && strcmp(rp->was.stack.items[k - 1].function, c->fn->name) != 0)
            k--;
        if (c->fn && k > 0)
            at = k - 1;
        else
            c->gone = crash_frame(rp->crash, i)->flags & SUNDEW_FRAME_UNSURE;
    }
}

static void count_distances(Reproduction *rp)
{
    unsigned distance = 0;
    const Candidate *first = NULL;
    for (size_t i = 0; i < rp->n; i++) {
        Candidate *c = &rp->candidates[i];
        c->distance = distance;
        if (c->gone)
            c->why = "had returned";
        else if (!c->reports && !distance++)
            first = c;
    }
    /* The crash may lie in functions that were too small to be monitored. */
    unsigned above = 0;
    while (first && above < rp->was.stack.len && first->fn &&
           strcmp(rp->was.stack.items[above].function, first->fn->name) != 0)
        above++;
    for (size_t i = 0; i < rp->n && above < rp->was.stack.len; i++)
        rp->candidates[i].distance += above;
}

bool candidates_find(Reproduction *rp, Err *err)
{
    size_t n = crash_nframes(rp->crash);
    const LabUnit *near = NULL;
    Map of_function = { 0 };
    rp->candidates = arena_array(&rp->arena, Candidate, n + 1);
    for (size_t i = n; i-- > 0;) {              /* from main() inwards */
        const CrashFrame *fr = crash_frame(rp->crash, i);
        Candidate *c = &rp->candidates[i];
        c->frame = i;
        c->stale = fr->flags & SUNDEW_FRAME_STALE;
        c->fn = function_of(rp->program, fr->function);
        c->unit = c->fn ? lab_unit_of(rp->lab, c->fn, near) : NULL;
        near = c->unit ? c->unit : near;
        if (!c->fn)
            c->why = "the function is not in the program model";
        else if (!c->unit)
            c->why = "its source file is not captured";
        else if ((c->reports = is_reporter(&rp->was, c->fn)))
            c->why = "never returns: it tells what its caller found";
        else if ((c->between = !is_wanted(c, n, &of_function)))
            c->why = "in the middle of a deep recursion: not tried";
    }
    map_release(&of_function);
    rp->n = n;
    if (!n)
        return err_set(err, "the crash file has no frames: no function was "
                            "monitored when it crashed (with second chance, run it once "
                            "more)");
    find_gone(rp);
    count_distances(rp);
    return true;
}

void candidates_release(Reproduction *rp)
{
    for (size_t i = 0; i < rp->n; i++) {
        Candidate *c = &rp->candidates[i];
        restore_free(c->restore);
        ending_release(&c->ending);
        for (int w = 0; w < NWAYS; w++)
            ending_release(&c->ways[w]);
        strings_release(&c->differences);
        free(c->call);
        free(c->file);
    }
    vec_release(&rp->ranked);
}

/* ---- trials */

static bool prepare(Reproduction *rp, Candidate *c, bool plain)
{
    Err err = { 0 };
    assert(c->unit);                           /* others are no candidates for a test */
    restore_free(c->restore);
    c->restore = NULL;
    c->world = world_of(rp->worlds, c->unit, plain, &err);
    if (c->world)
        c->restore = restore_new(rp->crash, rp->program, c->frame, c->world, !c->dead);
    c->revived = c->restore && restore_revives(c->restore);
    if (!c->restore)
        c->why = arena_printf(&rp->arena, "%s", *err.msg ? err.msg : "no such frame");
    return c->restore != NULL;
}

typedef Vec(Candidate *) Group;

/* The state that a trial reads, beside the program: NAME.0, NAME.1 … */
static bool write_state(const Candidate *c, const char *name, size_t number, Err *err)
{
    Str state = { 0 };
    Strings named = { 0 };
    char *path = xprintf("%s.%zu", name, number);
    restore_state(c->restore, &state, &named);
    bool ok = file_write(path, state.data, state.len, err);
    free(path);
    strings_release(&named);
    str_release(&state);
    return ok;
}

static void remove_states(size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        char *path = xprintf("%s.%zu", name, i);
        unlink(path);
        free(path);
    }
}

/* The cases of all that can be prepared; the others leave the group. One state at a
 * time is in memory. */
static bool write_cases(Reproduction *rp, Group *g, bool plain, const char *name, Str *body,
                        Err *err)
{
    bool ok = true;
    size_t n = 0;
    for (size_t i = 0; ok && i < g->len; i++) {
        Candidate *c = g->items[i];
        if (!prepare(rp, c, plain))
            continue;
        candidate_print_target(c, n, body);
        str_addf(body, "static void restore_case_%zu(void)\n{\n", n);
        restore_print_trial(c->restore, (unsigned)n, body);
        str_add(body, "}\n\n");
        ok = write_state(c, name, n, err);
        restore_free(c->restore);
        c->restore = NULL;
        g->items[n++] = c;
    }
    g->len = n;
    return ok;
}

void candidate_print_target(const Candidate *c, size_t number, Str *out)
{
    bool is_main = strcmp(c->fn->name, "main") == 0;
    str_addf(out, "void *restore_target_%zu = (void *)%s;\n\n", number,
             is_main ? "program_main" : c->fn->name);
}

static unsigned how_built(const Candidate *c)
{
    return LAB_TRIAL | (c->unoptimised ? LAB_UNOPTIMISED : 0);
}

static bool build_trial(Reproduction *rp, Group *g, bool plain, const char *name, Err *err)
{
    Str body = { 0 }, text = { 0 };
    if (!write_cases(rp, g, plain, name, &body, err) || !g->len) {
        str_release(&body);
        return !g->len;
    }
    str_add(&body, "int main(void)\n{\n    switch (restore_test()) {\n");
    for (size_t i = 0; i < g->len; i++)
        str_addf(&body, "    case %zu: restore_case_%zu(); break;\n", i, i);
    str_add(&body, "    }\n    return 0;\n}\n");
    assert(g->items[0]->world);
    world_preamble(g->items[0]->world, str_c(&body), &text);
    str_addn(&text, body.data, body.len);
    char *source = xprintf("%s.c", name);
    bool ok = file_write(source, text.data, text.len, err) &&
              lab_build(rp->lab, g->items[0]->unit, source, name, how_built(g->items[0]), err);
    unlink(source);
    free(source);
    str_release(&body);
    str_release(&text);
    return ok;
}

void candidate_with_files(const Reproduction *rp, TrialPlan *plan)
{
    plan->input = rp->input;
    plan->files = rp->files->items;
    plan->nfiles = rp->files->len;
}

/* ---- shrinking one */

typedef struct ShrinkArg {
    Reproduction *rp;
    Candidate *c;
    const char *binary;
    unsigned test;
} ShrinkArg;

static bool run_trial(const ShrinkArg *a, const bool *keep, const char *way, Ending *out)
{
    TrialPlan plan = { .test = a->test,
                       .state = a->binary,
                       .keep = keep,
                       .nsteps = restore_nsteps(a->c->restore),
                       .way = way,
                       .seconds = way ? 2 : 0 };
    candidate_with_files(a->rp, &plan);
    return trial_run(a->rp->trial, a->binary, &plan, out, NULL);
}

/* The same failure; and where it would go on from there, it goes on in the same way. The
 * state that only a mended function needs stays that way. */
static bool still_fails(void *arg, const bool *keep)
{
    ShrinkArg *a = arg;
    Ending e = { 0 };
    bool same = run_trial(a, keep, NULL, &e) && ending_equal(&a->c->ending, &e);
    ending_release(&e);
    for (int w = 0; keep && same && w < NWAYS; w++) {
        if (!a->c->has_way[w])
            continue;
        same = run_trial(a, keep, ways[w], &e) && ending_same_way(&a->c->ways[w], &e);
        ending_release(&e);
    }
    return same;
}

/*
 * What the function lacks once it is past the failure: memory that the crash file does not
 * hold, or objects as they were at its entry when others are as they were at the crash, so that
 * some are given back twice. NULL: nothing, as far as is known.
 */
static const char *lack_of_way(const Ending *crash, const Ending *way)
{
    if (way->heap && !crash->heap)
        return "gives back memory that is not there";
    for (size_t i = 1; i <= way->way.len; i++) {
        bool last = i == way->way.len;
        uint64_t at = !last                               ? way->touched.items[i]
                      : way->has_address && !way->nowhere ? way->address
                                                          : 0;
        bool same = crash->has_address && at - crash->address + NULL_PAGE < 2 * NULL_PAGE;
        if (at >= NULL_PAGE && !same)
            return "needs memory that the crash file does not hold";
    }
    return NULL;
}

static void find_ways(const ShrinkArg *a)
{
    Candidate *c = a->c;
    unsigned tried = 0, lacking = 0;
    c->lacks = NULL;
    for (int w = 0; w < NWAYS; w++) {
        Ending *way = &c->ways[w];
        ending_release(way);
        bool ran = run_trial(a, NULL, ways[w], way) && way->way.len;
        assert(way->way.len == way->touched.len);
        c->has_way[w] = ran && way->kind == FAILURE_NONE;
        const char *lack = ran ? lack_of_way(&c->ending, way) : NULL;
        tried += ran;
        lacking += lack != NULL;
        c->lacks = lack ? lack : c->lacks;
    }
    /* main() has no state; and what one way does not need, the mended function may not need. */
    if (lacking < tried || strcmp(c->fn->name, "main") == 0)
        c->lacks = NULL;
}

/*
 * A mended function may look at more than a failing one: what its arguments point to stays as
 * it was, and so do the pointers in the objects next to it, and those of each variable that is
 * there at all: the program's name, for the message of an error. If nothing tells what comes
 * behind the failure, one object more; the words of main() always.
 */
static bool *steps_that_stay(const Candidate *c)
{
    size_t n = restore_nsteps(c->restore);
    bool *fixed = xcalloc(n + 1, sizeof *fixed);
    bool more = !c->has_way[WAY_SKIP] || strcmp(c->fn->name, "main") == 0;
    for (size_t i = 0; i < n; i++) {
        unsigned depth = restore_depth(c->restore, i);
        fixed[i] = depth <= more || (depth == 1u + more && restore_is_link(c->restore, i)) ||
                   restore_is_link_of_variable(c->restore, i);
    }
    return fixed;
}

/* A busy machine gets more time: a test that is not shrunk is not read. */
static double shrink_seconds(double trial)
{
    double wanted = trial * SHRINK_TRIALS / 2;
    return wanted < SHRINK_SECONDS ? SHRINK_SECONDS : wanted > SHRINK_MOST ? SHRINK_MOST : wanted;
}

static void shrink_candidate(Reproduction *rp, Candidate *c, const char *binary, unsigned test)
{
    ShrinkArg arg = { rp, c, binary, test };
    find_ways(&arg);
    c->damage = damage_find(rp, c, binary, test);
    bool *fixed = steps_that_stay(c);
    Shrinking s = { .restore = c->restore,
                    .fails = still_fails,
                    .fixed = fixed,
                    .arg = &arg,
                    .most = SHRINK_TRIALS,
                    .seconds = SHRINK_SECONDS };
    bool *keep = xcalloc(restore_nsteps(c->restore) + 1, sizeof *keep);
    double begun = clock_seconds();
    if (rp->shrink && still_fails(&arg, NULL)) {
        s.seconds = shrink_seconds(clock_seconds() - begun);
        shrink(&s, keep);
        restore_keep(c->restore, keep);
    }
    free(keep);
    free(fixed);
}

/* ---- the plain form */

/* Writes the test, builds and runs it. */
static bool verify(Reproduction *rp, Candidate *c, Err *err)
{
    if (!folder_write_test(rp, c, err))
        return false;
    char *source = path_join(rp->folder, c->file);
    static unsigned number; /* places_find() remembers names */
    char *binary = xprintf("%s/trial-%u", rp->folder, ++number);
    Ending e = { 0 };
    TrialPlan plan = { 0 };
    candidate_with_files(rp, &plan);
    bool ok = lab_build(rp->lab, c->unit, source, binary, how_built(c), err) &&
              trial_run(rp->trial, binary, &plan, &e, err);
    if (ok) {
        trial_name(rp->names, rp->program, binary, &e);
        ok = c->root_closer ? e.kind == c->ending.kind : ending_same(&rp->was, &e, rp->same);
    }
    if (ok) {
        ending_release(&c->ending);
        c->ending = e;
    } else {
        ending_release(&e);
        unlink(source);
        free(c->file);
        c->file = NULL;
    }
    unlink(binary);
    free(binary);
    free(source);
    return ok;
}

static void keep_or_drop(Reproduction *rp, Candidate *c)
{
    Err err = { 0 };
    size_t n = restore_nsteps(c->restore);
    bool *all = xmalloc(n + 1);
    memset(all, true, n);
    bool ok = verify(rp, c, &err);
    if (!ok && rp->shrink) {
        restore_keep(c->restore, all);
        ok = verify(rp, c, &err);
    }
    if (!ok && !c->world->plain && prepare(rp, c, true))
        ok = verify(rp, c, &err);
    free(all);
    c->reproduces = ok;
    if (!ok)
        c->why = *err.msg ? arena_strdup(&rp->arena, err.msg)
                          : "fails the same way with the state as it was captured, but not written "
                            "as C";
    restore_size(c->restore, &c->objects, &c->bytes);
}

/* ---- trying */

static bool had_threads(const Reproduction *rp)
{
    size_t n;
    const CrashLack *lacks = crash_lacks(rp->crash, &n);
    for (size_t i = 0; i < n; i++)
        if (lacks[i].code == SUNDEW_LACK_THREAD)
            return true;
    return false;
}

/* A thread begins before another one gives it its work; a test begins with that state. */
static bool begins_without_work(const Reproduction *rp, const Candidate *c)
{
    assert(rp->n);
    unsigned main = crash_frame(rp->crash, rp->n - 1)->flags;
    return had_threads(rp) && main & SUNDEW_FRAME_ELSEWHERE && c->frame + 1 < rp->n;
}

static const char *how_it_ended(Reproduction *rp, const Candidate *c)
{
    const Ending *e = &c->ending;
    Str s = { 0 };
    bool waits = e->kind == FAILURE_TIMEOUT || e->kind == FAILURE_HANG;
    if (waits && had_threads(rp)) {
        str_add(&s, "waits for other threads of the program, which a test has not");
    } else if (e->kind == FAILURE_NONE) {
        str_add(&s, "ran to its end");
    } else {
        str_add(&s, "another failure: ");
        ending_kind(e, &s);
        if (e->stack.len)
            str_addf(&s, " in %s", e->stack.items[0].function);
    }
    if (!waits && begins_without_work(rp, c))
        str_add(&s, "; what other threads gave it after it was entered is not in the file");
    const char *text = arena_strdup(&rp->arena, str_c(&s));
    str_release(&s);
    return text;
}

/* With the address sanitizer an earlier report is nearer to the root. */
static bool is_root(const Reproduction *rp, const Ending *e)
{
    return rp->asan && e->kind == FAILURE_SANITIZER;
}

static bool has_bad_argument(const Reproduction *rp, const Candidate *c);

/* What is told of it, for which its state has to be there. */
static void settle(Reproduction *rp, Candidate *c)
{
    if (!c->restore)
        return;
    c->bad_pointer = has_bad_argument(rp, c);
    restore_differences(c->restore, 12, &c->differences);
    restore_free(c->restore);
    c->restore = NULL;
}

static bool try_one(Reproduction *rp, Candidate *c, const char *binary, unsigned test, Err *err)
{
    TrialPlan plan = { .test = test, .state = binary };
    candidate_with_files(rp, &plan);
    Str call = { 0 };
    if (!prepare(rp, c, c->world->plain))
        return true;
    free(c->call);
    restore_print_call(c->restore, &call);
    c->call = str_take(&call);
    if (!trial_run(rp->trial, binary, &plan, &c->ending, err))
        return false;
    trial_name(rp->names, rp->program, binary, &c->ending);
    bool same = ending_same(&rp->was, &c->ending, rp->same);
    c->root_closer = !same && is_root(rp, &c->ending);
    if (same || c->root_closer) {
        shrink_candidate(rp, c, binary, test);
        keep_or_drop(rp, c);
    } else {
        c->why = how_it_ended(rp, c);
        if (rp->guessed_files && strcmp(c->fn->name, "main") == 0)
            c->why = arena_printf(&rp->arena, "%s; it had no files (--files DIR)", c->why);
    }
    settle(rp, c);
    return true;
}

/* The group's tests in one program; if it can't be built each by itself, then
 * without the program's types. */
static bool try_group(Reproduction *rp, Group *g, bool plain, Err *err)
{
    static unsigned number;
    char *binary = xprintf("%s/group-%u", rp->folder, ++number);
    Err said = { 0 };
    bool ok = true;
    size_t all = g->len;
    if (build_trial(rp, g, plain, binary, &said)) {
        for (size_t i = 0; ok && i < g->len; i++)
            if (!session_interrupted(rp->session))
                ok = try_one(rp, g->items[i], binary, (unsigned)i, err);
            else
                g->items[i]->why = "no time was left";
    } else if (g->len > 1) {
        if (session_verbose(rp->session))
            session_note(rp->session, "tests of %s are compiled one by one: %s",
                         path_base(lab_unit_source(g->items[0]->unit)), said.msg);
        for (size_t i = 0; ok && i < g->len; i++) {
            Group one = { 0 };
            vec_push(&one, g->items[i]);
            ok = try_group(rp, &one, plain, err);
            vec_release(&one);
        }
    } else if (!plain) {
        ok = try_group(rp, g, true, err);
    } else {
        g->items[0]->why = arena_printf(&rp->arena, UNCOMPILED "%s", said.msg);
    }
    remove_states(all, binary);
    unlink(binary);
    free(binary);
    return ok;
}

static bool try_all(Reproduction *rp, Err *err)
{
    bool ok = true;
    bool *done = xcalloc(rp->n + 1, sizeof *done);
    for (size_t i = 0; ok && i < rp->n; i++) {
        Group g = { 0 };
        for (size_t k = i; k < rp->n; k++) {
            Candidate *c = &rp->candidates[k];
            if (done[k] || c->why || c->reproduces || c->unit != rp->candidates[i].unit)
                continue;
            done[k] = true;
            vec_push(&g, c);
        }
        if (g.len)
            ok = try_group(rp, &g, false, err);
        vec_release(&g);
    }
    free(done);
    return ok;
}

static void try_again(Candidate *c)
{
    assert(!c->reproduces && !c->file);
    c->why = NULL;
    ending_release(&c->ending);
    c->ending = (Ending){ 0 };
    strings_release(&c->differences);
    c->differences = (Strings){ 0 };
}

/* What the frame's function had alive is kept only in part: if that did not do, as it was at
 * the crash. */
static bool try_alive_and_dead(Reproduction *rp, Err *err)
{
    if (!try_all(rp, err))
        return false;
    for (size_t i = 0; i < rp->n; i++) {
        Candidate *c = &rp->candidates[i];
        c->dead = c->revived && !c->reproduces && c->unit && !c->between && !c->reports && !c->gone;
        if (c->dead)
            try_again(c);
    }
    return try_all(rp, err);
}

/* The build's optimiser may drop the failure in a test: then without one. A static inside of a
 * function may have another name in that object; then the first answer stands. */
bool candidates_try(Reproduction *rp, Err *err)
{
    if (!try_alive_and_dead(rp, err))
        return false;
    const char **was = arena_array(&rp->arena, const char *, rp->n + 1);
    for (size_t i = 0; i < rp->n; i++) {
        Candidate *c = &rp->candidates[i];
        if (c->reproduces || !c->unit || c->between || c->reports || c->gone ||
            !lab_is_optimised(c->unit))
            continue;
        was[i] = c->why;
        c->unoptimised = true;
        c->dead = false;
        try_again(c);
    }
    bool ok = try_alive_and_dead(rp, err);
    for (size_t i = 0; i < rp->n; i++) {
        Candidate *c = &rp->candidates[i];
        if (was[i] && c->why && str_starts(c->why, "does not compile"))
            c->why = was[i];
    }
    return ok;
}

/* ---- judging */

/* Is an argument of this frame itself the bad pointer: null, with an access
 * near it, or the address that was touched? */
static bool has_bad_argument(const Reproduction *rp, const Candidate *c)
{
    size_t n;
    const RestoreArg *args = c->restore ? restore_args(c->restore, &n) : NULL;
    for (size_t i = 0; args && i < n; i++) {
        const RestoreArg *a = &args[i];
        if (!a->pointer || a->known)
            continue;
        if (rp->was.address - a->value < 4096)
            return true;
    }
    return false;
}

/*
 * A test tells nothing if its function is handed the bad value: it fails
 * whatever is fixed elsewhere. That holds for the crashing function, and for
 * callers as long as all of them only pass it on.
 */
static void judge_information(Reproduction *rp)
{
    bool passed_on = true, pointer = rp->was.has_address || rp->was.nowhere;
    for (size_t i = 0; i < rp->n; i++) {
        Candidate *c = &rp->candidates[i];
        if (c->gone || c->reports)
            continue;
        bool asserted = asserted_argument(rp->program, &rp->was, c);
        passed_on = passed_on && ((pointer && c->bad_pointer) || c->damage || asserted);
        c->informative = c->reproduces && !passed_on && !c->broken_heap && !c->lacks;
        if (!c->reproduces)
            continue;
        if (c->informative)
            c->why = c->root;
        else if (!passed_on && !c->broken_heap)
            c->why = arena_printf(&rp->arena,
                                  "behind the failure it %s: may fail after the fix too", c->lacks);
        else if (pointer && c->bad_pointer)
            c->why = "is handed the bad pointer: may fail after the fix too";
        else if (asserted)
            c->why = "is handed what it asserts not to be: may fail after the fix too";
        else
            c->why = arena_printf(&rp->arena,
                                  "is handed the damage: %s already; may fail after the fix too",
                                  c->damage);
    }
}

static int by_rank(const void *x, const void *y)
{
    const Candidate *a = *(Candidate *const *)x, *b = *(Candidate *const *)y;
    if (a->reproduces != b->reproduces)
        return a->reproduces ? -1 : 1;
    if (a->informative != b->informative)
        return a->informative ? -1 : 1;
    if (a->root_closer != b->root_closer)
        return a->root_closer ? 1 : -1;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    return a->frame < b->frame ? -1 : 1;
}

/* A test of the same function may know the line that the optimised program has lost. */
static void take_line(Reproduction *rp)
{
    Place *site = rp->was.guessed ? &rp->was.stack.items[0] : NULL;
    for (size_t i = 0; site && i < rp->n; i++) {
        const Candidate *c = &rp->candidates[i];
        const Place *at = c->reproduces && c->ending.stack.len ? &c->ending.stack.items[0] : NULL;
        if (at && at->line && strcmp(at->function, site->function) == 0) {
            site->line = at->line;
            site = NULL;
        }
    }
}

void candidates_judge(Reproduction *rp)
{
    take_line(rp);
    heap_judge(rp);
    judge_information(rp);
    for (size_t i = 0; i < rp->n; i++) {
        Candidate *c = &rp->candidates[i];
        if (!c->gone)
            vec_push(&rp->ranked, c);
    }
    if (rp->ranked.len)
        qsort(rp->ranked.items, rp->ranked.len, sizeof *rp->ranked.items, by_rank);
}
