/*
 * Which paths the values of one function hold, and what the function does to
 * those that begin outside of it.
 *
 * Sets of paths only grow, until nothing changes. Statements have no order, but
 * for one thing: what was stored is loaded only where control can come from
 * the store to the load. `c = p->next; q->next = r; c->x = 0;` does not touch r.
 *
 * Memory made by the function itself (stack, fresh heap) is followed by what is
 * stored in it. All other memory is described by the path that leads there, and
 * storing a reference there is an effect of its own: who else may load it again
 * is a question for stage M.
 */
#include "analysis/mutability/mutability_int.h"
#include <assert.h>

enum {
    MOST_EFFECTS = 12,
    MOST_NEAR = 40,              /* writes to the object, and to what it points to */
    MOST_STORES = 60,
    MOST_GLOBAL = 40,
    MOST_CONTENT = 32,
    MOST_MEMORY = 1500
};

uint32_t mut_local(Body *b, LLVMValueRef site, bool stack)
{
    uint32_t i = pttable_get(&b->local_of, (uintptr_t)site);

    if (i != NONE)
        return i;
    i = (uint32_t)b->locals.len;
    pttable_put(&b->local_of, (uintptr_t)site, i);
    vec_push(&b->locals, ((Local){ .site = site, .stack = stack }));
    return i;
}

static Local *local_of(Body *b, const Path *p)
{
    assert(root_is_local(p->root) && (p->root & ~ROOT_LOCAL) < b->locals.len);
    return &b->locals.items[p->root & ~ROOT_LOCAL];
}

/* Memory that only this function can reach by this path. */
static bool is_own_memory(const Path *p) { return root_is_local(p->root) && !p->depth; }

/* ---- effects */

typedef struct EffectKey {
    uint64_t callee, origin;     /* of stores, which stage M follows */
    uint32_t kind, reason;
    Path path, dest;
} EffectKey;

static bool is_near(const Effect *e)
{
    return (e->kind == EFFECT_WRITE || e->kind == EFFECT_FREE) && e->path.depth < 2;
}

static uint64_t count_key(const Effect *e)
{
    return (uint64_t)is_near(e) << 40 | (uint64_t)e->kind << 32 | e->path.root;
}

/* Many effects of a kind on one root forget offsets, and stores their place. */
static void coarsen(Body *b, Effect *e)
{
    uint32_t n = pttable_get(&b->flow.count, count_key(e));
    uint32_t most = is_near(e) ? MOST_NEAR : MOST_EFFECTS;

    if (e->kind != EFFECT_REASON && (n == NONE || n < most))
        return;
    if (!root_is_global(e->path.root))
        e->path = path_flat(e->path);
    if (e->kind == EFFECT_RETURN)
        e->dest = path_flat(e->dest);
    if (e->kind != EFFECT_STORE)
        return;
    e->dest = path_root(ROOT_UNKNOWN);
    if (n != NONE && n >= MOST_STORES)
        e->origin = NULL;
}

static void count(Body *b, const Effect *e)
{
    uint64_t key = count_key(e);
    uint32_t n = pttable_get(&b->flow.count, key);

    pttable_put(&b->flow.count, key, n == NONE ? 1 : n + 1);
}

/* Does a va_list begin with two numbers, four bytes each, before two pointers? Elsewhere, and in a
 * function with the convention of Windows, a part of it may be anything. */
static bool list_is_known(const Body *b)
{
    return str_starts(LLVMGetTarget(LLVMGetGlobalParent(b->value)), "x86_64") &&
           LLVMGetFunctionCallConv(b->value) != LLVMWin64CallConv;
}

/* Who gets the memory of the variadic arguments, by a va_list, gets the arguments. Nobody
 * follows it, and const of the list says nothing about them. */
static void reach_arguments(const Body *b, Effect *e)
{
    bool part = e->reason == MUT_CAST || e->reason == MUT_COMPARED;
    bool handed =
        e->kind == EFFECT_STORE || (e->kind == EFFECT_REASON && (!part || list_is_known(b)));

    if (!handed || e->path.root != b->nargs || e->path.depth)
        return;
    if (e->kind == EFFECT_STORE)
        e->reason = MUT_KEPT;
    else if (e->reason == MUT_SHOWN || e->reason == MUT_OFFERED)
        e->reason = MUT_NO_TARGET;
    e->kind = EFFECT_REASON;
    e->path = path_loaded(path_plus(e->path, ANYWHERE));
}

