/*
 * From a report to a finding: the smallest condition, request and chain.
 *
 * First the place: is the request without parameters enough, in the first
 * state; the request itself in the first state, or behind a chain that did for
 * another fault? Most faults end here. No run is made twice (Memo), so faults of
 * one page share the work.
 *
 * The condition: what the failing paths have in common, without the conjuncts
 * whose absence changes nothing. Each probe leaves out one conjunct of the
 * common ones, solves the rest for a request that has no other parameter, and
 * runs it in the report's start state. Where the conjuncts that matter do not
 * show the fault together, conjuncts are left out one after the other instead.
 *
 * The request: parameters are dropped, then values shortened, as long as the
 * fault stays. The chain: whole steps are dropped, then their parameters.
 */
#include "web/web_int.h"
#include "base/units.h"
#include <assert.h>
#include <math.h>

enum { MOST_PROBES = 200, MOST_CONDS = 60, MOST_PREFIXES = 8 };

typedef struct Reducing {
    Campaign *c;
    Report *rep;
    const Example *from;           /* the example that is made small */
    const State *start;            /* where `best` shows the fault */
    Request *best;
    uint64_t key;                  /* hash of the fault's key */
    const struct Prefix *behind;   /* a known chain that leads to `start`; or NULL */
    bool from_first;               /* `start` is the first state */
    Cond *conds;
    size_t nconds;
    bool attack;                   /* a security fault: its values stay */
    size_t probes;
    double end;                    /* of this fault's share of the time; 0: none */
    Err *err;
} Reducing;

/* No probe left, or no time: what is there now is the result. */
static bool is_over(Reducing *d)
{
    if (d->probes && d->c->plan->stop && d->c->plan->stop(d->c->plan->stop_arg))
        d->probes = 0;
    if (d->end > 0 && clock_seconds() > d->end)
        d->probes = 0;
    return d->probes == 0;
}

/* What the request does in this state; NULL: no more runs. */
static const Memo *probe(Reducing *d, const Request *q, const State *start)
{
    const Memo *m = campaign_memo(d->c, q, start);
    if (m || is_over(d))
        return m;
    const State *end;
    d->probes--;
    d->c->probes++;
    Reply *r = campaign_execute(d->c, q, start, &end, d->err);
    if (!r)
        return NULL;
    Faults f = { 0 };
    campaign_judge(d->c, q, r, &f);
    campaign_remember(d->c, q, start, end, &f);
    faults_release(&f);
    reply_free(r);
    return campaign_memo(d->c, q, start);
}

static bool memo_has(const Memo *m, uint64_t key)
{
    for (size_t i = 0; m && i < m->n; i++)
        if (m->faults[i] == key)
            return true;
    return false;
}

/* Does the request show the fault in this state? */
static bool shows(Reducing *d, const Request *q, const State *start)
{
    return memo_has(probe(d, q, start), d->key);
}

static char *cond_text(const Trace *t, Cond c)
{
    Str s = { 0 };
    trace_print(t, c.node, c.wanted, &s);
    return str_take(&s);
}

static bool path_has(const Trace *t, const char *text)
{
    for (size_t i = 0; i < t->branches.len; i++) {
        char *own = cond_text(t, (Cond){ t->branches.items[i].node, t->branches.items[i].taken });
        bool same = strcmp(own, text) == 0;
        free(own);
        if (same)
            return true;
    }
    return false;
}

/* Conjuncts that all examples have, each once. */
static void common(Reducing *d)
{
    const Trace *t = d->from->reply->trace;
    Map seen = { 0 };
    d->conds = xcalloc(t->branches.len + 1, sizeof *d->conds);
    for (size_t i = 0; i < t->branches.len && d->nconds < MOST_CONDS; i++) {
        Cond k = { t->branches.items[i].node, t->branches.items[i].taken };
        char *text = cond_text(t, k);
        bool all = map_put(&seen, text, d);
        for (size_t e = 0; all && e < d->rep->nexamples; e++) {
            const Example *x = &d->rep->examples[e];
            if (x != d->from &&
                strcmp(x->step->request->script, d->from->step->request->script) == 0)
                all = path_has(x->reply->trace, text);
        }
        if (all)
            d->conds[d->nconds++] = k;
        free(text);
    }
    map_release(&seen);
}

