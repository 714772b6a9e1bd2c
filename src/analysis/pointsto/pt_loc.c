/*
 * Objects and locations.
 *
 * A location is an object and an offset. Three things keep their number small:
 *
 * Arrays. Offsets inside a region are the same modulo its stride, so that all
 * elements share their locations. Regions come from the types of variables,
 * from variable indices (p[i] says: from here on there are elements of this
 * size) and from four equal steps in a row (p++ in a loop). When a region
 * comes, locations that exist already are folded together with their cells.
 *
 *     struct { int n; struct { T *a; U *b; } v[8]; } x;
 *     region [8, 136) stride 16:    &x.v[3].b = 8+48+8 = 64  ->  16
 *
 * Somewhere. An offset that isn't known, or that leaves the object, is ANY.
 * The object stays field-sensitive for everybody else: what is stored
 * somewhere (`written`) flows into every cell, what is read somewhere (`all`)
 * comes from every cell.
 *
 * Pools. A store through a pointer to hundreds of heap locations is the mark of a
 * free list (a released object of any kind comes back as another), or of a
 * program's own allocator. Such objects can't be told apart by anybody, so they
 * become one flat object: nothing is lost, and millions of edges are saved.
 *
 * Flat objects. Likewise, objects of any kind that a pointer to thousands of
 * locations may mean lose their fields: a store through it would give all of them
 * the same content, so they share one cell. Their addresses stay apart.
 *
 * Mirrors. memcpy(to, from, n) copies cells at the same distance. Cells of
 * `from` that come into being later are copied when they do.
 */
#include "analysis/pointsto/pt_int.h"
#include <assert.h>

enum { MOST_LOCATIONS = 192, MOST_REGIONS = 64, EQUAL_STEPS = 4 };
#define FAR (INT64_C(1) << 40)

uint32_t pt_object_new(Pt *pt, PtKind kind, LLVMValueRef site, int64_t size)
{
    PtObj *o = vec_grow(&pt->objects);

    o->kind = kind;
    o->site = site;
    o->size = size;
    o->any = o->written = o->all = NONE;
    return (uint32_t)pt->objects.len - 1;
}

uint32_t pt_object_flat(Pt *pt, PtKind kind, LLVMValueRef site)
{
    uint32_t o = pt_object_new(pt, kind, site, -1);

    pt->objects.items[o].flat = true;
    return o;
}

uint32_t pt_object_at(Pt *pt, PtKind kind, LLVMValueRef site, int64_t size)
{
    assert((unsigned)kind < 16);
    uint64_t key = (uint64_t)(uintptr_t)site * 16 + kind;
    uint32_t o = pttable_get(&pt->object_of, key);

    if (o == NONE) {
        o = pt_object_new(pt, kind, site, size);
        pttable_put(&pt->object_of, key, o);
    }
    return o;
}

/* ---- folding arrays */

int64_t pt_fold(const PtRegion *r, size_t n, int64_t offset)
{
    for (size_t i = 0; i < n; i++)
        if (offset >= r[i].start && offset < r[i].end) {
            assert(r[i].stride > 0);
            offset = r[i].start + (offset - r[i].start) % r[i].stride;
        }
    return offset;
}

static int64_t fold(const PtObj *o, int64_t offset)
{
    return pt_fold(o->regions.items, o->regions.len, offset);
}

/* May `r` stand behind the first n regions? Each must hold it in one element,
 * or be apart from it. */
static bool fits(const PtRegion *regions, size_t n, PtRegion *r)
{
    for (size_t i = 0; i < n; i++) {
        const PtRegion *out = &regions[i];
        if (r->end <= out->start || r->start >= out->end)
            continue;
        if (r->start < out->start)
            return false;
        int64_t start = out->start + (r->start - out->start) % out->stride;
        r->end -= r->start - start;
        r->start = start;
        if (r->end > out->start + out->stride)
            return false;
    }
    return true;
}

