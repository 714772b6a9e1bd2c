/* A ring with semaphores: the slot is announced before it is filled. */
#include "subject.h"
#include <semaphore.h>
static sem_t empty, filled;
static _Atomic int ring[2];

static void *put(void *unused)
{
    for (int i = 1; i <= 3; i++) {
        sem_wait(&empty);
#ifdef FIXED
        ring[i % 2] = i;
        sem_post(&filled);
#else
        sem_post(&filled);
        ring[i % 2] = i;
#endif
    }
    return unused;
}

static void *get(void *unused)
{
    for (int i = 1; i <= 3; i++) {
        sem_wait(&filled);
        assert(ring[i % 2] == i);
        sem_post(&empty);
    }
    return unused;
}

int main(void)
{
    sem_init(&empty, 0, 2);
    sem_init(&filled, 0, 0);
    TOGETHER(put, get);
}
