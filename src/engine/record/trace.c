/*
 * All streams of a folder are read at once and merged by event number. While
 * they go by, a map of what is allocated is kept for each process, so that an
 * address in an event becomes an object and an offset: (process, address) alone
 * would name whatever had been there before, too.
 *
 * Streams may end anywhere and hold anything: every number is checked before it
 * is used, and a stream that makes no sense ends where it stops making sense.
 */
#include "engine/record/trace.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "engine/record/intervals.h"
#include "runtime/format/tracefile.h"
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SLOTS = 4096, MOST_MEMORY = 1 << 20 };

typedef struct Process {
    uint32_t pid;
    unsigned number;
    uint64_t begun;              /* another program in it begins another one here */
    uint64_t slide;
    Intervals live;              /* of TraceObject */
    bool symbols;                /* its variables are in `live` */
    Intervals code;              /* of Function, one byte each */
} Process;

typedef struct OpenCall {
    uint64_t number;
    const Function *fn;
} OpenCall;

typedef struct Stream {
    char *path;
    Str data;
    size_t at;
    Process *process;
    unsigned thread;
    uint64_t last;               /* number of the event before */
    uint64_t next;               /* number of the one at `at`; 0: none */
    bool ended;                  /* it said END */
    Vec(OpenCall) calls;
} Stream;

struct Trace {
    const Program *p;
    const Variable *variables;
    size_t nvariables;
    const Function **functions;  /* by index */
    size_t nfunctions;
    const Type *const *types;
    size_t ntypes;
    Vec(Process *) processes;
    Vec(Stream *) streams;
    Vec(Stream *) heap;          /* those with more to come */
    Str symbols;                 /* of SundewSymbol */
    Arena objects;
    uint32_t nobjects;
    size_t cut;
    unsigned seen;               /* processes so far */
    size_t foreign;              /* streams of other programs */
    Arena a;                     /* of the current event */
    Event e;
    const Process *at;           /* … of which process */
};

const char *event_kind_name(EventKind k)
{
    static const char *const names[] = { "call", "return", "alloc", "free", "end" };
    assert(k < sizeof names / sizeof *names);
    return names[k];
}

/* ---- reading numbers */

typedef struct Cursor {
    const uint8_t *p, *end;
    bool bad;
} Cursor;

static uint64_t varint(Cursor *c)
{
    uint64_t x = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (c->p == c->end)
            break;
        uint8_t b = *c->p++;
        x |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80))
            return x;
    }
    c->bad = true;
    return 0;
}

static int64_t signed_varint(Cursor *c)
{
    uint64_t x = varint(c);
    return (int64_t)(x >> 1) ^ -(int64_t)(x & 1);
}

static const uint8_t *take(Cursor *c, uint64_t n)
{
    if (n > (uint64_t)(c->end - c->p)) {
        c->bad = true;
        return NULL;
    }
    const uint8_t *p = c->p;
    c->p += n;
    return p;
}

/* ---- streams */

/* The event at s->at: its tag and payload. False: there is none. */
static bool event_at(const Stream *s, uint8_t *tag, Cursor *payload, size_t *after)
{
    const uint8_t *data = (const uint8_t *)s->data.data;
    Cursor c = { data + s->at, data + s->data.len, false };
    const uint8_t *t = take(&c, 1);

    if (!t || !*t || *t > SUNDEW_TRACE_END)
        return false;
    uint64_t n = varint(&c);
    const uint8_t *body = take(&c, n);
    if (c.bad)
        return false;
    *tag = *t;
    *payload = (Cursor){ body, body + n, false };
    *after = (size_t)(c.p - data);
    return true;
}

/* Looks at the number of the next event without taking it. */
static void stream_peek(Stream *s)
{
    uint8_t tag;
    Cursor c;
    size_t after;

    s->next = 0;
    if (!event_at(s, &tag, &c, &after))
        return;
    uint64_t step = varint(&c);
    if (c.bad || step == 0 || s->last + step < s->last)
        return;
    s->next = s->last + step;
}

static Process *process_of(Trace *t, const SundewStreamHeader *h)
{
    for (size_t i = 0; i < t->processes.len; i++)
        if (t->processes.items[i]->pid == h->pid && t->processes.items[i]->begun == h->begun)
            return t->processes.items[i];
    Process *p = xcalloc(1, sizeof *p);
    p->pid = h->pid;
    p->begun = h->begun;
    p->slide = h->slide;
    vec_push(&t->processes, p);
    return p;
}

