/*
 * A query's way: slice the path, look into the caches, ask the quick solvers
 * in ascending order of cost, ask Z3; and if the whole has no solution, ask
 * again for less (optimistic). Each tier is one function here that either
 * settles the query or passes it on.
 */
#include "solve/solve.h"
#include "base/map.h"
#include "base/mem.h"
#include "solve/cache.h"
#include "solve/expr_int.h"
#include "solve/problem.h"
#include "solve/smt.h"
#include <assert.h>
#include <time.h>

struct Solver {
    Exprs *p;
    SolverPlan plan;
    uint32_t generation;      /* of the pool, when the caches were filled */
    Cache *cache;
    Masks *masks;
    atomic_bool stop;
    Vec(ByteChange) changes;
    SolverStats stats;
};

/*
 * One question: conds[first_goal ..] and all conds before. `sorted` is the
 * same ascending, each once. The assignment belongs to the query.
 */
typedef struct Query {
    Solver *s;
    Slice conds, sorted;
    size_t first_goal;
    const uint8_t *parent;
    size_t len;
    Problem problem;
    bool has_problem, no_room;
    SolveStatus status;
    SolveTier tier;
    SolveReason reason;
    Assignment assignment;
    Slice core;               /* of UNSAT, if smaller than all */
} Query;

/* ---- names */

const char *solve_tier_name(SolveTier t)
{
    static const char *const names[TIER_N] = {
        "trivial", "repeat", "core",  "bytes",  "model", "interval",
        "back",    "copy",   "small", "newton", "down",  "z3",
    };
    assert((unsigned)t < TIER_N);
    return names[t];
}

const char *solve_reason_name(SolveReason r)
{
    static const char *const names[REASON_N] = {
        "none",  "steps",       "time",        "memory", "size",
        "float", "interrupted", "wrong model", "z3 off", "other",
    };
    assert((unsigned)r < REASON_N);
    return names[r];
}

/* ---- solvers */

static void set_defaults(SolverPlan *plan)
{
    if (!plan->z3_steps)
        plan->z3_steps = 4000000;
    if (!(plan->z3_seconds > 0))
        plan->z3_seconds = 10;
    if (!plan->z3_memory)
        plan->z3_memory = 1024;
    if (!plan->z3_nodes)
        plan->z3_nodes = 200000;
    if (!plan->z3_float_nodes)
        plan->z3_float_nodes = 64;
    if (!plan->search_steps)
        plan->search_steps = 2000000;
    if (!plan->cache_entries)
        plan->cache_entries = 4096;
}

Solver *solver_new(Exprs *p, const SolverPlan *plan)
{
    Solver *s = xcalloc(1, sizeof *s);
    s->p = p;
    if (plan)
        s->plan = *plan;
    set_defaults(&s->plan);
    s->generation = exprs_generation(p);
    s->cache = cache_new(s->plan.cache_entries);
    s->masks = masks_new(s->plan.cache_entries);
    return s;
}

void solver_free(Solver *s)
{
    if (!s)
        return;
    cache_free(s->cache);
    masks_free(s->masks);
    vec_release(&s->changes);
    free(s);
}

void solver_interrupt(Solver *s) { atomic_store(&s->stop, true); }

void solver_resume(Solver *s) { atomic_store(&s->stop, false); }

SolverStats solver_stats(const Solver *s) { return s->stats; }

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- queries */

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Bytes behind the parent's end are 0: say so, where they occur. False if the
 * pool has no room for that. */