static bool note_effect(Body *b, const Effect *like)
{
    Effect e = *like;

    reach_arguments(b, &e);
    if (e.kind != EFFECT_STORE && e.kind != EFFECT_RETURN)
        e.dest = path_root(ROOT_UNKNOWN);
    if (e.maybe < e.path.maybe)
        e.maybe = e.path.maybe;
    e.path.maybe = e.dest.maybe = 0;
    coarsen(b, &e);
    if (root_is_global(e.path.root)) {
        b->flow.impure = true;
        if (b->flow.nglobal >= MOST_GLOBAL)
            return false;
    }
    EffectKey key = { .kind = e.kind,
                      .reason = e.kind == EFFECT_REASON ? e.reason | (uint32_t)e.numbers << 16 : 0,
                      .path = e.path,
                      .dest = e.dest };
    if (e.kind == EFFECT_STORE && e.origin) {
        key.callee = (uintptr_t)e.callee;
        key.origin = (uintptr_t)e.origin;
    }
    void **slot = map_slotn(&b->flow.known, &key, sizeof key);
    if (*slot) {
        Effect *old = &b->flow.effects.items[(uintptr_t)*slot - 1];
        assert(old->kind == e.kind && old->path.root == e.path.root);
        if (old->maybe <= e.maybe)
            return false;
        *old = e;                              /* a surer one */
        b->flow.version++;
    } else {
        vec_push(&b->flow.effects, e);
        *slot = (void *)(uintptr_t)b->flow.effects.len;
        count(b, &e);
        b->flow.nglobal += root_is_global(e.path.root);
    }
    return b->grown = b->flow.changed = true;
}

/* ---- memory */

static Bucket *bucket(Body *b, uint32_t root, bool create)
{
    uint32_t i = pttable_get(&b->bucket_of, root);

    if (i == NONE && create) {
        i = (uint32_t)b->buckets.len;
        pttable_put(&b->bucket_of, root, i);
        Bucket *k = vec_grow(&b->buckets);
        k->root = root;
    }
    return i == NONE ? NULL : &b->buckets.items[i];
}

static void merge_locals(Body *b);

static Path merged(const Body *b, const Path *p)
{
    return b->coarse && root_is_local(p->root)
               ? path_plus(path_root(ROOT_LOCAL | b->merged), ANYWHERE)
               : *p;
}

void mut_put(Body *b, const Path *dest, const Path *src, uint32_t op)
{
    Path to = merged(b, dest), from = merged(b, src);

    assert(op == NONE || op < b->ops.len);
    if (b->coarse && root_is_local(to.root)) {
        dest = &to;
        src = &from;
        op = NONE;
    }
    /* In memory that others see, only what is surely there counts: it serves
     * to find mutations. */
    if (!root_is_local(dest->root) && !path_is_exact(dest))
        return;
    Bucket *k = bucket(b, dest->root, true);
    Content c = { *dest, *src, op };

    if (k->items.len >= MOST_CONTENT) {      /* too much to tell apart */
        if (!root_is_local(dest->root))
            return;                          /* that it is stored is enough */
        c = (Content){ path_flat(*dest), path_flat(*src), NONE };
    }
    if (!map_putn(&b->stored, &c, sizeof c, &c))
        return;
    vec_push(&k->items, c);
    b->memory++;
    b->grown = true;
    if (b->memory > MOST_MEMORY && !b->coarse)
        merge_locals(b);
}

/* From here on all that is stored in local objects is stored in one. */
static void merge_locals(Body *b)
{
    bool captured = false;

    b->merged = mut_local(b, b->value, false);
    b->coarse = true;
    for (size_t i = 0; i < b->locals.len; i++)
        captured |= b->locals.items[i].captured;
    b->locals.items[b->merged].exposed = true;
    b->locals.items[b->merged].captured = captured;
    for (size_t i = 0; i < b->buckets.len; i++) {
        if (!root_is_local(b->buckets.items[i].root))
            continue;
        for (size_t k = 0; k < b->buckets.items[i].items.len; k++) {
            Content c = b->buckets.items[i].items.items[k];
            if ((b->buckets.items[i].root & ~ROOT_LOCAL) != b->merged)
                mut_put(b, &c.dest, &c.src, NONE);
        }
    }
}

