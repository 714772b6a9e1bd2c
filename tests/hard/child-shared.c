/*
 * child
 *
 * input: argv:1/12
 * seed: 5
 * solution: 81437
 * fails: abort
 */
#include "hard.h"
#include <sys/mman.h>
#include <sys/wait.h>

/* Through memory that a child shares. */
int main(int argc, char **argv)
{
    unsigned *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (argc < 2 || m == MAP_FAILED)
        return 0;
    m[0] = (unsigned)atoi(argv[1]);
    pid_t child = fork();
    if (child == 0) {
        m[1] = m[0] * 3 + 10000;
        _exit(0);
    }
    if (child < 0 || wait(NULL) != child)
        return 0;
    if (m[1] == 254311)
        BUG();
    return 0;
}
