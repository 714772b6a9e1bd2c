/* One byte too many, which nothing notices but the address sanitizer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFECT 1
/* A call that no optimiser sees through: the function keeps its frame. */
#define CALL(f) (*(__typeof__(f) *volatile *)&(__typeof__(f) *){ f })

struct text { char *bytes; size_t len, cap; };

void add(struct text *t, const char *word)
{
    for (; *word; word++)
        t->bytes[t->len++] = *word;
    t->bytes[t->len] = 0;
}

int join(struct text *t, const char *a, const char *b)
{
    t->cap = strlen(a) + strlen(b) + !DEFECT;
    t->bytes = malloc(t->cap);
    t->len = 0;
    CALL(add)(t, a);
    CALL(add)(t, b);
    return (int)t->len;
}

int main(void)
{
    struct text t;
    printf("%d\n", CALL(join)(&t, "sun", "dew"));
    free(t.bytes);
    return 0;
}