/* Is there something stored further along the path? */
static bool leads_on(const Bucket *k, const Path *p)
{
    for (size_t i = 0; k && i < k->items.len; i++)
        if (k->items.items[i].dest.depth > p->depth)
            return true;
    return false;
}

static bool is_loaded(Body *b, const Content *c, const Path *p, uint32_t op)
{
    return path_same_place(&c->dest, p) && (c->op == NONE || mut_reaches(b, c->op, op));
}

/* Which member of a union a callee takes, we don't know. */
static bool is_of_other_member(Body *b, const Path *p, uint32_t op)
{
    return root_is_local(p->root) && !p->depth && b->ops.items[op].kind == OP_CALL &&
           local_of(b, p)->one_of;
}

/* Stored by the call that loads it: in which order, its function has seen, but for
 * two arguments that are the same. */
static bool is_same_call(Body *b, const Content *c, uint32_t op)
{
    return c->op == op && b->ops.items[op].kind == OP_CALL && !mut_comes_later(b, op, op);
}

static void load_one(Body *b, const Path *p, uint32_t op, PathSet *out)
{
    const Bucket *k = p->root == ROOT_UNKNOWN ? NULL : bucket(b, p->root, false);

    if (!root_is_local(p->root)) {
        pathset_add(out, path_loaded(*p));
    } else {
        if (local_of(b, p)->exposed || p->depth)
            pathset_add(out, path_root(ROOT_UNKNOWN));
        if (leads_on(k, p))
            pathset_add(out, path_loaded(*p));
    }
    if (!root_is_local(p->root) && !path_is_exact(p))
        return;
    /* of several things that were stored there, each is only a guess */
    size_t found = root_is_local(p->root) && local_of(b, p)->exposed;
    for (size_t i = 0; k && i < k->items.len; i++)
        found += is_loaded(b, &k->items.items[i], p, op);
    for (size_t i = 0; k && i < k->items.len; i++) {
        const Content *c = &k->items.items[i];
        if (!is_loaded(b, c, p, op))
            continue;
        Path src = c->src;
        bool exact = path_is_exact(&c->dest) && path_is_exact(p);
        if (is_of_other_member(b, p, op))
            src.maybe = src.maybe < PATH_MEMBER ? PATH_MEMBER : src.maybe;
        else if ((!exact && root_is_local(p->root) && !local_of(b, p)->stack) ||
                 is_same_call(b, c, op))
            src.maybe = src.maybe < PATH_SOMEWHERE ? PATH_SOMEWHERE : src.maybe;
        else if ((!exact || found > 1) && !src.maybe)
            src.maybe = PATH_OF_SEVERAL;
        pathset_add(out, src);
    }
}

void mut_load_part(Body *b, const Path *p, int64_t size, bool others, uint32_t op, PathSet *out)
{
    Path at = merged(b, p);
    const Bucket *k = at.root == ROOT_UNKNOWN ? NULL : bucket(b, at.root, false);

    for (size_t i = 0; k && i < k->items.len; i++) {
        const Content *c = &k->items.items[i];
        bool exact = size && at.off != ANYWHERE && c->dest.off != ANYWHERE;
        Path dest = c->dest;
        if (exact && (dest.off <= at.off - 8 || dest.off >= at.off + size))
            continue;
        dest.off = at.off;
        if (is_loaded(b, &(Content){ dest, c->src, c->op }, &at, op))
            pathset_add(out, c->src);
    }
    if (others && !root_is_local(at.root) && at.root != ROOT_UNKNOWN)
        pathset_add(out, path_loaded(size ? at : path_plus(at, ANYWHERE)));
}

