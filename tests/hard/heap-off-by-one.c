/*
 * heap extent
 *
 * input: stdin
 * seed: abcd
 * solution: key=abcdefgh\x00
 * fails: asan
 */
#include "hard.h"

/* The end of the string has no room if the value has exactly eight characters. */
int main(void)
{
    char b[32] = "";
    if (read(0, b, 31) < 5 || strncmp(b, "key=", 4) != 0)
        return 0;
    char *value = b + 4;
    size_t n = strlen(value);
    char *copy = malloc(n == 8 && !SAFE ? n : n + 1);
    strcpy(copy, value);
    puts(copy);
    free(copy);
    return 0;
}
