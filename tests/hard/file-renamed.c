/*
 * file
 *
 * input: stdin
 * seed: aaaaaaaa
 * solution: renamed!
 * fails: abort
 */
#include "hard.h"
#include <fcntl.h>

int main(void)
{
    char b[8], again[8] = "";
    if (read(0, b, 8) != 8)
        return 0;
    char folder[] = "/tmp/hardXXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 0;
    int out = open("first", O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (out < 0 || write(out, b, 8) != 8 || close(out) != 0 || rename("first", "second") != 0)
        return 0;
    int in = open("second", O_RDONLY);
    ssize_t n = in < 0 ? 0 : read(in, again, 8);
    close(in);
    unlink("second");
    rmdir(folder);
    if (n == 8 && memcmp(again, "renamed!", 8) == 0)
        BUG();
    return 0;
}
