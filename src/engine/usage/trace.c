/*
 * From events to calls and objects.
 *
 * The trace goes by once. Each call gets a row; each handle in it becomes an
 * object. An object is known by its type and its place: heap block (numbers of
 * blocks are never used twice) and offset, or the bare address. Some places
 * see several objects one after the other; a new one begins
 *
 *   - when a call that initialises storage gets the address, unless it is part
 *     of the setting up that goes on already;
 *   - when an address outside of the heap comes out of a call that creates;
 *   - when the one before was closed (a pool that hands its memory out again);
 *   - when the function whose stack it lay on has returned.
 *
 *     #2 call   conn_statement(c = object 16)
 *     #3   call   stmt_new(c = object 16)
 *     #4   return stmt_new = object 17           a new object, made by #3
 *     #5 return conn_statement = object 17       … and by #2, which is around it
 *
 * A block that dies in a call which returns a new one of the same type: that is
 * the same object under another address (realloc).
 */
#include "base/file.h"
#include "engine/usage/usage_int.h"
#include "runtime/format/tracefile.h"
#include <stdio.h>
#include <stdlib.h>
#include <ctype.h>
#include <string.h>

typedef struct Lane {
    Vec(uint32_t) open;        /* calls */
    Vec(uint32_t) locals;      /* objects that lie on the stack, perhaps */
    Vec(uint32_t) frames;      /* … and the calls that they go with */
} Lane;

typedef struct Key {
    uint32_t process, type;
    uint64_t block, at;        /* block 0: at is the address */
} Key;

/* What is known of a function of the traced program. */
typedef struct Known {
    bool asked, library;
    bool in_header;            /* static in a header: part of whoever calls it */
    const ApiFunction *api;
    const ApiType **types;     /* one a parameter, then the result; NULL */
    uint8_t *levels;
} Known;

typedef struct Reader {
    RawUsage *raw;
    Arena *arena;              /* for what stays */
    Arena scratch;
    const Program *traced;
    uint64_t base;             /* event numbers of this trace begin here */
    Map lanes, live;
    Map files;                 /* the library's sources */
    Known *known;              /* by Function.index */
    Known shapes[API_MOST_SHAPES];     /* … of variadic calls */
    Vec(uint8_t) inside;       /* by block: allocated by the library? */
    Map texts;                 /* block -> the function that gave it as a text */
    Map lent;                  /* block of the example's -> the call it stood in last */
    Map freed;                 /* blocks that the library freed */
} Reader;

/* ---- the library */

/* The sources that make up the library: all of the API's program, unless that is an
 * executable and the traced one is the same; then those that define a function of
 * the API. */
static void find_files(const Api *api, const Program *traced, Map *files)
{
    bool same = strcmp(program_key(api->program), program_key(traced)) == 0 &&
                program_captured(traced)->kind == PROGRAM_EXECUTABLE;
    size_t n;
    const Function *const *fns = program_functions(api->program, &n);

    for (size_t i = 0; i < n; i++)
        if (fns[i]->defined && *fns[i]->file && (!same || api_function(api, fns[i]->name)))
            map_put(files, fns[i]->file, (void *)1);
}

static bool touches_handles(const Api *api, const Function *fn)
{
    unsigned levels;

    if (api_type_of(api, fn->returns, &levels))
        return true;
    for (unsigned i = 0; i < fn->nparams; i++)
        if (api_type_of(api, fn->params[i].type, &levels))
            return true;
    return false;
}

void usage_functions_to_record(const Api *api, const Program *example, Strings *out)
{
    Map files = { 0 };
    Strings inner = { 0 };
    size_t n;
    const Function *const *fns = program_functions(example, &n);

    find_files(api, example, &files);
    for (size_t i = 0; i < n; i++) {
        if (!fns[i]->defined)
            continue;
        if (api_of(api, fns[i]) || !map_has(&files, fns[i]->file))
            strings_add(out, fns[i]->symbol);
        else if (touches_handles(api, fns[i]))
            strings_add(&inner, fns[i]->symbol);
    }
    for (size_t i = 0; i < inner.len && inner.len <= MOST_INNER; i++)
        strings_add(out, inner.items[i]);
    strings_release(&inner);
    map_release(&files);
}

static const Known *known_of(Reader *r, const Function *fn)
{
    Known *k = &r->known[fn->index];
    const Api *api = r->raw->api;

    if (k->asked)
        return k;
    k->asked = true;
    k->api = fn->linkage == LINKAGE_INTERNAL ? api_in_table(api, fn) : api_function(api, fn->name);
    if (k->api && k->api->nparams != fn->nparams)
        k->api = NULL;
    k->library = k->api || map_has(&r->files, fn->file);
    k->in_header = !k->api && str_ends(fn->file, ".h");
    k->types = arena_array(&r->scratch, const ApiType *, fn->nparams + 1);
    k->levels = arena_array(&r->scratch, uint8_t, fn->nparams + 1);
    for (unsigned i = 0; i <= fn->nparams; i++) {
        const Type *t = i < fn->nparams ? fn->params[i].type : fn->returns;
        unsigned levels = 0;
        if (k->api) {
            const ApiPlace *p = i < fn->nparams ? &k->api->params[i] : &k->api->result;
            k->types[i] = p->handle;
            levels = p->role == ROLE_HANDLE || p->role == ROLE_STORAGE            ? 1
                     : p->role == ROLE_HANDLE_OUT || p->role == ROLE_HANDLE_INOUT ? 2
                                                                                  : 0;
        } else {
            k->types[i] = api_type_of(api, t, &levels);
        }
        k->levels[i] = (uint8_t)levels;
        if (levels < 1 || levels > 2)
            k->types[i] = NULL;
    }
    return k;
}

/* Of a shape: its function, with more parameters. */
static const Known *known_shape(Reader *r, const ApiFunction *shape, const Function *fn)
{
    const Known *plain = known_of(r, fn);
    Known *k = &r->shapes[shape->index - (r->raw->api->nfunctions - r->raw->api->nshapes)];

    if (k->asked)
        return k;
    *k = *plain;
    k->api = shape;
    k->types = arena_array(&r->scratch, const ApiType *, shape->nparams + 1);
    k->levels = arena_array(&r->scratch, uint8_t, shape->nparams + 1);
    for (unsigned i = 0; i < shape->nparams; i++) {
        k->types[i] = i < shape->nfixed ? plain->types[i] : shape->params[i].handle;
        k->levels[i] = i < shape->nfixed ? plain->levels[i] : k->types[i] != NULL;
    }
    k->types[shape->nparams] = plain->types[shape->nfixed];
    k->levels[shape->nparams] = plain->levels[shape->nfixed];
    return k;
}

static const Known *known_of_call(Reader *r, const RawCall *c)
{
    return c->api && c->api->shape_of ? known_shape(r, c->api, c->fn) : known_of(r, c->fn);
}

/* ---- objects */

static Lane *lane_of(Reader *r, const Event *e)
{
    uint32_t key[2] = { e->process, e->thread };
    void **slot = map_slotn(&r->lanes, key, sizeof key);
    if (!*slot)
        *slot = xcalloc(1, sizeof(Lane));
    return *slot;
}