static bool add_end(Query *k)
{
    Exprs *p = k->s->p;
    uint32_t beyond = 0;
    for (size_t i = 0; i < k->conds.len; i++) {
        size_t n;
        const ByteRange *r = expr_bytes(p, k->conds.items[i], &n);
        if (n && r[n - 1].to > beyond)
            beyond = r[n - 1].to;
    }
    if (beyond <= k->len)
        return true;
    bool ok = true;
    Tape *t = tape_new(p, k->conds.items, k->conds.len);
    Slice extra = { 0 };
    for (size_t i = 0; i < tape_nbytes(t); i++) {
        if (tape_bytes(t)[i] < k->len)
            continue;
        Expr zero = expr_binary(p, EXPR_EQ, expr_byte(p, tape_bytes(t)[i]), expr_const(p, 8, 0));
        ok &= zero != 0;
        if (zero)
            vec_push(&extra, zero);
    }
    tape_free(t);
    /* In front, so that the question stays last. */
    size_t n = extra.len;
    for (size_t i = 0; i < k->conds.len; i++)
        vec_push(&extra, k->conds.items[i]);
    vec_release(&k->conds);
    k->conds = extra;
    k->first_goal += n;
    return ok;
}

static void add_goal(const Exprs *p, Expr goal, Slice *out)
{
    Slice stack = { 0 };
    vec_push(&stack, goal);
    while (stack.len) {
        Expr e = stack.items[--stack.len];
        ExprNode n = expr_node(p, e);
        ExprValue v;
        if (n.op == EXPR_AND && out->len < 4096) {
            vec_push(&stack, n.b);
            vec_push(&stack, n.a);
        } else if (!expr_is_const(p, e, &v) || !v) {   /* true adds nothing */
            vec_push(out, e);
        }
    }
    vec_release(&stack);
}

/* Ascending, each once. */
static void make_set(Slice *s)
{
    size_t n = 0;
    if (s->len)
        qsort(s->items, s->len, sizeof(Expr), ascending);
    for (size_t i = 0; i < s->len; i++)
        if (!n || s->items[n - 1] != s->items[i])
            s->items[n++] = s->items[i];
    s->len = n;
}

static void sort_conds(Query *k)
{
    k->sorted.len = 0;
    for (size_t i = 0; i < k->conds.len; i++)
        vec_push(&k->sorted, k->conds.items[i]);
    make_set(&k->sorted);
}

static void query_init(Query *k, Solver *s, const uint8_t *parent, size_t len)
{
    *k = (Query){ .s = s, .parent = parent, .len = len };
}

/* The conditions are complete. */
static void query_ready(Query *k)
{
    k->no_room = !add_end(k);
    sort_conds(k);
}

static void query_release(Query *k)
{
    if (k->has_problem)
        problem_release(&k->problem);
    vec_release(&k->conds);
    vec_release(&k->sorted);
    vec_release(&k->core);
    free(k->assignment.bytes);
    free(k->assignment.values);
}

/* ---- answers */

static bool settle(Query *k, SolveTier tier, SolveStatus status)
{
    assert(status == SOLVE_SAT || status == SOLVE_UNSAT);
    k->status = status;
    k->tier = tier;
    return true;
}

static int by_byte(const void *a, const void *b)
{
    return ascending(&((const ByteChange *)a)->byte, &((const ByteChange *)b)->byte);
}

/* Assignments ascend. The bytes of a problem don't quite: those that only single
 * conditions name come last. */
static void take_assignment(Query *k, const uint32_t *bytes, const uint8_t *values, size_t n)
{
    ByteChange *pairs = xmalloc(n * sizeof *pairs);
    for (size_t i = 0; i < n; i++)
        pairs[i] = (ByteChange){ bytes[i], values[i] };
    if (n)
        qsort(pairs, n, sizeof *pairs, by_byte);
    k->assignment = (Assignment){ xmalloc(n * sizeof *bytes), xmalloc(n), n };
    for (size_t i = 0; i < n; i++) {
        assert(!i || pairs[i - 1].byte < pairs[i].byte);
        k->assignment.bytes[i] = pairs[i].byte;
        k->assignment.values[i] = pairs[i].value;
    }
    free(pairs);
}

/* The candidate of the problem is a solution. */
static bool settle_candidate(Query *k, SolveTier tier)
{
    Problem *q = &k->problem;
    assert(problem_holds(q));          /* whoever found it */
    take_assignment(k, q->bytes, q->values, q->n);
    return settle(k, tier, SOLVE_SAT);
}

/* ---- the tiers */

