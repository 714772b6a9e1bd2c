/*
 * name:   a plain char that was tested to be ASCII is not negative
 * run:    sundew types --own-only $file
 * expect: $file:58:35: types: isdigit: argument 1 is char, which may be negative
 * absent: isdigit(s[1])
 * expect: 1 finding
 * status: 1
 */
#include <ctype.h>

int digits(const char *s, unsigned char u)
{
    int n = 0;
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit((unsigned char)s[0]) + isdigit((unsigned char)s[1]) + isdigit((unsigned char)s[2]);
    n += isdigit(u) != 0;
    n += isascii(*s) && isdigit(*s);
    n += isascii( s[1] ) &&
        isdigit(s[1]);
    n += isascii(s[2]) && isdigit(*s);
    return n;
}