/* A request with these conditions and nothing else; NULL: none, or no fault. */
static Request *exposes(Reducing *d, const Cond *conds, size_t n)
{
    Request *empty = request_new(d->from->step->request->script);
    empty->post = d->from->step->request->post;
    empty->multipart = d->from->step->request->multipart;
    Request *q = NULL;
    if (is_over(d))
        n = 0;
    for (unsigned attempt = 0; attempt < 2 && !q && d->probes; attempt++) {
        Rng rng = rng_seeded(attempt + 11);
        FlipPlan plan = { .trace = d->from->reply->trace,
                          .base = empty,
                          .words = &d->c->words,
                          .rng = &rng,
                          .apart = d->c->plan->cgi,
                          .budget = 500 };
        FlipWhy why;
        q = n ? flip_solve(&plan, conds, n, &why) : request_copy(empty);
        if (q && !shows(d, q, d->start)) {
            request_free(q);
            q = NULL;
        }
        if (!n)
            break;
    }
    request_free(empty);
    return q;
}

/* Is the input there because somebody chose it? */
static bool has_input(const Request *r, const char *path)
{
    if (strcmp(path, "SERVER[REQUEST_METHOD]") == 0)
        return request_is_post(r);
    return request_value(r, path).type != PHP_NULL;
}

static Request *solution(Reducing *d, const Cond *conds, size_t n);

static bool is_solvable(Reducing *d, const Cond *conds, size_t n)
{
    Request *q = solution(d, conds, n);
    bool is = q != NULL || is_over(d);
    request_free(q);
    return is;
}

static bool is_given(const Reducing *d, Cond k)
{
    Strings in = { 0 };
    bool given = false;
    trace_inputs(d->from->reply->trace, k.node, &in);
    for (size_t i = 0; i < in.len; i++)
        given = given || has_input(d->from->step->request, in.items[i]);
    strings_release(&in);
    return given;
}

/* Without conjunct i, does the fault stay? About a parameter that is given its
 * opposite is asked for first: any other value may be harmless by chance. */
static bool stays_without(Reducing *d, size_t i)
{
    Cond *rest = xcalloc(d->nconds + 1, sizeof *rest);
    size_t n = 0;
    for (size_t k = 0; k < d->nconds; k++)
        if (k != i)
            rest[n++] = d->conds[k];
    Request *q = NULL;
    if (is_given(d, d->conds[i])) {
        rest[n] = (Cond){ d->conds[i].node, !d->conds[i].wanted };
        q = exposes(d, rest, n + 1);
    }
    if (!q)
        q = is_given(d, d->conds[i]) && is_solvable(d, rest, n + 1) ? NULL : exposes(d, rest, n);
    free(rest);
    bool stays = q != NULL;
    request_free(q);
    return stays;
}

static bool holds_for(const Reducing *d, Cond k, const Request *r)
{
    Arena a = { 0 };
    PhpValue v = eval_node(&a, d->from->reply->trace, k.node, r);
    bool is = phpvalue_is_known(v) && phpvalue_truth(v) == k.wanted;
    arena_release(&a);
    return is;
}

/* A request for these conditions, not run. */
static Request *solution(Reducing *d, const Cond *conds, size_t n)
{
    Request *empty = request_new(d->from->step->request->script);
    empty->post = d->from->step->request->post;
    Rng rng = rng_seeded(11);
    FlipPlan plan = { .trace = d->from->reply->trace,
                      .base = empty,
                      .words = &d->c->words,
                      .rng = &rng,
                      .apart = d->c->plan->cgi,
                      .budget = 300 };
    FlipWhy why;
    Request *q = n ? flip_solve(&plan, conds, n, &why) : request_copy(empty);
    request_free(empty);
    return q;
}

/* A long row of tests is mostly one that fits and many that don't: what
 * follows from the others goes, without a run. */
static void drop_implied(Reducing *d)
{
    for (size_t i = d->nconds; i-- > 0 && d->nconds > 1;) {
        Cond out = d->conds[i];
        memmove(&d->conds[i], &d->conds[i + 1], (d->nconds - i - 1) * sizeof *d->conds);
        Request *q = solution(d, d->conds, d->nconds - 1);
        bool implied = q && holds_for(d, out, q);
        request_free(q);
        if (implied) {
            d->nconds--;
        } else {
            memmove(&d->conds[i + 1], &d->conds[i], (d->nconds - i - 1) * sizeof *d->conds);
            d->conds[i] = out;
        }
    }
}

