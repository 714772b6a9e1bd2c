/* What all programs here share: threads that begin together and are joined.
 * Each program has a known bug; with -DFIXED it has none, and no data race. */
#ifndef SUBJECT_H
#define SUBJECT_H
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *Body(void *);
typedef pthread_mutex_t Lock;

#define LOCK(l) pthread_mutex_lock(&(l))
#define UNLOCK(l) pthread_mutex_unlock(&(l))

static void together(unsigned n, Body *const *bodies)
{
    pthread_t t[16];
    for (unsigned i = 0; i < n; i++)
        if (pthread_create(&t[i], NULL, bodies[i], (void *)(uintptr_t)i) != 0)
            abort();
    for (unsigned i = 0; i < n; i++)
        pthread_join(t[i], NULL);
}
#define TOGETHER(...)                                                     \
    together(sizeof((Body *[]){ __VA_ARGS__ }) / sizeof(Body *), (Body *[]){ __VA_ARGS__ })
#endif
