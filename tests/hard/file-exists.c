/*
 * file
 *
 * input: stdin
 * seed: aaaaaaaa
 * solution: /dev\x00aaa
 * fails: abort
 */
#include "hard.h"
#include <sys/stat.h>

/* The input is the name of a folder that is there. */
int main(void)
{
    char b[9] = "";
    struct stat about;
    if (read(0, b, 8) != 8)
        return 0;
    if (strlen(b) == 4 && stat(b, &about) == 0 && S_ISDIR(about.st_mode))
        BUG();
    return 0;
}
