#include <stdlib.h>
struct list { struct list *next; int v; };
struct list *kept;
void unknown(struct list *);
int len(struct list *l) { return l ? 1 + len(l->next) : 0; }
void clear(struct list *l) { l->v = 0; }
void twice(struct list *m) { clear(m->next); }
void alias(struct list *a, struct list *b, struct list *c)
{ b->next = c; struct list *d = a->next; d->v = 0; }
void away(struct list *o) { unknown(o); }
