/*
 * name:   const that is cast away and written through is reported, its twin not
 * run:    sundew capture -q -- cc -g $file -o prog && sundew mutability prog
 * expect: $file:17:13: mutability: reset: c points to const and is written through
 * absent: copy
 * status: 1
 */
#include <string.h>

struct counter { int n; };

static void zero(void *p, size_t n)
{
    memset(p, 0, n);
}

static void reset(const struct counter *c)
{
    zero((void *)c, sizeof *c);
}

/* a cast that writes something else */
static int copy(const struct counter *c)
{
    struct counter mine = *(struct counter *)c;
    mine.n++;
    return mine.n;
}

int main(void)
{
    struct counter c = { 3 };
    reset(&c);
    return copy(&c);
}