void mut_load(Body *b, const PathSet *from, int32_t off, uint32_t op, PathSet *out)
{
    bool local = false;

    for (uint32_t i = 0; i < from->len; i++) {
        Path p = path_plus(from->items[i], off);
        if (b->coarse && root_is_local(p.root))
            local = true;
        else
            load_one(b, &p, op, out);
    }
    if (local) {
        Path p = path_plus(path_root(ROOT_LOCAL | b->merged), ANYWHERE);
        load_one(b, &p, op, out);
    }
}

void mut_load_all(Body *b, uint32_t op, PathSet *set)
{
    for (bool grown = true; grown;) {
        PathSet next = { 0 };
        mut_load(b, set, ANYWHERE, op, &next);
        grown = pathset_union(set, &next);
        pathset_release(&next);
    }
}

static void capture(Body *b, const Path *p, uint32_t op)
{
    Path one = merged(b, p);
    Local *l = local_of(b, &one);

    if (l->captured)
        return;
    l->captured = l->exposed = true;
    l->by = op;
    b->memory++;
    b->grown = true;
}

static void store_one(Body *b, const Path *to, const Path *v, uint32_t op, const Effect *like)
{
    bool own = is_own_memory(to);

    bool followed = root_is_argument(v->root) || root_is_local(v->root);
    /* what comes from an argument and goes back there is its own all the same */
    if (own || (to->root != ROOT_UNKNOWN && to->root != v->root && followed))
        mut_put(b, to, v, op);
    if (own)
        return;
    if (root_is_local(v->root)) {
        capture(b, v, op);
    } else if (root_is_argument(v->root)) {
        Effect e = *like;
        e.kind = EFFECT_STORE;
        e.path = *v;
        e.dest = root_is_local(to->root) ? path_root(ROOT_UNKNOWN) : *to;
        note_effect(b, &e);
    }
}

void mut_store(Body *b, const PathSet *to, const PathSet *v, uint32_t op, const Effect *like)
{
    bool local = false;

    for (uint32_t i = 0; i < to->len; i++) {
        Path at = merged(b, &to->items[i]);
        if (b->coarse && root_is_local(at.root)) {
            if (local)
                continue;
            local = true;
        }
        for (uint32_t k = 0; k < v->len; k++)
            store_one(b, &at, &v->items[k], op, like);
    }
}

void mut_write(Body *b, const PathSet *to, const Effect *like)
{
    for (uint32_t i = 0; i < to->len; i++) {
        const Path *p = &to->items[i];
        if (p->root == ROOT_UNKNOWN) {
            b->flow.impure = true;
        } else if (root_is_local(p->root)) {
            if (like->callee && !p->depth && !local_of(b, p)->exposed)
                local_of(b, p)->exposed = b->grown = true, b->memory++;
        } else {
            Effect e = *like;
            e.path = *p;
            note_effect(b, &e);
        }
    }
}

/* All that is in a local object, and in local objects found there. */
static void reachable(Body *b, const PathSet *v, PathSet *out)
{
    pathset_union(out, v);
    for (bool grown = true; grown;) {
        grown = false;
        for (uint32_t i = 0; i < out->len; i++) {
            if (!root_is_local(out->items[i].root))
                continue;
            Path whole = merged(b, &out->items[i]);
            const Bucket *k = bucket(b, whole.root, false);
            for (size_t j = 0; k && j < k->items.len; j++)
                grown |= pathset_add(out, k->items.items[j].src);
        }
    }
}

void mut_obstacle(Body *b, const PathSet *v, uint32_t op, const Effect *like)
{
    PathSet all = { 0 };

    reachable(b, v, &all);
    for (uint32_t i = 0; i < all.len; i++) {
        if (root_is_local(all.items[i].root)) {
            capture(b, &all.items[i], op);
        } else if (root_is_argument(all.items[i].root)) {
            Effect e = *like;
            e.kind = EFFECT_REASON;
            e.path = all.items[i];
            note_effect(b, &e);
        }
    }
    pathset_release(&all);
}

void mut_passed(Body *b, const PathSet *v, uint32_t op)
{
    PathSet all = { 0 };

    (void)op;
    if (!v->len)
        return;
    reachable(b, v, &all);
    for (uint32_t i = 0; i < all.len; i++)
        if (root_is_argument(all.items[i].root) && all.items[i].root <= b->nargs)
            b->flow.passed[all.items[i].root] = true;
    pathset_release(&all);
}

