/*
 * What two kinds of functions need.
 *
 *     waiters    reach pthread_cond_wait(), sem_wait() and the like. Called alone they may
 *                wait for ever, so they are not tried without the scheduler; the rule for stuck
 *                histories judges them.
 *     pairs      lock and unlock, ref and unref: what the first does the second undoes.
 *                They stand in a thread together, never alone.
 */
#include "analysis/pointsto/calls.h"
#include "technique/threads/library_int.h"
#include <assert.h>
#include <string.h>

/* ---------------------------------------------------------------- waiters */

static bool is_wait(const char *name)
{
    static const char *const names[] = { "pthread_cond_wait", "pthread_cond_clockwait", "cnd_wait",
                                         "sem_wait", "pthread_barrier_wait" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static bool reaches_wait(const Calls *calls, const Function *fn, Map *seen)
{
    size_t n;
    if (!map_put(seen, fn->name, NULL))
        return false;
    if (is_wait(fn->name))
        return true;
    const Function *const *callees = calls_callees(calls, fn, &n);
    for (size_t i = 0; i < n; i++)
        if (reaches_wait(calls, callees[i], seen))
            return true;
    return false;
}

void lib_find_waiters(Lib *l)
{
    l->waits = arena_array(&l->arena, bool, l->api->nfunctions + 1);
    for (size_t i = 0; i < l->api->nfunctions; i++) {
        Map seen = { 0 };
        l->waits[i] = reaches_wait(session_calls(l->s), l->api->functions[i].fn, &seen);
        map_release(&seen);
    }
}

bool lib_waits(const Lib *l, const ApiFunction *f)
{
    return f->index < l->api->nfunctions && l->waits[f->index];
}

/* ------------------------------------------------------------------ pairs */

/* Some words mean it only if the handle is all that the functions want: a table has
 * get and put, too. */
static const struct words {
    const char *first, *second;
    bool alone;
} words[] = {
    { "lock", "unlock", false },    { "ref", "unref", false },      { "acquire", "release", false },
    { "retain", "release", false }, { "addref", "release", false }, { "incref", "decref", false },
    { "enter", "leave", false },    { "hold", "unhold", false },    { "get", "put", true },
};

/* The handle's place in both; -1: they do not use the same type. */
static int common_place(const ApiFunction *f, const ApiFunction *g, const ApiType *t)
{
    for (unsigned i = 0; t && i < f->nparams && i < g->nparams; i++)
        if (f->params[i].handle == t && g->params[i].handle == t &&
            f->params[i].role == ROLE_HANDLE && g->params[i].role == ROLE_HANDLE)
            return (int)i;
    return -1;
}

/* The name with one of its words exchanged: "db_ref" becomes "db_unref". */
static const ApiFunction *partner(const Api *api, const ApiFunction *f, const struct words *w)
{
    const char *name = f->name, *at = NULL;
    size_t n = strlen(w->first);
    for (const char *p = name; (p = strstr(p, w->first)); p++)
        if ((p == name || p[-1] == '_') && (!p[n] || p[n] == '_'))
            at = p;
    if (!at)
        return NULL;
    Str other = { 0 };
    str_addn(&other, name, (size_t)(at - name));
    str_add(&other, w->second);
    str_add(&other, at + n);
    const ApiFunction *g = api_function(api, str_c(&other));
    str_release(&other);
    return g;
}

bool lib_partner(const Lib *l, const ApiFunction *f, const ApiType *t, Balanced *out)
{
    for (size_t i = 0; t && i < sizeof words / sizeof *words; i++) {
        const ApiFunction *g = partner(l->api, f, &words[i]);
        int place = g && g != f && !g->not_callable && !g->variadic ? common_place(f, g, t) : -1;
        if (place < 0 || (words[i].alone && (f->nparams != 1 || g->nparams != 1)))
            continue;
        *out = (Balanced){ f, g, (unsigned)place };
        return true;
    }
    return false;
}
