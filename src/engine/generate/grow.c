/*
 * grow - adds calls to a sequence.
 *
 *     universal   any function; a handle is one that is alive, or is made first by one
 *                 of its creators
 *     guided      an edge of the usage, from the node where an object is; other handles
 *                 of the call have to be at nodes where the example had them, and are
 *                 led there by more calls
 *     observer    a call that only looks
 *
 * Wishes of the plan (weights, a type that has to be used) limit what is picked and
 * draw no random numbers if there are none.
 */
#include "engine/generate/grow.h"
#include <assert.h>
#include <string.h>

enum { DEPTH = 6, LONGEST_WAY = 8 };

static bool chance(Rng *r, double p) { return rng_unit(r) < p; }

static bool is_full(const Seq *s) { return s->n >= SEQ_MOST_STEPS - 8; }

/* ---- wishes */

bool grow_accepts(const GrowPlan *g, const ApiFunction *f)
{
    return !g->weights || f->index >= g->api->nfunctions || chance(g->rng, g->weights[f->index]);
}

static bool is_forbidden(const GrowPlan *g, const ApiFunction *f)
{
    return g->weights && f->index < g->api->nfunctions && g->weights[f->index] <= 0;
}

bool grow_is_given(const GrowPlan *g, const SeqHandle *h)
{
    return h->type == g->uses && (!g->given || h->step < g->given);
}

/* Would a new handle of the type stand where one of the given has to? */
static bool must_be_given(const GrowPlan *g, const ApiType *t) { return g->given && t == g->uses; }

static bool may_stand(const GrowPlan *g, const SeqHandle *h)
{
    return !must_be_given(g, h->type) || grow_is_given(g, h);
}

/* ---- universal */

static bool universal(const GrowPlan *g, Arena *a, Seq *s, const ApiFunction *f, unsigned depth);

/* Is the owner gone that the handle was made from, or was given to? */
static bool is_orphan(const GrowPlan *g, const Seq *s, const SeqHandles *all, const SeqHandle *h)
{
    for (unsigned i = h->step; i < s->n; i++) {
        const SeqStep *st = &s->steps[i];
        for (int k = API_RETURNED; st->f && k < (int)st->nargs; k++) {
            bool here =
                i == h->step ? k == h->place : k >= 0 && value_equal(&st->args[k], &h->value);
            const UsageBond *b = here ? usage_bond(g->usage, st->f, k) : NULL;
            if (!b || b->order == ORDER_OWNER_FIRST || b->owner < 0 ||
                !value_is_made(&st->args[b->owner]))
                continue;
            bool alive = false;
            for (size_t m = 0; m < all->len && !alive; m++)
                alive = value_equal(&all->items[m].value, &st->args[b->owner]);
            if (!alive)
                return true;
        }
    }
    return false;
}

/* All that may be used: alive, and so are their owners. */
static void usable(const GrowPlan *g, const Seq *s, SeqHandles *out)
{
    SeqHandles all = { 0 };
    seq_handles(s, g->ownership, &all);
    for (size_t i = 0; i < all.len; i++)
        if (!g->usage || !is_orphan(g, s, &all, &all.items[i]))
            vec_push(out, all.items[i]);
    vec_release(&all);
}

static bool pick_live(const GrowPlan *g, const Seq *s, const ApiType *t, SeqValue *out)
{
    SeqHandles all = { 0 };
    size_t n = 0;
    usable(g, s, &all);
    for (size_t i = 0; i < all.len; i++)
        if (all.items[i].type == t && may_stand(g, &all.items[i]) && rng_below(g->rng, ++n) == 0)
            *out = all.items[i].value;
    vec_release(&all);
    return n > 0;
}

static bool universal_handle(const GrowPlan *g, Arena *a, Seq *s, const ApiPlace *p, unsigned depth,
                             SeqValue *out)
{
    if (must_be_given(g, p->handle))
        return pick_live(g, s, p->handle, out);
    if (chance(g->rng, g->null_share)) {
        *out = value_null();
        return true;
    }
    if (!chance(g->rng, 0.1) && pick_live(g, s, p->handle, out))
        return true;
    if (p->handle->open && !p->handle->ncreators) {
        *out = value_room(p->handle->size);          /* the caller's own, zeroed */
        return true;
    }
    if (depth >= DEPTH || !p->handle->ncreators || is_full(s))
        return pick_live(g, s, p->handle, out);
    const ApiMaker *m = &p->handle->creators[rng_below(g->rng, p->handle->ncreators)];
    if (!universal(g, a, s, m->function, depth + 1))
        return pick_live(g, s, p->handle, out);
    return pick_live(g, s, p->handle, out);
}

/* A number or a text that nothing else in the call hangs on. */
static bool is_free(const ApiFunction *f, unsigned i)
{
    ApiRole r = f->params[i].role;
    bool pinned = f->pinned && i < f->nfixed && f->pinned[i].kind != VALUE_NONE;
    return !pinned && f->params[i].partner < 0 && f->params[i].within < 0 &&
           (r == ROLE_INTEGER || r == ROLE_STRING || r == ROLE_FLOAT || r == ROLE_ENUM ||
            r == ROLE_FLAGS);
}

/* One of the values that stood in places of this kind; mostly of the same name. */
static SeqValue used_before(const GrowPlan *g, Arena *a, const Seq *s, const ApiPlace *p)
{
    SeqValue found = { 0 };
    size_t n = 0;
    bool same_name = chance(g->rng, 0.7);
    for (unsigned i = 0; i < s->n; i++) {
        const SeqStep *st = &s->steps[i];
        for (unsigned k = 0; st->f && k < st->nargs; k++)
            if (st->f->params[k].role == p->role &&
                type_plain(st->f->params[k].type) == type_plain(p->type) &&
                (!same_name || strcmp(st->f->params[k].name, p->name) == 0) &&
                !value_is_made(&st->args[k]) && is_free(st->f, k) && rng_below(g->rng, ++n) == 0)
                found = value_copy(a, &st->args[k]);
    }
    return found;
}