static void stream_free(Stream *s)
{
    if (!s)
        return;
    str_release(&s->data);
    vec_release(&s->calls);
    free(s->path);
    free(s);
}

#define MOST_STREAM (8ull << 30)

/* NULL with no error: the process died before the header was complete, or it ran
 * another program. */
static Stream *stream_open(Trace *t, const char *path, const char *key, Err *err)
{
    Stream *s = xcalloc(1, sizeof *s);
    SundewStreamHeader h;

    s->path = xstrdup(path);
    if (!file_read_left(path, MOST_STREAM, &s->data, err))
        goto fail;
    if (s->data.len < sizeof h || !*s->data.data)
        goto fail;
    memcpy(&h, s->data.data, sizeof h);
    if (memcmp(h.magic, SUNDEW_STREAM_MAGIC, sizeof h.magic) != 0) {
        err_set(err, "%s: not a stream of a trace", path);
        goto fail;
    }
    if (h.version != SUNDEW_STREAM_VERSION) {
        err_set(err,
                "%s: version %" PRIu32 " of the trace format; this Sundew reads %d: "
                "record it again",
                path, h.version, SUNDEW_STREAM_VERSION);
        goto fail;
    }
    if (h.bytes < sizeof h || h.bytes > s->data.len || h.textlen > h.bytes - sizeof h ||
        h.thread == UINT32_MAX) {
        err_set(err, "%s: damaged header", path);
        goto fail;
    }
    const char *text = s->data.data + sizeof h;
    size_t n = strcspn(key, "\n");
    if (h.textlen < n + 1 || memcmp(text, key, n) != 0 || text[n] != '\n') {
        t->foreign++;
        goto fail;
    }
    s->at = h.bytes;
    s->last = h.born;
    s->thread = h.thread;
    s->process = process_of(t, &h);
    stream_peek(s);
    return s;

fail:
    stream_free(s);
    return NULL;
}

static bool read_symbols(Trace *t, const char *folder, Err *err)
{
    char *name = xprintf("%s.symbols", program_key(t->p));
    char *path = path_join(folder, name);
    bool ok = !file_exists(path) || file_read_left(path, MOST_STREAM, &t->symbols, err);
    free(name);
    free(path);
    return ok;
}

/* The streams that have more are a heap, the earliest event on top. */
static void sift(Trace *t, size_t i)
{
    Stream **heap = t->heap.items;

    for (;;) {
        size_t least = i, l = 2 * i + 1;
        for (size_t k = l; k < l + 2 && k < t->heap.len; k++)
            if (heap[k]->next < heap[least]->next)
                least = k;
        if (least == i)
            return;
        Stream *s = heap[i];
        heap[i] = heap[least];
        heap[least] = s;
        i = least;
    }
}

static void heap_make(Trace *t)
{
    for (size_t i = 0; i < t->streams.len; i++)
        if (t->streams.items[i]->next)
            vec_push(&t->heap, t->streams.items[i]);
    for (size_t i = t->heap.len / 2; i-- > 0;)
        sift(t, i);
}

/* The stream on top has moved on. */
static void heap_settle(Trace *t)
{
    if (!t->heap.items[0]->next)
        t->heap.items[0] = t->heap.items[--t->heap.len];
    sift(t, 0);
}

Trace *trace_open(const char *folder, const Program *p, Err *err)
{
    Trace *t = xcalloc(1, sizeof *t);
    Strings names = { 0 };
    const Function *const *fns;
    size_t n;
    const char *key = program_key(p);

    t->p = p;
    t->variables = program_variables(p, &t->nvariables);
    t->types = types_all(program_types(p), &t->ntypes);
    fns = program_functions(p, &n);
    t->nfunctions = program_index_limit(p);
    t->functions = xcalloc(t->nfunctions + 1, sizeof *t->functions);
    for (size_t i = 0; i < n; i++)
        t->functions[fns[i]->index] = fns[i];
    if (!dir_list(folder, &names, err))
        goto fail;
    for (size_t i = 0; i < names.len; i++) {
        if (!str_ends(names.items[i], ".stream"))
            continue;
        char *path = path_join(folder, names.items[i]);
        Err e = { 0 };
        size_t foreign = t->foreign;
        Stream *s = stream_open(t, path, key, &e);
        free(path);
        if (!s && *e.msg) {
            err_set(err, "%s", e.msg);
            goto fail;
        }
        if (s)
            vec_push(&t->streams, s);
        else if (t->foreign == foreign)
            t->cut++;
    }
    if (!t->streams.len) {
        err_set(err, t->foreign ? "recorded from another program, or another build of "
                                  "it; record it again"
                                : "holds no trace");
        goto fail;
    }
    if (!read_symbols(t, folder, err))
        goto fail;
    strings_release(&names);
    heap_make(t);
    return t;

fail:
    strings_release(&names);
    trace_close(t);
    err_ctx(err, "trace %s", folder);
    return NULL;
}

