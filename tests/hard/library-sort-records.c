/*
 * library function
 *
 * input: stdin
 * seed: aabbccddee
 * solution: cbqzea\x00d0c
 * fails: abort
 */
#include "hard.h"

struct record {
    unsigned char key, value;
};

static int by_key(const void *a, const void *b)
{
    return ((const struct record *)a)->key - ((const struct record *)b)->key;
}

int main(void)
{
    struct record r[5];
    if (read(0, r, 10) != 10)
        return 0;
    qsort(r, 5, sizeof *r, by_key);
    if (r[0].value == 'd' && r[1].value == 'c' && r[2].value == 'b' && r[3].value == 'a' &&
        r[4].value == 'z' && r[4].key > r[0].key + 100)
        BUG();
    return 0;
}
