/* From the solver's state to an answer; to a file and back. */
#include "analysis/pointsto/pt_answer.h"
#include "base/file.h"
#include "base/str.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- from the solver */

typedef struct Freeze {
    PointsTo *a;
    Pt *pt;
    uint32_t *loc_map;        /* location -> its place in the answer */
    uint32_t *node_set;       /* node -> set; NONE */
    Map sets;                 /* members -> set + 1 */
} Freeze;

static const Pt *sorting;

static int by_object(const void *x, const void *y)
{
    const PtLocation *a = &sorting->locs.items[*(const uint32_t *)x];
    const PtLocation *b = &sorting->locs.items[*(const uint32_t *)y];

    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static void number_locations(Freeze *f)
{
    Pt *pt = f->pt;
    size_t n = 0;
    uint32_t *order = xmalloc((pt->locs.len + 1) * sizeof *order);

    for (uint32_t i = 0; i < pt->locs.len; i++)
        if (pt_canon(pt, i) == i)
            order[n++] = i;
    sorting = pt;
    qsort(order, n, sizeof *order, by_object);
    f->loc_map = xmalloc((pt->locs.len + 1) * sizeof *f->loc_map);
    for (uint32_t i = 0; i < n; i++) {
        const PtLocation *l = &pt->locs.items[order[i]];
        PtLoc out = { l->object, l->offset };
        f->loc_map[order[i]] = i;
        vec_push(&f->a->locs, out);
    }
    for (uint32_t i = 0; i < pt->locs.len; i++)
        f->loc_map[i] = f->loc_map[pt_canon(pt, i)];
    free(order);
}

static int by_number(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

    return (a > b) - (a < b);
}

static uint32_t freeze_set(Freeze *f, uint32_t node)
{
    if (node == NONE)
        return 0;
    node = pt_find(f->pt, node);
    if (f->node_set[node] != NONE)
        return f->node_set[node];
    PointsTo *a = f->a;
    const PtBits *bits = &f->pt->nodes.items[node].pts;
    size_t start = a->members.len, n = 0;
    for (PtIter i = ptbits_first(bits); i.on; ptbits_next(&i))
        vec_push(&a->members, f->loc_map[i.x]);
    uint32_t *m = a->members.items + start;
    size_t all = a->members.len - start;
    if (all)
        qsort(m, all, sizeof *m, by_number);
    for (size_t i = 0; i < all; i++)
        if (!n || m[n - 1] != m[i])
            m[n++] = m[i];
    a->members.len = start + n;
    void **slot = n ? map_slotn(&f->sets, m, n * sizeof *m) : NULL;
    if (slot && !*slot) {
        PtRange r = { (uint32_t)start, (uint32_t)n };
        vec_push(&a->sets, r);
        *slot = (void *)(uintptr_t)a->sets.len;
        return f->node_set[node] = (uint32_t)a->sets.len - 1;
    }
    a->members.len = start;
    return f->node_set[node] = slot ? (uint32_t)(uintptr_t)*slot - 1 : 0;
}

static void freeze_objects(Freeze *f)
{
    PointsTo *a = f->a;

    for (size_t i = 0; i < f->pt->objects.len; i++) {
        const PtObj *o = &f->pt->objects.items[i];
        PtAnswerObject out = {
            .kind = o->kind, .size = o->size, .flat = o->flat, .pooled = o->pooled
        };
        out.site = o->site ? ptvalues_number(&a->v, o->site) : NONE;
        out.regions.start = (uint32_t)a->regions.len;
        out.regions.n = (uint32_t)o->regions.len;
        for (size_t k = 0; k < o->regions.len; k++)
            vec_push(&a->regions, o->regions.items[k]);
        vec_push(&a->objects, out);
    }
    for (uint32_t i = 0; i < a->locs.len; i++) {
        PtRange *r = &a->objects.items[a->locs.items[i].object].locs;
        assert(!r->n || r->start + r->n == i);       /* neighbours */
        if (!r->n++)
            r->start = i;
    }
}

static void freeze_contents(Freeze *f)
{
    uint32_t *from = xmalloc((f->a->locs.len + 1) * sizeof *from);

    for (uint32_t i = 0; i < f->pt->locs.len; i++)
        if (pt_canon(f->pt, i) == i)
            from[f->loc_map[i]] = i;
    for (size_t i = 0; i < f->a->locs.len; i++) {
        const PtLocation *l = &f->pt->locs.items[from[i]];
        const PtObj *o = &f->pt->objects.items[l->object];
        uint32_t node = l->offset != ANY ? l->cell : o->all != NONE ? o->all : o->written;
        vec_push(&f->a->content, freeze_set(f, node));
    }
    free(from);
}

static PtRange freeze_targets(Freeze *f, const PtCall *c)
{
    PtRange r = { (uint32_t)f->a->functions.len, (uint32_t)c->targets.len };

    for (size_t i = 0; i < c->targets.len; i++)
        vec_push(&f->a->functions, ptvalues_number(&f->a->v, c->targets.items[i]));
    return r;
}

static int by_inst(const void *x, const void *y)
{
    const PtAnswerCall *a = x, *b = y;

    return (a->inst > b->inst) - (a->inst < b->inst);
}

static void freeze_calls(Freeze *f)
{
    PointsTo *a = f->a;
    PtTable at = { 0 };

    for (size_t i = 0; i < f->pt->calls.len; i++) {
        const PtCall *c = &f->pt->calls.items[i];
        if (!c->inst) {
            for (size_t k = 0; k < c->targets.len; k++)
                vec_push(&a->outside, ptvalues_number(&a->v, c->targets.items[k]));
            continue;
        }
        uint32_t inst = ptvalues_number(&a->v, c->inst);
        uint32_t k = pttable_get(&at, inst);
        if (k == NONE) {
            PtAnswerCall out = { .inst = inst };
            k = (uint32_t)a->calls.len;
            vec_push(&a->calls, out);
            pttable_put(&at, inst, k);
        }
        PtRange r = freeze_targets(f, c);
        PtAnswerCall *out = &a->calls.items[k];
        if (!c->callback)
            out->targets = r;
        else if (!out->callbacks.n || out->callbacks.start + out->callbacks.n == r.start) {
            if (!out->callbacks.n)
                out->callbacks.start = r.start;
            out->callbacks.n += r.n;
        }
    }
    pttable_release(&at);
    if (a->calls.len)
        qsort(a->calls.items, a->calls.len, sizeof *a->calls.items, by_inst);
    if (a->outside.len)
        qsort(a->outside.items, a->outside.len, sizeof(uint32_t), by_number);
}

void ptanswer_from(PointsTo *a, Pt *pt)
{
    Freeze f = { .a = a, .pt = pt };

    assert(a->v.nslots <= pt->nodes.len && !a->sets.len);
    f.node_set = xmalloc((pt->nodes.len + 1) * sizeof *f.node_set);
    memset(f.node_set, 0xff, (pt->nodes.len + 1) * sizeof *f.node_set);
    vec_push(&a->sets, ((PtRange){ 0, 0 }));
    number_locations(&f);
    freeze_objects(&f);
    for (uint32_t i = 0; i < a->v.nslots; i++)
        vec_push(&a->slot_set, freeze_set(&f, i));
    freeze_contents(&f);
    freeze_calls(&f);
    for (size_t i = 0; i < pt->wrappers.len; i++) {
        const PtWrapper *w = &pt->wrappers.items[i];
        if (!w->out)
            vec_push(&a->wrappers, ptvalues_number(&a->v, w->fn));
        for (size_t k = 0; k < w->calls.len; k++)
            vec_push(&a->hands_on, ptvalues_number(&a->v, w->calls.items[k].call));
    }
    if (a->wrappers.len)
        qsort(a->wrappers.items, a->wrappers.len, sizeof(uint32_t), by_number);
    if (a->hands_on.len)
        qsort(a->hands_on.items, a->hands_on.len, sizeof(uint32_t), by_number);
    a->stats = pt->stats;
    a->stats.nodes = pt->nodes.len;
    a->stats.objects = a->objects.len;
    a->stats.locations = a->locs.len;
    for (size_t i = 0; i < pt->notes.len; i++)
        strings_add(&a->notes, pt->notes.items[i]);
    free(f.loc_map);
    free(f.node_set);
    map_release(&f.sets);
}

/* ---- what always holds of an answer */

static void check_range(PtRange r, size_t len) { assert(r.start <= len && r.n <= len - r.start); }

static void check_objects(const PointsTo *a)
{
    size_t locs = 0;

    for (uint32_t i = 0; i < a->objects.len; i++) {
        const PtAnswerObject *o = &a->objects.items[i];
        assert(o->kind <= PT_EXTERNAL && (o->site == NONE || o->site < a->v.n));
        check_range(o->regions, a->regions.len);
        check_range(o->locs, a->locs.len);
        for (uint32_t k = 0; k < o->locs.n; k++) {
            const PtLoc *l = &a->locs.items[o->locs.start + k];
            assert(l->object == i && (!o->flat || l->offset == ANY));
            assert(!k || l[-1].offset < l->offset);
        }
        locs += o->locs.n;
    }
    assert(locs == a->locs.len);
    for (size_t i = 0; i < a->regions.len; i++)
        assert(a->regions.items[i].stride > 0);
}

static void check_sets(const PointsTo *a)
{
    assert(a->content.len == a->locs.len && a->slot_set.len == a->v.nslots);
    assert(a->sets.len && a->sets.items[0].n == 0);
    for (size_t i = 0; i < a->content.len; i++)
        assert(a->content.items[i] < a->sets.len);
    for (size_t i = 0; i < a->slot_set.len; i++)
        assert(a->slot_set.items[i] < a->sets.len);
    for (size_t i = 0; i < a->sets.len; i++) {
        check_range(a->sets.items[i], a->members.len);
        const uint32_t *m = a->members.items + a->sets.items[i].start;
        for (uint32_t k = 0; k < a->sets.items[i].n; k++)
            assert(m[k] < a->locs.len && (!k || m[k - 1] < m[k]));
    }
}

static void check_calls(const PointsTo *a)
{
    for (size_t i = 0; i < a->calls.len; i++) {
        const PtAnswerCall *c = &a->calls.items[i];
        assert(c->inst < a->v.n && (!i || c[-1].inst < c->inst));
        check_range(c->targets, a->functions.len);
        check_range(c->callbacks, a->functions.len);
    }
    for (size_t i = 0; i < a->functions.len; i++)
        assert(a->functions.items[i] < a->v.n);
}

void ptanswer_check(const PointsTo *a)
{
    check_objects(a);
    check_sets(a);
    check_calls(a);
}

void ptanswer_open(PointsTo *a)
{
    a->heap = a->literals = NONE;
    a->shown = xcalloc(a->objects.len + 1, sizeof *a->shown);
    for (uint32_t i = 0; i < a->objects.len; i++) {
        const PtAnswerObject *o = &a->objects.items[i];
        a->shown[i].kind = (PtKind)o->kind;
        a->shown[i].size = o->size;
        a->shown[i].site = o->site == NONE ? NULL : a->v.values[o->site];
        if (o->kind == PT_HEAP && o->site == NONE)
            a->heap = i;
        if (o->kind == PT_GLOBAL && o->site == NONE)
            a->literals = i;
        if (o->site != NONE && (o->kind == PT_GLOBAL || o->kind == PT_FUNCTION))
            pttable_put(&a->object_at, o->site, i);
    }
    a->self = xmalloc((a->locs.len + 1) * sizeof *a->self);
    for (uint32_t i = 0; i < a->locs.len; i++)
        a->self[i] = i;
    a->callees = xmalloc((a->functions.len + 1) * sizeof *a->callees);
    for (size_t i = 0; i < a->functions.len; i++)
        a->callees[i] = a->v.values[a->functions.items[i]];
    for (uint32_t i = 0; i < a->calls.len; i++)
        pttable_put(&a->call_at, a->calls.items[i].inst, i);
}

/* ---- the file: a first line with the key, then numbers of 7 bits a byte, then
 * a hash of all before it */

#define MAGIC "sundew points-to 2 "

static void put(Str *s, uint64_t x)
{
    for (; x >= 0x80; x >>= 7)
        str_addc(s, (char)(x | 0x80));
    str_addc(s, (char)x);
}

static void put_signed(Str *s, int64_t x) { put(s, (uint64_t)x << 1 ^ (uint64_t)(x >> 63)); }

static void put_all(Str *s, const uint32_t *items, size_t n)
{
    put(s, n);
    for (size_t i = 0; i < n; i++)
        put(s, items[i]);
}

/* Sorted ones: differences are small. */
static void put_rising(Str *s, const uint32_t *items, size_t n)
{
    put(s, n);
    for (size_t i = 0; i < n; i++) {
        assert(!i || items[i] >= items[i - 1]);
        put(s, items[i] - (i ? items[i - 1] : 0));
    }
}

bool ptanswer_write(const PointsTo *a, const char *path, const char *key, Err *err)
{
    Str s = { 0 };

    str_addf(&s, MAGIC "%s\n", key);
    const PtStats *st = &a->stats;
    put(&s, a->v.n);
    put(&s, a->v.nslots);
    put(&s, st->nodes);
    put(&s, st->constraints);
    put(&s, st->edges);
    put(&s, st->waves);
    put(&s, st->merged);
    put(&s, st->wrappers);
    put(&s, st->inttoptr);
    put(&s, st->inttoptr_unknown);
    put(&s, st->unknown_externals);
    put(&s, a->notes.len);
    for (size_t i = 0; i < a->notes.len; i++) {
        size_t n = strlen(a->notes.items[i]);
        put(&s, n);
        str_addn(&s, a->notes.items[i], n);
    }
    put(&s, a->objects.len);
    for (size_t i = 0; i < a->objects.len; i++) {
        const PtAnswerObject *o = &a->objects.items[i];
        put(&s, o->kind);
        put(&s, (uint32_t)(o->site + 1));
        put_signed(&s, o->size);
        put(&s, o->flat | o->pooled << 1);
        put(&s, o->locs.n);
        put(&s, o->regions.n);
        for (uint32_t k = 0; k < o->regions.n; k++) {
            const PtRegion *r = &a->regions.items[o->regions.start + k];
            put_signed(&s, r->start);
            put_signed(&s, r->end);
            put_signed(&s, r->stride);
        }
    }
    put(&s, a->locs.len);
    for (size_t i = 0; i < a->locs.len; i++)
        put(&s, a->locs.items[i].offset == ANY ? 0 : (uint64_t)a->locs.items[i].offset + 1);
    put_all(&s, a->content.items, a->content.len);
    put_all(&s, a->slot_set.items, a->slot_set.len);
    put(&s, a->sets.len);
    for (size_t i = 0; i < a->sets.len; i++)
        put_rising(&s, a->members.items + a->sets.items[i].start, a->sets.items[i].n);
    put(&s, a->calls.len);
    for (size_t i = 0; i < a->calls.len; i++) {
        const PtAnswerCall *c = &a->calls.items[i];
        put(&s, c->inst);
        put_all(&s, a->functions.items + c->targets.start, c->targets.n);
        put_all(&s, a->functions.items + c->callbacks.start, c->callbacks.n);
    }
    put_rising(&s, a->outside.items, a->outside.len);
    put_rising(&s, a->wrappers.items, a->wrappers.len);
    put_rising(&s, a->hands_on.items, a->hands_on.len);
    uint64_t sum = hash_bytes(s.data, s.len);
    str_addn(&s, (const char *)&sum, sizeof sum);
    bool ok = file_write(path, s.data, s.len, err);
    str_release(&s);
    return ok;
}

typedef struct In {
    const unsigned char *p, *end;
    bool bad;
} In;

static uint64_t get(In *in)
{
    uint64_t x = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (in->p >= in->end)
            break;
        unsigned char c = *in->p++;
        x |= (uint64_t)(c & 0x7f) << shift;
        if (!(c & 0x80))
            return x;
    }
    in->bad = true;
    return 0;
}

