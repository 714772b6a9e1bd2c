/*
 * file
 *
 * input: argv:1/12
 * seed: 7
 * solution: 1000
 * fails: abort
 */
#include "hard.h"

/* Printed to a file, and scanned again. */
int main(int argc, char **argv)
{
    unsigned a = 0, b = 0, n = argc < 2 ? 0 : (unsigned)atoi(argv[1]);
    FILE *f = tmpfile();
    if (!f)
        return 0;
    fprintf(f, "%u %u\n", n + 5, n * 2);
    rewind(f);
    if (fscanf(f, "%u %u", &a, &b) == 2 && a + b == 3005)
        BUG();
    fclose(f);
    return 0;
}
