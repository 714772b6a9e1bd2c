/*
 * Tests of this crash turn green when the defect is mended: the mended way needs the log,
 * which the failing one never comes to.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef DEFECT
#define DEFECT 1
#endif

struct log {
    int lines;
    char *last;
};
struct item {
    const char *name;
    int value;
    struct item *next;
};
struct list {
    struct item *first;
    struct log *log;
    struct log *errors;
    int n;
};

static int weight(const struct item *it)
{
    return it->name[0] + it->value;
}

static int scan(const struct list *l, int from)
{
    int sum = 0;
    for (struct item *i = l->first; i; i = i->next) {
        if (i->value <= from)
            continue;
#if !DEFECT
        if (!i->name) {
            l->errors->lines++;
            l->errors->last[0] = '!';
            continue;
        }
#endif
        sum += weight(i);
        l->log->lines += 1;
    }
    return sum;
}

static int judge(const struct list *l)
{
    return scan(l, 0) > 3 ? 1 : 0;
}

static int check(struct list *l, const char *what)
{
    if (strcmp(what, "a") == 0)
        l->n++;
    return judge(l) + l->log->lines;
}

static struct log *new_log(void)
{
    struct log *log = calloc(1, sizeof *log);
    log->last = calloc(1, 80);
    return log;
}

int main(int argc, char **argv)
{
    struct list *l = calloc(1, sizeof *l);
    l->log = new_log();
    l->errors = new_log();
    for (int i = 1; i < 4; i++) {
        struct item *it = calloc(1, sizeof *it);
        it->value = i;
        it->name = i == 2 && argc > 1 ? NULL : "n";
        it->next = l->first;
        l->first = it;
    }
    printf("%d\n", check(l, argc > 1 ? argv[1] : "b"));
    return 0;
}
