/* Everything lies in one block: the tests say what lies there, not only at which offset. */
#include <stdio.h>
#include <stdlib.h>

#ifndef DEFECT
#define DEFECT 1
#endif

struct arena {
    char *at, *end;
};
struct name {
    const char *text;
    int length;
};
struct node {
    struct node *next;
    struct name *name;
    int value;
};
struct list {
    struct node *first;
    int n;
};

static void *allocate(struct arena *a, size_t n)
{
    char *p = a->at;
    a->at += (n + 7) / 8 * 8;
    return a->at <= a->end ? p : NULL;
}

static int total(const struct list *l)
{
    int sum = 0;
    for (const struct node *i = l->first; i; i = i->next) {
#if !DEFECT
        if (!i->name->text)
            continue;
#endif
        sum += i->value + i->name->text[0] + i->name->length;
    }
    return sum;
}

static int judge(const struct list *l)
{
    return l->n > 1 && total(l) > 100;
}

int main(int argc, char **argv)
{
    char *block = calloc(1, 4096);
    struct arena arena = { block, block + 4096 };
    struct list *l = allocate(&arena, sizeof *l);
    for (int i = 1; i < 4; i++) {
        struct node *n = allocate(&arena, sizeof *n);
        n->name = allocate(&arena, sizeof *n->name);
        n->value = i;
        n->name->text = i == 1 && argc > 1 ? NULL : argv[0];
        n->name->length = i;
        n->next = l->first;
        l->first = n;
        l->n++;
    }
    printf("%d\n", judge(l));
    free(block);
    return 0;
}
