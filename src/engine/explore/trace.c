/*
 * The concolic stage. One step takes one input of the queue:
 *
 *     run it on the build that follows its input, read what it said (log.h)
 *     list what could be asked: the other way at each branch, other cases of
 *         switches, other addresses, bugs
 *     rank: ways that nobody went first; then bugs; then the rest
 *     ask the solver, best first, until the step's time is used up
 *     run every answer on the counting build: is it new, did it go where predicted?
 *
 * An edge that nobody has reached is asked for from many inputs, but it has a
 * budget of solver time, so that a hash that can't be inverted does not eat the
 * rest; of a loop's many rounds only some are asked about. When all inputs
 * were traced once they are traced again, longer by some bytes, and then also
 * edges that are covered are turned: such an input goes a new way through
 * known places.
 *
 * Numbers that stand as text are asked for twice: as digits, and as values whose
 * text may have any length (numbers.h).
 */
#include "engine/explore/trace_int.h"
#include "base/units.h"
#include "engine/concolic/condition.h"
#include "engine/explore/numbers.h"
#include <assert.h>
#include <math.h>
#include <string.h>

typedef enum { ASK_BRANCH, ASK_OTHER, ASK_BUG, ASK_PIN } AskKind;

/* The way that a question asks for, roughly: the same edge or site, after the same branch of
 * the program, as often as here. */
typedef struct Way {
    uint32_t kind, edge, after, times, value;
} Way;

/* A question about the input at hand. */
typedef struct Question {
    AskKind kind;
    uint32_t index;            /* conjuncts before it */
    uint32_t edge;             /* that is wanted; of bugs and pins: the site */
    Expr cond;                 /* not of BRANCH and PIN: their conjunct is negated */
    float rank;                /* the smaller the sooner */
    bool holes;
    uint8_t bug;
    Way way;
    uint64_t turn;             /* names the way up to here and then the other one; 0 */
    bool fine;                 /* asked for that reason only */
    bool fresh;                /* nobody asked for this turn before */
} Question;
typedef Vec(Question) Questions;

enum {
    POOL = 768 << 20,
    ASKED = 512,
    STONES = 4000,
    TURNED = 48,
    FINE = 32,
    MORE = 20000,
    MORE_BYTES = 64 << 20,
    TURNS = 1 << 19,
    USUAL = 8
};

/* ---- open, close */

Tracer *tracer_new(Job *j)
{
    Explorer *x = j->x;
    size_t n = x->facts.counters;
    Tracer *t = xcalloc(1, sizeof *t);
    t->pool = exprs_new(&(ExprsPlan){ .memory = POOL });
    t->in = exprs_source(t->pool, "input", TRACED_ROOM);
    t->solver = solver_new(t->pool, &(SolverPlan){ .seed = x->plan->seed + j->number,
                                                   .z3_steps = 400000,
                                                   .z3_seconds = x->steady ? 60 : 1,
                                                   .search_steps = 300000 });
    t->deep = solver_new(t->pool, &(SolverPlan){ .seed = x->plan->seed + j->number,
                                                 .z3_steps = 4000000,
                                                 .z3_seconds = x->steady ? 300 : 5 });
    t->edges = xcalloc(n + 1, sizeof *t->edges);
    t->touched = xcalloc(n + 1, sizeof *t->touched);
    t->here = xcalloc(n + 1, sizeof *t->here);
    t->room = xmalloc(TRACED_ROOM);
    t->values = xmalloc(TRACED_ROOM + 8 * TRAIL_NUMBERS);
    t->chosen = xmalloc(TRACED_ROOM + 8 * TRAIL_NUMBERS);
    return t;
}

void tracer_free(Tracer *t)
{
    if (!t)
        return;
    solver_free(t->solver);
    solver_free(t->deep);
    exprs_free(t->pool);
    map_release(&t->sites);
    map_release(&t->ways);
    for (size_t i = 0; i < t->stones.len; i++)
        free(t->stones.items[i].bytes);
    vec_release(&t->stones);
    for (size_t i = 0; i < t->more.len; i++)
        free(t->more.items[i].bytes);
    vec_release(&t->more);
    map_release(&t->turns);
    arena_release(&t->arena);
    free(t->edges);
    free(t->touched);
    free(t->here);
    free(t->room);
    free(t->values);
    free(t->chosen);
    free(t);
}

