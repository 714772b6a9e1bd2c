struct list; int len(struct list *); void clear(struct list *); void put(struct list *, struct list *);
struct list *same(struct list *); void each(struct list *, void (*)(struct list *));
int a(struct list *x) { return len(x); }
void b(struct list *y) { clear(same(y)); }
void c(struct list *p, struct list *q) { put(p, q); }
void d(struct list *z) { each(z, clear); }
int main(void) { return 0; }
