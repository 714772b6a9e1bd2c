/* Words of the input as numbers, sorted: quicksort with insertion for short stretches. */
#include "input.h"

static void insert(int *a, int n)
{
    for (int i = 1; i < n; i++) {
        int x = a[i], j = i;
        for (; j > 0 && a[j - 1] > x; j--)
            a[j] = a[j - 1];
        a[j] = x;
    }
}

static void sort(int *a, int n)
{
    while (n > 12) {
        int p = a[n / 2], i = 0, j = n - 1;
        while (i <= j) {
            while (a[i] < p)
                i++;
            while (a[j] > p)
                j--;
            if (i <= j) {
                int t = a[i];
                a[i++] = a[j];
                a[j--] = t;
            }
        }
        sort(a, j + 1);
        a += i;
        n -= i;
    }
    insert(a, n);
}

int main(int argc, char **argv)
{
    read_input();
    int n = (int)(ninput / 4);
    int *a = malloc(sizeof *a * (size_t)(n + 1));
    unsigned sum = 0;
    for (int r = rounds(argc, argv); r > 0; r--) {
        for (int i = 0; i < n; i++)
            a[i] = input[4 * i] << 24 ^ input[4 * i + 1] << 16 ^ input[4 * i + 2] << 8 ^
                   input[4 * i + 3];
        sort(a, n);
        for (int i = 0; i < n; i += 100)
            sum = sum * 31 + (unsigned)a[i];
    }
    printf("%u\n", sum);
    return 0;
}
