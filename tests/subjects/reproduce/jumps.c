/* The mended function leaves with siglongjmp(), through a buffer that has no type of its own. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef DEFECT
#define DEFECT 1
#endif

struct parser {
    const char *word;
    char *places;
};

static int first(const char *text)
{
    return text[0];
}

static int parse(struct parser *p)
{
    const char *rest = strchr(p->word, '=');
    if (!DEFECT && !rest)
        siglongjmp(*(sigjmp_buf *)(void *)p->places, 1);
    return first(rest) + (int)strlen(p->word);
}

int main(int argc, char **argv)
{
    struct parser *p = calloc(1, sizeof *p);
    p->places = malloc(sizeof(sigjmp_buf));
    p->word = argv[argc - 1];
    if (sigsetjmp(*(sigjmp_buf *)(void *)p->places, 1))
        return 3;
    printf("%d\n", parse(p));
    return 0;
}