static bool tier_trivial(Query *k)
{
    Exprs *p = k->s->p;
    ExprValue v;
    if (k->first_goal == k->conds.len) {
        take_assignment(k, NULL, NULL, 0);            /* nothing is asked */
        return settle(k, TIER_TRIVIAL, SOLVE_SAT);
    }
    for (size_t i = k->first_goal; i < k->conds.len; i++) {
        Expr e = k->conds.items[i];
        if (expr_is_const(p, e, &v) && !v)
            return settle(k, TIER_TRIVIAL, SOLVE_UNSAT);
        Expr opposite = expr_not(p, e);
        if (opposite &&
            bsearch(&opposite, k->sorted.items, k->sorted.len, sizeof(Expr), ascending)) {
            vec_push(&k->core, e < opposite ? e : opposite);
            vec_push(&k->core, e < opposite ? opposite : e);
            return settle(k, TIER_TRIVIAL, SOLVE_UNSAT);
        }
    }
    return false;
}

static bool tier_repeat(Query *k)
{
    const Assignment *m = NULL;
    SolveStatus status = cache_find(k->s->cache, k->sorted.items, k->sorted.len, &m);
    if (status == SOLVE_UNKNOWN)
        return false;
    if (status == SOLVE_SAT)
        take_assignment(k, m->bytes, m->values, m->n);
    return settle(k, TIER_REPEAT, status);
}

static bool tier_core(Query *k)
{
    return cache_has_core(k->s->cache, k->sorted.items, k->sorted.len) &&
           settle(k, TIER_CORE, SOLVE_UNSAT);
}

static bool tier_bytes(Query *k)
{
    Solver *s = k->s;
    Problem *q = &k->problem;
    bool ok = problem_init(q, s->p, s->masks, k->conds.items, k->conds.len, k->first_goal,
                           k->parent, k->len, &k->core);
    k->has_problem = true;
    q->stop = &s->stop;
    q->rng = rng_seeded(s->plan.seed ^ hash_bytes(k->sorted.items, k->sorted.len * sizeof(Expr)));
    if (!ok) {
        make_set(&k->core);
        return settle(k, TIER_BYTES, SOLVE_UNSAT);
    }
    return problem_holds(q) && settle_candidate(k, TIER_BYTES);
}

static bool try_assignment(Problem *q, const Assignment *m)
{
    problem_restart(q);
    for (size_t i = 0, j = 0; i < tape_nbytes(q->tape); i++) {
        while (j < m->n && m->bytes[j] < q->bytes[i])
            j++;
        if (j < m->n && m->bytes[j] == q->bytes[i] && !problem_set(q, i, m->values[j]))
            return false;
    }
    return problem_holds(q);
}

static bool tier_assignment(Query *k)
{
    enum { TRIES = 16, STEPS = 50000 };
    Problem *q = &k->problem;
    size_t n;
    Expr goal = k->conds.items[k->conds.len - 1];
    const ByteRange *r = expr_bytes(k->s->p, goal, &n);
    for (size_t i = 0; i < TRIES && n && i * tape_size(q->tape) < STEPS; i++) {
        const Assignment *m = cache_assignment(k->s->cache, r[0].from, i);
        if (!m)
            break;
        if (try_assignment(q, m))
            return settle_candidate(k, TIER_ASSIGNMENT);
    }
    return false;
}

static bool tier_interval(Query *k)
{
    return interval_refutes(&k->problem) && settle(k, TIER_INTERVAL, SOLVE_UNSAT);
}

/* Steps for a search before Z3: few, but some moves for large problems too,
 * where Z3 is slow. */
static size_t short_search(const Query *k)
{
    size_t most = k->s->plan.search_steps, steps = most / 32;
    size_t size = tape_size(k->problem.tape);
    if (size > steps / 64)
        steps = size < most / 64 ? size * 64 : most;
    return steps;
}

/* What goes backwards at all mostly does within a few moves. */
static bool tier_back(Query *k)
{
    return quick_back(&k->problem, 1000 + 32 * tape_size(k->problem.tape)) &&
           settle_candidate(k, TIER_BACK);
}

