/* The main line of the usage, and what a generator asks it. */
#include "engine/usage/usage.h"
#include "engine/usage/usage_int.h"
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

const char *usage_via_name(UsageVia v)
{
    static const char *const names[] = { "example", "callback", "library" };
    return names[v];
}

const char *usage_relation_name(UsageRelationKind k)
{
    static const char *const names[] = {
        [RELATION_LENGTH] = "length",
        [RELATION_LENGTH_EXACT] = "exact length",
        [RELATION_LENGTH_TEXT] = "text length",
        [RELATION_LENGTH_TEXT_NUL] = "text length with NUL",
        [RELATION_MET] = "met",
        [RELATION_SAME] = "same",
        [RELATION_APART] = "apart",
    };
    return names[k];
}

const char *usage_fate_name(UsageFate f)
{
    static const char *const names[] = { "stays", "destroyed", "taken", "rebound", "varies" };
    return names[f];
}

const char *usage_order_name(UsageOrder o)
{
    static const char *const names[] = { "any", "child first", "owner first", "with owner" };
    return names[o];
}

/* All values of each parameter, whoever made the call. */
static void gather_values(Usage *m, const RawUsage *raw)
{
    m->values = arena_array(&m->arena, UsageValues *, m->api->nfunctions + 1);
    for (size_t i = 0; i < raw->calls.len; i++) {
        const RawCall *c = &raw->calls.items[i];
        if (!c->api)
            continue;
        UsageValues **v = &m->values[c->api->index];
        if (!*v)
            *v = arena_array(&m->arena, UsageValues, c->nparams + 1);
        for (unsigned k = 0; k < c->nparams; k++)
            if (!c->api->params[k].handle && c->values[k].kind != VALUE_NONE &&
                c->values[k].kind != VALUE_WITHIN)
                values_add(&m->arena, &(*v)[k], &c->values[k]);
    }
}

static void sort_values(UsageValues *v)
{
    for (size_t i = 1; i < v->n; i++)
        for (size_t k = i; k && v->counts[k] > v->counts[k - 1]; k--) {
            SeqValue x = v->values[k];
            unsigned n = v->counts[k];
            v->values[k] = v->values[k - 1];
            v->counts[k] = v->counts[k - 1];
            v->values[k - 1] = x;
            v->counts[k - 1] = n;
        }
}

static void sort_all_values(Usage *m)
{
    for (size_t i = 0; i < m->api->nfunctions; i++)
        for (unsigned k = 0; m->values[i] && k < m->api->functions[i].nparams; k++)
            sort_values(&m->values[i][k]);
    for (size_t i = 0; i < m->ntypes; i++)
        for (size_t n = 0; n < m->types[i].nnodes; n++)
            for (size_t k = 0; k < m->types[i].nodes[n].nedges; k++) {
                UsageEdge *e = m->types[i].nodes[n].edges[k];
                for (unsigned p = 0; p < e->function->nparams; p++)
                    sort_values(&e->values[p]);
                sort_values(&e->results);
            }
}

/* What came out new and was closed by the example itself was the example's. */
static void find_given(Usage *m, const RawUsage *raw)
{
    m->gives_text = arena_array(&m->arena, bool, m->api->nfunctions + 1);
    m->gives_handles = arena_array(&m->arena, Places, m->api->nfunctions + 1);
    for (size_t i = 0; i < raw->texts.len; i++)
        m->gives_text[api_plain(raw->texts.entries[i].value)->index] = true;
    for (size_t i = 0; i < raw->objects.len; i++) {
        const Object *o = &raw->objects.items[i];
        const RawCall *made = o->maker == NO_CALL ? NULL : &raw->calls.items[o->maker];
        const Part *first = made ? raw_part(o, o->maker) : NULL;
        const Part *last = o->parts.len ? &o->parts.items[o->parts.len - 1] : NULL;
        const RawCall *end = last && last->ends ? &raw->calls.items[last->call] : NULL;
        if (!first || !end || o->borrowed || o->callers || !made->api || !end->api ||
            made->via != VIA_EXAMPLE || end->via != VIA_EXAMPLE)
            continue;
        m->gives_handles[made->api->index] |= first->places;
    }
}

void usage_say(const UsagePlan *plan, const char *what)
{
    if (plan->progress)
        plan->progress(plan->arg, what);
}

