/*
 * exec - requests to sundew-play and what it answers; wire.h has the bytes.
 *
 * The library can write the memory that the player answers in (base/shared.h); answer.c
 * reads it with that in mind. A job that kills the player with all its other jobs is
 * found by executing those that have no answer in smaller and smaller groups.
 */
#include "engine/play/exec.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/shared.h"
#include "engine/api/signature.h"
#include "engine/play/answer.h"
#include "run/run.h"
#include <assert.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct Exec {
    ExecPlan plan;
    Runner *runner;
    Shared memory;
    uint8_t *shared;             /* memory.at: never trusted */
    uint32_t npoints, nreached;
    uint8_t *seen;               /* points that are known; npoints of them */
    char *player, *library;
    Strings env, watched_env;
    Str request;
};

/* ---- functions */

/* What the player looks at after a call. */
static char look_at_result(const ApiPlace *p)
{
    const Type *t = p->type ? type_plain(p->type) : NULL;
    switch (p->role) {
    case ROLE_NOTHING: return '-';
    case ROLE_FLOAT: return 'f';
    case ROLE_STRING: return 'z';
    case ROLE_HANDLE: return 'h';
    case ROLE_RECORD: return t && t->kind == TYPE_STRUCT ? 'r' : 'p';
    case ROLE_INTEGER:
    case ROLE_ENUM:
    case ROLE_FLAGS: return 'i';
    default: return 'p';
    }
}

static char look_at_param(const ApiPlace *p)
{
    const Type *t = p->type ? type_plain(p->type) : NULL;
    switch (p->role) {
    case ROLE_OUT:
    case ROLE_INOUT:
    case ROLE_LENGTH_INOUT: return p->is_const ? '-' : 'n';
    case ROLE_BUFFER_OUT: return 'b';
    case ROLE_RECORD: return t && t->kind == TYPE_POINTER && !p->is_const ? 'b' : '-';
    case ROLE_STRING_OUT: return 'z';
    case ROLE_HANDLE_OUT:
    case ROLE_HANDLE_INOUT: return 'h';
    case ROLE_HANDLE:
    case ROLE_STORAGE: return p->handle->open && !p->is_const ? 's' : '-';
    default: return '-';
    }
}

/* Where texts hang in what a parameter leads to: wire.h has the form. */
static void put_texts(const ApiPlace *p, unsigned place, Str *out)
{
    enum { PARTS = 8 };
    const Type *t = observed_struct(p);
    if (p->role == ROLE_STRING_OUT)
        for (unsigned i = 1; i < PARTS; i++)
            str_addf(out, "%u,%u,%u;", place, i * 8, i);
    unsigned several = p->role == ROLE_RECORD ? OBSERVED_FIELDS / OBSERVED_PART : 1;
    for (unsigned i = 0; t && i < t->nfields && i < OBSERVED_PART; i++) {
        const Type *m = type_plain(t->fields[i].type);
        bool text = m->kind == TYPE_POINTER && m->target && type_is_char(m->target);
        for (unsigned k = 0; text && *t->fields[i].name && k < several; k++)
            str_addf(out, "%u,%u,%u;", place, (unsigned)(k * t->size + t->fields[i].offset / 8),
                     k * OBSERVED_PART + i);
    }
}

static bool put_functions(Exec *e, Err *err)
{
    Str s = { 0 };
    const Api *api = e->plan.api;
    uint32_t n = (uint32_t)api->nfunctions + 1;
    str_addn(&s, (char *)&n, sizeof n);
    for (uint32_t i = 0; i < n; i++) {
        const ApiFunction *f = i < api->nfunctions ? &api->functions[i] : api->release;
        size_t before;
        if (f->slot)
            str_addf(&s, "%s+%" PRIu64, f->slot->variable, f->slot->offset);
        else
            str_add(&s, f->fn->symbol);
        str_addc(&s, 0);
        before = s.len;
        if (f->not_callable || !signature_write(f, &s)) {
            s.len = before;
            str_addc(&s, 'v');
        }
        str_addc(&s, 0);
        str_addc(&s, look_at_result(&f->result));
        for (unsigned k = 0; k < f->nparams; k++)
            str_addc(&s, look_at_param(&f->params[k]));
        str_addc(&s, 0);
        for (unsigned k = 0; k < f->nparams && !f->not_callable; k++)
            put_texts(&f->params[k], k, &s);
        str_addc(&s, 0);
    }
    bool ok = s.len < WIRE_FILES - WIRE_FUNCTIONS || err_set(err, "the API is too large");
    if (ok)
        memcpy(e->shared + WIRE_FUNCTIONS, s.data, s.len);
    str_release(&s);
    return ok;
}

