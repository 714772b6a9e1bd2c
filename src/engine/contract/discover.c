/* Constraints that hold: see discover.h. */
#include "engine/contract/discover.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

double discover_rate(size_t proved, size_t of)
{
    assert(proved <= of);
    return of ? (double)proved / (double)of : 0;
}

double discover_confidence(const double *p, size_t np, const double *proved, size_t n)
{
    double product = 1, sum = 0;

    for (size_t i = 0; i < np; i++)
        product *= p[i];
    for (size_t i = 0; i < n; i++)
        sum += proved[i];
    return n ? product * sum / (double)n : 0;
}

size_t discover_candidates(size_t points) { return points ? points * (points - 1) : 0; }

/* --- one vocabulary for both sides */

typedef struct Vocabulary {
    Map numbers;              /* key -> number + 1 */
    Vec(Var) vars;
} Vocabulary;

static int number_of(Vocabulary *w, const Var *v)
{
    void **slot = map_slot(&w->numbers, v->key);

    if (!*slot) {
        vec_push(&w->vars, *v);
        *slot = (void *)(uintptr_t)w->vars.len;
    }
    int n = (int)(uintptr_t)*slot - 1;
    return w->vars.items[n].kind == v->kind ? n : -1;
}

static bool translate(Vocabulary *w, const Point *p, const Invariant *inv, Invariant *out)
{
    *out = *inv;
    for (unsigned i = 0; i < inv_arity(inv->kind); i++)
        if ((out->v[i] = number_of(w, &p->vars[inv->v[i]])) < 0)
            return false;
    if (inv->guard && (out->v_guard = number_of(w, &p->vars[inv->v_guard])) < 0)
        return false;
    return true;
}

static void vocabulary_release(Vocabulary *w)
{
    map_release(&w->numbers);
    vec_release(&w->vars);
}

/* --- which conjuncts take part */

/* The published rules: what Q says of variables that are absent on the other
 * side, of its parameters and of its result is left out. */
static bool var_takes_part(ConstraintKind k, const Point *from, const Point *to, int v)
{
    const Var *x = &to->vars[v];

    if (k == CONSTRAINT_SUBRANGE && (x->orig || x->role == ROLE_PARAM))
        return false;
    if (k == CONSTRAINT_CONCORD)
        return point_key(from, x->key) >= 0;
    return constraint_match(k, from, to, (unsigned)v) >= 0;
}

static bool takes_part(ConstraintKind k, const Point *from, const Point *to, const Invariant *inv)
{
    if (inv->kind == INV_ONE_VALUE || inv->kind == INV_UNCHANGED)
        return false;
    for (unsigned i = 0; i < inv_arity(inv->kind); i++)
        if (!var_takes_part(k, from, to, inv->v[i]))
            return false;
    return !inv->guard || var_takes_part(k, from, to, inv->v_guard);
}

/* --- one candidate */

typedef struct Side {
    const FunctionContract *fc;
    bool is_exit;
} Side;

static const Point *side_point(Side s) { return s.is_exit ? &s.fc->f->exit : &s.fc->f->entry; }

static const Invariants *side_list(Side s) { return s.is_exit ? &s.fc->post : &s.fc->pre; }

typedef struct Candidate {
    const Samples *samples;
    ConstraintKind kind;
    Side from, to;
    Guard when;
} Candidate;

typedef struct Facts {
    Vocabulary words;
    Invariants facts;
    bool *used;
} Facts;

static void add_facts(Facts *f, const Point *p, const Invariants *list, Guard when)
{
    for (size_t i = 0; i < list->len; i++) {
        Invariant inv = list->items[i], out;
        if (when && inv.guard == when)
            inv.guard = GUARD_NONE;            /* its condition is given */
        if (inv.kind != INV_ONE_VALUE && inv.kind != INV_UNCHANGED &&
            translate(&f->words, p, &inv, &out))
            vec_push(&f->facts, out);
    }
}