static SeqValue simple_value(const GrowPlan *g, Arena *a, const ApiPlace *p)
{
    static const int64_t numbers[] = { 0, 1, 2, 3, -1, 5 };
    static const char *const texts[] = { "", "a", "b", "ab", "1" };
    if (p->role == ROLE_INTEGER)
        return value_integer((uint64_t)numbers[rng_below(g->rng, 6)]);
    if (p->role == ROLE_STRING)
        return value_string(a, texts[rng_below(g->rng, 5)]);
    return (SeqValue){ 0 };
}

static void fill_free(const GrowPlan *g, Arena *a, const Seq *s, const ApiFunction *f,
                      SeqValue *args)
{
    for (unsigned i = 0; i < f->nparams; i++) {
        if (!is_free(f, i))
            continue;
        if (g->reuse > 0 && chance(g->rng, g->reuse))
            args[i] = used_before(g, a, s, &f->params[i]);
        if (args[i].kind == VALUE_NONE && g->simple > 0 && chance(g->rng, g->simple))
            args[i] = simple_value(g, a, &f->params[i]);
    }
}

static bool universal(const GrowPlan *g, Arena *a, Seq *s, const ApiFunction *f, unsigned depth)
{
    SeqValue *args = arena_array(a, SeqValue, f->nparams + 1);
    if (is_full(s) || f->not_callable || is_forbidden(g, f))
        return false;
    for (unsigned i = 0; i < f->nparams; i++) {
        const ApiPlace *p = &f->params[i];
        if (p->role == ROLE_HANDLE && !universal_handle(g, a, s, p, depth, &args[i]))
            return false;
        if (p->role == ROLE_HANDLE_INOUT)
            args[i] = value_room(sizeof(void *));
    }
    fill_free(g, a, s, f, args);
    SeqStep *st = seq_call(a, s, f);
    st->divergent = true;
    memcpy(st->args, args, f->nparams * sizeof *args);
    pool_fill(g->pool, g->rng, a, st);
    return true;
}

bool grow_universal(const GrowPlan *g, Arena *a, Seq *s, const ApiFunction *f)
{
    for (int tries = 0; !f && tries < 100; tries++) {
        const ApiFunction *c = &g->api->functions[rng_below(g->rng, g->api->nfunctions)];
        if (!c->not_callable && !c->variadic && grow_accepts(g, c))
            f = c;
    }
    return f && universal(g, a, s, f, 0);
}

/* ---- sweeps */

/* No object, no callback: each call stands for itself. */
static bool stands_alone(const ApiFunction *f)
{
    bool varies = false;
    for (unsigned i = 0; i < f->nparams; i++)
        switch (f->params[i].role) {
        case ROLE_INTEGER:
        case ROLE_ENUM:
        case ROLE_FLAGS:
        case ROLE_FLOAT:
        case ROLE_STRING:
        case ROLE_BUFFER: varies = true; break;
        case ROLE_LENGTH:
        case ROLE_LENGTH_INOUT:
        case ROLE_OUT:
        case ROLE_BUFFER_OUT: break;
        default: return false;
        }
    return varies && f->result.use != USE_CREATES && !f->not_callable && !f->variadic;
}

/* A number of the plain places, drawn; -1: there is none. */
static int pick_number(const GrowPlan *g, const ApiFunction *f)
{
    int found = -1;
    uint64_t n = 0;
    for (unsigned i = 0; i < f->nparams; i++)
        if (f->params[i].role == ROLE_INTEGER && is_free(f, i) && rng_below(g->rng, ++n) == 0)
            found = (int)i;
    return found;
}

static uint64_t sweep_start(const GrowPlan *g, Arena *a, const ApiFunction *f, int place)
{
    uint64_t way = rng_below(g->rng, 8);
    if (way < 3) {                           /* a number of the code, and those around it */
        SeqStep *st = seq_call(a, seq_new(a), f);
        pool_fill(g->pool, g->rng, a, st);
        return st->args[place].integer - rng_below(g->rng, 8);
    }
    if (way < 6)
        return rng_below(g->rng, 0x110000);
    return rng_next(g->rng) >> rng_below(g->rng, 64);
}

bool grow_sweep(const GrowPlan *g, Arena *a, Seq *s, const ApiFunction *f, unsigned n)
{
    static const uint64_t strides[] = { 1, 1, 1, 3, 16, 257, 4099 };
    if (!stands_alone(f) || is_forbidden(g, f))
        return false;
    int place = pick_number(g, f);
    uint64_t from = place >= 0 ? sweep_start(g, a, f, place) : 0;
    uint64_t stride = strides[rng_below(g->rng, sizeof strides / sizeof *strides)];
    for (unsigned i = 0; i < n && s->n < SEQ_MOST_STEPS; i++) {
        SeqStep *st = seq_call(a, s, f);
        st->divergent = true;
        if (place >= 0)
            st->args[place] = value_integer(from + i * stride);
        pool_fill(g->pool, g->rng, a, st);
    }
    return true;
}

/* ---- variations */

static bool can_vary(const SeqStep *st, unsigned i)
{
    const ApiPlace *p = &st->f->params[i];
    bool pinned = st->f->pinned && i < st->f->nfixed && st->f->pinned[i].kind != VALUE_NONE;
    ApiRole r = p->role;
    return !pinned && p->within < 0 &&
           (r == ROLE_INTEGER || r == ROLE_STRING || r == ROLE_FLOAT || r == ROLE_ENUM ||
            r == ROLE_FLAGS || (r == ROLE_BUFFER && st->args[i].kind == VALUE_BYTES));
}

Seq *grow_varied(const GrowPlan *g, Arena *a, const Seq *base, unsigned *at)
{
    Seq *s = seq_copy(a, base);
    uint64_t n = 0;
    unsigned place = 0;
    for (unsigned i = 0; i < s->n; i++)
        for (unsigned k = 0; s->steps[i].f && k < s->steps[i].nargs; k++)
            if (can_vary(&s->steps[i], k) && rng_below(g->rng, ++n) == 0) {
                *at = i;
                place = k;
            }
    if (!n)
        return NULL;
    SeqStep *st = &s->steps[*at];
    SeqValue old = st->args[place];
    size_t before = old.n;
    int partner = st->f->params[place].partner;
    bool text = old.kind == VALUE_STRING || old.kind == VALUE_BYTES;
    st->args[place] = chance(g->rng, text ? 0.8 : 0.4)
                          ? pool_near_in(g->pool, g->rng, a, &st->f->params[place], &old)
                          : (SeqValue){ 0 };
    if (partner >= 0 && !value_is_made(&st->args[partner]))
        st->args[partner] = (SeqValue){ 0 };     /* the length follows */
    pool_fill(g->pool, g->rng, a, st);
    pool_fit_within(st, place, before);
    st->divergent = true;
    return s;
}