void tracer_tell_stats(Job *j)
{
    SolverStats s = solver_stats(j->tracer->solver), d = solver_stats(j->tracer->deep);
    s.queries += d.queries;
    s.sat += d.sat;
    s.unsat += d.unsat;
    s.unknown += d.unknown;
    s.optimistic += d.optimistic;
    s.seconds += d.seconds;
    pthread_mutex_lock(&j->x->lock);
    j->solver = s;
    pthread_mutex_unlock(&j->x->lock);
}

/* ---- which input */

static double urgency(const Entry *e)
{
    double u = 1;
    u *= e->favoured ? 4 : 1;
    u *= e->new_edge ? 4 : 1;
    u *= e->origin == FROM_SOLVER ? 2 : 1;
    u /= 1 + (double)e->n / 256;
    u /= 1 + e->micros / 2000;
    return u;
}

/* The most urgent one of those that were traced least; NULL: none is short enough. */
static Entry *choose(Job *j)
{
    Entry *best = NULL;
    Queue *q = j->x->queue;
    for (size_t i = 0; i < queue_length(q); i++) {
        Entry *e = queue_at(q, i);
        if (e->n > LONGEST_TRACED)
            continue;
        if (!best || e->traces < best->traces ||
            (e->traces == best->traces && urgency(e) > urgency(best)))
            best = e;
    }
    return best;
}

/* Nothing was found for a while: mutation has shown what it can do. Under the lock. */
static bool is_dry(const Explorer *x)
{
    double now = explorer_age(x);
    return now - x->last_new > 2 + 0.1 * now;
}

/* Where no input gets through, those that fail are all there is. Under the lock. */
static bool is_failure_left(const Job *j)
{
    return !queue_length(j->x->queue) && j->tracer->failed < j->x->bugs.len;
}

bool tracer_wanted(Job *j)
{
    if (j->x->plan->no_mutation)
        return true;
    pthread_mutex_lock(&j->x->lock);
    const Entry *e = choose(j);
    bool failure = is_failure_left(j);
    unsigned level = e ? e->traces : 100;
    bool dry = is_dry(j->x);
    pthread_mutex_unlock(&j->x->lock);
    if (failure)
        return true;
    double share = level == 0 ? 0.5 : level == 1 ? 0.3 : 0.15;
    const Tracer *t = j->tracer;
    if (t->next_stone < t->stones.len)
        share = fmax(share, 0.4);
    else if (level >= USUAL && !t->more.len)
        return false;
    else if (level >= 2 && t->more.len && dry)
        share = 0.5;
    return j->tracing < share * (j->tracing + j->mutating);
}

/* ---- questions */

/* Edges behind the branches of the program are of standins. */
static bool is_of_program(const Job *j, uint32_t edge) { return edge < j->x->facts.branches; }

static Tries *tries_at(Tracer *t, AskKind kind, unsigned k, uint32_t site)
{
    uint32_t key[3] = { kind, k, site };
    Tries *r = map_getn(&t->sites, key, sizeof key);
    if (!r) {
        r = arena_new(&t->arena, Tries);
        map_putn(&t->sites, key, sizeof key, r);
    }
    return r;
}

static bool is_spent(const Tracer *t, const Tries *r)
{
    double share = fmax(1.0, 0.05 * t->solving);
    return r->asked > 2 && r->seconds > share;
}

/* How often this edge was asked about in this list of questions. */
static unsigned times_here(Tracer *t, uint32_t edge)
{
    if (t->touched[edge] != t->lists) {
        t->touched[edge] = t->lists;
        t->here[edge] = 0;
    }
    return t->here[edge]++;
}

/* Of a site's many rounds: the first ones, then ever rarer. */
static bool is_round_wanted(unsigned n, unsigned most) { return n < most || (n & (n - 1)) == 0; }

/* Counts on: how often this edge or site was there in the trail. */
static uint32_t times_before(Map *seen, uint32_t edge)
{
    void **slot = map_slotn(seen, &edge, sizeof edge);
    uint32_t n = (uint32_t)(uintptr_t)*slot + 1;
    *slot = (void *)(uintptr_t)n;
    return n < 32 ? n : 32 + (n & ~31u);
}

static bool is_new_way(const Tracer *t, const Way *w) { return !map_getn(&t->ways, w, sizeof *w); }

uint64_t tracer_turn(uint64_t before, uint32_t edge)
{
    uint64_t h = (before ^ edge) * 0x9e3779b97f4a7c15ull;
    return (h ^ h >> 29) * 0xbf58476d1ce4e5b9ull | 1;
}

