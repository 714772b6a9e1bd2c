/*
 * exec - requests to sundew-play and what it answers; wire.h has the bytes.
 */
#include "engine/play/exec.h"
#include "base/escape.h"
#include "base/file.h"
#include "engine/api/signature.h"
#include "engine/play/wire.h"
#include "run/run.h"
#include <assert.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct Exec {
    ExecPlan plan;
    Runner *runner;
    int fd;
    uint8_t *shared;
    struct WireHead *head;
    char *player, *library;
    Strings env, watched_env;
    Str request;
};

/* -------------------------------------------------------------- functions */

/* What the player looks at after a call. */
static char look_at_result(const ApiPlace *p)
{
    const Type *t = p->type ? type_plain(p->type) : NULL;
    switch (p->role) {
    case ROLE_NOTHING:
        return '-';
    case ROLE_FLOAT:
        return 'f';
    case ROLE_STRING:
        return 'z';
    case ROLE_HANDLE:
        return 'h';
    case ROLE_RECORD:
        return t && t->kind == TYPE_STRUCT ? 'r' : 'p';
    case ROLE_INTEGER: case ROLE_ENUM: case ROLE_FLAGS:
        return 'i';
    default:
        return 'p';
    }
}

static char look_at_param(const ApiPlace *p)
{
    const Type *t = p->type ? type_plain(p->type) : NULL;
    switch (p->role) {
    case ROLE_OUT: case ROLE_INOUT: case ROLE_LENGTH_INOUT:
        return p->is_const ? '-' : 'n';
    case ROLE_BUFFER_OUT:
        return 'b';
    case ROLE_RECORD:
        return t && t->kind == TYPE_POINTER && !p->is_const ? 'b' : '-';
    case ROLE_STRING_OUT:
        return 'z';
    case ROLE_HANDLE_OUT: case ROLE_HANDLE_INOUT:
        return 'h';
    case ROLE_HANDLE: case ROLE_STORAGE:
        return p->handle->open && !p->is_const ? 's' : '-';
    default:
        return '-';
    }
}

static bool put_functions(Exec *e, Err *err)
{
    Str s = {0};
    const Api *api = e->plan.api;
    uint32_t n = (uint32_t)api->nfunctions + 1;
    str_addn(&s, (char *)&n, sizeof n);
    for (uint32_t i = 0; i < n; i++) {
        const ApiFunction *f = i < api->nfunctions ? &api->functions[i] : api->release;
        size_t before;
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
    }
    bool ok = s.len < WIRE_SEEN - WIRE_FUNCTIONS || err_set(err, "the API is too large");
    if (ok)
        memcpy(e->shared + WIRE_FUNCTIONS, s.data, s.len);
    str_release(&s);
    return ok;
}

/* ------------------------------------------------------------ open, close */

static bool make_shared(Exec *e, Err *err)
{
    e->fd = memfd_create("sundew-sequences", MFD_CLOEXEC);
    if (e->fd < 0 || ftruncate(e->fd, WIRE_SIZE) != 0)
        return err_errno(err, "shared memory");
    e->shared = mmap(NULL, WIRE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, e->fd, 0);
    if (e->shared == MAP_FAILED) {
        e->shared = NULL;
        return err_errno(err, "shared memory");
    }
    e->head = (struct WireHead *)e->shared;
    *e->head = (struct WireHead){ .magic = WIRE_MAGIC, .version = WIRE_VERSION,
        .cpu_ms = e->plan.cpu_ms ? e->plan.cpu_ms : 300,
        .wall_ms = e->plan.wall_ms ? e->plan.wall_ms : 5000 };
    return put_functions(e, err);
}

static bool make_runner(Exec *e, Err *err)
{
    char *dir = path_dir(e->library), *there = path_dir(e->player);
    const char *readable[] = { dir, there, NULL };
    e->runner = runner_new(&(RunnerPlan){ .readable = readable }, err);
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
    if (!e->plan.preload)
        return;
    strings_addf(env, "LD_PRELOAD=%s", e->plan.preload);
    strings_addf(env, "ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:"
                "max_allocation_size_mb=256:handle_segv=1:exitcode=99:abort_on_error=0:"
                "detect_odr_violation=0:verify_asan_link_order=0:quarantine_size_mb=8%s",
                 watched ? "" : ":symbolize=0");
    strings_addf(env, "UBSAN_OPTIONS=print_stacktrace=%d:halt_on_error=1:exitcode=99%s", watched,
                 watched ? "" : ":symbolize=0");
}

