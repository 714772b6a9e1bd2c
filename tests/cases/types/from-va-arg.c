/*
 * name:   a pointer from va_arg may be anything
 * run:    sundew types --own-only $file
 * expect: no findings
 * status: 0
 */
#include <stdarg.h>

struct hash { int size; };
int add(const struct hash *h);

void add_these(struct hash *h)
{
    add(h); add(h); add(h); add(h); add(h); add(h); add(h); add(h); add(h); add(h);
    add(h); add(h); add(h); add(h); add(h); add(h); add(h); add(h); add(h); add(h);
    add(h); add(h); add(h); add(h); add(h); add(h); add(h); add(h); add(h); add(h);
    add(h); add(h); add(h); add(h); add(h); add(h); add(h); add(h); add(h); add(h);
}

int add_list(int n, ...)
{
    va_list ap;
    int sum = 0;

    va_start(ap, n);
    for (int i = 0; i < n; i++) {
        void *p = va_arg(ap, void *);
        sum += add(p);
    }
    va_end(ap);
    return sum;
}