static void put32(Str *s, uint32_t v) { str_addn(s, (char *)&v, sizeof v); }

/* As many as there is room for. */
static void put_files(Exec *e)
{
    Str s = { 0 };
    uint32_t n = 0;
    put32(&s, 0);
    for (size_t i = 0; i < e->plan.nfiles; i++) {
        const SeqFile *f = &e->plan.files[i];
        assert(*f->name && !strchr(f->name, '/'));
        if (s.len + strlen(f->name) + f->n + 8 > WIRE_SEEN - WIRE_FILES)
            continue;
        put32(&s, (uint32_t)strlen(f->name));
        str_add(&s, f->name);
        put32(&s, (uint32_t)f->n);
        str_addn(&s, (const char *)f->bytes, f->n);
        n++;
    }
    memcpy(s.data, &n, sizeof n);
    memcpy(e->shared + WIRE_FILES, s.data, s.len);
    str_release(&s);
}

/* ---- open, close */

static bool make_shared(Exec *e, Err *err)
{
    if (!shared_new(&e->memory, "sundew-sequences", WIRE_SIZE, err))
        return false;
    e->shared = e->memory.at;
    put_files(e);
    return put_functions(e, err);
}

/* Before each request: the library may have changed it. */
static void put_head(Exec *e)
{
    struct WireHead head = { .magic = WIRE_MAGIC,
                             .version = WIRE_VERSION,
                             .cpu_ms = e->plan.cpu_ms ? e->plan.cpu_ms : 300,
                             .wall_ms = e->plan.wall_ms ? e->plan.wall_ms : 5000,
                             .writes = e->plan.writes };
    memcpy(e->shared, &head, sizeof head);
}

void exec_limit_cpu(Exec *e, unsigned ms) { e->plan.cpu_ms = ms; }

static bool make_runner(Exec *e, Err *err)
{
    char *dir = path_dir(e->library), *there = path_dir(e->player);
    const char *readable[] = { dir, there, NULL };
    const char *writable[] = { e->plan.writable, NULL };
    e->runner = runner_new(&(RunnerPlan){ .readable = readable, .writable = writable }, err);
    free(dir);
    free(there);
    return e->runner != NULL;
}

/* Watched, reports have names and lines, which takes long. */
static void make_environment(const Exec *e, Strings *env, bool watched)
{
    for (char **v = environ; *v; v++)
        if (!str_starts(*v, "LD_PRELOAD=") && !str_starts(*v, "ASAN_OPTIONS=") &&
            !str_starts(*v, "MALLOC_"))
            strings_add(env, *v);
    strings_add(env, "LC_ALL=C");
    strings_add(env, "TZ=UTC");
    for (char *const *v = e->plan.env; v && *v; v++)
        strings_add(env, *v);
    if (!e->plan.preload)
        return;
    strings_addf(env, "LD_PRELOAD=%s", e->plan.preload);
    strings_addf(env,
                 "ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:"
                 "max_allocation_size_mb=256:handle_segv=1:exitcode=99:abort_on_error=0:"
                 "detect_odr_violation=0:verify_asan_link_order=0:quarantine_size_mb=8%s%s",
                 watched ? "" : ":symbolize=0",
                 e->plan.fill_freed ? ":max_free_fill_size=65536:free_fill_byte=165" : "");
    strings_addf(env, "UBSAN_OPTIONS=print_stacktrace=%d:halt_on_error=1:exitcode=99%s", watched,
                 watched ? "" : ":symbolize=0");
}

static bool play(Exec *e, bool watched, RunResult *res, Err *err)
{
    char *argv[] = { e->player, e->library, NULL };
    RunFd fd = { e->memory.fd, WIRE_FD };
    double idle = 3 + (e->plan.wall_ms ? e->plan.wall_ms : 5000) / 1e3;   /* all are stopped */
    RunPlan plan = { .argv = argv,
                     .env = strings_argv(watched ? &e->watched_env : &e->env),
                     .fds = &fd,
                     .nfds = 1,
                     .server = !watched,
                     .untraced = !watched,
                     .discard_output = true,
                     .keep_output = 64 << 10,
                     .fixed_addresses = e->plan.fixed_addresses,
                     .stop = watched ? NULL : e->plan.stop,
                     .stop_arg = e->plan.stop_arg,
                     .limits = { .wall = 120, .cpu = 120, .idle = idle, .processes = 64 } };
    return runner_run(e->runner, &plan, res, err);
}