/* ---- nodes */

static Places places_of(const SeqStep *st, const SeqValue *v)
{
    Places p = 0;
    for (unsigned i = 0; i < st->nargs; i++)
        if (value_equal(&st->args[i], v))
            p |= place_bit((int)i);
    return p;
}

static bool is_observer(const UsageType *t, const ApiFunction *f)
{
    for (size_t i = 0; i < t->nobservers; i++)
        if (t->observers[i].function == f)
            return true;
    return f->observes;
}

uint32_t grow_node(const GrowPlan *g, const Seq *s, const SeqHandle *h)
{
    const UsageType *t = g->usage ? usage_type(g->usage, h->type) : NULL;
    if (!t)
        return USAGE_OUTSIDE;
    assert(h->step < s->n && s->steps[h->step].f);
    uint32_t node = usage_step(t, 0, s->steps[h->step].f, place_bit(h->place));
    for (unsigned i = h->step + 1; i < s->n && node != USAGE_OUTSIDE; i++) {
        Places p = s->steps[i].f ? places_of(&s->steps[i], &h->value) : 0;
        if (!p)
            continue;
        uint32_t next = usage_step(t, node, s->steps[i].f, p);
        if (next == USAGE_OUTSIDE && is_observer(t, s->steps[i].f))
            continue;
        node = next;
    }
    return node;
}

/* Is somebody there that the example always closed before this handle? */
static bool has_children(const GrowPlan *g, const Seq *s, const SeqValue *owner)
{
    SeqHandles all = { 0 };
    bool found = false;
    seq_handles(s, g->ownership, &all);
    for (size_t i = 0; i < all.len && !found; i++) {
        const SeqHandle *h = &all.items[i];
        for (unsigned k = h->step; k < s->n && !found; k++) {
            const SeqStep *st = &s->steps[k];
            for (int place = API_RETURNED; st->f && place < (int)st->nargs && !found; place++) {
                bool here = k == h->step ? place == h->place
                                         : place >= 0 && value_equal(&st->args[place], &h->value);
                const UsageBond *b = here ? usage_bond(g->usage, st->f, place) : NULL;
                found = b && b->order == ORDER_CHILD_FIRST && b->owner >= 0 &&
                        value_equal(&st->args[b->owner], owner);
            }
        }
    }
    vec_release(&all);
    return found;
}

/* What a borrowed handle was taken from; NULL: it is its own master. */
static const SeqValue *borrowed_from(const GrowPlan *g, const Seq *s, const SeqValue *v)
{
    const SeqStep *st = &s->steps[v->step];
    int place = v->kind == VALUE_RESULT ? API_RETURNED : (int)v->param;
    if (v->kind == VALUE_STORAGE || !st->f ||
        ownership_use(g->ownership, st->f, place) != USE_BORROWS)
        return NULL;
    for (unsigned i = 0; i < st->nargs; i++)
        if (value_is_made(&st->args[i]))
            return &st->args[i];
    return NULL;
}

static bool is_inside(const GrowPlan *g, const Seq *s, const SeqValue *v, const SeqValue *of)
{
    while (v && !value_equal(v, of))
        v = borrowed_from(g, s, v);
    return v != NULL;
}

static const SeqValue *master_of(const GrowPlan *g, const Seq *s, const SeqValue *v)
{
    for (const SeqValue *up; (up = borrowed_from(g, s, v));)
        v = up;
    return v;
}

static bool may_change(const GrowPlan *g, const ApiFunction *f, unsigned place)
{
    const ApiPlace *p = &f->params[place];
    const UsageType *t = p->handle ? usage_type(g->usage, p->handle) : NULL;
    return !p->is_const && !(t ? is_observer(t, f) : f->observes);
}

/* A borrowed handle is good until something else of its master's is changed: that
 * may have been what it stands for, or have it. */
static bool may_be_stale(const GrowPlan *g, const Seq *s, unsigned step, const SeqValue *v)
{
    if (!borrowed_from(g, s, v))
        return false;
    const SeqValue *master = master_of(g, s, v);
    for (unsigned i = v->step + 1; i < step; i++) {
        const SeqStep *st = &s->steps[i];
        for (unsigned k = 0; st->f && k < st->nargs; k++)
            if (value_is_made(&st->args[k]) && may_change(g, st->f, k) &&
                !is_inside(g, s, &st->args[k], v) &&
                value_equal(master_of(g, s, &st->args[k]), master))
                return true;
    }
    return false;
}

/* Is each handle in a call there at that point, and may it go? */
static bool uses_live(const GrowPlan *g, const Seq *s, unsigned step)
{
    Seq before = { s->steps, step };
    SeqHandles all = { 0 };
    bool ok = true;
    const SeqStep *st = &s->steps[step];
    if (st->f == g->api->release)
        return true;
    usable(g, &before, &all);
    for (unsigned k = 0; ok && k < st->nargs; k++) {
        bool found = !value_is_made(&st->args[k]);
        for (size_t i = 0; i < all.len && !found; i++)
            found = value_equal(&all.items[i].value, &st->args[k]);
        ApiUse use = st->f ? ownership_use(g->ownership, st->f, (int)k) : USE_NONE;
        ok = found &&
             !((use == USE_CONSUMES || use == USE_FINISHES) &&
               has_children(g, &before, &st->args[k])) &&
             !(value_is_made(&st->args[k]) && may_be_stale(g, s, step, &st->args[k]));
    }
    vec_release(&all);
    return ok;
}

