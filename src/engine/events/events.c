/* The main line: builds, a first look, the search, what it means; see events.h. */
#include "engine/events/events_int.h"
#include "base/apart.h"
#include "base/tempdir.h"
#include "base/units.h"
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_DEPTH = 2, LOOK_EXECUTIONS = 400, MOST_RESTARTS = 12 };

/* ---- begin and end */

/* In a process of its own: what it makes is kept, and making it again is quick. */
static bool make_builds(void *arg, Err *err)
{
    EventsBuild b = { 0 };
    bool ok = build_events(arg, &b, err);
    events_build_release(&b);
    return ok;
}

/* Time and Ctrl-C end a build that is in the making; then `early` says so, and there is no error. */
static bool build_in_time(Events *e, const EventsBuildPlan *b, Err *err)
{
    ApartPlan plan = { .work = make_builds,
                       .arg = (void *)b,
                       .until = e->until,
                       .stop = e->plan->interrupted,
                       .stop_arg = e->plan->arg };
    ApartEnd end = apart_run(&plan, err);
    e->early = end == APART_LATE      ? "the time was over while the program was built"
               : end == APART_STOPPED ? "it was stopped while the program was built"
                                      : NULL;
    return end == APART_DONE && build_events(b, &e->build, err);
}

static bool open_events(Events *e, const EventsPlan *plan, double until, Err *err)
{
    *e = (Events){ .plan = plan, .prune = plan->prune, .until = until };
    pthread_mutex_init(&e->lock, NULL);
    e->edges = edges_new(plan->program, err);
    e->folder = e->edges ? tempdir_new(NULL, err) : NULL;
    if (!e->folder)
        return false;
    EventsBuildPlan b = { .program = plan->program,
                          .edges = e->edges,
                          .loop = plan->loop,
                          .folder = e->folder,
                          .libexec = plan->libexec,
                          .share = plan->share,
                          .summarised = plan->summarised,
                          .no_sanitizers = plan->no_sanitizers };
    if (!build_in_time(e, &b, err))
        return false;
    e->layout = plan->loop ? &e->build.layout : &plan->layout;
    assert(e->layout->size);
    e->counters = weave_coverage_size(e->edges);
    e->branches = edges_count(e->edges);
    e->covered = xcalloc(e->counters + 1, 1);
    return true;
}

static void node_release(Node *n)
{
    vec_release(&n->places);
    vec_release(&n->fresh);
}

static void forget_nodes(Events *e)
{
    for (size_t i = 0; i < e->nodes.len; i++)
        node_release(&e->nodes.items[i]);
    vec_release(&e->nodes);
    vec_release(&e->states);
    map_release(&e->hashes);
    map_release(&e->kept);
    vec_release(&e->levels);
    e->hashes = e->kept = (Map){ 0 };
    for (size_t i = 0; i < e->failures.len; i++) {
        failure_release(&e->failures.items[i].failure);
        free(e->failures.items[i].bytes);
    }
    vec_release(&e->failures);
}

static void close_events(Events *e)
{
    forget_nodes(e);
    vec_release(&e->ignored);
    map_release(&e->read);
    map_release(&e->changed);
    json_decref(e->resumed);
    free(e->covered);
    edges_free(e->edges);
    events_build_release(&e->build);
    arena_release(&e->arena);
    if (e->folder)
        tempdir_remove(e->folder);
    pthread_mutex_destroy(&e->lock);
}

/* ---- the start */

/* What a program that never waits does instead. */
static bool say_why(const Events *e, const Watched *w, Err *err)
{
    const Failure *f = &w->failure;
    const char *what =
        e->plan->loop ? "a call of --loop's function" : "a call that waits for an event";
    if (f->kind == FAILURE_NONE || f->kind == FAILURE_EXIT)
        return err_set(
            err,
            "the program ended (status %d%s%s%s) before it came to %s: give it arguments after "
            "--, name the function that handles an event with --loop, or mark the place "
            "with sundew_event()",
            f->status, *w->said ? ", \"" : "", w->said, *w->said ? "\"" : "", what);
    if (f->kind == FAILURE_HANG || f->kind == FAILURE_TIMEOUT || f->kind == FAILURE_CPU_LIMIT)
        return err_set(err,
                       "the program did not come to %s in time: it waits for something that "
                       "Sundew does not give, or computes for long (--timeout 30s)",
                       what);
    Str how = { 0 };
    failure_describe(f, &how);
    err_set(err, "the program fails before it comes to %s: %s", what, str_c(&how));
    str_release(&how);
    return false;
}