static int64_t get_signed(In *in)
{
    uint64_t x = get(in);

    return (int64_t)(x >> 1) ^ -(int64_t)(x & 1);
}

/* A count of things that take at least a byte each. */
static size_t get_count(In *in)
{
    uint64_t n = get(in);

    if (n > (uint64_t)(in->end - in->p))
        in->bad = true;
    return in->bad ? 0 : n;
}

/* A number below `limit`. */
static uint32_t get_below(In *in, uint64_t limit)
{
    uint64_t x = get(in);

    if (x >= limit)
        in->bad = true;
    return in->bad ? 0 : (uint32_t)x;
}

typedef Vec(uint32_t) Numbers;

static void get_numbers(In *in, void *to, uint64_t limit, bool rising)
{
    Numbers *v = to;
    size_t n = get_count(in);
    uint64_t last = 0;

    for (size_t i = 0; i < n && !in->bad; i++) {
        uint64_t x = get(in);
        last = rising ? last + x : x;
        if (last >= limit)
            in->bad = true;
        else
            vec_push(v, (uint32_t)last);
    }
}

static void get_objects(In *in, PointsTo *a)
{
    size_t n = get_count(in);
    uint32_t loc = 0;

    for (size_t i = 0; i < n && !in->bad; i++) {
        PtAnswerObject o = { .kind = get_below(in, PT_EXTERNAL + 1) };
        o.site = get_below(in, a->v.n + 1) - 1;
        o.size = get_signed(in);
        uint64_t flags = get(in);
        o.flat = flags & 1;
        o.pooled = flags >> 1 & 1;
        o.locs = (PtRange){ loc, get_below(in, UINT32_MAX) };
        loc += o.locs.n;
        o.regions = (PtRange){ (uint32_t)a->regions.len, (uint32_t)get_count(in) };
        for (uint32_t k = 0; k < o.regions.n && !in->bad; k++) {
            PtRegion r = { get_signed(in), get_signed(in), get_signed(in) };
            if (r.stride <= 0)
                in->bad = true;
            vec_push(&a->regions, r);
        }
        vec_push(&a->objects, o);
    }
    size_t nlocs = get_count(in);
    in->bad |= nlocs != loc;
    for (size_t i = 0; i < a->objects.len && !in->bad; i++)
        for (uint32_t k = 0; k < a->objects.items[i].locs.n; k++) {
            uint64_t off = get(in);
            PtLoc l = { (uint32_t)i, off ? (int64_t)(off - 1) : ANY };
            vec_push(&a->locs, l);
        }
}