const Program *trace_program(const Trace *t) { return t->p; }

void trace_close(Trace *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->streams.len; i++)
        stream_free(t->streams.items[i]);
    vec_release(&t->streams);
    vec_release(&t->heap);
    for (size_t i = 0; i < t->processes.len; i++) {
        intervals_release(&t->processes.items[i]->live);
        intervals_release(&t->processes.items[i]->code);
        free(t->processes.items[i]);
    }
    vec_release(&t->processes);
    str_release(&t->symbols);
    free(t->functions);
    arena_release(&t->objects);
    arena_release(&t->a);
    free(t);
}

/* ---- objects */

static TraceObject *object_new(Trace *t, Process *p, uint64_t address, uint64_t size)
{
    TraceObject *o = arena_new(&t->objects, TraceObject);

    o->id = ++t->nobjects;
    o->address = address;
    o->size = size;
    o->born = t->e.number;
    TraceObject *old = intervals_find(&p->live, address);
    if (old && old->kind != OBJECT_VARIABLE)
        old->died = t->e.number;
    intervals_put(&p->live, address, size, o);
    return o;
}

static const Function *function_of(const Trace *t, uint64_t id)
{
    return id && id <= t->nfunctions ? t->functions[id - 1] : NULL;
}

/* The variables and functions of a process, when it first shows up. */
static void add_symbols(Trace *t, Process *p)
{
    size_t n = t->symbols.len / sizeof(SundewSymbol);

    p->symbols = true;
    for (size_t i = 0; i < n; i++) {
        SundewSymbol s;
        memcpy(&s, t->symbols.data + i * sizeof s, sizeof s);
        const Function *fn = function_of(t, s.function);
        if (fn)
            intervals_put(&p->code, s.address + p->slide, 1, (void *)fn);
        if (s.variable == 0 || s.variable > t->nvariables || s.size > INT64_MAX)
            continue;
        TraceObject *o = object_new(t, p, s.address + p->slide, s.size);
        o->kind = OBJECT_VARIABLE;
        o->variable = &t->variables[s.variable - 1];
        o->born = 0;
    }
}

/* ---- events */

static const Type *type_of(const Trace *t, uint64_t id)
{
    return id && id <= t->ntypes ? t->types[id - 1] : NULL;
}

static void read_memory(Trace *t, Cursor *c)
{
    uint64_t n = varint(c), address = 0;

    if (n > MOST_MEMORY || n > (uint64_t)(c->end - c->p)) {
        c->bad = true;
        return;
    }
    TraceMemory *m = arena_array(&t->a, TraceMemory, n);
    for (uint64_t i = 0; i < n && !c->bad; i++) {
        address += (uint64_t)signed_varint(c);
        m[i].address = address;
        m[i].total = varint(c);
        m[i].type = type_of(t, varint(c));
        m[i].n = varint(c);
        m[i].bytes = take(c, m[i].n);
    }
    t->e.memory = m;
    t->e.nmemory = c->bad ? 0 : n;
}

static uint64_t *read_slots(Trace *t, Cursor *c, uint64_t *n)
{
    *n = varint(c);
    if (*n > MOST_SLOTS || *n > (uint64_t)(c->end - c->p)) {
        c->bad = true;
        *n = 0;
    }
    uint64_t *slots = arena_array(&t->a, uint64_t, *n + 1);
    for (uint64_t i = 0; i < *n; i++)
        slots[i] = varint(c);
    return slots;
}

static void read_rest(Trace *t, const Process *p, Cursor *c)
{
    uint64_t n = varint(c);

    if (n > SUNDEW_MOST_REST || n > (uint64_t)(c->end - c->p)) {
        c->bad = true;
        return;
    }
    TraceRest *r = arena_array(&t->a, TraceRest, n + 1);
    for (uint64_t i = 0; i < n && !c->bad; i++) {
        const uint8_t *kind = take(c, 1);
        r[i].kind = kind ? (char)*kind : 0;
        r[i].bits = varint(c);
        c->bad |= !r[i].kind || !strchr("ildsp", r[i].kind);
        if (r[i].kind == SUNDEW_REST_TEXT || r[i].kind == SUNDEW_REST_POINTER)
            r[i].object = intervals_find(&p->live, r[i].bits);
    }
    t->e.rest = r;
    t->e.nrest = c->bad ? 0 : n;
    t->e.has_rest = !c->bad;
}