/* The explorer's states are the traces that are extended. */
static void push_states(Events *e)
{
    for (size_t i = 0; i < e->nodes.len; i++)
        if (!i || e->nodes.items[i].end == END_EXTENDED)
            vec_push(&e->states, (uint32_t)i);
}

/* The state before the first event; and with `resumes`, what was found behind it before. */
static bool begin_search(Events *e, bool resumes, Err *err)
{
    Watched w = { 0 };
    Runs *r = runs_new(e, false, err);
    bool ok = r && runs_watch(r, NULL, 0, false, &w, err);
    if (ok && w.stopped) {
        e->early = "the time was over before the program came to its first event";
        ok = false;
    }
    if (ok && w.lost)
        ok = say_why(e, &w, err);
    if (ok) {
        watched_release(&w);
        runs_trust(r);
        ok = runs_watch(r, NULL, 0, false, &w, err);
    }
    forget_nodes(e);
    memset(e->covered, 0, e->counters);
    if (ok) {
        for (size_t i = 0; i < e->branches; i++)
            e->covered[i] = w.counters[i] != 0;
        Node start = { .hash = w.after };
        vec_push(&e->nodes, start);
        map_putn(&e->hashes, &start.hash, sizeof start.hash, e);
        if (resumes)
            ok = resume_take(e, r, err);
        push_states(e);
    }
    watched_release(&w);
    runs_free(r);
    return ok;
}

/* ---- a pass */

static bool stop_pass(void *arg)
{
    Events *e = arg;
    pthread_mutex_lock(&e->lock);
    bool again = e->again && !e->learning;
    pthread_mutex_unlock(&e->lock);
    return again || (e->plan->interrupted && e->plan->interrupted(e->plan->arg));
}

static void tell_note(void *arg, const char *text)
{
    Events *e = arg;
    if (e->plan->note && !strstr(text, "no branch depends on the input"))
        e->plan->note(e->plan->arg, text);
}

static void tell_status(const ExploreStatus *s, void *arg)
{
    Events *e = arg;
    if (e->plan->status)
        e->plan->status(s, e->plan->arg);
}

static bool pass(Events *e, unsigned depth, uint64_t executions, double until, ExploreResult *r,
                 Err *err)
{
    const char *folder = tempdir_new(NULL, err);
    double left = until > 0 ? fmax(0.1, until - clock_seconds()) : 0;
    if (!folder)
        return false;
    ExplorePlan plan = { .front = &events_front,
                         .subject = e,
                         .out = folder,
                         .seed = e->plan->seed,
                         .jobs = e->plan->jobs,
                         .time = left,
                         .executions = executions,
                         .systematic = true,
                         .depth = depth,
                         .longest = e->layout->size * (e->plan->cross ? depth : 1),
                         .interrupted = stop_pass,
                         .note = tell_note,
                         .status = tell_status,
                         .arg = e };
    e->again = false;
    e->depth = depth;
    bool resumes = e->resumed && !e->passes++;
    bool ok = begin_search(e, resumes, err) && explore(&plan, r, err);
    e->host = NULL;
    tempdir_remove(folder);
    return ok;
}

/* A first look without pruning, at few events: which locations are read? */
static bool look(Events *e, double until, Err *err)
{
    ExploreResult r = { 0 };
    unsigned rules = e->prune;
    places_learn(e);
    if (!(rules & PRUNE_NEVER_READ))
        return true;
    e->prune = 0;
    e->learning = true;
    unsigned depth = e->plan->depth < LOOK_DEPTH ? e->plan->depth : LOOK_DEPTH;
    bool ok = pass(e, depth, LOOK_EXECUTIONS, until, &r, err);
    explore_result_release(&r);
    e->learning = false;
    e->prune = rules;
    places_learn(e);
    return ok;
}

/* ---- the result */

static void premise(EventsResult *out, size_t *n, const char *name, const char *why)
{
    out->premises[(*n)++] = (EventsPremise){ name, !why, why ? why : "" };
}

/* Library functions that keep a state of their own, which is not seen. */
static const char *keeps_state(const Program *p)
{
    static const char *const names[] = { "winch",  "winnstr", "wgetnstr",       "wscanw",
                                         "strtok", "popen",   "system",         "mmap",
                                         "dlopen", "readdir", "pthread_create", "thrd_create",
                                         "dlsym",  "shmat",   "readline",       NULL };
    for (const char *const *n = names; *n; n++) {
        const Function *f = program_function(p, *n);
        if (f && !f->defined)
            return *n;
    }
    return NULL;
}