/* What the player says of the library, once. */
static bool take_head(Exec *e, bool ok, Err *err)
{
    struct WireHead head = { 0 };
    if (e->shared)
        memcpy(&head, e->shared, sizeof head);
    head.trouble[sizeof head.trouble - 1] = 0;
    if (*head.trouble)
        return err_set(err, "%s", head.trouble);
    if (ok && head.missing >= e->plan.api->nfunctions)
        return err_set(err, "it has none of the functions");
    if (ok && (head.npoints > WIRE_MOST_POINTS || head.nreached > WIRE_MOST_POINTS))
        return err_set(err, "the library is too large: %u points of coverage",
                       head.npoints > head.nreached ? head.npoints : head.nreached);
    e->npoints = head.npoints;
    e->nreached = head.nreached;
    e->seen = xcalloc((size_t)e->npoints + 1, 1);
    return ok;
}

Exec *exec_open(const ExecPlan *plan, Err *err)
{
    Exec *e = xcalloc(1, sizeof *e);
    uint32_t none = 0;
    RunResult res = { 0 };
    e->plan = *plan;
    e->memory.fd = -1;
    e->library = path_absolute(plan->library);
    e->player = path_join(plan->libexec, "sundew-play");
    make_environment(e, &e->env, false);
    make_environment(e, &e->watched_env, true);
    bool ok = make_shared(e, err) && make_runner(e, err);
    if (ok) {
        put_head(e);
        memcpy(e->shared + WIRE_REQUEST, &none, sizeof none);
        ok = play(e, false, &res, err);
        run_result_release(&res);
    }
    ok = take_head(e, ok, err);
    if (!ok) {
        err_ctx(err, "%s can't be loaded%s", plan->library,
                strstr(err->msg, "undefined symbol")
                    ? " (--link -lNAME adds a library that it needs)"
                    : "");
        exec_close(e);
        return NULL;
    }
    return e;
}

void exec_close(Exec *e)
{
    if (!e)
        return;
    runner_free(e->runner);
    shared_free(&e->memory);
    free(e->seen);
    strings_release(&e->env);
    strings_release(&e->watched_env);
    str_release(&e->request);
    free(e->player);
    free(e->library);
    free(e);
}

const char *exec_missing(const Exec *e) { return runner_missing(e->runner); }
size_t exec_npoints(const Exec *e) { return e->npoints; }
size_t exec_nreached(const Exec *e) { return e->nreached; }

static void set_seen(Exec *e, const uint32_t *points, size_t n, uint8_t to)
{
    for (size_t i = 0; i < n; i++)
        if (points[i] < e->npoints)
            e->seen[points[i]] = e->shared[WIRE_SEEN + points[i]] = to;
}

void exec_know(Exec *e, const uint32_t *points, size_t n) { set_seen(e, points, n, 1); }

void exec_forget(Exec *e, const uint32_t *points, size_t n) { set_seen(e, points, n, 0); }

bool exec_knows(const Exec *e, uint32_t point) { return point < e->npoints && e->seen[point]; }

/* ---- requests */

static void put16(Str *s, uint16_t v) { str_addn(s, (char *)&v, sizeof v); }

static void put_value(Str *s, const SeqValue *v)
{
    str_addc(s, (char)v->kind);
    switch (v->kind) {
    case VALUE_INTEGER: str_addn(s, (char *)&v->integer, 8); break;
    case VALUE_FLOAT: str_addn(s, (char *)&v->real, 8); break;
    case VALUE_STRING:
    case VALUE_BYTES:
        str_addc(s, (char)v->given);
        put32(s, (uint32_t)v->n);
        str_addn(s, (char *)v->bytes, v->n);
        put32(s, (uint32_t)v->nlinks);
        for (size_t i = 0; i < v->nlinks; i++) {
            put32(s, v->links[i].offset);
            put_value(s, &v->links[i].value);
        }
        break;
    case VALUE_ROOM:
        str_addc(s, (char)v->given);
        put32(s, (uint32_t)v->n);
        break;
    case VALUE_WITHIN:
        put32(s, v->param);
        put32(s, (uint32_t)v->integer);
        break;
    case VALUE_RESULT: put32(s, v->step); break;
    case VALUE_STORED:
    case VALUE_STORAGE:
        put32(s, v->step);
        put32(s, v->param);
        break;
    case VALUE_FUNCTION:
        put32(s, v->symbol ? (uint32_t)strlen(v->symbol) : 0);
        str_add(s, v->symbol ? v->symbol : "");
        break;
    case VALUE_NONE:
    case VALUE_NULL:
    case VALUE_SELF: break;
    }
}