static bool is_new_turn(const Tracer *t, uint64_t turn)
{
    return turn && t->turns.len < TURNS && !map_getn(&t->turns, &turn, sizeof turn);
}

static void take_turn(Tracer *t, uint64_t turn)
{
    if (is_new_turn(t, turn))
        map_putn(&t->turns, &turn, sizeof turn, t);
}

/* A way that nobody went, however well known its places are: any of them, and last. */
static void add_fine(Job *j, Question *q, unsigned level, Questions *out)
{
    if (!level || !is_new_turn(j->tracer, q->turn))
        return;
    q->fine = true;
    q->rank = 200 + (float)rng_below(&j->rng, 1000);
    vec_push(out, *q);
}

static void add_branch(Job *j, const Step *s, uint32_t i, unsigned level, Way way, uint64_t turn,
                       unsigned *turned, Questions *out)
{
    Tracer *t = j->tracer;
    Question q = { .kind = ASK_BRANCH,
                   .index = i,
                   .edge = s->other,
                   .holes = s->holes,
                   .way = way,
                   .turn = turn };
    if (!is_of_program(j, s->other)) {
        /* in a standin: no edge of the program, but its ways matter too */
        Tries *r = tries_at(t, ASK_BRANCH, 0, s->other);
        if (is_spent(t, r))
            return;
        if (r->asked >= 40 + 20 * level && !is_new_way(t, &way)) {
            add_fine(j, &q, level, out);
            return;
        }
        q.rank = 4 + (float)r->asked / 4;
        vec_push(out, q);
        return;
    }
    bool covered = queue_covers(j->x->queue, s->other);
    const Tries *r = &t->edges[s->other];
    unsigned n = times_here(t, s->other);
    if (is_spent(t, r))
        return;
    if (!covered && is_round_wanted(n, 3))
        q.rank = (float)n / 4 + (float)r->asked / 100;
    else if (covered && level && r->asked < 30 * level && is_round_wanted(n, level))
        q.rank = 10 + (float)r->asked + (float)n;
    else if (covered && level && *turned < TURNED && is_new_way(t, &way))
        q.rank = 50 + (float)(*turned)++;
    else {
        add_fine(j, &q, level, out);
        return;
    }
    if (!level)
        q.way.times = 0;               /* no stone */
    vec_push(out, q);
}

static void add_branches(Job *j, const Trail *trail, unsigned level, Questions *out)
{
    Tracer *t = j->tracer;
    Map seen = { 0 };
    uint32_t after = UINT32_MAX;
    uint64_t before = 1;
    unsigned turned = 0;
    for (size_t i = 0; i < trail->steps.len; i++) {
        const Step *s = &trail->steps.items[i];
        bool pin = s->kind == SUNDEW_REC_PIN;
        Way way = { pin ? ASK_PIN : ASK_BRANCH, pin ? s->at : s->other, after,
                    times_before(&seen, pin || s->at < s->other ? s->at : s->other), 0 };
        if (!pin && is_of_program(j, s->at))
            after = s->at;
        uint64_t turn = i < DEEP && !pin ? tracer_turn(before, s->other) : 0;
        if (i < DEEP)
            t->before[i] = before;
        before = tracer_turn(before, s->at);
        if (level && i < DEEP)
            take_turn(t, before);
        if (!s->ask)
            continue;
        if (!pin) {
            add_branch(j, s, (uint32_t)i, level, way, turn, &turned, out);
            continue;
        }
        Tries *r = tries_at(t, ASK_PIN, s->why, s->at);
        if (r->asked < 6 + 4 * level && !is_spent(t, r))
            vec_push(out, ((Question){ .kind = ASK_PIN,
                                       .index = (uint32_t)i,
                                       .edge = s->at,
                                       .rank = 8 + (float)r->asked,
                                       .holes = s->holes,
                                       .way = way }));
    }
    map_release(&seen);
}

