/*
 * file
 *
 * input: file
 * seed: aaaa
 * solution: Q234567890123456789012345678901234567890
 * fails: abort
 */
#include "hard.h"
#include <sys/stat.h>

int main(int argc, char **argv)
{
    struct stat about;
    FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!f || fstat(fileno(f), &about) != 0)
        return 0;
    if (about.st_size == 40 && fgetc(f) == 'Q')
        BUG();
    fclose(f);
    return 0;
}