static bool play(Exec *e, bool watched, RunResult *res, Err *err)
{
    char *argv[] = { e->player, e->library, NULL };
    RunFd fd = { e->fd, WIRE_FD };
    RunPlan plan = { .argv = argv, .env = strings_argv(watched ? &e->watched_env : &e->env), .fds = &fd, .nfds = 1,
                     .server = !watched, .untraced = !watched, .discard_output = true,
                     .keep_output = 64 << 10, .fixed_addresses = e->plan.fixed_addresses,
                     .limits = { .wall = 120, .cpu = 120, .processes = 64 } };
    return runner_run(e->runner, &plan, res, err);
}

Exec *exec_open(const ExecPlan *plan, Err *err)
{
    Exec *e = xcalloc(1, sizeof *e);
    uint32_t none = 0;
    RunResult res = {0};
    e->plan = *plan;
    e->fd = -1;
    e->library = path_absolute(plan->library);
    e->player = path_join(plan->libexec, "sundew-play");
    make_environment(e, &e->env, false);
    make_environment(e, &e->watched_env, true);
    bool ok = make_shared(e, err) && make_runner(e, err);
    if (ok) {
        memcpy(e->shared + WIRE_REQUEST, &none, sizeof none);
        ok = play(e, false, &res, err);
        if (*e->head->trouble) {
            e->head->trouble[sizeof e->head->trouble - 1] = 0;
            ok = err_set(err, "%s", e->head->trouble);
        }
        run_result_release(&res);
    }
    if (ok && e->head->missing >= plan->api->nfunctions)
        ok = err_set(err, "it has none of the functions");
    if (ok && e->head->npoints > WIRE_MOST_POINTS)
        ok = err_set(err, "the library is too large: %u points of coverage", e->head->npoints);
    if (!ok) {
        err_ctx(err, "%s can't be loaded", plan->library);
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
    if (e->shared)
        munmap(e->shared, WIRE_SIZE);
    if (e->fd >= 0)
        close(e->fd);
    strings_release(&e->env);
    strings_release(&e->watched_env);
    str_release(&e->request);
    free(e->player);
    free(e->library);
    free(e);
}

const char *exec_missing(const Exec *e) { return runner_missing(e->runner); }
size_t exec_npoints(const Exec *e) { return e->head->npoints; }
size_t exec_nreached(const Exec *e) { return e->head->nreached; }

void exec_know(Exec *e, const uint32_t *points, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (points[i] < WIRE_MOST_POINTS)
            e->shared[WIRE_SEEN + points[i]] = 1;
}

void exec_forget(Exec *e, const uint32_t *points, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (points[i] < WIRE_MOST_POINTS)
            e->shared[WIRE_SEEN + points[i]] = 0;
}

bool exec_knows(const Exec *e, uint32_t point)
{
    return point < WIRE_MOST_POINTS && e->shared[WIRE_SEEN + point];
}

/* --------------------------------------------------------------- requests */

static void put32(Str *s, uint32_t v)
{
    str_addn(s, (char *)&v, sizeof v);
}

static void put16(Str *s, uint16_t v)
{
    str_addn(s, (char *)&v, sizeof v);
}

static void put_value(Str *s, const SeqValue *v)
{
    str_addc(s, (char)v->kind);
    switch (v->kind) {
    case VALUE_INTEGER:
        str_addn(s, (char *)&v->integer, 8);
        break;
    case VALUE_FLOAT:
        str_addn(s, (char *)&v->real, 8);
        break;
    case VALUE_STRING: case VALUE_BYTES:
        put32(s, (uint32_t)v->n);
        str_addn(s, (char *)v->bytes, v->n);
        break;
    case VALUE_ROOM:
        put32(s, (uint32_t)v->n);
        break;
    case VALUE_RESULT:
        put32(s, v->step);
        break;
    case VALUE_STORED: case VALUE_STORAGE:
        put32(s, v->step);
        put32(s, v->param);
        break;
    case VALUE_FUNCTION:
        put32(s, v->symbol ? (uint32_t)strlen(v->symbol) : 0);
        str_add(s, v->symbol ? v->symbol : "");
        break;
    case VALUE_NONE: case VALUE_NULL: case VALUE_SELF:
        break;
    }
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
            put_value(s, &st->args[k]);
    }
}

