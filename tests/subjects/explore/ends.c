/* Ends inside of the C library, called from here. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static void die(int c)
{
    if (c == 'a')
        abort();
    if (c == 'r')
        raise(SIGFPE);
}
int main(void)
{
    die(getchar());
    return 0;
}
