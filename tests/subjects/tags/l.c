struct S { int v; struct S *n; };
void put(struct S *s) { s->v = 1; }
int get(struct S *s) { return s->v; }