static const Type *pointee(const Type *t)
{
    const Type *plain = t ? type_plain(t) : NULL;
    return plain && plain->kind == TYPE_POINTER ? plain->target : NULL;
}

/* Fills in what is known of the value that lies in `slots`. */
static void set_value(const Process *p, TraceValue *v, const uint64_t *slots, size_t nslots)
{
    size_t size = v->type ? type_plain(v->type)->size : 8 * nslots;

    if (nslots == 0)
        return;
    v->bytes = (const uint8_t *)slots;
    v->n = size && size <= 8 * nslots ? size : 8 * nslots;
    if (!pointee(v->type))
        return;
    v->address = slots[0];
    if (type_plain(pointee(v->type))->kind == TYPE_FUNCTION)
        v->target = intervals_find(&p->code, v->address);
    v->object = intervals_find(&p->live, v->address);
    if (v->object)
        v->offset = (int64_t)(v->address - v->object->address);
}

/* A struct that was passed by its address: the bytes are in the memory. */
static void set_copied(TraceValue *v, const Event *e, uint64_t address)
{
    size_t n = 0;
    const uint8_t *bytes = event_bytes(e, address, &n);

    v->bytes = bytes;
    v->n = v->type && type_plain(v->type)->size < n ? type_plain(v->type)->size : n;
}

/* The width of IR arguments is that of slots: one each of up to 8 bytes. A
 * parameter that arrives in several arguments has as many slots. */
static size_t slots_of(const Param *p)
{
    if (p->passing == PASSED_NOT_AT_ALL)
        return 0;
    if (p->passing == PASSED_DIRECTLY && p->type) {
        uint64_t size = type_plain(p->type)->size;
        return size > 8 ? (size_t)(size + 7) / 8 : 1;
    }
    return p->nargs ? p->nargs : 1;
}

static void read_call(Trace *t, Stream *s, Cursor *c)
{
    Event *e = &t->e;
    uint64_t n;

    e->kind = EVENT_CALL;
    e->fn = function_of(t, varint(c));
    uint64_t flags = varint(c);
    e->cut = flags & SUNDEW_CALL_CUT;
    uint64_t *slots = read_slots(t, c, &n);
    if (flags & SUNDEW_CALL_REST)
        read_rest(t, s->process, c);
    read_memory(t, c);
    e->depth = (unsigned)s->calls.len;
    vec_push(&s->calls, ((OpenCall){ e->number, e->fn }));
    if (!e->fn)
        return;
    TraceValue *values = arena_array(&t->a, TraceValue, e->fn->nparams);
    size_t at = e->fn->returns_in_memory;
    for (unsigned i = 0; i < e->fn->nparams; i++) {
        const Param *p = &e->fn->params[i];
        size_t take_n = slots_of(p), left = at < n ? n - at : 0;
        values[i].name = p->name;
        values[i].type = p->type;
        if (p->passing == PASSED_BY_COPY && left)
            set_copied(&values[i], e, slots[at]);
        else if (p->passing != PASSED_UNKNOWN && take_n <= left)
            set_value(s->process, &values[i], slots + at, take_n);
        at += take_n;
    }
    e->values = values;
    e->nvalues = e->fn->nparams;
}

static void read_return(Trace *t, Stream *s, Cursor *c)
{
    Event *e = &t->e;
    uint64_t back = varint(c), n;

    e->kind = EVENT_RETURN;
    e->call = back <= e->number ? e->number - back : 0;
    e->error = (int)(varint(c) & 0xffff);
    uint64_t *slots = read_slots(t, c, &n);
    read_memory(t, c);
    /* Calls further in were left without a return: longjmp(), exit(). */
    size_t depth = s->calls.len;
    while (depth && s->calls.items[depth - 1].number > e->call)
        depth--;
    if (depth && s->calls.items[depth - 1].number == e->call) {
        e->fn = s->calls.items[--depth].fn;
        s->calls.len = depth;
    }
    e->depth = (unsigned)s->calls.len;
    if (!e->fn || !e->fn->returns || n == 0)
        return;
    TraceValue *v = arena_new(&t->a, TraceValue);
    v->name = "";
    v->type = e->fn->returns;
    if (e->fn->returns_in_memory)
        set_copied(v, e, slots[0]);
    else
        set_value(s->process, v, slots, n);
    e->values = v;
    e->nvalues = 1;
}

