/*
 * file
 *
 * input: stdin
 * seed: aaaa
 * solution: \x74\x73\x63\x6c
 * fails: abort
 */
#include "hard.h"
#include <sys/mman.h>

int main(void)
{
    unsigned v;
    if (read(0, &v, 4) != 4)
        return 0;
    v ^= 0x01020304;
    FILE *f = tmpfile();
    int fd = f ? fileno(f) : -1;
    if (write(fd, &v, 4) != 4)
        return 0;
    unsigned *p = mmap(NULL, 4, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return 0;
    if (*p == 0x6d617070)
        BUG();
    return 0;
}
