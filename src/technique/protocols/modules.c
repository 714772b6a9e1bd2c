/*
 * Tests of the program's own functions, grown towards the API.
 *
 * The program becomes a library with probes. The sequence engine calls its functions; those
 * that lead to the API are called more often (engine/protocol/guide.h). A test may call the
 * API itself, to have what a function needs; these calls are not seen. Sequences that reach something new are kept and executed
 * once more, alone, to see their calls; those that went well teach. Sequences that
 * died are executed once more, watched, and held against what was learned.
 *
 * A test may misuse the module. Discarded: a test that uses a handle which it has given back,
 * and one whose last call passes NULL, unless the API itself complains.
 */
#include "base/escape.h"
#include "base/file.h"
#include "base/progress.h"
#include "base/tempdir.h"
#include "build/library.h"
#include "engine/generate/generate.h"
#include "engine/protocol/guide.h"
#include "engine/suite/write.h"
#include "runtime/format/callfile.h"
#include "technique/protocols/protocols_int.h"
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_KEPT = 400, MOST_FAILURES = 120, SAME_FAILURE = 3, FUNCTIONS_CALLS = 100000 };

/* A sequence that is looked at again. */
typedef struct Tried {
    Seq *seq;
    Outcome out;
    uint64_t number;             /* of sequences that were executed before it */
} Tried;

typedef struct Modules {
    Client *client;
    Api *api;
    Pool *pool;
    Ownership *ownership;
    Exec *exec;
    GrowPlan grow;
    double *priority;            /* by index of the API's function; NULL: not guided */
    char *folder;                /* where calls are written */
    Map failures;                /* how often one of a kind was kept */
    Vec(Tried) kept, failed;
    uint64_t done, before;       /* sequences; at the end of the last round */
    bool grows;                  /* sequences are made, so that the time ends them */
    Arena arena;
} Modules;

/* --------------------------------------------------------------- guidance */

static bool is_api(const Client *st, const char *name)
{
    for (size_t i = 0; i < st->callees.len; i++)
        if (!strcmp(st->callees.items[i].name, name))
            return true;
    return false;
}

/* What is inside of the API is not for tests; functions of the API itself are, to make what
 * the program's functions need: nobody learns from such calls. */
static bool may_call(const Modules *m, const Function *fn)
{
    return is_api(m->client, fn->name) || !client_is_inside(m->client, fn);
}

typedef Vec(unsigned) Numbers;

static void find_types(const ApiFunction *f, Numbers *needs, Numbers *gives)
{
    for (int i = API_RETURNED; i < (int)f->nparams; i++) {
        const ApiPlace *p = api_place(f, i);
        if (!p->handle)
            continue;
        if (p->use == USE_CREATES || p->use == USE_BORROWS || p->role == ROLE_STORAGE)
            vec_push(gives, p->handle->index);
        else
            vec_push(needs, p->handle->index);
    }
}

static const unsigned *keep(Modules *m, const Numbers *n)
{
    unsigned *own = arena_array(&m->arena, unsigned, n->len + 1);
    for (size_t i = 0; i < n->len; i++)
        own[i] = n->items[i];
    return own;
}

static void describe(Modules *m, const Function *fn, Map *index, GuideFunction *out)
{
    Numbers calls = { 0 }, needs = { 0 }, gives = { 0 };
    const ApiFunction *f = api_of(m->api, fn);
    for (unsigned i = 0; i < fn->ncallees; i++)
        vec_push(&calls, (unsigned)(uintptr_t)map_get(index, fn->callees[i]->symbol));
    if (f)
        find_types(f, &needs, &gives);
    *out = (GuideFunction){ .api = is_api(m->client, fn->name),
                            .callable = f && !f->not_callable && may_call(m, fn) };
    out->calls = keep(m, &calls);
    out->ncalls = calls.len;
    out->needs = keep(m, &needs);
    out->nneeds = needs.len;
    out->gives = keep(m, &gives);
    out->ngives = gives.len;
    vec_release(&calls);
    vec_release(&needs);
    vec_release(&gives);
}