static bool is_open(const Lane *l, uint32_t call)
{
    for (size_t i = l->open.len; i-- > 0;)
        if (l->open.items[i] == call)
            return true;
    return false;
}

static bool library_at_work(const Reader *r, const Lane *l)
{
    for (size_t i = l->open.len; i-- > 0;)
        if (r->raw->calls.items[l->open.items[i]].library)
            return true;
    return false;
}

/* Does the example own the memory? */
static bool is_callers(const Reader *r, const TraceObject *block, unsigned process)
{
    if (!block)
        return process == 1;                 /* its stack, most likely */
    if (block->kind == OBJECT_VARIABLE)
        return !map_has(&r->files, block->variable->file);
    return block->id < r->inside.len && !r->inside.items[block->id];
}

typedef struct Pointer {
    uint64_t address;
    const TraceObject *block;
} Pointer;

static void **slot_of(Reader *r, const Event *e, const ApiType *t, Pointer p)
{
    Key key = { e->process, t->index, p.block ? p.block->id : 0,
                p.block ? p.address - p.block->address : p.address };
    return map_slotn(&r->live, &key, sizeof key);
}

static uint32_t object_new(Reader *r, const Event *e, Lane *l, const ApiType *t, Pointer p,
                           void **slot)
{
    Object *o = vec_grow(&r->raw->objects);
    uint32_t i = (uint32_t)r->raw->objects.len - 1;

    o->type = t;
    o->born = r->base + e->number;
    o->died = UINT64_MAX;
    o->maker = o->killer = NO_CALL;
    o->block = p.block && p.block->kind == OBJECT_HEAP ? p.block : NULL;
    o->offset = p.block ? p.address - p.block->address : 0;
    o->callers = is_callers(r, p.block, e->process);
    if (!p.block && l->open.len > 1) {
        vec_push(&l->locals, i);
        vec_push(&l->frames, l->open.items[l->open.len - 2]);
    }
    *slot = (void *)(uintptr_t)(i + 1);
    return i;
}

/* The object that is known at a place; NO_OBJECT. */
static uint32_t object_known(const Reader *r, void *const *slot)
{
    uintptr_t x = (uintptr_t)*slot;
    return x && !r->raw->objects.items[x - 1].gone ? (uint32_t)(x - 1) : NO_OBJECT;
}

/* An object's part in a call, which is new unless the object stands in the call
 * already. */
static Part *part_of(RawUsage *raw, uint32_t object, uint32_t call)
{
    Object *o = &raw->objects.items[object];
    const RawCall *c = &raw->calls.items[call];
    bool there = false;

    for (unsigned i = 0; i <= c->nparams && !there; i++)
        there = c->objects[i] == object;
    for (size_t i = there ? o->parts.len : 0; i-- > 0;)
        if (o->parts.items[i].call == call)
            return &o->parts.items[i];
    if (o->parts.len >= MOST_HISTORY) {
        o->cut = true;
        return NULL;
    }
    Part *p = vec_grow(&o->parts);
    p->call = call;
    p->node = p->next = UINT32_MAX;
    return p;
}

static Part *take_part(Reader *r, uint32_t object, uint32_t call, int place)
{
    RawCall *c = &r->raw->calls.items[call];
    Part *p = part_of(r->raw, object, call);

    c->objects[place == API_RETURNED ? c->nparams : (unsigned)place] = object;
    if (p)
        p->places |= place_bit(place);
    return p;
}

/* Does a call on known storage begin another object there? It does if it sets the
 * storage up, or was what began the one before, which is closed. A closed one
 * that is simply used again was not closed after all. */
static bool is_new_life(Reader *r, const Lane *l, uint32_t object, const RawCall *c, bool sets_up)
{
    Object *o = &r->raw->objects.items[object];

    if (o->maker == NO_CALL || is_open(l, o->maker) || !c->api)
        return false;
    if (sets_up && o->died == UINT64_MAX)
        o->died = c->begin;
    bool closed = o->died <= c->begin && !(o->block && o->block->died);
    if (sets_up || (closed && r->raw->calls.items[o->maker].api == c->api))
        return true;
    if (closed && o->callers)
        o->died = UINT64_MAX;
    return false;
}

/* A handle goes in. */
static void comes_in(Reader *r, const Event *e, Lane *l, uint32_t call, int place, const ApiType *t,
                     Pointer p)
{
    if (!p.address)
        return;
    const RawCall *c = &r->raw->calls.items[call];
    const ApiPlace *want = c->api ? &c->api->params[place] : NULL;
    void **slot = slot_of(r, e, t, p);
    uint32_t i = object_known(r, slot);
    bool sets_up = want && want->role == ROLE_STORAGE;

    if (i != NO_OBJECT && is_new_life(r, l, i, c, sets_up))
        i = NO_OBJECT;
    if (i == NO_OBJECT)
        i = object_new(r, e, l, t, p, slot);
    Part *part = take_part(r, i, call, place);
    Object *o = &r->raw->objects.items[i];
    if (!part || !c->api)
        return;
    /* Storage of the caller's, used for the first time. */
    bool first = o->maker == NO_CALL && o->callers && t->size && c->via != VIA_LIBRARY;
    part->creates = sets_up || (first && want->use != USE_FINISHES);
    if (part->creates && o->maker == NO_CALL)
        o->maker = call;
}

/* A handle comes out. */
static void comes_out(Reader *r, const Event *e, Lane *l, uint32_t call, int place,
                      const ApiType *t, Pointer p)
{
    if (!p.address)
        return;
    const RawCall *c = &r->raw->calls.items[call];
    const ApiPlace *gives = c->api ? api_place(c->api, place) : NULL;
    void **slot = slot_of(r, e, t, p);
    uint32_t i = object_known(r, slot);

    if (i != NO_OBJECT && !p.block && gives && gives->use == USE_CREATES &&
        r->raw->objects.items[i].born < c->begin)
        i = NO_OBJECT;
    /* The same object under another address? */
    for (unsigned k = 0; i == NO_OBJECT && p.block && k < c->nparams; k++) {
        Object *old = c->objects[k] == NO_OBJECT ? NULL : &r->raw->objects.items[c->objects[k]];
        if (old && old->type == t && old->block && old->block->died + r->base > c->begin &&
            old->block->died && p.block->born + r->base > c->begin) {
            i = c->objects[k];
            old->block = p.block;
            *slot = (void *)(uintptr_t)(i + 1);
            Part *moved = part_of(r->raw, i, call);
            if (moved)
                moved->rebinds = true;
        }
    }
    if (i == NO_OBJECT) {
        i = object_new(r, e, l, t, p, slot);
        r->raw->objects.items[i].borrowed = p.block && r->base + p.block->born < c->begin;
    }
    Part *part = take_part(r, i, call, place);
    Object *o = &r->raw->objects.items[i];
    bool made_here = o->born >= c->begin;
    if (part)
        part->creates = part->creates || made_here;
    if (made_here && (o->maker == NO_CALL || r->raw->calls.items[o->maker].begin > c->begin))
        o->maker = call;
}

