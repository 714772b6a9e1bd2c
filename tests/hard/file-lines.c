/*
 * file
 *
 * input: stdin
 * seed: aa\x0abb\x0acc\x0add\x0a
 * solution: in\x0aa\x0afile\x0a
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    static const char *const want[] = { "in\n", "a\n", "file\n" };
    char line[16];
    int n = 0;
    FILE *f = tmpfile();
    while (f && fgets(line, sizeof line, stdin))
        fputs(line, f);
    if (!f || fseek(f, 0, SEEK_SET) != 0)
        return 0;
    while (n < 3 && fgets(line, sizeof line, f) && strcmp(line, want[n]) == 0)
        n++;
    fclose(f);
    if (n == 3)
        BUG();
    return 0;
}