static void find_priorities(Modules *m)
{
    size_t n;
    const Function *const *fns = program_functions(m->client->program, &n);
    GuideFunction *all = arena_array(&m->arena, GuideFunction, n + 1);
    double *p = arena_array(&m->arena, double, n + 1), most = 0;
    Map index = { 0 };
    for (size_t i = 0; i < n; i++)
        map_put(&index, fns[i]->symbol, (void *)(uintptr_t)i);
    for (size_t i = 0; i < n; i++)
        describe(m, fns[i], &index, &all[i]);
    guide_priorities(all, n, m->api->ntypes, p);
    m->priority = arena_array(&m->arena, double, m->api->nfunctions + 1);
    for (size_t i = 0; i < n; i++)
        most = p[i] > most ? p[i] : most;
    for (size_t i = 0; i < n; i++) {
        const ApiFunction *f = api_of(m->api, fns[i]);
        m->client->generation.reaching += p[i] > 0;
        if (f && most > 0)
            m->priority[f->index] = p[i] / most;
    }
    map_release(&index);
}

static double weight(const ApiFunction *f, void *modules)
{
    const Modules *m = modules;
    if (!may_call(m, f->fn))
        return 0;
    double p = m->priority[api_plain(f)->index];
    return session_flag(m->client->session, "unguided") ? 1 : p > 0 && p < 0.02 ? 0.02 : p;
}

/* ---------------------------------------------------------------- growing */

static bool has_calls(const char *path)
{
    SundewCallsHeader h = { 0 };
    int fd = file_open_regular(path, false, NULL);     /* the library may have left anything */
    bool has = fd >= 0 && read(fd, &h, sizeof h) == sizeof h && h.count;
    if (fd >= 0)
        close(fd);
    return has;
}

static int by_process(const void *a, const void *b)
{
    long x = strtol(*(char *const *)a, NULL, 10), y = strtol(*(char *const *)b, NULL, 10);
    return (x > y) - (x < y);
}

/* Removes files of earlier sequences; which of them, in the order of processes, was the first
 * with a call of the API? 0: none. */
static size_t empty_folder(Modules *m, size_t *n)
{
    Strings names = { 0 };
    size_t first = 0;
    dir_list(m->folder, &names, NULL);
    if (names.len)
        qsort(names.items, names.len, sizeof *names.items, by_process);
    for (size_t i = 0; i < names.len; i++) {
        char *path = path_join(m->folder, names.items[i]);
        if (!first && !m->client->generation.first_call && str_ends(path, ".calls") &&
            has_calls(path))
            first = i + 1;
        unlink(path);
        free(path);
    }
    *n = names.len;
    strings_release(&names);
    return first;
}

static bool round_ends(Generator *g, void *modules, Err *err)
{
    Modules *m = modules;
    (void)g;
    (void)err;
    size_t files, first = empty_folder(m, &files);
    if (first)
        m->client->generation.first_call = m->before + (m->done - m->before) * first / files;
    m->before = m->done;
    return true;
}

static bool is_failure(const Outcome *o)
{
    return o->state == OUTCOME_DIED || o->state == OUTCOME_TIMEOUT ||
           (o->state == OUTCOME_EXITED && o->status == 99);      /* the sanitizer */
}

static void note_failure(Modules *m, const Seq *s, const Outcome *o)
{
    char *key = xprintf("%s %d %d %d", s->steps[o->at].f ? s->steps[o->at].f->fn->symbol : "",
                        (int)o->state, o->signal, o->status);
    void **slot = map_slot(&m->failures, key);
    free(key);
    if ((uintptr_t)*slot >= SAME_FAILURE || m->failed.len == MOST_FAILURES)
        return;
    *slot = (void *)((uintptr_t)*slot + 1);
    Seq *own = seq_prefix(&m->arena, seq_copy(&m->arena, s), o->at + 1);
    vec_push(&m->failed, ((Tried){ .seq = own,
                                   .out = { .at = o->at, .state = o->state, .signal = o->signal },
                                   .number = m->done }));
}

