/* A barrier for three, and a worker that sometimes leaves before it. */
#include "subject.h"
static pthread_barrier_t barrier;
static _Atomic int tickets;

static void *work(void *unused)
{
    int mine = tickets++;
    int seen = tickets;
#ifndef FIXED
    if (mine == 0 && seen == 3)
        return unused;
#endif
    (void)mine;
    (void)seen;
    pthread_barrier_wait(&barrier);
    return unused;
}

int main(void)
{
    pthread_barrier_init(&barrier, NULL, 3);
    TOGETHER(work, work, work);
}
