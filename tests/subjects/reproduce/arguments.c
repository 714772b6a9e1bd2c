/* A loop over arguments that takes as many parameters, of which there are
 * fewer. */
#include <stdio.h>
#include <stdlib.h>

#define DEFECT 1
/* A call that no optimiser sees through: the function keeps its frame. */
#define CALL(f) (*(__typeof__(f) *volatile *)&(__typeof__(f) *){ f })

struct param { const char *type; struct param *next; };
struct method { const char *name; struct param *params; };
struct call { const char *name; const char *args[4]; int nargs; };

static struct param *param_at(struct method *m, int n)
{
    struct param *p = m->params;
    while (p && n-- > 0)
        p = p->next;
    return p;
}

int check_arguments(struct method *m, struct call *c)
{
    int fit = 0;
    for (int i = 0; i < c->nargs; i++) {
        struct param *p = CALL(param_at)(m, i);
        if (!p && !DEFECT)
            break;
        fit += p->type[0] == 's' && c->args[i] != NULL;
    }
    return fit;
}

int main(int argc, char **argv)
{
    struct param second = { "string", NULL }, first = { "string", &second };
    struct method m = { "test", &first };
    struct call c = { "test", { "foo", "bar", "baz", NULL }, argc > 1 ? 3 : 2 };
    printf("%d fit\n", CALL(check_arguments)(&m, &c));
    (void)argv;
    return 0;
}
