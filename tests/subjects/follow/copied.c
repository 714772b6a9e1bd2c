#include <unistd.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    unsigned char b[32];
    char name[12];
    if (read(0, b, sizeof b) != 32 || b[0] > 31)
        return 1;
    memcpy(name + 2, b + 1, SIZE);
    return name[2] == 'x';
}
