/*
 * The oracle: is there a serial order of the same calls that ends like this run?
 *
 * A test with calls a, b | c has the serial orders abc, acb, cab. Each runs twice, with
 * all calls in one thread and with each in its own, because thread-local state and the
 * owner of a lock can make a difference. What a run of both threads at once shows is a
 * violation only if none of these shows it:
 *
 *     tier 1   crash, sanitizer, abort, unexpected exit, leak: the same class suppresses
 *     deadlock with completed calls C and pending calls p: no violation if for each p
 *              some serial order of C, then p alone, blocks too
 *     tier 2   an error that the call returns in no serial order, unless it gave up because
 *              somebody else had what it wanted
 *     tier 3   results that all together are those of no serial order
 *
 * Serial orders run when the first run asks for them, once for each test.
 */
#include "base/file.h"
#include "technique/threads/library_int.h"
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

static const Schedule plain;             /* without preemptions */

/* -------------------------------------------------------------------- runs */

static bool is_limit(const Failure *f)
{
    return f->kind == FAILURE_TIMEOUT || f->kind == FAILURE_CPU_LIMIT || f->kind == FAILURE_HANG ||
           f->kind == FAILURE_MEMORY_LIMIT || f->kind == FAILURE_OUTPUT_LIMIT ||
           f->kind == FAILURE_FILE_LIMIT || f->kind == FAILURE_PROCESS_LIMIT;
}

static EndKind kind_of(const ScheduleRun *run, const Outcome *around)
{
    const Failure *f = &run->result.failure;
    if (run->ended == SUNDEW_SCHEDULE_DEADLOCK)
        return END_STUCK;
    if (run->ended != SUNDEW_SCHEDULE_RUNNING && run->ended != SUNDEW_SCHEDULE_ENDED)
        return END_UNCLEAR;
    if (is_limit(f))
        return END_UNCLEAR;
    if (failure_is(f))
        return END_FAILURE;
    return around->state == OUTCOME_DONE ? END_WELL : END_EXIT;
}

static unsigned calls_done(const Outcome *o, unsigned prefix, unsigned n)
{
    if (o->state == OUTCOME_DONE)
        return n;
    unsigned done = o->at > prefix ? o->at - prefix : 0;
    return done < n ? done : n;
}

void oracle_take(Lib *l, Arena *a, const Test *t, const ExecThreads *x, const ScheduleRun *run,
                 End *end)
{
    *end = (End){ 0 };
    exec_take_threads(l->exec, a, x, &end->around, end->threads);
    end->kind = kind_of(run, &end->around);
    if (end->kind == END_FAILURE)
        failure_copy(&end->failure, &run->result.failure);
    for (unsigned k = 0; k < 2; k++)
        end->done[k] = calls_done(&end->threads[k], t->prefix->n, t->ncalls[k]);
}

bool oracle_gives_back(const Lib *l, const Test *t)
{
    SeqHandles alive = { 0 };
    bool all = true;
    seq_handles(t->epilogue, l->ownership, &alive);
    for (size_t i = 0; i < alive.len; i++)
        all &= !alive.items[i].owned || alive.items[i].step >= t->prefix->n;
    vec_release(&alive);
    return all;
}

static void put_test(const Lib *l, Arena *a, const Test *t, ExecThreads *x)
{
    x->prefix = t->prefix->n;
    for (unsigned k = 0; k < 2; k++)
        x->threads[k] = lib_test_thread(a, t, k);
    x->leaks = x->epilogue != NULL;
    x->gives_back = oracle_gives_back(l, t);
}

static bool run_threads(Lib *l, Scheduler *s, Arena *a, const Test *t, ExecThreads *x,
                        const Schedule *schedule, ScheduleRun *run, End *end, Err *err)
{
    put_test(l, a, t, x);
    *end = (End){ 0 };
    if (!exec_put_threads(l->exec, x, err) || !scheduler_run(s, schedule, run, err))
        return false;
    oracle_take(l, a, t, x, run, end);
    return true;
}