static SequenceVerdict judge(Generator *g, Seq *seq, const Outcome *out, void *modules)
{
    Modules *m = modules;
    (void)g;
    m->done++;
    if (is_failure(out) && out->at < seq->n)
        note_failure(m, seq, out);
    if (out->state != OUTCOME_DONE || !out->nfresh)
        return SEQUENCE_DROP;
    if (m->kept.len < MOST_KEPT)
        vec_push(&m->kept, ((Tried){ .seq = seq_copy(&m->arena, seq), .number = m->done }));
    return SEQUENCE_KEEP;
}

static bool is_stopped(void *modules)
{
    return session_interrupted(((Modules *)modules)->client->session);
}

/* What was found is looked at again when the time is over, too. */
static bool is_growth_over(void *modules)
{
    return ((Modules *)modules)->grows && is_stopped(modules);
}

static bool grow(Modules *m, Err *err)
{
    Client *st = m->client;
    Generated made = { 0 };
    SequencePlan plan = { .grow = &m->grow,
                          .exec = m->exec,
                          .most_steps = 12,
                          .weight = weight,
                          .universal_share = 1,
                          .seconds = session_time(st->session),
                          .count = strtoull(session_option(st->session, "count"), NULL, 10),
                          .stop = is_stopped,
                          .round_ends = round_ends };
    Progress p = progress_start("tests towards the API", 0);
    m->grows = true;
    bool ok = generate_sequences(&plan, judge, m, &made, err);
    m->grows = false;
    progress_end(&p);
    st->generation.sequences = made.sequences;
    st->generation.died = made.died + made.exited;
    st->generation.kept = m->kept.len;
    return ok;
}

/* ----------------------------------------------------------- looking again */

/* The run of the process that made most calls; the caller frees it. */
static ProtoRun *take_run(Modules *m, Err *err)
{
    ProtoRuns runs = { 0 };
    ProtoRun *best = NULL;
    size_t n;
    if (client_read(m->client, &m->client->module, m->folder, &runs, err))
        for (size_t i = 0; i < runs.len; i++)
            if (runs.items[i]->calls.len && (!best || runs.items[i]->calls.len > best->calls.len))
                best = runs.items[i];
    for (size_t i = 0; i < runs.len; i++)
        if (runs.items[i] != best)
            proto_run_free(runs.items[i]);
    vec_release(&runs);
    empty_folder(m, &n);
    return best;
}

static bool is_pending(const ProtoRun *r)
{
    for (size_t i = 0; i < r->calls.len; i++)
        if (!r->calls.items[i].returned)
            return true;
    return false;
}

static bool run_again(Modules *m, const Seq *s, ProtoRun **out, Err *err)
{
    Arena a = { 0 };
    ExecJob job = { .seq = s };
    Outcome o;
    Err none = { 0 };
    size_t n;
    empty_folder(m, &n);
    bool ok = exec_run(m->exec, &a, &job, 1, &o, err);
    *out = ok ? take_run(m, &none) : NULL;
    arena_release(&a);
    return ok;
}

/* How it died, from the sanitizer's or the kernel's point of view; its own handler may have
 * seen that already. */
