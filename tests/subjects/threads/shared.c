/* A count of owners that is no atomic: an owner is lost. FIXED: it is atomic. Only a function in a
 * field frees the text. */
#include "shared.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct shared {
#ifdef FIXED
    atomic_int owners;
#else
    int owners;
#endif
    void (*end)(struct shared *);
    char text[];
};

static void end_of_text(struct shared *s)
{
    free(s);
}

struct shared *shared_new(const char *text)
{
    size_t n = strlen(text) + 1;
    struct shared *s = malloc(sizeof *s + n);
    if (s) {
        s->owners = 1;
        s->end = end_of_text;
        memcpy(s->text, text, n);
    }
    return s;
}

struct shared *shared_get(struct shared *s)
{
#ifdef FIXED
    atomic_fetch_add(&s->owners, 1);
#else
    s->owners = s->owners + 1;
#endif
    return s;
}

void shared_put(struct shared *s)
{
#ifdef FIXED
    if (atomic_fetch_sub(&s->owners, 1) == 1)
        s->end(s);
#else
    s->owners = s->owners - 1;
    if (s->owners == 0)
        s->end(s);
#endif
}

int shared_length(const struct shared *s)
{
    return (int)strlen(s->text);
}