/* ---- one operation */

void mut_read(Body *b, const PathSet *from)
{
    for (uint32_t i = 0; i < from->len; i++) {
        const Path *p = &from->items[i];
        if (!root_is_local(p->root))
            b->flow.reads_memory = true;
        if (root_is_argument(p->root) && !p->depth && p->root <= b->nargs)
            b->flow.reads[p->root] = true;
    }
}

/* What is in the `size` bytes (0: unknown) at a place of ours goes, field by field,
 * to another place. */
static void copy_local(Body *b, uint32_t op, const Path *from, int64_t size, const PathSet *to,
                       const Effect *like)
{
    Path at_one = merged(b, from);
    const Bucket *k = bucket(b, at_one.root, false);
    PathSet unknown = { 0 };

    from = &at_one;

    if (local_of(b, from)->exposed) {
        pathset_add(&unknown, path_root(ROOT_UNKNOWN));
        mut_store(b, to, &unknown, op, like);
        pathset_release(&unknown);
    }
    for (size_t i = 0; k && i < k->items.len; i++) {
        Content c = k->items.items[i];
        bool exact = c.dest.off != ANYWHERE && from->off != ANYWHERE && size;
        int64_t shift = exact ? (int64_t)c.dest.off - from->off : ANYWHERE;
        if (c.dest.depth || (c.op != NONE && !mut_reaches(b, c.op, op)) ||
            (exact && (shift < 0 || shift >= size)))
            continue;
        PathSet one = { &c.src, 1, 1 };
        for (uint32_t t = 0; t < to->len; t++) {
            Path at = path_plus(to->items[t], shift);
            PathSet dest = { &at, 1, 1 };
            mut_store(b, &dest, &one, op, like);
        }
        k = bucket(b, from->root, false);
    }
}

static void copy_memory(Body *b, uint32_t op, const Effect *like)
{
    const Op *o = &b->ops.items[op];
    const PathSet *to = &b->sets.items[o->a], *from = &b->sets.items[o->b];
    LLVMValueRef n = LLVMGetNumArgOperands(o->inst) > 2 ? LLVMGetOperand(o->inst, 2) : NULL;
    int64_t size = n && LLVMIsAConstantInt(n) ? (int64_t)LLVMConstIntGetZExtValue(n) : 0;
    PathSet held = { 0 }, anywhere = { 0 }, some = { 0 };

    mut_read(b, from);
    mut_write(b, to, like);
    if (o->piece) {                  /* a few bytes, which may be of a pointer */
        Effect gone = *like;
        gone.reason = o->compared ? MUT_COMPARED : MUT_CAST;
        gone.next = NONE;
        mut_leaves(b, from, size, o->pointer, op, &gone);
        return;
    }
    for (uint32_t i = 0; i < from->len; i++) {
        const Path *p = &from->items[i];
        if (root_is_local(p->root) && !p->depth)
            copy_local(b, op, p, size, to, like);
        else if (o->pointer && (p->depth || p->root >= b->nargs || !b->plain[p->root]))
            pathset_add(&some, *p);
    }
    mut_load(b, &some, ANYWHERE, op, &held);
    for (uint32_t i = 0; i < to->len; i++)
        pathset_add(&anywhere, path_plus(to->items[i], ANYWHERE));
    mut_store(b, &anywhere, &held, op, like);
    pathset_release(&some);
    pathset_release(&held);
    pathset_release(&anywhere);
}

/* Does one of the values come from what is at the place? */
static bool comes_from(const PathSet *s, const PathSet *place)
{
    for (uint32_t k = 0; k < place->len; k++) {
        Path l = path_loaded(place->items[k]);
        for (uint32_t i = 0; i < s->len; i++) {
            Path p = s->items[i];
            if (p.depth < l.depth)
                continue;
            p.depth = l.depth;
            p.off = l.off;
            p.deeper = l.deeper;
            if (path_same_place(&p, &l))
                return true;
        }
    }
    return false;
}

