/* watch - sizes of heap objects, and pointers that were freed. A table with open
 * addressing; an object that does not fit is not known. */
#include "runtime/heap/pages.h"
#include "runtime/watch/watch_int.h"
#include <string.h>

typedef struct Object {
    uint64_t at;                     /* 0: free */
    uint64_t size;                   /* 0: freed */
    uint64_t by;                     /* slot of the site that freed it */
    uint64_t born;                   /* which allocation it was: addresses come again */
} Object;

enum { BITS = 20, PROBES = 16 };
static Object *table;
static uint64_t births;
static char lock;

static int take(void)
{
    for (unsigned i = 0; i < 1000; i++)
        if (!__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE))
            return 1;
    return 0;                        /* a signal handler in the middle of it */
}

static void give(void) { __atomic_clear(&lock, __ATOMIC_RELEASE); }

static Object *find(const void *p, int make)
{
    /* Neighbours in memory are neighbours here: few pages are touched. */
    uint64_t at = (uint64_t)(uintptr_t)p, h = at >> 4;
    Object *gone = NULL;
    for (unsigned i = 0; i < PROBES; i++) {
        Object *o = &table[(h + i) & ((1 << BITS) - 1)];
        uint64_t seen = __atomic_load_n(&o->at, __ATOMIC_ACQUIRE);
        if (seen == at)
            return o;
        if (!seen)
            return make ? o : NULL;
        if (!o->size && !gone)
            gone = o;
    }
    return make ? gone : NULL;
}

void sundew_watch_alloc(void *p, uint64_t size)
{
    if (!p || !sundew_watch_slot_of(0) || !take())
        return;
    if (!table)
        table = sundew_pages(sizeof(Object) << BITS);
    Object *o = table ? find(p, 1) : NULL;
    if (o) {                         /* readers take no lock: the size is there first */
        o->born = ++births;
        o->by = 0;
        __atomic_store_n(&o->size, size ? size : 1, RELAXED);
        __atomic_store_n(&o->at, (uint64_t)(uintptr_t)p, __ATOMIC_RELEASE);
    }
    give();
}

void sundew_watch_alloc_text(char *p)
{
    if (p)
        sundew_watch_alloc(p, strlen(p) + 1);
}

void sundew_watch_free(void *p)
{
    if (!p || !table || !take())
        return;
    Object *o = find(p, 0);
    if (o)
        o->size = 0;
    give();
}

uint64_t sundew_watch_size(const void *p)
{
    Object *o = p && table ? find(p, 0) : NULL;
    return o ? __atomic_load_n(&o->size, RELAXED) : 0;
}

uint64_t sundew_watch_births(void) { return __atomic_load_n(&births, RELAXED); }

uint64_t sundew_watch_born(const void *p)
{
    Object *o = p && table ? find(p, 0) : NULL;
    return o && o->size ? o->born : 0;
}

int sundew_watch_is_freed(const void *p)
{
    Object *o = p && table ? find(p, 0) : NULL;
    return o && !__atomic_load_n(&o->size, RELAXED);
}

void sundew_watch_table(uint64_t *at, uint64_t *size)
{
    *at = (uint64_t)(uintptr_t)table;
    *size = table ? sizeof(Object) << BITS : 0;
}

/* ---- observations */

void sundew_watch_object(uint32_t slot, const void *p, uint64_t size)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    uint64_t real = s ? sundew_watch_size(p) : 0;
    if (!real)
        return;
    sundew_watch_note(s);
    sundew_watch_range(&s->low, &s->high, (int64_t)real);
    if (real > size)
        sundew_watch_bad(s, 1, (int64_t)size, (int64_t)real);
}

void sundew_watch_sliced(uint32_t slot, const void *p, uint64_t part, uint64_t whole)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    uint64_t real = s ? sundew_watch_size(p) : 0;
    if (!real)
        return;
    sundew_watch_note(s);
    if (real == whole)
        sundew_watch_bad(s, 1, (int64_t)part, (int64_t)real);
}

void sundew_watch_left(uint32_t slot, const void *p, uint64_t born)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    if (!s)
        return;
    sundew_watch_note(s);
    if (p && born && sundew_watch_born(p) == born)
        sundew_watch_bad(s, 1, (int64_t)sundew_watch_size(p), 0);
}

void sundew_watch_shared(uint32_t slot, const void *from, const void *to, uint64_t offset)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    if (!s || !from || !to || from == to)
        return;
    void *a = *(void *const *)((const char *)from + offset);
    void *b = *(void *const *)((const char *)to + offset);
    sundew_watch_note(s);
    if (a && a == b)
        sundew_watch_bad(s, 1, (int64_t)offset, 0);
}

/* The slot of the field's frees keeps the count; loads of it are another slot. */
void sundew_watch_stale(uint32_t slot, const void *p)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    if (!s || !p)
        return;
    sundew_watch_note(s);
    s[1].spare = 0;                  /* loads are of interest again */
    Object *o = table ? find(p, 0) : NULL;
    if (o)
        o->by = slot;
}

void sundew_watch_revive(const void *p)
{
    if (!sundew_watch_is_freed(p) || !take())
        return;
    Object *o = find(p, 0);
    if (o && !o->size)
        o->at = ~0ULL; /* of a size that is not known; the entry may be used again */
    give();
}

void sundew_watch_loaded(uint32_t slot, const void *p)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    if (!s || !p || s->spare >= SUNDEW_WATCH_LOADS)
        return;
    s->spare++;
    sundew_watch_note(s);
    /* Structs that are made alike have one name after linking: another field may be loaded. */
    Object *o = sundew_watch_is_freed(p) ? find(p, 0) : NULL;
    if (o && o->by == slot - 1)
        sundew_watch_bad(s, 1, 0, 0);
}

void sundew_watch_again(uint32_t slot, const void *p)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    if (!s || !p)
        return;
    int freed = sundew_watch_is_freed(p);
    if (freed || sundew_watch_size(p))
        sundew_watch_note(s);
    if (freed)
        sundew_watch_bad(s, 1, 0, 0);
}

void sundew_watch_inside(uint32_t slot, const void *p, const void *at, uint64_t n)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    uint64_t real = s ? sundew_watch_size(p) : 0;
    int64_t offset = (int64_t)((uintptr_t)at - (uintptr_t)p);
    if (!real)
        return;
    sundew_watch_note(s);
    sundew_watch_range(&s->low, &s->high, offset);
    if (offset < 0 || (uint64_t)offset + n > real)
        sundew_watch_bad(s, 1, offset, (int64_t)real);
}

/* A member that is an object of its own is no member. */
__attribute__((noinline)) static void look_at_cast(uint32_t slot, const void *p, uint64_t need,
                                                   uint64_t back)
{
    struct sundew_watch_slot *s = sundew_watch_slot_of(slot);
    uint64_t alone = s ? sundew_watch_size(p) : 0;
    uint64_t real = s && back && !alone ? sundew_watch_size((const char *)p - back) : alone;
    if (!real)
        return;
    sundew_watch_note(s);
    if (back && alone)
        sundew_watch_bad(s, 1, (int64_t)alone, (int64_t)need);
    else if (real < need)
        sundew_watch_bad(s, 1, (int64_t)real, (int64_t)need);
}

/* Once in a call of the function: such pointers are used in loops over characters. */
__attribute__((always_inline)) void sundew_watch_cast(uint32_t slot, const void *p, uint64_t need,
                                                      uint64_t back, char *done)
{
    if (*done)
        return;
    *done = 1;
    look_at_cast(slot, p, need, back);
}
