/*
 * The solver: waves, after Pereira and Berlin.
 *
 *     1. find cycles of copy edges and merge each into one node (all members
 *        end up with the same set anyway); number the rest topologically
 *     2. in that order, hand to the successors what is new in each set
 *     3. let constraints meet the locations that are new where they hang:
 *        new edges, new members, new calls
 *     until nothing is new
 *
 * Only differences travel (`fresh`), and only differences meet constraints
 * (`todo`). Merged nodes are found through `rep`, a union-find forest.
 */
#include "analysis/pointsto/pt_int.h"
#include <assert.h>

uint32_t pt_node_new(Pt *pt)
{
    PtNode *n = vec_grow(&pt->nodes);

    n->rep = (uint32_t)pt->nodes.len - 1;
    return n->rep;
}

uint32_t pt_find(Pt *pt, uint32_t node)
{
    PtNode *nodes = pt->nodes.items;

    while (nodes[node].rep != node) {
        nodes[node].rep = nodes[nodes[node].rep].rep;
        node = nodes[node].rep;
    }
    return node;
}

void pt_changed(Pt *pt, uint32_t node)
{
    PtNode *n = &pt->nodes.items[node];

    pt->grown = true;
    if (!n->queued) {
        n->queued = true;
        vec_push(&pt->changed, node);
    }
}

void pt_member(Pt *pt, uint32_t node, uint32_t loc)
{
    assert(loc < pt->locs.len);
    node = pt_find(pt, node);
    PtNode *n = &pt->nodes.items[node];

    if (!ptbits_add(&n->pts, loc))
        return;
    if (n->succs.len)
        ptbits_add(&n->fresh, loc);
    if (n->constraints.len)
        ptbits_add(&n->todo, loc);
    pt_changed(pt, node);
}

/* Gives `from`'s members to a node. */
static void spread(Pt *pt, uint32_t node, const PtBits *from)
{
    PtNode *n = &pt->nodes.items[node];
    PtBits new_ones = { 0 };

    if (!from->len || !ptbits_union(&n->pts, from, &new_ones))
        return;
    /* An edge that comes later hands over the whole set. */
    if (n->succs.len)
        ptbits_union(&n->fresh, &new_ones, NULL);
    if (n->constraints.len)
        ptbits_union(&n->todo, &new_ones, NULL);
    ptbits_release(&new_ones);
    pt_changed(pt, node);
}

void pt_edge(Pt *pt, uint32_t from, uint32_t to)
{
    assert(from < pt->nodes.len && to < pt->nodes.len);
    from = pt_find(pt, from);
    to = pt_find(pt, to);
    if (from == to || !pttable_put(&pt->edges, (uint64_t)from << 32 | to, 0))
        return;
    pt->stats.edges++;
    vec_push(&pt->nodes.items[from].succs, to);
    pt->grown = true;
    spread(pt, to, &pt->nodes.items[from].pts);
}

void pt_constrain(Pt *pt, uint32_t node, PtConstraint c)
{
    assert(c.kind == C_ESCAPE || c.other < (c.kind == C_CALL ? pt->calls.len : pt->nodes.len));
    assert(c.kind != C_STEP || c.steps + c.nsteps <= pt->steps.len);
    node = pt_find(pt, node);
    PtNode *n = &pt->nodes.items[node];

    vec_push(&pt->constraints, c);
    vec_push(&n->constraints, (uint32_t)pt->constraints.len - 1);
    pt->stats.constraints++;
    /* It has to meet all that is there already. */
    if (n->pts.len) {
        ptbits_union(&n->todo, &n->pts, NULL);
        pt_changed(pt, node);
    }
}

static void append(void *to, const void *from)
{
    Vec(uint32_t) *a = to;
    const Vec(uint32_t) *b = from;

    for (size_t i = 0; i < b->len; i++)
        vec_push(a, b->items[i]);
}

