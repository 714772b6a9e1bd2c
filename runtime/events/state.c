/*
 * The state of a program between two events: objects, their bytes before the last
 * event, what the event did to them.
 *
 * Objects are found from the roots (variables, waiting functions' locals): each
 * word that points into a live block of the heap leads to that block. They are numbered in
 * the order in which they are found, so two heaps of the same shape have
 * the same numbers whatever their addresses are, and blocks that nobody can reach
 * don't count. The hash is over bytes in which pointers into objects are replaced by number and offset.
 *
 *     before the last event    objects[], copies of their bytes, a byte of marks for each byte
 *     accesses                 marks: read before written, written. x += 1 is no read, but what
 *                              is read behind it is still a value from before
 *     behind it                bytes that differ are changed; new objects are changed as a whole
 */
#include "runtime/events/events.h"
#include "runtime/heap/pages.h"
#include "runtime/monitor/monitor_int.h"
#include <features.h>
#include <string.h>

enum { MOST_OBJECTS = 1 << 16, MOST_BYTES = 64 << 20, MOST_LOCALS = 4096, MOST_JUMPS = 64 };

struct object {
    uint64_t at, size;
    uint64_t copy;                     /* where its bytes are in copies[] and marks[] */
    uint32_t id;
};

/* Objects of one moment. `order` is by address. */
struct objects {
    struct object *all;
    uint32_t *order;
    uint32_t n;
    uint64_t bytes;
    bool too_many;
};

static struct objects was, is;
static uint8_t *copies, *marks;
static bool watching;

static struct sundew_event_object locals[MOST_LOCALS];
static uint32_t nlocals, lost_locals;

/* ---- locals */

void sundew_event_local(void *at, uint64_t size)
{
    if (nlocals < MOST_LOCALS)
        locals[nlocals++] = (struct sundew_event_object){ at, size };
    else
        lost_locals++;
}

void sundew_event_leave(uint32_t n)
{
    uint32_t lost = n < lost_locals ? n : lost_locals;
    lost_locals -= lost;
    n -= lost;
    nlocals -= n < nlocals ? n : nlocals;
}

/* ---- jump buffers */

static uint64_t jumps[MOST_JUMPS];
static uint32_t jump_locals[MOST_JUMPS];   /* locals that there were at setjmp() */
static uint32_t njumps;

static uint32_t jump_of(const void *buffer)
{
    uint32_t i = 0;
    while (i < njumps && jumps[i] != (uintptr_t)buffer)
        i++;
    return i;
}

void sundew_event_jump(const void *buffer)
{
    uint32_t i = jump_of(buffer);
    if (i == MOST_JUMPS)
        return;
    njumps += i == njumps;
    jumps[i] = (uintptr_t)buffer;
    jump_locals[i] = nlocals;
}

/* The locals of functions that the jump has left are no more. */
void sundew_event_landed(const void *buffer)
{
    uint32_t i = jump_of(buffer);
    if (i < njumps && nlocals > jump_locals[i])
        nlocals = jump_locals[i];
}

/* setjmp() hides the frame, the stack and the place with a secret that is another one at each start;
 * they are the second, seventh and eighth word. */
static uint64_t unhide(uint64_t at, uint64_t v)
{
#if defined __x86_64__ && defined __GLIBC__
    for (uint32_t i = 0; i < njumps; i++) {
        uint64_t word = (at - jumps[i]) / 8, secret;
        if (word != 1 && word != 6 && word != 7)
            continue;
        __asm__("movq %%fs:0x30, %0" : "=r"(secret));
        return (v >> 17 | v << 47) ^ secret;
    }
#endif
    (void)at;
    return v;
}

/* ---- which objects there are */

static bool make_room(struct objects *o)
{
    if (!o->all) {
        o->all = sundew_pages(MOST_OBJECTS * sizeof *o->all);
        o->order = sundew_pages(MOST_OBJECTS * sizeof *o->order);
    }
    if (!copies) {
        copies = sundew_pages(MOST_BYTES);
        marks = sundew_pages(MOST_BYTES);
    }
    return o->all && o->order && copies && marks;
}

