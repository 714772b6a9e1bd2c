/* A reference count that two threads take down without care: the object goes
 * while one still reads it. */
#include "subject.h"
#include <stdatomic.h>
typedef struct Box {
    _Atomic int users;
    _Atomic int value;
} Box;
static Box *box;

static void *drop(void *unused)
{
#ifdef FIXED
    (void)box->value;
    if (atomic_fetch_sub_explicit(&box->users, 1, memory_order_acq_rel) == 1)
        free(box);
#else
    int left = --box->users;
    (void)box->value;
    if (left == 0)
        free(box);
#endif
    return unused;
}

int main(void)
{
    box = malloc(sizeof *box);
    box->users = 2;
    box->value = 7;
    TOGETHER(drop, drop);
}