uint32_t pt_merge(Pt *pt, uint32_t a, uint32_t b)
{
    a = pt_find(pt, a);
    b = pt_find(pt, b);
    if (a == b)
        return a;
    PtNode *x = &pt->nodes.items[a], *y = &pt->nodes.items[b];
    if (x->pts.len + x->succs.len < y->pts.len + y->succs.len) {
        PtNode *t = x;
        x = y;
        y = t;
        uint32_t n = a;
        a = b;
        b = n;
    }
    assert(x->rep == a && y->rep == b);      /* both still stand for themselves */
    y->rep = a;
    pt->stats.merged++;
    append(&x->succs, &y->succs);
    append(&x->constraints, &y->constraints);
    vec_release(&y->succs);
    vec_release(&y->constraints);
    /* What only one of them had, the other's successors and constraints have
     * not seen yet. */
    PtBits differ = { 0 };
    ptbits_union(&y->pts, &x->pts, &differ);
    ptbits_union(&x->pts, &y->pts, &differ);
    if (x->succs.len) {
        ptbits_union(&x->fresh, &differ, NULL);
        ptbits_union(&x->fresh, &y->fresh, NULL);
    }
    if (x->constraints.len) {
        ptbits_union(&x->todo, &differ, NULL);
        ptbits_union(&x->todo, &y->todo, NULL);
    }
    ptbits_release(&differ);
    ptbits_release(&y->pts);
    ptbits_release(&y->fresh);
    ptbits_release(&y->todo);
    pt_changed(pt, a);
    return a;
}

/* ---- cycles: Tarjan's algorithm, with a stack of its own */

typedef struct Frame {
    uint32_t node, next;
} Frame;

typedef struct Search {
    Pt *pt;
    uint32_t *index, *low;
    bool *on_stack;
    uint32_t count;
    Vec(uint32_t) stack;
    Vec(Frame) frames;
    Vec(uint32_t) order;      /* nodes, successors first */
    Vec(uint32_t) cycles;     /* pairs to merge */
} Search;

static void enter(Search *s, uint32_t node)
{
    s->index[node] = s->low[node] = ++s->count;
    s->on_stack[node] = true;
    vec_push(&s->stack, node);
    Frame f = { node, 0 };
    vec_push(&s->frames, f);
}

static void leave(Search *s, uint32_t node)
{
    if (s->low[node] == s->index[node]) {
        uint32_t member;
        do {
            assert(s->stack.len);            /* `node` itself is on it */
            member = s->stack.items[--s->stack.len];
            s->on_stack[member] = false;
            if (member != node) {
                vec_push(&s->cycles, node);
                vec_push(&s->cycles, member);
            }
        } while (member != node);
        vec_push(&s->order, node);
    }
    s->frames.len--;
    if (s->frames.len) {
        uint32_t up = s->frames.items[s->frames.len - 1].node;
        if (s->low[node] < s->low[up])
            s->low[up] = s->low[node];
    }
}

static void search_from(Search *s, uint32_t root)
{
    enter(s, root);
    while (s->frames.len) {
        Frame *f = &s->frames.items[s->frames.len - 1];
        PtNode *n = &s->pt->nodes.items[f->node];
        if (f->next == n->succs.len) {
            leave(s, f->node);
            continue;
        }
        uint32_t to = pt_find(s->pt, n->succs.items[f->next++]);
        if (!s->index[to])
            enter(s, to);
        else if (s->on_stack[to] && s->index[to] < s->low[f->node])
            s->low[f->node] = s->index[to];
    }
}

/* Drops successors that have become the same node. */
static void tidy(Pt *pt, uint32_t node)
{
    PtNode *n = &pt->nodes.items[node];
    size_t kept = 0;

    for (size_t i = 0; i < n->succs.len; i++) {
        uint32_t to = pt_find(pt, n->succs.items[i]);
        if (to == node)
            continue;
        if (to != n->succs.items[i] && !pttable_put(&pt->edges, (uint64_t)node << 32 | to, 0))
            continue;
        n->succs.items[kept++] = to;
    }
    n->succs.len = kept;
}

