/* A count of owners that is no atomic: an owner is lost. FIXED: it is atomic. */
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
    char text[];
};

struct shared *shared_new(const char *text)
{
    size_t n = strlen(text) + 1;
    struct shared *s = malloc(sizeof *s + n);
    if (s) {
        s->owners = 1;
        memcpy(s->text, text, n);
    }
    return s;
}

struct shared *shared_ref(struct shared *s)
{
#ifdef FIXED
    atomic_fetch_add(&s->owners, 1);
#else
    s->owners = s->owners + 1;
#endif
    return s;
}

void shared_unref(struct shared *s)
{
#ifdef FIXED
    if (atomic_fetch_sub(&s->owners, 1) == 1)
        free(s);
#else
    s->owners = s->owners - 1;
    if (s->owners == 0)
        free(s);
#endif
}

int shared_length(const struct shared *s)
{
    return (int)strlen(s->text);
}