/* ---- values */

static uint64_t number_of(const TraceValue *v)
{
    uint64_t x = 0;
    size_t n = v->n < 8 ? v->n : 8;
    const Type *t = v->type ? type_plain(v->type) : NULL;
    if (t && t->kind == TYPE_ENUM && t->target)
        t = type_plain(t->target);

    memcpy(&x, v->bytes, n);
    bool is_signed = t && (t->encoding == ENCODING_SIGNED || t->encoding == ENCODING_SIGNED_CHAR);
    if (is_signed && n && n < 8 && (x >> (8 * n - 1) & 1))
        x |= ~(uint64_t)0 << (8 * n);
    return x;
}

static SeqValue float_of(const TraceValue *v)
{
    float f;
    double d;

    if (v->n == sizeof f) {
        memcpy(&f, v->bytes, sizeof f);
        return value_float((double)f);
    }
    if (v->n != sizeof d)
        return (SeqValue){ 0 };
    memcpy(&d, v->bytes, sizeof d);
    return value_float(d);
}

/* Bytes from the pointer to the end of its object; 0: not known. */
static uint64_t room_behind(const Event *e, const TraceValue *v)
{
    if (v->object && (uint64_t)v->offset < v->object->size)
        return v->object->size - (uint64_t)v->offset;
    for (size_t i = 0; i < e->nmemory; i++)
        if (e->memory[i].address == v->address && e->memory[i].total)
            return e->memory[i].total;
    return 0;
}

/* Texts are char. Other bytes may go on behind a zero: unsigned char packed[4]. */
static bool has_bytes_behind(const Event *e, const TraceValue *v, const uint8_t *zero, size_t left)
{
    enum { SMALL_OBJECT = 64 };
    const Type *t = v->type ? type_plain(v->type) : NULL;
    uint64_t room = room_behind(e, v);
    return t && t->kind == TYPE_POINTER && !type_is_char(t->target) && zero && left > 1 &&
           room <= SMALL_OBJECT && room > 0;
}

static SeqValue text_of(Reader *r, const Event *e, const TraceValue *v)
{
    size_t n;
    const uint8_t *bytes = event_bytes(e, v->address, &n);
    const uint8_t *zero = bytes ? memchr(bytes, 0, n) : NULL;

    if (!bytes)
        return (SeqValue){ 0 };
    if (has_bytes_behind(e, v, zero, zero ? n - (size_t)(zero - bytes) : 0))
        return value_bytes(r->arena, bytes, n < room_behind(e, v) ? n : room_behind(e, v));
    SeqValue x = value_bytes(r->arena, bytes, zero ? (size_t)(zero - bytes) : n);
    x.kind = VALUE_STRING;
    return x;
}

/* What a pointer leads to, as bytes; `limit` if not 0 at most so many. */
static SeqValue bytes_of(Reader *r, const Event *e, const TraceValue *v, uint64_t limit)
{
    size_t n;
    const uint8_t *bytes = event_bytes(e, v->address, &n);

    if (!bytes)
        return (SeqValue){ 0 };
    return value_bytes(r->arena, bytes, limit && limit < n ? limit : n);
}

/* How many structs of a size stand at a pointer: all of them, if they are a whole that was recorded
 * and that ends with an empty one; else one. */
static uint64_t records_there(const Event *e, const TraceValue *v, uint64_t size, size_t n)
{
    uint64_t room = room_behind(e, v);
    const uint8_t *bytes = event_bytes(e, v->address, &n);
    bool whole = bytes && room >= 2 * size && room <= n && room % size == 0;
    for (uint64_t i = 0; whole && i < size; i++)
        whole = !bytes[room - size + i];
    return whole ? room / size : 1;
}

static SeqValue record_of(Reader *r, const Event *e, const TraceValue *v)
{
    const Type *t = v->type ? type_plain(v->type) : NULL;
    size_t n = v->n;
    const uint8_t *bytes = v->bytes;

    if (t && t->kind == TYPE_POINTER) {
        t = type_plain(t->target);
        bytes = event_bytes(e, v->address, &n);
    }
    uint64_t size = t ? t->size : 0;
    if (size && bytes != v->bytes)
        size *= records_there(e, v, size, n);
    SeqValue x =
        size && bytes && n >= size ? memory_of(r->arena, e, t, bytes, size) : (SeqValue){ 0 };
    /* pointers in a struct that is passed by value have no place to be written to */
    return x.nlinks && bytes == v->bytes ? (SeqValue){ 0 } : x;
}

/* Does a number beside a pointer say that there is more than was recorded? */
static bool may_be_more(const Event *e, const TraceValue *v, uint64_t known)
{
    size_t i = (size_t)(v - e->values);
    for (size_t k = i ? i - 1 : i + 1; k <= i + 1; k += 2) {
        const TraceValue *c = k < e->nvalues ? &e->values[k] : NULL;
        const Type *t = c && c->bytes && c->type ? type_plain(c->type) : NULL;
        if (t && t->kind == TYPE_SCALAR && t->encoding != ENCODING_FLOAT && t->size >= 2 &&
            number_of(c) > known && (int64_t)number_of(c) > 0)
            return true;
    }
    return false;
}

/* What a pointer leads to that no role is known for. Without a type nobody knows where
 * pointers are: words that look like addresses may be. */
static SeqValue pointed_of(Reader *r, const Event *e, const TraceValue *v, uint64_t limit)
{
    const Type *t = v->type ? type_plain(v->type) : NULL;
    size_t n = 0;
    const uint8_t *bytes = event_bytes(e, v->address, &n);

    t = t && t->kind == TYPE_POINTER && t->target ? type_plain(t->target) : NULL;
    n = bytes && limit && limit < n ? limit : n;
    if (!bytes || !t)
        return (SeqValue){ 0 };
    if (t->size > 1 && (n < t->size || may_be_more(e, v, n / t->size)))
        return (SeqValue){ 0 };
    if (t->size && t->kind != TYPE_VOID)
        return memory_of(r->arena, e, t, bytes, n);
    return memory_has_addresses(bytes, n) ? (SeqValue){ 0 } : value_bytes(r->arena, bytes, n);
}

static uint64_t target_size(const TraceValue *v)
{
    const Type *t = v->type ? type_plain(v->type) : NULL;
    t = t && t->kind == TYPE_POINTER && t->target ? type_plain(t->target) : NULL;
    return t ? t->size : 0;
}

static SeqValue room_of(const Event *e, const TraceValue *v, uint64_t least)
{
    uint64_t room = room_behind(e, v);
    if (!room)
        room = least;
    return value_room(room > 1 << 16 ? 1 << 16 : room);
}

/* Of the length that goes with it; 0: there is none; UINT64_MAX: it is negative,
 * which often means "up to the NUL". */
