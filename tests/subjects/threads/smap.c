/* A2. smap_put_all() copies the entries of its source, and puts them one by one. A clear
 * in between is lost. smap_hash() does not come back from a map that has itself.
 * FIXED: the whole of smap_put_all() is one step. */
#include "smap.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 8, KEY = 8 };

struct entry {
    char key[KEY];
    struct smap *value;
};
struct smap {
    struct entry rows[ROOM];
    int n;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct smap *smap_new(void)
{
    return calloc(1, sizeof(struct smap));
}

void smap_free(struct smap *m)
{
    free(m);
}

static int put(struct smap *m, const char *key, struct smap *value)
{
    for (int i = 0; i < m->n; i++)
        if (!strncmp(m->rows[i].key, key, KEY - 1)) {
            m->rows[i].value = value;
            return 0;
        }
    if (m->n == ROOM)
        return -1;
    strncpy(m->rows[m->n].key, key, KEY - 1);
    m->rows[m->n].key[KEY - 1] = 0;
    m->rows[m->n++].value = value;
    return 0;
}

int smap_put(struct smap *m, const char *key, struct smap *value)
{
    pthread_mutex_lock(&lock);
    int r = put(m, key, value);
    pthread_mutex_unlock(&lock);
    return r;
}

void smap_put_all(struct smap *d, struct smap *src)
{
    struct entry copy[ROOM];
    pthread_mutex_lock(&lock);
    int n = src->n;
    memcpy(copy, src->rows, sizeof copy);
#ifdef FIXED
    for (int i = 0; i < n; i++)
        put(d, copy[i].key, copy[i].value);
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < n; i++)
        smap_put(d, copy[i].key, copy[i].value);
#endif
}

void smap_clear(struct smap *m)
{
    pthread_mutex_lock(&lock);
    memset(m, 0, sizeof *m);
    pthread_mutex_unlock(&lock);
}

static unsigned hash(const struct smap *m)
{
    unsigned h = 17;
    for (int i = 0; i < m->n; i++)
        h = h * 31 + (unsigned char)m->rows[i].key[0] + (m->rows[i].value ? hash(m->rows[i].value) : 0);
    return h;
}

unsigned smap_hash(struct smap *m)
{
    struct smap copy;
    pthread_mutex_lock(&lock);
    copy = *m;
    unsigned h = hash(&copy);
    pthread_mutex_unlock(&lock);
    return h;
}

int smap_count(struct smap *m)
{
    pthread_mutex_lock(&lock);
    int n = m->n;
    pthread_mutex_unlock(&lock);
    return n;
}