static void find_cycles(Search *s)
{
    Pt *pt = s->pt;
    size_t n = pt->nodes.len;

    s->index = xcalloc(n, sizeof *s->index);
    s->low = xcalloc(n, sizeof *s->low);
    s->on_stack = xcalloc(n, sizeof *s->on_stack);
    for (size_t i = 0; i < n; i++)
        if (pt->nodes.items[i].rep == i && !s->index[i] && pt->nodes.items[i].succs.len)
            search_from(s, (uint32_t)i);
    for (size_t i = 0; i < s->cycles.len; i += 2)
        pt_merge(pt, s->cycles.items[i], s->cycles.items[i + 1]);
    assert(!s->stack.len && !s->frames.len);
    for (size_t i = 0; i < s->cycles.len; i += 2)     /* once for each cycle */
        if (!i || s->cycles.items[i] != s->cycles.items[i - 2])
            tidy(pt, pt_find(pt, s->cycles.items[i]));
    free(s->index);
    free(s->low);
    free(s->on_stack);
    vec_release(&s->stack);
    vec_release(&s->frames);
    vec_release(&s->cycles);
}

static void propagate(Pt *pt, uint32_t node)
{
    node = pt_find(pt, node);
    PtBits fresh = pt->nodes.items[node].fresh;

    if (!fresh.len)
        return;
    pt->nodes.items[node].fresh = (PtBits){ 0 };
    for (size_t i = 0; i < pt->nodes.items[node].succs.len; i++) {
        uint32_t to = pt_find(pt, pt->nodes.items[node].succs.items[i]);
        if (to != node)
            spread(pt, to, &fresh);
    }
    ptbits_release(&fresh);
}

/* ---- constraints meet locations */

static void escape(Pt *pt, uint32_t loc)
{
    uint32_t object = pt->locs.items[loc].object;
    PtObj *o = &pt->objects.items[object];

    if (o->kind == PT_FUNCTION) {
        pt_call_meets(pt, pt->outside_call, o->site);
        return;
    }
    if (object == pt->external)
        return;
    uint32_t any = pt_loc(pt, object, ANY);
    pt_edge(pt, pt_read_node(pt, any), pt->world);
    uint32_t w = pt_write_node(pt, any);
    if (w != NONE)
        pt_edge(pt, pt->world, w);
}

static void copy_memory(Pt *pt, const PtConstraint *c, uint32_t loc)
{
    const PtBits *others = &pt->nodes.items[pt_find(pt, c->other)].pts;
    Vec(uint32_t) all = { 0 };

    for (PtIter i = ptbits_first(others); i.on; ptbits_next(&i))
        vec_push(&all, i.x);
    for (size_t i = 0; i < all.len; i++) {
        if (c->kind == C_COPY_TO)
            pt_mirror(pt, loc, all.items[i], c->offset);
        else
            pt_mirror(pt, all.items[i], loc, c->offset);
    }
    vec_release(&all);
}

/* `last`: the node that the constraint met before; many locations share one. */
static void meet(Pt *pt, uint32_t constraint, uint32_t loc, uint32_t *last)
{
    PtConstraint c = pt->constraints.items[constraint];
    uint32_t node;

    loc = pt_canon(pt, loc);
    switch (c.kind) {
    case C_LOAD:
        if (!pt_has_room(pt, loc, c.offset))
            break;
        node = pt_read_node(pt, pt_shift(pt, loc, c.offset));
        if (node != NONE && node != *last)
            pt_edge(pt, node, c.other);
        *last = node;
        break;
    case C_STORE:
        if (!pt_has_room(pt, loc, c.offset))
            break;
        node = pt_write_node(pt, pt_shift(pt, loc, c.offset));
        if (node != NONE && node != *last)
            pt_edge(pt, c.other, node);
        *last = node;
        break;
    case C_STEP:
        loc = pt_step(pt, loc, &pt->steps.items[c.steps], c.nsteps);
        if (loc != NONE)
            pt_member(pt, c.other, loc);
        break;
    case C_NARROW: pt_member(pt, c.other, pt_shift(pt, loc, ANY)); break;
    case C_COPY_TO:
    case C_COPY_FROM: copy_memory(pt, &c, loc); break;
    case C_CALL:
        if (pt->objects.items[pt->locs.items[loc].object].kind == PT_FUNCTION)
            pt_call_meets(pt, c.other, pt->objects.items[pt->locs.items[loc].object].site);
        else if (pt->locs.items[loc].object == pt->external)
            pt_call_meets(pt, c.other, NULL);
        break;
    case C_ESCAPE: escape(pt, loc); break;
    }
}

