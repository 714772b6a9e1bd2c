/* A label is made in an array that all threads share, and only functions of the C library read or
 * write it. FIXED: each call has its own. */
#include "label.h"
#include <stdio.h>
#include <stdlib.h>

int label_number(int n)
{
#ifndef FIXED
    static
#endif
    char text[16];
    snprintf(text, sizeof text, "%d", n);
    fputs(text, stderr);                 /* a stream has a lock of its own */
    if (atoi(text) != n)
        abort();
    return n;
}