static void add_chances(Job *j, const Trail *trail, unsigned level, Questions *out)
{
    Tracer *t = j->tracer;
    for (size_t i = 0; i < trail->others.len; i++) {
        const Chance *c = &trail->others.items[i];
        bool ours = is_of_program(j, c->at), covered = ours && queue_covers(j->x->queue, c->at);
        const Tries *r = ours ? &t->edges[c->at] : tries_at(t, ASK_OTHER, 0, c->at);
        unsigned n = ours ? times_here(t, c->at) : 0;
        Question q = { .kind = ASK_OTHER,
                       .index = c->index,
                       .edge = c->at,
                       .cond = c->cond,
                       .rank = ours ? (covered ? 10 : 0) + (float)n / 4 + (float)r->asked / 100
                                    : 4 + (float)r->asked / 4,
                       .holes = c->holes,
                       .turn = c->index < DEEP && c->index < trail->steps.len
                                   ? tracer_turn(t->before[c->index], c->at)
                                   : 0 };
        if (is_spent(t, r))
            continue;
        if (!ours)
            q.way = (Way){ ASK_OTHER, c->at, 0, c->index + 1, 0 };
        if (ours ? (covered && r->asked >= 10 * level) || !is_round_wanted(n, 3) : r->asked >= 20)
            add_fine(j, &q, level, out);
        else
            vec_push(out, q);
    }
    for (size_t i = 0; i < trail->bugs.len; i++) {
        const Chance *c = &trail->bugs.items[i];
        const Tries *r = tries_at(t, ASK_BUG, c->kind, c->at);
        if (r->sat < 2 && r->asked < 6 + 6 * level && !is_spent(t, r))
            vec_push(out, ((Question){ .kind = ASK_BUG,
                                       .index = c->index,
                                       .edge = c->at,
                                       .cond = c->cond,
                                       .rank = 2 + (float)r->asked,
                                       .holes = c->holes,
                                       .bug = c->kind }));
    }
}

static int by_rank(const void *a, const void *b)
{
    const Question *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* ---- answers */

static bool touches(const Entry *e, uint32_t edge)
{
    size_t low = 0, high = e->nedges;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (e->edges[mid] == edge)
            return true;
        if (e->edges[mid] < edge)
            low = mid + 1;
        else
            high = mid;
    }
    return false;
}

/* Runs of changed bytes are words that the program knows. */
static void learn(Job *j, const uint8_t *bytes, const Answer *a)
{
    for (size_t i = 0; i < a->nchanges;) {
        size_t k = i + 1;
        while (k < a->nchanges && a->changes[k].byte == a->changes[k - 1].byte + 1)
            k++;
        if (k - i >= 2 && k - i <= 16)
            explorer_word(j->x, bytes + (a->changes[i].byte - j->tracer->in), k - i);
        i = k;
    }
}

/* What is known of this imprecision; NULL: there are too many. Under the lock. */
static ExploreImprecise *imprecise_at(Explorer *x, const Note *n)
{
    char *key = xprintf("%u %u %s", n->why, n->site, n->name);
    ExploreImprecise *m = map_get(&x->imprecise, key);
    if (!m && x->imprecise.len < 1000) {
        const char *file = "";
        unsigned line = 0;
        if (x->front->place)
            x->front->place(x->plan->subject, n->site, &file, &line);
        m = arena_new(&x->arena, ExploreImprecise);
        m->why = log_why_name(n->why);
        m->name = arena_strdup(&x->arena, n->name);
        m->file = arena_strdup(&x->arena, file);
        m->line = line;
        map_put(&x->imprecise, key, m);
    }
    free(key);
    return m;
}

/* Blames the last imprecision before the condition that was turned. Under the lock. */
static void blame(Job *j, const Question *q)
{
    const Trail *trail = j->tracer->trail;
    const Note *last = NULL;
    assert(trail);
    for (size_t i = 0; i < trail->notes.len && trail->notes.items[i].index <= q->index; i++)
        last = &trail->notes.items[i];
    ExploreImprecise *m = last ? imprecise_at(j->x, last) : NULL;
    if (m)
        m->diverged++;
}

/* `batch`: the run of the answer. */
static void note_check(Job *j, const Question *q, const Answer *a, const Entry *parent, bool padded,
                       const FrontBatch *batch)
{
    Explorer *x = j->x;
    if (a->status != SOLVE_SAT || q->kind == ASK_BUG || q->kind == ASK_PIN || batch->runs->died ||
        !is_of_program(j, q->edge) || (!padded && touches(parent, q->edge)))
        return;
    bool right = batch->counters[q->edge] != 0;
    pthread_mutex_lock(&x->lock);
    x->checked++;
    x->diverged += !right;
    x->checked_precise += !q->holes;
    x->diverged_precise += !q->holes && !right;
    if (!right && q->holes)
        blame(j, q);
    pthread_mutex_unlock(&x->lock);
}

