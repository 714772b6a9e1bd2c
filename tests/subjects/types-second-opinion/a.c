#include "shapes.h"
struct a_only { struct node n; struct packed p; struct aligned al; struct zero z; } a_global;
static int same(Link a, struct bits b) { return a->state + b.c; }
int a_pair(Pair p, union value v, struct packed by_value, const Pair *q) { return p.x + (int)v.l + by_value.b + q->y; }
struct node a_make(int matrix[3][4], char name[static 2], const int n) { struct node x = { .state = matrix[n][0] + name[0] }; return x; }
Compare a_compare(enum level l, Code c) { return l == LOW && c == BIG ? (Compare)a_make : 0; }
int (*a_pick(int n))(Pair) { return 0; }
float a_old(x, y, f) char *x; short y; float f; { return *x + y + f; }
int a_vla(int n, int m[n][n], ...) { char local[n]; local[0] = 1; return m[0][0] + local[0]; }
_Bool a_use(Link l) { struct bits b = {0}; static struct { int hidden; } s; return same(l, b) + s.hidden; }
_Complex float a_complex(_Complex float a, long double b, __int128 c) { return a + b + c; }
