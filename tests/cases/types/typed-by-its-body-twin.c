/*
 * name:   the body turns its argument into what it is
 * run:    sundew types --own-only $file
 * absent: types:
 * status: 0
 */
struct a { int i; }; struct b { int i; };

static int read_it(void *p)
{
    struct a *a = p;
    return a->i;
}

int read_all(struct a *a, struct b *b)
{
    (void)b;
    return read_it(a) + read_it(a);
}
