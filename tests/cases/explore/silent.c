/*
 * name:   the twin of word-opens.c handles the word: nothing is found
 * run:    sundew capture -q -- cc -g $file -o prog && sundew explore ./prog --executions 3000 --no-concolic -j1
 * expect: sundew: complete
 * absent: explore:
 * status: 0
 */
#include <stdio.h>
#include <string.h>

int main(void)
{
    char word[16] = "";
    size_t n = fread(word, 1, sizeof word - 1, stdin);
    if (n < 8 || memcmp(word, "sesame", 6) != 0)
        return 0;
    if ((word[6] ^ word[7]) == 0x2a)
        puts("open");
    return 1;
}
