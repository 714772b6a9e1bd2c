#include <stdio.h>
#include <unistd.h>
int main(void)
{
    FILE *f = fopen("/dev/tty", "r");
    if (!f)
        return 2;
    return getc(f) == 'x';
}
