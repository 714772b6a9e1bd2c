/* An allocator that takes its blocks from mmap(), and a reporter that never returns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define DEFECT 1

struct type { int code; };
struct node { const char *name; struct type *type; struct node *next; };

static char *block;
static size_t used;

static void *get(size_t n)
{
    if (!block)
        block = mmap(NULL, 32768, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *p = block + used;
    used += (n + 15) & ~(size_t)15;
    return p;
}

static void internal(const char *what) __attribute__((noreturn));
static void internal(const char *what)
{
    fprintf(stderr, "internal: %s\n", what);
    abort();
}

static int size_of(const struct type *t)
{
    switch (t->code) {
    case 1: return 4;
    case 2: return 8;
    default: internal("no such type");
    }
}

static struct type *basic(int code)
{
    struct type *t = get(sizeof *t);
    t->code = DEFECT ? code : 1;
    return t;
}

static int declare(struct node *n)
{
    if (!n->type)
        n->type = basic(n->name[0] == 'x' ? 0 : 2);
    return size_of(n->type);
}

static int all(struct node *first)
{
    int sum = 0;
    for (struct node *n = first; n; n = n->next)
        sum += declare(n);
    return sum;
}

int main(int argc, char **argv)
{
    struct node *first = NULL;
    for (int i = 1; i < argc; i++) {
        struct node *n = get(sizeof *n);
        n->name = argv[i];
        n->next = first;
        first = n;
    }
    printf("%d\n", all(first));
    return munmap(block, 32768);
}
