/* Ends, but not in a build with the address sanitizer; on inputs that begin with E (ENDLESS) in none. */
#include <stdio.h>

extern void __asan_init(void) __attribute__((weak));

int main(void)
{
    volatile int on = 0;
    int c = getchar();
#ifdef ENDLESS
    on = c == 'E';
#endif
    while (on || (c == 'E' && __asan_init))
        ;
    return c == 'F';
}
