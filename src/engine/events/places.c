/* Locations of the state: which of them count. */
#include "engine/events/events_int.h"
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool overlap(const Place *a, const Place *b)
{
    return a->object == b->object && a->offset < b->offset + b->size &&
           b->offset < a->offset + a->size;
}

bool place_meets(const Places *all, const Place *p, uint32_t how)
{
    for (size_t i = 0; i < all->len; i++)
        if ((all->items[i].how & how) && overlap(&all->items[i], p))
            return true;
    return false;
}

bool place_is_ignored(const Events *e, const Place *p)
{
    uint32_t seen = 0;
    for (size_t i = 0; i < e->ignored.len; i++) {
        const Place *g = &e->ignored.items[i];
        if (!overlap(g, p))
            continue;
        uint32_t from = g->offset > p->offset ? g->offset : p->offset;
        uint32_t to =
            g->offset + g->size < p->offset + p->size ? g->offset + g->size : p->offset + p->size;
        seen += to - from;
    }
    return seen >= p->size;
}

char *place_name(const Events *e, const Place *p)
{
    if (p->object >= SUNDEW_EVENT_HEAP)
        return xprintf("the heap");
    if (p->object >= SUNDEW_EVENT_LOCAL)
        return xprintf("local variable %" PRIu32 "+%" PRIu32, p->object - SUNDEW_EVENT_LOCAL,
                       p->offset);
    if (p->object >= e->build.nobjects)
        return xprintf("?");
    const EventObject *o = &e->build.objects[p->object];
    if (o->value)
        return xprintf("a value of the loop");
    return o->size > 8 && (p->offset || p->size < o->size)
               ? xprintf("%s+%" PRIu32, o->name, p->offset)
               : xstrdup(o->name);
}

/* ---- what is never read */

/* Bytes one by one: parts of an object may differ. Large objects are noted as a whole. */
enum { WHOLE = 1 << 16 };

typedef struct Key {
    uint32_t object, offset;
} Key;

static void note(Map *m, const Place *p)
{
    uint32_t n = p->size < WHOLE ? p->size : 1;
    for (uint32_t i = 0; i < n; i++) {
        Key k = { p->object, p->offset + i };
        if (!map_getn(m, &k, sizeof k))
            map_putn(m, &k, sizeof k, m);
    }
}

bool place_was_changed(const Events *e, const Place *p)
{
    for (uint32_t i = 0; i < p->size; i++) {
        Key k = { p->object, p->offset + i };
        if (map_getn(&e->changed, &k, sizeof k))
            return true;
    }
    return false;
}

static bool can_be_ignored(const Events *e, uint32_t object)
{
    return object < SUNDEW_EVENT_HEAP &&
           (object >= SUNDEW_EVENT_LOCAL ||
            (object < e->build.nobjects && !e->build.objects[object].value));
}

/* Under the lock. A read of what is ignored ends the search; it begins anew without that. */
void places_note(Events *e, const Places *all)
{
    for (size_t i = 0; i < all->len; i++) {
        const Place *p = &all->items[i];
        if (!can_be_ignored(e, p->object))
            continue;
        if (p->how & SUNDEW_EVENT_READ) {
            note(&e->read, p);
            for (size_t k = 0; k < e->ignored.len; k++)
                if (overlap(&e->ignored.items[k], p))
                    e->again = true;
        }
        if (p->how & (SUNDEW_EVENT_CHANGED | SUNDEW_EVENT_SYMBOLIC))
            note(&e->changed, p);
    }
}

static void ignore(Events *e, uint32_t object, uint32_t offset, uint32_t size)
{
    Place *last = e->ignored.len ? &e->ignored.items[e->ignored.len - 1] : NULL;
    if (last && last->object == object && last->offset + last->size == offset)
        last->size += size;
    else if (e->ignored.len < SUNDEW_EVENTS_IGNORED)
        vec_push(&e->ignored, ((Place){ object, offset, size, 0 }));
}

static int by_place(const void *a, const void *b)
{
    const Key *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool is_named(char *const *names, const char *name)
{
    for (; names && *names; names++)
        if (!strcmp(*names, name))
            return true;
    return false;
}

/* Dead objects, and those that the user names. */
static void ignore_objects(Events *e)
{
    for (size_t i = 0; i < e->build.nobjects; i++) {
        const EventObject *o = &e->build.objects[i];
        bool dead = (e->prune & PRUNE_DEAD) && o->dead;
        if (!o->value && (dead || is_named(e->plan->ignore, o->name)))
            ignore(e, (uint32_t)i, 0, (uint32_t)o->size);
    }
}

void places_learn(Events *e)
{
    e->ignored.len = 0;
    ignore_objects(e);
    if (!(e->prune & PRUNE_NEVER_READ))
        return;
    Key *keys = xcalloc(e->changed.len + 1, sizeof *keys);
    size_t n = 0;
    for (size_t i = 0; i < e->changed.len; i++) {
        const MapEntry *m = &e->changed.entries[i];
        assert(m->key_len == sizeof(Key));
        memcpy(&keys[n], m->key, sizeof(Key));
        n += !map_getn(&e->read, m->key, m->key_len);
    }
    qsort(keys, n, sizeof *keys, by_place);
    for (size_t i = 0; i < n; i++) {
        Place p = { keys[i].object, keys[i].offset, 1, 0 };
        if (!place_is_ignored(e, &p))
            ignore(e, p.object, p.offset, 1);
    }
    free(keys);
}