static void take_failure(ProtoRun *r, const Failure *f)
{
    if (r->end == PROTO_DIED && r->frames.len)
        return;
    r->end = PROTO_DIED;
    r->signal = f->kind == FAILURE_SANITIZER || f->kind == FAILURE_ASSERTION ? SIGABRT : f->signal;
    if (f->kind == FAILURE_SANITIZER && f->what) {
        free(r->said);
        r->said = xstrdup(f->what);
        if (!strcmp(f->what, "SEGV"))
            r->signal = SIGSEGV;
    }
    for (size_t i = 0; i < r->frames.len; i++) {
        free(r->frames.items[i].module);
        free(r->frames.items[i].function);
    }
    r->frames.len = 0;
    for (size_t i = 0; i < f->nframes; i++)
        vec_push(&r->frames,
                 ((ProtoFrame){
                     .function = f->frames[i].function ? xstrdup(f->frames[i].function) : NULL,
                     .module = f->frames[i].module ? xstrdup(f->frames[i].module) : NULL }));
    long last = -1;
    for (size_t i = 0; i < r->calls.len; i++)
        if (!r->calls.items[i].returned)
            last = (long)i;
    if (last >= 0)
        r->thread = r->calls.items[last].thread;
}

static bool run_watched(Modules *m, const Tried *t, ProtoRun **out, Err *err)
{
    Failure f = { 0 };
    Err none = { 0 };
    if (t->out.state == OUTCOME_TIMEOUT)
        return run_again(m, t->seq, out, err);
    size_t n;
    empty_folder(m, &n);
    bool ok = exec_failure(m->exec, &(ExecJob){ .seq = t->seq }, &f, err);
    *out = ok ? take_run(m, &none) : NULL;
    if (*out && !failure_is_late(&f))
        take_failure(*out, &f);
    failure_release(&f);
    return ok;
}

/* ------------------------------------------------------- the test's own fault */

static bool uses_what_is_gone(const Modules *m, const Seq *s)
{
    for (unsigned i = 0; i < s->n; i++)
        for (unsigned k = 0; s->steps[i].f && k < s->steps[i].nargs; k++) {
            ApiUse use = ownership_use(m->ownership, s->steps[i].f, (int)k);
            const SeqValue *v = &s->steps[i].args[k];
            if ((use != USE_CONSUMES && use != USE_FINISHES) || !value_is_made(v))
                continue;
            for (unsigned later = i + 1; later < s->n; later++)
                for (unsigned n = 0; n < s->steps[later].nargs; n++)
                    if (value_equal(v, &s->steps[later].args[n]))
                        return true;
        }
    return false;
}

static bool passes_nothing(const SeqStep *st)
{
    for (unsigned i = 0; i < st->nargs; i++)
        if (st->args[i].kind == VALUE_NULL)
            return true;
    return false;
}

static bool is_own_fault(const Modules *m, const Tried *t, const ProtoRun *r)
{
    assert(t->seq->n > 0);
    return uses_what_is_gone(m, t->seq) || (r->end == PROTO_DIED && r->signal != SIGABRT &&
                                            passes_nothing(&t->seq->steps[t->seq->n - 1]));
}

/* ------------------------------------------------------------------- tests */

/* The headers that a source includes; each once. */
static void add_includes(const char *file, Map *known, Str *out)
{
    Str text = { 0 };
    if (file_read(file, &text, NULL))
        for (const char *at = str_c(&text); (at = strstr(at, "#include ")); at++) {
            char *line = xstrndup(at, strcspn(at, "\r\n"));
            if (map_put(known, line, known))
                str_addf(out, "%s\n", line);
            free(line);
        }
    str_release(&text);
}

static void write_head(const Modules *m, const Seq *s, Str *out)
{
    char **headers = session_option_all(m->client->session, "headers");
    Map known = { 0 };
    str_add(out,
            "/* Breaks the protocol of an API inside of the program; made by sundew protocols.\n"
            " * Link it with the program's objects. */\n#include <string.h>\n");
    for (char **h = headers; h && *h; h++) {
        str_add(out, "#include ");
        escape_c_include(out, path_base(*h));
        str_addc(out, '\n');
    }
    map_put(&known, "#include <string.h>", &known);
    for (unsigned i = 0; i < s->n && !(headers && *headers); i++)
        if (s->steps[i].f && *s->steps[i].f->fn->file)
            add_includes(s->steps[i].f->fn->file, &known, out);
    map_release(&known);
}

