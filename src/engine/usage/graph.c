/*
 * From histories to one graph a handle type.
 *
 * Each object's calls become a chain of edges from the root; the calls inside a
 * call become another way between the same two nodes:
 *
 *     build(calls, start, end):
 *         last = start
 *         for c in calls:
 *             next = new node
 *             edge last -c-> next
 *             if c has calls inside: build(those, last, next)
 *             last = next
 *         if there is an end: last and end become one node
 *
 * Calls that are not of the API make nodes but no edges: had they been left out
 * of the sequence, ways would appear that nobody has taken. What the root doesn't
 * reach any more is dropped.
 *
 * Ours: a call three times in a row, or several calls twice, become a circle.
 * Without this a loop of a thousand rounds is a chain of a thousand nodes. And what
 * stands inside a call of more than MOST_INSIDE is not taken for another way.
 *
 * All objects of a type begin at one root. Wherever two edges with the same
 * function and the same places leave one node, they become one, and so do their
 * targets; this goes on until nothing changes. Nodes are joined by
 * union-find.
 */
#include "engine/usage/usage_int.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NESTING = 200, MOST_PERIOD = 8, NO_SEEN = UINT32_MAX };

typedef struct GEdge {
    uint32_t to;
    const ApiFunction *function;
    Places places;
    UsageVia via;
    bool creates, ends, rebinds, gone;
    uint32_t first, last;          /* observations, as a list */
    unsigned count;
} GEdge;

typedef struct Seen {
    uint32_t object, part, next;
} Seen;

typedef struct GNode {
    uint32_t joined;               /* union-find */
    Vec(uint32_t) out;
    uint32_t number;               /* in the result; UINT32_MAX: not there */
    unsigned ended;
} GNode;

typedef struct Graph {
    RawUsage *raw;
    const ApiType *type;
    Vec(GNode) nodes;
    Vec(GEdge) edges;
    Vec(Seen) seen;
    Vec(uint32_t) dirty;
    unsigned objects, cut;
} Graph;

static uint32_t find(Graph *g, uint32_t n)
{
    while (g->nodes.items[n].joined != n) {
        uint32_t up = g->nodes.items[n].joined;
        g->nodes.items[n].joined = g->nodes.items[up].joined;
        n = up;
    }
    return n;
}

static uint32_t node_new(Graph *g)
{
    GNode *n = vec_grow(&g->nodes);
    n->joined = (uint32_t)g->nodes.len - 1;
    n->number = UINT32_MAX;
    return n->joined;
}

/* The smaller number stays, so that the root does. */
static uint32_t join(Graph *g, uint32_t a, uint32_t b)
{
    a = find(g, a);
    b = find(g, b);
    if (a == b)
        return a;
    uint32_t keep = a < b ? a : b, drop = a < b ? b : a;
    GNode *k = &g->nodes.items[keep], *d = &g->nodes.items[drop];
    d->joined = keep;
    for (size_t i = 0; i < d->out.len; i++)
        vec_push(&k->out, d->out.items[i]);
    vec_release(&d->out);
    k->ended += d->ended;
    vec_push(&g->dirty, keep);
    return keep;
}

/* ---- building */

typedef struct Builder {
    Graph *g;
    uint32_t object;
    uint32_t *head, *next;         /* the parts inside a part, in order */
    uint32_t *inside;              /* how many there are, at any depth */
} Builder;

static void edge_new(Graph *g, uint32_t from, uint32_t to, uint32_t object, uint32_t part)
{
    const Part *p = &g->raw->objects.items[object].parts.items[part];
    const RawCall *c = &g->raw->calls.items[p->call];

    if (!c->api)
        return;
    Seen *s = vec_grow(&g->seen);
    *s = (Seen){ object, part, NO_SEEN };
    uint32_t here = (uint32_t)g->seen.len - 1;
    GEdge *e = vec_grow(&g->edges);
    *e = (GEdge){ .to = to,
                  .function = c->api,
                  .places = p->places,
                  .via = c->via,
                  .creates = p->creates,
                  .ends = p->ends,
                  .rebinds = p->rebinds,
                  .first = here,
                  .last = here,
                  .count = 1 };
    vec_push(&g->nodes.items[find(g, from)].out, (uint32_t)g->edges.len - 1);
}

static const Part *part_at(const Builder *b, uint32_t part)
{
    return &b->g->raw->objects.items[b->object].parts.items[part];
}

static bool alike(const Builder *b, uint32_t x, uint32_t y)
{
    const Part *p = part_at(b, x), *q = part_at(b, y);
    return p->places == q->places && p->creates == q->creates &&
           b->g->raw->calls.items[p->call].fn == b->g->raw->calls.items[q->call].fn;
}

