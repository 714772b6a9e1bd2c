/*
 * It takes its argument out of argv and cuts it up, and where the defect is mended it gives up with
 * longjmp(): the tests need the argument whole, and a place to come back to.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef DEFECT
#define DEFECT 1
#endif

struct options {
    int n;
    jmp_buf out;
};

static const char *find(const char *key)
{
    return strcmp(key, "known") == 0 ? "value" : NULL;
}

static int set(struct options *object, char *text)
{
    char *at = strchr(text, '=');
    if (!at)
        return 0;
    *at = 0;
    const char *was = find(text);
#if !DEFECT
    if (!was)
        longjmp(object->out, 1);
#endif
    object->n++;
    return was[0] == at[1];
}

int main(int argc, char **argv)
{
    struct options *o = calloc(1, sizeof *o);
    if (setjmp(o->out))
        return 2;
    for (int i = 1; i < argc; i++) {
        char *word = argv[i];
        argv[i] = NULL;
        printf("%d\n", set(o, word));
    }
    return 0;
}