/* Inserts the region and puts the smaller ones behind it. False, and nothing
 * changed, if they would cross. */
static bool insert_region(PtObj *o, PtRegion r)
{
    Vec(PtRegion) all = { 0 };
    bool done = false, ok = true;

    for (size_t i = 0; i <= o->regions.len && ok; i++) {
        bool last = i == o->regions.len;
        PtRegion x = last ? r : o->regions.items[i];
        if (!done && (last || r.end - r.start >= x.end - x.start)) {
            PtRegion copy = r;
            done = true;
            ok = fits(all.items, all.len, &copy);
            if (ok)
                vec_push(&all, copy);
            if (last)
                break;
        }
        ok = ok && fits(all.items, all.len, &x);
        if (ok)
            vec_push(&all, x);
    }
    if (!ok) {
        vec_release(&all);
        return false;
    }
    vec_release(&o->regions);
    o->regions.items = all.items;
    o->regions.len = all.len;
    o->regions.cap = all.cap;
    return true;
}

static uint32_t loc_at(Pt *pt, uint32_t object, int64_t offset, bool many);
static void mirror_region(Pt *pt, uint32_t object, const PtMirror *m);

static bool add_region(Pt *pt, uint32_t object, PtRegion r)
{
    PtObj *o = &pt->objects.items[object];

    assert(r.stride > 0);
    if (o->size >= 0 && r.end > o->size)
        r.end = o->size;
    if (o->flat || r.start < 0 || r.end - r.start <= r.stride || o->regions.len >= MOST_REGIONS ||
        !insert_region(o, r))
        return false;
    size_t n = o->locs.len;
    for (size_t i = 0; i < n; i++) {
        uint32_t l = pt->objects.items[object].locs.items[i];
        PtLocation old = pt->locs.items[l];
        if (old.offset == ANY || old.canon != l)
            continue;
        int64_t folded = fold(&pt->objects.items[object], old.offset);
        if (folded == old.offset)
            continue;
        uint32_t to = loc_at(pt, object, folded, true);
        if (to == l)
            continue;
        pt->locs.items[l].canon = to;
        if (old.cell != NONE) {
            uint32_t cell = pt->locs.items[to].cell;
            pt->locs.items[to].cell = pt_merge(pt, old.cell, cell);
        }
    }
    for (size_t i = 0; i < pt->objects.items[object].mirrors.len; i++) {
        PtMirror m = pt->objects.items[object].mirrors.items[i];
        mirror_region(pt, object, &m);
    }
    return true;
}

static void shape_at(Pt *pt, uint32_t object, LLVMTypeRef t, int64_t at)
{
    LLVMTargetDataRef td = pt->v->layout;

    if (pt->objects.items[object].regions.len >= MOST_REGIONS)
        return;
    if (LLVMGetTypeKind(t) == LLVMStructTypeKind) {
        for (unsigned i = 0; i < LLVMCountStructElementTypes(t); i++)
            shape_at(pt, object, LLVMStructGetTypeAtIndex(t, i),
                     at + (int64_t)LLVMOffsetOfElement(td, t, i));
    } else if (LLVMGetTypeKind(t) == LLVMArrayTypeKind) {
        LLVMTypeRef e = LLVMGetElementType(t);
        int64_t size = (int64_t)LLVMABISizeOfType(td, e);
        int64_t n = (int64_t)LLVMGetArrayLength2(t);
        if (size > 0 && n > 8 && n < FAR / size)
            add_region(pt, object, (PtRegion){ at, at + n * size, size });
        if (n)
            shape_at(pt, object, e, at);
    }
}

void pt_object_shape(Pt *pt, uint32_t object, LLVMTypeRef type)
{
    if (LLVMTypeIsSized(type))
        shape_at(pt, object, type, 0);
}

/* ---- locations */

/* A new cell takes what was stored somewhere, is part of all, and is copied
 * to where the object was copied. */
