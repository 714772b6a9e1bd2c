/* A spin lock by hand that tests and sets in two steps. */
#include "subject.h"
#include <stdatomic.h>
static atomic_int held;
static atomic_int inside;

static void acquire(void)
{
#ifdef FIXED
    int no = 0;
    while (!atomic_compare_exchange_weak(&held, &no, 1))
        no = 0;
#else
    while (atomic_load(&held))
        ;
    atomic_store(&held, 1);
#endif
}

static void *work(void *unused)
{
    for (int i = 0; i < 2; i++) {
        acquire();
        assert(atomic_fetch_add(&inside, 1) == 0);
        atomic_fetch_sub(&inside, 1);
        atomic_store(&held, 0);
    }
    return unused;
}

int main(void)
{
    TOGETHER(work, work);
}