/* At exit, what was demanded of parameters and did not change still holds. */
static void add_unchanged(Facts *f, Side from)
{
    const FunctionContract *fc = from.fc;

    for (size_t i = 0; i < fc->pre.len; i++) {
        Invariant out;
        bool holds = fc->pre.items[i].kind != INV_ONE_VALUE;
        for (unsigned k = 0; holds && k < inv_arity(fc->pre.items[i].kind); k++) {
            const Var *v = &fc->f->entry.vars[fc->pre.items[i].v[k]];
            int at = point_key(&fc->f->exit, v->key);
            bool same = v->role == ROLE_PARAM;
            for (size_t m = 0; !same && at >= 0 && m < fc->post.len; m++) {
                const Invariant *p = &fc->post.items[m];
                same = !p->guard && ((p->kind == INV_EQUAL && p->v[0] == at &&
                                      p->v[1] == fc->f->exit.vars[at].twin) ||
                                     (p->kind == INV_UNCHANGED && v->role == ROLE_MEMORY &&
                                      fc->f->exit.vars[p->v[0]].param == v->param));
            }
            holds = same && at >= 0;
        }
        if (holds && translate(&f->words, &fc->f->entry, &fc->pre.items[i], &out))
            vec_push(&f->facts, out);
    }
}

static void collect_facts(const Candidate *c, Facts *f)
{
    add_facts(f, side_point(c->from), side_list(c->from), c->when);
    if (c->from.is_exit)
        add_unchanged(f, c->from);
    if (c->kind == CONSTRAINT_CONCORD) {
        add_facts(f, &c->from.fc->f->entry, &c->from.fc->pre, GUARD_NONE);
        add_facts(f, &c->to.fc->f->entry, &c->to.fc->pre, GUARD_NONE);
    }
    f->used = xcalloc(f->facts.len + 1, sizeof *f->used);
}

static void facts_release(Facts *f)
{
    vocabulary_release(&f->words);
    vec_release(&f->facts);
    free(f->used);
}

/* Does it speak of state, which the two functions share? A variable of the program alone
 * does not relate functions of two types. */
static bool is_of_state(const Candidate *c, const Point *p, const Invariant *inv)
{
    const char *a = c->from.fc->f->handle, *b = c->to.fc->f->handle;
    bool strangers = *a && *b && strcmp(a, b) != 0;

    for (unsigned i = 0; i < inv_arity(inv->kind); i++)
        if (p->vars[inv->v[i]].role == ROLE_MEMORY ||
            (p->vars[inv->v[i]].role == ROLE_GLOBAL && !strangers))
            return true;
    return false;
}

static const char *type_at(const Point *p, const char *name)
{
    int v = point_var(p, name);
    return v < 0 ? "" : p->vars[v].type;
}

/* The same types of parameters and result: two that could stand for each other. */
static bool are_alike(const FunctionSamples *a, const FunctionSamples *b)
{
    unsigned i = 0, k = 0;

    if (a->nparams != b->nparams ||
        strcmp(type_at(&a->exit, "return"), type_at(&b->exit, "return")) != 0)
        return false;
    for (;; i++, k++) {
        while (i < a->entry.nvars && a->entry.vars[i].role != ROLE_PARAM)
            i++;
        while (k < b->entry.nvars && b->entry.vars[k].role != ROLE_PARAM)
            k++;
        if (i == a->entry.nvars || k == b->entry.nvars)
            return i == a->entry.nvars && k == b->entry.nvars;
        if (strcmp(a->entry.vars[i].type, b->entry.vars[k].type) != 0)
            return false;
    }
}

/* That two functions return 0 or -1 relates them as little as all others. */
static bool belong_together(const Candidate *c, bool state)
{
    const FunctionSamples *a = c->from.fc->f, *b = c->to.fc->f;

    return state || (*a->handle && strcmp(a->handle, b->handle) == 0) || are_alike(a, b);
}

