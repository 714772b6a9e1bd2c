/* Peterson's lock with the two announcements in the wrong order. */
#include "subject.h"
#include <stdatomic.h>
static atomic_int wants[2], turn, inside;

static void *work(void *arg)
{
    int me = (int)(uintptr_t)arg, you = 1 - me;
#ifdef FIXED
    atomic_store(&wants[me], 1);
    atomic_store(&turn, you);
#else
    atomic_store(&turn, you);
    atomic_store(&wants[me], 1);
#endif
    while (atomic_load(&wants[you]) && atomic_load(&turn) == you)
        ;
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
    atomic_store(&wants[me], 0);
    return NULL;
}

int main(void)
{
    TOGETHER(work, work);
}