bool oracle_put(Lib *l, Arena *a, const Test *t, ExecThreads *x)
{
    *x = (ExecThreads){ .mode = EXEC_AT_ONCE, .epilogue = t->epilogue };
    put_test(l, a, t, x);
    return exec_put_threads(l->exec, x, NULL);
}

bool oracle_run(Lib *l, Scheduler *s, Arena *a, const Test *t, const Schedule *schedule,
                ScheduleRun *run, End *end, Err *err)
{
    ExecThreads x = { .mode = t->native ? EXEC_NATIVE : EXEC_AT_ONCE, .epilogue = t->epilogue };
    return run_threads(l, s, a, t, &x, schedule, run, end, err);
}

static bool run_order(Lib *l, Arena *a, const Test *t, Serial *row, bool whole, Err *err)
{
    ScheduleRun run = { 0 };
    ExecThreads x = { .mode = row->mode,
                      .order = row->order,
                      .norder = row->n,
                      .epilogue = whole ? t->epilogue : NULL };
    l->serial_runs++;
    bool ok = run_threads(l, l->quick, a, t, &x, &plain, &run, &row->end, err);
    schedule_run_release(&run);
    return ok;
}

/* ------------------------------------------------------------ serial orders */

typedef struct Orders {
    uint8_t rows[TEST_MOST_MERGES][2 * TEST_MOST_CALLS];
    unsigned n;
} Orders;

/* All merges of i calls of thread 0 and j of thread 1. */
static void merge(Orders *o, uint8_t *now, unsigned length, unsigned i, unsigned j)
{
    if (!i && !j) {
        assert(o->n < TEST_MOST_MERGES);
        memcpy(o->rows[o->n++], now, length);
        return;
    }
    if (i) {
        now[length] = 0;
        merge(o, now, length + 1, i - 1, j);
    }
    if (j) {
        now[length] = 1;
        merge(o, now, length + 1, i, j - 1);
    }
}

static Orders orders_of(unsigned i, unsigned j)
{
    Orders o = { .n = 0 };
    uint8_t now[2 * TEST_MOST_CALLS];
    assert(i <= TEST_MOST_CALLS && j <= TEST_MOST_CALLS);
    merge(&o, now, 0, i, j);
    return o;
}

bool oracle_serial(Lib *l, Arena *a, const Test *t, Serials *out, Err *err)
{
    Orders o = orders_of(t->ncalls[0], t->ncalls[1]);
    bool ok = true;
    if (out->known)
        return true;
    for (unsigned i = 0; ok && i < o.n; i++)
        for (unsigned mode = 0; ok && mode < 2; mode++) {
            Serial *row = &out->rows[out->n++];
            *row = (Serial){ .mode = mode ? EXEC_OWN_THREADS : EXEC_ONE_THREAD,
                             .n = t->ncalls[0] + t->ncalls[1] };
            memcpy(row->order, o.rows[i], row->n);
            ok = run_order(l, a, t, row, true, err);
        }
    out->known = ok;
    return ok;
}

void end_release(End *e) { failure_release(&e->failure); }

void serials_release(Serials *s)
{
    for (unsigned i = 0; i < s->n; i++)
        end_release(&s->rows[i].end);
    *s = (Serials){ 0 };
}

/* ------------------------------------------------------------------ judging */