/* False: vacuous. */
static bool judge(Prover *prover, const Candidate *c, Constraint *out)
{
    Facts f = { 0 };
    Vec(double) all = { 0 }, core = { 0 }, proved = { 0 };
    const Invariants *goals = side_list(c->to);
    unsigned of = 0;
    bool state = false;

    collect_facts(c, &f);
    bool *once = xcalloc(f.facts.len + 1, sizeof *once);
    for (size_t i = 0; i < goals->len; i++) {
        Invariant goal;
        if (!takes_part(c->kind, side_point(c->from), side_point(c->to), &goals->items[i]) ||
            !translate(&f.words, side_point(c->to), &goals->items[i], &goal))
            continue;
        of++;
        if (!prove(prover, f.words.vars.items, (unsigned)f.words.vars.len, f.facts.items,
                   f.facts.len, &goal, once))
            continue;
        vec_push(&proved, goal.confidence);
        state |= is_of_state(c, side_point(c->to), &goals->items[i]);
        for (size_t k = 0; k < f.facts.len; k++)
            f.used[k] |= once[k];
    }
    for (size_t k = 0; k < f.facts.len; k++) {
        vec_push(&all, f.facts.items[k].confidence);
        if (f.used[k])
            vec_push(&core, f.facts.items[k].confidence);
    }
    bool turned = c->kind == CONSTRAINT_FOLLOWS;
    *out = (Constraint){ .kind = c->kind,
                         .when = c->when,
                         .proved = (unsigned)proved.len,
                         .of = of,
                         .rate = discover_rate(proved.len, of) };
    out->from = turned ? c->to.fc->f->name : c->from.fc->f->name;
    out->to = turned ? c->from.fc->f->name : c->to.fc->f->name;
    out->confidence = discover_confidence(all.items, all.len, proved.items, proved.len);
    out->core = discover_confidence(core.items, core.len, proved.items, proved.len);
    vec_release(&all);
    vec_release(&core);
    vec_release(&proved);
    free(once);
    facts_release(&f);
    return of > 0 && out->proved > 0 && belong_together(c, state);
}

/* --- types that nobody changes */

static bool changes_nothing(const FunctionContract *fc)
{
    for (size_t i = 0; i < fc->post.len; i++)
        if (fc->post.items[i].kind == INV_UNCHANGED && !fc->post.items[i].guard)
            return true;
    return false;
}

/* A function that makes the object does not change one. */
static bool is_immutable(const Contracts *c, const char *handle)
{
    unsigned observers = 0;

    for (size_t i = 0; i < c->functions.len; i++) {
        const FunctionContract *fc = &c->functions.items[i];
        bool has_state = false;
        if (strcmp(fc->f->handle, handle) != 0)
            continue;
        for (unsigned v = 0; v < fc->f->entry.nvars; v++)
            has_state |= fc->f->entry.vars[v].role == ROLE_MEMORY;
        if (!has_state)
            continue;
        if (!changes_nothing(fc))
            return false;
        observers++;
    }
    return observers >= 2;
}

static void find_immutable(const Contracts *c, Discovered *out, Map *types)
{
    Map seen = { 0 };

    for (size_t i = 0; i < c->functions.len; i++) {
        const char *handle = c->functions.items[i].f->handle;
        if (*handle && map_put(&seen, handle, (void *)1) && is_immutable(c, handle)) {
            strings_add(&out->immutable, handle);
            map_put(types, handle, (void *)1);
        }
    }
    map_release(&seen);
}

/* --- all candidates */

typedef struct Search {
    const Contracts *c;
    const DiscoverPlan *plan;
    Discovered *out;
    Prover *prover;
    Map immutable;
    double rate;
} Search;

static bool is_over(Search *s)
{
    ProverFigures f = prover_figures(s->prover);
    uint64_t most = s->plan->most_queries ? s->plan->most_queries : 20000;

    if (f.solver >= most || (s->plan->stop && s->plan->stop(s->plan->arg)))
        s->out->stopped = true;
    return s->out->stopped;
}

static bool try_one(Search *s, ConstraintKind kind, Side from, Side to, Guard when)
{
    Candidate c = { s->c->samples, kind, from, to, when };
    Constraint found;

    s->out->candidates++;
    if (!judge(s->prover, &c, &found)) {
        s->out->vacuous++;
        return false;
    }
    if (found.rate < s->rate || (when && found.rate < 1)) {
        s->out->below++;
        return false;
    }
    vec_push(&s->out->constraints.items, found);
    return true;
}

