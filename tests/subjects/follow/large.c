#include <stdio.h>
int main(void)
{
    static int a[1000];
    int n = (int)fread(a, sizeof *a, 1000, stdin), k = 0;
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && a[j - 1] > a[j]; j--, k++) {
            int t = a[j];
            a[j] = a[j - 1];
            a[j - 1] = t;
        }
    return k < 0;
}
