/*
 * What some kinds of functions need.
 *
 *     waiters    reach pthread_cond_wait(), sem_wait() and the like. Called alone they may
 *                wait for ever, so they are not tried without the scheduler; the rule for stuck
 *                histories judges them.
 *     busy       may return an error because somebody else uses the handle: their names or
 *                their comments say so. Such an error is no violation.
 *     setups     take no handle, make none, and give nothing that is made of what they are given:
 *                lib_init(), lib_set_path("x"). So the library is all that they can be about, and
 *                two threads that call them share it. lib_hash("x") is none.
 *     pairs      lock and unlock, ref and unref: what the first does the second undoes.
 *                They stand in a thread together, never alone.
 */
#include "analysis/pointsto/calls.h"
#include "base/file.h"
#include "technique/threads/library_int.h"
#include <assert.h>
#include <ctype.h>
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

/* ------------------------------------------------------------------- busy */

/* "queue_try_take", "queueTryTake", "queue_trylock". */
static bool is_try(const char *name)
{
    for (const char *p = name; (p = strstr(p, "try")); p++)
        if (p == name || p[-1] == '_')
            return true;
    return strstr(name, "Try");
}

static bool speaks_of_others(const char *comment)
{
    static const char *const words[] = { "busy",           "in use",     "try again",
                                         "would block",    "not block",  "nonblocking",
                                         "non-blocking",   "not wait",   "never waits",
                                         "another thread", "contention", "somebody else" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(comment, words[i]))
            return true;
    return false;
}

/* Does the line before `at` belong to what follows: a comment, or the begin of a declaration? */
static bool goes_on(const char *from, const char *at)
{
    while (at > from && isspace((unsigned char)at[-1]) && at[-1] != '\n')
        at--;
    const char *line = at;
    while (line > from && line[-1] != '\n')
        line--;
    bool empty = line == at, ends = false;
    for (const char *p = line; p < at; p++)
        ends |= *p == ';' || *p == '}' || *p == '{' || *p == '#';
    return !empty && !ends;
}

/* The declaration with the comments before it and on its line, in small letters. */
static void around(const char *text, const char *at, Str *out)
{
    const char *from = at, *to = at;
    while (from > text && from[-1] != '\n')
        from--;
    while (from > text && goes_on(text, from - 1))
        for (from--; from > text && from[-1] != '\n';)
            from--;
    to += strcspn(to, ";");
    size_t line = strcspn(to, "\n");
    const char *comment = strstr(to, "/*"), *end = comment ? strstr(comment, "*/") : NULL;
    to = end && comment < to + line ? end : to + line;
    lib_flatten(from, (size_t)(to - from), out);
}

static bool is_word(const char *text, const char *at, size_t n)
{
    return (at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_')) &&
           !(isalnum((unsigned char)at[n]) || at[n] == '_');
}

static bool speaks_against_threads(const char *comment)
{
    static const char *const words[] = { "not thread-safe",    "not thread safe",
                                         "not threadsafe",     "not mt-safe",
                                         "thread-unsafe",      "not reentrant",
                                         "not re-entrant",     "before any other",
                                         "only be called once" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(comment, words[i]))
            return true;
    return false;
}

static void read_comment(Lib *l, const char *text, size_t function)
{
    const char *name = l->api->functions[function].name;
    size_t n = strlen(name);
    Str low = { 0 };
    for (const char *p = text; (p = strstr(p, name)); p += n) {
        if (!is_word(text, p, n))
            continue;
        str_reset(&low);
        around(text, p, &low);
        l->gives_up[function] |= speaks_of_others(str_c(&low));
        l->denied[function] |= speaks_against_threads(str_c(&low));
    }
    str_release(&low);
}

void lib_read_comments(Lib *l)
{
    l->gives_up = arena_array(&l->arena, bool, l->api->nfunctions + 1);
    l->denied = arena_array(&l->arena, bool, l->api->nfunctions + 1);
    for (size_t i = 0; i < l->api->nfunctions; i++)
        l->gives_up[i] = is_try(l->api->functions[i].name);
    for (char **h = session_option_all(l->s, "headers"); h && *h; h++) {
        Str text = { 0 };
        size_t n = file_read(*h, &text, NULL) ? l->api->nfunctions : 0;
        for (size_t i = 0; i < n; i++)
            read_comment(l, str_c(&text), i);
        str_release(&text);
    }
}

bool lib_gives_up(const Lib *l, const ApiFunction *f)
{
    return f->index < l->api->nfunctions && l->gives_up[f->index];
}

bool lib_is_denied(const Lib *l, const Test *t)
{
    for (unsigned k = 0; k < 2; k++)
        for (unsigned c = 0; c < t->ncalls[k]; c++)
            if (l->denied[t->calls[k][c].f->index])
                return true;
    return false;
}

/* ----------------------------------------------------------------- setups */

static bool is_known(const Type *t) { return t && type_plain(t)->kind != TYPE_VOID; }

/* Does something come out at this place? */
static bool gives(const ApiPlace *p)
{
    switch (p->role) {
    case ROLE_STRING:
    case ROLE_BUFFER:
    case ROLE_CALLBACK:
    case ROLE_USER_DATA: return false;
    case ROLE_RECORD: return !p->is_const && type_plain(p->type)->kind == TYPE_POINTER;
    case ROLE_POINTER: return !p->is_const && is_known(type_plain(p->type)->target);
    default: return p->type && type_plain(p->type)->kind == TYPE_POINTER;
    }
}

static bool is_pointer_or_struct(const Type *t)
{
    TypeKind kind = t ? type_plain(t)->kind : TYPE_VOID;
    return kind == TYPE_POINTER || kind == TYPE_STRUCT || kind == TYPE_UNION;
}

static bool sets_up(Lib *l, const ApiFunction *f)
{
    bool more = f->takes_handle || is_pointer_or_struct(f->fn->returns);
    for (unsigned i = 0; i < f->nparams; i++)
        more |= gives(&f->params[i]);
    return !more && !effects_answers(l->effects, f->fn);
}

void lib_find_setups(Lib *l)
{
    l->sets_up = arena_array(&l->arena, bool, l->api->nfunctions + 1);
    for (size_t i = 0; i < l->api->nfunctions; i++)
        l->sets_up[i] = sets_up(l, &l->api->functions[i]);
}

bool lib_sets_up(const Lib *l, const ApiFunction *f)
{
    return f->index < l->api->nfunctions && l->sets_up[f->index];
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
