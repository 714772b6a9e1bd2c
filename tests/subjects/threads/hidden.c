/* What the weave can't see: the count is read and written in assembly, and between the two the
 * kernel is asked to sleep. hidden_free() aborts if an addition was lost. FIXED: a lock that is
 * none of pthread's, in assembly, too. */
#include "hidden.h"
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct hidden {
    int count, calls, lock;
};

static int read_hidden(const int *at)
{
    int value;
    __asm__ volatile("movl (%1), %0" : "=r"(value) : "r"(at) : "memory");
    return value;
}

static void write_hidden(int *at, int value)
{
    __asm__ volatile("movl %0, (%1)" : : "r"(value), "r"(at) : "memory");
}

static void add_hidden(int *at)
{
    __asm__ volatile("lock; incl (%0)" : : "r"(at) : "memory");
}

static int swap_hidden(int *at, int value)
{
    __asm__ volatile("xchgl %0, (%1)" : "+r"(value) : "r"(at) : "memory");
    return value;
}

/* RARE: in one process of four. */
static void nap(void)
{
#ifdef RARE
    if (getpid() & 3)
        return;
#endif
    static const struct timespec t = { 0, 30000000 };
    long number = 35;                   /* nanosleep, past the library that is watched */
    __asm__ volatile("syscall" : "+a"(number) : "D"(&t), "S"(NULL) : "rcx", "r11", "memory");
}

struct hidden *hidden_new(void)
{
    return calloc(1, sizeof(struct hidden));
}

void hidden_free(struct hidden *h)
{
    if (h && read_hidden(&h->count) != read_hidden(&h->calls))
        abort();
    free(h);
}

void hidden_add(struct hidden *h)
{
    add_hidden(&h->calls);
#ifdef FIXED
    while (swap_hidden(&h->lock, 1))
        ;
#else
    (void)swap_hidden;
#endif
    int now = read_hidden(&h->count);
    nap();
    write_hidden(&h->count, now + 1);
#ifdef FIXED
    swap_hidden(&h->lock, 0);
#endif
}
