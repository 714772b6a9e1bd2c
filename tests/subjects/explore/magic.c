#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef SIZE
#define SIZE 4
#endif
static int check(const unsigned char *b, size_t n)
{
    uint32_t v, w;
    memcpy(&v, b, 4);
    memcpy(&w, b + 8, 4);
    if (n < 12 || v != 0x464c457f || b[5] + b[6] != 300)
        return 0;
    if (w * 7 != 0x1234567)
        return 1;
    char *p = malloc(SIZE);
    p[b[7]] = 1;
    free(p);
    return 2;
}
int main(void)
{
    unsigned char b[64] = {0};
    return check(b, fread(b, 1, sizeof b, stdin)) == 7;
}