static uint64_t partner_number(const Event *e, const ApiPlace *p)
{
    if (p->partner < 0 || (size_t)p->partner >= e->nvalues || !e->values[p->partner].bytes)
        return 0;
    uint64_t x = number_of(&e->values[p->partner]);
    const Type *t = e->values[p->partner].type;
    if ((int64_t)x < 0)
        return UINT64_MAX;
    if (t && type_plain(t)->kind == TYPE_POINTER) {
        size_t n;
        const uint8_t *bytes = event_bytes(e, e->values[p->partner].address, &n);
        x = 0;
        if (bytes)
            memcpy(&x, bytes, n < 8 ? n : 8);
    }
    return x <= 1 << 16 ? x : 0;
}

/* Does a name beside a pointer say how many there are? */
static bool has_count(const Event *e, size_t i)
{
    return (i + 1 < e->nvalues && api_is_length_name(e->values[i + 1].name)) ||
           (i && api_is_length_name(e->values[i - 1].name));
}

/* Numbers that are read up to a zero: their bytes, with it; 0: they are not. */
static size_t terminated(const Event *e, const TraceValue *v, uint64_t one)
{
    enum { LAST_CHARACTER = 0x10ffff };
    size_t n = 0;
    const uint8_t *bytes = event_bytes(e, v->address, &n);

    for (size_t at = 0; bytes && (one == 2 || one == 4) && at + one <= n; at += one) {
        uint32_t c = 0;
        memcpy(&c, bytes + at, one);
        if (c == 0)
            return at + one;
        if (c > LAST_CHARACTER)
            return 0;
    }
    return 0;
}

/* How many a number beside it says there are; 1: nothing says so. */
static uint64_t count_beside(const Event *e, const TraceValue *v)
{
    enum { MOST = 4096 };
    size_t i = (size_t)(v - e->values), beside[] = { i + 1, i - 1 };
    for (unsigned k = 0; k < 2; k++) {
        const TraceValue *c = beside[k] < e->nvalues ? &e->values[beside[k]] : NULL;
        const Type *t = c && c->bytes && c->type ? type_plain(c->type) : NULL;
        if (t && t->kind == TYPE_SCALAR && t->encoding != ENCODING_FLOAT &&
            api_is_length_name(c->name) && number_of(c) > 1 && number_of(c) <= MOST)
            return number_of(c);
    }
    return 1;
}

/* Room for results: one, or as many as a number beside it says. */
static SeqValue results_of(const Event *e, const TraceValue *v)
{
    uint64_t one = target_size(v);
    return value_room(one ? one * count_beside(e, v) : 8);
}

/* A number beside a pointer, whatever its name; 0: there is none. */
static uint64_t number_beside(const Event *e, const TraceValue *v)
{
    size_t i = (size_t)(v - e->values), beside[] = { i - 1, i + 1 };
    for (unsigned k = 0; k < 2; k++) {
        const TraceValue *c = beside[k] < e->nvalues ? &e->values[beside[k]] : NULL;
        const Type *t = c && c->bytes && c->type ? type_plain(c->type) : NULL;
        if (t && t->kind == TYPE_SCALAR && t->encoding != ENCODING_FLOAT)
            return number_of(c);
    }
    return 0;
}

/* Texts that the caller gives: up to a NULL, or, if the function looks at them, as many as a
 * number beside them says. VALUE_NONE: it is room for one, or the texts were not recorded. */
static SeqValue table_of(Reader *r, const Event *e, const TraceValue *v, const ApiPlace *p)
{
    const Type *t = type_plain(type_plain(v->type)->target);
    uint64_t word = 1, most = p->is_read ? number_beside(e, v) : 0;
    size_t n = 0, at = 0;
    const uint8_t *bytes = event_bytes(e, v->address, &n);
    for (; bytes && at + sizeof word <= n && word && (!most || at < most * sizeof word);
         at += sizeof word)
        memcpy(&word, bytes + at, sizeof word);
    bool whole = at > sizeof word && (!word || (most && at == most * sizeof word));
    return whole ? memory_of(r->arena, e, t, bytes, at) : (SeqValue){ 0 };
}

/* Does a pointer to texts that the function looks at lead to one? */
static bool gives_text(const Event *e, const TraceValue *v, const ApiPlace *p)
{
    size_t n = 0;
    const uint8_t *bytes = event_bytes(e, v->address, &n);
    uint64_t word = 0;
    if (bytes && n >= sizeof word)
        memcpy(&word, bytes, sizeof word);
    return p->is_read && word && event_bytes(e, word, &n);
}

/* Structs that a pointer leads to. What lies where results go is of no interest. */
static SeqValue records_of(Reader *r, const Event *e, const TraceValue *v, const ApiPlace *p)
{
    bool results =
        type_plain(v->type)->kind == TYPE_POINTER && p->is_written && (!p->is_read || p->filled);
    return results ? results_of(e, v) : record_of(r, e, v);
}

/* An array of numbers: as many as a name beside it says, or up to a zero, or as many as a
 * number beside it says; else one of them. */
static SeqValue numbers_of(Reader *r, const Event *e, const TraceValue *v, const ApiPlace *p)
{
    uint64_t one = target_size(v);
    size_t n = 0, i = (size_t)(v - e->values);

    event_bytes(e, v->address, &n);
    size_t text = p->is_const && !has_count(e, i) ? terminated(e, v, one) : 0;
    if (text)
        return bytes_of(r, e, v, text);
    for (size_t k = i ? i - 1 : i + 1; one && k <= i + 1; k += 2) {
        const TraceValue *c = k < e->nvalues ? &e->values[k] : NULL;
        const Type *t = c && c->bytes && c->type ? type_plain(c->type) : NULL;
        if (!t || t->kind != TYPE_SCALAR || t->encoding == ENCODING_FLOAT)
            continue;
        uint64_t count = number_of(c);
        if (count > 1 && count <= n / one && (p->is_const || api_is_length_name(c->name)))
            return bytes_of(r, e, v, count * one);
        if (count > 1 && api_is_length_name(c->name))
            return (SeqValue){ 0 }; /* it has more than was recorded */
    }
    SeqValue number = bytes_of(r, e, v, one);
    /* nobody has set it: what the stack held */
    bool junk = !p->is_const && number.n >= 8 && memory_has_addresses(number.bytes, number.n);
    return junk ? value_room(one) : number;
}

/* What stood in a place, as a value without addresses. VALUE_NONE: another handle,
 * or not known. */