/* The other end, as far as it is a node. */
static uint32_t other_end(Pt *pt, const PtConstraint *c)
{
    return c->kind == C_CALL || c->kind == C_ESCAPE ? c->other : pt_find(pt, c->other);
}

static uint64_t hash_constraint(Pt *pt, const PtConstraint *c)
{
    uint64_t h = (uint64_t)c->kind << 32 | other_end(pt, c);

    h = (h ^ (uint64_t)c->offset) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t i = 0; i < c->nsteps; i++) {
        const PtStep *st = &pt->steps.items[c->steps + i];
        h = (h ^ (uint64_t)st->add ^ h >> 29) * UINT64_C(0xff51afd7ed558ccd);
        h = (h ^ (uint64_t)st->count ^ (uint64_t)st->kind << 60) * UINT64_C(0xc4ceb9fe1a85ec53);
    }
    return h;
}

/* Constraints whose other ends were merged are the same: one is enough. */
static void drop_twins(Pt *pt, uint32_t node)
{
    PtNode *n = &pt->nodes.items[node];
    PtTable seen = { 0 };
    size_t kept = 0;

    for (size_t i = 0; i < n->constraints.len; i++) {
        const PtConstraint *c = &pt->constraints.items[n->constraints.items[i]];
        if (pttable_put(&seen, hash_constraint(pt, c), 0))
            n->constraints.items[kept++] = n->constraints.items[i];
    }
    n->constraints.len = kept;
    pttable_release(&seen);
}

static void meet_all(Pt *pt, uint32_t node)
{
    if (pt->nodes.items[node].rep != node || !pt->nodes.items[node].todo.len)
        return;
    if (pt->nodes.items[node].constraints.len > 32)
        drop_twins(pt, node);
    PtBits todo = pt->nodes.items[node].todo;
    pt->nodes.items[node].todo = (PtBits){ 0 };
    Vec(uint32_t) here = { 0 };
    append(&here, &pt->nodes.items[node].constraints);
    for (size_t i = 0; i < here.len; i++) {
        uint32_t last = NONE;
        for (PtIter it = ptbits_first(&todo); it.on; ptbits_next(&it))
            meet(pt, here.items[i], it.x, &last);
    }
    vec_release(&here);
    ptbits_release(&todo);
}

/* ---- pools: see pt_loc.c */

enum { POOL = 200 };

static bool stores_through(Pt *pt, uint32_t node)
{
    const PtNode *n = &pt->nodes.items[node];

    for (size_t i = 0; i < n->constraints.len; i++)
        if (pt->constraints.items[n->constraints.items[i]].kind == C_STORE) {
            uint32_t from = pt->constraints.items[n->constraints.items[i]].other;
            if (pt->nodes.items[pt_find(pt, from)].pts.len)
                return true;
        }
    return false;
}

/* Heap objects that pointers with a store through them can't keep apart: those
 * with more than POOL locations in the heap. */
static void find_pools(Pt *pt)
{
    Vec(uint32_t) found = { 0 };
    Vec(uint32_t) here = { 0 };

    for (size_t i = 0; i < pt->changed.len; i++) {
        uint32_t node = pt_find(pt, pt->changed.items[i]);
        const PtBits *pts = &pt->nodes.items[node].pts;
        if (ptbits_count(pts) < POOL || !pt->nodes.items[node].todo.len ||
            !stores_through(pt, node))
            continue;
        here.len = 0;
        for (PtIter it = ptbits_first(pts); it.on; ptbits_next(&it)) {
            uint32_t object = pt->locs.items[it.x].object;
            const PtObj *o = &pt->objects.items[object];
            if (o->kind == PT_HEAP && !o->pooled && object != pt->heap)
                vec_push(&here, object);
        }
        if (here.len > POOL)
            append(&found, &here);
    }
    if (found.len)
        pt_give_up_fields(pt, found.items, found.len, true);
    vec_release(&found);
    vec_release(&here);
}