/* Leaves out each by itself; then what matters must show it together. */
static bool reduce_each(Reducing *d)
{
    Cond *need = xcalloc(d->nconds + 1, sizeof *need);
    size_t nneed = 0;
    for (size_t i = 0; i < d->nconds; i++)
        if (!stays_without(d, i))
            need[nneed++] = d->conds[i];
    Request *q = exposes(d, need, nneed);
    if (q) {
        memcpy(d->conds, need, nneed * sizeof *need);
        d->nconds = nneed;
        request_free(d->best);
        d->best = q;
    }
    free(need);
    return q != NULL;
}

/* One after the other, each time from what is left. */
static void reduce_greedily(Reducing *d)
{
    for (size_t i = d->nconds; i-- > 0 && d->probes;) {
        Cond out = d->conds[i];
        memmove(&d->conds[i], &d->conds[i + 1], (d->nconds - i - 1) * sizeof *d->conds);
        Request *q = exposes(d, d->conds, d->nconds - 1);
        if (q) {
            d->nconds--;
            request_free(d->best);
            d->best = q;
        } else {
            memmove(&d->conds[i + 1], &d->conds[i], (d->nconds - i - 1) * sizeof *d->conds);
            d->conds[i] = out;
        }
    }
}

/* ---- the request */

/* Without parameters [from, to), does the fault stay? */
static bool drop_range(Reducing *d, size_t from, size_t to)
{
    Request *q = request_copy(d->best);
    q->post = request_is_post(q);
    for (size_t i = from; i < to; i++)
        request_set(q, d->best->params.items[i].path, NULL, 0);
    bool stays = shows(d, q, d->start);
    if (stays) {
        request_free(d->best);
        d->best = q;
    } else {
        request_free(q);
    }
    return stays;
}

/* All, halves, quarters, … single ones. */
static void drop_params(Reducing *d)
{
    for (size_t size = d->best->params.len; size; size /= 2)
        for (size_t i = d->best->params.len; i > 0 && !is_over(d);) {
            size_t from = i > size ? i - size : 0;
            drop_range(d, from, i);
            i = from < d->best->params.len ? from : d->best->params.len;
        }
}

static void shorten_values(Reducing *d)
{
    static const char *const small[] = { "", "1" };
    for (size_t i = 0; i < d->best->params.len && !is_over(d); i++)
        for (size_t k = 0; k < 2; k++) {
            const Param *p = &d->best->params.items[i];
            if (p->n <= strlen(small[k]))
                break;
            Request *q = request_copy(d->best);
            request_set(q, p->path, small[k], strlen(small[k]));
            if (shows(d, q, d->start)) {
                request_free(d->best);
                d->best = q;
                break;
            }
            request_free(q);
        }
}

/* Only conditions on parameters that the request still has. */
static void keep_relevant(Reducing *d)
{
    size_t n = 0;
    const Trace *t = d->from->reply->trace;
    for (size_t i = 0; i < d->nconds; i++) {
        Strings in = { 0 };
        bool given = false;
        trace_inputs(t, d->conds[i].node, &in);
        for (size_t k = 0; k < in.len; k++)
            given = given || has_input(d->best, in.items[k]);
        strings_release(&in);
        if (given)
            d->conds[n++] = d->conds[i];
    }
    d->nconds = n;
}

/* ---- the chain */

typedef Vec(Request *) Chain;

/* Plays the chain from the first state. */
static bool chain_shows(Reducing *d, const Chain *ch)
{
    const State *state = states_first(d->c->states);
    for (size_t i = 0; i < ch->len; i++) {
        const Memo *m = probe(d, ch->items[i], state);
        if (!m)
            return false;
        if (i + 1 == ch->len)
            return memo_has(m, d->key);
        state = m->end;
    }
    return false;
}

/* The last request of the chain once more, really run: what it answers. */
static bool chain_page(Reducing *d, const Chain *ch, Str *page)
{
    const State *state = states_first(d->c->states);
    for (size_t i = 0; i + 1 < ch->len; i++) {
        const Memo *m = probe(d, ch->items[i], state);
        if (!m)
            return false;
        state = m->end;
    }
    Reply *r = campaign_execute(d->c, ch->items[ch->len - 1], state, &state, d->err);
    if (!r)
        return false;
    Faults f = { 0 };
    campaign_judge(d->c, ch->items[ch->len - 1], r, &f);
    bool is = faults_have(&f, d->rep->key);
    faults_release(&f);
    str_addn(page, str_c(&r->body), r->body.len < 200000 ? r->body.len : 200000);
    reply_free(r);
    return is;
}

