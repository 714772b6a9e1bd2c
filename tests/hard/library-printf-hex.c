/*
 * library function
 *
 * input: stdin
 * seed: aaaa
 * solution: X\xa5\xad\x0b
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    unsigned v;
    char text[32];
    if (read(0, &v, 4) != 4)
        return 0;
    sprintf(text, "%08x:%d", v ^ 0x5555, (int)(v & 0xff) - 100);
    if (strcmp(text, "0badf00d:-12") == 0)
        BUG();
    return 0;
}