static void connect_cell(Pt *pt, uint32_t loc)
{
    PtLocation *l = &pt->locs.items[loc];
    PtObj *o = &pt->objects.items[l->object];
    uint32_t cell = l->cell, object = l->object;
    int64_t offset = l->offset;

    assert(cell != NONE && offset != ANY);
    if (o->written != NONE)
        pt_edge(pt, o->written, cell);
    if (o->all != NONE)
        pt_edge(pt, cell, o->all);
    for (size_t i = 0; i < pt->objects.items[object].mirrors.len; i++) {
        PtMirror m = pt->objects.items[object].mirrors.items[i];
        if (offset < m.from || offset >= m.end)
            continue;
        const PtObj *to = &pt->objects.items[m.to];
        if (to->size >= 0 && (offset + m.shift >= to->size || offset + m.shift < 0))
            continue;
        uint32_t there = pt_loc(pt, m.to, offset + m.shift);
        uint32_t node = pt_write_node(pt, there);
        if (node != NONE)
            pt_edge(pt, cell, node);
    }
}

static uint32_t loc_new(Pt *pt, uint32_t object, int64_t offset)
{
    PtLocation *l = vec_grow(&pt->locs);
    uint32_t id = (uint32_t)pt->locs.len - 1;

    l->object = object;
    l->offset = offset;
    l->canon = id;
    l->cell = NONE;
    vec_push(&pt->objects.items[object].locs, id);
    return id;
}

static uint32_t loc_any(Pt *pt, uint32_t object)
{
    if (pt->objects.items[object].any == NONE) {
        uint32_t l = loc_new(pt, object, ANY);
        pt->objects.items[object].any = l;
    }
    return pt->objects.items[object].any;
}

/* `many`: even if the object has as many as it may have. */
static uint32_t loc_at(Pt *pt, uint32_t object, int64_t offset, bool many)
{
    PtObj *o = &pt->objects.items[object];

    if (o->pooled)
        return pt->objects.items[pt->heap].any;
    if (o->kind == PT_FUNCTION)
        offset = 0;
    if (o->flat || offset == ANY || offset < 0 || offset >= FAR ||
        (o->size >= 0 && offset > o->size))
        return loc_any(pt, object);
    offset = fold(o, offset);
    assert(offset >= 0 && offset < FAR && object < 1u << 24);     /* parts of the key */
    uint64_t key = (uint64_t)object << 40 | (uint64_t)offset;
    uint32_t l = pttable_get(&pt->loc_index, key);
    if (l != NONE)
        return pt_canon(pt, l);
    if (o->locs.len >= MOST_LOCATIONS && !many)
        return loc_any(pt, object);
    l = loc_new(pt, object, offset);
    pttable_put(&pt->loc_index, key, l);
    if (o->kind != PT_FUNCTION) {
        uint32_t cell = pt_node_new(pt);
        pt->locs.items[l].cell = cell;
        connect_cell(pt, l);
    }
    return l;
}

uint32_t pt_loc(Pt *pt, uint32_t object, int64_t offset)
{
    return loc_at(pt, object, offset, false);
}

uint32_t pt_canon(Pt *pt, uint32_t loc)
{
    while (pt->locs.items[loc].canon != loc)
        loc = pt->locs.items[loc].canon;
    return loc;
}

uint32_t pt_shift(Pt *pt, uint32_t loc, int64_t by)
{
    loc = pt_canon(pt, loc);
    PtLocation l = pt->locs.items[loc];

    if (l.offset == ANY || by == 0)
        return loc;
    if (by == ANY || by >= FAR || by <= -FAR)
        return pt_loc(pt, l.object, ANY);
    return pt_loc(pt, l.object, l.offset + by);
}

/* ---- steps of a getelementptr */

/* Does p[i] stay in the region where p is? Not if the elements are as large as
 * the region, which is then only one of them (char a[8][16]). */