static const char *about_writes(const Events *e, Arena *a)
{
    const char *library = keeps_state(e->plan->program);
    if (e->hidden & SUNDEW_EVENT_WROTE_FILE)
        return arena_printf(a,
                            "an event writes or removes a file (%s), and files are no part of the "
                            "state: such events are always extended",
                            e->hidden_file);
    if (e->hidden & SUNDEW_EVENT_FORKED)
        return "an event makes another process";
    if (e->hidden & (SUNDEW_EVENT_TOO_LARGE | SUNDEW_EVENT_CUT))
        return "the state is too large to be watched whole";
    if (library)
        return arena_printf(a, "%s() keeps a state that is not seen", library);
    if (e->build.figures.thread_local_)
        return "the program has thread-local variables, which are not watched";
    if (e->build.figures.lost)
        return arena_printf(a, "%zu variables of functions that wait are not watched",
                            e->build.figures.lost);
    return NULL;
}

static const char *about_precision(const ExploreResult *r, Arena *a)
{
    if (!r->nimprecise)
        return NULL;
    const ExploreImprecise *m = &r->imprecise[0];
    return arena_printf(a,
                        "%zu places where the event can't be followed, the first at %s:%u (%s%s%s)",
                        r->nimprecise, m->file, m->line, m->why, *m->name ? " " : "", m->name);
}

static void take_premises(const Events *e, const ExploreResult *r, EventsResult *out)
{
    Arena *a = &out->arena;
    size_t n = 0;
    uint64_t left = 0;
    for (size_t i = 0; i < r->nlevels; i++)
        left += r->levels[i].left;
    out->premises = arena_array(a, EventsPremise, 8);
    premise(out, &n, "writes", about_writes(e, a));
    premise(out, &n, "deterministic",
            e->lost ? arena_printf(a, "%" PRIu64 " runs came to another state than before", e->lost)
                    : NULL);
    uint64_t unknown = r->status.solver.unknown;
    premise(out, &n, "solver",
            unknown ? arena_printf(a, "%" PRIu64 " questions had no answer", unknown) : NULL);
    premise(out, &n, "precise", about_precision(r, a));
    premise(out, &n, "values",
            e->symbolic ? arena_printf(a,
                                       "%" PRIu64 " traces keep a value of an event, and others "
                                       "than this one were not tried (--cross-event)",
                                       e->symbolic)
                        : NULL);
    premise(out, &n, "ends",
            e->late ? arena_printf(a, "%" PRIu64 " events did not end in time", e->late) : NULL);
    for (size_t i = 0; i < n; i++) /* of the search that went on */
        if (out->premises[i].held && resume_premise(e, out->premises[i].name))
            out->premises[i] =
                (EventsPremise){ out->premises[i].name, false,
                                 arena_strdup(a, resume_premise(e, out->premises[i].name)) };
    premise(out, &n, "complete",
            left || strcmp(out->ended, "nothing is left")
                ? arena_printf(a, "the search ended early: %s", out->ended)
                : NULL);
    assert(n <= 8);
    out->npremises = n;
}

static void take_traces(Events *e, EventsResult *out)
{
    size_t size = e->layout->size;
    out->ntraces = e->nodes.len;
    out->traces = arena_array(&out->arena, EventsTrace, e->nodes.len + 1);
    for (size_t i = 0; i < e->nodes.len; i++) {
        const Node *n = &e->nodes.items[i];
        uint8_t *bytes = arena_array(&out->arena, uint8_t, n->depth *size + 1);
        if (n->bytes)
            memcpy(bytes, n->bytes, n->depth * size);
        out->traces[i] = (EventsTrace){ n->parent, n->depth, n->end, n->hash, bytes, n->news };
    }
}

/* Of what is ignored, the locations that some event changed. */
static void take_ignored(const Events *e, EventsResult *out)
{
    out->ignored = arena_array(&out->arena, const char *, e->ignored.len + 1);
    for (size_t i = 0; i < e->ignored.len; i++) {
        if (!place_was_changed(e, &e->ignored.items[i]))
            continue;
        char *name = place_name(e, &e->ignored.items[i]);
        out->ignored[out->nignored++] = arena_strdup(&out->arena, name);
        free(name);
    }
}

