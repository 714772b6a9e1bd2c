#include "counted.h"
#include <stdio.h>

int main(void)
{
    char *a = counted_new("one two"), *b = counted_new("three");
    printf("%zu %zu %d\n", counted_length(a), counted_length(b), text_words("a b c"));
    int n;
    char **parts = counted_split("a,b,c", ',', &n);
    printf("%d %s\n", n, parts[1]);
    counted_free_all(parts, n);
    counted_clear(b);
    counted_free(a);
    counted_free(b);
    return 0;
}
