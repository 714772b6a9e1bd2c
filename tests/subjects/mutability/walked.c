/* Symbols of the linker lead to every variable. */
#include <stdint.h>

extern char __bss_start[], _end[];
static int *kept;

void by_walk(int *p)
{
    kept = p;
    for (uintptr_t at = (uintptr_t)__bss_start & ~(uintptr_t)7; at < (uintptr_t)_end; at += 8)
        if (*(int **)at == p)
            **(int **)at = 1;
}

int main(void)
{
    int x = 0;
    by_walk(&x);
    return x - 1;
}