/* Bytes in a place where the example always has a NUL behind them: calls may come to it. */
static void put_ended(Str *s, const SeqStep *st, unsigned i)
{
    const ApiPlace *p = st->f && i < st->f->nparams ? &st->f->params[i] : NULL;
    SeqValue v = st->args[i];
    if (p && p->is_ended && !p->is_unended && v.kind == VALUE_BYTES && !v.given && !v.nlinks)
        v.kind = VALUE_STRING;
    put_value(s, &v);
}

static void put_steps(Str *s, const Seq *seq, unsigned from, unsigned to)
{
    put32(s, to - from);
    for (unsigned i = from; i < to; i++) {
        const SeqStep *st = &seq->steps[i];
        put16(s, st->f ? (uint16_t)st->f->index : WIRE_SET);
        put16(s, (uint16_t)(st->f ? st->nargs : st->field ? st->field->width / 8 : 0));
        if (!st->f) {
            put32(s, (uint32_t)(st->field ? st->field->offset / 8 : 0));
            put_value(s, &st->target);
        }
        for (unsigned k = 0; k < st->nargs; k++)
            put_ended(s, st, k);
    }
}

static void put_job(Str *s, const ExecJob *j, unsigned number, unsigned prefix, bool direct)
{
    struct WireOptions o = { .mutant = j->mutant,
                             .fill = j->fill,
                             .clock = j->clock,
                             .twice = j->twice,
                             .reached = j->reached,
                             .direct = direct,
                             .all = j->all };
    put32(s, number);
    str_addn(s, (char *)&o, sizeof o);
    put_steps(s, j->seq, prefix, j->seq->n);
}

/* How many jobs from `i` on share a prefix. */
static size_t group_at(const ExecJob *jobs, size_t n, size_t i)
{
    size_t k = i + 1;
    while (jobs[i].group && k < n && jobs[k].group == jobs[i].group)
        k++;
    return k - i;
}

/* Groups of jobs become bytes in e->request. */
static void add_groups(Exec *e, const ExecJob *jobs, size_t n)
{
    Str *s = &e->request;
    uint32_t groups = 0;
    str_reset(s);
    put32(s, 0);
    for (size_t i = 0; i < n; groups++) {
        size_t m = group_at(jobs, n, i);
        unsigned prefix = jobs[i].group && !e->plan.writes ? jobs[i].prefix : 0;
        assert(prefix <= jobs[i].seq->n);
        put32(s, (uint32_t)m);
        put_steps(s, jobs[i].seq, 0, prefix);
        for (size_t k = 0; k < m; k++)
            put_job(s, &jobs[i + k], (unsigned)(i + k), prefix, false);
        i += m;
    }
    memcpy(s->data, &groups, sizeof groups);
}

static bool send_request(Exec *e, Err *err)
{
    if (e->request.len > WIRE_RESPONSE - WIRE_REQUEST)
        return err_set(err, "the sequences are too large");
    put_head(e);
    memcpy(e->shared + WIRE_REQUEST, e->request.data, e->request.len);
    return true;
}

static struct WireAnswer *answer_of(const Exec *e, size_t i)
{
    assert(i < WIRE_MOST_JOBS);
    return (struct WireAnswer *)(e->shared + WIRE_RESPONSE + i * WIRE_ANSWER);
}

static void clear_answers(Exec *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memset(answer_of(e, i), 0, offsetof(struct WireAnswer, fresh));
}

/* A job without an answer: it, or one beside it, has killed the player. */
static bool has_answer(const Outcome *o) { return o->state != OUTCOME_NOT_RUN; }

static bool is_stopped(const Exec *e) { return e->plan.stop && e->plan.stop(e->plan.stop_arg); }

static bool run_some(Exec *e, Arena *a, const ExecJob *jobs, size_t n, Outcome *out, Err *err);

/* Executes those without an answer again: those that had begun one by one, as one of
 * them is to blame; then the others together. */