/* How many of the last calls repeat those before; 0: none. */
static size_t repeats(const Builder *b, const uint32_t *parts, size_t n)
{
    if (n >= 3 && alike(b, parts[n - 1], parts[n - 2]) && alike(b, parts[n - 2], parts[n - 3]))
        return 1;
    for (size_t period = 2; period <= MOST_PERIOD && 2 * period <= n; period++) {
        size_t i = 0;
        while (i < period && alike(b, parts[n - 1 - i], parts[n - 1 - i - period]))
            i++;
        if (i == period)
            return period;
    }
    return 0;
}

/* The calls directly inside `above`, from start to end (NO_SEEN: open). */
static uint32_t build(Builder *b, uint32_t first, uint32_t start, uint32_t end, unsigned depth)
{
    Vec(uint32_t) parts = { 0 };
    Vec(uint32_t) after = { 0 };
    uint32_t last = start;

    vec_push(&after, start);
    for (uint32_t i = first; i != NO_SEEN; i = b->next[i]) {
        Part *p = &b->g->raw->objects.items[b->object].parts.items[i];
        uint32_t next = node_new(b->g);
        edge_new(b->g, last, next, b->object, i);
        p->node = last;
        p->next = next;
        if (b->head[i] != NO_SEEN && depth < MOST_NESTING && b->inside[i] <= MOST_INSIDE)
            build(b, b->head[i], last, next, depth + 1);
        vec_push(&parts, i);
        vec_push(&after, next);
        last = next;
        for (size_t r; (r = repeats(b, parts.items, parts.len));) {
            join(b->g, last, after.items[after.len - 1 - r]);
            parts.len -= r;
            after.len -= r;
            last = find(b->g, after.items[after.len - 1]);
        }
    }
    if (end != NO_SEEN)
        last = join(b->g, last, end);
    vec_release(&parts);
    vec_release(&after);
    return last;
}

/* Which kept part is the nearest around each? */
static void nest(Builder *b)
{
    Object *o = &b->g->raw->objects.items[b->object];
    Vec(uint32_t) open = { 0 };
    uint32_t *tail = xcalloc(o->parts.len + 1, sizeof *tail), top_tail = NO_SEEN;

    b->head[o->parts.len] = NO_SEEN;               /* of those inside nothing */
    for (uint32_t i = 0; i < o->parts.len; i++) {
        b->head[i] = b->next[i] = tail[i] = NO_SEEN;
        if (o->parts.items[i].dropped)
            continue;
        while (open.len && !raw_is_inside(b->g->raw, o->parts.items[i].call,
                                          o->parts.items[open.items[open.len - 1]].call))
            open.len--;
        uint32_t *head = open.len ? &b->head[open.items[open.len - 1]] : &b->head[o->parts.len];
        uint32_t *end = open.len ? &tail[open.items[open.len - 1]] : &top_tail;
        if (*end == NO_SEEN)
            *head = i;
        else
            b->next[*end] = i;
        *end = i;
        for (size_t k = 0; k < open.len; k++)
            b->inside[open.items[k]]++;
        vec_push(&open, i);
    }
    vec_release(&open);
    free(tail);
}

static void add_object(Graph *g, uint32_t object)
{
    Object *o = &g->raw->objects.items[object];
    bool any = false;

    for (size_t i = 0; i < o->parts.len; i++)
        any = any || (!o->parts.items[i].dropped &&
                      g->raw->calls.items[o->parts.items[i].call].api && o->parts.items[i].creates);
    if (!any)
        return;
    Builder b = { .g = g, .object = object };
    b.head = xcalloc(o->parts.len + 1, sizeof *b.head);
    b.next = xcalloc(o->parts.len + 1, sizeof *b.next);
    b.inside = xcalloc(o->parts.len + 1, sizeof *b.inside);
    nest(&b);
    uint32_t last = build(&b, b.head[o->parts.len], 0, NO_SEEN, 0);
    g->nodes.items[find(g, last)].ended++;
    g->objects++;
    g->cut += o->cut;
    uint32_t at = UINT32_MAX;      /* where it is while it is only looked at */
    for (size_t i = 0; i < o->parts.len; i++) {
        if (o->parts.items[i].dropped)
            o->parts.items[i].node = at;
        else
            at = o->parts.items[i].next;
    }
    free(b.head);
    free(b.next);
    free(b.inside);
}

/* ---- merging */

