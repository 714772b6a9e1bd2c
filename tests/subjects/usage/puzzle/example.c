/* One core, made the way it has to be. */
#include "puzzle.h"
#include <stdio.h>

static struct var *variable(const char *name, const char *type, const char *comp)
{
    struct word *w[5] = { word_name(name), word_type(type), word_rep("int"),
                          word_aux("order=true"), word_comp(comp) };
    struct var *v = var_new(w[0], w[1], w[2], w[3], w[4]);
    for (int i = 0; i < 5; i++)
        word_free(w[i]);
    return v;
}

int main(void)
{
    struct point *p = point_new("StackAr.push(Object)::EXIT");
    struct var *a = variable("return", "int", "22"), *b = variable("size", "double[]", "31");
    point_add(p, a);
    point_add(p, b);
    struct slice *s = point_slice(p, a, b);
    struct inv *proto = inv_proto(137), *i = inv_instantiate(proto, s);
    struct core *c = core_new(i);
    printf("%d of %d\n", core_weight(c), point_size(p));
    core_free(c);
    inv_free(i);
    inv_free(proto);
    slice_free(s);
    var_free(a);
    var_free(b);
    point_free(p);
    return 0;
}