/*
 * Objects in sets of more than SWAMP locations lose their fields. A step from such
 * a set to a field is otherwise a set as large again, of other locations.
 */
enum { SWAMP = 1000 };

static void find_swamps(Pt *pt)
{
    Vec(uint32_t) found = { 0 };

    for (size_t i = 0; i < pt->changed.len; i++) {
        uint32_t node = pt_find(pt, pt->changed.items[i]);
        const PtBits *pts = &pt->nodes.items[node].pts;
        if (!pt->nodes.items[node].todo.len || ptbits_count(pts) <= SWAMP ||
            !stores_through(pt, node))
            continue;
        for (PtIter it = ptbits_first(pts); it.on; ptbits_next(&it)) {
            uint32_t object = pt->locs.items[it.x].object;
            const PtObj *o = &pt->objects.items[object];
            if (!o->flat && !o->constant && o->kind != PT_FUNCTION &&
                (!found.len || found.items[found.len - 1] != object))
                vec_push(&found, object);
        }
    }
    if (found.len)
        pt_give_up_fields(pt, found.items, found.len, false);
    vec_release(&found);
}

/*
 * Nodes with equal and very large sets become one. Such sets are where an
 * analysis without flow and context has given up anyway (everything that is
 * stored in the heap); one that would grow further than its twin takes the twin
 * along. That costs next to nothing in precision and saves most of the edges.
 */
enum { GIANT = 256 };

static uint64_t hash_set(const PtBits *s)
{
    uint64_t h = s->len;

    for (uint32_t i = 0; i < s->len; i++) {
        h = (h ^ s->blocks[i].index) * UINT64_C(0x9e3779b97f4a7c15);
        h = (h ^ s->blocks[i].bits[0] ^ h >> 31) * UINT64_C(0xff51afd7ed558ccd);
        h = (h ^ s->blocks[i].bits[1] ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    }
    return h;
}

static void merge_giants(Pt *pt)
{
    PtTable seen = { 0 };
    size_t n = pt->changed.len;

    for (size_t i = 0; i < n; i++) {
        uint32_t node = pt->changed.items[i];
        const PtBits *pts = &pt->nodes.items[node].pts;
        if (pt->nodes.items[node].rep != node || pts->len < GIANT / 128 ||
            ptbits_count(pts) < GIANT)
            continue;
        uint64_t h = hash_set(pts);
        uint32_t twin = pttable_get(&seen, h);
        if (twin == NONE)
            pttable_put(&seen, h, node);
        else
            pt_merge(pt, twin, node);
    }
    pttable_release(&seen);
}

/* ---- the waves */

static bool wave(Pt *pt)
{
    Search s = { .pt = pt };

    pt->stats.waves++;
    find_cycles(&s);
    for (size_t i = s.order.len; i-- > 0;)
        propagate(pt, s.order.items[i]);
    vec_release(&s.order);
    find_pools(pt);
    find_swamps(pt);
    merge_giants(pt);
    Vec(uint32_t) changed = { pt->changed.items, pt->changed.len, pt->changed.cap };
    memset(&pt->changed, 0, sizeof pt->changed);
    pt->grown = false;
    for (size_t i = 0; i < changed.len; i++)
        pt->nodes.items[changed.items[i]].queued = false;
    for (size_t i = 0; i < changed.len; i++)
        meet_all(pt, changed.items[i]);
    vec_release(&changed);
    return pt->grown;
}

void pt_solve(Pt *pt)
{
    do {
        while (wave(pt))
            ;
    } while (pt_call_last_resort(pt));
}