/* Some call of `from` is one that `to` would take, too. */
static bool shares_calls(const FunctionContract *from, const FunctionContract *to)
{
    Arena a = { 0 };
    bool found = false;
    Row entry = { .cells = arena_array(&a, Cell, to->f->entry.nvars + 1),
                  .known = arena_array(&a, uint8_t, to->f->entry.nvars + 1) };

    for (size_t r = 0; r < from->f->exit.rows.len && !found; r++) {
        row_at_entry(&from->f->exit, &to->f->entry, &from->f->exit.rows.items[r], &entry);
        found = true;
        for (size_t i = 0; found && i < to->pre.len; i++)
            found = inv_holds(&to->pre.items[i], &to->f->entry, &entry);
    }
    arena_release(&a);
    return found;
}

/* Same number of parameters, and results that match. */
static bool may_concord(const FunctionContract *a, const FunctionContract *b)
{
    int x = point_var(&a->f->exit, "return"), y = point_var(&b->f->exit, "return");

    return a != b && a->f->nparams == b->f->nparams && x >= 0 && y >= 0 &&
           strcmp(a->f->exit.vars[x].type, b->f->exit.vars[y].type) == 0 && shares_calls(a, b);
}

static void try_pair(Search *s, const FunctionContract *a, const FunctionContract *b)
{
    if (!a->f->entry.rows.len && !b->f->entry.rows.len)
        return;
    Side a_in = { a, false }, a_out = { a, true }, b_in = { b, false }, b_out = { b, true };
    bool frozen = *a->f->handle && strcmp(a->f->handle, b->f->handle) == 0 &&
                  map_has(&s->immutable, a->f->handle);

    if (frozen)
        return;
    if (a != b) {
        try_one(s, CONSTRAINT_SUBDOMAIN, a_in, b_in, GUARD_NONE);
        try_one(s, CONSTRAINT_SUBRANGE, a_out, b_out, GUARD_NONE);
    }
    if (!try_one(s, CONSTRAINT_CAN_FOLLOW, a_out, b_in, GUARD_NONE))
        for (Guard g = GUARD_ZERO; g <= GUARD_NOT_NEGATIVE; g++) {
            bool has = false;
            for (size_t i = 0; i < a->post.len; i++)
                has |= a->post.items[i].guard == g;
            if (has)
                try_one(s, CONSTRAINT_CAN_FOLLOW, a_out, b_in, g);
        }
    try_one(s, CONSTRAINT_FOLLOWS, b_in, a_out, GUARD_NONE);
    if (may_concord(a, b))
        try_one(s, CONSTRAINT_CONCORD, a_out, b_out, GUARD_NONE);
}

static int by_confidence(const void *a, const void *b)
{
    const Constraint *x = a, *y = b;

    if (x->rate != y->rate)
        return x->rate > y->rate ? -1 : 1;
    if (x->confidence != y->confidence)
        return x->confidence > y->confidence ? -1 : 1;
    if (x->of != y->of)
        return x->of > y->of ? -1 : 1;
    int d = strcmp(x->from, y->from);
    d = d ? d : strcmp(x->to, y->to);
    return d ? d : (int)x->kind - (int)y->kind;
}

void discover(const Contracts *c, const DiscoverPlan *plan, Discovered *out)
{
    Search s = { .c = c,
                 .plan = plan,
                 .out = out,
                 .prover = prover_new(),
                 .rate = plan->rate > 0 ? plan->rate : 0.75 };

    find_immutable(c, out, &s.immutable);
    for (size_t i = 0; i < c->functions.len && !is_over(&s); i++)
        for (size_t k = 0; k < c->functions.len && !is_over(&s); k++)
            try_pair(&s, &c->functions.items[i], &c->functions.items[k]);
    if (out->constraints.items.len)
        qsort(out->constraints.items.items, out->constraints.items.len,
              sizeof *out->constraints.items.items, by_confidence);
    out->prover = prover_figures(s.prover);
    prover_free(s.prover);
    map_release(&s.immutable);
}

void discovered_release(Discovered *d)
{
    constraints_release(&d->constraints);
    strings_release(&d->immutable);
}
