/*
 * name:   the body turns its argument into another struct
 * run:    sundew types --own-only $file
 * expect: $file:19:33: types: read_it: argument 1 points to struct b
 * expect: its body takes it for struct a
 * status: 1
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
    return read_it(a) + read_it(b);
}
