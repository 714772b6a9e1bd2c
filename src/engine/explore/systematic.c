/*
 * The systematic search: every input runs once, with its conditions, and each
 * condition is turned once.
 *
 *     take an input of the lowest level, restore its state, trace it
 *     judge it; if its way is new in this state, keep it and then
 *         ask for the other side of every condition      -> same state, same level
 *         ask the front end what can follow              -> new state, next level
 *     until nothing is left, or `depth` levels are done
 *
 * A way is the sequence of edges from a state on; "turns" are ways of which
 * only the last edge was not gone. A turn is asked for once, whichever input passed
 * by. An address, a length or a callee that depends on the input is a turn too: up to 16 values of it
 * are tried, and more are an imprecision. An input with its state is run once: so equal states, which have equal
 * numbers, end a chain. The result does not depend on the order of the jobs as
 * long as the solver answers every question.
 */
#include "engine/explore/trace_int.h"
#include "base/units.h"
#include "runtime/server/batch.h"
#include <assert.h>
#include <string.h>
#include <unistd.h>

static void lock(Explorer *x) { pthread_mutex_lock(&x->lock); }

static void unlock(Explorer *x) { pthread_mutex_unlock(&x->lock); }

/* ---- levels */

/* Under the lock; the pointer holds until the next call. */
static Level *level_at(Explorer *x, uint32_t depth)
{
    while (x->levels.len <= depth)
        vec_push(&x->levels, ((Level){ 0 }));
    return &x->levels.items[depth];
}

/* True if this input was never there in its state. Under the lock. */
static bool visit(Explorer *x, const FrontInput *in)
{
    Str key = { 0 };
    str_addn(&key, (const char *)&in->state, sizeof in->state);
    str_addn(&key, (const char *)in->bytes, in->n);
    bool is_new = !map_getn(&x->visited, str_c(&key), key.len);
    if (is_new)
        map_putn(&x->visited, str_c(&key), key.len, x);
    str_release(&key);
    return is_new;
}

/* `holder`: the job that is at this state and keeps it, if that is worth it; NULL: anybody. */
static void add(Explorer *x, Job *holder, Config c)
{
    assert(c.input.bytes || !c.input.n);
    lock(x);
    bool is_new = visit(x, &c.input);
    if (is_new && holder && x->facts.by_state) {
        vec_push(&holder->held, c);
        level_at(x, c.depth)->held++;
        x->held++;
    } else if (is_new) {
        vec_push(&level_at(x, c.depth)->todo, c);
    }
    unlock(x);
    if (!is_new)
        free(c.input.bytes);
}

/* One of those that the job holds; the oldest comes first. Under the lock. */
static bool take_held(Job *j, Config *out)
{
    if (j->next_held == j->held.len)
        return false;
    *out = j->held.items[j->next_held++];
    if (j->next_held == j->held.len)
        j->next_held = j->held.len = 0;
    level_at(j->x, out->depth)->held--;
    j->x->held--;
    return true;
}

/* The next one; false: there is none now, and if nobody is at work there never will be. */
static bool take(Job *j, Config *out)
{
    Explorer *x = j->x;
    lock(x);
    bool found = take_held(j, out);
    for (size_t d = 0; !found && d < x->levels.len; d++) {
        Level *l = &x->levels.items[d];
        if (l->next < l->todo.len) {
            *out = l->todo.items[l->next++];
            found = true;
        }
    }
    bool over = !found && !x->busy && !x->held;
    x->busy += found;
    unlock(x);
    if (over)
        explorer_stop(x, "nothing is left");
    return found;
}

/* ---- ways */

typedef Vec(uint64_t) Turns;

static uint64_t way_of_state(uint32_t state) { return tracer_turn(0x5eed, state); }

/* Takes this turn; false: somebody did before. Under the lock. */
static bool turn_is_new(Explorer *x, uint64_t turn)
{
    if (map_getn(&x->turns, &turn, sizeof turn))
        return false;
    map_putn(&x->turns, &turn, sizeof turn, x);
    return true;
}