static SeqValue value_of(Reader *r, const Event *e, const TraceValue *v, const ApiPlace *p)
{
    const Type *t = v->type ? type_plain(v->type) : NULL;

    if (!v->bytes || !t)
        return (SeqValue){ 0 };
    if (t->kind == TYPE_POINTER && v->address == 0)
        return value_null();
    switch (p->role) {
    case ROLE_INTEGER:
    case ROLE_ENUM:
    case ROLE_FLAGS:
    case ROLE_LENGTH: return value_integer(number_of(v));
    case ROLE_FLOAT: return float_of(v);
    case ROLE_STRING: return text_of(r, e, v);
    case ROLE_BUFFER: {
        uint64_t n = partner_number(e, p);
        if (n == UINT64_MAX)
            return text_of(r, e, v);
        return p->partner < 0 || n ? pointed_of(r, e, v, n) : value_bytes(r->arena, "", 0);
    }
    case ROLE_BUFFER_OUT: {
        uint64_t n = partner_number(e, p);
        return room_of(e, v, n && n != UINT64_MAX ? n : 64);
    }
    case ROLE_STRING_OUT: {
        SeqValue table = table_of(r, e, v, p);
        return table.kind != VALUE_NONE || gives_text(e, v, p) ? table : results_of(e, v);
    }
    case ROLE_OUT: return results_of(e, v);
    case ROLE_HANDLE_OUT: return value_room(target_size(v) ? target_size(v) : 8);
    case ROLE_INOUT: return numbers_of(r, e, v, p);
    case ROLE_LENGTH_INOUT: return bytes_of(r, e, v, target_size(v));
    case ROLE_RECORD: return records_of(r, e, v, p);
    case ROLE_CALLBACK:
        return value_function(v->target ? arena_strdup(r->arena, v->target->name) : NULL);
    case ROLE_USER_DATA: return value_room(64);
    case ROLE_POINTER: {
        uint64_t n = partner_number(e, p);
        return pointed_of(r, e, v, n == UINT64_MAX ? 0 : n);
    }
    default: return (SeqValue){ 0 };
    }
}

static SeqValue result_of(Reader *r, const Event *e, const ApiPlace *p)
{
    if (!e->nvalues || !e->values[0].bytes || !e->values[0].type)
        return (SeqValue){ 0 };
    const TraceValue *v = &e->values[0];
    if (type_plain(v->type)->kind == TYPE_POINTER && v->address == 0)
        return value_null();
    switch (p->role) {
    case ROLE_INTEGER:
    case ROLE_ENUM:
    case ROLE_FLAGS: return value_integer(number_of(v));
    case ROLE_FLOAT: return float_of(v);
    case ROLE_STRING: return text_of(r, e, v);
    default: return (SeqValue){ 0 };
    }
}

/* ---- events */

static UsageVia via_of(const Reader *r, const Lane *l, size_t outer)
{
    if (!outer)
        return VIA_EXAMPLE;
    if (r->raw->calls.items[l->open.items[outer - 1]].library)
        return VIA_LIBRARY;
    for (size_t i = outer - 1; i-- > 0;)
        if (r->raw->calls.items[l->open.items[i]].library)
            return VIA_CALLBACK;
    return VIA_EXAMPLE;
}

/* What a pointer to a pointer leads to. */
static bool pointer_at(const Trace *t, const Event *e, uint64_t address, Pointer *out)
{
    size_t n;
    const uint8_t *bytes = event_bytes(e, address, &n);

    *out = (Pointer){ 0 };
    if (!bytes || n < 8)
        return false;
    memcpy(&out->address, bytes, 8);
    out->block = trace_object_at(t, e, out->address);
    return true;
}

/* ---- variadics */

/* The type of the object that is known at an address. */
static const ApiType *handle_at(Reader *r, const Event *e, const TraceRest *x)
{
    const Api *api = r->raw->api;
    for (size_t i = 0; x->bits && i < api->ntypes; i++) {
        Key key = { e->process, api->types[i].index, x->object ? x->object->id : 0,
                    x->object ? x->bits - x->object->address : x->bits };
        void *slot = map_getn(&r->live, &key, sizeof key);
        if (slot && object_known(r, &slot) != NO_OBJECT)
            return &api->types[i];
    }
    return NULL;
}

/* Is the text at an address there as a whole? */
static bool is_text(const Event *e, uint64_t address)
{
    size_t n;
    const uint8_t *bytes = event_bytes(e, address, &n);
    return bytes && memchr(bytes, 0, n);
}

/* What was passed for "...", as a shape; NULL: it can't be done again. */
static const ApiFunction *shape_of_call(Reader *r, const Event *e, const ApiFunction *f)
{
    ApiExtra extra[SUNDEW_MOST_REST];
    SeqValue *named = arena_array(&r->scratch, SeqValue, f->nparams + 1);

    if (!e->has_rest || f->not_callable)
        return NULL;
    for (size_t i = 0; i < e->nrest; i++) {
        const TraceRest *x = &e->rest[i];
        extra[i] = (ApiExtra){ .kind = x->kind };
        if (x->kind == SUNDEW_REST_POINTER)
            extra[i].handle = handle_at(r, e, x);
        if ((x->kind == SUNDEW_REST_POINTER && x->bits && !extra[i].handle) ||
            (x->kind == SUNDEW_REST_TEXT && x->bits && !is_text(e, x->bits)))
            return NULL;
    }
    for (unsigned i = 0; i < f->nparams && i < e->nvalues; i++) {
        uint64_t text = f->params[i].role == ROLE_STRING ? e->values[i].address : 0;
        if (!text || is_text(e, text))
            named[i] = value_of(r, e, &e->values[i], &f->params[i]);
    }
    return api_shape(r->raw->shapes, f, named, extra, (unsigned)e->nrest);
}

static SeqValue value_of_rest(Reader *r, const Event *e, const TraceRest *x)
{
    TraceValue v = { .address = x->bits };
    double d;

    memcpy(&d, &x->bits, sizeof d);
    switch (x->kind) {
    case SUNDEW_REST_INT: return value_integer((uint64_t)(int64_t)(int32_t)x->bits);
    case SUNDEW_REST_LONG: return value_integer(x->bits);
    case SUNDEW_REST_DOUBLE: return value_float(d);
    case SUNDEW_REST_TEXT: return x->bits ? text_of(r, e, &v) : value_null();
    default: return x->bits ? (SeqValue){ 0 } : value_null();
    }
}

static void take_rest(Reader *r, const Event *e, Lane *l, uint32_t call)
{
    RawCall *c = &r->raw->calls.items[call];
    const ApiFunction *f = c->api;

    for (unsigned i = 0; i < e->nrest; i++) {
        const ApiType *t = f->params[f->nfixed + i].handle;
        c->values[f->nfixed + i] = value_of_rest(r, e, &e->rest[i]);
        c->addresses[f->nfixed + i] = t ? e->rest[i].bits : 0;
        if (t && f->nfixed + i < PLACES_LIMIT) {
            comes_in(r, e, l, call, (int)(f->nfixed + i), t,
                     (Pointer){ e->rest[i].bits, e->rest[i].object });
            c = &r->raw->calls.items[call];
        }
    }
}

/* Two pointers into the same bytes: the first and the one after the last, say. */
static bool lies_in(const Event *e, const TraceValue *v, const TraceValue *base)
{
    const Type *t = v->type ? type_plain(v->type) : NULL,
               *u = base->type ? type_plain(base->type) : NULL;
    size_t n = 0, none;
    if (!t || !u || t->kind != TYPE_POINTER || u->kind != TYPE_POINTER || !base->address ||
        v->address < base->address || target_size(v) != target_size(base))
        return false;
    event_bytes(e, base->address, &n);
    uint64_t at = v->address - base->address;
    return at < n || (at == n && n && !event_bytes(e, v->address, &none));
}

static bool is_bytes(const ApiPlace *p)
{
    return p->role == ROLE_STRING || p->role == ROLE_BUFFER || p->role == ROLE_POINTER;
}

