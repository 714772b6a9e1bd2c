/*
 * file
 *
 * input: argv:1/12
 * seed: 1
 * solution: 913
 * fails: abort
 */
#include "hard.h"
#include <sys/syscall.h>

/* Written and read by the numbers of system calls. */
int main(int argc, char **argv)
{
    char name[] = "/tmp/hardXXXXXX", text[16], back[16] = "";
    int fd = argc < 2 ? -1 : mkstemp(name);
    if (fd < 0)
        return 0;
    unlink(name);
    int n = snprintf(text, sizeof text, "%u", (unsigned)atoi(argv[1]) * 7u);
    if (syscall(SYS_write, fd, text, n) != n)
        return 0;
    lseek(fd, 0, SEEK_SET);
    if (syscall(SYS_read, fd, back, sizeof back - 1) > 0 && atoi(back) == 6391)
        BUG();
    close(fd);
    return 0;
}
