/*
 * floating point
 *
 * input: argv:1/16
 * seed: 0\x00              
 * solution: 6.25\x00
 * fails: abort
 */
#include "hard.h"

int main(int argc, char **argv)
{
    double v = argc > 1 ? atof(argv[1]) : 0;
    if (v * v == 39.0625 && v > 0)
        BUG();
    return 0;
}
