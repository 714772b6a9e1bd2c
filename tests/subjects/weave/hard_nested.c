/* A nested function: gcc compiles it, clang does not. The object stays. */
#include "hard.h"

int from_failed_unit(int n)
{
    int total = 0;
    void add(int x) { total += x; }
    for (int i = 0; i < n; i++)
        add(twice_static(i) % 5);
    return total;
}
