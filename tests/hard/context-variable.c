/*
 * context
 *
 * input: stdin
 * seed: aaaaaaaa
 * solution: PATH\x00aaa
 * fails: abort
 */
#include "hard.h"

/* The input is the name of a variable. */
int main(void)
{
    char b[9] = "";
    if (read(0, b, 8) != 8)
        return 0;
    const char *value = getenv(b);
    if (value && strchr(value, '/'))
        BUG();
    return 0;
}