bool grow_keeps_order(const GrowPlan *g, const Seq *s)
{
    bool ok = true;
    for (unsigned i = 0; ok && g->usage && i < s->n; i++) {
        Seq before = { s->steps, i };
        for (unsigned k = 0; ok && s->steps[i].f && k < s->steps[i].nargs; k++) {
            ApiUse use = ownership_use(g->ownership, s->steps[i].f, (int)k);
            ok = !(use == USE_CONSUMES || use == USE_FINISHES) ||
                 !value_is_made(&s->steps[i].args[k]) ||
                 !has_children(g, &before, &s->steps[i].args[k]);
        }
    }
    return ok;
}

/* NULL only where the example has it, and something else where it has that: a
 * struct, say, where it always passed NULL is not its way. */
static bool nulls_follow(const GrowPlan *g, const SeqStep *st)
{
    for (unsigned i = 0; i < st->nargs; i++) {
        const UsageValues *v = usage_values(g->usage, st->f, i);
        ApiRole role = st->f->params[i].role;
        bool null = st->args[i].kind == VALUE_NULL, seen = false;
        bool plain = role == ROLE_RECORD || role == ROLE_POINTER || role == ROLE_INOUT ||
                     role == ROLE_CALLBACK;
        if (!null && (!plain || !v))
            continue;
        for (size_t k = 0; v && k < v->n && !seen; k++)
            seen = (v->values[k].kind == VALUE_NULL) == null;
        if (!seen)
            return false;
    }
    return true;
}

bool grow_follows(const GrowPlan *g, const Seq *s)
{
    SeqHandles all = { 0 };
    bool ok = g->usage != NULL;
    for (unsigned i = 0; ok && i < s->n; i++) {
        const SeqStep *st = &s->steps[i];
        const UsageFunction *f = st->f ? usage_function(g->usage, st->f) : NULL;
        if (st->f && !st->closing && !(st->looking && i + 1 < s->n))
            ok = !st->divergent && f && f->calls && nulls_follow(g, st);
        ok = ok && uses_live(g, s, i);
    }
    if (ok)
        seq_handles(s, NULL, &all);
    for (size_t i = 0; ok && i < all.len; i++)
        ok = grow_node(g, s, &all.items[i]) != USAGE_OUTSIDE;
    vec_release(&all);
    return ok;
}

/* ---- guided */

static bool guided_call(const GrowPlan *g, Arena *a, Seq *s, const UsageEdge *e,
                        const SeqHandle *self, unsigned depth);

static bool node_in(const uint32_t *nodes, size_t n, uint32_t node)
{
    for (size_t i = 0; i < n; i++)
        if (nodes[i] == node)
            return true;
    return n == 0;
}

/* Were the two in one call before? */
static bool have_met(const Seq *s, const SeqValue *x, const SeqValue *y)
{
    for (unsigned i = 0; i < s->n; i++) {
        const SeqStep *st = &s->steps[i];
        SeqValue r = value_result(i);
        bool a = value_equal(&r, x), b = value_equal(&r, y);
        for (unsigned k = 0; k < st->nargs; k++) {
            SeqValue stored = value_stored(i, k), storage = value_storage(i, k);
            a |=
                value_equal(&st->args[k], x) || value_equal(&stored, x) || value_equal(&storage, x);
            b |=
                value_equal(&st->args[k], y) || value_equal(&stored, y) || value_equal(&storage, y);
        }
        if (a && b)
            return true;
    }
    return false;
}

/* Does a handle in `place` agree with those that stand in the call already? */
static bool agrees(const GrowPlan *g, const Seq *s, const ApiFunction *f, const SeqValue *args,
                   unsigned place, const SeqValue *v)
{
    const UsageFunction *mf = usage_function(g->usage, f);
    for (size_t i = 0; mf && i < mf->nrelations; i++) {
        const UsageRelation *r = &mf->relations[i];
        int other = r->a == (int)place ? r->b : r->b == (int)place ? r->a : API_NONE;
        if (other < 0 || other >= (int)f->nparams || !value_is_made(&args[other]))
            continue;
        bool same = value_equal(&args[other], v);
        if ((r->kind == RELATION_MET && !same && !have_met(s, &args[other], v)) ||
            (r->kind == RELATION_SAME && !same) || (r->kind == RELATION_APART && same))
            return false;
    }
    return true;
}

typedef struct Want {
    const ApiType *type;
    const uint32_t *nodes;       /* where it may be; none: anywhere */
    size_t nnodes;
    const ApiFunction *f;        /* the call, what stands in it, and the place */
    const SeqValue *args;
    unsigned place;
} Want;

static bool pick_fitting(const GrowPlan *g, const Seq *s, const Want *w, SeqValue *out)
{
    SeqHandles all = { 0 };
    size_t n = 0;
    usable(g, s, &all);
    for (size_t i = 0; i < all.len; i++) {
        const SeqHandle *h = &all.items[i];
        if (h->type != w->type || !may_stand(g, h) ||
            !node_in(w->nodes, w->nnodes, grow_node(g, s, h)) ||
            !agrees(g, s, w->f, w->args, w->place, &h->value))
            continue;
        if (rng_below(g->rng, ++n) == 0)
            *out = h->value;
    }
    vec_release(&all);
    return n > 0;
}

/* The first edge of a shortest way from a node to one of those wanted. */
static const UsageEdge *way_to(const UsageType *t, uint32_t from, const Want *w)
{
    const UsageEdge **first = xcalloc(t->nnodes, sizeof *first);
    uint32_t *queue = xcalloc(t->nnodes, sizeof *queue);
    size_t head = 0, tail = 0;
    const UsageEdge *found = NULL;
    queue[tail++] = from;
    while (head < tail && !found) {
        uint32_t at = queue[head++];
        for (size_t i = 0; i < t->nodes[at].nedges && !found; i++) {
            const UsageEdge *e = t->nodes[at].edges[i];
            if (e->to == from || first[e->to] || e->ends)
                continue;
            first[e->to] = at == from ? e : first[at];
            queue[tail++] = e->to;
            if (node_in(w->nodes, w->nnodes, e->to))
                found = first[e->to];
        }
    }
    free(first);
    free(queue);
    return found;
}

/* The handle that was made last, of a type. */
static bool last_of(const GrowPlan *g, const Seq *s, const ApiType *t, SeqHandle *out)
{
    SeqHandles all = { 0 };
    bool found = false;
    usable(g, s, &all);
    for (size_t i = 0; i < all.len; i++)
        if (all.items[i].type == t) {
            *out = all.items[i];
            found = true;
        }
    vec_release(&all);
    return found;
}