static bool stays_inside(const PtRegion *r, const PtStep *st, int64_t stride)
{
    int64_t length = r->end - r->start;

    return stride < length && (st->count < 2 || st->count <= (length + stride - 1) / stride);
}

/* p[i] on elements of `stride` bytes: the location of all elements. */
static uint32_t step_index(Pt *pt, uint32_t loc, const PtStep *st)
{
    PtLocation l = pt->locs.items[loc];
    const PtObj *o = &pt->objects.items[l.object];
    int64_t stride = st->add < 0 ? -st->add : st->add;

    if (l.offset == ANY || stride == 0 || o->kind == PT_FUNCTION)
        return loc;
    for (size_t i = o->regions.len; i-- > 0;) {
        const PtRegion *r = &o->regions.items[i];
        if (l.offset >= r->start && l.offset < r->end && stride % r->stride == 0 &&
            stays_inside(r, st, stride))
            return loc;
    }
    if (o->size >= 0 && stride >= o->size)
        return loc;
    int64_t end = st->count > 1 && st->count < FAR / stride ? l.offset + st->count * stride : FAR;
    if (stride < 8 || !add_region(pt, l.object, (PtRegion){ l.offset, end, stride }))
        return pt_loc(pt, l.object, ANY);
    return pt_canon(pt, loc);
}

/* Were there steps of the same size before, so that it walks through an array?
 * Then its elements are folded. */
static uint32_t step_again(Pt *pt, uint32_t loc, int64_t by)
{
    PtLocation l = pt->locs.items[loc];
    int64_t lowest = l.offset, at = l.offset;
    int seen = 0;

    while (seen < EQUAL_STEPS) {
        at -= by;
        uint64_t key = (uint64_t)l.object << 40 | (uint64_t)at;
        if (at < 0 || pttable_get(&pt->loc_index, key) == NONE)
            break;
        lowest = at < lowest ? at : lowest;
        seen++;
    }
    if (seen == EQUAL_STEPS) {
        PtStep array = { .kind = STEP_INDEX, .add = by };
        uint32_t to = step_index(pt, pt_loc(pt, l.object, lowest), &array);
        if (pt->locs.items[to].offset == ANY)
            return to;
    }
    return pt_shift(pt, loc, by);
}

/* p + k, in elements (of an array, if it is one) or in bytes. */
static uint32_t step_next(Pt *pt, uint32_t loc, int64_t by, bool bytes)
{
    PtLocation l = pt->locs.items[loc];
    const PtObj *o = &pt->objects.items[l.object];
    int64_t width = by < 0 ? -by : by;

    if (l.offset == ANY || by == 0 || o->kind == PT_FUNCTION)
        return loc;
    for (size_t i = o->regions.len; i-- > 0;) {
        const PtRegion *r = &o->regions.items[i];
        if (l.offset < r->start || l.offset >= r->end || width % r->stride ||
            width >= r->end - r->start)
            continue;
        int64_t to = l.offset + by;
        if (!bytes || width < 4 || (to >= r->start && to < r->end))
            return loc;
        /* From the first element it leaves the array downwards, from others
         * it may not. */
        if (to < r->start)
            return pt_loc(pt, l.object, ANY);
    }
    if (width < 4)
        return pt_loc(pt, l.object, ANY);
    return step_again(pt, loc, by);
}

static uint32_t step_align(Pt *pt, uint32_t loc, int64_t align)
{
    PtLocation l = pt->locs.items[loc];

    if (l.offset == ANY || (align <= 16 && l.offset % align == 0))
        return loc;
    return pt_loc(pt, l.object, ANY);
}

/* A field behind the end of the object means: this object is never meant. */
static bool has_field(Pt *pt, uint32_t loc, int64_t at)
{
    PtLocation l = pt->locs.items[loc];
    int64_t size = pt->objects.items[l.object].size;

    return size < 0 || (l.offset == ANY ? 0 : l.offset) + at <= size;
}

