#include "buf.h"
#include <stdio.h>

/* prog FILE: the first two bytes are the place of a part; a '!' there makes it crash. */
int main(int argc, char **argv)
{
    FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!f)
        return 2;
    struct buf b;
    int start = fgetc(f), length = fgetc(f);
    buf_set(&b, start, length);
    buf_crop(&b, start, length);
    int *p = start == '!' ? NULL : &b.start;
    printf("%d %d\n", buf_end(&b), *p);
    fclose(f);
    return 0;
}