/* The store that has put something else there just before, in the same block; or NULL. */
static const Op *replacing(const Mutability *m, const Body *b, uint32_t op)
{
    const Op *l = &b->ops.items[op];

    if (!LLVMIsALoadInst(l->inst))
        return NULL;
    for (uint32_t i = op; i-- > 0 && b->ops.items[i].block == l->block;) {
        const Op *o = &b->ops.items[i];
        if (o->kind == OP_STORE && LLVMIsAStoreInst(o->inst) &&
            mut_same_address(m, LLVMGetOperand(o->inst, 1), LLVMGetOperand(l->inst, 0)))
            return o->b != NONE && !comes_from(&b->sets.items[o->b], &b->sets.items[l->a]) ? o
                                                                                           : NULL;
    }
    return NULL;
}

static bool is_in(const PathSet *s, const Path *p)
{
    for (uint32_t i = 0; i < s->len; i++)
        if (!memcmp(&s->items[i], p, sizeof *p))
            return true;
    return false;
}

static void load(const Mutability *m, Body *b, uint32_t op)
{
    const Op *o = &b->ops.items[op];
    const PathSet *from = &b->sets.items[o->a];
    PathSet got = { 0 };

    mut_read(b, from);
    if (o->piece) {
        Effect like = { .reason = o->compared ? MUT_COMPARED : MUT_CAST,
                        .inst = o->inst,
                        .origin = o->inst,
                        .next = NONE };
        mut_leaves(b, from, (int64_t)LLVMABISizeOfType(m->layout, LLVMTypeOf(o->inst)), o->pointer,
                   op, &like);
        o = &b->ops.items[op];
        from = &b->sets.items[o->a];
    }
    if (o->dst == NONE)
        return;
    mut_load(b, from, 0, op, &got);
    const Op *instead = replacing(m, b, op);
    for (uint32_t i = 0; instead && i < got.len; i++)
        if (got.items[i].root != ROOT_UNKNOWN && !is_in(&b->sets.items[instead->b], &got.items[i]))
            got.items[i].maybe = PATH_REPLACED;
    for (uint32_t i = 0; i < got.len; i++) {
        /* a number that nobody has seen to be a pointer: only what was stored
         * here as one */
        if (!o->pointer && !root_is_local(got.items[i].root) &&
            !root_is_argument(got.items[i].root))
            continue;
        if (!o->pointer && root_is_argument(got.items[i].root)) {
            bool fresh = false;
            for (uint32_t k = 0; k < from->len; k++) {
                Path l = path_loaded(from->items[k]);
                l.maybe = got.items[i].maybe;
                fresh |= !memcmp(&l, &got.items[i], sizeof l);
            }
            if (fresh)
                continue;
        }
        b->grown |= pathset_add(&b->sets.items[o->dst], got.items[i]);
    }
    pathset_release(&got);
}

static void give_back(Body *b, const PathSet *v)
{
    for (uint32_t i = 0; i < v->len; i++) {
        Path p = v->items[i];
        if (root_is_local(p.root)) {
            if (!b->flow.fresh && !local_of(b, &p)->stack)
                b->flow.fresh = b->grown = b->flow.changed = true;
            continue;
        }
        if (pathset_add(&b->flow.returns, p))
            b->grown = b->flow.changed = true;
    }
}

static void give_content(Body *b, const Path *object, Path seen, PathSet *inner)
{
    const Bucket *k = bucket(b, merged(b, object).root, false);

    for (size_t i = 0; k && i < k->items.len; i++) {
        Content c = k->items.items[i];
        if (c.dest.depth)
            continue;
        if (root_is_argument(c.src.root)) {
            Effect e = { .kind = EFFECT_RETURN,
                         .path = c.src,
                         .dest = path_plus(seen, c.dest.off),
                         .inst = b->ops.items[c.op == NONE ? 0 : c.op].inst };
            note_effect(b, &e);
        } else if (root_is_local(c.src.root)) {
            pathset_add(inner, path_root(c.src.root));
        }
    }
}

/* What is in the fresh objects that are returned, and in those they lead to, as
 * the caller will see it. */