bool pt_has_room(Pt *pt, uint32_t loc, int64_t by)
{
    PtLocation l = pt->locs.items[pt_canon(pt, loc)];
    int64_t size = pt->objects.items[l.object].size;
    int64_t at = (l.offset == ANY ? 0 : l.offset) + (by == ANY ? 0 : by);

    return size < 0 || at + 8 <= size;
}

uint32_t pt_step(Pt *pt, uint32_t loc, const PtStep *steps, uint32_t n)
{
    loc = pt_canon(pt, loc);
    for (uint32_t i = 0; i < n; i++) {
        PtStep st = steps[i];
        switch (st.kind) {
        case STEP_ADD:
            if (!has_field(pt, loc, st.add))
                return NONE;
            loc = pt_shift(pt, loc, st.add);
            break;
        case STEP_BYTES:
        case STEP_NEXT: loc = step_next(pt, loc, st.add, st.kind == STEP_BYTES); break;
        case STEP_ALIGN: loc = step_align(pt, loc, st.add); break;
        case STEP_INDEX: loc = step_index(pt, loc, &st); break;
        case STEP_ANY: loc = pt_loc(pt, pt->locs.items[loc].object, ANY); break;
        }
        loc = pt_canon(pt, loc);
    }
    return loc;
}

/* ---- cells */

static uint32_t make_written(Pt *pt, uint32_t object)
{
    if (pt->objects.items[object].written != NONE)
        return pt->objects.items[object].written;
    uint32_t node = pt_node_new(pt);
    pt->objects.items[object].written = node;
    if (pt->objects.items[object].all != NONE)
        pt_edge(pt, node, pt->objects.items[object].all);
    for (size_t i = 0; i < pt->objects.items[object].locs.len; i++) {
        uint32_t l = pt->objects.items[object].locs.items[i];
        if (pt->locs.items[l].cell != NONE)
            pt_edge(pt, node, pt->locs.items[l].cell);
    }
    for (size_t i = 0; i < pt->objects.items[object].mirrors.len; i++) {
        uint32_t to = pt->objects.items[object].mirrors.items[i].to;
        pt_edge(pt, node, pt_write_node(pt, pt_loc(pt, to, ANY)));
    }
    return node;
}

static uint32_t make_all(Pt *pt, uint32_t object)
{
    if (pt->objects.items[object].all != NONE)
        return pt->objects.items[object].all;
    if (pt->objects.items[object].flat) {
        uint32_t node = make_written(pt, object);
        pt->objects.items[object].all = node;
        return node;
    }
    uint32_t node = pt_node_new(pt);
    pt->objects.items[object].all = node;
    if (pt->objects.items[object].written != NONE)
        pt_edge(pt, pt->objects.items[object].written, node);
    for (size_t i = 0; i < pt->objects.items[object].locs.len; i++) {
        uint32_t l = pt->objects.items[object].locs.items[i];
        if (pt->locs.items[l].cell != NONE)
            pt_edge(pt, pt->locs.items[l].cell, node);
    }
    return node;
}

uint32_t pt_read_node(Pt *pt, uint32_t loc)
{
    loc = pt_canon(pt, loc);
    PtLocation l = pt->locs.items[loc];

    if (pt->objects.items[l.object].kind == PT_FUNCTION)
        return NONE;
    return l.offset == ANY ? make_all(pt, l.object) : l.cell;
}

uint32_t pt_write_node(Pt *pt, uint32_t loc)
{
    loc = pt_canon(pt, loc);
    PtLocation l = pt->locs.items[loc];
    const PtObj *o = &pt->objects.items[l.object];

    if (o->kind == PT_FUNCTION || o->constant)
        return NONE;
    return l.offset == ANY ? make_written(pt, l.object) : l.cell;
}

/* ---- copying memory */

static void copy_somewhere(Pt *pt, uint32_t to, uint32_t from)
{
    uint32_t r = pt_read_node(pt, pt_loc(pt, from, ANY));
    uint32_t w = pt_write_node(pt, pt_loc(pt, to, ANY));

    if (r != NONE && w != NONE)
        pt_edge(pt, r, w);
}

