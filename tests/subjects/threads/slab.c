/* What is kept stands in a table in mapped memory, which is no part of the heap. A slab is lost, as
 * the lock is given away between the place and the count. FIXED: it is not. */
#define _GNU_SOURCE
#include "slab.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { ROOM = 8192 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void **table;
static unsigned used;

static void *take(void)
{
    pthread_mutex_lock(&lock);
    void *p = used ? table[--used] : NULL;
    pthread_mutex_unlock(&lock);
    return p ? p : malloc(48);
}

static void give(void *p)
{
    pthread_mutex_lock(&lock);
    if (!table)
        table = mmap(NULL, ROOM * sizeof *table, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned at = used;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    table[at] = p;
    used = at + 1;
    pthread_mutex_unlock(&lock);
}

int slab_use(int n)
{
    int *p = take();
    if (!p)
        return n;
    *p = n;
    int same = *p;
    give(p);
    return same;
}
