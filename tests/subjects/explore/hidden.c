/* What decides is in a table and in a library's code, and no branch of the program tells. */
#include <stdio.h>
#include <string.h>
static const char high[256] = { [128 ... 255] = 1 };
static int shift(unsigned char by) { return (high[by] + 1) << 30; }
int main(void)
{
    unsigned char in[8] = { 0 };
    if (fread(in, 1, sizeof in, stdin) < sizeof in)
        return 1;
    if (in[0] == 'S')
        return shift(in[6]) == 0;
    if (in[0] == 'T' && strpbrk("kl", (char[]){ (char)in[3], 0 }))
        __builtin_trap();
    return 0;
}
