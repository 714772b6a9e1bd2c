/*
 * buffer overflow
 *
 * input: stdin
 * seed: T\x02ab\x00\x00\x00\x00\x00\x00\x00\x00
 * solution: TV\x0babcdefghij
 * fails: asan
 */
#include "hard.h"

/* Type, version, length, value. */
int main(void)
{
    unsigned char b[14];
    char value[8];
    if (read(0, b, sizeof b) < 12 || b[0] != 'T' || b[1] != 'V')
        return 0;
    if (b[2] > (SAFE ? sizeof value : 11) || b[2] == 0)
        return 0;
    memcpy(value, b + 3, b[2]);
    return value[0] == 'x';
}
