/* The compiler puts the failing part of a function elsewhere, under another name. The fix gives
 * the function one parameter more. */
#include <stdio.h>
#include <stdlib.h>

#define DEFECT 1

struct node {
    int type, value;
    struct node *next;
};

#if DEFECT
#define TYPE
#else
#define TYPE , int type
#endif

__attribute__((noinline)) static int value(const struct node *n, int *sum, int unused TYPE)
{
    (void)unused;
    switch (n->type) {
    case 0: *sum += n->value; return 1;
    case 1: *sum -= n->value; return 2;
    case 2: *sum *= n->value | 1; return 3;
#if !DEFECT
    case 3: return type;
#endif
    default: abort();
    }
}

static int walk(const struct node *n)
{
    int sum = 0;
    for (; n; n = n->next)
#if DEFECT
        sum += value(n, &sum, 7) + (n->next ? value(n->next, &sum, 8) : 0);
#else
        sum += value(n, &sum, 7, 0) + (n->next ? value(n->next, &sum, 8, 1) : 0);
#endif
    return sum;
}

int main(int argc, char **argv)
{
    (void)argv;
    struct node last = { 3, argc, NULL }, middle = { 1, 5, &last }, first = { 0, 4, &middle };
    printf("%d\n", walk(&first));
    return 0;
}