static void take_result(Events *e, const ExploreResult *r, EventsResult *out)
{
    out->ended = arena_strdup(&out->arena, r->ended);
    out->nlevels = e->levels.len;
    out->levels = arena_array(&out->arena, EventsLevel, e->levels.len + 1);
    for (size_t i = 0; i < e->levels.len; i++) {
        out->levels[i] = e->levels.items[i];
        out->levels[i].left = i < r->nlevels ? r->levels[i].left : 0;
    }
    out->branches = e->branches;
    out->edges = arena_array(&out->arena, uint8_t, e->branches + 1);
    for (size_t i = 0; i < e->branches; i++) {
        out->edges[i] = e->covered[i];
        out->covered += e->covered[i];
    }
    take_traces(e, out);
    take_ignored(e, out);
    take_premises(e, r, out);
    out->nfailures = e->failures.len;
    out->failures = e->failures.items;
    e->failures.items = NULL;
    e->failures.len = e->failures.cap = 0;
    out->executions = e->executions;
    out->handled = e->handled;
    out->solver = r->status.solver;
}

/* What the result takes over, when nobody needs it any more. */
static void hand_over(Events *e, EventsResult *out)
{
    out->build = e->build;
    e->build = (EventsBuild){ 0 };
    out->layout = e->plan->loop ? &out->build.layout : &e->plan->layout;
}

/* No event was run. */
static void take_nothing(const Events *e, EventsResult *out)
{
    size_t n = 0;
    out->ended = e->early;
    out->layout = &e->plan->layout;
    out->premises = arena_array(&out->arena, EventsPremise, 1);
    premise(out, &n, "complete", arena_printf(&out->arena, "the search ended early: %s", e->early));
    out->npremises = n;
}

bool events_search(const EventsPlan *plan, EventsResult *out, Err *err)
{
    Events e;
    ExploreResult r = { 0 };
    double begun = clock_seconds(), until = plan->time > 0 ? begun + plan->time : 0;
    *out = (EventsResult){ .ended = "" };
    bool ok = open_events(&e, plan, until, err) &&
              (plan->resume ? resume_open(&e, plan->kept, err) : look(&e, until, err));
    for (unsigned i = 0; ok; i++) {
        e.executions = e.handled = e.lost = e.late = e.blocked = e.symbolic = 0;
        e.hidden = 0;
        ok = pass(&e, plan->depth, plan->executions, until, &r, err);
        if (!ok || !e.again || i >= MOST_RESTARTS)
            break;
        out->restarts++;
        explore_result_release(&r);
        places_learn(&e);
    }
    if (ok) {
        take_result(&e, &r, out);
        ok = !plan->kept || resume_save(&e, out, plan->kept, err);
        hand_over(&e, out);
    } else if (e.early)
        take_nothing(&e, out);
    ok = ok || (e.early && !*err->msg);
    out->seconds = clock_seconds() - begun;
    explore_result_release(&r);
    close_events(&e);
    return ok;
}

void events_result_release(EventsResult *r)
{
    for (size_t i = 0; i < r->nfailures; i++) {
        failure_release(&r->failures[i].failure);
        free(r->failures[i].bytes);
    }
    free(r->failures);
    events_build_release(&r->build);
    arena_release(&r->arena);
    *r = (EventsResult){ 0 };
}

uint8_t *events_of_trace(const EventsResult *r, uint32_t trace, unsigned *n)
{
    size_t size = r->layout->size;
    assert(trace < r->ntraces);
    *n = r->traces[trace].depth;
    uint8_t *all = xcalloc(*n + 1, size);
    memcpy(all, r->traces[trace].bytes, *n * size);
    return all;
}

bool events_replay(const EventsPlan *plan, const uint8_t *bytes, unsigned nevents, Failure *out,
                   Err *err)
{
    Events e;
    Watched w = { 0 };
    bool ok = open_events(&e, plan, 0, err);
    if (e.early)
        err_set(err, "%s", e.early);
    Runs *r = ok ? runs_new(&e, false, err) : NULL;
    ok = r && runs_watch(r, NULL, 0, false, &w, err) && (!w.lost || say_why(&e, &w, err));
    watched_release(&w);
    if (ok) {
        runs_trust(r);
        ok = runs_watch(r, bytes, nevents * e.layout->size, false, &w, err);
    }
    if (ok)
        failure_copy(out, &w.failure);
    watched_release(&w);
    runs_free(r);
    close_events(&e);
    return ok;
}
