/*
 * name:   a program that never minds the sign
 * run:    sundew types --own-only $file
 * absent: types:
 * status: 0
 */
#include <ctype.h>

int digits(const char *s, unsigned char u)
{
    int n = 0;
    n += isdigit(*s) != 0; n += isdigit(*s) != 0;
    n += isdigit(*s) != 0; n += isdigit(*s) != 0;
    n += isdigit(*s) != 0; n += isdigit(*s) != 0;
    n += isdigit(*s) != 0; n += isdigit(*s) != 0;
    n += isdigit(*s) != 0; n += isdigit(*s) != 0;
    n += isdigit(*s) != 0; n += isdigit(*s) != 0;
    n += isdigit(*s) != 0; n += isdigit(*s) != 0;
    n += isdigit(*s) != 0; n += isdigit(*s) != 0;
    n += isdigit(*s) != 0; n += isdigit(*s) != 0;
    n += isdigit(*s) != 0; n += isdigit(*s) != 0;
    n += isdigit(*s) != 0; n += isdigit(*s) != 0;
    n += isdigit(*s) != 0; n += isdigit(*s) != 0;
    n += isdigit(*s) != 0; n += isdigit(*s) != 0;
    n += isdigit(*s) != 0; n += isdigit(*s) != 0;
    n += isdigit(*s) != 0; n += isdigit(*s) != 0;
    n += isdigit(*s) != 0;
    n += isdigit(u) != 0;
    return n;
}