static bool tier_copy(Query *k)
{
    return quick_copy(&k->problem, short_search(k)) && settle_candidate(k, TIER_COPY);
}

static bool tier_small(Query *k)
{
    SolveStatus status = quick_small(&k->problem, k->s->plan.search_steps / 4);
    if (status == SOLVE_SAT)
        return settle_candidate(k, TIER_SMALL);
    return status == SOLVE_UNSAT && settle(k, TIER_SMALL, SOLVE_UNSAT);
}

static bool tier_newton(Query *k)
{
    return quick_newton(&k->problem, k->s->plan.search_steps) && settle_candidate(k, TIER_NEWTON);
}

static bool tier_down(Query *k)
{
    size_t steps = short_search(k);
    return (quick_down(&k->problem, steps) || quick_back(&k->problem, steps)) &&
           settle_candidate(k, TIER_DOWN);
}

static void values_from_parent(const Query *k, const Tape *t, uint8_t *values)
{
    for (size_t i = 0; i < tape_nbytes(t); i++) {
        uint32_t b = tape_bytes(t)[i];
        values[i] = b < k->len ? k->parent[b] : 0;
    }
}

static void take_core(Query *k, const bool *used)
{
    k->core.len = 0;
    for (size_t i = 0; i < k->sorted.len; i++)
        if (used[i])
            vec_push(&k->core, k->sorted.items[i]);
}

static bool tier_z3(Query *k)
{
    const SolverPlan *plan = &k->s->plan;
    SmtPlan limits = { .rlimit = plan->z3_steps,
                       .seconds = plan->z3_seconds,
                       .memory_mb = plan->z3_memory,
                       .seed = (uint32_t)plan->seed,
                       .max_nodes = plan->z3_nodes,
                       .max_float_nodes = plan->z3_float_nodes,
                       .stop = &k->s->stop };
    size_t n = k->sorted.len;
    Tape *t = tape_new(k->s->p, k->sorted.items, n);
    uint8_t *values = xcalloc(tape_nbytes(t) + 1, 1);
    bool *used = n > 2 && n <= 256 && !plan->no_cores ? xcalloc(n, sizeof *used) : NULL;
    values_from_parent(k, t, values);
    SolveStatus status = smt_check(k->s->p, t, n, &limits, values, used, &k->reason);
    if (status == SOLVE_SAT) {
        tape_run(t, values);
        if (tape_truths(t) == n)
            take_assignment(k, tape_bytes(t), values, tape_nbytes(t));
        else
            k->reason = REASON_MODEL;
        status = tape_truths(t) == n ? SOLVE_SAT : SOLVE_UNKNOWN;
    }
    if (status == SOLVE_UNSAT && used)
        take_core(k, used);
    free(used);
    free(values);
    tape_free(t);
    k->tier = TIER_Z3;
    return status != SOLVE_UNKNOWN && settle(k, TIER_Z3, status);
}

static bool tier_long_search(Query *k)
{
    Problem *q = &k->problem;
    size_t steps = k->s->plan.search_steps;
    SolveStatus status = quick_small(q, steps);
    if (status == SOLVE_SAT)
        return settle_candidate(k, TIER_SMALL);
    if (status == SOLVE_UNSAT)
        return settle(k, TIER_SMALL, SOLVE_UNSAT);
    return (quick_back(q, steps / 2) || quick_down(q, steps / 2)) && settle_candidate(k, TIER_DOWN);
}

/* ---- asking them in turn */

static bool ask(Query *k, SolveTier tier, bool (*f)(Query *k))
{
    SolverStats *st = &k->s->stats;
    double begin = now();
    bool settled = f(k);
    st->tier[tier].asked++;
    st->tier[tier].seconds += now() - begin;
    if (settled && k->status == SOLVE_SAT)
        st->tier[tier].sat++;
    if (settled && k->status == SOLVE_UNSAT)
        st->tier[tier].unsat++;
    return settled;
}

