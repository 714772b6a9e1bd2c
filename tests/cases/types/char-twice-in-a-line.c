/*
 * name:   two of them in one line are one finding
 * run:    sundew types --own-only $file
 * expect: $file:54:18: types: isdigit: argument 1 is char, which may be negative
 * expect: 1 finding
 * status: 1
 */
#include <ctype.h>

int digits(const char *s, unsigned char u)
{
    int n = 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit((unsigned char)*s) != 0;
    n += isdigit(u) != 0;
    n += isdigit(u) != 0;
    n += isdigit(u) != 0;
    n += isdigit(u) != 0;
    n += isdigit(u) != 0;
    n += isdigit(u) != 0;
    n += isdigit(u) != 0;
    n += isdigit(u) != 0;
    n += isdigit(u) != 0;
    n += isdigit(u) != 0;
    n += isdigit(u) != 0;
    n += isdigit(u) != 0;
    n += isdigit(s[0]) && isdigit(s[1]);
    return n;
}