static void give_objects(Body *b, const PathSet *v)
{
    PathSet level = { 0 };
    Path seen = path_root(ROOT_RESULT);

    for (uint32_t i = 0; i < v->len; i++)
        if (root_is_local(v->items[i].root) && !local_of(b, &v->items[i])->stack)
            pathset_add(&level, path_root(v->items[i].root));
    for (unsigned depth = 0; depth <= MUT_DEREFS && level.len; depth++) {
        PathSet inner = { 0 };
        for (uint32_t i = 0; i < level.len; i++)
            give_content(b, &level.items[i], seen, &inner);
        pathset_release(&level);
        level = inner;
        seen = path_loaded(path_plus(seen, ANYWHERE));
        seen.off = ANYWHERE;
    }
    pathset_release(&level);
}

/* A va_list gets the addresses of the variadic arguments. */
static void start_list(Body *b, uint32_t op, const PathSet *list, const Effect *like)
{
    bool known = list_is_known(b);
    int32_t at[] = { known ? 8 : ANYWHERE, 16 };
    Path rest = path_plus(path_root(b->nargs), ANYWHERE);
    PathSet one = { &rest, 1, 1 }, to = { 0 };

    for (uint32_t i = 0; i < list->len; i++)
        for (unsigned k = 0; k < 1u + known; k++)
            pathset_add(&to, path_plus(list->items[i], at[k]));
    mut_store(b, &to, &one, op, like);
    pathset_release(&to);
}

static void operation(Mutability *m, Body *b, uint32_t op)
{
    const Op o = b->ops.items[op];
    Effect like = { .kind = EFFECT_WRITE, .inst = o.inst, .origin = o.origin };
    PathSet *sets = b->sets.items;

    switch (o.kind) {
    case OP_COPY:
        for (uint32_t i = 0; i < sets[o.a].len; i++)
            b->grown |= pathset_add(&sets[o.dst], path_plus(sets[o.a].items[i], o.off));
        break;
    case OP_LOAD: load(m, b, op); break;
    case OP_STORE:
        mut_write(b, &sets[o.a], &like);
        if (o.b != NONE)
            mut_store(b, &sets[o.a], &sets[o.b], op, &like);
        break;
    case OP_MEMCPY: copy_memory(b, op, &like); break;
    case OP_MEMSET: mut_write(b, &sets[o.a], &like); break;
    case OP_PIECE:
        like.reason = o.compared ? MUT_COMPARED : MUT_CAST;
        like.next = NONE;
        mut_obstacle(b, &sets[o.a], op, &like);
        break;
    case OP_VA_START:
        mut_write(b, &sets[o.a], &like);
        start_list(b, op, &sets[o.a], &like);
        break;
    case OP_CALL:
    case OP_ASM: mut_call(m, b, op); break;
    case OP_RETURN:
        give_back(b, &sets[o.a]);
        give_objects(b, &sets[o.a]);
        break;
    }
}

/* What is stored in an object whose address others have is stored for them. */
static void captured_content(Body *b)
{
    for (size_t i = 0; i < b->locals.len; i++) {
        if (!b->locals.items[i].captured)
            continue;
        uint32_t by = b->locals.items[i].by;
        const Bucket *k = bucket(b, ROOT_LOCAL | (uint32_t)i, false);
        for (size_t j = 0; k && j < k->items.len; j++) {
            Path src = k->items.items[j].src;
            uint32_t at = k->items.items[j].op;
            LLVMValueRef inst = b->ops.items[at == NONE ? by : at].inst;
            Effect e = { .kind = EFFECT_STORE,
                         .path = src,
                         .inst = inst,
                         .origin = at == NONE ? NULL : b->ops.items[at].origin,
                         .dest = path_root(ROOT_UNKNOWN) };
            if (root_is_local(src.root))
                capture(b, &src, by);
            else if (root_is_argument(src.root))
                note_effect(b, &e);
        }
    }
}

void mut_flow(Mutability *m, Body *b)
{
    if (!b->lowered)
        mut_lower(m, b);
    do {
        b->grown = false;
        for (uint32_t i = 0; i < b->ops.len; i++)
            operation(m, b, i);
        captured_content(b);
    } while (b->grown);
}

Body *mut_body(const Mutability *m, LLVMValueRef fn)
{
    uint32_t i = pttable_get(&m->body_of, (uintptr_t)fn);

    return i == NONE ? NULL : &m->bodies[i];
}
