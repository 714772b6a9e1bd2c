struct S { int v; struct S *n; }; void put(struct S *); int get(struct S *);
int main(void) { struct S s = {0}; put(&s); return get(&s) != 1; }
