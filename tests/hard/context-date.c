/*
 * context
 *
 * input: stdin
 * seed: aaaa
 * solution: \xd0\xc2\xbb\x38
 * fails: abort
 */
#include "hard.h"
#include <time.h>

/* The input is a time: 13 o'clock of a leap day. */
int main(void)
{
    int v;
    if (read(0, &v, 4) != 4)
        return 0;
    time_t when = v;
    struct tm *t = gmtime(&when);
    if (t && t->tm_year == 100 && t->tm_mon == 1 && t->tm_mday == 29 && t->tm_hour == 13)
        BUG();
    return 0;
}
