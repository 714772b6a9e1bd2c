/*
 * events - sequences of events for programs with a loop.
 *
 * engine/events/events.h does the work; README.md explains the technique.
 */
#include "technique/events/events.h"
#include "base/file.h"
#include "base/progress.h"
#include "base/units.h"
#include "technique/events/events_int.h"
#include <stdlib.h>
#include <string.h>

static const Option options[] = {
    { "depth", 'k', "N", "sequences of at most so many events", "6" },
    { "loop", 0, "FUNCTION", "one call of this function is one event", NULL },
    { "events", 0, "FILE", "what an event is: kinds, bytes, keys", NULL },
    { "output", 'o', "DIR", "where sequences go; without it PROGRAM.events", NULL },
    { "classic", 0, NULL, "prune nothing", NULL },
    { "without", 0, "RULE",
      "switch a rule off: read-only, silent, never-read, dead, state-hash, independent "
      "(repeatable)",
      NULL },
    { "cross-event", 0, NULL, "follow bytes that an event stores and a later one tests", NULL },
    { "summarise", 0, "FUNCTION", "a pure function counts as one condition (repeatable)", NULL },
    { "ignore", 0, "NAME", "a variable that does not count as state (repeatable)", NULL },
    { "resume", 0, NULL, "go on with the search in the output folder", NULL },
    { "executions", 0, "N", "run at most so many events", NULL },
    { "timeout", 0, "TIME", "CPU time of one run; longer is a hang", "5s" },
    { "replay", 0, "DIR", "run one kept sequence again", NULL },
    { "no-sanitizers", 0, NULL, "without the address sanitizer", NULL },
    { 0 },
};

static const Rule rules[] = {
    { "events/failure", LEVEL_ERROR, "A sequence of events makes the program fail." },
    { "events/hang", LEVEL_ERROR, "An event is never finished." },
    { 0 },
};

static bool read_number(Session *s, const char *name, uint64_t *out, Err *err)
{
    const char *text = session_option(s, name);
    return !text || (size_parse(text, out) && *out) ||
           err_set(err, "--%s %s: no number above 0", name, text);
}

static bool read_rules(Session *s, unsigned *out, Err *err)
{
    char **all = session_option_all(s, "without");
    *out = session_flag(s, "classic") ? PRUNE_NOTHING : PRUNE_ALL;
    for (; all && *all; all++) {
        unsigned i = 0;
        while (prune_name(i) && strcmp(prune_name(i), *all) != 0)
            i++;
        if (!prune_name(i))
            return err_set(err,
                           "--without %s: no such rule (read-only, silent, never-read, dead, "
                           "state-hash, independent)",
                           *all);
        *out &= ~(1u << i);
    }
    return true;
}

/* The time is the engine's: it says which of the two ended the search. */
static bool interrupted(void *arg)
{
    (void)arg;
    return session_was_asked_to_stop();
}

static void note(void *arg, const char *text) { session_note(((Asked *)arg)->s, "%s", text); }

static bool read_summarised(Asked *a, Err *err)
{
    char **names = session_option_all(a->s, "summarise");
    for (; names && *names; names++) {
        const Function *f = program_function(a->program, *names);
        if (!f || !f->defined)
            return err_set(err, "--summarise %s: the program has no such function", *names);
        vec_push(&a->summarised, f);
    }
    vec_push(&a->summarised, NULL);
    a->plan.summarised = a->summarised.items;
    return true;
}

bool asked_open(Asked *a, const char *program, const char *loop, const char *grammar, Err *err)
{
    Session *s = a->s;
    a->program = session_open_program(s, program, err);
    if (!a->program)
        return false;
    EventsPlan *plan = &a->plan;
    *plan = (EventsPlan){ .program = a->program,
                          .libexec = session_libexec(s),
                          .share = session_share(s),
                          .no_sanitizers = session_flag(s, "no-sanitizers"),
                          .cross = session_flag(s, "cross-event"),
                          .argv = strings_argv(&a->argv),
                          .jobs = session_jobs(s),
                          .seed = session_seed(s),
                          .time = session_time_left(s, 0),
                          .ignore = session_option_all(s, "ignore"),
                          .interrupted = interrupted,
                          .note = note,
                          .arg = a };
    if (!read_summarised(a, err))
        return false;
    if (loop && grammar)
        return err_set(err, "--events: with --loop the function's parameters are the event");
    if (!loop)
        return grammar ? layout_read(grammar, a->program, &plan->layout, err)
                       : layout_guess(a->program, &plan->layout, err);
    plan->loop = program_function(a->program, loop);
    if (!plan->loop || !plan->loop->defined)
        return err_set(err, "--loop %s: the program has no such function", loop);
    if (!strcmp(plan->loop->name, "main"))
        return err_set(err, "--loop main: name the function that handles one event");
    return true;
}

