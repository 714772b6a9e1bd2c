/* "Once" by hand: a flag that is set before the work is done. */
#include "subject.h"
static int table[4];
#ifdef FIXED
static pthread_once_t flag = PTHREAD_ONCE_INIT;
#else
static _Atomic bool filled;
#endif

static void fill(void)
{
    for (int i = 0; i < 4; i++)
        table[i] = i + 1;
}

static void *use(void *unused)
{
#ifdef FIXED
    pthread_once(&flag, fill);
#else
    bool no = false;
    if (__atomic_compare_exchange_n((bool *)&filled, &no, true, 0, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
        fill();
#endif
    assert(table[3] == 4);
    return unused;
}

int main(void)
{
    TOGETHER(use, use, use);
}
