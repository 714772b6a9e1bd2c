/*
 * A write behind a buffer changes the pointer of another object; free() notices that later, in a
 * function that is handed the broken pointer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef DEFECT
#define DEFECT 1
#endif

struct label {
    char *text;
    long n[2];
};

static void fill(unsigned char *bytes, int size)
{
    for (int i = 0; i < size; i++)
        bytes[i] = 1;
    if (DEFECT)
        bytes[size + 8] += 8;
}

static void finish(struct label *l)
{
    printf("%ld\n", l->n[0]);
    free(l->text);
    free(l);
}

static int run(int n)
{
    unsigned char *bytes = malloc(24);
    struct label *l = malloc(sizeof *l);
    l->text = calloc(200, 1);
    l->n[0] = n;
    fill(bytes, 24);
    finish(l);
    free(bytes);
    return n;
}

int main(int argc, char **argv)
{
    return run((int)strlen(argv[argc - 1])) == 0;
}