static void get_sets(In *in, PointsTo *a)
{
    size_t n = get_count(in);

    for (size_t i = 0; i < n && !in->bad; i++) {
        PtRange r = { .start = (uint32_t)a->members.len };
        get_numbers(in, &a->members, a->locs.len, true);
        r.n = (uint32_t)a->members.len - r.start;
        vec_push(&a->sets, r);
    }
    in->bad |= !a->sets.len;
    for (size_t i = 0; i < a->content.len; i++)
        in->bad |= a->content.items[i] >= a->sets.len;
    for (size_t i = 0; i < a->slot_set.len; i++)
        in->bad |= a->slot_set.items[i] >= a->sets.len;
}

static void get_calls(In *in, PointsTo *a)
{
    size_t n = get_count(in);

    for (size_t i = 0; i < n && !in->bad; i++) {
        PtAnswerCall c = { .inst = get_below(in, a->v.n) };
        c.targets.start = (uint32_t)a->functions.len;
        get_numbers(in, &a->functions, a->v.n, false);
        c.callbacks.start = (uint32_t)a->functions.len;
        c.targets.n = c.callbacks.start - c.targets.start;
        get_numbers(in, &a->functions, a->v.n, false);
        c.callbacks.n = (uint32_t)a->functions.len - c.callbacks.start;
        vec_push(&a->calls, c);
    }
}

