/*
 * call - executes steps: functions are called through libffi, fields are set.
 *
 * What fresh memory and the stack hold tends to differ from run to run. With a
 * `fill` the stack below a call holds that byte.
 */
#include "engine/play/player/player_int.h"
#include "engine/api/value.h"
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- signatures */

static ffi_type *scalar_type(char c)
{
    switch (c) {
    case 'v': return &ffi_type_void;
    case 'c': return &ffi_type_sint8;
    case 'C': return &ffi_type_uint8;
    case 's': return &ffi_type_sint16;
    case 'S': return &ffi_type_uint16;
    case 'i': return &ffi_type_sint32;
    case 'I': return &ffi_type_uint32;
    case 'l': return &ffi_type_sint64;
    case 'L': return &ffi_type_uint64;
    case 'f': return &ffi_type_float;
    case 'd': return &ffi_type_double;
    default: return &ffi_type_pointer;
    }
}

static ffi_type *parse_type(const char **s)
{
    if (**s != '{')
        return scalar_type(*(*s)++);
    ++*s;
    ffi_type *t = calloc(1, sizeof *t);
    t->type = FFI_TYPE_STRUCT;
    t->elements = calloc(MOST_MEMBERS + 1, sizeof *t->elements);
    for (unsigned n = 0; **s && **s != '}';)
        if (n < MOST_MEMBERS)
            t->elements[n++] = parse_type(s);
        else
            ++*s;
    if (**s)
        ++*s;
    return t;
}

/* "name", or "name+8": what a table has there. */
static void *find_code(const char *symbol, void *library)
{
    char name[256];
    const char *plus = strchr(symbol, '+');
    size_t n = plus ? (size_t)(plus - symbol) : 0;
    if (!plus || n >= sizeof name)
        return dlsym(library, symbol);
    memcpy(name, symbol, n);
    name[n] = 0;
    const char *table = dlsym(library, name);
    void *code = NULL;
    if (table)
        memcpy(&code, table + strtoul(plus + 1, NULL, 10), sizeof code);
    return code;
}

int call_prepare(Routine *r, void *library)
{
    const char *s = r->signature;
    int fixed = -1;
    void *code = find_code(r->symbol, library);
    memcpy(&r->code, &code, sizeof code);
    r->result = parse_type(&s);
    while (*s && r->nargs < MOST_ARGS) {
        if (*s == '.') {
            fixed = (int)r->nargs;
            s++;
            continue;
        }
        r->types[r->nargs++] = parse_type(&s);
    }
    ffi_status st = fixed >= 0
                        ? ffi_prep_cif_var(&r->cif, FFI_DEFAULT_ABI, (unsigned)fixed, r->nargs,
                                           r->result, r->types)
                        : ffi_prep_cif(&r->cif, FFI_DEFAULT_ABI, r->nargs, r->result, r->types);
    if (st != FFI_OK)
        r->code = NULL;
    return r->code != NULL;
}

/* ---- steps */

__attribute__((noinline)) static void dirty_stack(uint32_t fill)
{
    volatile uint8_t waste[16384];
    if (fill)
        memset((void *)waste, (int)fill, sizeof waste);
    __asm__ volatile("" : : "r"(waste) : "memory");
}

static void set_field(Playing *p, Reader *r, Done *d)
{
    uint16_t size = take16(r);
    uint32_t offset = take32(r);
    Taken target, v;
    take_value(p, r, &target);
    take_value(p, r, &v);
    d->routine = WIRE_SET;
    take_room(p, &v);
    if (v.kind == VALUE_FLOAT)
        memcpy(&v.bits, &v.real, 8);
    d->rooms[0] = v.room;
    d->sizes[0] = v.n;
    d->nargs = 1;
    d->out = size && v.kind == VALUE_ROOM && v.room && !v.given;
    if (d->out)
        d->sum = look_sum(d);
    if (target.bits && size <= 8)
        memcpy((char *)(uintptr_t)target.bits + offset, &v.bits, size);
}

/* An argument as libffi wants it. */
static void put_argument(Playing *p, const ffi_type *type, Taken *t, uint64_t slot[8])
{
    float x = (float)t->real;
    if (type->type == FFI_TYPE_STRUCT) {
        memcpy(slot, t->bytes, t->bytes && t->n <= 64 ? t->n : 0);
    } else if (type == &ffi_type_double) {
        memcpy(slot, &t->real, 8);
    } else if (type == &ffi_type_float) {
        memcpy(slot, &x, sizeof x);
    } else {
        if (type == &ffi_type_pointer)
            take_room(p, t);
        memcpy(slot, &t->bits, 8);
    }
}

/* What is looked at when the call has returned. */
static void note_argument(Playing *p, Done *d, unsigned i, char look, const Taken *t)
{
    if (t->given)
        return;                  /* it may be gone already */
    d->rooms[i] = t->room;
    d->sizes[i] = t->kind == VALUE_STRING ? t->n + 1 : t->n;
    if (look == 's' && t->own && t->own_size <= WIRE_MOST_SEEN_BYTES) {
        d->own[i] = t->own;
        d->own_sizes[i] = t->own_size;
        memcpy(p->content[i], t->own, t->own_size);
    }
}

/* Arguments that lie in what others lead to. */
static void put_within(const uint32_t *within, unsigned n, uint64_t slots[][8])
{
    for (unsigned i = 0; i < n; i++)
        if (within[i] < n && within[i] != i && slots[within[i]][0])
            slots[i][0] += slots[within[i]][0];
}

static void call(Playing *p, Reader *r, uint16_t number, Done *d, uint32_t fill)
{
    const Routine *f = &p->player->routines[number];
    uint64_t slots[MOST_ARGS][8];
    uint32_t within[MOST_ARGS];
    void *args[MOST_ARGS];
    unsigned n = take16(r);
    d->routine = number;
    d->nargs = n > MOST_ARGS ? MOST_ARGS : n;
    memset(slots, 0, sizeof slots);
    memset(within, 0xff, sizeof within);
    for (unsigned i = 0; i < MOST_ARGS; i++)
        args[i] = slots[i];
    for (unsigned i = 0; i < n; i++) {
        Taken t;
        take_value(p, r, &t);
        if (i >= f->nargs)
            continue;
        put_argument(p, f->types[i], &t, slots[i]);
        note_argument(p, d, i, f->look[i + 1], &t);
        if (t.kind == VALUE_WITHIN)
            within[i] = t.within;
    }
    put_within(within, d->nargs, slots);
    if (!f->code)
        _exit(77);
    dirty_stack(fill);
    errno = 0;
    ffi_call((ffi_cif *)&f->cif, f->code, d->result, args);
}

void call_steps(Playing *p, Reader *r, uint32_t n, uint32_t fill, int look)
{
    assert(p->player && p->answer);
    for (uint32_t i = 0; i < n && p->ndone < MOST_STEPS; i++) {
        Done *d = &p->done[p->ndone];
        memset(d, 0, sizeof *d);
        p->answer->at = p->ndone;
        uint16_t number = take16(r);
        int error = 0;
        if (number == WIRE_SET) {
            set_field(p, r, d);
        } else if (number < p->player->nroutines) {
            call(p, r, number, d, fill);
            error = errno;
        } else {
            _exit(78);
        }
        p->ndone++;
        if (look && number != WIRE_SET)
            look_at_call(p, p->ndone - 1, error);
    }
}

void call_forget(Playing *p)
{
    for (unsigned i = 0; i < p->nallocations; i++)
        free(p->allocations[i]);
    p->nallocations = 0;
    p->ndone = 0;
    p->callbacks = p->callbacks_seen = 0;
}
