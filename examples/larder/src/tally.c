#include "tally.h"
#include "larder.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct sum {
    struct sum *next;
    long amount;
    char key[];
};

struct tally {
    pthread_mutex_t lock;
    struct sum *first;
};

struct tally *tally_new(void)
{
    struct tally *t = calloc(1, sizeof *t);

    if (t != NULL)
        pthread_mutex_init(&t->lock, NULL);
    return t;
}

/* For find() and insert(), the lock is held. */
static struct sum *find(const struct tally *t, const char *key)
{
    struct sum *s = t->first;

    while (s != NULL && strcmp(s->key, key) != 0)
        s = s->next;
    return s;
}

static struct sum *insert(struct tally *t, const char *key)
{
    struct sum *s = calloc(1, sizeof *s + strlen(key) + 1);

    if (s == NULL)
        return NULL;
    strcpy(s->key, key);
    s->next = t->first;
    t->first = s;
    return s;
}

int tally_add(struct tally *t, const char *key, long amount)
{
    pthread_mutex_lock(&t->lock);
    struct sum *s = find(t, key);
    if (s == NULL)
        s = insert(t, key);
    if (s != NULL)
        s->amount += amount;
    pthread_mutex_unlock(&t->lock);
    return s ? LARDER_OK : LARDER_NO_MEMORY;
}

long tally_get(struct tally *t, const char *key)
{
    pthread_mutex_lock(&t->lock);
    const struct sum *s = find(t, key);
    long amount = s ? s->amount : 0;
    pthread_mutex_unlock(&t->lock);
    return amount;
}

void tally_clear(struct tally *t)
{
    while (t->first) {
        struct sum *next = t->first->next;
        free(t->first);
        t->first = next;
    }
}

void tally_free(struct tally *t)
{
    if (t == NULL)
        return;
    tally_clear(t);
    pthread_mutex_destroy(&t->lock);
    free(t);
}
