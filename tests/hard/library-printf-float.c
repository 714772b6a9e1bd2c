/*
 * library function
 *
 * input: argv:1/12
 * seed: 1.5
 * solution: 62.5
 * fails: abort
 */
#include "hard.h"

int main(int argc, char **argv)
{
    char text[64];
    if (argc < 2)
        return 0;
    snprintf(text, sizeof text, "%.2f", atof(argv[1]) / 2);
    if (strcmp(text, "31.25") == 0)
        BUG();
    return 0;
}
