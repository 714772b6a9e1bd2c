/* A sleep in place of a wait: "by then it is ready". */
#include "subject.h"
#include <unistd.h>
static _Atomic int ready;

static void *prepare(void *unused)
{
    usleep(1000);
    ready = 1;
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, prepare, NULL);
#ifdef FIXED
    pthread_join(t, NULL);
    assert(ready);
#else
    sleep(1);
    assert(ready);
    pthread_join(t, NULL);
#endif
}