/* Pointers that lie in what others of the call lead to are told by these. */
static void find_within(const Event *e, RawCall *c)
{
    for (unsigned i = 0; i < c->nparams && i < e->nvalues; i++) {
        ApiPlace *p = &c->api->params[i];
        for (unsigned k = 0; is_bytes(p) && k < c->nparams && k < e->nvalues; k++) {
            const TraceValue *v = &e->values[i], *base = &e->values[k];
            if (k == i || !is_bytes(&c->api->params[k]) || !lies_in(e, v, base) ||
                (v->address == base->address && i < k) || c->values[k].kind == VALUE_WITHIN)
                continue;
            uint64_t at = v->address - base->address;
            bool known = c->values[k].kind == VALUE_STRING || c->values[k].kind == VALUE_BYTES;
            c->values[i] = known && at <= c->values[k].n ? value_within(k, at) : (SeqValue){ 0 };
            if (at)
                p->within = (int)k;
            break;
        }
    }
}

enum { LENT_STORES = 32, LENT_BITS = 7 };

static void lend(Reader *r, const TraceObject *o, uint32_t call, unsigned as)
{
    if (!o || o->kind != OBJECT_HEAP || (o->id < r->inside.len && r->inside.items[o->id]))
        return;
    void **slot = map_slotn(&r->lent, &o->id, sizeof o->id);
    *slot = (void *)(uintptr_t)(((uint64_t)call << LENT_BITS | as) + 1);
}

/* Memory of the example's own that stands in a call: the library may free it later. */
static void note_lent(Reader *r, const Trace *t, const Event *e, uint32_t call)
{
    const RawCall *c = &r->raw->calls.items[call];
    if (!c->api || c->via != VIA_EXAMPLE)
        return;
    for (unsigned i = 0; i < e->nvalues && i < c->nparams && i < PLACES_LIMIT; i++) {
        const TraceObject *o = e->values[i].object;
        if (!o || e->values[i].offset || c->objects[i] != NO_OBJECT)
            continue;
        lend(r, o, call, i);
    }
    for (size_t i = 0; i < c->nstores; i++)
        lend(r, trace_object_at(t, e, c->stores[i].address), call, LENT_STORES + (unsigned)i);
}

/* Does the name say that results go there? What lies there before is of no interest. */
static bool is_output_name(const char *name)
{
    static const char *const words[] = { "out", "dst", "dest", "buf", "result", NULL };
    for (const char *const *w = words; *w; w++)
        if (strcasestr(name, *w))
            return true;
    return false;
}

/* A text that the call changes where it stands: the function looks at it first, or nothing
 * else in the call says what it is about. */
static bool is_changed_in_place(const ApiFunction *f, unsigned place)
{
    const ApiPlace *p = &f->params[place];
    if (p->role != ROLE_BUFFER_OUT || p->partner >= 0)
        return false;
    bool sure = p->is_read && !is_output_name(p->name);
    for (unsigned i = 0; i < f->nparams; i++)
        switch (f->params[i].role) {
        case ROLE_STRING:
        case ROLE_BUFFER: return false;
        case ROLE_HANDLE:
        case ROLE_RECORD:
        case ROLE_POINTER:
            if (!sure)
                return false;
            break;
        default: break;
        }
    return true;
}

/* The room with the text that is in it; false: there is none. */
static bool keep_text(Reader *r, const Event *e, const TraceValue *v, SeqValue *room)
{
    SeqValue text = text_of(r, e, v);
    bool plain = text.kind == VALUE_STRING && text.n && text.n < room->n;
    for (size_t i = 0; plain && i < text.n; i++)
        plain = isprint(text.bytes[i]) || isspace(text.bytes[i]);
    if (room->kind != VALUE_ROOM || !plain)
        return false;
    uint8_t *bytes = arena_array(r->arena, uint8_t, room->n + 1);
    memcpy(bytes, text.bytes, text.n);
    *room = value_bytes(r->arena, bytes, room->n);
    return true;
}

/* What a room on the heap has in it: if the library keeps it and frees it later, that was
 * what it was given. */
static SeqValue held_in(Reader *r, const Event *e, const TraceValue *v)
{
    uint64_t room = room_behind(e, v);
    if (!v->object || v->object->kind != OBJECT_HEAP || v->offset != 0)
        return (SeqValue){ 0 };
    SeqValue text = text_of(r, e, v);
    return text.kind == VALUE_STRING && text.n + 1 == room ? text : bytes_of(r, e, v, room);
}

/* Was it allocated while the library was at work? Calls stand in the order in which they began. */
static bool is_made_by_library(const Reader *r, const TraceObject *o)
{
    uint64_t born = r->base + o->born;
    size_t low = 0, high = r->raw->calls.len;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (r->raw->calls.items[mid].begin < born)
            low = mid + 1;
        else
            high = mid;
    }
    for (uint32_t k = low ? (uint32_t)low - 1 : NO_CALL; k != NO_CALL;) {
        const RawCall *c = &r->raw->calls.items[k];
        if (c->end > born && c->library)
            return true;
        k = c->parent;
    }
    return false;
}

/* What a struct of the caller's holds that the call may write. */
static const uint8_t *found_in(Reader *r, const Event *e, const TraceValue *v, const ApiPlace *p)
{
    uint64_t size = target_size(v);
    size_t n = 0;
    bool asked = p->role == ROLE_RECORD && p->is_written && !p->filled && size;
    const uint8_t *bytes = asked ? event_bytes(e, v->address, &n) : NULL;
    return bytes && n >= size ? value_bytes(r->arena, bytes, size).bytes : NULL;
}

/* Structs that the call has written all over: room for results. */
static void note_filled(const Event *e, RawCall *c)
{
    for (unsigned i = 0; c->api && i < c->nparams; i++) {
        const ApiPlace *p = &c->api->params[i];
        size_t n = 0, size = c->found[i] ? type_plain(type_plain(p->type)->target)->size : 0;
        const uint8_t *now = size ? event_bytes(e, c->addresses[i], &n) : NULL;
        if (!now || n < size || !stores_fill(c->found[i], now, size))
            continue;
        c->api->params[i].filled = true;
        c->values[i] = value_room(size);
    }
}

/* Does a NUL stand behind bytes whose length is given? */
static void note_end(const Event *e, const TraceValue *v, const SeqValue *x, ApiPlace *p)
{
    size_t n = 0;
    const uint8_t *bytes = event_bytes(e, v->address, &n);
    if (p->role != ROLE_BUFFER || x->kind != VALUE_BYTES || !x->n || !bytes)
        return;
    bool ended = n > x->n && !bytes[x->n];
    p->is_ended |= ended;
    p->is_unended |= !ended;
}