/* The requests up to this one that changed the state; `end` is the state after it. */
static void chain_of(const Step *s, const State *end, Chain *out)
{
    size_t from = out->len;
    for (; s; end = s->start, s = s->before)
        if (s->start != end)
            vec_push(out, request_copy(s->request));
    for (size_t i = from, k = out->len; i + 1 < k; i++) {
        Request *last = out->items[--k];
        out->items[k] = out->items[i];
        out->items[i] = last;
    }
}

/* Without the requests [from, to), does the fault stay? */
static bool drop_some(Reducing *d, Chain *ch, size_t from, size_t to)
{
    Chain less = { 0 };
    for (size_t k = 0; k < ch->len; k++)
        if (k < from || k >= to)
            vec_push(&less, ch->items[k]);
    bool stays = chain_shows(d, &less);
    for (size_t k = from; k < to && stays; k++)
        request_free(ch->items[k]);
    Chain other = stays ? *ch : less;
    *ch = stays ? less : *ch;
    vec_release(&other);
    return stays;
}

/* All, halves, quarters, … single ones, from the beginning; never the last. */
static void drop_steps(Reducing *d, Chain *ch)
{
    for (size_t size = ch->len - 1; size; size /= 2)
        for (size_t i = 0; i + 1 < ch->len && !is_over(d);) {
            size_t to = i + size < ch->len - 1 ? i + size : ch->len - 1;
            if (!drop_some(d, ch, i, to))
                i = to;
        }
}

static void drop_step_params(Reducing *d, Chain *ch)
{
    for (size_t i = 0; i + 1 < ch->len; i++)
        for (size_t p = ch->items[i]->params.len; p-- > 0 && d->probes;) {
            Request *old = ch->items[i], *q = request_copy(old);
            q->post = request_is_post(q);
            request_set(q, old->params.items[p].path, NULL, 0);
            ch->items[i] = q;
            if (chain_shows(d, ch)) {
                request_free(old);
            } else {
                request_free(q);
                ch->items[i] = old;
            }
        }
}

/* ---- suspects */

static int by_score(const void *a, const void *b)
{
    const Suspect *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    int c = strcmp(x->file, y->file);
    return c ? c : (x->line > y->line) - (x->line < y->line);
}

/* Ochiai: lines that failing runs execute and others do not. */
static void suspects(const Campaign *c, const Report *rep, WebFault *out)
{
    double fails = rep->seen < 50 ? (double)rep->seen : 50;
    Suspect *all = xcalloc(rep->lines.len + 1, sizeof *all);
    size_t n = 0;
    for (size_t i = 0; i < rep->lines.len; i++) {
        const char *key = rep->lines.entries[i].key, *colon = strrchr(key, ':');
        double ef = (double)(uintptr_t)rep->lines.entries[i].value;
        double runs = (double)(uintptr_t)map_get(&c->lines, key);
        runs = runs < ef ? ef : runs;
        all[n++] = (Suspect){ xstrndup(key, (size_t)(colon - key)), (unsigned)atoi(colon + 1),
                              ef / sqrt(fails * runs) };
    }
    qsort(all, n, sizeof *all, by_score);
    for (size_t i = 5; i < n; i++)
        free(all[i].file);
    out->suspects = all;
    out->nsuspects = n < 5 ? n : 5;
}

/* ---- one report */

static const Example *shortest(const Report *rep)
{
    const Example *best = &rep->examples[0];
    for (size_t i = 1; i < rep->nexamples; i++) {
        const Example *e = &rep->examples[i];
        if (e->step->depth < best->step->depth ||
            (e->step->depth == best->step->depth &&
             e->reply->trace->branches.len < best->reply->trace->branches.len))
            best = e;
    }
    return best;
}

static bool is_attack(FaultKind k) { return k >= FAULT_SQL; }

