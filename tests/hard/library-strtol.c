/*
 * library function
 *
 * input: stdin
 * seed: 12\x2034\x0a\x20\x20\x20\x20\x20\x20
 * solution: bee\x200x7f\x0a
 * fails: abort
 */
#include "hard.h"

int main(void)
{
    char b[24] = "", *end;
    if (!fgets(b, sizeof b, stdin))
        return 0;
    long x = strtol(b, &end, 16);
    if (*end != ' ')
        return 0;
    long y = strtol(end, &end, 0);
    if (*end == '\n' && x == 0xbee && y == 0x7f)
        BUG();
    return 0;
}