static void keep_stone(Job *j, const Question *q, const Entry *e, size_t n)
{
    Tracer *t = j->tracer;
    Way w = q->way;
    if (q->kind == ASK_PIN)            /* each address is a way of its own */
        w.value = (uint32_t)hash_bytes(t->room, n);
    w.kind += 16;                      /* asked for, and reached */
    if (!q->fine && w.times && t->stones.len < STONES && map_putn(&t->ways, &w, sizeof w, NULL)) {
        vec_push(&t->stones, ((Stone){ xmemdup(t->room, n), n, e->id, q->index }));
    } else if (q->fresh && t->more.len < MORE && t->more_bytes + n < MORE_BYTES) {
        vec_push(&t->more, ((Stone){ xmemdup(t->room, n), n, e->id, q->index }));
        t->more_bytes += n;
    }
}

void tracer_apply(Tracer *t, const uint8_t *bytes, size_t n, const Answer *a)
{
    assert(n <= TRACED_ROOM);
    memcpy(t->room, bytes, n);
    for (size_t i = 0; i < a->nchanges; i++)
        if (a->changes[i].byte - t->in < n)
            t->room[a->changes[i].byte - t->in] = a->changes[i].value;
}

/* An answer whose run went nowhere new. */
static void keep_for_later(Job *j, const Question *q, const Answer *a, const Entry *e, size_t n)
{
    if (a->status == SOLVE_SAT)
        keep_stone(j, q, e, n);
    if (q->kind != ASK_BUG)
        failures_sample(j, &(Input){ 0, j->tracer->room, n, e->id });
}

/* Runs the n bytes in t->room, made of an answer; false: no more runs are possible. */
static bool try_room(Job *j, const Question *q, const Answer *a, const Entry *e, size_t n)
{
    Tracer *t = j->tracer;
    Explorer *x = j->x;
    FrontBatch batch;
    if (!job_may_try(j))
        return true;
    if (!x->front->add(j->worker, t->room, n) || !stage_run(j, false, &batch) || !batch.n)
        return false;
    stage_tried(j, &batch);
    const FrontRun r = *batch.runs;
    note_check(j, q, a, e, n != e->n, &batch);
    if (q->kind == ASK_BUG)
        failures_judge(j, &(Input){ 0, t->room, n, e->id }, false, false, 0);
    if (!r.news && !r.died) {
        keep_for_later(j, q, a, e, n);
        return true;
    }
    /* The news are taken: look again, by itself. */
    Entry *kept = NULL;
    if (!stage_keep(j, &r, FROM_SOLVER, e->id, &kept))
        return false;
    if (kept) {
        pthread_mutex_lock(&x->lock);
        x->solved_new++;
        pthread_mutex_unlock(&x->lock);
    } else if (!r.died && a->status == SOLVE_SAT) {
        keep_stone(j, q, e, n);
    }
    return true;
}

/* The answer says which numbers there should be. Their text is no part of what was asked, so
 * nothing is predicted. */
static bool try_numbers(Job *j, const Question *q, const Answer *a, const Entry *e, size_t n)
{
    Tracer *t = j->tracer;
    const Answer unsure = { .status = SOLVE_OPTIMISTIC };
    bool ok = true;
    memcpy(t->chosen, t->values, numbers_wide(t->trail));
    for (size_t i = 0; i < a->nchanges; i++)
        t->chosen[a->changes[i].byte] = a->changes[i].value;
    for (NumbersHow how = NUMBERS_MOVE; ok && how <= NUMBERS_OVERWRITE; how++) {
        if (how == NUMBERS_MOVE && j->x->facts.fixed)
            continue;
        size_t room = j->x->longest < LONGEST_TRACED ? j->x->longest : LONGEST_TRACED;
        size_t written =
            numbers_write(t->trail, t->values, t->chosen, n, how, t->room, n > room ? n : room);
        ok = !written || try_room(j, q, &unsure, e, written);
    }
    return ok;
}

static bool try_answer(Job *j, const Question *q, const Answer *a, const Entry *e,
                       const uint8_t *bytes, size_t n)
{
    Tracer *t = j->tracer;
    if (t->trail->free)
        return try_numbers(j, q, a, e, n);
    tracer_apply(t, bytes, n, a);
    if (a->status == SOLVE_SAT)
        learn(j, t->room, a);
    while (j->x->facts.zeros && n > e->n && t->room[n - 1] == 0)
        n--;
    return try_room(j, q, a, e, n);
}

