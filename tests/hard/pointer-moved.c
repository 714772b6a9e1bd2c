/*
 * symbolic pointer
 *
 * input: stdin
 * seed: aaaaaaaa
 * solution: \x05m\x02o\x07v\x00e
 * fails: abort
 */
#include "hard.h"

/* The block moves between the writes. */
int main(void)
{
    unsigned char b[8];
    char *text = calloc(8, 1);
    if (!text || read(0, b, 8) != 8)
        return 0;
    for (int i = 0; i < 8; i += 2) {
        text[b[i] % 8] = (char)b[i + 1];
        char *larger = realloc(text, 8 + (size_t)i * 100);
        if (!larger)
            return 0;
        text = larger;
    }
    if (text[5] == 'm' && text[2] == 'o' && text[7] == 'v' && text[0] == 'e')
        BUG();
    free(text);
    return 0;
}
