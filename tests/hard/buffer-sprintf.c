/*
 * buffer overflow
 *
 * input: stdin
 * seed: \x01\x00\x00\x00aaaa
 * solution: \x00\x945waaaa
 * fails: asan
 */
#include "hard.h"

/* Nine digits fit. */
int main(void)
{
    unsigned v;
    char *text = malloc(SAFE ? 12 : 10);
    if (!text || read(0, &v, 4) != 4)
        return 0;
    sprintf(text, "%u", v);
    puts(text);
    free(text);
    return 0;
}
