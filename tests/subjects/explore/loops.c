/* Every input runs without end, but for those that begin with q. */
#include <stdio.h>
int main(void)
{
    volatile int c = getchar();
    while (c != 'q')
        ;
    return 0;
}
