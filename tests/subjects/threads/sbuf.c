/* A1. sbuf_insert() reads the length of its source under the lock, lets go, and inserts
 * so many bytes under the lock. VARIANT 1: a check aborts; 2: no check, allocations are
 * exact; 3: there is some slack, nothing is visible but old content. FIXED: one lock. */
#include "sbuf.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifndef VARIANT
#define VARIANT 2
#endif

struct sbuf {
    pthread_mutex_t lock;
    char *bytes;
    size_t len;
};

static char *room(size_t n)
{
    return malloc(n + (VARIANT == 3 ? 64 : n == 0));
}

struct sbuf *sbuf_new(void)
{
    struct sbuf *b = malloc(sizeof *b);
    pthread_mutexattr_t how;
    if (!b)
        return NULL;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&b->lock, &how);
    pthread_mutexattr_destroy(&how);
    b->len = 0;
    b->bytes = room(0);
    if (b->bytes && VARIANT == 3)
        memset(b->bytes, 0, 64);
    return b;
}

void sbuf_free(struct sbuf *b)
{
    if (!b)
        return;
    pthread_mutex_destroy(&b->lock);
    free(b->bytes);
    free(b);
}

/* Under the lock. */
static void put(struct sbuf *b, size_t at, const char *text, size_t n)
{
    char *more = room(b->len + n);
    memcpy(more, b->bytes, at);
    memcpy(more + at, text, n);
    memcpy(more + at + n, b->bytes + at, b->len - at);
    free(b->bytes);
    b->bytes = more;
    b->len += n;
}

void sbuf_append(struct sbuf *b, const char *text)
{
    pthread_mutex_lock(&b->lock);
    put(b, b->len, text, strlen(text));
    pthread_mutex_unlock(&b->lock);
}

static int insert_range(struct sbuf *d, int at, struct sbuf *src, size_t n)
{
    pthread_mutex_lock(&d->lock);
    if (at < 0 || (size_t)at > d->len) {
        pthread_mutex_unlock(&d->lock);
        return -1;
    }
#if VARIANT == 1
    if (n > src->len)
        abort();
#endif
    char *copy = room(n);
    memcpy(copy, src->bytes, n);
    put(d, (size_t)at, copy, n);
    free(copy);
    pthread_mutex_unlock(&d->lock);
    return 0;
}

int sbuf_insert(struct sbuf *d, int at, struct sbuf *src)
{
    pthread_mutex_lock(&src->lock);
    size_t n = src->len;
#ifdef FIXED
    if (d != src) {                     /* another order of locks would deadlock */
        char *copy = room(n);
        memcpy(copy, src->bytes, n);
        pthread_mutex_unlock(&src->lock);
        pthread_mutex_lock(&d->lock);
        int bad = at < 0 || (size_t)at > d->len;
        if (!bad)
            put(d, (size_t)at, copy, n);
        pthread_mutex_unlock(&d->lock);
        free(copy);
        return bad ? -1 : 0;
    }
    int r = insert_range(d, at, src, n);
    pthread_mutex_unlock(&src->lock);
    return r;
#else
    pthread_mutex_unlock(&src->lock);
    return insert_range(d, at, src, n);
#endif
}

int sbuf_cut(struct sbuf *b, int at)
{
    int bad = 0;
    pthread_mutex_lock(&b->lock);
    if (at < 0 || (size_t)at >= b->len) {
        bad = 1;
    } else {
        char *less = room(b->len - 1);
        memcpy(less, b->bytes, (size_t)at);
        memcpy(less + at, b->bytes + at + 1, b->len - (size_t)at - 1);
        free(b->bytes);
        b->bytes = less;
        b->len--;
    }
    pthread_mutex_unlock(&b->lock);
    return bad ? -1 : 0;
}

int sbuf_length(const struct sbuf *b)
{
    pthread_mutex_lock((pthread_mutex_t *)&b->lock);
    int n = (int)b->len;
    pthread_mutex_unlock((pthread_mutex_t *)&b->lock);
    return n;
}
