#include <unistd.h>
#include <stdio.h>
static const short squares[12] = { 0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121 };
int main(void)
{
    unsigned char b[4];
    if (read(0, b, 4) != 4)
        return 1;
    int inside = b[0] % 12, i = b[1] & 15;
    if (squares[inside] == 49)
        puts("seven");
    if (i < 12 && squares[i] == 64)
        puts("eight");
    if (squares[b[2] & 15] == 81)
        puts("nine");
    return 10 / (b[3] + 1);
}