/* An edge out of the root from which a wanted node can be reached. */
static const UsageEdge *beginning_for(const GrowPlan *g, const UsageType *t, const Want *w)
{
    for (int i = 0; i < 8; i++) {
        const UsageEdge *e = usage_pick_edge(t, 0, g->rng);
        if (!e || !w->nnodes || node_in(w->nodes, w->nnodes, e->to) || way_to(t, e->to, w))
            return e;
    }
    return way_to(t, 0, w);
}

static bool make_fitting(const GrowPlan *g, Arena *a, Seq *s, const Want *w, unsigned depth,
                         SeqValue *out)
{
    const UsageType *t = usage_type(g->usage, w->type);
    const UsageEdge *e = t && depth < DEPTH ? beginning_for(g, t, w) : NULL;
    SeqHandle made;
    if (!e || must_be_given(g, w->type) || is_full(s) ||
        !guided_call(g, a, s, e, NULL, depth + 1) || !last_of(g, s, w->type, &made))
        return false;
    for (int i = 0; i < LONGEST_WAY; i++) {
        uint32_t node = grow_node(g, s, &made);
        if (node == USAGE_OUTSIDE)
            return false;
        if (node_in(w->nodes, w->nnodes, node))
            break;
        e = way_to(t, node, w);
        if (!e || is_full(s) || !guided_call(g, a, s, e, &made, depth + 1))
            return false;
    }
    *out = made.value;
    return agrees(g, s, w->f, w->args, w->place, out) || pick_fitting(g, s, w, out);
}

static const UsageOther *other_at(const UsageEdge *e, unsigned place)
{
    for (size_t i = 0; i < e->nothers; i++)
        if (e->others[i].place == (int)place)
            return &e->others[i];
    return NULL;
}

static bool other_handle(const GrowPlan *g, Arena *a, Seq *s, const UsageEdge *e,
                         const SeqValue *args, unsigned place, unsigned depth, SeqValue *out)
{
    const UsageOther *o = other_at(e, place);
    Want w = {
        .type = e->function->params[place].handle, .f = e->function, .args = args, .place = place
    };
    if (o) {
        w.nodes = o->nodes;
        w.nnodes = o->nnodes;
        if (o->total && chance(g->rng, (double)o->nulls / o->total)) {
            *out = value_null();
            return true;
        }
    }
    if (!chance(g->rng, 0.15) && pick_fitting(g, s, &w, out))
        return true;
    return make_fitting(g, a, s, &w, depth, out) || pick_fitting(g, s, &w, out);
}

/* May a value of a call be another one? Not if others hang on it in a way that
 * only the usage knows. */
static bool may_vary(const GrowPlan *g, const ApiFunction *f, unsigned place, const SeqValue *v)
{
    const UsageFunction *mf = usage_function(g->usage, f);
    ApiRole role = f->params[place].role;
    bool text = v->kind == VALUE_STRING || (v->kind == VALUE_BYTES && role == ROLE_BUFFER) ||
                pool_text_in(&f->params[place], v).kind == VALUE_STRING;
    /* what a "..." means hangs on its format, and texts are not checked by anybody */
    if (f->shape_of && (text || (place < f->nfixed && f->pinned[place].kind != VALUE_NONE)))
        return false;
    if (v->given || f->params[place].within >= 0)
        return false;
    if (!text && !(v->kind == VALUE_FLOAT) &&
        !(v->kind == VALUE_INTEGER && (role == ROLE_INTEGER || role == ROLE_FLAGS)))
        return false;
    for (size_t i = 0; mf && i < mf->nrelations; i++)
        if (mf->relations[i].kind <= RELATION_LENGTH_TEXT_NUL &&
            (mf->relations[i].a == (int)place || mf->relations[i].b == (int)place) &&
            f->params[place].partner < 0)
            return false;
    return true;
}

/* The size of a room that the call writes to: less may be said. */
static bool is_size(const SeqStep *st, unsigned place)
{
    const ApiPlace *p = &st->f->params[place];
    return p->role == ROLE_LENGTH && p->partner >= 0 && st->args[place].kind == VALUE_INTEGER &&
           st->args[p->partner].kind == VALUE_ROOM &&
           st->args[place].integer <= st->args[p->partner].n;
}

/* One of the values becomes another like it. */
static bool vary(const GrowPlan *g, Arena *a, SeqStep *st)
{
    unsigned n = 0, pick = 0;
    for (unsigned i = 0; i < st->nargs; i++)
        if ((may_vary(g, st->f, i, &st->args[i]) || is_size(st, i)) && rng_below(g->rng, ++n) == 0)
            pick = i;
    if (!n)
        return false;
    int partner = st->f->params[pick].partner;
    if (is_size(st, pick)) {
        uint64_t most = st->args[pick].integer;
        if (most > 8 && rng_below(g->rng, 2))
            most = 8;
        st->args[pick].integer = rng_below(g->rng, most + 1);
        return true;
    }
    size_t before = st->args[pick].n;
    st->args[pick] = pool_near_in(g->pool, g->rng, a, &st->f->params[pick], &st->args[pick]);
    pool_fit_within(st, pick, before);
    /* a number beyond the text was none of its length */
    if (partner >= 0 && st->f->params[partner].role == ROLE_LENGTH &&
        st->args[partner].integer <= before)
        st->args[partner] = value_integer(st->args[pick].n);
    return true;
}

/* What the example set in structs before such a call; whether a value is another
 * than there. */
