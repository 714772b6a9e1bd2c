#include <stdlib.h>
#include <unistd.h>
#ifndef SIZE
#define SIZE 5
#endif
int main(void)
{
    unsigned char b[2] = {0};
    volatile unsigned x = 0;
    if (read(0, b, 2) != 2)
        return 0;
    for (unsigned i = 0; i < (b[0] & 3); i++)
        x++;
    for (unsigned i = 0; i < (b[1] & 3); i++)
        x++;
    char *p = malloc(SIZE);
    p[x] = 1;
    free(p);
    return 0;
}
