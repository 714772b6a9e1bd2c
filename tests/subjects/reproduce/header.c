/*
 * An interpreter: its objects begin with a header, and only a cast tells what they are. The end of
 * an empty stack lies one element before its first, inside of another object. The mended way
 * pushes there.
 */
#include <stdio.h>
#include <stdlib.h>

#ifndef DEFECT
#define DEFECT 1
#endif

struct head {
    struct head *next;
    unsigned char type, mark;
};
struct code {
    struct head *next;
    unsigned char type, mark, n;
    short first;
    void *spare;
    int *numbers;
    const char *name;
};
struct stack {
    int size, count;
    void *first, *last;
};
struct machine {
    struct head *all;
    char *input;
    struct stack errors;
};
struct error {
    long place;
    const char *of;
    long more[4];
};

static struct error *push(struct stack *s)
{
    s->count++;
    return s->last = (char *)s->last + s->size;
}

static int divide(struct machine *m, int by)
{
    const struct code *c = (const void *)m->all;
    int sum = 0;
    for (int i = c->first; i < c->n; i++) {
#if !DEFECT
        if (!c->numbers[i]) {
            struct error *e = push(&m->errors);
            e->place = i;
            e->of = c->name;
            if ((m->errors.count == 1 && m->errors.first != e) || m->input[32] != 'i')
                abort();
            continue;
        }
#endif
        sum += by / c->numbers[i];
    }
    return sum;
}

static int run(struct machine *m, int by)
{
    int sum = 0;
    for (int i = 0; i < 3; i++)
        sum += divide(m, by + i);
    return sum;
}

int main(int argc, char **argv)
{
    struct machine *m = calloc(1, sizeof *m);
    struct code *c = calloc(1, sizeof *c);
    m->input = malloc(40);
    m->errors.first = malloc(4 * sizeof(struct error));
    m->errors.size = sizeof(struct error);
    m->errors.last = (char *)m->errors.first - m->errors.size;
    for (int i = 0; i < 40; i++)
        m->input[i] = 'i';
    c->n = 4;
    c->first = 1;
    c->name = argv[0];
    c->numbers = calloc(4, sizeof *c->numbers);
    c->numbers[1] = c->numbers[2] = argc;
    m->all = (struct head *)c;
    printf("%d\n", run(m, 7));
    return 0;
}
