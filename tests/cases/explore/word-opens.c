/*
 * name:   a word that no mutation guesses leads to a failure
 * run:    sundew capture -q -- cc -g $file -o prog && sundew explore ./prog --stop-at first-failure --time 60s -j1
 * expect: $file:19: explore:
 * expect: [explore/failure]
 * status: 1
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char word[16] = "";
    size_t n = fread(word, 1, sizeof word - 1, stdin);
    if (n < 8 || memcmp(word, "sesame", 6) != 0)
        return 0;
    if ((word[6] ^ word[7]) == 0x2a)
        abort();
    return 1;
}
