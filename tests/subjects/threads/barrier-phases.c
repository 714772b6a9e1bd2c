/* Two phases with one barrier too few: the second reads what is still written. */
#include "subject.h"
static pthread_barrier_t barrier;
static int part[2], sum[2];

static void *work(void *arg)
{
    unsigned me = (unsigned)(uintptr_t)arg;
    part[me] = 1;
    pthread_barrier_wait(&barrier);
    sum[me] = part[0] + part[1];
#ifdef FIXED
    pthread_barrier_wait(&barrier);
#endif
    part[me] = 5;
    return NULL;
}

int main(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    TOGETHER(work, work);
    assert(sum[0] == 2 && sum[1] == 2);
}
