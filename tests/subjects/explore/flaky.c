/* Fails in one run of four, or always (ALWAYS), on inputs that begin with F; KILLED: by SIGKILL. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    unsigned char chance = 0;
    int c = getchar();
    if (c != 'F')
        return 0;
#ifndef ALWAYS
    if (getentropy(&chance, 1) != 0)
        return 3;
#endif
    if (chance % 4 == 0)
#ifdef KILLED
        raise(SIGKILL);
#else
        abort();
#endif
    return 1;
}