/* An address, a length or a callee that depends on the input: each value is a way of its own. */
static bool is_choice(const Step *s)
{
    return s->kind == SUNDEW_REC_PIN && s->ask &&
           (s->why == SUNDEW_WHY_ADDRESS || s->why == SUNDEW_WHY_SIZE || s->why == SUNDEW_WHY_CALL);
}

static uint64_t value_of(const Job *j, const Step *s)
{
    ExprValue v = 0;
    expr_is_const(j->tracer->pool, s->value, &v);
    return (uint64_t)v ^ (uint64_t)(v >> 64);
}

static uint64_t step_on(const Job *j, uint64_t way, const Step *s)
{
    way = tracer_turn(way, s->at);
    if (!is_choice(s))
        return way;
    uint64_t v = value_of(j, s);
    return tracer_turn(tracer_turn(way, (uint32_t)v), (uint32_t)(v >> 32));
}

/* Names the way before each step, and the whole as the last; true if the whole is new. */
static bool walk(Job *j, const Trail *trail, uint32_t state, Turns *before)
{
    Explorer *x = j->x;
    uint64_t way = way_of_state(state);
    lock(x);
    for (size_t i = 0; i < trail->steps.len; i++) {
        vec_push(before, way);
        way = step_on(j, way, &trail->steps.items[i]);
        turn_is_new(x, way);
    }
    vec_push(before, way);
    bool is_new = turn_is_new(x, tracer_turn(way, UINT32_MAX));
    unlock(x);
    return is_new;
}

/* ---- one input */

/* Counters of a front end that does not count: the branches of the trail. */
static uint8_t *count(const Explorer *x, const FrontTrace *t)
{
    uint8_t *c = xcalloc(x->facts.counters + 1, 1);
    if (t->counters)
        memcpy(c, t->counters, x->facts.counters);
    for (size_t i = 0; !t->counters && i < t->trail.steps.len; i++) {
        const Step *s = &t->trail.steps.items[i];
        if (s->kind == SUNDEW_REC_BRANCH && s->at < x->facts.counters)
            c[s->at] = 1;
    }
    return c;
}

static uint32_t keep(Job *j, const Config *c, const FrontTrace *t, uint64_t way)
{
    Explorer *x = j->x;
    uint8_t *counters = count(x, t);
    lock(x);
    unsigned news = queue_news(x->queue, counters, true);
    QueueRun run = { .origin = c->origin,
                     .parent = c->parent,
                     .path = way,
                     .micros = t->micros,
                     .when = explorer_age(x),
                     .new_edge = news == SUNDEW_NEWS_EDGE,
                     .state = c->input.state };
    Entry *e = queue_add(x->queue, c->input.bytes, c->input.n, counters, &run);
    queue_saw_path(x->queue, way);
    if (run.new_edge)
        x->last_new = explorer_age(x);
    x->solved_new += c->origin == FROM_SOLVER;
    level_at(x, c->depth)->figures.explored++;
    corpus_save(x, e);
    uint32_t id = e->id;
    unlock(x);
    free(counters);
    return id;
}

/* `extra` 0: the conjunct at `index` is negated. */
static void ask(Job *j, const Trail *trail, size_t index, Expr extra, const Config *c,
                uint32_t entry)
{
    Tracer *t = j->tracer;
    const FrontInput *in = &c->input;
    Answer a = { 0 };
    for (unsigned i = 0; i < 2 && a.exact == SOLVE_UNKNOWN && a.status != SOLVE_SAT; i++) {
        Solver *s = i ? t->deep : t->solver;
        if (extra)
            solver_query_extra(s, trail->path, index, extra, in->bytes, in->n, &a);
        else
            solver_query(s, trail->path, index, in->bytes, in->n, &a);
        tracer_tell_stats(j);
    }
    bool guess = a.status == SOLVE_OPTIMISTIC && a.exact == SOLVE_UNKNOWN;
    if (a.status != SOLVE_SAT && !guess)
        return;
    tracer_apply(t, in->bytes, in->n, &a);
    add(j->x, j,
        (Config){ .input = { .state = in->state, .bytes = xmemdup(t->room, in->n), .n = in->n },
                  .parent = entry,
                  .depth = c->depth,
                  .origin = FROM_SOLVER });
}

