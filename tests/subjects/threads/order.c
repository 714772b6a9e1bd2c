/* Order: a worker uses what main() makes after the worker was started. */
#include "subject.h"
static int *table;

static void *work(void *unused)
{
    table[0] = 1;
    return unused;
}

int main(void)
{
    pthread_t t;
#ifdef FIXED
    table = calloc(4, sizeof *table);
#endif
    pthread_create(&t, NULL, work, NULL);
#ifndef FIXED
    table = calloc(4, sizeof *table);
#endif
    pthread_join(t, NULL);
    free(table);
}