static void put_job(Str *s, const ExecJob *j, unsigned number, unsigned prefix, bool direct)
{
    struct WireOptions o = { .mutant = j->mutant, .fill = j->fill, .clock = j->clock,
                             .twice = j->twice, .reached = j->reached, .direct = direct,
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

static bool put_request(Exec *e, const ExecJob *jobs, size_t n, Err *err)
{
    assert(n <= WIRE_MOST_JOBS);
    Str *s = &e->request;
    uint32_t groups = 0;
    str_reset(s);
    put32(s, 0);
    for (size_t i = 0; i < n; groups++) {
        size_t m = group_at(jobs, n, i);
        unsigned prefix = jobs[i].group ? jobs[i].prefix : 0;
        assert(prefix <= jobs[i].seq->n);
        put32(s, (uint32_t)m);
        put_steps(s, jobs[i].seq, 0, prefix);
        for (size_t k = 0; k < m; k++)
            put_job(s, &jobs[i + k], (unsigned)(i + k), prefix, false);
        i += m;
    }
    memcpy(s->data, &groups, sizeof groups);
    if (s->len > WIRE_RESPONSE - WIRE_REQUEST)
        return err_set(err, "the sequences are too large");
    memcpy(e->shared + WIRE_REQUEST, s->data, s->len);
    return true;
}

static struct WireAnswer *answer_of(const Exec *e, size_t i)
{
    assert(i < WIRE_MOST_JOBS);
    return (struct WireAnswer *)(e->shared + WIRE_RESPONSE + i * WIRE_ANSWER);
}

typedef Vec(Observation) Observations;

static void read_observation(const uint8_t *bytes, Observation *o)
{
    switch (o->kind) {
    case OBSERVED_INTEGER:
        memcpy(&o->integer, bytes, o->n < 8 ? o->n : 8);
        break;
    case OBSERVED_FLOAT:
        memcpy(&o->real, bytes, o->n < 8 ? o->n : 8);
        break;
    case OBSERVED_ERRNO_IS: case OBSERVED_CALLBACKS_ARE:
        memcpy(&o->integer, bytes, o->n < 4 ? o->n : 4);
        break;
    case OBSERVED_SAME:
        if (o->n == 8) {
            memcpy(&o->same_step, bytes, 4);
            memcpy(&o->same_place, bytes + 4, 4);
        }
        break;
    default:
        break;
    }
}

/* Of a struct only the scalars are kept: pointers and padding differ from run to
 * run. */
static void mask_record(const Type *t, uint8_t *bytes, size_t n)
{
    uint8_t kept[WIRE_MOST_SEEN_BYTES] = {0};
    for (unsigned i = 0; i < t->nfields; i++) {
        const Field *f = &t->fields[i];
        const Type *m = type_plain(f->type);
        uint64_t at = f->offset / 8;
        if ((m->kind == TYPE_SCALAR || m->kind == TYPE_ENUM) && !f->bit_field &&
            at + m->size <= n && at + m->size <= sizeof kept)
            memcpy(kept + at, bytes + at, m->size);
    }
    memcpy(bytes, kept, n < sizeof kept ? n : sizeof kept);
}

static void mask(const Seq *s, const Observation *o, uint8_t *bytes)
{
    const ApiFunction *f = o->step < s->n ? s->steps[o->step].f : NULL;
    if (!f || o->kind != OBSERVED_BYTES || o->place < -1 || o->place >= (int)f->nparams ||
        api_place(f, o->place)->role != ROLE_RECORD)
        return;
    const Type *t = type_plain(api_place(f, o->place)->type);
    if (t->kind == TYPE_POINTER)
        t = type_plain(t->target);
    mask_record(t, bytes, o->n);
}

/* The scalar fields of a struct that a call has changed, one by one. */
static void read_fields(const Seq *s, uint32_t step, int place, const uint8_t *bytes, size_t n,
                        Observations *out)
{
    const ApiFunction *f = step < s->n ? s->steps[step].f : NULL;
    const ApiType *h = f && place >= 0 && place < (int)f->nparams ? f->params[place].handle : NULL;
    const Type *t = h ? type_plain(h->type) : NULL;
    for (unsigned i = 0; t && t->kind == TYPE_STRUCT && i < t->nfields && i < OBSERVED_FIELDS; i++) {
        const Field *x = &t->fields[i];
        const Type *m = type_plain(x->type);
        uint64_t at = x->offset / 8;
        Observation o = { .step = step, .place = observed_field(place, i) };
        if ((m->kind != TYPE_SCALAR && m->kind != TYPE_ENUM) || x->bit_field || !*x->name ||
            m->size > 8 || at + m->size > n / 2 ||
            memcmp(bytes + at, bytes + n / 2 + at, m->size) == 0)
            continue;
        memcpy(&o.integer, bytes + n / 2 + at, m->size);
        vec_push(out, o);
    }
}

/* Of a result, a parameter, or the bytes that a step set a field to. */
static bool is_place(const Seq *s, int place)
{
    unsigned step = place >= OBSERVED_BEHIND ? (unsigned)(place - OBSERVED_BEHIND) : 0;
    return place < OBSERVED_FIELD ||
           (place >= OBSERVED_BEHIND && step < s->n && s->steps[step].field);
}

/* The library may have written anything there. */
static void read_observations(Arena *a, const Seq *s, const struct WireAnswer *w, Outcome *out)
{
    struct { uint32_t step; int32_t place; uint32_t kind, n; } row;
    uint32_t end = w->nobs < WIRE_OBSERVATIONS ? w->nobs : WIRE_OBSERVATIONS, at = 0;
    uint8_t *copy = arena_array(a, uint8_t, end + 1);
    Observations all = {0};
    memcpy(copy, w->obs, end);
    while (at + sizeof row <= end) {
        memcpy(&row, copy + at, sizeof row);
        at += (uint32_t)sizeof row;
        if (row.n > end - at || row.kind > OBS_FIELDS)
            break;
        if (!is_place(s, row.place)) {
            /* nothing of ours */
        } else if (row.kind == OBS_FIELDS) {
            read_fields(s, row.step, row.place, copy + at, row.n, &all);
        } else {
            Observation o = { .step = row.step, .place = row.place,
                              .kind = (ObservedKind)row.kind, .bytes = copy + at, .n = row.n };
            mask(s, &o, copy + at);
            read_observation(copy + at, &o);
            vec_push(&all, o);
        }
        at += (row.n + 3u) & ~3u;
    }
    Observation *kept = arena_array(a, Observation, all.len + 1);
    if (all.len)
        memcpy(kept, all.items, all.len * sizeof *kept);
    out->obs = kept;
    out->nobs = all.len;
    vec_release(&all);
    out->cut = w->cut;
}

static void read_answer(Arena *a, const Seq *s, const struct WireAnswer *w, Outcome *out)
{
    *out = (Outcome){ .state = w->state <= WIRE_EXITED ? (OutcomeState)w->state
                                                       : OUTCOME_NOT_RUN,
                      .at = w->at, .leaked = w->leaked };
    if (WIFSIGNALED(w->status))
        out->signal = WTERMSIG(w->status);
    else
        out->status = WEXITSTATUS(w->status);
    uint32_t n = w->nnew < WIRE_MOST_NEW ? w->nnew : WIRE_MOST_NEW;
    uint32_t *fresh = arena_array(a, uint32_t, n + 1);
    memcpy(fresh, w->fresh, n * sizeof *fresh);
    out->fresh = fresh;
    out->nfresh = n;
    read_observations(a, s, w, out);
}

static void clear_answers(Exec *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memset(answer_of(e, i), 0, offsetof(struct WireAnswer, fresh));
}

static bool run_some(Exec *e, Arena *a, const ExecJob *jobs, size_t n, Outcome *out, Err *err)
{
    RunResult res = {0};
    clear_answers(e, n);
    bool ok = put_request(e, jobs, n, err) && play(e, false, &res, err);
    run_result_release(&res);
    for (size_t i = 0; ok && i < n; i++)
        read_answer(a, jobs[i].seq, answer_of(e, i), &out[i]);
    return ok;
}

bool exec_run(Exec *e, Arena *a, const ExecJob *jobs, size_t n, Outcome *out, Err *err)
{
    for (size_t i = 0; i < n; ) {
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
    RunResult res = {0};
    uint32_t one = 1;
    Str *s = &e->request;
    clear_answers(e, 1);
    str_reset(s);
    put32(s, one);
    put32(s, one);
    put32(s, 0);
    put_job(s, job, 0, 0, true);
    memcpy(e->shared + WIRE_REQUEST, s->data, s->len);
    bool ok = play(e, true, &res, err);
    if (ok)
        failure_copy(out, &res.failure);
    run_result_release(&res);
    return ok;
}

/* ---------------------------------------------------------------- threads */

bool exec_put_threads(Exec *e, const ExecThreads *t, Err *err)
{
    static const uint32_t modes[] = { [EXEC_AT_ONCE] = WIRE_AT_ONCE,
                                      [EXEC_ONE_THREAD] = WIRE_ONE_THREAD,
                                      [EXEC_OWN_THREADS] = WIRE_OWN_THREADS };
    static_assert((int)EXEC_MOST_THREADS <= (int)WIRE_MOST_THREADS, "the player has room");
    Str *s = &e->request;
    str_reset(s);
    clear_answers(e, EXEC_MOST_THREADS + 1);
    put32(s, WIRE_THREADS);
    put32(s, modes[t->mode]);
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
    read_answer(a, t->epilogue ? t->epilogue : t->threads[0], answer_of(e, 0), around);
    for (unsigned i = 0; i < EXEC_MOST_THREADS; i++)
        read_answer(a, t->threads[i], answer_of(e, i + 1), &threads[i]);
}

int exec_shared(const Exec *e) { return e->fd; }
int exec_shared_as(void) { return WIRE_FD; }
const char *exec_player(const Exec *e) { return e->player; }
const char *exec_library(const Exec *e) { return e->library; }

/* ----------------------------------------------------------- observations */

bool observation_equal(const Observation *a, const Observation *b)
{
    if (a->step != b->step || a->place != b->place || a->kind != b->kind)
        return false;
    switch (a->kind) {
    case OBSERVED_INTEGER: case OBSERVED_ERRNO_IS: case OBSERVED_CALLBACKS_ARE:
        return a->integer == b->integer;
    case OBSERVED_FLOAT:
        return memcmp(&a->real, &b->real, sizeof a->real) == 0;
    case OBSERVED_SAME:
        return a->same_step == b->same_step && a->same_place == b->same_place;
    case OBSERVED_STRING: case OBSERVED_BYTES: case OBSERVED_LONG:
        return a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
    case OBSERVED_NULL: case OBSERVED_HANDLE: case OBSERVED_UNREADABLE:
        return true;
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
    case OBSERVED_INTEGER:
        str_addf(out, "%" PRId64, (int64_t)o->integer);
        break;
    case OBSERVED_ERRNO_IS:
        str_addf(out, "errno %" PRId64, (int64_t)o->integer);
        break;
    case OBSERVED_CALLBACKS_ARE:
        str_addf(out, "%" PRId64 " callbacks", (int64_t)o->integer);
        break;
    case OBSERVED_FLOAT:
        str_addf(out, "%.17g", o->real);
        break;
    case OBSERVED_SAME:
        str_addf(out, "same as r%u.%d", o->same_step, o->same_place);
        break;
    case OBSERVED_STRING: case OBSERVED_BYTES: case OBSERVED_LONG:
        str_addc(out, '"');
        escape_c_string(out, (const char *)o->bytes, o->n);
        str_addc(out, '"');
        break;
    case OBSERVED_NULL:
        str_add(out, "NULL");
        break;
    case OBSERVED_HANDLE:
        str_add(out, "handle");
        break;
    case OBSERVED_UNREADABLE:
        str_add(out, "unreadable");
        break;
    }
}
