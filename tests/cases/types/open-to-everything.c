/*
 * name:   a container for all structs: a long tail
 * run:    sundew types --own-only $file
 * absent: types:
 * status: 0
 */
struct a { int i; }; struct b { int i; }; struct c { int i; };
struct d { int i; }; struct e { int i; }; struct f { int i; };
struct g { int i; }; struct h { int i; };

void keep(void *object);

void keep_all(struct a *a, struct b *b, struct c *c, struct d *d, struct e *e,
              struct f *f, struct g *g, struct h *h)
{
    keep(a); keep(b); keep(c); keep(d); keep(e); keep(f);
    keep(g); keep(a); keep(b); keep(c); keep(d); keep(e);
    keep(f); keep(g); keep(a); keep(b); keep(c); keep(d);
    keep(e); keep(f); keep(g); keep(a); keep(b); keep(c);
    keep(d); keep(e); keep(f); keep(g); keep(a); keep(b);
    keep(c); keep(d); keep(e); keep(f); keep(g); keep(a);
    keep(b); keep(c); keep(d); keep(e); keep(f); keep(g);
    keep(a); keep(b); keep(c); keep(d); keep(e); keep(f);
    keep(g); keep(a); keep(b); keep(c); keep(d); keep(e);
    keep(f); keep(g); keep(a); keep(b); keep(c); keep(d);
    keep(e); keep(f); keep(g); keep(a); keep(b); keep(c);
    keep(d); keep(e); keep(f); keep(g); keep(a); keep(b);
    keep(c); keep(d); keep(e); keep(f); keep(g); keep(a);
    keep(b); keep(c); keep(d); keep(e); keep(f); keep(g);
    keep(h);
}
