#include "shapes.h"
struct a_only { int different; };
static int same(struct a_only *o) { return o->different; }
int node_visit(struct node *n, int (*f)(struct node *, void *), void *arg) { struct a_only o = { f(n, arg) }; return same(&o); }
int main(int argc, char **argv) { return argc + !argv; }