static SolveStatus ask(Tracer *t, const Trail *trail, const Question *q, const uint8_t *bytes,
                       size_t n, Answer *a)
{
    /* What is left over when all is traced deserves more patience. */
    Solver *s = t->level ? t->deep : t->solver;
    if (trail->free) {
        bytes = t->values;
        n = numbers_wide(trail);
    }
    if (q->kind == ASK_BRANCH || q->kind == ASK_PIN)
        return solver_query(s, trail->path, q->index, bytes, n, a);
    return solver_query_extra(s, trail->path, q->index, q->cond, bytes, n, a);
}

static Tries *tries_of(Job *j, const Question *q, const Trail *trail)
{
    Tracer *t = j->tracer;
    if (q->kind == ASK_BUG)
        return tries_at(t, ASK_BUG, q->bug, q->edge);
    if (q->kind == ASK_PIN)
        return tries_at(t, ASK_PIN, trail->steps.items[q->index].why, q->edge);
    if (!is_of_program(j, q->edge))
        return tries_at(t, q->kind, 0, q->edge);
    return &t->edges[q->edge];
}

/* Somebody has been there since the question was listed. */
static bool is_reached(Job *j, const Question *q)
{
    if (!is_of_program(j, q->edge) || q->rank >= 4 || q->kind == ASK_BUG)
        return false;
    pthread_mutex_lock(&j->x->lock);
    bool covers = queue_covers(j->x->queue, q->edge);
    pthread_mutex_unlock(&j->x->lock);
    return covers;
}

/* What a question took, or usually takes. */
static double seconds_of(const Explorer *x, const Answer *a)
{
    if (!x->steady)
        return a->seconds;
    return a->status == SOLVE_UNKNOWN ? 0.5 : 5e-3;
}

static void note_question(Explorer *x)
{
    pthread_mutex_lock(&x->lock);
    x->idle = 0;
    pthread_mutex_unlock(&x->lock);
}

static bool answer_all(Job *j, const Trail *trail, Questions *qs, const Entry *e,
                       const uint8_t *bytes, size_t n, double until)
{
    Tracer *t = j->tracer;
    bool ok = true;
    unsigned fine = 0;
    for (size_t i = 0; ok && i < qs->len && !job_done(j); i++) {
        Question *q = &qs->items[i];
        Tries *r = tries_of(j, q, trail);
        if (explorer_age(j->x) > until || (q->fine && fine++ >= FINE))
            break;
        if (is_reached(j, q) || is_spent(t, r))
            continue;
        Answer a = { 0 };
        SolveStatus s = ask(t, trail, q, bytes, n, &a);
        tracer_tell_stats(j);
        note_question(j->x);
        r->asked += !q->fine;
        q->fresh = t->level && is_new_turn(t, q->turn);
        if (q->fresh)
            take_turn(t, q->turn);
        if (q->way.times)
            map_putn(&t->ways, &q->way, sizeof q->way, t);
        double seconds = seconds_of(j->x, &a);
        explorer_worked(j->x, seconds);
        r->seconds += (float)seconds;
        t->solving += seconds;
        r->sat += s == SOLVE_SAT;
        if (s == SOLVE_SAT || s == SOLVE_OPTIMISTIC)
            ok = try_answer(j, q, &a, e, bytes, n);
    }
    return ok;
}

/* ---- a step */

void tracer_note_imprecise(Job *j, const Trail *trail, size_t n)
{
    Explorer *x = j->x;
    pthread_mutex_lock(&x->lock);
    for (size_t i = 0; i < trail->notes.len; i++) {
        ExploreImprecise *m = imprecise_at(x, &trail->notes.items[i]);
        if (m)
            m->count++;
    }
    x->ntraces++;
    x->idle++;
    x->nfollowed += n > 0;
    x->ndepending += trail->steps.len;
    pthread_mutex_unlock(&x->lock);
}

void tracer_note_cut(Job *j, const Step *s)
{
    pthread_mutex_lock(&j->x->lock);
    ExploreImprecise *m = imprecise_at(j->x, &(Note){ .why = s->why, .site = s->at, .name = "" });
    if (m)
        m->count++;
    pthread_mutex_unlock(&j->x->lock);
}

void tracer_make_room(Tracer *t)
{
    if (exprs_memory(t->pool) > POOL / 4 * 3 || exprs_is_full(t->pool))
        exprs_reset(t->pool);
}

