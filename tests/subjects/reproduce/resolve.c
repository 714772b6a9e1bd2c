/* An argument that is changed between the entry and the crash: from the state
 * at the crash nothing fails again. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFECT 1
/* A call that no optimiser sees through: the function keeps its frame. */
#define CALL(f) (*(__typeof__(f) *volatile *)&(__typeof__(f) *){ f })

enum kind { EXPR_NAME, EXPR_ARRAY };
struct type { const char *name; int dimensions; };
struct expr { enum kind kind; struct type *receiver; bool resolved, has_error; };
struct stmt { struct expr *expr; struct stmt *next; bool visited; int line; };
struct unit { struct stmt *first; int errors; };
struct scope { int depth; };

int resolve_type(struct expr *expr, struct scope *scope)
{
    if (expr->resolved)
        return 0;
    expr->resolved = true;
    switch (expr->kind) {
    case EXPR_ARRAY:
        if (!expr->receiver && !DEFECT)
            expr->has_error = true;
        break;
    case EXPR_NAME:
        if (!expr->receiver)
            expr->has_error = true;
        break;
    }
    if (expr->has_error)
        return -1;
    scope->depth += expr->receiver->dimensions;
    return scope->depth;
}

int check(struct stmt *s, struct scope *scope)
{
    printf("line %d\n", s->line);
    int result = CALL(resolve_type)(s->expr, scope);
    printf("gives %d\n", result);
    return result;
}

int compile(struct unit *u, struct scope *scope)
{
    for (struct stmt *s = u->first; s; s = s->next) {
        if (s->visited)
            continue;
        s->visited = true;
        if (CALL(check)(s, scope) < 0)
            u->errors++;
    }
    return u->errors;
}

/* The program comes from outside: no test of main() has it. */
int main(void)
{
    struct unit u = { 0 };
    struct scope scope = { 1 };
    static struct type number = { "int", 1 };
    for (const char *p = getenv("KINDS"); p && *p; p++) {
        struct stmt *s = calloc(1, sizeof *s);
        s->expr = calloc(1, sizeof *s->expr);
        s->expr->kind = *p == 'a' ? EXPR_ARRAY : EXPR_NAME;
        s->expr->receiver = *p == 'a' ? NULL : &number;
        s->line = *p;
        s->next = u.first;
        u.first = s;
    }
    return CALL(compile)(&u, &scope) > 9;
}
