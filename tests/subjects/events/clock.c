/* It reads the real clock behind Sundew's back. */
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct timespec last;

int main(void)
{
    for (;;) {
        int c = getchar();
        if (c == 't')
            syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &last);
        else if (c == 'q' && last.tv_nsec == 1)
            return 1;
    }
}