static char *write_c(const Modules *m, const Seq *s)
{
    Arena a = { 0 };
    WriteFile file = { 0 };
    Str body = { 0 }, out = { 0 };
    size_t assertions = 0;
    SeqTest t = { .seq = seq_copy(&a, s), .out = { .state = OUTCOME_DIED, .at = s->n - 1 } };
    write_test(&file, &t, &body, &assertions);
    write_head(m, s, &out);
    str_addf(&out, "%s\nint main(void)\n{\n", str_c(&file.stubs));
    for (const char *at = str_c(&body); *at;) {
        size_t n = strcspn(at, "\n");
        str_addf(&out, "    %.*s\n", (int)n, at);
        at += n + (at[n] == '\n');
    }
    str_add(&out, "    return 0;\n}\n");
    write_release(&file);
    str_release(&body);
    arena_release(&a);
    return str_take(&out);
}

/* The same violation with fewer steps. */
static bool shows(Modules *m, const Seq *s, const Violation *v, Err *err)
{
    Client probe = *m->client;
    ProtoRun *r = NULL;
    Tried t = { .seq = (Seq *)s,
                .out = { .state = v->kind == BROKEN_HANG ? OUTCOME_TIMEOUT : OUTCOME_DIED } };
    bool same = false;
    memset(&probe.found, 0, sizeof probe.found);
    if (!(v->kind == BROKEN_CODE ? run_again(m, s, &r, err) : run_watched(m, &t, &r, err)) || !r)
        return false;
    if (v->kind == BROKEN_CODE)
        r->end = PROTO_CUT_SHORT;
    client_judge_run(&probe, v->build, r);
    for (size_t i = 0; i < probe.found.len; i++)
        same |= probe.found.items[i].site == v->site && probe.found.items[i].kind == v->kind;
    vec_release(&probe.found);
    proto_run_free(r);
    return same;
}

static const Seq *minimise(Modules *m, const Seq *s, const Violation *v)
{
    Err none = { 0 };
    for (unsigned i = s->n - 1; i-- > 0;) {
        Seq *shorter = i < s->n - 1 ? seq_without(&m->arena, s, i) : NULL;
        if (shorter && shorter->n && shows(m, shorter, v, &none))
            s = shorter;
        if (i > s->n - 1)
            i = s->n - 1;
    }
    return s;
}

/* What a run shows becomes a violation with a test; the run stays as its evidence. */
static bool look(Modules *m, const Tried *t, ProtoRun *r)
{
    Client *st = m->client;
    bool hung = st->hung;
    st->hung = t->out.state == OUTCOME_TIMEOUT;
    size_t n = is_own_fault(m, t, r) ? 0 : client_judge_run(st, &st->module, r);
    st->hung = hung;
    for (size_t i = st->found.len - n; i < st->found.len; i++) {
        Violation *v = &st->found.items[i];
        v->test = write_c(m, minimise(m, t->seq, v));
        if (!st->generation.first_violation || t->number < st->generation.first_violation)
            st->generation.first_violation = t->number;
    }
    return n > 0;
}

static bool look_at_failures(Modules *m, Err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < m->failed.len && !is_stopped(m); i++) {
        ProtoRun *r = NULL;
        ok = run_watched(m, &m->failed.items[i], &r, err);
        if (r && look(m, &m->failed.items[i], r))
            vec_push(&m->client->tests, r);
        else
            proto_run_free(r);
    }
    return ok;
}

/* Sequences that went well, as far as their calls have come back. */
static bool learn(Modules *m, ProtoRuns *good, Err *err)
{
    Client *st = m->client;
    bool ok = true;
    for (size_t i = 0; ok && i < m->kept.len && !is_stopped(m); i++) {
        ProtoRun *r = NULL;
        ok = run_again(m, m->kept.items[i].seq, &r, err);
        if (r && (r->end == PROTO_DIED || is_pending(r))) {
            proto_run_free(r);
            r = NULL;
        }
        vec_push(good, r);               /* NULL: it called nothing */
        if (r)
            r->end = PROTO_ENDED;
        if (r && client_is_good(st, r)) {
            protocols_mine(st->protocols, r);
            st->good++;
        }
    }
    return ok;
}

