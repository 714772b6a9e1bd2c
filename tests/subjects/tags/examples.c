/* The examples that define mutability, each run; what a run must show of each
 * parameter stands in examples.want. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct C { struct C *next; int x; };
struct C *G;
struct E { int f; }; struct D { struct E *e; }; struct CC { struct D *d; };
struct A { int f; };
struct Client { struct C *data; };
struct K { int k; };
struct Info { int *data; };
struct W { struct C *f; };
struct Dt { int day; }; struct List { struct Dt *all[4]; int n; };
struct Sc { struct List *all; struct Dt *cache; };

void m1(struct C *p1, int d) { if (d) p1->next = 0; }
void m1i(struct C *p2, int d) { m1(p2, d); }
void allW(struct C *p3, struct C *p4, struct C *p5) { p4->next = p5; struct C *c = p3->next; c->next = 0; }
void allR(struct C *p3, struct C *p4, struct C *p5) { struct C *c = p3->next; p4->next = p5; c->next = 0; }
int no1(struct C *p6) { return p6->next == 0; }
int no2(struct C *p7) { return no1(p7); }
void deep(struct CC *c) { struct D *d = c->d; struct E *e = d->e; e->f = 0; }
void idx(struct A *a, struct A *b) { a[b->f].f = 0; }
int al(struct C *p1, struct C *p2) { p1->next = 0; return p2->x; }
void two(struct C *p3, struct C *p4) { p3->x = 0; p4->x = 0; }
void use(struct C *c) { (void)c; }
void re(struct C *d) { struct C t = {0}; d = &t; d->x = 12; use(d); }
void upd(struct Client *c, struct C *nd) { c->data = nd; }
void mut(struct Client *c) { c->data->x = 1; }
struct K *head(struct K *t) { return t; }
void reset(struct K *t) { t->k = 0; }
void rsth(struct K *t) { reset(head(t)); }
int first(struct Info *i) { return i->data[0]; }
void scribble(struct Info *i) { i->data[0] = 3; }
void cpy(int *d, int *s, size_t n) { memcpy(d, s, n); }
int len(struct C *p) { return p ? 1 + len(p->next) : 0; }
void ga(struct C *p) { (void)p; G->x = 1; }
void gl(struct C *p) { G = p; ga(0); }
void wm(struct W *w) { w->f->x = 1; }
void wrap(struct C *p) { struct W w = { p }; wm(&w); }
struct Dt *scan(struct Sc *s, struct Dt *d) { return s->cache ? s->cache : d; }
void push(struct List *l, struct Dt *d) { l->all[l->n++] = d; }
void add(struct Sc *s, struct Dt *d) { push(s->all, scan(s, d)); }

/* 24 */
struct Ops { int (*get)(struct C *); };
int get(struct C *c) { return c->x; }
int get_lru(struct C *c) { return c->x++; }
const struct Ops plain = { get }, lru = { get_lru };
int ask(const struct Ops *o, struct C *c) { return o->get(c); }
int only_reads(struct C *c) { return ask(&plain, c); }

/* 25 */
int twice(struct C *arg) { return al(arg, arg); }
void q(struct C *leaf) { leaf->next = 0; }
void m(struct C *p1, struct C *p2, struct C *p3) { p2->next = p1; struct C *c = p3->next; q(c); }
void n(struct C *p1, struct C *p2) { m(p1, p2, p2); }

/* C */
void value(struct W w) { w.f->x = 1; }
int value_read(struct W w) { return w.f->x; }
struct Big { long pad[4]; struct C *f; };
void big(struct Big b) { b.f->x = 1; }
void big_own(struct Big b) { b.pad[0] = 1; b.f = 0; }
void pass_big(struct Big *b) { big(*b); }
void word(struct C *p) { uintptr_t u = (uintptr_t)p; ((struct C *)u)->x = 1; }
int word_hash(struct C *p, int *t) { t[((uintptr_t)p >> 4) % 4] = 1; return 0; }
void in_union(struct C *p) { union { struct C *p; uintptr_t u; } u; u.p = p; uintptr_t v = u.u | 0; ((struct C *)v)->x = 2; }
void va(int n, ...) { va_list l; va_start(l, n); struct C *c = va_arg(l, struct C *); va_end(l); c->x = n; }
void to_va(struct C *p) { va(1, p); }
double va_read(int n, ...) { va_list l; va_start(l, n); double d = va_arg(l, double); struct C *c = va_arg(l, struct C *); va_end(l); return d + c->x; }
double to_va_read(struct C *p) { return va_read(1, 2.0, p); }
void consume(void *p) { free(p); }
void *grow(void *p) { return realloc(p, 100); }
void away(const int *p) { *(int *)p = 1; }
void end(char *s) { char *e; strtol(s, &e, 10); *e = 0; }
void tok(char *s) { strtok(s, " "); char *t = strtok(0, " "); t[0] = 'x'; }
int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
void sort(int *v) { qsort(v, 4, sizeof *v, order); }
void none(int *d, int *s) { memcpy(d, s, 0); }
static jmp_buf where;
void jump(struct C *p) { (void)p; longjmp(where, 1); }
void catch(struct C *p) { if (!setjmp(where)) jump(p); p->x = 4; }
void after(struct C *kept) { (void)kept; }
void moved(struct W *to, struct W *from) { memcpy(to, from, sizeof *to); to->f->x = 1; }
void regrown(struct C *p)
{
    struct C **v = malloc(sizeof *v);
    v[0] = p;
    v = realloc(v, 100000 * sizeof *v);
    v[0]->x = 9;
    free(v);
}

int main(void)
{
    struct C a = {0}, b = {0}, c = {0};
    m1(&a, 1); m1i(&a, 1);
    a.next = &c; allW(&a, &a, &b);
    a.next = &c; allR(&a, &a, &b);
    no1(&a); no2(&a);
    struct E e = {1}; struct D d = {&e}; struct CC cc = {&d}; deep(&cc);
    struct A aa[2] = {{1}, {1}}; idx(aa, aa + 1);
    al(&a, &a); two(&a, &a); re(&a);
    struct Client cl; upd(&cl, &a); mut(&cl); upd(&cl, &b); mut(&cl);
    struct K k; rsth(&k); int data[2] = {1, 2}, out[2]; struct Info info = {data};
    first(&info); scribble(&info); cpy(out, data, sizeof out);
    a.next = &b; b.next = 0; len(&a);
    G = &a; ga(&a); gl(&a);
    wrap(&a);
    struct List list = {0}; struct Dt day = {0}, other = {1}; struct Sc sc = {&list, 0};
    add(&sc, &day); sc.cache = &other; add(&sc, &day);
    only_reads(&a); get_lru(&a); ask(&plain, &a); (void)lru;
    twice(&a);
    b.next = &c; n(&a, &b);
    struct W w = {&a}, w2; value(w); value_read(w);
    struct Big bg = {{0}, &a}; big_own(bg); pass_big(&bg);
    word(&a); word_hash(&a, (int[4]){0}); in_union(&a); to_va(&a); to_va_read(&a);
    consume(malloc(3)); consume(grow(malloc(3)));
    int z = 0; away(&z);
    char s[] = "12 34"; end(s); char s2[] = "a b c"; tok(s2);
    int v[4] = {4, 3, 2, 1}; sort(v); none(v, v);
    catch(&a); after(&a); a.x = 5;
    moved(&w2, &w); regrown(&a);
    return 0;
}