static void read_alloc(Trace *t, Process *p, Cursor *c)
{
    uint64_t address = varint(c), size = varint(c);

    t->e.kind = EVENT_ALLOC;
    c->bad |= size > INT64_MAX;        /* offsets in it are signed */
    if (!c->bad)
        t->e.object = object_new(t, p, address, size);
}

static void read_free(Trace *t, Process *p, Cursor *c)
{
    uint64_t address = varint(c);

    t->e.kind = EVENT_FREE;
    TraceObject *o = intervals_find(&p->live, address);
    if (c->bad || !o || o->address != address || o->kind == OBJECT_VARIABLE)
        return;
    intervals_remove(&p->live, address);
    o->died = t->e.number;
    t->e.object = o;
}

static void read_event(Trace *t, Stream *s, uint8_t tag, Cursor *c)
{
    Event *e = &t->e;

    switch (tag) {
    case SUNDEW_TRACE_CALL: read_call(t, s, c); break;
    case SUNDEW_TRACE_RETURN: read_return(t, s, c); break;
    case SUNDEW_TRACE_ALLOC: read_alloc(t, s->process, c); break;
    case SUNDEW_TRACE_FREE: read_free(t, s->process, c); break;
    case SUNDEW_TRACE_END:
        e->kind = EVENT_END;
        e->how = (unsigned)varint(c);
        e->value = (int64_t)varint(c);
        s->ended = true;
        break;
    }
}

/* ---- what always holds */

static void check_stream(const Stream *s)
{
    assert(s->process && s->at <= s->data.len);
    assert(!s->next || s->next > s->last);
    for (size_t i = 1; i < s->calls.len; i++)
        assert(s->calls.items[i - 1].number < s->calls.items[i].number);
}

static void check_event(const Event *e)
{
    assert(e->kind <= EVENT_END && e->process && e->thread);
    assert(e->kind != EVENT_CALL || !e->fn || e->nvalues == e->fn->nparams);
    assert(e->kind != EVENT_RETURN || e->nvalues <= 1);
    for (size_t i = 0; i < e->nvalues; i++) {
        const TraceValue *v = &e->values[i];
        assert(v->name && (v->bytes || !v->n));
        assert(!v->object || (v->object->born <= e->number && v->offset >= 0 &&
                              (uint64_t)v->offset < v->object->size + !v->object->size));
    }
}

void trace_check(const Trace *t)
{
    for (size_t i = 0; i < t->streams.len; i++)
        check_stream(t->streams.items[i]);
    for (size_t i = 0; i < t->heap.len; i++) {
        assert(t->heap.items[i]->next);
        assert(!i || t->heap.items[(i - 1) / 2]->next <= t->heap.items[i]->next);
    }
    if (t->e.number)
        check_event(&t->e);
}

const Event *trace_next(Trace *t)
{
    uint8_t tag;
    Cursor c;
    size_t after;

    while (t->heap.len) {
        Stream *s = t->heap.items[0];
        bool there = event_at(s, &tag, &c, &after);
        assert(there);
        (void)there;
        varint(&c);
        arena_release(&t->a);
        if (!s->process->number)
            s->process->number = ++t->seen;
        assert(s->next >= t->e.number);      /* in the order in which they happened */
        t->e = (Event){ .number = s->next, .thread = s->thread + 1, .process = s->process->number };
        t->at = s->process;
        if (!s->process->symbols)
            add_symbols(t, s->process);
        read_event(t, s, tag, &c);
        s->last = s->next;
        s->at = after;
        s->next = 0;
        if (!c.bad)               /* else what stands behind means nothing */
            stream_peek(s);
        heap_settle(t);
        if (!c.bad)
            return &t->e;
    }
    return NULL;
}

size_t trace_cut_short(const Trace *t)
{
    size_t n = t->cut;

    for (size_t i = 0; i < t->streams.len; i++)
        n += !t->streams.items[i]->ended;
    return n;
}

const TraceObject *trace_object_at(const Trace *t, const Event *e, uint64_t address)
{
    assert(e == &t->e);
    (void)e;
    return t->at ? intervals_find(&t->at->live, address) : NULL;
}

const uint8_t *event_bytes(const Event *e, uint64_t address, size_t *n)
{
    const uint8_t *bytes = NULL;
    *n = 0;
    for (size_t i = 0; i < e->nmemory; i++) {
        const TraceMemory *m = &e->memory[i];
        uint64_t at = address - m->address;
        if (address >= m->address && at < m->n && m->n - at > *n) {
            *n = m->n - at;
            bytes = m->bytes + at;
        }
    }
    return bytes;
}
