/* Lines are made in buffers of 264 bytes that are kept for later calls: after two calls at
 * once there may be two of them, and nothing is lost. It is, as who gives one back takes no
 * lock. FIXED: he does. */
#include "form.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct form {
    int number;
};

struct buffer {
    struct buffer *next;
    char text[256];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct buffer *kept;

static struct buffer *take(void)
{
    pthread_mutex_lock(&lock);
    struct buffer *b = kept;
    if (b)
        kept = b->next;
    pthread_mutex_unlock(&lock);
    return b ? b : malloc(sizeof *b);
}

static void give(struct buffer *b)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    b->next = kept;
    kept = b;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

struct form *form_new(int number)
{
    struct form *f = malloc(sizeof *f);
    if (f)
        f->number = number;
    return f;
}

void form_free(struct form *f)
{
    free(f);
}

int form_length(struct form *f, int value)
{
    struct buffer *b = take();
    if (!b)
        return 0;
    int n = snprintf(b->text, sizeof b->text, "form %d: %d", f->number, value);
    give(b);
    return n;
}

int form_number(const struct form *f)
{
    return f->number;
}
