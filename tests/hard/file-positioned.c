/*
 * file
 *
 * input: stdin
 * seed: aaaaaa
 * solution: \x00ehtno
 * fails: abort
 */
#include "hard.h"

/* Bytes are written from the back to the front. */
int main(void)
{
    unsigned char b[6], again[6] = "";
    if (read(0, b, 6) != 6)
        return 0;
    FILE *f = tmpfile();
    int fd = f ? fileno(f) : -1;
    for (int i = 0; i < 6; i++)
        if (pwrite(fd, &b[i], 1, 5 - i) != 1)
            return 0;
    if (lseek(fd, 0, SEEK_SET) != 0 || read(fd, again, 6) != 6)
        return 0;
    if (strcmp((char *)again, "onthe") == 0)
        BUG();
    return 0;
}