static bool parse(PointsTo *a, In *in)
{
    PtStats *st = &a->stats;

    if (get(in) != a->v.n || get(in) != a->v.nslots)
        return false;
    size_t *numbers[] = { &st->nodes,    &st->constraints,      &st->edges,
                          &st->waves,    &st->merged,           &st->wrappers,
                          &st->inttoptr, &st->inttoptr_unknown, &st->unknown_externals };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = get(in);
    size_t nnotes = get_count(in);
    for (size_t i = 0; i < nnotes && !in->bad; i++) {
        size_t n = get_count(in);
        if (!in->bad)
            strings_addf(&a->notes, "%.*s", (int)n, (const char *)in->p);
        in->p += n;
    }
    get_objects(in, a);
    get_numbers(in, &a->content, UINT32_MAX, false);
    get_numbers(in, &a->slot_set, UINT32_MAX, false);
    in->bad |= a->content.len != a->locs.len || a->slot_set.len != a->v.nslots;
    get_sets(in, a);
    get_calls(in, a);
    get_numbers(in, &a->outside, a->v.n, true);
    get_numbers(in, &a->wrappers, a->v.n, true);
    get_numbers(in, &a->hands_on, a->v.n, true);
    st->objects = a->objects.len;
    st->locations = a->locs.len;
    st->cached = true;
    return !in->bad && in->p == in->end;
}

bool ptanswer_read(PointsTo *a, const char *path, const char *key)
{
    Str s = { 0 }, first = { 0 };
    uint64_t sum;
    bool ok = false;

    str_addf(&first, MAGIC "%s\n", key);
    if (file_read(path, &s, NULL) && s.len >= first.len + sizeof sum &&
        !memcmp(s.data, first.data, first.len)) {
        size_t n = s.len - sizeof sum;
        memcpy(&sum, s.data + n, sizeof sum);
        In in = { (unsigned char *)s.data + first.len, (unsigned char *)s.data + n, false };
        ok = sum == hash_bytes(s.data, n) && parse(a, &in);
    }
    str_release(&s);
    str_release(&first);
    return ok;
}
