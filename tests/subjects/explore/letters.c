#include <stdio.h>
int main(void)
{
    char b[16] = {0};
    size_t n = fread(b, 1, sizeof b, stdin);
    if (n > 2 && b[0] == 'b' && b[1] == 'u' && b[2] == 'g')
#ifdef BUG
        __builtin_trap();
#else
        puts("no bug");
#endif
    return 0;
}