static bool read_options(Asked *a, Err *err)
{
    Session *s = a->s;
    uint64_t depth = 6;
    const char *timeout = session_option(s, "timeout");
    if (!read_number(s, "depth", &depth, err) ||
        !read_number(s, "executions", &a->plan.executions, err) ||
        !read_rules(s, &a->plan.prune, err))
        return false;
    if (depth > 1000)
        return err_set(err, "--depth %s: at most 1000", session_option(s, "depth"));
    a->plan.depth = (unsigned)depth;
    return !timeout || duration_parse(timeout, &a->plan.timeout) ||
           err_set(err, "--timeout %s: no duration, such as 5s", timeout);
}

static bool search(Asked *a, Err *err)
{
    EventsResult r = { 0 };
    char *kept = path_join(a->out, "search.json");
    a->plan.kept = kept;
    a->plan.resume = session_flag(a->s, "resume");
    Progress p = progress_start("running events", 0);
    bool ok = events_search(&a->plan, &r, err);
    progress_end(&p);
    ok = ok && events_report(a, &r, err);
    events_result_release(&r);
    free(kept);
    return ok;
}

static bool run(Session *s, Err *err)
{
    size_t n, ntail;
    char **args = session_args(s, &n), **tail = session_tail(s, &ntail);
    const char *replay = session_option(s, "replay");
    if (replay)
        return n == 0 ? kept_replay(s, replay, err)
                      : err_set(err, "--replay names the program itself: leave %s out", args[0]);
    if (n != 1)
        return err_set(err,
                       n ? "one program at a time" : "which program? Usage: sundew events PROGRAM");
    Asked a = { .s = s };
    strings_add(&a.argv, args[0]);
    for (size_t i = 0; i < ntail; i++)
        strings_add(&a.argv, tail[i]);
    bool ok =
        asked_open(&a, args[0], session_option(s, "loop"), session_option(s, "events"), err) &&
        read_options(&a, err);
    if (ok) {
        const char *name = program_captured(a.program)->name;
        const char *out = session_option(s, "output");
        a.out = out ? xstrdup(out) : xprintf("%s.events", name);
        ok = session_claim(s, a.out, err) && session_begin(s, name, err) && search(&a, err);
    }
    layout_release(&a.plan.layout);
    vec_release(&a.summarised);
    strings_release(&a.argv);
    free(a.graph);
    free(a.out);
    return ok;
}

const Command technique_events = {
    .name = "events",
    .args = "PROGRAM [-- ARGUMENT…]",
    .summary = "short sequences of events that reach every branch, or a failure",
    .about =
        "For programs that wait for an event, handle it, and wait again: terminal programs, "
        "servers, state machines, firmware. Sundew gives the program one event after the other and "
        "follows the last one through the program. A solver finds events that take other ways. So "
        "all sequences are found that differ in their branches, shortest first.\n\n"
        "Sequences that can't lead anywhere new are not extended: the event changed nothing, the "
        "state was there before, or two events commute and their other order was kept. --classic "
        "extends all of them.\n\n"
        "The state of the program is its variables, the local variables of functions that wait, and "
        "the heap. The result says which premises of \"all branches within --depth events\" held.\n\n"
        "With --loop one call of a function is one event, and its parameters are what the event "
        "consists of. The state is that of the first call; if the program ends without one, it is the "
        "state at its end.",
    .examples = "sundew events ./game --depth 6\n"
                "sundew events ./firmware --loop control_step\n"
                "sundew events --replay game.events/1\n",
    .options = options,
    .rules = rules,
    .needs = NEEDS_STORE,
    .budget = true,
    .plan = events_plan,
    .run = run,
};
