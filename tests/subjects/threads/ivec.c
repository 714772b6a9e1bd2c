/* A5. No lock, and a counter of changes that ivec_hash() checks. VARIANT 1: with the
 * counter; 2: without. FIXED: with a lock. */
#include "ivec.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#ifndef VARIANT
#define VARIANT 1
#endif
#ifdef FIXED
#define LOCK(v) pthread_mutex_lock((pthread_mutex_t *)&(v)->lock)
#define UNLOCK(v) pthread_mutex_unlock((pthread_mutex_t *)&(v)->lock)
#else
#define LOCK(v) (void)(v)
#define UNLOCK(v) (void)(v)
#endif

struct ivec {
    pthread_mutex_t lock;
    int *items;
    int n, room;
    unsigned changes;
};

struct ivec *ivec_new(void)
{
    struct ivec *v = calloc(1, sizeof *v);
    if (v)
        pthread_mutex_init(&v->lock, NULL);
    return v;
}

void ivec_free(struct ivec *v)
{
    if (!v)
        return;
    pthread_mutex_destroy(&v->lock);
    free(v->items);
    free(v);
}

static int add(struct ivec *v, int n)
{
    if (v->n == v->room) {
        int *more = realloc(v->items, (size_t)(v->room + 1) * sizeof *more);
        if (!more)
            return -1;
        v->items = more;
        v->room++;
    }
    v->items[v->n++] = n;
    v->changes++;
    return 0;
}

int ivec_add(struct ivec *v, int n)
{
    LOCK(v);
    int r = add(v, n);
    UNLOCK(v);
    return r;
}

unsigned ivec_hash(struct ivec *v)
{
    unsigned h = 1;
    LOCK(v);
    unsigned changes = v->changes;
    for (int i = 0; i < v->n; i++) {
        h = h * 31 + (unsigned)v->items[i];
        if (VARIANT == 1)
            assert(changes == v->changes);
    }
    (void)changes;
    UNLOCK(v);
    return h;
}

int ivec_length(const struct ivec *v)
{
    LOCK(v);
    int n = v->n;
    UNLOCK(v);
    return n;
}