/* The destination must fold where the source does, or it would miss elements. */
static void mirror_region(Pt *pt, uint32_t object, const PtMirror *m)
{
    for (size_t i = 0; i < pt->objects.items[object].regions.len; i++) {
        PtRegion r = pt->objects.items[object].regions.items[i];
        if (r.end <= m->from || r.start >= m->end || m->to == object)
            continue;
        if (r.end > m->end)
            r.end = m->end;
        while (r.start < m->from)
            r.start += r.stride;
        r.start += m->shift;
        r.end += m->shift;
        const PtObj *to = &pt->objects.items[m->to];
        if (to->flat || r.end - r.start <= r.stride ||
            (to->size >= 0 && to->size - r.start <= r.stride))
            continue;
        int64_t probe = fold(to, r.start), next = fold(to, r.start + r.stride);
        if (probe != next && !add_region(pt, m->to, r)) {
            copy_somewhere(pt, m->to, object);
            return;
        }
    }
}

/* Copying from the middle of an element on: the fields before the middle come
 * with the next element. */
static void mirror_next_element(Pt *pt, const PtLocation *to, const PtLocation *from, int64_t bytes)
{
    const PtObj *src = &pt->objects.items[from->object];

    for (size_t i = src->regions.len; i-- > 0;) {
        PtRegion r = src->regions.items[i];
        int64_t rest = r.start + r.stride - from->offset;
        if (from->offset <= r.start || from->offset >= r.start + r.stride ||
            (bytes > 0 && bytes <= rest))
            continue;
        uint32_t there = pt_loc(pt, to->object, to->offset + rest);
        pt_mirror(pt, there, pt_loc(pt, from->object, r.start), bytes > 0 ? bytes - rest : 0);
        return;
    }
}

void pt_mirror(Pt *pt, uint32_t to_loc, uint32_t from_loc, int64_t bytes)
{
    PtLocation to = pt->locs.items[pt_canon(pt, to_loc)];
    PtLocation from = pt->locs.items[pt_canon(pt, from_loc)];
    PtObj *src = &pt->objects.items[from.object];

    if (src->kind == PT_FUNCTION || pt->objects.items[to.object].kind == PT_FUNCTION ||
        pt->objects.items[to.object].constant)
        return;
    if (to.object == from.object && to.offset == from.offset)
        return;
    if (to.offset == ANY || from.offset == ANY || to.object == from.object || src->flat ||
        src->mirrors.len > 2000) {
        copy_somewhere(pt, to.object, from.object);
        return;
    }
    PtMirror m = { to.object, from.offset, to.offset - from.offset,
                   bytes > 0 ? from.offset + bytes : FAR };
    for (size_t i = 0; i < src->mirrors.len; i++) {
        PtMirror *old = &src->mirrors.items[i];
        if (old->to == m.to && old->from == m.from && old->shift == m.shift && old->end >= m.end)
            return;
    }
    vec_push(&src->mirrors, m);
    mirror_region(pt, from.object, &m);
    mirror_next_element(pt, &to, &from, bytes);
    if (pt->objects.items[from.object].written != NONE)
        pt_edge(pt, pt->objects.items[from.object].written,
                pt_write_node(pt, pt_loc(pt, to.object, ANY)));
    size_t n = pt->objects.items[from.object].locs.len;
    for (size_t i = 0; i < n; i++) {
        uint32_t l = pt->objects.items[from.object].locs.items[i];
        PtLocation x = pt->locs.items[l];
        if (x.offset == ANY || x.canon != l || x.offset < m.from || x.offset >= m.end)
            continue;
        const PtObj *dst = &pt->objects.items[to.object];
        if (dst->size >= 0 && (x.offset + m.shift >= dst->size || x.offset + m.shift < 0))
            continue;
        uint32_t w = pt_write_node(pt, pt_loc(pt, to.object, x.offset + m.shift));
        if (w != NONE)
            pt_edge(pt, x.cell, w);
    }
}

