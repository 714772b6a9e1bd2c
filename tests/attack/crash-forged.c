/*
 * name:    a program that wrote a crash file attacks while it is reproduced
 * command: reproduce
 * expect:  0 1 2
 */
#include "attack.h"

int fall(int *p, int n)
{
    if (n > 3) {
        if (getppid() < 20)           /* in the sandbox: not the shell that made the crash */
            kill(getppid(), SIGSTOP);
        shared_truncated();
        shared_filled(0xffffffff);
        for (int fd = 3; fd < 300; fd++)
            if (write(fd, "sundew", 6) == 6 && lseek(fd, 0, SEEK_CUR) < 0)
                fsync(fd);
    }
    return *p + n;
}

int main(void) { return fall(NULL, 5); }
