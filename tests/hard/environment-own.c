/*
 * environment
 *
 * input: stdin
 * seed: aaaaaaaa
 * solution: abcfwxyp
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    char b[9] = "";
    if (read(0, b, 8) != 8)
        return 0;
    for (int i = 0; i < 8; i++)
        b[i] = (char)(b[i] + 1);
    if (setenv("HARD_OWN", b, 1) != 0)
        return 0;
    const char *v = getenv("HARD_OWN");
    if (v && strcmp(v, "bcdgxyzq") == 0)
        BUG();
    return 0;
}
