#include <stdlib.h>
void klee_make_symbolic(void *at, size_t n, const char *name);
int main(void)
{
    unsigned x, y;
    klee_make_symbolic(&x, sizeof x, "x");
    klee_make_symbolic(&y, sizeof y, "y");
    if (x > 1000 && y == x * 3 + 7)
        abort();
    return 0;
}
