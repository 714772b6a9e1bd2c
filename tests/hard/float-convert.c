/*
 * floating point
 *
 * input: stdin
 * seed: \x01\x00\x00\x00
 * solution: q\x00\x00\x00
 * fails: abort
 */
#include "hard.h"

/* Cents are cut off. */
int main(void)
{
    int cents;
    if (read(0, &cents, 4) != 4 || cents < 0 || cents > 1000000)
        return 0;
    double price = cents / 100.0;
    if ((int)(price * 100.0) != cents && cents > 100)
        BUG();
    return 0;
}
