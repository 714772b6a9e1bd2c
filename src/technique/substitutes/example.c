/*
 * What an example does with the interface: its calls are the first tests, its values good
 * arguments, and half of the tests follow its order of calls.
 *
 * The example runs with the candidate if that was captured, else with the reference. A program
 * that uses the reference of a table calls other functions than the candidate's: then
 * only the values in the same slots are taken.
 */
#include "base/escape.h"
#include "base/tempdir.h"
#include "engine/usage/example.h"
#include "technique/substitutes/substitutes_int.h"

static bool is_stopped(void *session) { return session_interrupted(session); }

static void say_end(Session *s, RunResult *how)
{
    Str text = { 0 }, shown = { 0 };
    if (failure_is(&how->failure))
        failure_describe(&how->failure, &text);
    escape_terminal_z(&shown, str_c(&text));
    if (shown.len)
        session_note(s, "the example ended with %s; its calls before that count", str_c(&shown));
    str_release(&text);
    str_release(&shown);
    run_result_release(how);
}

/* Recorded with one side, learned for an API. */
static Usage *learn(Pair *p, SideOf with, Api *api, Err *err)
{
    Session *s = p->all->s;
    const Side *side = &p->side[with];
    UsageExample x = { .api = side->api,
                       .library = side->program,
                       .libexec = session_libexec(s),
                       .root = session_root(s),
                       .stop = is_stopped,
                       .arg = s };
    Err none = { 0 };
    RunResult how = { 0 };
    x.words = session_tail(s, &x.nwords);
    x.scratch = tempdir_new(NULL, err);
    if (!x.scratch)
        return NULL;
    const Program *client = session_open_program(s, x.words[0], &none);
    x.program = client && usage_is_linked_into(x.api, client) ? client : NULL;
    Trace *t = usage_record(&x, &how, err);
    say_end(s, &how);
    Usage *u = t ? usage_infer(api, &t, 1, &(UsagePlan){ .root = session_root(s) }, err) : NULL;
    trace_close(t);
    tempdir_remove(x.scratch);
    return u;
}

static size_t calls_in(const Usage *u)
{
    size_t n, calls = 0;
    const UsageFunction *all = usage_functions(u, &n);
    for (size_t i = 0; i < n; i++)
        calls += all[i].calls;
    return calls;
}

/* Before the calls are mapped: the API may get functions for shapes of variadic calls. */
bool pair_learn_example(Pair *p, Err *err)
{
    Session *s = p->all->s;
    size_t n;
    SideOf with = p->side[SIDE_CANDIDATE].own ? SIDE_REFERENCE : SIDE_CANDIDATE;
    if (!session_has_tail(s))
        return true;
    session_tail(s, &n);
    if (!n)
        return err_set(err, "which example? Name a command after --");
    if (p->side[with].own) {
        session_note(s, "neither library was captured, so the example is not used");
        return true;
    }
    p->usage = learn(p, with, p->side[SIDE_CANDIDATE].api, err);
    if (p->usage && !calls_in(p->usage) && p->side[with].impl)
        p->client = learn(p, SIDE_REFERENCE, p->side[SIDE_REFERENCE].api, err);
    const Usage *seen = p->client ? p->client : p->usage;
    if (seen && !calls_in(seen))
        session_note(s, "the example calls nothing of %s", p->side[SIDE_CANDIDATE].name);
    return p->usage && (!p->side[with].impl || calls_in(p->usage) || p->client);
}

/* Slots stand in the same order on both sides. */
static void take_values(Pair *p, const Usage *u, const Api *of)
{
    const Api *cand = p->side[SIDE_CANDIDATE].api;
    for (size_t i = 0; i < of->nfunctions && i < cand->nfunctions; i++) {
        const ApiFunction *f = &cand->functions[i];
        if (of != cand && p->calls[i].to != &of->functions[i])
            continue;
        for (unsigned k = 0; k < f->nparams; k++) {
            const UsageValues *v = usage_values(u, &of->functions[i], k);
            for (size_t m = 0; v && m < v->n; m++)
                pool_add(p->pool, f, k, &v->values[m]);
        }
    }
}

void pair_use_example(Pair *p)
{
    if (p->client)
        take_values(p, p->client, p->side[SIDE_REFERENCE].api);
    if (!p->usage || !calls_in(p->usage))
        return;
    take_values(p, p->usage, p->side[SIDE_CANDIDATE].api);
    usage_teach_ownership(p->usage, p->ownership);
    p->grow.usage = p->usage;
}
