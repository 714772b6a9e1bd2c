/* A ticket lock; the ticket is drawn in two steps. */
#include "subject.h"
#include <stdatomic.h>
static atomic_int next, now, inside;

static int draw(void)
{
#ifdef FIXED
    return atomic_fetch_add(&next, 1);
#else
    int mine = atomic_load(&next);
    atomic_store(&next, mine + 1);
    return mine;
#endif
}

static void *work(void *unused)
{
    int mine = draw();
    while (atomic_load(&now) != mine)
        ;
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
    atomic_fetch_add(&now, 1);
    return unused;
}

int main(void)
{
    TOGETHER(work, work, work);
}
