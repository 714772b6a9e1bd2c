/*
 * checksum
 *
 * input: stdin
 * seed: 0000000000000000
 * solution: 4900000199999999
 * fails: abort
 */
#include "hard.h"

/* A card's number. */
int main(void)
{
    char b[16];
    int sum = 0;
    if (read(0, b, 16) != 16 || b[0] != '4' || b[15] != '9')
        return 0;
    for (int i = 0; i < 16; i++) {
        if (b[i] < '0' || b[i] > '9')
            return 0;
        int d = b[i] - '0';
        if (i % 2 == 0 && (d *= 2) > 9)
            d -= 9;
        sum += d;
    }
    if (sum % 10 == 0 && sum > 80)
        BUG();
    return 0;
}
