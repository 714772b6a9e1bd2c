#include <stdlib.h>
#include <string.h>
struct list { struct list *next; int v; };
static struct list *kept;
int len(struct list *l) { return l ? 1 + len(l->next) : 0; }
void clear(struct list *l) { l->v = 0; }
struct list *same(struct list *l) { return l; }
void keep(struct list *l) { kept = l; }
void put(struct list *l, struct list *n) { l->next = n; }
void each(struct list *l, void (*f)(struct list *)) { for (; l; l = l->next) f(l); }
long sum(long *v, int n) { long t = 0; for (int i = 0; i < n; i++) t += v[i]; return t; }
void fill(char *to, unsigned long n) { memset(to, 0, n); }
void both(char *to, unsigned long n) { fill(to, n); }
void halves(char *to, unsigned long n, unsigned long m) { memset(to, 0, n); memset(to, 1, m); }
void copy(int *to, int *from, unsigned long n) { memcpy(to, from, n); }
void drop(struct list *l) { free(l); }
