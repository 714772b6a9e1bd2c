/* Four keys in a row open the lock, and then an event writes behind an array. */
#include <string.h>
static unsigned have;
static int log_of[4];

void key(unsigned char c)
{
    if (c == (unsigned char)"open"[have])
        have++;
    else
        have = 0;
    if (have == 4) {
        have = 0;
#ifndef FIXED
        log_of[have + 4] = c;
#endif
    }
}

int main(void)
{
    key('x');
    return log_of[0];
}
