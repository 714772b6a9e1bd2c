/*
 * loop bounded by input
 *
 * input: stdin
 * seed: aaaaaaaa
 * solution: \xf0\x9f\x90\x9b\xe2\x82\xac!
 * fails: abort
 */
#include "hard.h"

/* The next code point, or -1. */
static long next(const unsigned char **p)
{
    unsigned c = *(*p)++;
    int more = c < 0x80 ? 0 : c >> 5 == 6 ? 1 : c >> 4 == 14 ? 2 : c >> 3 == 30 ? 3 : -1;
    if (more < 0)
        return -1;
    long code = more ? c & (0x3f >> more) : c;
    for (; more; more--, (*p)++) {
        if (**p >> 6 != 2)
            return -1;
        code = code << 6 | (**p & 0x3f);
    }
    return code;
}

int main(void)
{
    unsigned char b[16] = "";
    const unsigned char *p = b;
    if (read(0, b, 8) != 8)
        return 0;
    if (next(&p) == 0x1f41b && next(&p) == 0x20ac && next(&p) == '!')
        BUG();
    return 0;
}