static int edge_order(const GEdge *a, const GEdge *b)
{
    if (a->function->index != b->function->index)
        return a->function->index < b->function->index ? -1 : 1;
    return (a->places > b->places) - (a->places < b->places);
}

static void absorb(Graph *g, GEdge *keep, GEdge *drop)
{
    g->seen.items[keep->last].next = drop->first;
    keep->last = drop->last;
    keep->count += drop->count;
    keep->creates = keep->creates || drop->creates;
    keep->ends = keep->ends || drop->ends;
    keep->rebinds = keep->rebinds || drop->rebinds;
    if (drop->via < keep->via)
        keep->via = drop->via;
    drop->gone = true;
}

/* Makes the edges out of a node different from each other. */
static void merge_node(Graph *g, uint32_t n)
{
    GNode *node = &g->nodes.items[n];
    Map by_label = { 0 };
    size_t kept = 0;
    Vec(uint32_t) pairs = { 0 };

    for (size_t i = 0; i < node->out.len; i++) {
        uint32_t ei = node->out.items[i];
        GEdge *e = &g->edges.items[ei];
        uint32_t label[2] = { e->function->index, e->places };
        void **slot = map_slotn(&by_label, label, sizeof label);
        if (!*slot) {
            *slot = (void *)(uintptr_t)(ei + 1);
            node->out.items[kept++] = ei;
            continue;
        }
        GEdge *first = &g->edges.items[(uintptr_t)*slot - 1];
        vec_push(&pairs, first->to);
        vec_push(&pairs, e->to);
        absorb(g, first, e);
    }
    node->out.len = kept;
    for (size_t i = 0; i < pairs.len; i += 2)
        join(g, pairs.items[i], pairs.items[i + 1]);
    vec_release(&pairs);
    map_release(&by_label);
}

static void merge(Graph *g)
{
    for (uint32_t i = 0; i < g->nodes.len; i++)
        vec_push(&g->dirty, i);
    while (g->dirty.len) {
        uint32_t n = g->dirty.items[--g->dirty.len];
        if (find(g, n) == n)
            merge_node(g, n);
    }
}

/* ---- results */

bool row_equal(const SeqValue *a, const SeqValue *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (!value_equal(&a[i], &b[i]))
            return false;
    return true;
}

void values_add(Arena *a, UsageValues *v, const SeqValue *x)
{
    if (x->kind == VALUE_WITHIN)
        return;                  /* it means nothing without the other argument */
    v->total++;
    for (size_t i = 0; i < v->n; i++)
        if (value_equal(&v->values[i], x)) {
            v->counts[i]++;
            return;
        }
    if (v->n == MOST_VALUES)
        return;
    if (!v->values) {
        v->values = arena_array(a, SeqValue, MOST_VALUES);
        v->counts = arena_array(a, unsigned, MOST_VALUES);
    }
    v->values[v->n] = *x;
    v->counts[v->n++] = 1;
}

/* What stood in a place when an object took part in a call. */
static SeqValue row_value(const RawCall *c, const Part *p, const Object *o, unsigned i)
{
    const ApiPlace *place = &c->api->params[i];

    if (!(p->places & place_bit((int)i)))
        return c->values[i];
    if (place->role == ROLE_HANDLE_OUT)
        return value_room(8);
    if (p->creates && o->callers && !(p->places & place_bit(API_RETURNED)))
        return value_room(o->type->size ? o->type->size : 64);
    return (SeqValue){ .kind = VALUE_SELF };
}

static void row_add(Arena *a, UsageRow **rows, size_t *n, const RawCall *c, const Part *p,
                    const Object *o)
{
    SeqValue *values = arena_array(a, SeqValue, c->nparams + 1);

    for (unsigned i = 0; i < c->nparams; i++)
        values[i] = row_value(c, p, o, i);
    for (size_t i = 0; i < *n; i++)
        if (row_equal((*rows)[i].values, values, c->nparams) &&
            stores_equal(&(*rows)[i], c->stores, c->nstores)) {
            (*rows)[i].count++;
            return;
        }
    if (*n == MOST_ROWS)
        return;
    if (!*rows)
        *rows = arena_array(a, UsageRow, MOST_ROWS);
    (*rows)[(*n)++] = (UsageRow){ values, 1, c->stores, c->nstores, c->unknown };
}

static UsageOther *other_at(Arena *a, UsageEdge *e, int place)
{
    for (size_t i = 0; i < e->nothers; i++)
        if (e->others[i].place == place)
            return &e->others[i];
    if (!e->others)
        e->others = arena_array(a, UsageOther, e->function->nparams + 1);
    UsageOther *o = &e->others[e->nothers++];
    o->place = place;
    o->type = e->function->params[place].handle;
    return o;
}

