/* main() ends by pthread_exit() while a worker still uses main()'s variable. */
#include "subject.h"
static _Atomic int closed;

static void *work(void *arg)
{
    int *n = arg;
    *n = 1;
#ifdef FIXED
    free(n);
#else
    assert(!closed);
#endif
    return NULL;
}

int main(void)
{
    pthread_t t;
    int *n = malloc(sizeof *n);
    pthread_create(&t, NULL, work, n);
    pthread_detach(t);
    closed = 1;
    pthread_exit(NULL);
}