Usage *usage_infer(Api *api, Trace *const *traces, size_t ntraces, const UsagePlan *plan, Err *err)
{
    Usage *m = xcalloc(1, sizeof *m);
    RawUsage raw = { .api = api, .shapes = api };

    m->api = api;
    bool whole = true;
    for (size_t i = 0; i < ntraces; i++)
        whole = raw_add_trace(&raw, &m->arena, traces[i], plan) && whole;
    if (!whole)
        strings_addf(&m->notes,
                     "learned from the first %zu calls of the example only: it was "
                     "stopped, or its time (--time) was over",
                     raw.calls.len);
    usage_say(plan, "how objects were used");
    files_find(m, &raw, plan->root);
    facts_of_ends(&raw, plan->facts);
    facts_of_usage(m, &raw);
    graphs_make(m, &raw);
    gather_values(m, &raw);
    usage_say(plan, "what the example did, as sequences");
    replays_make(m, &raw, plan);
    find_given(m, &raw);
    raw_release(&raw);
    sort_all_values(m);
    usage_check(m);
    if (plan->rules && !rules_apply(m, plan->rules, err)) {
        usage_free(m);
        return NULL;
    }
    usage_check(m);
    return m;
}

/* ---- invariants */

static void check_edge(const UsageType *t, uint32_t from, const UsageEdge *e)
{
    assert(e->function && e->from == from && e->to < t->nnodes);
    assert(e->weight > 0 && e->places);
    assert(from || e->creates);          /* an object that is not there is made */
    assert(!e->nrows || e->rows);
    for (unsigned i = 0; i < e->function->nparams; i++)
        assert(e->values[i].n <= e->values[i].total);
    for (size_t i = 0; i < e->nothers; i++)
        assert(e->others[i].type && e->others[i].nulls <= e->others[i].total);
}

static void check_type(const UsageType *t)
{
    size_t nedges = 0;
    assert(t->type && t->nnodes);
    for (uint32_t i = 0; i < t->nnodes; i++) {
        nedges += t->nodes[i].nedges;
        for (size_t k = 0; k < t->nodes[i].nedges; k++)
            check_edge(t, i, t->nodes[i].edges[k]);
    }
    assert(nedges == t->nedges);
    for (size_t i = 0; i < t->nobservers; i++)
        assert(t->observers[i].function && t->observers[i].places);
}

void usage_check(const Usage *m)
{
    for (size_t i = 0; i < m->ntypes; i++)
        check_type(&m->types[i]);
    for (size_t i = 0; i < m->nfunctions; i++) {
        const ApiFunction *f = m->functions[i].function;
        assert(f->index < m->api->nfunctions && m->function_of[f->index] == i);
    }
    for (size_t i = 0; i < m->nbonds; i++)
        assert(m->bonds[i].by && m->bonds[i].child_type && m->bonds[i].owner_type);
    for (size_t i = 0; i < m->nreplays; i++)
        seq_check(m->replays[i]);
}

void usage_free(Usage *m)
{
    if (!m)
        return;
    strings_release(&m->notes);
    vec_release(&m->losses);
    vec_release(&m->files);
    arena_release(&m->arena);
    free(m);
}

/* ---- asking */

const UsageType *usage_types(const Usage *m, size_t *n)
{
    *n = m->ntypes;
    return m->types;
}

const UsageType *usage_type(const Usage *m, const ApiType *t)
{
    for (size_t i = 0; i < m->ntypes; i++)
        if (m->types[i].type == t)
            return &m->types[i];
    return NULL;
}

const UsageFunction *usage_functions(const Usage *m, size_t *n)
{
    *n = m->nfunctions;
    return m->functions;
}

const UsageFunction *usage_function(const Usage *m, const ApiFunction *f)
{
    uint32_t i = f->index < m->api->nfunctions ? m->function_of[f->index] : UINT32_MAX;
    return i == UINT32_MAX ? NULL : &m->functions[i];
}

const UsageBond *usage_bond(const Usage *m, const ApiFunction *f, int child)
{
    for (size_t i = 0; i < m->nbonds; i++)
        if (m->bonds[i].by == f && m->bonds[i].child == child)
            return &m->bonds[i];
    return NULL;
}

bool usage_forbids(const Usage *m, const ApiFunction *f)
{
    return m->forbidden && m->forbidden[api_plain(f)->index];
}

char *const *usage_notes(const Usage *m, size_t *n)
{
    *n = m->notes.len;
    return m->notes.items;
}

uint32_t usage_step(const UsageType *t, uint32_t node, const ApiFunction *f, Places places)
{
    if (node >= t->nnodes)
        return USAGE_OUTSIDE;
    const UsageNode *n = &t->nodes[node];
    for (size_t i = 0; i < n->nedges; i++)
        if (n->edges[i]->function == f && n->edges[i]->places == places)
            return n->edges[i]->to;
    for (size_t i = 0; i < t->nobservers; i++)
        if (t->observers[i].function == f && t->observers[i].places == places)
            return node;
    return USAGE_OUTSIDE;
}

const UsageEdge *usage_pick_edge(const UsageType *t, uint32_t node, Rng *r)
{
    double total = 0;

    if (node >= t->nnodes)
        return NULL;
    const UsageNode *n = &t->nodes[node];
    for (size_t i = 0; i < n->nedges; i++)
        total += n->edges[i]->weight;
    double at = rng_unit(r) * total;
    for (size_t i = 0; i < n->nedges; i++) {
        at -= n->edges[i]->weight;
        if (at < 0)
            return n->edges[i];
    }
    return n->nedges ? n->edges[n->nedges - 1] : NULL;
}