static bool set_fields(const GrowPlan *g, Arena *a, Seq *s, const ApiFunction *f,
                       const UsageRow *row, SeqValue *args)
{
    SeqValue *values = arena_array(a, SeqValue, row->nstores + 1);
    bool varied = false;
    for (size_t i = 0; i < row->nstores; i++)
        values[i] = row->stores[i].value;
    for (size_t i = 0; i < row->nstores; i++) {
        if (values[i].kind != VALUE_BYTES || !chance(g->rng, g->near))
            continue;
        values[i] = pool_near(g->pool, g->rng, a, &values[i]);
        if (row->stores[i].partner >= 0)
            values[row->stores[i].partner] = value_integer(values[i].n);
        varied = true;
    }
    for (size_t i = 0; i < row->nstores; i++) {
        SeqValue *target = &args[row->stores[i].place];
        const ApiType *t = f->params[row->stores[i].place].handle;
        if (target->kind == VALUE_ROOM && t) {
            seq_storage(a, s, t);
            *target = value_storage(s->n - 1, 0);
        }
        if (value_is_made(target))
            seq_set(a, s, *target, row->stores[i].field, value_copy(a, &values[i]));
    }
    return varied;
}

/* Is there a place that the example had something in which nobody can say? Rooms for
 * results and lengths need no example. */
static bool lacks_value(const SeqStep *st)
{
    for (unsigned i = 0; i < st->nargs; i++) {
        ApiRole role = st->f->params[i].role;
        if (st->args[i].kind == VALUE_NONE && role != ROLE_OUT && role != ROLE_STRING_OUT &&
            role != ROLE_HANDLE_OUT && role != ROLE_STORAGE && role != ROLE_LENGTH &&
            role != ROLE_LENGTH_INOUT && role != ROLE_BUFFER_OUT && role != ROLE_USER_DATA)
            return true;
    }
    return false;
}

static bool guided_call(const GrowPlan *g, Arena *a, Seq *s, const UsageEdge *e,
                        const SeqHandle *self, unsigned depth)
{
    const ApiFunction *f = e->function;
    SeqValue *args = arena_array(a, SeqValue, f->nparams + 1);
    if (f->not_callable || f->variadic || depth > DEPTH || is_forbidden(g, f))
        return false;
    if (e->ends && self && has_children(g, s, &self->value))
        return false;
    const UsageRow *row = usage_pick_values(g->usage, e, g->rng, g->mix, args);
    for (unsigned i = 0; i < f->nparams; i++)
        if (args[i].kind == VALUE_SELF)
            args[i] = self                       ? self->value
                      : pool_room(&f->params[i]) ? value_room(pool_room(&f->params[i]))
                                                 : (SeqValue){ 0 };
    for (unsigned i = 0; i < f->nparams; i++) {
        SeqValue v = pool_callback(g->api, &args[i]);
        args[i] = value_copy(a, &v);
        if (args[i].kind == VALUE_NONE && f->params[i].role == ROLE_HANDLE &&
            !other_handle(g, a, s, e, args, i, depth, &args[i]))
            return false;
    }
    if (is_full(s))
        return false;
    bool varied = row && row->nstores && set_fields(g, a, s, f, row, args);
    SeqStep *st = seq_call(a, s, f);
    memcpy(st->args, args, f->nparams * sizeof *args);
    st->divergent = varied || lacks_value(st) || (row && row->unknown);
    pool_fill(g->pool, g->rng, a, st);
    if (chance(g->rng, g->near))
        st->divergent |= vary(g, a, st);
    return true;
}

/* An edge out of a node, by its weight and by that of its function. */
static const UsageEdge *gladly(const GrowPlan *g, const UsageType *t, uint32_t node)
{
    const UsageEdge *e = usage_pick_edge(t, node, g->rng);
    for (int i = 0; e && i < 20 && !grow_accepts(g, e->function); i++)
        e = usage_pick_edge(t, node, g->rng);
    return e;
}

static bool guided_start(const GrowPlan *g, Arena *a, Seq *s)
{
    size_t n;
    const UsageType *types = usage_types(g->usage, &n);
    const UsageType *t = n ? &types[rng_below(g->rng, n)] : NULL;
    const UsageEdge *e = t && t->nnodes ? gladly(g, t, 0) : NULL;
    return e && guided_call(g, a, s, e, NULL, 0);
}

/* A function of the example that has nothing to do with handles. */
static bool guided_plain(const GrowPlan *g, Arena *a, Seq *s)
{
    size_t n, m = 0;
    const UsageFunction *all = usage_functions(g->usage, &n), *f = NULL;
    for (size_t i = 0; i < n; i++)
        if (all[i].calls && !is_forbidden(g, all[i].function) && !all[i].function->takes_handle &&
            !all[i].function->not_callable && !all[i].function->variadic && all[i].nrows &&
            all[i].function->result.use != USE_CREATES && rng_below(g->rng, ++m) == 0)
            f = &all[i];
    if (!f || is_full(s))
        return false;
    const UsageRow *row = &f->rows[rng_below(g->rng, f->nrows)];
    SeqStep *st = seq_call(a, s, f->function);
    for (unsigned i = 0; i < st->nargs; i++)
        if (!chance(g->rng, g->mix))
            st->args[i] = pool_callback(g->api, &row->values[i]);
    for (unsigned i = 0; i < st->nargs; i++)
        st->args[i] = value_copy(a, &st->args[i]);
    for (unsigned i = 0; i < st->nargs; i++) {
        ApiRole role = st->f->params[i].role;
        if (role == ROLE_LENGTH || role == ROLE_LENGTH_INOUT ||
            (st->args[i].kind == VALUE_WITHIN &&
             !value_equal(&st->args[st->args[i].param], &row->values[st->args[i].param])))
            st->args[i] = (SeqValue){ 0 };
    }
    st->divergent = lacks_value(st) || row->unknown;
    pool_fill(g->pool, g->rng, a, st);
    return true;
}

static bool guided_extend(const GrowPlan *g, Arena *a, Seq *s)
{
    SeqHandles all = { 0 };
    SeqHandle h = { 0 };
    size_t n = 0;
    usable(g, s, &all);
    for (size_t i = 0; i < all.len; i++) {
        uint32_t node = grow_node(g, s, &all.items[i]);
        const UsageType *t = usage_type(g->usage, all.items[i].type);
        if (node != USAGE_OUTSIDE && t->nodes[node].nedges &&
            (!g->uses || grow_is_given(g, &all.items[i])) && rng_below(g->rng, ++n) == 0)
            h = all.items[i];
    }
    vec_release(&all);
    if (!n)
        return false;
    const UsageEdge *e = gladly(g, usage_type(g->usage, h.type), grow_node(g, s, &h));
    return e && guided_call(g, a, s, e, &h, 0);
}

