#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int table[10];
static const int days[12] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
int divide(int a, int b) { return a / b; }
int is_day(int m, int d) { return m >= 0 && d <= days[m]; }
int main(void)
{
    char buf[64];
    size_t n = fread(buf, 1, 63, stdin);
    buf[n] = 0;
    if (n < 4)
        return 1;
    if (buf[0] == 'Q' && atoi(buf + 1) > 100)
        table[atoi(buf + 1) - 95]++;
    if (!memcmp(buf, "DIVI", 4))
        return divide(100, buf[5] - '0');
    if (!memcmp(buf, "NULL", 4))
        return strchr(buf, '=')[1];
    return is_day(buf[0] == '1', buf[1]);
}
