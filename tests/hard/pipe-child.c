/*
 * forked child
 *
 * input: stdin
 * seed: aaaa
 * solution: _\xb9\xfc\xcb
 * fails: abort
 */
#include "hard.h"
#include <sys/wait.h>

int main(void)
{
    unsigned v, w;
    int p[2];
    if (read(0, &v, 4) != 4 || pipe(p) != 0)
        return 0;
    pid_t child = fork();
    if (child == 0) {
        v = (v ^ 0x01020304) + 99;
        _exit(write(p[1], &v, 4) != 4);
    }
    close(p[1]);
    if (child < 0 || read(p[0], &w, 4) != 4)
        return 0;
    waitpid(child, NULL, 0);
    if (w == 0xcafebabe)
        BUG();
    return 0;
}
