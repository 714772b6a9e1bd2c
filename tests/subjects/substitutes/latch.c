#include "latch.h"
#include <stdlib.h>

struct latch {
    int open;
};

struct latch *latch_new(void) { return calloc(1, sizeof(struct latch)); }

/* Nobody guesses them. */
static int fits(const char *word, unsigned code)
{
    unsigned h = 5381;
    for (; *word; word++)
        h = h * 33 + (unsigned char)*word;
    return h == 0xc6150137u && code * 2654435761u == 0xa58b1a11u;
}

int latch_turn(struct latch *l, const char *word, unsigned code)
{
    if (!word || !fits(word, code))
        return -1;
    l->open = 1;
    return 0;
}

int latch_inside(const struct latch *l)
{
#ifdef NEW
    return l->open ? 8 : -1;
#else
    return l->open ? 7 : -1;
#endif
}

void latch_free(struct latch *l) { free(l); }
