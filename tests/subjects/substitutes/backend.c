/* The short back end keeps a byte. FIXED: an int. */
#include "backend.h"
#include <stdlib.h>
#include <string.h>

struct tally {
    int small, total;
};

struct tally *tally_open(const char *kind, int start)
{
    if (strcmp(kind, "wide") != 0 && strcmp(kind, "short") != 0)
        return NULL;
    struct tally *t = calloc(1, sizeof *t);
    t->small = strcmp(kind, "short") == 0;
    t->total = start;
    return t;
}

int tally_add(struct tally *t, int n)
{
    t->total = (int)((unsigned)t->total + (unsigned)n);
    return n;
}

int tally_total(const struct tally *t)
{
#ifndef FIXED
    if (t->small)
        return (signed char)t->total;
#endif
    return t->total;
}

void tally_close(struct tally *t) { free(t); }

int main(void)
{
    struct tally *t = tally_open("wide", 1);
    tally_add(t, 2);
    tally_close(t);
    return 0;
}
