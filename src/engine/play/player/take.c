/* take - the bytes of a request (wire.h), and arguments made of them. */
#include "engine/play/player/player_int.h"
#include "engine/api/value.h"
#include <assert.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

int take(Reader *r, void *to, size_t n)
{
    if ((size_t)(r->end - r->p) < n) {
        memset(to, 0, n);
        r->p = r->end;
        return 0;
    }
    memcpy(to, r->p, n);
    r->p += n;
    return 1;
}

uint32_t take32(Reader *r)
{
    uint32_t v;
    take(r, &v, sizeof v);
    return v;
}

uint16_t take16(Reader *r)
{
    uint16_t v;
    take(r, &v, sizeof v);
    return v;
}

/* What is given to the library is not ours to free. */
static void *room_of(Playing *p, const Taken *t, size_t have, size_t n)
{
    void *room = t->given || p->nallocations < MOST_ALLOCATIONS ? malloc(n ? n : 1) : NULL;
    const uint8_t *bytes = t->bytes;
    if (!room)
        return NULL;
    assert(have <= n);
    if (!t->given)
        p->allocations[p->nallocations++] = room;
    memset(room, 0, n);
    if (have)
        memcpy(room, bytes, have);
    return room;
}

static void take_symbol(const Playing *p, Reader *r, Taken *t)
{
    char name[256] = "";
    uint32_t n = take32(r);
    void (*code)(void) = (void (*)(void))interpose_stub;
    if (n && n < sizeof name && take(r, name, n) && p) {
        void *found = dlsym(p->player->library, name);
        if (!found)
            found = dlsym(RTLD_DEFAULT, name);
        memcpy(&code, &found, sizeof found);
    }
    memcpy(&t->bits, &code, sizeof code);
}

static void take_made(const Playing *p, Reader *r, Taken *t)
{
    uint32_t step = take32(r), param = t->kind == VALUE_RESULT ? 0 : take32(r);
    if (!p || step >= p->ndone || param >= MOST_ARGS)
        return;
    const Done *d = &p->done[step];
    if (t->kind == VALUE_RESULT) {
        t->bits = d->result[0];
    } else if (t->kind == VALUE_STORAGE) {
        t->bits = (uint64_t)(uintptr_t)d->rooms[param];
        t->own = d->rooms[param];
        t->own_size = d->sizes[param];
    } else if (d->rooms[param] && d->sizes[param] >= 8) {
        memcpy(&t->bits, d->rooms[param], 8);
    }
}

static void take_bytes(Reader *r, Taken *t)
{
    take(r, &t->given, 1);
    t->n = take32(r);
    t->bytes = r->p;
    if ((size_t)(r->end - r->p) < t->n)
        t->n = 0;
    r->p += t->n;
    t->nlinks = take32(r);
    t->links = *r;
    for (uint32_t i = 0; i < t->nlinks && r->p < r->end; i++) {
        Taken stepped_over;
        take32(r);
        take_value(NULL, r, &stepped_over);
    }
}

/* Pointers in bytes lead to memory of their own. */
static void set_links(Playing *p, const Taken *t)
{
    Reader r = t->links;
    for (uint32_t i = 0; i < t->nlinks && r.p < r.end; i++) {
        uint32_t at = take32(&r);
        Taken inner;
        take_value(p, &r, &inner);
        take_room(p, &inner);
        if (at + sizeof inner.bits <= t->n)
            memcpy((char *)t->room + at, &inner.bits, sizeof inner.bits);
    }
}

/* Without a Playing the value is only stepped over. */
void take_value(Playing *p, Reader *r, Taken *t)
{
    memset(t, 0, sizeof *t);
    take(r, &t->kind, 1);
    switch (t->kind) {
    case VALUE_INTEGER: take(r, &t->bits, 8); break;
    case VALUE_FLOAT: take(r, &t->real, 8); break;
    case VALUE_STRING:
    case VALUE_BYTES: take_bytes(r, t); break;
    case VALUE_ROOM:
        take(r, &t->given, 1);
        t->n = take32(r);
        break;
    case VALUE_WITHIN:
        t->within = take32(r);
        t->bits = take32(r);
        break;
    case VALUE_RESULT:
    case VALUE_STORED:
    case VALUE_STORAGE: take_made(p, r, t); break;
    case VALUE_FUNCTION: take_symbol(p, r, t); break;
    }
}

void take_room(Playing *p, Taken *t)
{
    if (t->kind == VALUE_STRING)
        t->room = room_of(p, t, t->n, t->n + 1);
    else if (t->kind == VALUE_BYTES)
        t->room = room_of(p, t, t->n, t->n);
    else if (t->kind == VALUE_ROOM) {
        t->own = t->room = room_of(p, t, 0, t->n);
        t->own_size = t->n;
    }
    if (t->room)
        t->bits = (uint64_t)(uintptr_t)t->room;
    if (t->room && t->nlinks)
        set_links(p, t);
}

void take_no_steps(Reader *r, uint32_t n)
{
    Taken t;
    for (uint32_t i = 0; i < n; i++) {
        uint16_t number = take16(r), m = take16(r);
        if (number == WIRE_SET) {
            take32(r);
            m = 2;
        }
        for (unsigned k = 0; k < m; k++)
            take_value(NULL, r, &t);
    }
}