static void other_add(Arena *a, UsageOther *o, uint32_t node)
{
    size_t i = 0;

    while (i < o->nnodes && o->nodes[i] < node)
        i++;
    if (i < o->nnodes && o->nodes[i] == node)
        return;
    uint32_t *more = arena_array(a, uint32_t, o->nnodes + 1);
    for (size_t k = 0; k < o->nnodes; k++)
        more[k < i ? k : k + 1] = o->nodes[k];
    more[i] = node;
    o->nodes = more;
    o->nnodes++;
}

/* Graphs of all types must be built before: others are in theirs. */
static void add_others(Arena *a, Graph *graphs, RawUsage *raw, UsageEdge *e, const RawCall *c,
                       uint32_t call)
{
    for (unsigned i = 0; i < c->nparams && i < PLACES_LIMIT; i++) {
        const ApiPlace *p = &c->api->params[i];
        if (!p->handle || (e->places & place_bit((int)i)) || p->role == ROLE_HANDLE_OUT)
            continue;
        UsageOther *o = other_at(a, e, (int)i);
        o->total++;
        o->nulls += c->values[i].kind == VALUE_NULL;
        if (c->objects[i] == NO_OBJECT)
            continue;
        const Object *x = &raw->objects.items[c->objects[i]];
        const Part *part = raw_part(x, call);
        Graph *g = &graphs[x->type->index];
        if (!part || part->node >= g->nodes.len)
            continue;
        uint32_t node = g->nodes.items[find(g, part->node)].number;
        if (node != UINT32_MAX)
            other_add(a, o, node);
    }
}

static int by_label(const void *a, const void *b, void *arg)
{
    const Graph *g = arg;
    return edge_order(&g->edges.items[*(const uint32_t *)a], &g->edges.items[*(const uint32_t *)b]);
}

static bool may_leave(const GEdge *e, uint32_t from)
{
    return !e->gone && (from != 0 || e->creates);
}

/* Numbers the nodes that the root reaches, nearest first. */
static size_t number_nodes(Graph *g, uint32_t **order)
{
    uint32_t *queue = xcalloc(g->nodes.len + 1, sizeof *queue);
    size_t n = 1;

    g->nodes.items[0].number = 0;
    queue[0] = 0;
    for (size_t i = 0; i < n; i++) {
        GNode *node = &g->nodes.items[queue[i]];
        if (node->out.len)
            qsort_r(node->out.items, node->out.len, sizeof *node->out.items, by_label, g);
        for (size_t k = 0; k < node->out.len; k++) {
            const GEdge *e = &g->edges.items[node->out.items[k]];
            uint32_t to = find(g, e->to);
            if (!may_leave(e, queue[i]) || g->nodes.items[to].number != UINT32_MAX)
                continue;
            g->nodes.items[to].number = (uint32_t)n;
            queue[n++] = to;
        }
    }
    *order = queue;
    return n;
}

static double first_weight(UsageVia via)
{
    static const double weights[] = {
        [VIA_EXAMPLE] = 1, [VIA_CALLBACK] = 0.1, [VIA_LIBRARY] = 0.2
    };
    return weights[via];
}

static UsageEdge *edge_out(Usage *m, Graph *graphs, Graph *g, const GEdge *e, uint32_t from)
{
    Arena *a = &m->arena;
    UsageEdge *out = arena_new(a, UsageEdge);

    *out = (UsageEdge){ .function = e->function,
                        .places = e->places,
                        .from = from,
                        .to = g->nodes.items[find(g, e->to)].number,
                        .via = e->via,
                        .count = e->count,
                        .weight = first_weight(e->via),
                        .creates = e->creates,
                        .ends = e->ends,
                        .rebinds = e->rebinds };
    out->values = arena_array(a, UsageValues, e->function->nparams + 1);
    for (uint32_t i = e->first; i != NO_SEEN; i = g->seen.items[i].next) {
        const Object *o = &g->raw->objects.items[g->seen.items[i].object];
        const Part *p = &o->parts.items[g->seen.items[i].part];
        const RawCall *c = &g->raw->calls.items[p->call];
        row_add(a, &out->rows, &out->nrows, c, p, o);
        for (unsigned k = 0; k < c->nparams; k++)
            if (!c->api->params[k].handle && c->values[k].kind != VALUE_NONE)
                values_add(a, &out->values[k], &c->values[k]);
        if (c->result.kind != VALUE_NONE)
            values_add(a, &out->results, &c->result);
        add_others(a, graphs, g->raw, out, c, p->call);
    }
    return out;
}

