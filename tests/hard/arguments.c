/*
 * arguments
 *
 * input: argv:2/12
 * seed: aaaa
 * solution: --level\x00\x00\x00\x00\x0031337\x00\x00\x00\x00\x00\x00\x00
 * fails: abort
 */
#include "hard.h"

int main(int argc, char **argv)
{
    if (argc < 3 || strcmp(argv[1], "--level") != 0)
        return 0;
    if (atoi(argv[2]) == 31337)
        BUG();
    return 0;
}
