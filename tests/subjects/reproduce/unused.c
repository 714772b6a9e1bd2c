/* Nobody uses the result of first(): the build's optimiser drops the call, and the test of
 * greet() fails only without one. */
#include <stdio.h>
#include <stdlib.h>

#define DEFECT 1

struct word {
    char *text;
};

static int first(const struct word *w)
{
    return w->text[0];
}

static int greet(struct word *w, int n)
{
    w->text = n > 1 && DEFECT ? NULL : "hello";
    first(w);
    return n;
}

int main(int argc, char **argv)
{
    struct word w = { argv[0] };
    printf("%d\n", greet(&w, argc));
    return 0;
}
