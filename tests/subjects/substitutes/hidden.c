/* NEW: another layout, which callers can't see; and one more. */
#include "hidden.h"
#include "hidden_private.h"
#include <stdlib.h>

struct hidden *hidden_new(int n)
{
    struct hidden *h = calloc(1, sizeof *h);
    h->n = n;
    return h;
}

int hidden_get(const struct hidden *h)
{
#ifdef NEW
    return h->n == 3 ? 4 : h->n;
#else
    return h->n;
#endif
}

void hidden_free(struct hidden *h) { free(h); }
