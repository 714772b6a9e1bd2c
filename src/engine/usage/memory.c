/*
 * What lies in memory, as a value without addresses.
 *
 * The pointers in it become values of their own (links), as their types say:
 *
 *     struct item { const char *name; struct item *next; int n; }
 *     55d0… "one", 0, 1      {0 0 1}, link 0: "one"
 *
 * There is no value for memory that leads to something which was not recorded, that
 * leads twice to the same memory (a circle, a first and a last), or whose pointers are
 * in a union.
 */
#include "engine/usage/usage_int.h"
#include <string.h>

enum { DEEPEST = 10, MOST_LINKS = 64, MOST_RANGES = 256 };

typedef struct Range {
    uint64_t from, to;
} Range;

typedef struct Walk {
    Arena *arena;
    const Event *event;
    Range ranges[MOST_RANGES];   /* memory that is part of the value already */
    unsigned nranges;
} Walk;

/* The memory at an address is taken; false: it was already, or too much is. Structs on a
 * stack and literals are neighbours; of other things a neighbour is where the first one
 * ends. */
static bool claim(Walk *w, uint64_t address, size_t n, bool is_whole)
{
    uint64_t edge = is_whole ? 0 : 1;
    for (unsigned i = 0; i < w->nranges; i++)
        if (address < w->ranges[i].to + edge && address + n + edge > w->ranges[i].from)
            return false;
    if (w->nranges == MOST_RANGES)
        return false;
    w->ranges[w->nranges++] = (Range){ address, address + n };
    return true;
}

static SeqValue content(Walk *w, const Type *type, const uint8_t *bytes, size_t n, unsigned depth);

/* What a pointer to `target` leads to. */
static SeqValue pointed(Walk *w, const Type *target, uint64_t address, unsigned depth)
{
    const Type *t = target ? type_plain(target) : NULL;
    size_t n = 0;
    const uint8_t *bytes = event_bytes(w->event, address, &n);

    if (t && t->kind == TYPE_FUNCTION)
        return value_function(NULL);
    if (!t || !bytes || !t->size || n < t->size || depth > DEEPEST)
        return (SeqValue){ 0 };
    n -= n % t->size;
    bool is_text = t->size == 1 && memchr(bytes, 0, n) == bytes + n - 1;
    if (!claim(w, address, n, is_text || t->kind == TYPE_STRUCT))
        return (SeqValue){ 0 };
    if (is_text) {
        SeqValue text = value_bytes(w->arena, bytes, n);
        text.kind = VALUE_STRING;
        text.n = n - 1;
        return text;
    }
    return content(w, t, bytes, n, depth);
}

typedef struct Links {
    SeqLink *items;
    size_t n;
} Links;

static bool links_in(Walk *w, const Type *type, uint8_t *bytes, uint64_t at, Links *out,
                     unsigned depth);

static bool link_at(Walk *w, const Type *t, uint8_t *bytes, uint64_t at, Links *out, unsigned depth)
{
    uint64_t address;
    memcpy(&address, bytes + at, sizeof address);
    if (!address)
        return true;
    SeqValue v = pointed(w, t->target, address, depth + 1);
    if (v.kind == VALUE_NONE || out->n == MOST_LINKS)
        return false;
    memset(bytes + at, 0, sizeof address);
    out->items[out->n++] = (SeqLink){ (uint32_t)at, v };
    return true;
}

/* A union that holds something: is it known not to be a pointer? */
static bool is_empty(const Type *t, const uint8_t *bytes)
{
    for (uint64_t i = 0; i < t->size; i++)
        if (bytes[i])
            return false;
    return true;
}

static bool has_pointers(const Type *type)
{
    const Type *t = type_plain(type);
    if (t->kind == TYPE_POINTER)
        return true;
    if (t->kind == TYPE_ARRAY && t->target)
        return has_pointers(t->target);
    for (unsigned i = 0; type_is_record(t) && i < t->nfields; i++)
        if (has_pointers(t->fields[i].type))
            return true;
    return false;
}

static bool links_in(Walk *w, const Type *type, uint8_t *bytes, uint64_t at, Links *out,
                     unsigned depth)
{
    const Type *t = type_plain(type);
    bool ok = true;
    if (t->kind == TYPE_POINTER)
        return link_at(w, t, bytes, at, out, depth);
    if (t->kind == TYPE_UNION)
        return !has_pointers(t) || is_empty(t, bytes + at);
    if (t->kind == TYPE_ARRAY && t->target && type_plain(t->target)->size && has_pointers(t))
        for (uint64_t i = 0, one = type_plain(t->target)->size; ok && (i + 1) * one <= t->size; i++)
            ok = links_in(w, t->target, bytes, at + i * one, out, depth);
    for (unsigned i = 0; ok && t->kind == TYPE_STRUCT && i < t->nfields; i++)
        if (!t->fields[i].bit_field)
            ok = links_in(w, t->fields[i].type, bytes, at + t->fields[i].offset / 8, out, depth);
    return ok;
}

/* One or more of a type, one after the other. */
static SeqValue content(Walk *w, const Type *type, const uint8_t *bytes, size_t n, unsigned depth)
{
    const Type *t = type_plain(type);
    SeqValue v = value_bytes(w->arena, bytes, n);
    Links links = { 0 };
    if (!has_pointers(t))
        return v;
    links.items = arena_array(w->arena, SeqLink, MOST_LINKS);
    for (uint64_t at = 0; at + t->size <= n; at += t->size)
        if (!links_in(w, t, (uint8_t *)v.bytes, at, &links, depth))
            return (SeqValue){ 0 };
    v.links = links.items;
    v.nlinks = links.n;
    return v;
}

SeqValue memory_of(Arena *a, const Event *e, const Type *type, const uint8_t *bytes, size_t n)
{
    Walk w = { .arena = a, .event = e };
    return content(&w, type, bytes, n, 0);
}

bool memory_has_addresses(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i + 8 <= n; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof word);
        uint64_t high = word >> 40;
        if (high == 0x55 || high == 0x56 || high == 0x7f || high == 0x7e)
            return true;
    }
    return false;
}