const UsageEdge *usage_toward_end(const UsageType *t, uint32_t node)
{
    if (node >= t->nnodes || t->nodes[node].distance == UINT_MAX)
        return NULL;
    const UsageNode *n = &t->nodes[node];
    for (size_t i = 0; i < n->nedges; i++) {
        const UsageEdge *e = n->edges[i];
        unsigned there = e->ends ? 0 : t->nodes[e->to].distance;
        if (e->via == VIA_EXAMPLE && there != UINT_MAX && there + 1 == n->distance)
            return e;
    }
    return NULL;
}

const UsageValues *usage_values(const Usage *m, const ApiFunction *f, unsigned param)
{
    UsageValues *v = m->values[f->index];
    return v && param < f->nparams && v[param].n ? &v[param] : NULL;
}

/* Is a parameter part of a pair that must stay together? */
static const UsageRelation *length_of(const UsageFunction *f, unsigned param)
{
    for (size_t i = 0; f && i < f->nrelations; i++)
        if (f->relations[i].kind <= RELATION_LENGTH_TEXT_NUL &&
            (f->relations[i].a == (int)param || f->relations[i].b == (int)param))
            return &f->relations[i];
    return NULL;
}

static bool is_free(const SeqValue *v, const ApiPlace *p)
{
    return !p->handle && v->kind != VALUE_SELF;
}

/* Does it point into another argument, or another into it? */
static bool is_within(const SeqValue *args, unsigned n, unsigned place)
{
    if (args[place].kind == VALUE_WITHIN)
        return true;
    for (unsigned i = 0; i < n; i++)
        if (args[i].kind == VALUE_WITHIN && args[i].param == place)
            return true;
    return false;
}

const UsageRow *usage_pick_values(const Usage *m, const UsageEdge *e, Rng *r, double mix,
                                  SeqValue *out)
{
    unsigned n = e->function->nparams;
    const UsageFunction *f = usage_function(m, e->function);

    if (!e->nrows) {
        memset(out, 0, n * sizeof *out);
        return NULL;
    }
    const UsageRow *first = &e->rows[rng_below(r, e->nrows)];
    memcpy(out, first->values, n * sizeof *out);
    for (unsigned i = 0; i < n; i++) {
        if (!is_free(&out[i], &e->function->params[i]) || rng_unit(r) >= mix)
            continue;
        if (is_within(out, n, i))
            continue;
        const UsageRelation *pair = length_of(f, i);
        if (pair) {                                /* both from the same row */
            const UsageRow *row = &e->rows[rng_below(r, e->nrows)];
            out[pair->a] = row->values[pair->a];
            out[pair->b] = row->values[pair->b];
            continue;
        }
        bool anywhere = rng_below(r, 4) == 0;
        const UsageValues *v = anywhere ? usage_values(m, e->function, i) : &e->values[i];
        if (v && v->n)
            out[i] = v->values[rng_below(r, v->n)];
    }
    return first;
}

/* Was a handle that came out of a place new, and did the example close it? */
static bool gives_handle(const Usage *m, const ApiFunction *f, int place)
{
    return f->index < m->api->nfunctions && (m->gives_handles[f->index] & place_bit(place));
}

/* Did the example free texts that a function gave it? */
static bool gives_text(const Usage *m, const ApiFunction *f)
{
    return f->index < m->api->nfunctions && m->gives_text[api_plain(f)->index];
}

void usage_teach_ownership(const Usage *m, Ownership *o)
{
    size_t n;
    const UsageFunction *all = usage_functions(m, &n);
    for (size_t i = 0; i < n; i++) {
        const ApiFunction *f = all[i].function;
        for (unsigned k = 0; k < f->nparams; k++)
            if (f->params[k].role == ROLE_HANDLE && all[i].calls && all[i].fates[k] == FATE_TAKEN)
                ownership_learn(o, f, (int)k, USE_CONSUMES);
        for (int k = API_RETURNED; k < (int)f->nparams; k++)
            if (api_place(f, k)->use == USE_BORROWS && gives_handle(m, f, k))
                ownership_learn(o, f, k, USE_CREATES);
        if (gives_text(m, f))
            ownership_learn(o, f, API_RETURNED, USE_CREATES);
    }
}

const SeqFile *usage_files(const Usage *m, size_t *n)
{
    *n = m->files.len;
    return m->files.items;
}

const UsageLoss *usage_losses(const Usage *m, size_t *n)
{
    *n = m->losses.len;
    return m->losses.items;
}

Seq *const *usage_replays(const Usage *m, size_t *n)
{
    *n = m->nreplays;
    return m->replays;
}
