/* ABA: a lock-free stack whose compare-and-swap sees the same head again although
 * the list has changed. The twin counts changes beside the head. */
#include "subject.h"
#include <stdatomic.h>
static int next_of[4] = { 0, 2, 3, 0 };          /* nodes 1 → 2 → 3 */
static _Atomic uint64_t head = 1;
static _Atomic int uses[4];

static uint64_t changed(uint64_t old, uint64_t node)
{
#ifdef FIXED
    return ((old >> 32) + 1) << 32 | node;
#else
    (void)old;
    return node;
#endif
}

static int pop(void)
{
    uint64_t old = atomic_load(&head), next;
    do {
        if (!(uint32_t)old)
            return 0;
        next = (uint64_t)atomic_load((_Atomic int *)&next_of[(uint32_t)old]);
    } while (!atomic_compare_exchange_strong(&head, &old, changed(old, next)));
    return (int)(uint32_t)old;
}

static void push(int node)
{
    uint64_t old = atomic_load(&head);
    do
        atomic_store((_Atomic int *)&next_of[node], (int)(uint32_t)old);
    while (!atomic_compare_exchange_strong(&head, &old, changed(old, (uint64_t)node)));
}

static void *slow(void *unused)
{
    int n = pop();
    assert(atomic_fetch_add(&uses[n], 1) == 0);
    return unused;
}

static void *quick(void *unused)
{
    int a = pop(), b = pop();
    if (b)
        assert(atomic_fetch_add(&uses[b], 1) == 0);
    if (a)
        push(a);
    int c = pop(), d = c ? pop() : 0;
    if (c)
        assert(atomic_fetch_add(&uses[c], 1) == 0);
    if (d)
        assert(atomic_fetch_add(&uses[d], 1) == 0);
    return unused;
}

int main(void)
{
    TOGETHER(slow, quick);
}