static void take_values(Reader *r, const Event *e, RawCall *c)
{
    for (unsigned i = 0; i < c->nparams && i < e->nvalues; i++) {
        const TraceValue *v = &e->values[i];
        c->values[i] = value_of(r, e, v, &c->api->params[i]);
        note_end(e, v, &c->values[i], &c->api->params[i]);
        c->found[i] = found_in(r, e, v, &c->api->params[i]);
        if (is_changed_in_place(c->api, i))
            c->api->params[i].in_place |= keep_text(r, e, v, &c->values[i]);
        c->values[i].bare = v->object && v->object->kind == OBJECT_HEAP &&
                            (v->offset > 0 || is_made_by_library(r, v->object));
        if (v->type && type_plain(v->type)->kind == TYPE_POINTER && v->address)
            c->rooms[i] = room_behind(e, v);
        if (c->values[i].kind == VALUE_ROOM && c->api->params[i].role == ROLE_BUFFER_OUT)
            c->held[i] = held_in(r, e, v);
    }
    find_within(e, c);
}

/* Who calls whom, and from where; a call of a variadic function gets its shape. */
static void place_call(Reader *r, const Event *e, const Lane *l, RawCall *c)
{
    const Known *k = known_of(r, e->fn);

    c->fn = e->fn;
    c->api = k->api;
    c->parent = l->open.len ? l->open.items[l->open.len - 1] : NO_CALL;
    c->library =
        k->in_header ? c->parent != NO_CALL && r->raw->calls.items[c->parent].library : k->library;
    c->begin = r->base + e->number;
    c->end = UINT64_MAX;
    c->via = via_of(r, l, l->open.len);
    if (c->api && c->api->variadic && c->via == VIA_EXAMPLE) {
        const ApiFunction *shape = shape_of_call(r, e, c->api);
        c->api = shape ? shape : c->api;
    }
}

/* Its arguments, without what they mean as objects. */
static void take_arguments(Reader *r, const Event *e, RawCall *c)
{
    c->nparams = c->api ? c->api->nparams : e->fn->nparams;
    c->objects = arena_array(r->arena, uint32_t, c->nparams + 1);
    memset(c->objects, 0xff, (c->nparams + 1) * sizeof *c->objects);
    if (c->api) {
        c->values = arena_array(r->arena, SeqValue, c->nparams + 1);
        c->rooms = arena_array(r->arena, uint64_t, c->nparams + 1);
        c->held = arena_array(r->arena, SeqValue, c->nparams + 1);
        c->found = arena_array(r->arena, const uint8_t *, c->nparams + 1);
        take_values(r, e, c);
    }
    c->addresses = arena_array(r->arena, uint64_t, c->nparams + 1);
    /* the example may have been compiled with another declaration than the library */
    for (unsigned i = 0; i < e->nvalues && i < c->nparams; i++)
        c->addresses[i] = e->values[i].address;
}

/* Objects that stand in its arguments. */
static void take_objects(Reader *r, Trace *t, const Event *e, Lane *l, uint32_t call,
                         const Known *k)
{
    unsigned nparams = r->raw->calls.items[call].nparams;

    for (unsigned i = 0; i < e->nvalues && i < nparams && i < PLACES_LIMIT; i++) {
        const TraceValue *v = &e->values[i];
        Pointer p = { v->address, v->object };
        if (!k->types[i] || !v->bytes)
            continue;
        const ApiPlace *want = k->api ? &k->api->params[i] : NULL;
        bool inout = want && want->role == ROLE_HANDLE_INOUT;
        if (k->levels[i] == 1 || (inout && pointer_at(t, e, v->address, &p)))
            comes_in(r, e, l, call, (int)i, k->types[i], p);
    }
}

/* Fields of these objects that the caller set before the call. */
static void note_stores(Reader *r, const Event *e, uint32_t call, const Known *k)
{
    RawCall *c = &r->raw->calls.items[call];

    for (unsigned i = 0; c->api && c->via != VIA_LIBRARY && i < c->nparams; i++) {
        Object *o = c->objects[i] == NO_OBJECT ? NULL : &r->raw->objects.items[c->objects[i]];
        if (o && k->levels[i] == 1)
            stores_note(r->arena, c, o, i, e, o->maker == call);
    }
}

static void take_call(Reader *r, Trace *t, const Event *e)
{
    Lane *l = lane_of(r, e);
    RawCall *c = vec_grow(&r->raw->calls);
    uint32_t call = (uint32_t)r->raw->calls.len - 1;

    place_call(r, e, l, c);
    const Known *k = known_of_call(r, c);
    take_arguments(r, e, c);
    vec_push(&l->open, call);
    /* The example's own functions do nothing but what they call. */
    if (c->library)
        take_objects(r, t, e, l, call, k);
    if (k->api && k->api->shape_of)
        take_rest(r, e, l, call);
    note_stores(r, e, call, k);
    note_lent(r, t, e, call);
}

/* What objects hold when the library gives control back to the caller. */
static void note_content(Reader *r, const Event *e, RawCall *c, const Known *k)
{
    for (unsigned i = 0; c->api && c->via != VIA_LIBRARY && i <= c->nparams; i++) {
        uint64_t address = i < c->nparams ? c->addresses[i] : e->nvalues ? e->values[0].address : 0;
        size_t n = 0;
        const uint8_t *bytes = k->levels[i] == 1 && address ? event_bytes(e, address, &n) : NULL;
        if (bytes && c->objects[i] != NO_OBJECT)
            stores_leave(r->arena, c, &r->raw->objects.items[c->objects[i]], bytes, n);
    }
}

/* Objects on the stack of a function that returns are no more. */
static void frame_ends(Reader *r, Lane *l, uint32_t call)
{
    while (l->locals.len && l->frames.items[l->frames.len - 1] >= call) {
        r->raw->objects.items[l->locals.items[--l->locals.len]].gone = true;
        l->frames.len--;
    }
}

/* Its memory is part of a larger block: a pool, or another object. */
static bool is_pooled(const Object *o)
{
    return o->block && (o->offset || (o->type->size && o->block->size > 16 * o->type->size));
}

/* Objects that were closed while their memory stays: those of a pool, and the
 * caller's own. Of all others the heap tells; a reference less is no end. */
static void close_objects(Reader *r, const RawCall *c)
{
    for (unsigned i = 0; c->api && i < c->nparams; i++) {
        ApiUse use = c->api->params[i].use;
        if (c->objects[i] == NO_OBJECT || (use != USE_CONSUMES && use != USE_FINISHES))
            continue;
        Object *o = &r->raw->objects.items[c->objects[i]];
        if (o->died != UINT64_MAX || (o->block && o->block->died))
            continue;
        if (o->callers || !o->block) {
            o->died = c->end; /* perhaps: see is_new_life() */
        } else if (is_pooled(o) && use == USE_CONSUMES) {
            o->died = c->end;
            o->gone = true;
        }
    }
}

/* A text that was made in the call: it may be the caller's. */
static void note_text(Reader *r, const Event *e, const RawCall *c)
{
    const TraceObject *o = e->nvalues ? e->values[0].object : NULL;
    if (c->api && c->via == VIA_EXAMPLE && c->api->result.role == ROLE_STRING && o &&
        o->kind == OBJECT_HEAP && e->values[0].offset == 0 && r->base + o->born > c->begin)
        map_putn(&r->texts, &o->id, sizeof o->id, (void *)c->api);
}