static bool wanted(Job *j, uint64_t before, uint32_t edge)
{
    lock(j->x);
    bool is_new = turn_is_new(j->x, tracer_turn(before, edge));
    unlock(j->x);
    return is_new && !job_over(j);
}

/* Values that were seen behind one way. */
enum { MOST_VALUES = 16 };
typedef struct Pinned {
    uint64_t values[MOST_VALUES];
    size_t n;
} Pinned;

/* Notes the value; false: it is known. Then `all` gets those that are, this one included. */
static bool value_is_new(Job *j, uint64_t before, const Step *s, Pinned *all)
{
    Explorer *x = j->x;
    uint64_t key = tracer_turn(before, s->at), v = value_of(j, s);
    bool is_new = true;
    lock(x);
    Pinned *p = map_getn(&x->pins, &key, sizeof key);
    if (!p) {
        p = arena_new(&x->arena, Pinned);
        map_putn(&x->pins, &key, sizeof key, p);
    }
    for (size_t i = 0; i < p->n; i++)
        is_new = is_new && p->values[i] != v;
    if (is_new && p->n < MOST_VALUES)
        p->values[p->n++] = v;
    *all = *p;
    unlock(x);
    return is_new;
}

/* Another value than all that were seen. */
static void ask_value(Job *j, const Trail *trail, size_t index, uint64_t before, const Config *c,
                      uint32_t entry)
{
    const Step *s = &trail->steps.items[index];
    Exprs *pool = j->tracer->pool;
    Pinned all;
    Expr other = 0;
    if (job_over(j) || !value_is_new(j, before, s, &all))
        return;
    if (all.n == MOST_VALUES) {
        tracer_note_cut(j, s);
        return;
    }
    for (size_t i = 0; i < all.n; i++) {
        Expr is = expr_binary(pool, EXPR_EQ, s->what,
                              expr_const(pool, expr_width(pool, s->what), all.values[i]));
        Expr not = is ? expr_not(pool, is) : 0;
        if (!not)
            return;
        other = other ? expr_binary(pool, EXPR_AND, other, not) : not;
    }
    if (other)
        ask(j, trail, index, other, c, entry);
}

static void ask_all(Job *j, const Trail *trail, const Turns *before, const Config *c,
                    uint32_t entry)
{
    assert(before->len == trail->steps.len + 1);
    for (size_t i = 0; i < trail->steps.len; i++) {
        const Step *s = &trail->steps.items[i];
        if (s->ask && s->kind == SUNDEW_REC_BRANCH && wanted(j, before->items[i], s->other))
            ask(j, trail, i, 0, c, entry);
        else if (is_choice(s))
            ask_value(j, trail, i, before->items[i], c, entry);
    }
    for (size_t i = 0; i < trail->others.len; i++) {
        const Chance *o = &trail->others.items[i];
        if (wanted(j, before->items[o->index], o->at))
            ask(j, trail, o->index, o->cond, c, entry);
    }
    for (size_t i = 0; i < trail->bugs.len; i++) {
        const Chance *b = &trail->bugs.items[i];
        if (wanted(j, before->items[b->index] + b->kind, b->at))
            ask(j, trail, b->index, b->cond, c, entry);
    }
}

/* Also of the beginning: then `c` is NULL. On the last level the front end is asked too, so that it
 * sees every input, but nothing is run. */
static bool follow(Job *j, const Config *c, uint32_t entry)
{
    Explorer *x = j->x;
    FrontInputs all = { 0 };
    uint32_t depth = c ? c->depth + 1 : 0;
    bool last = x->plan->depth && depth >= x->plan->depth;
    if (!x->front->follow)
        return true;
    bool ok =
        job_restore(j, c ? c->input.state : 0) &&
        x->front->follow(j->worker, c ? c->input.bytes : NULL, c ? c->input.n : 0, &all, &j->err);
    for (size_t i = 0; i < all.len; i++)
        if (last)
            free(all.items[i].bytes);
        else
            add(x, NULL,
                (Config){ .input = all.items[i],
                          .parent = entry,
                          .depth = c ? depth : all.items[i].depth,
                          .origin = c ? FROM_FRONT : FROM_SEED });
    lock(x);
    if (c && all.len)
        level_at(x, c->depth)->figures.extended++;
    unlock(x);
    vec_release(&all);
    return ok;
}

