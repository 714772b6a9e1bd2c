/* A3. source_set_name() walks the list under the lock; source_close() takes its names out
 * of it without the lock, and frees them. FIXED: with the lock. */
#include "source.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct name {
    struct name *next;
    struct source *owner;
    char text[16];
};
struct source {
    int names;
};

static struct name *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct source *source_new(void)
{
    return calloc(1, sizeof(struct source));
}

int source_set_name(struct source *s, const char *text)
{
    struct name *n = calloc(1, sizeof *n);
    if (!n)
        return -1;
    strncpy(n->text, text, sizeof n->text - 1);
    n->owner = s;
    pthread_mutex_lock(&lock);
    for (struct name *o = all; o; o = o->next)
        if (o->owner == s && !strcmp(o->text, n->text)) {
            pthread_mutex_unlock(&lock);
            free(n);
            return 0;
        }
    n->next = all;
    all = n;
    s->names++;
    pthread_mutex_unlock(&lock);
    return 0;
}

static void take_out(struct source *s)
{
    for (struct name **at = &all; *at;) {
        struct name *n = *at;
        if (n->owner == s) {
            *at = n->next;
            free(n);
            s->names--;
        } else {
            at = &n->next;
        }
    }
}

void source_close(struct source *s)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
    take_out(s);
    pthread_mutex_unlock(&lock);
#else
    take_out(s);
#endif
}

void source_free(struct source *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&lock);
    take_out(s);
    pthread_mutex_unlock(&lock);
    free(s);
}

int source_is_open(struct source *s)
{
    pthread_mutex_lock(&lock);
    int n = s->names;
    pthread_mutex_unlock(&lock);
    return n > 0;
}