static bool same_text(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

/* The coarse class. */
static bool same_class(const Failure *a, const Failure *b)
{
    return a->kind == b->kind && (a->kind == FAILURE_SIGNAL ? a->signal == b->signal
                                  : a->kind == FAILURE_SANITIZER || a->kind == FAILURE_ASSERTION
                                      ? same_text(a->what, b->what)
                                      : true);
}

/* A serial order that breaks memory suppresses generously: in which of several ways it shows
 * (used after free, freed twice, a signal) is chance. */
static bool breaks_memory(const Failure *f)
{
    return f->kind == FAILURE_SANITIZER || f->kind == FAILURE_SIGNAL;
}

static bool explains(const Failure *serial, const Failure *now)
{
    return same_class(serial, now) || (breaks_memory(serial) && breaks_memory(now));
}

static bool serial_fails(const Serials *s, const End *end)
{
    for (unsigned i = 0; i < s->n; i++) {
        const End *e = &s->rows[i].end;
        if (e->kind == END_UNCLEAR)
            return true;                 /* nobody knows */
        if (e->kind == end->kind &&
            (end->kind != END_FAILURE || explains(&e->failure, &end->failure)))
            return true;
    }
    return false;
}

/* Does a serial order of the completed calls, then the next call of `thread`, block? */
static bool blocks_alone(Lib *l, Arena *a, const Test *t, const End *end, unsigned thread,
                         bool *out, Err *err)
{
    Orders o = orders_of(end->done[0], end->done[1]);
    *out = false;
    for (unsigned i = 0; i < o.n; i++)
        for (unsigned mode = 0; mode < 2 && !*out; mode++) {
            Serial row = { .mode = mode ? EXEC_OWN_THREADS : EXEC_ONE_THREAD,
                           .n = end->done[0] + end->done[1] };
            memcpy(row.order, o.rows[i], row.n);
            row.order[row.n++] = (uint8_t)thread;
            if (!run_order(l, a, t, &row, false, err))
                return false;
            *out = row.end.kind == END_STUCK || row.end.kind == END_UNCLEAR;
            end_release(&row.end);
        }
    return true;
}

/* A stuck history is legal if each pending call would also block alone. */
static bool stuck_is_legal(Lib *l, Arena *a, const Test *t, const End *end, bool *legal, Err *err)
{
    *legal = true;
    for (unsigned k = 0; k < 2 && *legal; k++)
        if (end->done[k] < t->ncalls[k] && !blocks_alone(l, a, t, end, k, legal, err))
            return false;
    return true;
}

/* -------------------------------------------------------------- tiers 2, 3 */

/* NULL, -1 or another negative number, without "try again". */
bool oracle_is_error(const SeqStep *st, const Outcome *o, unsigned step)
{
    const Observation *r = outcome_at(o, step, API_RETURNED),
                      *e = outcome_at(o, step, OBSERVED_ERRNO);
    if (!r)
        return false;
    uint64_t no = e ? e->integer : 0;
    if (no == EAGAIN || no == EBUSY || no == EINTR || no == ETIMEDOUT)
        return false;
    if (r->kind == OBSERVED_NULL)
        return true;
    const Type *t = st->f->result.type ? type_plain(st->f->result.type) : NULL;
    uint64_t size = t ? t->size : 0;
    int64_t v = size == 4 ? (int32_t)r->integer : (int64_t)r->integer;
    return r->kind == OBSERVED_INTEGER && (size == 4 || size == 8) && v < 0 && v > -4096 &&
           v != -EAGAIN && v != -EBUSY && v != -ETIMEDOUT;
}

/* A thread that was told "somebody else has it" may give up; so may functions whose comments say
 * so. */
static bool gave_up(const Lib *l, const Test *t, const ScheduleRun *run, unsigned thread,
                    unsigned call)
{
    return run->refused >> (thread + 1) & 1 || lib_gives_up(l, t->calls[thread][call].f);
}

static bool result_equal(const Outcome *a, const Outcome *b, unsigned step)
{
    const Observation *x = outcome_at(a, step, API_RETURNED),
                      *y = outcome_at(b, step, API_RETURNED);
    return x && y ? observation_equal(x, y) : x == y;
}

static void say_result(const Outcome *o, unsigned step, Violation *out)
{
    Str s = { 0 };
    const Observation *r = outcome_at(o, step, API_RETURNED);
    if (r)
        observation_print(r, &s);
    const char *value = strstr(str_c(&s), " = ");        /* "r3 = -1" */
    out->text = xstrdup(value ? value + 3 : "");
    str_release(&s);
}

static bool serials_are_clear(const Serials *s)
{
    for (unsigned i = 0; i < s->n; i++)
        if (s->rows[i].end.kind != END_WELL)
            return false;
    return true;
}

static bool wrong_error(const Lib *l, const Test *t, const Serials *s, const ScheduleRun *run,
                        const End *end, Violation *out)
{
    for (unsigned k = 0; k < 2; k++)
        for (unsigned c = 0; c < t->ncalls[k]; c++) {
            unsigned step = t->prefix->n + c;
            bool found = !oracle_is_error(&t->calls[k][c], &end->threads[k], step) ||
                         gave_up(l, t, run, k, c);
            for (unsigned i = 0; i < s->n && !found; i++)
                found = result_equal(&s->rows[i].end.threads[k], &end->threads[k], step);
            if (found)
                continue;
            out->kind = VIOLATION_ERROR;
            out->function = t->calls[k][c].f;
            say_result(&end->threads[k], step, out);
            return true;
        }
    return false;
}

/* Addresses may be used again or not: which handle is which says nothing. */
static bool same_outputs(const Outcome *a, const Outcome *b)
{
    if (a->nobs != b->nobs)
        return false;
    for (size_t i = 0; i < a->nobs; i++) {
        const Observation *x = &a->obs[i], *y = &b->obs[i];
        bool pointers = (x->kind == OBSERVED_SAME || x->kind == OBSERVED_HANDLE ||
                         x->kind == OBSERVED_UNREADABLE) &&
                        (y->kind == OBSERVED_SAME || y->kind == OBSERVED_HANDLE ||
                         y->kind == OBSERVED_UNREADABLE);
        if (!pointers && !observation_equal(x, y))
            return false;
    }
    return true;
}

static bool wrong_output(const Test *t, const Serials *s, const End *end, Violation *out)
{
    for (unsigned i = 0; i < s->n; i++) {
        const End *e = &s->rows[i].end;
        if (same_outputs(&e->around, &end->around) &&
            same_outputs(&e->threads[0], &end->threads[0]) &&
            same_outputs(&e->threads[1], &end->threads[1]))
            return false;
    }
    out->kind = VIOLATION_OUTPUT;
    out->function = t->calls[0][0].f;
    return true;
}

/* More is left than after any serial order. */
static bool leaks(const Serials *s, const End *end, Violation *out)
{
    int64_t most = 0;
    for (unsigned i = 0; i < s->n; i++)
        if (s->rows[i].end.around.leaked > most)
            most = s->rows[i].end.around.leaked;
    if (end->around.leaked <= most)
        return false;
    out->kind = VIOLATION_LEAK;
    out->text = xprintf("%lld bytes", (long long)(end->around.leaked - most));
    return true;
}

static bool any_gave_up(const Lib *l, const Test *t, const ScheduleRun *run)
{
    for (unsigned k = 0; k < 2; k++)
        for (unsigned c = 0; c < t->ncalls[k]; c++)
            if (gave_up(l, t, run, k, c))
                return true;
    return false;
}

static bool may_return_error(const Test *t, const End *end)
{
    for (unsigned k = 0; k < 2; k++)
        for (unsigned c = 0; c < t->ncalls[k]; c++)
            if (oracle_is_error(&t->calls[k][c], &end->threads[k], t->prefix->n + c))
                return true;
    return false;
}

static bool judge_well(Lib *l, Arena *a, const Test *t, Serials *serials, const ScheduleRun *run,
                       const End *end, Violation *out, Err *err)
{
    if (!serials->ran)
        serials->left = end->around.leaked;
    serials->ran = true;
    if (!serials->known && !l->outputs && end->around.leaked <= serials->left &&
        !may_return_error(t, end))
        return false;
    if (!oracle_serial(l, a, t, serials, err) || !serials_are_clear(serials))
        return false;
    return leaks(serials, end, out) || wrong_error(l, t, serials, run, end, out) ||
           (l->outputs && !any_gave_up(l, t, run) && wrong_output(t, serials, end, out));
}

static void take_waits(const ScheduleRun *run, Violation *out)
{
    for (size_t i = 0; i < run->waits.len && i < 3; i++) {
        out->waits[i] = run->waits.items[i];
        if (i && out->waits[i].kind != SUNDEW_AT_BEGIN)
            out->sites[out->nsites++] = out->waits[i].site;
    }
}

/* T0 is the player. */
static void take_switch(const Lib *l, const ScheduleRun *run, Violation *out)
{
    if (!schedule_switch(l->quick, run, 1, &out->stopped, &out->ran))
        return;
    out->sites[0] = out->stopped.site;
    out->sites[1] = out->ran.site;
    out->nsites = 2;
}

bool oracle_judge(Lib *l, Arena *a, const Test *t, Serials *serials, const ScheduleRun *run,
                  const End *end, Violation *out, Err *err)
{
    bool legal = true;
    *out = (Violation){ .preemptions = run->preemptions };
    switch (end->kind) {
    case END_UNCLEAR: return false;
    case END_WELL:
        if (!judge_well(l, a, t, serials, run, end, out, err))
            return false;
        break;
    case END_STUCK:
        if (!stuck_is_legal(l, a, t, end, &legal, err) || legal)
            return false;
        out->kind = VIOLATION_DEADLOCK;
        take_waits(run, out);
        return true;
    case END_EXIT:
    case END_FAILURE:
        if (!oracle_serial(l, a, t, serials, err) || serial_fails(serials, end))
            return false;
        out->kind = end->kind == END_EXIT ? VIOLATION_EXIT : VIOLATION_FAILURE;
        failure_copy(&out->failure, &end->failure);
        break;
    }
    take_switch(l, run, out);
    return true;
}

/* -------------------------------------------------------------- violations */

/* The functions that both call, as a set. */
static bool same_functions(const Test *a, const Test *b)
{
    const ApiFunction *x[4], *y[4];
    unsigned n = 0, m = 0;
    for (unsigned k = 0; k < 2; k++) {
        for (unsigned c = 0; c < a->ncalls[k]; c++)
            x[n++] = a->calls[k][c].f;
        for (unsigned c = 0; c < b->ncalls[k]; c++)
            y[m++] = b->calls[k][c].f;
    }
    bool all = true;
    for (unsigned i = 0; i < n; i++) {
        bool there = false;
        for (unsigned j = 0; j < m; j++)
            there |= x[i] == y[j];
        all &= there;
    }
    return all;
}

bool violation_same(const Violation *a, const Violation *b)
{
    if (a->kind != b->kind || a->test.type != b->test.type)
        return false;
    if (a->kind == VIOLATION_FAILURE)
        return failure_same(&a->failure, &b->failure, FAILURE_SAME_SITE) ||
               (same_class(&a->failure, &b->failure) && same_functions(&a->test, &b->test));
    if (a->kind == VIOLATION_DEADLOCK)
        return same_functions(&a->test, &b->test) ||
               (a->nsites == b->nsites &&
                (!memcmp(a->sites, b->sites, a->nsites * sizeof *a->sites) ||
                 (a->nsites == 2 && a->sites[0] == b->sites[1] && a->sites[1] == b->sites[0])));
    return a->function == b->function;
}

const char *violation_name(const Violation *v)
{
    static const char *const names[] = {
        [VIOLATION_EXIT] = "exit",   [VIOLATION_DEADLOCK] = "deadlock", [VIOLATION_LEAK] = "leak",
        [VIOLATION_ERROR] = "error", [VIOLATION_OUTPUT] = "output",
    };
    return v->kind == VIOLATION_FAILURE ? failure_kind_name(v->failure.kind) : names[v->kind];
}

unsigned violation_tier(const Violation *v)
{
    return v->kind == VIOLATION_OUTPUT ? 3 : v->kind == VIOLATION_ERROR ? 2 : 1;
}

void violation_release(Violation *v)
{
    failure_release(&v->failure);
    schedule_release(&v->schedule);
    str_release(&v->picture);
    str_release(&v->serial_table);
    free(v->folder);
    free(v->text);
    *v = (Violation){ 0 };
}