/* ---- pools and flat objects */

/* All cells of the object become `node`, all its locations `any`. */
static void join(Pt *pt, uint32_t object, uint32_t any, uint32_t node)
{
    PtObj *o = &pt->objects.items[object];
    uint32_t into = pt->locs.items[any].object;

    assert(pt->locs.items[any].offset == ANY && node != NONE);
    o->flat = true;
    if (o->written != NONE)
        pt_merge(pt, o->written, node);
    if (o->all != NONE)
        pt_merge(pt, o->all, node);
    o->written = o->all = node;
    for (size_t i = 0; i < o->locs.len; i++) {
        PtLocation *l = &pt->locs.items[o->locs.items[i]];
        l->canon = any;
        if (l->cell != NONE)
            pt_merge(pt, l->cell, node);
    }
    for (size_t i = 0; i < pt->objects.items[object].mirrors.len; i++)
        copy_somewhere(pt, pt->objects.items[object].mirrors.items[i].to, into);
}

/* Members that have become the same location are one again. A location that
 * is new in the set is also new to successors and constraints. */
static void rename_members(Pt *pt, uint32_t node)
{
    PtNode *n = &pt->nodes.items[node];
    PtBits out = { 0 }, added = { 0 };
    bool changed = false;

    for (PtIter i = ptbits_first(&n->pts); i.on; ptbits_next(&i)) {
        uint32_t l = pt_canon(pt, i.x);
        changed |= l != i.x;
        ptbits_add(&out, l);
        if (l != i.x && !ptbits_has(&n->pts, l))
            ptbits_add(&added, l);
    }
    if (!changed) {
        ptbits_release(&out);
        return;
    }
    ptbits_release(&n->pts);
    n->pts = out;
    PtBits *rest[] = { &n->fresh, &n->todo };
    for (int k = 0; k < 2; k++) {
        PtBits renamed = { 0 };
        for (PtIter i = ptbits_first(rest[k]); i.on; ptbits_next(&i))
            ptbits_add(&renamed, pt_canon(pt, i.x));
        if (k ? n->constraints.len : n->succs.len)
            ptbits_union(&renamed, &added, NULL);
        ptbits_release(rest[k]);
        *rest[k] = renamed;
    }
    if (added.len)
        pt_changed(pt, node);
    ptbits_release(&added);
}

static void rename_all(Pt *pt)
{
    for (uint32_t i = 0; i < pt->nodes.len; i++)
        if (pt->nodes.items[i].rep == i && pt->nodes.items[i].pts.len)
            rename_members(pt, i);
}

static void pool(Pt *pt, uint32_t object)
{
    assert(pt->objects.items[object].kind == PT_HEAP && object != pt->heap);
    if (pt->heap == NONE) {
        pt->heap = pt_object_flat(pt, PT_HEAP, NULL);
        loc_any(pt, pt->heap);
    }
    uint32_t any = pt->objects.items[pt->heap].any;
    join(pt, object, any, pt_read_node(pt, any));
    pt->objects.items[object].pooled = true;
}

static void flatten(Pt *pt, uint32_t object)
{
    uint32_t any = loc_any(pt, object);

    if (pt->swamp == NONE)
        pt->swamp = pt_node_new(pt);
    pt->objects.items[object].regions.len = 0;
    join(pt, object, any, pt->swamp);
}

void pt_give_up_fields(Pt *pt, const uint32_t *objects, size_t n, bool pools)
{
    for (size_t i = 0; i < n; i++) {
        const PtObj *o = &pt->objects.items[objects[i]];
        if (pools && o->kind == PT_HEAP && !o->pooled && objects[i] != pt->heap)
            pool(pt, objects[i]);
        else if (!pools && !o->flat)
            flatten(pt, objects[i]);
    }
    rename_all(pt);
}
