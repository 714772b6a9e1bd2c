#include <stdio.h>
#include <stdlib.h>
extern char **environ;
int main(int argc, char **argv)
{
    char b[100] = "";
    for (int i = 1; i < argc; i++)
        printf("[%s]", argv[i]);
    printf("{%s}", getenv("HARD") ? getenv("HARD") : "none");
    printf("%s", getenv("SUNDEW_INPUT") ? "(ours)" : "");
    FILE *f = argc > 2 && argv[1][0] == 'f' ? fopen(argv[2], "r") : stdin;
    printf("<%zu>", f ? fread(b, 1, 99, f) : 0);
    puts(b);
    return 0;
}
