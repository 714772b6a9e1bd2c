/* sundew show usage: how an API was used in recorded runs. */
#include "base/file.h"
#include "base/json.h"
#include "capture/capture.h"
#include "command/command_rows.h"
#include "engine/record/trace.h"
#include "engine/api/api.h"
#include "engine/usage/usage.h"
#include "analysis/mutability/facts.h"
#include "session/session.h"
#include <stdlib.h>
#include <string.h>

/* All that a usage is made of. */
typedef struct Inputs {
    const Program *example;         /* whose traces; without --example the library */
    MutFacts *facts;
    Vec(Trace *) traces;
} Inputs;

static void inputs_release(Inputs *in)
{
    for (size_t i = 0; i < in->traces.len; i++)
        trace_close(in->traces.items[i]);
    vec_release(&in->traces);
    mut_facts_close(in->facts);
}

static bool add_trace(Inputs *in, const char *folder, Err *err)
{
    Trace *t = trace_open(folder, in->example, err);
    if (t)
        vec_push(&in->traces, t);
    return t;
}

/* Those that were named; else all of the workspace that are of the example. */
static bool open_traces(Session *s, Inputs *in, Err *err)
{
    char **named = session_option_all(s, "trace");
    char *all = path_join(workspace_dir(session_workspace(s)), "traces");
    Strings names = { 0 };
    bool ok = true;

    for (char **t = named; ok && t && *t; t++)
        ok = add_trace(in, *t, err);
    if ((!named || !*named) && file_is_dir(all) && dir_list(all, &names, NULL))
        for (size_t i = 0; i < names.len; i++) {
            char *folder = path_join(all, names.items[i]);
            add_trace(in, folder, NULL);
            free(folder);
        }
    strings_release(&names);
    free(all);
    if (ok && !in->traces.len)
        ok = err_set(err, "there is no trace of it yet: sundew record %s makes one",
                     session_option(s, "example") ? session_option(s, "example") : "PROGRAM");
    return ok;
}

static bool inputs_open(Session *s, Inputs *in, Err *err)
{
    const char *example = session_option(s, "example");

    in->example = example ? session_open_program(s, example, err) : session_program(s);
    in->facts = in->example ? mut_facts_open(session_program(s)) : NULL;
    return in->example && open_traces(s, in, err);
}

static void show(Session *s, const Usage *m)
{
    size_t n;
    char *const *notes = usage_notes(m, &n);

    for (size_t i = 0; i < n; i++)
        session_note(s, "%s", notes[i]);
    if (session_flag(s, "json")) {
        json_t *j = usage_json(m);
        json_print(j, session_out(s));
        json_decref(j);
    } else if (session_flag(s, "dot")) {
        usage_dot(m, session_out(s));
    } else {
        usage_dump(m, session_out(s));
    }
}

static bool run_show_usage(Session *s, Err *err)
{
    Inputs in = { 0 };
    bool ok = inputs_open(s, &in, err);
    Usage *m = NULL;

    if (ok) {
        UsagePlan plan = { .facts = in.facts, .rules = session_option(s, "rules") };
        if (!in.facts)
            session_note(s, "without the results of sundew mutability every call counts as a "
                            "change");
        m = usage_infer(session_api(s), in.traces.items, in.traces.len, &plan, err);
    }
    if (m)
        show(s, m);
    usage_free(m);
    inputs_release(&in);
    return m;
}

static const Option usage_options[] = {
    { "headers", 0, "FILE",
      "the API is what these declare; may be repeated. Otherwise all "
      "external functions",
      NULL },
    { "example", 0, "PROGRAM", "the traces are of this program, which uses the library", NULL },
    { "trace", 0, "DIR", "a trace; may be repeated. Otherwise all of the workspace", NULL },
    { "rules", 0, "FILE", "calls to forbid, to require, to weight", NULL },
    { "dot", 0, NULL, "as a picture for Graphviz", NULL },
    { 0 },
};

const Command command_show_usage = {
    .name = "show model",
    .args = "LIBRARY",
    .summary = "how an API was used in recorded runs",
    .about =
        "For each handle type of the library a graph of the calls that were made on its objects, "
        "with the values of their arguments: what sundew regress follows. Below it, what "
        "held between the arguments of a call (a length and its buffer, handles that belong "
        "together) and between objects (which was made from which, which is closed first).\n"
        "\n"
        "Record runs of a program that uses the library first. Calls that leave an object as it "
        "is are set aside if sundew mutability has looked at the library.",
    .examples = "sundew record ./example\n"
                "sundew show model libfoo.a --headers foo.h --example ./example\n"
                "sundew show model libfoo.a --example ./example --dot | dot -Tsvg -o model.svg\n",
    .options = usage_options,
    .needs = NEEDS_CAPTURE | NEEDS_API,
    .run = run_show_usage,
};