/* The place in `order` of the first object at or behind `at`. */
static uint32_t place_of(const struct objects *o, uint64_t at)
{
    uint32_t low = 0, high = o->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (o->all[o->order[mid]].at < at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The object that an address lies in; NULL: none. */
static struct object *object_at(const struct objects *o, uint64_t at)
{
    uint32_t i = place_of(o, at);
    if (i < o->n && o->all[o->order[i]].at == at)
        return &o->all[o->order[i]];
    if (!i)
        return NULL;
    struct object *before = &o->all[o->order[i - 1]];
    return at - before->at < before->size ? before : NULL;
}

static void add(struct objects *o, uint64_t at, uint64_t size, uint32_t id)
{
    if (!size || object_at(o, at))
        return;
    if (o->n >= MOST_OBJECTS || size > MOST_BYTES - o->bytes) {
        o->too_many = true;
        return;
    }
    uint32_t i = place_of(o, at);
    memmove(&o->order[i + 1], &o->order[i], (o->n - i) * sizeof *o->order);
    o->order[i] = o->n;
    o->all[o->n++] = (struct object){ at, size, o->bytes, id };
    o->bytes += size;
}

static bool looks_like_heap(uint64_t v) { return v >= 4096 && v < 1ull << 47; }

/* Blocks that the object's words lead to. */
static void follow(struct objects *o, const struct object *from, uint32_t *blocks)
{
    SundewExtent e;
    uint64_t first = (from->at + 7) & ~7ull;
    for (uint64_t p = first; p + 8 <= from->at + from->size && !o->too_many; p += 8) {
        uint64_t v;
        memcpy(&v, (const void *)(uintptr_t)p, 8);
        if (looks_like_heap(v) && !object_at(o, v) && sundew_extent_at(v, &e) && !e.freed &&
            v - e.start < e.size)
            add(o, e.start, e.size, SUNDEW_EVENT_HEAP + (*blocks)++);
    }
}

static void collect(struct objects *o)
{
    uint32_t blocks = 0;
    o->n = 0;
    o->bytes = 0;
    o->too_many = lost_locals > 0;
    if (!make_room(o)) {
        o->too_many = true;
        return;
    }
    for (uint64_t i = 0; i < sundew_event_nobjects; i++)
        add(o, (uintptr_t)sundew_event_objects[i].at, sundew_event_objects[i].size, (uint32_t)i);
    for (uint32_t i = 0; i < nlocals; i++)
        add(o, (uintptr_t)locals[i].at, locals[i].size, SUNDEW_EVENT_LOCAL + i);
    for (uint32_t i = 0; i < o->n; i++)
        follow(o, &o->all[i], &blocks);
    if (o->too_many)
        sundew_events->hidden |= SUNDEW_EVENT_TOO_LARGE;
}

/* ---- hash */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0xff51afd7ed558ccdull;
    return h ^ h >> 32;
}

static bool is_ignored(uint32_t object, uint64_t offset)
{
    const struct sundew_events *e = sundew_events;
    uint32_t n = e->nignored < SUNDEW_EVENTS_IGNORED ? e->nignored : SUNDEW_EVENTS_IGNORED;
    for (uint32_t i = 0; i < n; i++) {
        const struct sundew_event_location *l = &e->ignored[i];
        if (l->object == object && offset - l->offset < l->size)
            return true;
    }
    return false;
}

static bool has_ignored(uint32_t object)
{
    const struct sundew_events *e = sundew_events;
    uint32_t n = e->nignored < SUNDEW_EVENTS_IGNORED ? e->nignored : SUNDEW_EVENTS_IGNORED;
    for (uint32_t i = 0; i < n; i++)
        if (e->ignored[i].object == object)
            return true;
    return false;
}

static uint64_t word_of(const struct objects *o, const struct object *x, uint64_t at, bool holes)
{
    uint64_t v = 0, left = x->at + x->size - at;
    unsigned n = left < 8 ? (unsigned)left : 8;
    uint8_t *byte = (uint8_t *)&v;
    memcpy(&v, (const void *)(uintptr_t)at, n);
    if (n == 8 && njumps)
        v = unhide(at, v);
    for (unsigned i = 0; holes && i < n; i++)
        if (is_ignored(x->id, at + i - x->at))
            byte[i] = 0;
    const struct object *to = n == 8 && looks_like_heap(v) ? object_at(o, v) : NULL;
    return to ? mix(0x706f696e74657200ull + (uint64_t)(to - o->all), v - to->at) : v;
}

static uint64_t hash_of(const struct objects *o)
{
    uint64_t h = 0x73746174ull;
    for (uint32_t i = 0; i < o->n; i++) {
        const struct object *x = &o->all[i];
        bool holes = has_ignored(x->id);
        h = mix(mix(h, i), x->size);
        uint64_t at = x->at, end = x->at + x->size;
        if (at & 7) { /* words are where the program has them */
            for (; at < end && (at & 7); at++) {
                uint8_t b = *(const uint8_t *)(uintptr_t)at;
                h = mix(h, holes && is_ignored(x->id, at - x->at) ? 0 : b);
            }
        }
        for (; at < end; at += 8)
            h = mix(h, word_of(o, x, at, holes));
    }
    return h;
}

/* ---- before and behind the last event */

void sundew_state_before(void)
{
    struct sundew_events *e = sundew_events;
    collect(&was);
    for (uint32_t i = 0; i < was.n; i++)
        memcpy(copies + was.all[i].copy, (const void *)(uintptr_t)was.all[i].at, was.all[i].size);
    e->before = hash_of(&was);
    e->nlocations = 0;
    watching = true;
}

static void tell_object(const struct object *o)
{
    const uint8_t *m = marks + o->copy;
    for (uint64_t i = 0; i < o->size;) {
        uint64_t from = i;
        while (i < o->size && m[i] == m[from])
            i++;
        uint32_t how = m[from] & ~(uint32_t)SUNDEW_EVENT_UPDATED;
        if (how && !sundew_event_tell(o->id, from, i - from, how))
            return;
    }
}

/* A block that is no more, or that nothing leads to, is a change too: pointers to it stay as they are. */
static void compare_gone(const struct object *old)
{
    const struct object *o = object_at(&is, old->at);
    if (!o || o->at != old->at || o->size != old->size)
        memset(marks + old->copy, SUNDEW_EVENT_CHANGED | SUNDEW_EVENT_TOUCHED, old->size);
}

/* Marks bytes that differ; an object that is new is told as a whole. */
static void compare(const struct object *now)
{
    struct object *o = object_at(&was, now->at);
    if (!o || o->at != now->at || o->size != now->size) {
        sundew_event_tell(SUNDEW_EVENT_BORN + now->id, 0, now->size, SUNDEW_EVENT_CHANGED);
        return;
    }
    const uint8_t *old = copies + o->copy, *new = (const uint8_t *)(uintptr_t)now->at;
    uint8_t *m = marks + o->copy;
    if (memcmp(old, new, o->size) == 0)
        return;
    for (uint64_t i = 0; i < o->size; i++)
        if (old[i] != new[i])
            m[i] |= SUNDEW_EVENT_CHANGED;
}

void sundew_state_after(void)
{
    struct sundew_events *e = sundew_events;
    watching = false;
    collect(&is);
    e->after = hash_of(&is);
    e->objects = is.n;
    e->bytes = is.bytes;
    if (sundew_event_labels) {
        for (uint32_t i = 0; i < is.n; i++)
            sundew_event_labels(is.all[i].id, (const void *)(uintptr_t)is.all[i].at,
                                is.all[i].size);
        sundew_event_labels_end();
        return;
    }
    for (uint32_t i = 0; i < is.n; i++)
        compare(&is.all[i]);
    for (uint32_t i = 0; i < was.n; i++)
        compare_gone(&was.all[i]);
    for (uint32_t i = 0; i < was.n; i++)
        tell_object(&was.all[i]);
}

/* ---- accesses */

static void mark(const struct object *o, uint64_t at, uint64_t n, uint32_t how)
{
    uint8_t *m = marks + o->copy + (at - o->at);
    if (n > o->at + o->size - at)
        n = o->at + o->size - at;
    for (uint64_t i = 0; i < n; i++)
        if (how == SUNDEW_EVENT_TOUCHED)
            m[i] = (uint8_t)((m[i] | SUNDEW_EVENT_TOUCHED) & ~SUNDEW_EVENT_UPDATED);
        else if (how == SUNDEW_EVENT_UPDATED)
            m[i] |= m[i] & SUNDEW_EVENT_TOUCHED ? 0 : SUNDEW_EVENT_TOUCHED | SUNDEW_EVENT_UPDATED;
        else if (!(m[i] & SUNDEW_EVENT_TOUCHED) || (m[i] & SUNDEW_EVENT_UPDATED))
            m[i] |= SUNDEW_EVENT_READ;
}

void sundew_event_access(const void *at, uint64_t size, uint32_t how)
{
    if (!watching)
        return;
    const struct object *o = object_at(&was, (uintptr_t)at);
    if (o && size)
        mark(o, (uintptr_t)at, size, how);
}

void sundew_event_object(const void *at, uint32_t how)
{
    if (!watching)
        return;
    const struct object *o = object_at(&was, (uintptr_t)at);
    if (o && (how & SUNDEW_EVENT_READ))
        mark(o, o->at, o->size, SUNDEW_EVENT_READ);
    if (o && (how & SUNDEW_EVENT_TOUCHED))
        mark(o, o->at, o->size, SUNDEW_EVENT_TOUCHED);
}
