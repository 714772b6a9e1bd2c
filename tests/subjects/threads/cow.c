/* A6, correct: readers use the copy that they got. */
#include "cow.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 24 };
struct letters {
    int users, n;
    char text[ROOM];
};
struct cow {
    pthread_mutex_t lock;
    struct letters *now;
};

struct cow *cow_new(void)
{
    struct cow *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->now = calloc(1, sizeof *c->now);
    if (!c->now) {
        free(c);
        return NULL;
    }
    c->now->users = 1;
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

/* Under the lock. */
static void let_go(struct letters *l)
{
    if (--l->users == 0)
        free(l);
}

void cow_free(struct cow *c)
{
    if (!c)
        return;
    let_go(c->now);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

int cow_add(struct cow *c, char letter)
{
    int r = -1;
    struct letters *more = malloc(sizeof *more);
    if (!more)
        return -1;
    pthread_mutex_lock(&c->lock);
    if (c->now->n < ROOM) {
        *more = *c->now;
        more->text[more->n++] = letter;
        more->users = 1;
        let_go(c->now);
        c->now = more;
        more = NULL;
        r = 0;
    }
    pthread_mutex_unlock(&c->lock);
    free(more);
    return r;
}

int cow_print(struct cow *c, char *out, int room)
{
    pthread_mutex_lock(&c->lock);
    struct letters *mine = c->now;
    mine->users++;
    pthread_mutex_unlock(&c->lock);
    int n = mine->n < room ? mine->n : -1;
    if (n >= 0) {
        memcpy(out, mine->text, (size_t)n);
        out[n] = 0;
    }
    pthread_mutex_lock(&c->lock);
    let_go(mine);
    pthread_mutex_unlock(&c->lock);
    return n;
}