static void observers_of(Usage *m, const Graph *g, UsageType *t)
{
    RawUsage *raw = g->raw;

    for (size_t i = 0; i < raw->objects.len; i++) {
        const Object *o = &raw->objects.items[i];
        for (size_t k = 0; o->type == t->type && k < o->parts.len; k++) {
            const Part *p = &o->parts.items[k];
            const RawCall *c = &raw->calls.items[p->call];
            bool in = p->places & ~place_bit(API_RETURNED);
            if (!p->dropped || p->internal || !c->api || !in)
                continue;
            UsageObserver *x = NULL;
            for (size_t j = 0; j < t->nobservers; j++)
                if (t->observers[j].function == c->api && t->observers[j].places == p->places)
                    x = &t->observers[j];
            if (!x) {
                if (!t->observers)
                    t->observers = arena_array(&m->arena, UsageObserver, m->api->nfunctions * 2);
                if (t->nobservers == m->api->nfunctions * 2)
                    continue;
                x = &t->observers[t->nobservers++];
                *x = (UsageObserver){ .function = c->api, .places = p->places };
            }
            x->count++;
            row_add(&m->arena, &x->rows, &x->nrows, c, p, o);
        }
    }
}

void graph_measure(UsageType *t)
{
    t->nedges = 0;
    for (size_t i = 0; i < t->nnodes; i++) {
        t->nodes[i].distance = UINT_MAX;
        t->nedges += t->nodes[i].nedges;
    }
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < t->nnodes; i++)
            for (size_t k = 0; k < t->nodes[i].nedges; k++) {
                const UsageEdge *e = t->nodes[i].edges[k];
                unsigned there = e->ends ? 0 : t->nodes[e->to].distance;
                if (e->via == VIA_EXAMPLE && there != UINT_MAX &&
                    there + 1 < t->nodes[i].distance) {
                    t->nodes[i].distance = there + 1;
                    more = true;
                }
            }
    }
}

static void result_of(Usage *m, Graph *graphs, Graph *g, const uint32_t *order, size_t n)
{
    UsageType *t = &m->types[m->ntypes++];

    *t = (UsageType){ .type = g->type, .objects = g->objects, .cut = g->cut, .nnodes = n };
    t->nodes = arena_array(&m->arena, UsageNode, n);
    for (size_t i = 0; i < n; i++) {
        GNode *node = &g->nodes.items[order[i]];
        t->nodes[i].edges = arena_array(&m->arena, UsageEdge *, node->out.len + 1);
        t->nodes[i].ended = node->ended;
        for (size_t k = 0; k < node->out.len; k++) {
            const GEdge *e = &g->edges.items[node->out.items[k]];
            if (may_leave(e, order[i]))
                t->nodes[i].edges[t->nodes[i].nedges++] = edge_out(m, graphs, g, e, (uint32_t)i);
        }
    }
    observers_of(m, g, t);
    graph_measure(t);
}

static void graph_release(Graph *g)
{
    for (size_t i = 0; i < g->nodes.len; i++)
        vec_release(&g->nodes.items[i].out);
    vec_release(&g->nodes);
    vec_release(&g->edges);
    vec_release(&g->seen);
    vec_release(&g->dirty);
}

void graphs_make(Usage *m, RawUsage *raw)
{
    size_t n = m->api->ntypes;
    Graph *graphs = xcalloc(n + 1, sizeof *graphs);
    uint32_t **orders = xcalloc(n + 1, sizeof *orders);
    size_t *counts = xcalloc(n + 1, sizeof *counts);

    for (size_t i = 0; i < n; i++) {
        graphs[i].raw = raw;
        graphs[i].type = &m->api->types[i];
        node_new(&graphs[i]);
    }
    for (uint32_t i = 0; i < raw->objects.len; i++)
        add_object(&graphs[raw->objects.items[i].type->index], i);
    for (size_t i = 0; i < n; i++) {
        merge(&graphs[i]);
        counts[i] = number_nodes(&graphs[i], &orders[i]);
    }
    m->types = arena_array(&m->arena, UsageType, n + 1);
    for (size_t i = 0; i < n; i++)
        if (graphs[i].objects)
            result_of(m, graphs, &graphs[i], orders[i], counts[i]);
    for (size_t i = 0; i < n; i++) {
        graph_release(&graphs[i]);
        free(orders[i]);
    }
    free(orders);
    free(counts);
    free(graphs);
}
