/*
 * name:   a cast to the struct that the others pass is on purpose: a note
 * run:    sundew types --own-only $file
 * expect: $file:23:9: types: add: argument 1 points to struct named
 * expect: 1 finding (1 note)
 * status: 0
 */
struct node { struct node *next; };
struct named { void *next; const char *name; };

void add(const struct node *n);

void all(struct node *n)
{
    add(n); add(n); add(n); add(n); add(n); add(n); add(n); add(n); add(n); add(n);
    add(n); add(n); add(n); add(n); add(n); add(n); add(n); add(n); add(n); add(n);
    add(n); add(n); add(n); add(n); add(n); add(n); add(n); add(n); add(n); add(n);
    add(n); add(n); add(n); add(n); add(n); add(n); add(n); add(n); add(n); add(n);
}

void one(struct named *n)
{
    add((struct node *)n);
}
