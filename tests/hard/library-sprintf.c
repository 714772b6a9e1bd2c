/*
 * library function
 *
 * input: stdin
 * seed: aaaa
 * solution: \xde\xc0g\x12
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    unsigned short v[2];
    char text[32];
    if (read(0, v, 4) != 4)
        return 0;
    sprintf(text, "%04x:%d", v[0], v[1]);
    if (strcmp(text, "c0de:4711") == 0)
        BUG();
    return 0;
}
