/*
 * value through a file
 *
 * input: file
 * seed: aaaaaaaa
 * solution: \x09\x03\x00\x00a'W\x13
 * fails: abort
 */
#include "hard.h"

int main(int argc, char **argv)
{
    unsigned v[2];
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!f || fread(v, 4, 2, f) != 2)
        return 0;
    fclose(f);
    if ((v[0] ^ v[1]) == 0x13572468 && v[0] % 1000 == 777)
        BUG();
    return 0;
}
