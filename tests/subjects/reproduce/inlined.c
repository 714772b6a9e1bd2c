/* A small function with a buffer is put into its only caller; it has its test all the same. */
#include <stdio.h>
#include <stdlib.h>

#define DEFECT 1

static int total(char *const *names, int n)
{
    int sum = 0;
    for (int i = 0; i < n + DEFECT; i++)
        sum += names[i][0];
    return sum;
}

static int work(int n)
{
    char **names = calloc((size_t)n + 1, sizeof *names), text[32];
    for (int i = 0; i < n; i++) {
        int length = snprintf(text, sizeof text, "k%d", i);
        names[i] = malloc((size_t)length + 1);
        snprintf(names[i], (size_t)length + 1, "%s", text);
    }
    return total(names, n);
}

int main(int argc, char **argv)
{
    (void)argv;
    printf("%d\n", work(argc + 1));
    return 0;
}
