#include "stack.h"
#include <stdio.h>

static int see(int value, void *user)
{
    (void)user;
    printf("%d\n", value);
    return 0;
}

int main(void)
{
    char text[40];
    int v = 0;
    struct stack *s = stack_new(STACK_PLAIN);
    stack_push(s, 10);
    stack_push(s, 20);
    stack_print(s, text, sizeof text);
    stack_each(s, see, NULL);
    stack_pop(s, &v);
    stack_pop(s, &v);
    printf("%s %d %d %s %g\n", text, v, stack_size(s), stack_name(s), stack_mean(s));
    stack_free(s);
    struct stack *u = stack_new(STACK_UNIQUE);
    stack_push(u, 5);
    stack_push(u, 5);
    stack_free(u);
    return 0;
}
