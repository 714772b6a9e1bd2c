/*
 * name:   a rare but legal type: the price of the statistic
 * run:    sundew types --own-only $file
 * expect: types: keep: argument 1 points to struct b
 * expect: 76 of 77 callers pass struct a
 * status: 1
 */
struct a { int i; }; struct b { int i; }; struct c { int i; };
struct d { int i; }; struct e { int i; }; struct f { int i; };
struct g { int i; }; struct h { int i; };

void keep(void *object);

void keep_all(struct a *a, struct b *b, struct c *c, struct d *d, struct e *e,
              struct f *f, struct g *g, struct h *h)
{
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
    keep(a); keep(a); keep(a); keep(a); keep(a); keep(a);
    keep(a); keep(a); keep(a); keep(a); keep(a); keep(a);
    keep(a); keep(a); keep(a); keep(a); keep(b);
}
