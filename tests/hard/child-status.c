/*
 * forked child
 *
 * input: stdin
 * seed: aaaa
 * solution: \x9a
 * fails: abort
 */
#include "hard.h"

/* The exit status carries the value. */
#include <sys/wait.h>

int main(void)
{
    unsigned char v;
    int status;
    if (read(0, &v, 1) != 1)
        return 0;
    pid_t child = fork();
    if (child == 0)
        _exit(v ^ 0x37);
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return 0;
    if (WEXITSTATUS(status) == 0xad)
        BUG();
    return 0;
}
