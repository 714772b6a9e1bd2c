/* Correct, as a purse is for one thread at a time: its functions change a list without a lock,
 * though it is const where coins use it. */
#include "purse.h"
#include <stdlib.h>

struct piece {
    struct piece *next;
    long room[4];
};

static void *take(void *bag, size_t n)
{
    struct piece **all = bag, *p = *all;
    if (n > sizeof p->room)
        return NULL;
    if (p)
        *all = p->next;
    else
        p = malloc(sizeof *p);
    return p ? p->room : NULL;
}

static void give(void *bag, void *memory)
{
    struct piece **all = bag, *p = (struct piece *)((char *)memory - offsetof(struct piece, room));
    p->next = *all;
    *all = p;
}

struct purse *purse_new(void)
{
    struct purse *p = malloc(sizeof *p);
    struct piece **all = calloc(1, sizeof *all);
    if (p && all)
        *p = (struct purse){ take, give, all };
    return p;
}

void purse_free(struct purse *p)
{
    struct piece **all = p->bag;
    while (*all) {
        struct piece *next = (*all)->next;
        free(*all);
        *all = next;
    }
    free(all);
    free(p);
}

struct coin {
    int value;
};

struct coin *coin_new(const struct purse *p, int value)
{
    struct coin *c = malloc(sizeof *c);
    int *written = p->take(p->bag, sizeof *written);
    if (c && written)
        c->value = *written = value;
    if (written)
        p->give(p->bag, written);
    return c;
}

void coin_free(struct coin *c) { free(c); }

int coin_value(const struct coin *c) { return c->value; }

int coin_double(const struct coin *c, const struct purse *p)
{
    int *twice = p->take(p->bag, sizeof *twice);
    if (!twice)
        return 0;
    *twice = 2 * c->value;
    int result = *twice;
    p->give(p->bag, twice);
    return result;
}
