/*
 * buffer overflow
 *
 * input: stdin
 * seed: aaaaaaaaaaaaaaaaaaaaaaaa
 * solution: USER\x20aaaaaaaaaaaaaaaaaaaa
 * fails: asan
 */
#include "hard.h"

int main(void)
{
    char line[32] = "", name[12];
    ssize_t n = read(0, line, 31);
    if (n < 5 || strncmp(line, "USER ", 5) != 0)
        return 0;
    if (SAFE && strlen(line + 5) >= sizeof name)
        return 0;
    strcpy(name, line + 5);
    puts(name);
    return 0;
}
