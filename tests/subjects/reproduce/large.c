/* A large variable changes while functions near main() run: their tests need it as it was. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef DEFECT
#define DEFECT 1
#endif

static struct state {
    char page[3000];
    int opened;
    const char *name;
} state;

static int length(const struct state *s)
{
    return (int)strlen(s->name) + s->page[1];
}

static int work(int n)
{
    if (DEFECT && n > 1)
        state.name = NULL;
    memset(state.page, n, sizeof state.page);
    return length(&state) + n;
}

static int boot(int n, const char *name)
{
    if (state.opened++)
        return 0;
    state.name = name;
    return work(n);
}

int main(int argc, char **argv)
{
    printf("%d\n", boot(argc, argv[0]));
    return 0;
}
