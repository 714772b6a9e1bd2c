/* A bug that needs three threads: each pair alone is harmless. */
#include "subject.h"
static _Atomic int a, b, c;

static void *first(void *unused)
{
    a = 1;
    b = c;
    return unused;
}

static void *second(void *unused)
{
    if (a)
        c = 1;
    return unused;
}

static void *third(void *unused)
{
#ifdef FIXED
    (void)(b && !a);
#else
    int seen = b;
    assert(!seen);
#endif
    return unused;
}

int main(void)
{
    TOGETHER(third, second, first);
}
