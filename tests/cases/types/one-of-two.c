/*
 * name:   a variable that may hold one of two types counts half
 * run:    sundew types --own-only --sites 0.5 --json $file
 * expect: "kind": "struct b"
 * expect: "here": 0.5
 * status: 1
 */
struct a { int i; }; struct b { int i; };

void keep(void *object);

void keep_all(struct a *a, struct b *b, int which)
{
    void *v;
    if (which)
        v = a;
    else
        v = b;
    keep(a); keep(a); keep(a); keep(a); keep(a); keep(a);
    keep(a); keep(a); keep(a); keep(a); keep(a); keep(a);
    keep(a); keep(a); keep(a); keep(a); keep(a); keep(a);
    keep(a); keep(a); keep(a); keep(a); keep(a); keep(a);
    keep(a); keep(a); keep(a); keep(a); keep(a); keep(a);
    keep(a); keep(a); keep(a); keep(a); keep(a); keep(a);
    keep(a); keep(a); keep(a); keep(a); keep(a); keep(a);
    keep(a); keep(a); keep(a); keep(a); keep(a); keep(a);
    keep(a); keep(a); keep(a); keep(a); keep(a); keep(a);
    keep(a); keep(a); keep(a); keep(a); keep(a); keep(a);
    keep(v);
}