/* The front end may ask judge() and follow() about the run that has just been: nothing else is
 * run in between. */
static bool work(Job *j, const Config *c)
{
    Explorer *x = j->x;
    FrontTrace trace = { 0 };
    Turns before = { 0 };
    Input in = { c->input.state, c->input.bytes, c->input.n, c->parent };
    tracer_make_room(j->tracer);
    bool ok = tracer_run(j, &in, &trace);
    if (ok) {
        Trail *trail = &trace.trail;
        tracer_note_imprecise(j, trail, in.n);
        bool is_new = walk(j, trail, in.state, &before);
        uint64_t way = before.items[before.len - 1];
        uint32_t entry = is_new ? keep(j, c, &trace, way) : c->parent;
        ok = !is_new || follow(j, c, entry);
        failures_judge(j, &in, trace.died, false, 0);
        if (ok && is_new)
            ask_all(j, trail, &before, c, entry);
        lock(x);
        x->executions++;
        level_at(x, c->depth)->figures.repeated += !is_new;
        unlock(x);
    }
    vec_release(&before);
    front_trace_release(&trace);
    return ok;
}

/* ---- main */

bool systematic_try(Job *j, const uint8_t *bytes, size_t n, Origin origin)
{
    Config c = { .input = { .bytes = xmemdup(bytes, n), .n = n },
                 .parent = UINT32_MAX,
                 .origin = origin };
    if (!job_traces(j)) {
        free(c.input.bytes);
        return err_set(&j->err, "a systematic exploration needs runs that can be traced");
    }
    lock(j->x);
    bool is_new = visit(j->x, &c.input);
    unlock(j->x);
    bool ok = !is_new || work(j, &c);
    free(c.input.bytes);
    return ok;
}

bool systematic_begin(Job *j)
{
    Explorer *x = j->x;
    if (!follow(j, NULL, UINT32_MAX))
        return false;
    if (x->facts.by_state || (x->levels.len && x->levels.items[0].todo.len))
        return true;
    uint8_t *zeros = xcalloc(x->facts.fixed + 1, 1);
    bool ok = systematic_try(j, zeros, x->facts.fixed, FROM_SEED);
    free(zeros);
    return ok;
}

bool systematic_step(Job *j)
{
    Explorer *x = j->x;
    Config c;
    if (!job_traces(j))
        return err_set(&j->err, "a systematic exploration needs runs that can be traced");
    tracer_make_room(j->tracer);
    failures_study(j);
    if (!job_may_try(j))
        return true;
    if (!take(j, &c)) {
        j->granted += x->plan->executions != 0;
        usleep(1000);
        return true;
    }
    bool ok = work(j, &c);
    if (ok && x->facts.by_state && x->front->done && !j->held.len && !job_over(j))
        x->front->done(j->worker, c.input.state);
    free(c.input.bytes);
    lock(x);
    assert(x->busy);
    x->busy--;
    unlock(x);
    return ok;
}

void systematic_close(Job *j)
{
    for (size_t i = j->next_held; i < j->held.len; i++)
        free(j->held.items[i].input.bytes);
    vec_release(&j->held);
}

void systematic_finish(Explorer *x, ExploreResult *out)
{
    out->levels = arena_array(&out->arena, ExploreLevel, x->levels.len + 1);
    out->nlevels = x->levels.len;
    for (size_t d = 0; d < x->levels.len; d++) {
        Level *l = &x->levels.items[d];
        out->levels[d] = l->figures;
        out->levels[d].left = l->todo.len - l->next + l->held;
        for (size_t i = l->next; i < l->todo.len; i++)
            free(l->todo.items[i].input.bytes);
        vec_release(&l->todo);
    }
    vec_release(&x->levels);
    map_release(&x->visited);
    map_release(&x->turns);
    map_release(&x->pins);
}
