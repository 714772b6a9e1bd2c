/* A row whose length is in a file and whose place on standard input: only main()
 * knows both, and it has them from outside. */
#include <stdio.h>
#include <stdlib.h>

#define DEFECT 1
/* A call that no optimiser sees through: the function keeps its frame. */
#define CALL(f) (*(__typeof__(f) *volatile *)&(__typeof__(f) *){ f })

int number_in(FILE *f, int otherwise)
{
    int n = 0;
    return f && fscanf(f, "%d", &n) == 1 ? n : otherwise;
}

int cell(const int *row, int at, const char *name)
{
    return row[at] + (name != NULL);
}

int main(int argc, char **argv)
{
    FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
    int length = CALL(number_in)(f, 1), at = CALL(number_in)(stdin, 0);
    int *row = at < length ? calloc((size_t)length, sizeof *row) : NULL;
    int sum = row || DEFECT ? CALL(cell)(row, at, argv[1]) : 0;
    printf("%d\n", sum);
    if (f)
        fclose(f);
    free(row);
    return 0;
}
