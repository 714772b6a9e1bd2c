/* B9: a property list has two locks, always taken in the same order. The formatted one
 * calls back into the base while it holds the second. FIXED: it does not. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct props {
    pthread_mutex_t list, text;
    int n, stored;
};
struct props_ops {
    struct props *(*make)(void);
    void (*set)(struct props *p, int n);
    int (*store)(struct props *p);
};

static struct props *make(void)
{
    struct props *p = calloc(1, sizeof *p);
    pthread_mutex_init(&p->list, NULL);
    pthread_mutex_init(&p->text, NULL);
    return p;
}

static void base_set(struct props *p, int n)
{
    pthread_mutex_lock(&p->list);
    pthread_mutex_lock(&p->text);
    p->n = n;
    pthread_mutex_unlock(&p->text);
    pthread_mutex_unlock(&p->list);
}

static int base_get(struct props *p)
{
    pthread_mutex_lock(&p->list);
    int n = p->n;
    pthread_mutex_unlock(&p->list);
    return n;
}

static int base_store(struct props *p)
{
    int n = base_get(p);
    pthread_mutex_lock(&p->text);
    p->stored = n;
    pthread_mutex_unlock(&p->text);
    return 0;
}

static int formatted_store(struct props *p)
{
#ifdef FIXED
    return base_store(p);
#else
    pthread_mutex_lock(&p->text);
    p->stored = base_get(p);
    pthread_mutex_unlock(&p->text);
    return 0;
#endif
}

const struct props_ops base_ops = { make, base_set, base_store };
const struct props_ops formatted_ops = { make, base_set, formatted_store };

int main(void)
{
    struct props *p = base_ops.make();
    formatted_ops.set(p, 3);
    printf("%d\n", formatted_ops.store(p));
    return 0;
}
