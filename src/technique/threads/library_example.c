/*
 * What an example does with the library: its calls are good prefixes, its values good
 * arguments. A prefix made so is a replay of the example, cut off where an object of the
 * type is there.
 */
#include "base/escape.h"
#include "base/tempdir.h"
#include "engine/usage/example.h"
#include "technique/threads/library_int.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool is_stopped(void *session) { return session_interrupted(session); }

/* The captured program that the words after "--" run, if the library is in it. */
static const Program *program_of(Lib *l, const char *word)
{
    Err none = { 0 };
    const Program *p = session_open_program(l->s, word, &none);
    return p && usage_is_linked_into(l->api, p) ? p : NULL;
}

static void say_end(Lib *l, RunResult *how)
{
    Str text = { 0 }, shown = { 0 };
    if (failure_is(&how->failure))
        failure_describe(&how->failure, &text);
    escape_terminal_z(&shown, str_c(&text));
    if (shown.len)
        session_note(l->s, "the example ended with %s; its calls before that count", str_c(&shown));
    str_release(&text);
    str_release(&shown);
    run_result_release(how);
}

/* Before the pool is made: the API may get functions for shapes of variadic calls. */
bool lib_learn_example(Lib *l, Err *err)
{
    UsageExample x = { .api = l->api,
                       .library = l->program,
                       .libexec = session_libexec(l->s),
                       .root = session_root(l->s),
                       .stop = is_stopped,
                       .arg = l->s };
    if (!session_has_tail(l->s))
        return true;
    x.words = session_tail(l->s, &x.nwords);
    if (!x.nwords)
        return err_set(err, "which example? Name a command after --");
    x.scratch = tempdir_new(NULL, err);
    if (!x.scratch)
        return false;
    x.program = program_of(l, x.words[0]);
    RunResult how = { 0 };
    Trace *t = usage_record(&x, &how, err);
    say_end(l, &how);
    l->usage =
        t ? usage_infer(l->api, &t, 1, &(UsagePlan){ .root = session_root(l->s) }, err) : NULL;
    if (l->usage)
        l->files = usage_files(l->usage, &l->nfiles);
    trace_close(t);
    tempdir_remove(x.scratch);
    return l->usage != NULL;
}

void lib_use_example(Lib *l)
{
    if (!l->usage)
        return;
    for (size_t i = 0; i < l->api->nfunctions; i++) {
        ApiFunction *f = &l->api->functions[i];
        for (unsigned k = 0; k < f->nparams; k++) {
            const UsageValues *v = usage_values(l->usage, f, k);
            for (size_t m = 0; v && m < v->n; m++)
                pool_add(l->pool, f, k, &v->values[m]);
        }
    }
    usage_teach_ownership(l->usage, l->ownership);
    l->grow.usage = l->usage;
}

/* A replay, cut off somewhere. NULL: no handle of the type is there, or a call may wait. */
Seq *lib_example_prefix(Lib *l, Arena *a, const ApiType *type, unsigned most)
{
    size_t n;
    Seq *const *all = l->usage ? usage_replays(l->usage, &n) : NULL;
    if (!all || !n)
        return NULL;
    const Seq *replay = all[rng_below(&l->rng, n)];
    unsigned length = replay->n < most ? replay->n : most;
    if (!length)
        return NULL;
    Seq *s = seq_prefix(a, replay, 1 + (unsigned)rng_below(&l->rng, length));
    SeqHandles handles = { 0 };
    bool there = !type;
    seq_handles(s, l->ownership, &handles);
    for (size_t i = 0; i < handles.len; i++)
        there |= handles.items[i].type == type;
    for (unsigned i = 0; i < s->n; i++)
        there &= !s->steps[i].f || !lib_waits(l, s->steps[i].f);
    vec_release(&handles);
    return there ? seq_copy(a, s) : NULL;
}