static bool run_rest(Exec *e, Arena *a, const ExecJob *jobs, size_t n, const bool *begun,
                     Outcome *out, Err *err)
{
    ExecJob *left = xcalloc(n, sizeof *left);
    Outcome *got = xcalloc(n, sizeof *got);
    bool ok = true;
    size_t m = 0;
    for (size_t i = 0; ok && i < n; i++) {
        if (has_answer(&out[i]))
            continue;
        ExecJob alone = jobs[i];
        alone.group = 0;
        if (begun[i])
            ok = run_some(e, a, &alone, 1, &out[i], err);
        else
            left[m++] = alone;
    }
    ok = ok && (!m || run_some(e, a, left, m, got, err));
    for (size_t i = 0, k = 0; ok && i < n; i++)
        if (!has_answer(&out[i]))
            out[i] = got[k++];
    free(left);
    free(got);
    return ok;
}

/* It is alone, or nothing had begun: it has killed the player. */
static void blame(Outcome *o)
{
    o->state = OUTCOME_DIED;
    o->signal = SIGKILL;
    o->status = 0;
}

static bool run_some(Exec *e, Arena *a, const ExecJob *jobs, size_t n, Outcome *out, Err *err)
{
    RunResult res = { 0 };
    assert(n > 0 && n <= WIRE_MOST_JOBS);
    if (is_stopped(e)) {
        memset(out, 0, n * sizeof *out);
        return true;
    }
    clear_answers(e, n);
    add_groups(e, jobs, n);
    if (!send_request(e, err) || !play(e, false, &res, err))
        return false;
    bool died = failure_is(&res.failure) && !res.stopped, begun[WIRE_MOST_JOBS], any = false;
    size_t rest = 0;
    run_result_release(&res);
    for (size_t i = 0; i < n; i++) {
        begun[i] = answer_of(e, i)->state == WIRE_BEGUN;
        any |= begun[i];
        answer_read(a, jobs[i].seq, jobs[i].reached ? e->nreached : e->npoints, answer_of(e, i),
                    &out[i]);
        rest += !has_answer(&out[i]);
    }
    if (!died || !rest)
        return true;
    if (n > 1 && (any || rest < n))
        return run_rest(e, a, jobs, n, begun, out, err);
    for (size_t i = 0; i < n; i++)
        if (!has_answer(&out[i]))
            blame(&out[i]);
    return true;
}

bool exec_run(Exec *e, Arena *a, const ExecJob *jobs, size_t n, Outcome *out, Err *err)
{
    for (size_t i = 0; i < n;) {
        size_t m = 0, bytes = 0;
        while (i + m < n && m < WIRE_MOST_JOBS && bytes < (8u << 20)) {
            const Seq *s = jobs[i + m].seq;
            seq_check(s);
            for (unsigned k = 0; k < s->n; k++)
                for (unsigned v = 0; v < s->steps[k].nargs; v++)
                    bytes += 16 + s->steps[k].args[v].n;
            m++;
        }
        if (!run_some(e, a, jobs + i, m, out + i, err))
            return false;
        i += m;
    }
    return true;
}

bool exec_failure(Exec *e, const ExecJob *job, Failure *out, Err *err)
{
    RunResult res = { 0 };
    uint32_t one = 1;
    Str *s = &e->request;
    clear_answers(e, 1);
    str_reset(s);
    put32(s, one);
    put32(s, one);
    put32(s, 0);
    put_job(s, job, 0, 0, true);
    bool ok = send_request(e, err) && play(e, true, &res, err);
    if (ok)
        failure_copy(out, &res.failure);
    if (ok && out->kind == FAILURE_SIGNAL && (out->signal == SIGPROF || out->signal == SIGALRM))
        out->kind = FAILURE_TIMEOUT; /* the timers of a job */
    run_result_release(&res);
    return ok;
}

/* ---- threads */

bool exec_put_threads(Exec *e, const ExecThreads *t, Err *err)
{
    static const uint32_t modes[] = { [EXEC_AT_ONCE] = WIRE_AT_ONCE,
                                      [EXEC_ONE_THREAD] = WIRE_ONE_THREAD,
                                      [EXEC_OWN_THREADS] = WIRE_OWN_THREADS,
                                      [EXEC_NATIVE] = WIRE_NATIVE };
    static_assert((int)EXEC_MOST_THREADS <= (int)WIRE_MOST_THREADS, "the player has room");
    Str *s = &e->request;
    str_reset(s);
    clear_answers(e, EXEC_MOST_THREADS + 1);
    put32(s, WIRE_THREADS);
    put32(s, modes[t->mode]);
    put32(s, !t->leaks ? WIRE_NO_LEAKS : t->gives_back ? WIRE_LEAKS_ALL : WIRE_LEAKS);
    put32(s, (uint32_t)t->norder);
    str_addn(s, (const char *)t->order, t->norder);
    put32(s, EXEC_MOST_THREADS);
    assert(t->prefix <= t->threads[0]->n && t->prefix <= t->threads[1]->n);
    put_steps(s, t->threads[0], 0, t->prefix);
    for (unsigned i = 0; i < EXEC_MOST_THREADS; i++)
        put_steps(s, t->threads[i], t->prefix, t->threads[i]->n);
    if (t->epilogue)
        put_steps(s, t->epilogue, t->prefix, t->epilogue->n);
    else
        put32(s, 0);
    if (s->len > WIRE_RESPONSE - WIRE_REQUEST)
        return err_set(err, "the test is too large");
    memcpy(e->shared + WIRE_REQUEST, s->data, s->len);
    return true;
}