bool tracer_run(Job *j, const Input *in, FrontTrace *out)
{
    Tracer *t = j->tracer;
    assert(in->n <= TRACED_ROOM && !out->trail.path);
    explorer_worked(j->x, 20e-3);
    out->trail.in = t->in;
    bool ok = job_restore(j, in->state) &&
              j->x->front->trace(j->worker, t->pool, t->in, in->bytes, in->n, out, &j->err);
    if (ok)
        trail_check(&out->trail, t->pool);
    return ok;
}

/* From the second time on, some bytes are added: what is behind the end may matter. A
 * program that asks for its input gets zeros there anyway. */
static uint8_t *padded(const Entry *e, unsigned level, const Explorer *x, size_t *n)
{
    bool asks = x->facts.zeros;
    size_t more = asks ? (e->n < ASKED ? ASKED - e->n : 64) : level % 2 ? 8 + e->n / 4 : 0;
    size_t longest = x->longest;
    if (e->n < x->facts.fixed)
        more = x->facts.fixed - e->n;        /* slots are filled up with zeros anyway */
    if (e->n + more > LONGEST_TRACED || e->n + more > longest)
        more = 0;
    uint8_t *bytes = xmalloc(e->n + more + 1);
    memcpy(bytes, e->bytes, e->n);
    memset(bytes + e->n, level % 4 == 1 && !asks && e->n >= x->facts.fixed ? '0' : 0, more);
    *n = e->n + more;
    return bytes;
}

/* Of a trail with numbers: questions about numbers whose answers would be new. */
static void keep_numbers(const Tracer *t, const Trail *trail, Questions *qs)
{
    size_t kept = 0;
    for (size_t i = 0; i < qs->len; i++) {
        const Question *q = &qs->items[i];
        Expr cond = q->cond ? q->cond : path_at(trail->path, q->index).cond;
        if (q->rank < 4 && q->kind != ASK_PIN && numbers_matter(trail, t->pool, cond))
            qs->items[kept++] = *q;
    }
    qs->len = kept;
}

static bool ask_all(Job *j, const Trail *trail, const Entry *e, const uint8_t *bytes, size_t n)
{
    Tracer *t = j->tracer;
    Explorer *x = j->x;
    Questions qs = { 0 };
    t->trail = trail;
    t->lists++;
    pthread_mutex_lock(&x->lock);
    add_branches(j, trail, t->level, &qs);
    add_chances(j, trail, t->level, &qs);
    pthread_mutex_unlock(&x->lock);
    if (trail->free) {
        numbers_values(trail, t->pool, bytes, n, t->values);
        keep_numbers(t, trail, &qs);
    }
    if (qs.len)
        qsort(qs.items, qs.len, sizeof *qs.items, by_rank);
    bool ok = answer_all(j, trail, &qs, e, bytes, n, explorer_age(x) + 5);
    t->trail = NULL;
    vec_release(&qs);
    return ok;
}

/* Traces one input and asks what follows from it. */
static bool step(Job *j, const Entry *e, const uint8_t *bytes, size_t n, unsigned level)
{
    Tracer *t = j->tracer;
    FrontTrace trace = { 0 };
    t->traces++;
    t->level = level;
    tracer_make_room(t);
    bool ok = tracer_run(j, &(Input){ 0, bytes, n, e->id }, &trace);
    if (ok && trace.trail.path) {
        tracer_note_imprecise(j, &trace.trail, n);
        ok = ask_all(j, &trace.trail, e, bytes, n);
    }
    if (ok && trace.numbers.path)
        ok = ask_all(j, &trace.numbers, e, bytes, n);
    front_trace_release(&trace);
    return ok;
}

/* A stone between two entries of the queue: longer only by what the program sees behind its
 * end anyway. */
static bool step_on(Job *j, const Stone *s)
{
    Entry e = { .id = s->parent, .bytes = s->bytes, .n = s->n };
    size_t n;
    uint8_t *bytes = padded(&e, 0, j->x, &n);
    bool ok = step(j, &e, bytes, n, 1);
    free(bytes);
    return ok;
}

/* Any of those that only go another way; every second time rather one that has come far. */
static bool step_on_any(Job *j)
{
    Tracer *t = j->tracer;
    size_t i = rng_below(&j->rng, t->more.len);
    for (unsigned tries = t->traces % 2 ? 4 : 0; tries; tries--) {
        size_t k = rng_below(&j->rng, t->more.len);
        if (t->more.items[k].depth > t->more.items[i].depth)
            i = k;
    }
    Stone s = t->more.items[i];
    t->more.items[i] = t->more.items[--t->more.len];
    t->more_bytes -= s.n;
    bool ok = step_on(j, &s);
    free(s.bytes);
    return ok;
}

