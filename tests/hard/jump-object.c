/*
 * computed jump
 *
 * input: stdin
 * seed: aaaa
 * solution: \x01=C\x00
 * fails: abort
 */
#include "hard.h"

/* Methods are chosen by data. */
struct shape { int (*area)(const struct shape *); int a, b; };
static int box(const struct shape *s) { return s->a * s->b; }
static int frame(const struct shape *s) { return 2 * (s->a + s->b); }

int main(void)
{
    unsigned char b[4];
    if (read(0, b, 4) != 4)
        return 0;
    struct shape s = { b[0] & 1 ? box : frame, b[1], b[2] };
    if (b[1] > 50 && b[2] > 50 && s.area(&s) == 61 * 67)
        BUG();
    return 0;
}