bool grow_guided(const GrowPlan *g, Arena *a, Seq *s)
{
    if (g->uses && guided_extend(g, a, s))
        return true;
    if (g->given)
        return false;
    if (chance(g->rng, 0.05) && guided_plain(g, a, s))
        return true;
    if (!chance(g->rng, g->start_share) && guided_extend(g, a, s))
        return true;
    return guided_start(g, a, s) || guided_plain(g, a, s);
}

/* May the example's way to look at an object be taken again? It must give no handle,
 * and those that it needs must be among `all`. */
static bool is_plain_observer(const GrowPlan *g, const UsageObserver *o, const SeqHandles *all)
{
    const ApiFunction *f = o->function;
    if (f->not_callable || f->variadic || !o->nrows || f->result.handle || is_forbidden(g, f))
        return false;
    for (unsigned i = 0; i < f->nparams; i++) {
        const ApiType *t = f->params[i].handle;
        bool found = !t || o->places & place_bit((int)i);
        for (size_t k = 0; k < all->len && !found; k++)
            found = all->items[k].type == t;
        if (!found)
            return false;
    }
    return true;
}

static SeqValue some_handle(const GrowPlan *g, const SeqHandles *all, const ApiType *t)
{
    SeqValue v = { 0 };
    size_t n = 0;
    for (size_t k = 0; k < all->len; k++)
        if (all->items[k].type == t && rng_below(g->rng, ++n) == 0)
            v = all->items[k].value;
    return v;
}

/* A call with which the example looked at an object, as it did. */
static SeqStep *look_as_example(const GrowPlan *g, Arena *a, Seq *s, const UsageObserver *o,
                                const SeqValue *v, const SeqHandles *others)
{
    const UsageRow *row = &o->rows[rng_below(g->rng, o->nrows)];
    SeqStep *st = seq_call(a, s, o->function);
    for (unsigned i = 0; i < st->nargs; i++) {
        const ApiType *t = st->f->params[i].handle;
        SeqValue x = row->values[i].kind == VALUE_SELF ? *v
                     : t && row->values[i].kind == VALUE_NONE
                         ? some_handle(g, others, t)
                         : pool_callback(g->api, &row->values[i]);
        st->args[i] = value_copy(a, &x);
    }
    pool_fill(g->pool, g->rng, a, st);
    return st;
}

static bool observe_as_example(const GrowPlan *g, Arena *a, Seq *s)
{
    SeqHandles all = { 0 };
    const UsageObserver *pick = NULL;
    SeqValue v = { 0 };
    size_t n = 0;
    usable(g, s, &all);
    for (size_t k = 0; k < all.len; k++) {
        const UsageType *t = usage_type(g->usage, all.items[k].type);
        for (size_t i = 0; t && i < t->nobservers; i++)
            if (is_plain_observer(g, &t->observers[i], &all) && rng_below(g->rng, ++n) == 0) {
                pick = &t->observers[i];
                v = all.items[k].value;
            }
    }
    SeqStep *st = pick ? look_as_example(g, a, s, pick, &v, &all) : NULL;
    if (st && chance(g->rng, g->near))
        st->divergent |= vary(g, a, st);
    vec_release(&all);
    return pick != NULL;
}

/* How much a function says of the handle that it gets beside rooms for the answer (and
 * numbers and texts, if it may want `more`): 2 a text, 1 a number; 0: nothing, or it wants
 * something else. */
static unsigned says_of(const ApiFunction *f, const ApiType *t, bool more, unsigned *place)
{
    const Type *r = f->fn->returns ? type_plain(f->fn->returns) : NULL;
    unsigned handles = 0, says = 0;
    if (!f->observes || f->not_callable || f->variadic || f->result.handle)
        return 0;
    for (unsigned i = 0; i < f->nparams; i++) {
        const ApiPlace *p = &f->params[i];
        bool room = p->role == ROLE_BUFFER_OUT || p->role == ROLE_OUT;
        if (p->role == ROLE_HANDLE && p->handle == t && !handles++)
            *place = i;
        else if (!room && !(p->role == ROLE_LENGTH && p->partner >= 0) && !(more && is_free(f, i)))
            return 0;
        says |= p->role == ROLE_BUFFER_OUT ? 2 : room;
    }
    /* a text that is not const is most often the caller's to free */
    if (f->result.role == ROLE_STRING)
        says |= type_has_qualifier(r->target, QUALIFIER_CONST) ? 2 : 0;
    else if (f->result.role == ROLE_INTEGER || f->result.role == ROLE_ENUM ||
             f->result.role == ROLE_FLAGS || f->result.role == ROLE_FLOAT)
        says |= 1;
    return handles ? says : 0;
}

enum { LOOKS = 10, LOOKS_AT_ONE = 4 };

/* Since something was changed last? */
static bool has_looked(const Seq *s, const ApiFunction *f, const SeqValue *v)
{
    for (unsigned i = s->n;
         i-- > 0 && (s->steps[i].looking || (s->steps[i].f && s->steps[i].f->observes));)
        for (unsigned k = 0; k < s->steps[i].nargs; k++)
            if (s->steps[i].f == f && value_equal(&s->steps[i].args[k], v))
                return true;
    return false;
}

/* By what is known of the function alone, from those that say most on. */
static unsigned look_plainly(const GrowPlan *g, Arena *a, Seq *s, const SeqHandle *h, unsigned most)
{
    unsigned n = 0, place = 0;
    for (unsigned least = 2; least > 0; least--)
        for (size_t i = 0; i < g->api->nfunctions && n < most; i++) {
            const ApiFunction *f = &g->api->functions[i];
            unsigned says = says_of(f, h->type, false, &place);
            if ((says >= 2 ? 2 : says) != least || !ownership_may_look(g->ownership, f) ||
                has_looked(s, f, &h->value))
                continue;
            SeqStep *st = seq_call(a, s, f);
            st->looking = true;
            st->args[place] = h->value;
            pool_fill(g->pool, g->rng, a, st);
            n++;
        }
    return n;
}

