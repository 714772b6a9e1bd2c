/*
 * library function
 *
 * input: argv:1/12
 * seed: 7
 * solution: 9715
 * fails: abort
 */
#include "hard.h"

/* A seed that is written in digits. */
int main(int argc, char **argv)
{
    if (argc < 2)
        return 0;
    srand((unsigned)atoi(argv[1]));
    if (rand() % 1000 == 777 && rand() % 100 == 42)
        BUG();
    return 0;
}