/* The library frees memory of the example's: the last call that had it gave it away. */
static void note_given(Reader *r, const Event *e)
{
    uintptr_t x = (uintptr_t)map_getn(&r->lent, &e->object->id, sizeof e->object->id);
    if (!x)
        return;
    RawCall *c = &r->raw->calls.items[(x - 1) >> LENT_BITS];
    unsigned as = (unsigned)(x - 1) & ((1u << LENT_BITS) - 1);
    if (as >= LENT_STORES + c->nstores)
        return;
    SeqValue *v = as < LENT_STORES ? &c->values[as] : &c->stores[as - LENT_STORES].value;
    if (as < LENT_STORES && as < c->nparams && v->kind == VALUE_ROOM && c->held &&
        c->held[as].kind != VALUE_NONE)
        *v = c->held[as];
    if (v->kind == VALUE_STRING || v->kind == VALUE_BYTES || v->kind == VALUE_ROOM)
        v->given = true;
    else if (as < LENT_STORES)
        *v = (SeqValue){ 0 };
    else
        c->unknown = true;
}

static void take_free(Reader *r, const Event *e)
{
    const ApiFunction *f =
        e->object ? map_getn(&r->texts, &e->object->id, sizeof e->object->id) : NULL;
    bool library = library_at_work(r, lane_of(r, e));
    if (f && !library)
        map_put(&r->raw->texts, f->name, (void *)f);
    if (e->object && library) {
        note_given(r, e);
        map_putn(&r->freed, &e->object->id, sizeof e->object->id, (void *)1);
    }
}

static void take_return(Reader *r, Trace *t, const Event *e)
{
    Lane *l = lane_of(r, e);
    uint64_t number = r->base + e->call;
    size_t n = l->open.len;

    while (n && r->raw->calls.items[l->open.items[n - 1]].begin != number)
        n--;
    if (!n)
        return;
    uint32_t call = l->open.items[n - 1];
    RawCall *c = &r->raw->calls.items[call];
    const Known *k = known_of_call(r, c);
    c->end = r->base + e->number;
    c->returned = true;
    for (unsigned i = 0; c->library && i < c->nparams && i < PLACES_LIMIT; i++) {
        Pointer p;
        if (!k->types[i] || k->levels[i] != 2 || !pointer_at(t, e, c->addresses[i], &p))
            continue;
        comes_out(r, e, l, call, (int)i, k->types[i], p);
    }
    if (c->library && k->types[c->nparams] && k->levels[c->nparams] == 1 && e->nvalues &&
        e->values[0].bytes)
        comes_out(r, e, l, call, API_RETURNED, k->types[c->nparams],
                  (Pointer){ e->values[0].address, e->values[0].object });
    if (c->api)
        c->result = result_of(r, e, &c->api->result);
    note_content(r, e, c, k);
    note_filled(e, c);
    note_text(r, e, c);
    close_objects(r, c);
    while (l->open.len >= n)
        frame_ends(r, l, l->open.items[--l->open.len]);
}

static void take_alloc(Reader *r, const Event *e)
{
    if (!e->object)
        return;
    while (r->inside.len <= e->object->id)
        vec_push(&r->inside, 0);
    r->inside.items[e->object->id] = library_at_work(r, lane_of(r, e));
}

/* The heap tells when blocks died; those of this trace are from `first` on. */
static void settle_deaths(Reader *r, size_t first)
{
    for (size_t i = first; i < r->raw->objects.len; i++) {
        Object *o = &r->raw->objects.items[i];
        if (o->block && o->block->died && o->died > r->base + o->block->died)
            o->died = r->base + o->block->died;
        /* storage of the example's that the library frees: nobody could make it again */
        if (o->block && o->callers && o->maker != NO_CALL &&
            map_getn(&r->freed, &o->block->id, sizeof o->block->id))
            r->raw->calls.items[o->maker].unknown = true;
        if (o->found && o->maker != NO_CALL) /* nobody saw what became of it */
            r->raw->calls.items[o->maker].unknown = true;
        o->block = NULL;
    }
}

static int by_call(const void *a, const void *b)
{
    const Part *x = a, *y = b;
    return (x->call > y->call) - (x->call < y->call);
}

/* Asked now and then: is it to go on? */
static bool goes_on(const RawUsage *raw, const UsagePlan *plan, uint64_t events)
{
    enum { OFTEN = 1 << 12, SELDOM = 1 << 16 };
    char text[80];
    if (events % SELDOM == 0) {
        snprintf(text, sizeof text, "what the example did: %zu calls", raw->calls.len);
        usage_say(plan, text);
    }
    return events % OFTEN || !plan->stop || !plan->stop(plan->arg);
}

bool raw_add_trace(RawUsage *raw, Arena *a, Trace *t, const UsagePlan *plan)
{
    uint64_t events = 0;
    bool ok = true;
    Reader r = { .raw = raw, .arena = a, .traced = trace_program(t), .base = raw->last };
    size_t first = raw->objects.len;

    r.known = xcalloc(program_index_limit(r.traced) + 1, sizeof *r.known);
    find_files(raw->api, r.traced, &r.files);
    for (const Event *e; ok && (e = trace_next(t)); ok = goes_on(raw, plan, ++events)) {
        raw->last = r.base + e->number;
        if (e->kind == EVENT_CALL && e->fn)
            take_call(&r, t, e);
        else if (e->kind == EVENT_RETURN && e->fn)
            take_return(&r, t, e);
        else if (e->kind == EVENT_ALLOC)
            take_alloc(&r, e);
        else if (e->kind == EVENT_FREE)
            take_free(&r, e);
    }
    settle_deaths(&r, first);
    for (size_t i = first; i < raw->objects.len; i++)
        if (raw->objects.items[i].parts.len)
            qsort(raw->objects.items[i].parts.items, raw->objects.items[i].parts.len, sizeof(Part),
                  by_call);
    for (size_t i = 0; i < r.lanes.len; i++) {
        Lane *l = r.lanes.entries[i].value;
        vec_release(&l->open);
        vec_release(&l->locals);
        vec_release(&l->frames);
        free(l);
    }
    map_release(&r.lanes);
    map_release(&r.live);
    map_release(&r.files);
    map_release(&r.texts);
    map_release(&r.lent);
    map_release(&r.freed);
    vec_release(&r.inside);
    free(r.known);
    arena_release(&r.scratch);
    return ok;
}

void raw_release(RawUsage *raw)
{
    for (size_t i = 0; i < raw->objects.len; i++)
        vec_release(&raw->objects.items[i].parts);
    vec_release(&raw->objects);
    vec_release(&raw->calls);
    map_release(&raw->texts);
}

bool raw_is_inside(const RawUsage *raw, uint32_t inner, uint32_t outer)
{
    for (uint32_t c = raw->calls.items[inner].parent; c != NO_CALL && c >= outer;
         c = raw->calls.items[c].parent)
        if (c == outer)
            return true;
    return false;
}

Part *raw_part(const Object *o, uint32_t call)
{
    size_t lo = 0, hi = o->parts.len;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (o->parts.items[mid].call < call)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < o->parts.len && o->parts.items[lo].call == call ? &o->parts.items[lo] : NULL;
}
