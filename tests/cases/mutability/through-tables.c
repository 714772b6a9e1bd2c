/*
 * name:   functions in tables and references that are kept, where the declarations accept const
 * run:    sundew capture -q -- cc -g $file -o prog && sundew mutability prog
 * expect: $file:16:12: mutability: get: p could point to const, with the types of pointers to it
 * expect: $file:20:13: mutability: name_it: name could point to const
 * absent: bump
 * absent: read_or_write
 * absent: label_it
 * status: 0
 */
#include <stddef.h>

struct point { int x; const char *name; char *label; };

/* all functions in the table only read */
static int get(struct point *p) { return p->x; }
static int (*readers[])(struct point *) = { get };

/* kept where only const is promised */
static void name_it(struct point *p, char *name) { p->name = name; }

/* the twins: one of them writes, and the member is not const */
static int read_or_write(struct point *p) { return p->x; }
static int bump(struct point *p) { return p->x++; }
static int (*others[])(struct point *) = { read_or_write, bump };
static void label_it(struct point *p, char *label) { p->label = label; }

int main(void)
{
    struct point p = { 1, NULL, NULL };
    char text[] = "a";
    name_it(&p, text);
    label_it(&p, text);
    p.label[0] = 'b';
    return readers[0](&p) + others[1](&p) + others[0](&p) + p.name[0];
}
