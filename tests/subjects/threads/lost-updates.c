/* Two threads add one five times each; the sum 2 takes a long-delayed store at
 * both ends, and is what nobody expects. */
#include "subject.h"
static _Atomic int n;

static void *add(void *unused)
{
    for (int i = 0; i < 5; i++) {
#ifdef FIXED
        n++;
#else
        int old = n;
        n = old + 1;
#endif
    }
    return unused;
}

int main(void)
{
    TOGETHER(add, add);
    assert(n > 5);
}
