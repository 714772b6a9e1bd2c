/*
 * name:   nothing to say: written, kept, or const already
 * run:    sundew capture -q -- cc -g $file -o prog && sundew mutability prog
 * expect: no findings
 * absent: could point to const
 * absent: written through
 * status: 0
 */
struct point { int x, y; };

static int sum(const struct point *p) { return p->x + p->y; }
static void move(struct point *p) { p->x++; }
static struct point *same(struct point *p) { return p; }
static int (*table[])(struct point *);
static int by_pointer(struct point *p) { return p->x; }
static int bump(struct point *p) { return p->x++; }
static int (*table[])(struct point *) = { by_pointer, bump };

int main(void)
{
    struct point p = { 1, 2 };
    move(same(&p));
    return sum(&p) + table[0](&p);
}
