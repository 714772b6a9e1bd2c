/*
 * What callers wrote into structs between calls.
 *
 * A caller that sees the fields of a struct may set them: stream.next_in, say.
 * No call tells of it, but the copies that a trace has do: what a struct held
 * when the last call on it returned, against what it holds when the next begins.
 *
 *     return deflateInit_      next_in 0, avail_in 0
 *     call   deflate           next_in ->"hello", avail_in 5     two stores
 *
 * Storage that is seen for the first time is held against zeros, if it looks as
 * if it had been zeroed; what else the stack holds is nobody's intention. Where the first
 * call has written over most of it, what was there before was of no interest to it.
 *
 * A pointer to bytes and the number beside it go together: both are stored if
 * one has changed, and the number is never more than the bytes that are known.
 */
#include "engine/usage/usage_int.h"
#include <string.h>

enum { MOST_STORES = 32, MOST_PADDED = 4096, MOST_ROOM = 1 << 16 };

typedef struct Diff {
    Arena *arena;
    RawCall *call;
    unsigned place;
    const Event *event;
    const uint8_t *was, *now;
} Diff;

static uint64_t word_at(const uint8_t *bytes, const Field *f, uint64_t base)
{
    uint64_t x = 0, n = f->width / 8;
    memcpy(&x, bytes + base + f->offset / 8, n < 8 ? n : 8);
    return x;
}

static bool is_plain(const Field *f)
{
    const Type *t = type_plain(f->type);
    return !f->bit_field && *f->name && f->width && f->width <= 64 &&
           (t->kind == TYPE_SCALAR || t->kind == TYPE_ENUM || t->kind == TYPE_POINTER);
}

static bool is_count(const Field *f)
{
    const Type *t = type_plain(f->type);
    return is_plain(f) && t->kind == TYPE_SCALAR && t->encoding != ENCODING_FLOAT && t->size >= 2 &&
           api_is_length_name(f->name);
}

static bool leads_to_bytes(const Field *f)
{
    const Type *t = type_plain(f->type);
    t = is_plain(f) && t->kind == TYPE_POINTER ? type_plain(t->target) : NULL;
    return t && (t->kind == TYPE_VOID || (t->kind == TYPE_SCALAR && t->size == 1));
}

/* The field with the number of the bytes that another leads to; -1: none. */
static int count_beside(const Type *t, unsigned i)
{
    if (!leads_to_bytes(&t->fields[i]))
        return -1;
    if (i + 1 < t->nfields && is_count(&t->fields[i + 1]))
        return (int)i + 1;
    return i && is_count(&t->fields[i - 1]) ? (int)i - 1 : -1;
}

static bool differs(const Diff *d, const Field *f, uint64_t base)
{
    return word_at(d->was, f, base) != word_at(d->now, f, base);
}

/* The bytes that a field leads to; `count` of them if that is known. */
static SeqValue bytes_behind(const Diff *d, uint64_t address, uint64_t count, bool counted)
{
    size_t n = 0;
    const uint8_t *bytes = event_bytes(d->event, address, &n);
    if (counted && count > MOST_ROOM)
        return (SeqValue){ 0 };
    if (!bytes || !n)
        return counted && count ? value_room(count) : (SeqValue){ 0 };
    if (!counted || count <= n)
        return value_bytes(d->arena, bytes, counted ? count : n);
    if (count > MOST_PADDED)
        return value_room(count);
    uint8_t *padded = arena_array(d->arena, uint8_t, count + 1);
    memcpy(padded, bytes, n);
    return value_bytes(d->arena, padded, count);
}

/* A struct that a field leads to, with what that leads to. */
static SeqValue record_behind(const Diff *d, const Type *target, uint64_t address)
{
    const Type *t = target ? type_plain(target) : NULL;
    size_t n = 0;
    const uint8_t *bytes = event_bytes(d->event, address, &n);
    return t && bytes && t->size && n >= t->size
               ? memory_of(d->arena, d->event, t, bytes, n - n % t->size)
               : (SeqValue){ 0 };
}

/* What a place for results holds before is of no interest. */
static bool is_output_name(const char *name)
{
    return strstr(name, "out") || strstr(name, "dst") || strstr(name, "dest");
}

static SeqValue value_in(const Diff *d, const Type *record, unsigned i, uint64_t base)
{
    const Field *f = &record->fields[i];
    const Type *t = type_plain(f->type);
    uint64_t bits = word_at(d->now, f, base);
    double x;
    if (t->kind == TYPE_POINTER && !bits)
        return value_null();
    if (t->kind == TYPE_POINTER && type_plain(t->target)->kind == TYPE_FUNCTION)
        return value_function(NULL);
    if (leads_to_bytes(f)) {
        int k = count_beside(record, i);
        uint64_t room = k < 0 ? 0 : word_at(d->now, &record->fields[k], base);
        if (room && room <= MOST_ROOM && is_output_name(f->name))
            return value_room(room);
        return bytes_behind(d, bits, room, k >= 0);
    }
    if (t->kind == TYPE_POINTER)
        return record_behind(d, t->target, bits);
    if (t->encoding != ENCODING_FLOAT)
        return value_integer(bits);
    memcpy(&x, &bits, sizeof x);
    return t->size == 8 ? value_float(x) : (SeqValue){ 0 };
}

