/*
 * value through a file
 *
 * input: stdin
 * seed: \x01\x01\x01\x01
 * solution: gE#\x01
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    unsigned v, w;
    FILE *f = tmpfile();
    if (read(0, &v, 4) != 4 || !f)
        return 0;
    fprintf(f, "value %u\n", v);
    rewind(f);
    if (fscanf(f, "value %u", &w) != 1)
        return 0;
    fclose(f);
    if (w == 0x1234567)
        BUG();
    return 0;
}