static bool ask_quick(Query *k)
{
    return ask(k, TIER_BYTES, tier_bytes) || ask(k, TIER_ASSIGNMENT, tier_assignment) ||
           ask(k, TIER_INTERVAL, tier_interval) || ask(k, TIER_BACK, tier_back) ||
           ask(k, TIER_COPY, tier_copy) || ask(k, TIER_SMALL, tier_small) ||
           ask(k, TIER_NEWTON, tier_newton) || ask(k, TIER_DOWN, tier_down);
}

static void remember(Query *k)
{
    Cache *c = k->s->cache;
    if (k->status == SOLVE_UNKNOWN || k->tier == TIER_TRIVIAL || k->tier == TIER_REPEAT)
        return;
    cache_add(c, k->sorted.items, k->sorted.len, k->status,
              k->status == SOLVE_SAT ? &k->assignment : NULL);
    if (k->status == SOLVE_UNSAT && k->tier != TIER_CORE) {
        bool less = k->core.len;
        cache_add_core(c, less ? k->core.items : k->sorted.items,
                       less ? k->core.len : k->sorted.len);
    }
}

static SolveStatus run_tiers(Query *k)
{
    const SolverPlan *plan = &k->s->plan;
    k->status = SOLVE_UNKNOWN;
    k->reason = k->no_room ? REASON_MEMORY : REASON_NONE;
    if (k->no_room)
        return SOLVE_UNKNOWN;
    bool settled = ask(k, TIER_TRIVIAL, tier_trivial);
    if (!settled && !plan->no_quick)
        settled = ask(k, TIER_REPEAT, tier_repeat) || ask(k, TIER_CORE, tier_core) || ask_quick(k);
    if (!settled && atomic_load(&k->s->stop)) {
        k->reason = REASON_INTERRUPTED;
        return SOLVE_UNKNOWN;
    }
    if (!settled && plan->no_z3)
        k->reason = REASON_OFF;
    else if (!settled)
        settled = ask(k, TIER_Z3, tier_z3);
    if (!settled && !plan->no_quick && k->reason != REASON_INTERRUPTED)
        settled = ask(k, TIER_DOWN, tier_long_search);
    if (settled)
        remember(k);
    return k->status;
}

/* ---- asking for less */

static bool inside(const Exprs *p, Expr e, const ByteRange *r, size_t n)
{
    size_t ne;
    const ByteRange *x = expr_bytes(p, e, &ne);
    for (size_t i = 0, j = 0; i < ne; i++) {
        while (j < n && r[j].to < x[i].to)
            j++;
        if (j == n || r[j].from > x[i].from)
            return false;
    }
    return true;
}

/* The question alone, or with those conditions that speak of its bytes only. */
static void reduce(Query *small, const Query *k, Expr goal, bool alone)
{
    const Exprs *p = k->s->p;
    size_t n;
    const ByteRange *r = expr_bytes(p, goal, &n);
    for (size_t i = 0; i < k->first_goal && !alone; i++)
        if (inside(p, k->conds.items[i], r, n))
            vec_push(&small->conds, k->conds.items[i]);
    small->first_goal = small->conds.len;
    for (size_t i = k->first_goal; i < k->conds.len; i++)
        vec_push(&small->conds, k->conds.items[i]);
    query_ready(small);
}

/* ---- the way of a query */

static void take_changes(Solver *s, const Query *k, Answer *ans)
{
    s->changes.len = 0;
    for (size_t i = 0; i < k->assignment.n; i++) {
        uint32_t b = k->assignment.bytes[i];
        if (b < k->len && k->parent[b] != k->assignment.values[i])
            vec_push(&s->changes, ((ByteChange){ b, k->assignment.values[i] }));
    }
    ans->changes = s->changes.items;
    ans->nchanges = s->changes.len;
}

