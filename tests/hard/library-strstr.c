/*
 * library function
 *
 * input: stdin
 * seed: aaaaaaaaaaaaaaaaaaaa
 * solution: aa#a<key>0042aaaaaaa
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    char b[21] = "";
    if (read(0, b, 20) != 20)
        return 0;
    char *p = strstr(b, "<key>");
    if (p && p - b >= 4 && strncmp(p + 5, "0042", 4) == 0 && strchr(b, '#') == b + 2)
        BUG();
    return 0;
}
