/*
 * floating point
 *
 * input: argv:1/12
 * seed: 5
 * solution: 61234
 * fails: abort
 */
#include "hard.h"

/* A narrow range of a number that was scaled and moved. */
int main(int argc, char **argv)
{
    if (argc < 2)
        return 0;
    double x = atoi(argv[1]) / 1000.0 - 4.25;
    if (x > 56.9835 && x < 56.9845)
        BUG();
    return 0;
}