/* Parameters first: that is cheap. Then the conditions on those that are left. */
static void reduce_condition(Reducing *d, WebFault *out)
{
    out->condition_before = d->from->reply->trace->branches.len;
    out->input_before = d->from->step->request->params.len;
    drop_params(d);
    if (d->attack)
        return;
    common(d);
    keep_relevant(d);
    size_t all = d->nconds;
    if (all > 8)
        drop_implied(d);
    if (!reduce_each(d))
        reduce_greedily(d);
    shorten_values(d);
    keep_relevant(d);
    for (size_t i = 0; i < d->nconds; i++) {
        char *text = cond_text(d->from->reply->trace, d->conds[i]);
        strings_add(&out->condition, text);
        free(text);
    }
}

/* A chain that an earlier reduction made small, and where it leads to. */
typedef struct Prefix {
    Chain chain;
    const State *end;
} Prefix;

static void chain_release(Chain *ch)
{
    for (size_t i = 0; i < ch->len; i++)
        request_free(ch->items[i]);
    vec_release(ch);
}

/* All but the last request of the chain. */
static void remember_prefix(Reducing *d, const Chain *ch)
{
    Prefix *p = xcalloc(1, sizeof *p);
    p->end = states_first(d->c->states);
    for (size_t i = 0; i + 1 < ch->len; i++) {
        const Memo *m = probe(d, ch->items[i], p->end);
        vec_push(&p->chain, request_copy(ch->items[i]));
        p->end = m ? m->end : NULL;
        if (!m)
            break;
    }
    void **slot = p->end ? map_slotn(&d->c->prefixes, &p->end, sizeof p->end) : NULL;
    if (slot && !*slot) {
        *slot = p;
        return;
    }
    chain_release(&p->chain);
    free(p);
}

/* Where the fault shows with the least before it. */
static void choose_place(Reducing *d)
{
    const Campaign *c = d->c;
    const State *first = states_first(c->states);
    Request *bare = request_new(d->best->script);
    bare->post = request_is_post(d->best);
    if (!d->attack && shows(d, bare, first)) {
        request_free(d->best);
        d->best = bare;
        d->start = first;
        d->from_first = true;
        return;
    }
    request_free(bare);
    d->from_first = d->start == first || shows(d, d->best, first);
    if (d->from_first) {
        d->start = first;
        return;
    }
    d->behind = map_getn(&c->prefixes, &d->start, sizeof d->start);
    for (size_t i = 0; i < c->prefixes.len && i < MOST_PREFIXES && !d->behind; i++) {
        const Prefix *p = c->prefixes.entries[i].value;
        if (shows(d, d->best, p->end)) {
            d->behind = p;
            d->start = p->end;
        }
    }
}

static void reduce_chain(Reducing *d, WebFault *out)
{
    Chain ch = { 0 };
    for (size_t i = 0; d->behind && i < d->behind->chain.len; i++)
        vec_push(&ch, request_copy(d->behind->chain.items[i]));
    if (!d->behind && !d->from_first)
        chain_of(d->from->step->before, d->from->step->start, &ch);
    vec_push(&ch, request_copy(d->best));
    if (ch.len > 1 && !d->behind && chain_shows(d, &ch)) {
        drop_steps(d, &ch);
        drop_step_params(d, &ch);
        if (!is_over(d))
            remember_prefix(d, &ch);
    }
    out->minimised = !is_over(d);
    out->replayed = chain_page(d, &ch, &out->page);
    out->minimised = out->minimised && out->replayed;
    out->chain = ch.items;
    out->nchain = ch.len;
}

/* A page that another role should not see: the chain is the login and the page, and
 * that it comes is the fault. */
static void show_access(Reducing *d, WebFault *out)
{
    Chain ch = { 0 };
    chain_of(d->from->step->before, d->from->step->start, &ch);
    vec_push(&ch, request_copy(d->best));
    chain_page(d, &ch, &out->page);
    out->replayed = out->minimised = out->page.len > 0;
    out->chain = ch.items;
    out->nchain = ch.len;
}

/* A share of the time that is left: three times the mean, because most need less. */
static double end_of(const Campaign *c, size_t waiting)
{
    double now = clock_seconds(), left = c->begin + c->plan->seconds - now;
    return c->plan->seconds > 0 ? now + 3 * (left > 0 ? left : 0) / (double)(waiting + 1) : 0;
}