/* Misuse codes in sequences that went well otherwise. */
static void look_at_codes(Modules *m, const ProtoRuns *good)
{
    for (size_t i = 0; i < good->len; i++)
        if (good->items[i] && !client_is_good(m->client, good->items[i]))
            look(m, &m->kept.items[i], good->items[i]);
}

/* ------------------------------------------------------------------- begin */

bool client_module(Client *st, char **preload, Err *err)
{
    ApiCallsPlan plan = client_plan(st);
    Err none = { 0 };
    *preload = session_flag(st->session, "no-sanitizer") ? NULL : library_find_asan(&none);
    CallsKind kind = { .plan = &plan,
                       .key = str_c(&st->key),
                       .strict = *preload != NULL,
                       .library = true,
                       .link = session_option_all(st->session, "link") };
    return st->module.path ||
           build_calls(st->program, session_libexec(st->session), &kind, &st->module, err);
}

static bool make_library(Modules *m, Err *err)
{
    Client *st = m->client;
    char *preload = NULL;
    char *calls = xprintf("SUNDEW_CALLS=%s", m->folder);
    char *most = xprintf("SUNDEW_CALLS_MOST=%d", FUNCTIONS_CALLS);
    char *env[] = { calls, most, NULL };
    bool ok = client_module(st, &preload, err);
    /* A round of sequences that all wait for something takes minutes. */
    ExecPlan exec = { .api = m->api,
                      .library = st->module.path,
                      .libexec = session_libexec(st->session),
                      .preload = preload,
                      .fill_freed = true,
                      .env = env,
                      .writable = m->folder,
                      .stop = is_growth_over,
                      .stop_arg = m };
    m->exec = ok ? exec_open(&exec, err) : NULL;
    free(calls);
    free(most);
    free(preload);
    return m->exec != NULL;
}

static bool open_modules(Modules *m, Err *err)
{
    Client *st = m->client;
    if (!session_need(st->session, NEEDS_API, err))
        return false;
    m->api = session_api(st->session);
    m->pool = pool_new(m->api, err);
    if (!m->pool || !make_library(m, err))
        return false;
    m->ownership = ownership_new(m->api);
    m->grow = (GrowPlan){
        .api = m->api, .pool = m->pool, .ownership = m->ownership, .rng = session_rng(st->session)
    };
    find_priorities(m);
    assert(m->exec && m->priority);
    return true;
}

static void release(Modules *m)
{
    exec_close(m->exec);
    ownership_free(m->ownership);
    pool_free(m->pool);
    map_release(&m->failures);
    vec_release(&m->kept);
    vec_release(&m->failed);
    free(m->folder);
    arena_release(&m->arena);
}

static bool test(Modules *m, Err *err)
{
    Client *st = m->client;
    ProtoRuns good = { 0 };
    if (!st->generation.reaching) {
        session_note(st->session, "no function that a test can call leads to the API");
        return true;
    }
    bool ok = grow(m, err) && learn(m, &good, err) && look_at_failures(m, err);
    if (ok)
        look_at_codes(m, &good);
    for (size_t i = 0; i < good.len; i++)
        if (good.items[i])
            vec_push(&st->tests, good.items[i]);
    vec_release(&good);
    return ok;
}

bool client_generate(Client *st, Err *err)
{
    Modules m = { .client = st };
    const char *scratch = tempdir_new(NULL, err);
    m.folder = scratch ? path_join(scratch, "calls") : NULL;
    bool ok = scratch && dir_make(m.folder, err) && open_modules(&m, err) && test(&m, err);
    release(&m);
    if (scratch)
        tempdir_remove(scratch);
    return ok;
}