static void ask_for_less(Query *k, Expr goal, Answer *ans)
{
    const SolverPlan plan = k->s->plan;
    if (k->status == SOLVE_UNKNOWN) {            /* the question itself may be what is hard */
        k->s->plan.z3_steps = plan.z3_steps / 4 + 1;
        k->s->plan.z3_seconds = plan.z3_seconds / 4;
        k->s->plan.search_steps = plan.search_steps / 4 + 1;
    }
    for (int alone = 0; alone < 2; alone++) {
        Query small;
        query_init(&small, k->s, k->parent, k->len);
        reduce(&small, k, goal, alone);
        bool less = small.conds.len < k->conds.len;
        if (less && run_tiers(&small) == SOLVE_SAT) {
            ans->status = SOLVE_OPTIMISTIC;
            ans->tier = small.tier;
            take_changes(k->s, &small, ans);
        }
        query_release(&small);
        if (ans->status == SOLVE_OPTIMISTIC)
            break;
    }
    k->s->plan = plan;
}

static void count(SolverStats *st, const Answer *ans)
{
    st->queries++;
    st->seconds += ans->seconds;
    st->sat += ans->exact == SOLVE_SAT;
    st->unsat += ans->exact == SOLVE_UNSAT;
    st->unknown += ans->exact == SOLVE_UNKNOWN;
    st->optimistic += ans->status == SOLVE_OPTIMISTIC;
    if (ans->exact == SOLVE_UNKNOWN)
        st->reasons[ans->reason]++;
}

static void refresh(Solver *s)
{
    if (s->generation == exprs_generation(s->p))
        return;
    s->generation = exprs_generation(s->p);
    cache_reset(s->cache);
    masks_reset(s->masks);
}

SolveStatus solver_query_extra(Solver *s, const Path *path, size_t index, Expr extra,
                               const uint8_t *parent, size_t len, Answer *ans)
{
    double begin = now();
    Query k;
    *ans = (Answer){ .reason = REASON_OTHER };
    refresh(s);
    query_init(&k, s, parent, len);
    if (extra && expr_width(s->p, extra) == 1) {
        path_slice(path, index, extra, &k.conds);
        ans->conjuncts = k.conds.len;
        k.first_goal = k.conds.len;
        add_goal(s->p, extra, &k.conds);
        query_ready(&k);
        ans->status = run_tiers(&k);
        ans->tier = k.tier;
        ans->reason = k.reason;
    }
    ans->exact = ans->status;
    if (ans->status == SOLVE_SAT)
        take_changes(s, &k, ans);
    else if (k.first_goal && !s->plan.no_optimistic && k.reason != REASON_INTERRUPTED)
        ask_for_less(&k, extra, ans);
    query_release(&k);
    ans->seconds = now() - begin;
    count(&s->stats, ans);
    return ans->status;
}

SolveStatus solver_query(Solver *s, const Path *path, size_t index, const uint8_t *parent,
                         size_t len, Answer *ans)
{
    assert(index < path_length(path));
    Expr goal = expr_not(s->p, path_at(path, index).cond);
    return solver_query_extra(s, path, index, goal, parent, len, ans);
}

/* ---- figures */

void solver_stats_print(const SolverStats *st, Str *out)
{
    str_addf(out,
             "queries %llu: sat %llu, unsat %llu, unknown %llu; optimistic "
             "%llu; %.3f s\n",
             (unsigned long long)st->queries, (unsigned long long)st->sat,
             (unsigned long long)st->unsat, (unsigned long long)st->unknown,
             (unsigned long long)st->optimistic, st->seconds);
    for (int i = 0; i < REASON_N; i++)
        if (st->reasons[i])
            str_addf(out, "  unknown because of %s: %llu\n", solve_reason_name((SolveReason)i),
                     (unsigned long long)st->reasons[i]);
    for (int i = 0; i < TIER_N; i++)
        if (st->tier[i].asked)
            str_addf(out, "  %-8s asked %llu, sat %llu, unsat %llu, %.3f s\n",
                     solve_tier_name((SolveTier)i), (unsigned long long)st->tier[i].asked,
                     (unsigned long long)st->tier[i].sat, (unsigned long long)st->tier[i].unsat,
                     st->tier[i].seconds);
}