static void reduce(Campaign *c, Report *rep, size_t waiting, WebFault *out, Err *err)
{
    Reducing d = { .c = c, .rep = rep, .from = shortest(rep), .probes = MOST_PROBES, .err = err };
    d.attack = is_attack(rep->fault.kind);
    d.end = end_of(c, waiting);
    d.key = hash_bytes(rep->key, strlen(rep->key));
    d.start = d.from->step->start;
    if (rep->fault.kind == FAULT_HANG)
        d.probes = 10;             /* each takes as long as a request may */
    d.best = request_copy(d.from->step->request);
    fault_copy(&out->fault, &rep->fault);
    out->cgi = c->plan->cgi;
    out->seen = rep->seen;
    out->found_after = rep->found_after;
    if (rep->fault.kind == FAULT_ACCESS) {
        show_access(&d, out);
    } else {
        choose_place(&d);
        reduce_condition(&d, out);
        bool cut = is_over(&d);
        d.probes += rep->fault.kind == FAULT_HANG ? 4 : 60;
        reduce_chain(&d, out);
        out->minimised = out->minimised && !cut;
    }
    if (!out->cgi)
        suspects(c, rep, out);
    request_free(d.best);
    free(d.conds);
}

/* How much work it will be. */
static size_t effort(const Report *r)
{
    const Step *s = shortest(r)->step;
    return r->fault.kind == FAULT_HANG ? SIZE_MAX : s->depth * 4 + s->request->params.len;
}

/* The cheapest first, so that as many as can be are made small. */
static int by_effort(const void *a, const void *b)
{
    const Report *x = *(Report *const *)a, *y = *(Report *const *)b;
    size_t m = effort(x), n = effort(y);
    if (m != n)
        return m < n ? -1 : 1;
    return x->found_after < y->found_after ? -1 : x->found_after > y->found_after;
}

static int by_weight(const void *a, const void *b)
{
    const WebFault *x = a, *y = b;
    static const int weight[FAULT_NKINDS] = {
        [FAULT_CRASH] = 1,       [FAULT_SQL] = 0,        [FAULT_REFLECTED] = 0,
        [FAULT_INCLUDE] = 0,     [FAULT_REDIRECT] = 2,   [FAULT_ACCESS] = 0,
        [FAULT_FILE] = 0,        [FAULT_SHELL] = 0,      [FAULT_EVAL] = 0,
        [FAULT_MAIL] = 1,        [FAULT_NETWORK] = 1,    [FAULT_HANG] = 6,
        [FAULT_WARNING] = 3,     [FAULT_HTML_ERROR] = 3, [FAULT_DEPRECATED] = 4,
        [FAULT_HTML_WARNING] = 5
    };
    if (weight[x->fault.kind] != weight[y->fault.kind])
        return weight[x->fault.kind] - weight[y->fault.kind];
    return x->found_after < y->found_after ? -1 : x->found_after > y->found_after;
}

/* A message about SQL where input was seen to change the statement is the same
 * fault, told twice. */
static void drop_told_twice(Campaign *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->reports.len; i++) {
        Report *r = c->reports.items[i];
        bool twice = false;
        bool message = (r->fault.kind == FAULT_CRASH || r->fault.kind == FAULT_WARNING) &&
                       attack_is_sql_message(r->fault.message);
        for (size_t k = 0; message && k < c->reports.len && !twice; k++) {
            const Fault *f = &c->reports.items[k]->fault;
            twice = f->kind == FAULT_SQL && f->line == r->fault.line &&
                    strcmp(f->file, r->fault.file) == 0;
        }
        if (twice)
            vec_push(&c->dropped, r);
        else
            c->reports.items[n++] = r;
    }
    c->reports.len = n;
}

bool reduce_all(Campaign *c, Err *err)
{
    drop_told_twice(c);
    c->web->faults = xcalloc(c->reports.len + 1, sizeof *c->web->faults);
    if (c->reports.len)
        qsort(c->reports.items, c->reports.len, sizeof *c->reports.items, by_effort);
    for (size_t i = 0; i < c->reports.len; i++) {
        reduce(c, c->reports.items[i], c->reports.len - i, &c->web->faults[c->web->nfaults++], err);
        if (c->plan->progress)
            c->plan->progress(c->plan->progress_arg, "faults made small", i + 1);
    }
    if (c->web->nfaults)
        qsort(c->web->faults, c->web->nfaults, sizeof *c->web->faults, by_weight);
    for (size_t i = 0; i < c->prefixes.len; i++) {
        Prefix *p = c->prefixes.entries[i].value;
        chain_release(&p->chain);
        free(p);
    }
    map_release(&c->prefixes);
    return true;
}
