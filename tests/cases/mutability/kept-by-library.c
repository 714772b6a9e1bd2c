/*
 * name:   the C library gives a client what it keeps for another library
 * run:    sundew capture -q -- sh -c 'cc -g -c $file -o l.o && ar rc libl.a l.o' && sundew mutability libl.a --verdicts --sound
 * expect: quiet(p): immutable
 * absent: keyed(p): immutable
 * status: 0
 */
#include <pthread.h>

struct item { long a; struct item *next; };

static pthread_key_t key;
pthread_key_t the_key(void) { return key; }

/* The client asks pthread_getspecific() for the copy, and finds the next item in it. */
void keyed(struct item *p, void (*f)(void))
{
    static struct item copy;
    copy = *p;
    pthread_setspecific(key, &copy);
    f();
}

void quiet(struct item *p, void (*f)(void))
{
    static struct item copy;
    copy = *p;
    f();
}
