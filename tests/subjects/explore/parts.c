#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    const char *mode = getenv("MODE");
    if (argc > 1 && !strcmp(argv[1], "-x") && mode && !strcmp(mode, "evil") && getchar() == '!')
        abort();
    return 0;
}
