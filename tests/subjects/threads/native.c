/* A1 to A3 without a scheduler: the calls that fail, after a barrier. */
#ifdef TEST_sbuf
#include "sbuf.h"
static struct sbuf *b;
#define BEFORE    b = sbuf_new(), sbuf_append(b, "abc")
#define ONE       sbuf_insert(b, 1, b)
#define TWO       sbuf_cut(b, 1)
#define AFTER     sbuf_free(b)
#elif defined TEST_smap
#include "smap.h"
static struct smap *m;
#define BEFORE    m = smap_new(), smap_put(m, "a", m)
#define ONE       smap_clear(m), smap_hash(m)
#define TWO       smap_put_all(m, m)
#define AFTER     smap_free(m)
#else
#include "source.h"
static struct source *s;
#define BEFORE    s = source_new(), source_set_name(s, "a")
#define ONE       source_set_name(s, "b")
#define TWO       source_close(s)
#define AFTER     source_free(s)
#endif
#include <pthread.h>
#include <stddef.h>

static pthread_barrier_t start;

static void *one(void *unused)
{
    pthread_barrier_wait(&start);
    ONE;
    return unused;
}

static void *two(void *unused)
{
    pthread_barrier_wait(&start);
    TWO;
    return unused;
}

int main(void)
{
    pthread_t t[2];
    BEFORE;
    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&t[0], NULL, one, NULL);
    pthread_create(&t[1], NULL, two, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    AFTER;
    return 0;
}
