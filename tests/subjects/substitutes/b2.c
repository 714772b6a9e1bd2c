/* B2: a vector whose slots take a lock, and one whose remove forgets it. FIXED: it does
 * not. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct vec {
    pthread_mutex_t lock;
    int **items;
    int n;
};
struct vec_ops {
    struct vec *(*make)(void);
    void (*add)(struct vec *v, int x);
    int (*get)(struct vec *v);
    void (*remove)(struct vec *v);
};

static struct vec *vec_make(void)
{
    struct vec *v = calloc(1, sizeof *v);
    pthread_mutex_init(&v->lock, NULL);
    v->items = calloc(64, sizeof *v->items);
    return v;
}

static void vec_add(struct vec *v, int x)
{
    pthread_mutex_lock(&v->lock);
    if (v->n < 64) {
        v->items[v->n] = malloc(sizeof(int));
        *v->items[v->n++] = x;
    }
    pthread_mutex_unlock(&v->lock);
}

/* The last one; -1: it is empty. */
static int vec_get(struct vec *v)
{
    int x = -1;
    pthread_mutex_lock(&v->lock);
    if (v->n)
        x = *v->items[v->n - 1];
    pthread_mutex_unlock(&v->lock);
    return x;
}

static void take(struct vec *v)
{
    if (v->n) {
        free(v->items[v->n - 1]);
        v->n--;
    }
}

static void vec_remove(struct vec *v)
{
    pthread_mutex_lock(&v->lock);
    take(v);
    pthread_mutex_unlock(&v->lock);
}

static void quick_remove(struct vec *v)
{
#ifdef FIXED
    pthread_mutex_lock(&v->lock);
#endif
    take(v);
#ifdef FIXED
    pthread_mutex_unlock(&v->lock);
#endif
}

const struct vec_ops locked = { vec_make, vec_add, vec_get, vec_remove };
const struct vec_ops quick = { vec_make, vec_add, vec_get, quick_remove };

int main(void)
{
    struct vec *v = locked.make();
    locked.add(v, 3);
    quick.remove(v);
    printf("%d\n", locked.get(v));
    return 0;
}
