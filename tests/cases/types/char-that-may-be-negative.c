/*
 * name:   a plain char where all others are unsigned
 * run:    sundew types --own-only $file
 * expect: $file:43:18: types: isdigit: argument 1 is char, which may be negative
 * expect: 30 of 31 calls of this kind pass unsigned char or int
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
    n += isdigit(*s) != 0;
    return n;
}
