/*
 * library function
 *
 * input: stdin
 * seed: aaaaaaaa
 * solution: PA78!!\x20\x09
 * fails: abort
 */
#include "hard.h"
#include <ctype.h>

int main(void)
{
    unsigned char b[8];
    if (read(0, b, 8) != 8)
        return 0;
    for (int i = 0; i < 8; i++) {
        int ok = i < 2   ? isupper(b[i])
                 : i < 4 ? isdigit(b[i])
                 : i < 6 ? ispunct(b[i]) : isspace(b[i]);
        if (!ok)
            return 0;
    }
    if (toupper(b[0] + 33) == 'Q' && b[2] - '0' + b[3] - '0' == 15 && b[4] == b[5])
        BUG();
    return 0;
}
