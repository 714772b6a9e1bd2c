/* Four threads move money; each account has its lock, and the total is read
 * without them. */
#include "subject.h"
enum { ACCOUNTS = 3 };
static struct {
    Lock lock;
    int money;
} bank[ACCOUNTS];

static void move(int from, int to)
{
    int first = from < to ? from : to, second = from < to ? to : from;
    LOCK(bank[first].lock);
    LOCK(bank[second].lock);
    bank[from].money -= 5;
    bank[to].money += 5;
    UNLOCK(bank[second].lock);
    UNLOCK(bank[first].lock);
}

static void *mover(void *arg)
{
    int k = (int)(uintptr_t)arg;
    move(k % ACCOUNTS, (k + 1) % ACCOUNTS);
    return NULL;
}

static void *audit(void *unused)
{
    int total = 0;
#ifdef FIXED
    for (int i = 0; i < ACCOUNTS; i++)
        LOCK(bank[i].lock);
#endif
    for (int i = 0; i < ACCOUNTS; i++) {
#ifndef FIXED
        LOCK(bank[i].lock);
#endif
        total += bank[i].money;
#ifndef FIXED
        UNLOCK(bank[i].lock);
#endif
    }
#ifdef FIXED
    for (int i = ACCOUNTS; i-- > 0;)
        UNLOCK(bank[i].lock);
#endif
    assert(total == 10 * ACCOUNTS);
    return unused;
}

int main(void)
{
    for (int i = 0; i < ACCOUNTS; i++) {
        pthread_mutex_init(&bank[i].lock, NULL);
        bank[i].money = 10;
    }
    TOGETHER(mover, mover, mover, audit);
}
