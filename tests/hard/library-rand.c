/*
 * random with a seed
 *
 * input: stdin
 * seed: aaaa
 * solution: %^aa
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    unsigned short seed;
    if (read(0, &seed, 2) != 2)
        return 0;
    srand(seed);
    if (rand() % 1000 == 421 && rand() % 16 == 7)
        BUG();
    return 0;
}
