/*
 * name:   a client's handlers find what a library keeps
 * run:    sundew capture -q -- sh -c 'cc -g -c $file -o l.o && ar rc libl.a l.o' && sundew mutability libl.a --verdicts --sound
 * expect: counts(p): immutable
 * expect: own_stream(p): immutable
 * absent: raises(p): immutable
 * absent: ends(p): immutable
 * absent: checks(p): immutable
 * absent: puts_out(p): immutable
 * absent: once(p): immutable
 * status: 0
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

struct item { long a; };

static struct item *current;
struct item *current_item(void) { return current; }

/* Each keeps the item while a function of the client may run. */
int raises(struct item *p)
{
    current = p;
    int ok = raise(SIGUSR1);
    current = 0;
    return ok;
}

void ends(struct item *p)
{
    current = p;
    exit(1);
}

long checks(struct item *p)
{
    current = p;
    assert(p->a > 3);
    return p->a;
}

int puts_out(struct item *p, FILE *f)
{
    current = p;
    return fputs("x", f);
}

int once(struct item *p, pthread_once_t *o, void (*f)(void))
{
    current = p;
    return pthread_once(o, f);
}

/* Nothing of the client runs. */
long counts(struct item *p)
{
    current = p;
    return labs(p->a);
}

long own_stream(struct item *p)
{
    current = p;
    FILE *f = fopen("/dev/null", "w");
    if (!f)
        return p->a;
    return fputs("x", f) + fclose(f);
}