/* By all calls with which the example looked at such objects. */
static unsigned look_as_in_example(const GrowPlan *g, Arena *a, Seq *s, const SeqHandle *h,
                                   unsigned most)
{
    const UsageType *t = g->usage ? usage_type(g->usage, h->type) : NULL;
    SeqHandles no_others = { 0 };
    unsigned n = 0;
    for (size_t i = 0; t && i < t->nobservers && n < most && s->n < SEQ_LIMIT - 8; i++)
        if (is_plain_observer(g, &t->observers[i], &no_others) &&
            ownership_may_look(g->ownership, t->observers[i].function)) {
            look_as_example(g, a, s, &t->observers[i], &h->value, &no_others)->looking = true;
            n++;
        }
    return n;
}

void grow_all_looks(const GrowPlan *g, Arena *a, Seq *s, unsigned most)
{
    SeqHandles all = { 0 };
    unsigned n = 0, place = 0;
    usable(g, s, &all);
    for (size_t k = all.len; k-- > 0;) {
        n += look_as_in_example(g, a, s, &all.items[k], most > n ? most - n : 0);
        for (size_t i = 0; i < g->api->nfunctions && n < most && s->n < SEQ_LIMIT - 8; i++) {
            const ApiFunction *f = &g->api->functions[i];
            if (!says_of(f, all.items[k].type, true, &place) ||
                (says_of(f, all.items[k].type, false, &place) &&
                 has_looked(s, f, &all.items[k].value)) ||
                !ownership_may_look(g->ownership, f) || is_forbidden(g, f) ||
                !seq_same_table(s, &all.items[k].value, f))
                continue;
            SeqValue *args = arena_array(a, SeqValue, f->nparams + 1);
            for (unsigned m = 0; m < f->nparams; m++)
                if (is_free(f, m))
                    args[m] = used_before(g, a, s, &f->params[m]);
            SeqStep *st = seq_call(a, s, f);
            memcpy(st->args, args, f->nparams * sizeof *args);
            st->looking = true;
            st->args[place] = all.items[k].value;
            pool_fill(g->pool, g->rng, a, st);
            n++;
        }
    }
    vec_release(&all);
}

void grow_looks(const GrowPlan *g, Arena *a, Seq *s)
{
    SeqHandles all = { 0 }, no_others = { 0 };
    unsigned n = 0;
    usable(g, s, &all);
    for (size_t k = all.len; k-- > 0 && n < LOOKS && s->n + LOOKS < SEQ_MOST_STEPS;) {
        const SeqHandle *h = &all.items[k];
        const UsageType *t = g->usage ? usage_type(g->usage, h->type) : NULL;
        unsigned here = 0;
        for (size_t i = 0; t && i < t->nobservers && here < LOOKS_AT_ONE / 2; i++)
            if (is_plain_observer(g, &t->observers[i], &no_others) &&
                ownership_may_look(g->ownership, t->observers[i].function)) {
                look_as_example(g, a, s, &t->observers[i], &h->value, &no_others)->looking = true;
                here++;
            }
        n += here + look_plainly(g, a, s, h, LOOKS_AT_ONE - here);
    }
    vec_release(&all);
}

static bool takes_away(const GrowPlan *g, const SeqStep *st, unsigned place)
{
    ApiUse use = ownership_use(g->ownership, st->f, (int)place);
    return st->f->params[place].handle && value_is_made(&st->args[place]) &&
           (use == USE_CONSUMES || use == USE_FINISHES);
}

/* Looks at a handle that is there, and is about to go. */
static unsigned look_last(const GrowPlan *g, Arena *a, Seq *s, const SeqValue *v)
{
    SeqHandles all = { 0 };
    unsigned n = 0;
    usable(g, s, &all);
    for (size_t i = 0; i < all.len && !n; i++)
        if (value_equal(&all.items[i].value, v))
            n = look_plainly(g, a, s, &all.items[i], LOOKS_AT_ONE);
    vec_release(&all);
    return n;
}

static SeqValue renumbered(const SeqValue *v, const unsigned *number)
{
    SeqValue c = *v;
    if (value_is_made(v))
        c.step = number[v->step];
    return c;
}

Seq *grow_with_looks(const GrowPlan *g, Arena *a, const Seq *s)
{
    Seq *c = seq_new(a);
    unsigned number[SEQ_LIMIT] = { 0 }, n = 0;
    assert(s->n <= SEQ_LIMIT);
    for (unsigned i = 0; i < s->n; i++) {
        const SeqStep *st = &s->steps[i];
        for (unsigned k = 0; st->f && k < st->nargs && n < LOOKS && c->n + LOOKS < SEQ_LIMIT / 2;
             k++)
            if (takes_away(g, st, k)) {
                SeqValue v = renumbered(&st->args[k], number);
                n += look_last(g, a, c, &v);
            }
        number[i] = c->n;
        Seq one = { &s->steps[i], 1 };
        seq_append(a, c, &one);
        SeqStep *copy = &c->steps[c->n - 1];
        copy->target = renumbered(&st->target, number);
        for (unsigned k = 0; k < st->nargs; k++)
            copy->args[k].step =
                value_is_made(&st->args[k]) ? number[st->args[k].step] : copy->args[k].step;
    }
    grow_looks(g, a, c);
    return c;
}

bool grow_observer(const GrowPlan *g, Arena *a, Seq *s)
{
    if (!is_full(s) && g->usage && chance(g->rng, 0.5) && observe_as_example(g, a, s))
        return true;
    SeqHandles all = { 0 };
    const ApiFunction *pick = NULL;
    SeqValue v = { 0 };
    size_t n = 0;
    if (is_full(s))
        return false;
    usable(g, s, &all);
    for (size_t i = 0; i < g->api->nfunctions; i++) {
        const ApiFunction *f = &g->api->functions[i];
        if (!f->observes || f->not_callable || f->variadic || f->nparams != 1 || is_forbidden(g, f))
            continue;
        for (size_t k = 0; k < all.len; k++)
            if (all.items[k].type == f->params[0].handle && rng_below(g->rng, ++n) == 0) {
                pick = f;
                v = all.items[k].value;
            }
    }
    vec_release(&all);
    if (!pick)
        return false;
    seq_call(a, s, pick)->args[0] = v;
    return true;
}
