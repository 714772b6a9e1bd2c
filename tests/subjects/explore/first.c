/* The first run that this process's children make of an input that begins with F is killed, or fails
 * (FAILS); all later ones pass. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static volatile int *runs;

__attribute__((constructor)) static void share(void)
{
    runs = mmap(NULL, sizeof *runs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

int main(void)
{
    if (getchar() == 'F' && (*runs)++ == 0)
        raise(SIGKILL);
    return 1;
}
