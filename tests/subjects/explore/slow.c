#include <stdio.h>
#include <unistd.h>
int main(void)
{
    sleep(3);
    return getchar() == 'x';
}