/* With some zeros behind it: it may be empty. */
static bool step_on_failure(Job *j)
{
    enum { MORE_ZEROS = 16 };
    Explorer *x = j->x;
    pthread_mutex_lock(&x->lock);
    const Bug *b = x->bugs.items[j->tracer->failed++];
    Stone s = { xcalloc(b->n + MORE_ZEROS, 1), b->n + MORE_ZEROS, UINT32_MAX, 0 };
    memcpy(s.bytes, b->bytes, b->n);
    pthread_mutex_unlock(&x->lock);
    bool ok = step_on(j, &s);
    free(s.bytes);
    return ok;
}

/* Each input was traced anew, with all that is put behind one (padded()), and asked nothing. */
static bool is_idle(Job *j)
{
    enum { WAYS = 4, SPARE = 32 };
    const Tracer *t = j->tracer;
    pthread_mutex_lock(&j->x->lock);
    bool idle = j->x->idle > WAYS * queue_length(j->x->queue) + SPARE;
    pthread_mutex_unlock(&j->x->lock);
    return idle && !t->more.len && t->next_stone == t->stones.len;
}

bool tracer_step(Job *j)
{
    Tracer *t = j->tracer;
    Explorer *x = j->x;
    tracer_make_room(t);
    failures_study(j);
    if (x->plan->no_mutation && !(x->plan->sync && *x->plan->sync) && is_idle(j)) {
        explorer_stop(x, "nothing is left");
        return true;
    }
    if (t->next_stone < t->stones.len && t->traces % 2)
        return step_on(j, &t->stones.items[t->next_stone++]);
    pthread_mutex_lock(&x->lock);
    Entry *e = choose(j);
    unsigned level = e ? e->traces : 0;
    bool failure = is_failure_left(j);
    bool any = t->more.len && (level >= USUAL || (level >= 2 && t->traces % 4));
    if (e && !any)
        e->traces++;
    pthread_mutex_unlock(&x->lock);
    if (failure)
        return step_on_failure(j);
    if (any)
        return step_on_any(j);
    if (!e)
        return true;
    size_t n;
    uint8_t *bytes = padded(e, level, x, &n);
    bool ok = step(j, e, bytes, n, level);
    free(bytes);
    return ok;
}

/* ---- conditions */

typedef struct Study {
    Job *job;
    FrontJudge by;
    uint32_t state;
    const Failure *failure;
} Study;

static bool fails_alike(const uint8_t *bytes, size_t n, void *study)
{
    const Study *s = study;
    return failures_alike(s->job, s->by, &(Input){ s->state, bytes, n, UINT32_MAX }, s->failure);
}

static bool study_is_over(void *study) { return job_over(((const Study *)study)->job); }

char *tracer_condition(Job *j, FrontJudge by, const Input *in, const Failure *f)
{
    Explorer *x = j->x;
    Tracer *t = j->tracer;
    if (!t || in->n > CONDITION_LONGEST)
        return NULL;
    Study study = { j, by, in->state, f };
    ConditionPlan plan = { .pool = t->pool,
                           .in = t->in,
                           .solver = t->solver,
                           .seed = x->plan->seed + 77,
                           .seconds = x->steady ? 600 : 60,
                           .fails = fails_alike,
                           .over = study_is_over,
                           .arg = &study };
    FrontTrace trace = { 0 };
    char *text = NULL;
    if (tracer_run(j, in, &trace))
        text = condition_find(&plan, &trace.trail, in->bytes, in->n);
    front_trace_release(&trace);
    tracer_tell_stats(j);
    return text && x->front->in_words ? x->front->in_words(x->plan->subject, text) : text;
}

/* ---- for front ends */

void front_trace_release(FrontTrace *t)
{
    trail_release(&t->trail);
    trail_release(&t->numbers);
}

void front_branch(FrontTrace *t, Exprs *p, Expr cond, uint32_t at, bool taken)
{
    Trail *trail = &t->trail;
    if (!trail->path)
        trail->path = path_new(p);
    ExprValue v;
    if (!cond || expr_is_const(p, cond, &v))
        return;
    path_add(trail->path, cond, at, taken);
    vec_push(&trail->steps, ((Step){ .kind = SUNDEW_REC_BRANCH,
                                     .ask = true,
                                     .at = taken ? at : at + 1,
                                     .other = taken ? at + 1 : at }));
}