static int add_store(Diff *d, const Field *f, const char *prefix, uint64_t base, SeqValue v)
{
    RawCall *c = d->call;
    if (v.kind == VALUE_NONE || c->nstores == MOST_STORES) {
        c->unknown = true;
        return -1;
    }
    if (!c->stores)
        c->stores = arena_array(d->arena, UsageStore, MOST_STORES);
    if (*prefix || base) {
        Field *inner = arena_new(d->arena, Field);
        *inner = *f;
        inner->name = arena_printf(d->arena, "%s%s", prefix, f->name);
        inner->offset += base * 8;
        f = inner;
    }
    bool pointer = type_plain(f->type)->kind == TYPE_POINTER;
    c->stores[c->nstores] =
        (UsageStore){ (int)d->place, f, v, -1, pointer ? word_at(d->now, f, 0) : 0 };
    return (int)c->nstores++;
}

static void compare(Diff *d, const Type *record, const char *prefix, uint64_t base, unsigned depth)
{
    for (unsigned i = 0; i < record->nfields; i++) {
        const Field *f = &record->fields[i];
        const Type *t = type_plain(f->type);
        if (t->kind == TYPE_STRUCT && depth < 3 && *f->name)
            compare(d, t, arena_printf(d->arena, "%s%s.", prefix, f->name), base + f->offset / 8,
                    depth + 1);
        if (!is_plain(f))
            continue;
        int k = count_beside(record, i);
        if (k < 0) {
            /* the number of a neighbour goes with it */
            bool of = (i && count_beside(record, i - 1) == (int)i) ||
                      (i + 1 < record->nfields && count_beside(record, i + 1) == (int)i);
            if (!of && differs(d, f, base))
                add_store(d, f, prefix, base, value_in(d, record, i, base));
            continue;
        }
        const Field *count = &record->fields[k];
        if (!differs(d, f, base) && !differs(d, count, base))
            continue;
        int at = add_store(d, f, prefix, base, value_in(d, record, i, base));
        int number =
            at < 0 ? -1
                   : add_store(d, count, prefix, base, value_integer(word_at(d->now, count, base)));
        if (at >= 0)
            d->call->stores[at].partner = number;
    }
}

/* Mostly zeros, and no word that looks like an address except where pointers are: not
 * what happened to lie on the stack. */
static bool looks_zeroed(const Type *record, const uint8_t *bytes, size_t n)
{
    size_t zeros = 0;
    for (size_t i = 0; i < n; i++)
        zeros += !bytes[i];
    for (size_t i = 0; i + 8 <= n; i += 8) {
        uint64_t word;
        bool pointer = false;
        memcpy(&word, bytes + i, sizeof word);
        for (unsigned k = 0; k < record->nfields && !pointer; k++)
            pointer = record->fields[k].offset == i * 8 &&
                      type_plain(record->fields[k].type)->kind == TYPE_POINTER;
        if (!pointer && word >> 40 > 0 && word >> 48 == 0)
            return false;
    }
    return zeros * 4 >= n * 3;
}

static uint8_t *copy_of(Arena *a, const uint8_t *bytes, size_t n)
{
    uint8_t *copy = arena_array(a, uint8_t, n + 1);
    memcpy(copy, bytes, n);
    return copy;
}

/* Has a call written over most of the words that were not zero? */
static bool is_overwritten(const uint8_t *was, const uint8_t *now, size_t n)
{
    size_t words = 0, changed = 0;
    for (size_t i = 0; i + 8 <= n; i += 8) {
        static const uint8_t zeros[8];
        bool zero = memcmp(was + i, zeros, sizeof zeros) == 0;
        words += !zero;
        changed += !zero && memcmp(was + i, now + i, 8) != 0;
    }
    return 4 * changed >= 3 * words;
}

bool stores_fill(const uint8_t *was, const uint8_t *now, size_t n)
{
    enum { SOME = 3 }; /* words; fewer may have changed because the call works on them */
    size_t words = 0;
    for (size_t i = 0; i + 8 <= n; i += 8) {
        static const uint8_t zeros[8];
        if (memcmp(was + i, zeros, 8) == 0)
            continue;
        if (memcmp(was + i, now + i, 8) == 0)
            return false;
        words++;
    }
    return words >= SOME;
}

void stores_note(Arena *a, RawCall *c, Object *o, unsigned place, const Event *e, bool first)
{
    size_t n = 0, size = o->type->size;
    const uint8_t *now = o->type->open ? event_bytes(e, c->addresses[place], &n) : NULL;
    if (!now || n < size || type_plain(o->type->type)->kind != TYPE_STRUCT)
        return;
    Diff d = { a, c, place, e, o->last, now };
    if (!d.was && first && o->callers && looks_zeroed(type_plain(o->type->type), now, size))
        d.was = arena_array(a, uint8_t, size + 1);
    bool unknown = c->unknown, zeroed = d.was && !o->last;
    size_t nstores = c->nstores;
    if (d.was)
        compare(&d, type_plain(o->type->type), "", 0, 0);
    if ((!d.was && first && c->api->params[place].role != ROLE_STORAGE) ||
        (zeroed && c->unknown && !unknown)) {
        /* it depends on what the call makes of it */
        o->found = copy_of(a, now, size);
        c->unknown = unknown;
        c->nstores = nstores;
    }
}

void stores_leave(Arena *a, RawCall *c, Object *o, const uint8_t *bytes, size_t n)
{
    if (!o->type->open || !bytes || n < o->type->size)
        return;
    if (o->found && !is_overwritten(o->found, bytes, o->type->size))
        c->unknown = true;
    o->found = NULL;
    if (!o->last)
        o->last = arena_array(a, uint8_t, o->type->size + 1);
    memcpy(o->last, bytes, o->type->size);
}

bool stores_equal(const UsageRow *row, const UsageStore *stores, size_t n)
{
    if (row->nstores != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (row->stores[i].place != stores[i].place ||
            row->stores[i].field->offset != stores[i].field->offset ||
            !value_equal(&row->stores[i].value, &stores[i].value))
            return false;
    return true;
}
