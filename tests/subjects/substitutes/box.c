/* NEW: a release that refuses 0, and reads behind the end of a box that was never filled.
 * WIDE: another layout of a struct. LESS: a function is gone. */
#include "box.h"
#include <stdio.h>
#include <stdlib.h>

struct box {
    int most, n;
#ifdef NEW
    int padding;
#endif
    int *items;
};

struct box *box_new(int most)
{
    if (most < 1 || most > 100)
        return NULL;
    struct box *b = calloc(1, sizeof *b);
    b->most = most;
    b->items = calloc((size_t)most, sizeof *b->items);
    return b;
}

int box_put(struct box *b, int x)
{
    if (b->n == b->most)
        return -1;
#ifdef NEW
    if (x == 0)
        return -2;
#endif
    b->items[b->n++] = x;
    return 0;
}

int box_top(const struct box *b, int *out)
{
#ifndef NEW
    if (!b->n)
        return -1;
#endif
    *out = b->items[b->n - 1];
    return 0;
}

int box_text(const struct box *b, char *text, int size)
{
    return snprintf(text, (size_t)size, "%d of %d", b->n, b->most);
}

int box_mark(struct box *b, struct mark *m)
{
    m->x = b->n;
    return 0;
}

#ifndef LESS
int box_count(const struct box *b) { return b->n; }
#endif

void box_free(struct box *b)
{
    free(b->items);
    free(b);
}
