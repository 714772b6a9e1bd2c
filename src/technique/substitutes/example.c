/*
 * What an example does with the interface: its calls are the first tests, its values good
 * arguments, and half of the tests follow its order of calls.
 *
 * The example runs with the candidate if that was captured, else with the reference. A program
 * that uses the reference of a table calls other functions than the candidate's: then
 * only the values in the same slots are taken.
 */
#include "engine/usage/example.h"
#include "technique/substitutes/substitutes_int.h"
#include <stdlib.h>
#include <string.h>

static bool is_stopped(void *session) { return session_interrupted(session); }

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
    char *end;
    x.words = session_tail(s, &x.nwords);
    for (size_t i = 0; i < x.nwords; i++)
        if (strcmp(x.words[i], "@@") == 0)
            x.corpus = session_option(s, "corpus");
    const Program *client = session_open_program(s, x.words[0], &none);
    x.program = client && usage_is_linked_into(x.api, client) ? client : NULL;
    Usage *u = usage_learn(&x, api, &end, err);
    if (end)
        session_note(s, "the example ended with %s; its calls before that count", end);
    free(end);
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
    for (size_t i = 0; i < of->nfunctions && i < cand->nfunctions; i++)
        if (of == cand || p->calls[i].to == &of->functions[i])
            usage_give_values(u, &of->functions[i], &cand->functions[i], p->pool);
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