void exec_take_threads(Exec *e, Arena *a, const ExecThreads *t, Outcome *around,
                       Outcome threads[EXEC_MOST_THREADS])
{
    answer_read(a, t->epilogue ? t->epilogue : t->threads[0], e->npoints, answer_of(e, 0), around);
    for (unsigned i = 0; i < EXEC_MOST_THREADS; i++)
        answer_read(a, t->threads[i], e->npoints, answer_of(e, i + 1), &threads[i]);
}

int exec_shared(const Exec *e) { return e->memory.fd; }
int exec_shared_as(void) { return WIRE_FD; }
const char *exec_player(const Exec *e) { return e->player; }
const char *exec_library(const Exec *e) { return e->library; }

/* ---- observations */

bool observation_equal(const Observation *a, const Observation *b)
{
    if (a->step != b->step || a->place != b->place || a->kind != b->kind)
        return false;
    switch (a->kind) {
    case OBSERVED_INTEGER:
    case OBSERVED_ERRNO_IS:
    case OBSERVED_CALLBACKS_ARE: return a->integer == b->integer;
    case OBSERVED_FLOAT: return memcmp(&a->real, &b->real, sizeof a->real) == 0;
    case OBSERVED_SAME: return a->same_step == b->same_step && a->same_place == b->same_place;
    case OBSERVED_STRING:
    case OBSERVED_BYTES:
    case OBSERVED_LONG: return a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
    case OBSERVED_NULL:
    case OBSERVED_HANDLE:
    case OBSERVED_UNREADABLE: return true;
    }
    return false;
}

const Observation *outcome_at(const Outcome *o, unsigned step, int place)
{
    for (size_t i = 0; i < o->nobs; i++)
        if (o->obs[i].step == step && o->obs[i].place == place)
            return &o->obs[i];
    return NULL;
}

void outcome_note_nulls(const Outcome *o, Seq *s)
{
    for (unsigned i = 0; i < s->n; i++)
        s->steps[i].nulls = 0;
    for (size_t i = 0; i < o->nobs; i++) {
        const Observation *b = &o->obs[i];
        if (b->kind == OBSERVED_NULL && b->step < s->n && b->place >= -1 && b->place < 62)
            s->steps[b->step].nulls |= (uint64_t)1 << (unsigned)(b->place + 1);
    }
}

void observation_print(const Observation *o, Str *out)
{
    str_addf(out, "r%u", o->step);
    if (o->place >= 0)
        str_addf(out, ".%d", o->place);
    str_add(out, " = ");
    switch (o->kind) {
    case OBSERVED_INTEGER: str_addf(out, "%" PRId64, (int64_t)o->integer); break;
    case OBSERVED_ERRNO_IS: str_addf(out, "errno %" PRId64, (int64_t)o->integer); break;
    case OBSERVED_CALLBACKS_ARE: str_addf(out, "%" PRId64 " callbacks", (int64_t)o->integer); break;
    case OBSERVED_FLOAT: str_addf(out, "%.17g", o->real); break;
    case OBSERVED_SAME: str_addf(out, "same as r%u.%d", o->same_step, o->same_place); break;
    case OBSERVED_STRING:
    case OBSERVED_BYTES:
    case OBSERVED_LONG:
        str_addc(out, '"');
        escape_c_string(out, (const char *)o->bytes, o->n);
        str_addc(out, '"');
        break;
    case OBSERVED_NULL: str_add(out, "NULL"); break;
    case OBSERVED_HANDLE: str_add(out, "handle"); break;
    case OBSERVED_UNREADABLE: str_add(out, "unreadable"); break;
    }
}
