/*
 * name:   a difference of pointers that is an index is no pointer to what they point to
 * run:    sundew capture -q -- cc -g -O2 $file -o prog && sundew mutability prog
 * expect: $file:25:7: mutability: put_end: start points to const and is written through
 * absent: create: start
 * status: 1
 */
#include <stddef.h>
#include <string.h>

struct info {
    ptrdiff_t offset;
    void *data;
    void *(*alloc)(size_t, void *);
};

void *create(struct info *i, const char *start, const char **end)
{
    char *p = i->alloc((size_t)(i->offset + (*end - start) + 1), i->data);
    if (p)
        p[i->offset + (*end - start)] = 0;
    return p;
}

char *put_end(const char *start, const char *end)
{
    char *p = (char *)start;
    p[end - start] = 0;
    return p;
}

int main(int argc, char **argv)
{
    (void)argv;
    return argc;
}
