#include "ops.h"
#include <stdlib.h>
#include <string.h>
#include "part.inc"
static int get_v(struct S *s) { return s->v; }
static int get_w(struct S *s) { return s->v + 1; }
static int take_v(struct S *s) { return s->v; }
static int take_w(struct S *s) { return s->v++; }
static const struct ops plain = { get_v, take_v };
static const struct ops other = { .get = get_w, .take = take_w };
int total(char **list, int n) { int t = 0; char **at = list; for (int i = 0; i < n; i++) t += (int)strlen(at[i]); return t; }
static void fill(char **list) { list[0] = "d"; }
static int read_it(struct S *s, void *arg) { return s->v + *(int *)arg; }
static int each(struct S *s, reader f, void *arg) { return f(s, arg); }
static int by_cast(struct S *s) { return s->v; }
static int (*table[])(struct S *) = { get_v, get_w };
int main(int argc, char **argv)
{
    struct S s = { 1, { "a", "b", "c" } };
    int (*odd)(void *) = (int (*)(void *))by_cast;
    const struct ops *o = argc > 1 ? &plain : &other;
    fill(s.names);
    return total(s.names, 3) + each(&s, read_it, &argc) + table[0](&s) + o->get(&s) + o->take(&s) + odd(&s) +
           in_part(&s) + argv[0][0];
}
