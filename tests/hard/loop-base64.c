/*
 * loop bounded by input
 *
 * input: stdin
 * seed: aaaaaaaaaaaa
 * solution: bG9naWMgYm9t
 * fails: abort
 */
#include "hard.h"

static int value(unsigned char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *p = c ? strchr(digits, c) : NULL;
    return p ? (int)(p - digits) : -1;
}

int main(void)
{
    char b[12], out[10] = "";
    if (read(0, b, 12) != 12)
        return 0;
    for (int i = 0; i < 12; i += 4) {
        unsigned group = 0;
        for (int k = 0; k < 4; k++) {
            int d = value(b[i + k]);
            if (d < 0)
                return 0;
            group = group << 6 | (unsigned)d;
        }
        for (int k = 0; k < 3; k++)
            out[i / 4 * 3 + k] = (char)(group >> (16 - 8 * k));
    }
    if (strcmp(out, "logic bom") == 0)
        BUG();
    return 0;
}
