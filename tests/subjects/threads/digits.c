/* The text is written byte by byte and never read here. FIXED: each thread has its own. */
#include "digits.h"

const char *digits_of(unsigned n)
{
#ifdef FIXED
    static _Thread_local char text[12];
#else
    static char text[12];
#endif
    char *p = text;
    do {
        *p++ = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    *p = 0;
    return text;
}
