/* The same with C11's threads: a stack whose length is read outside its lock. */
#include <assert.h>
#include <stdlib.h>
#include <threads.h>
static mtx_t lock;
static cnd_t some;
static int stack[4], length;

static int pop(void *unused)
{
    (void)unused;
    mtx_lock(&lock);
    while (length == 0)
        cnd_wait(&some, &lock);
#ifndef FIXED
    int n = length;
    mtx_unlock(&lock);
    mtx_lock(&lock);
    length = n - 1;
#else
    length--;
#endif
    mtx_unlock(&lock);
    return 7;
}

static int push(void *unused)
{
    (void)unused;
    mtx_lock(&lock);
    stack[length++] = 1;
    stack[length++] = 2;
    cnd_broadcast(&some);
    mtx_unlock(&lock);
    return 0;
}

int main(void)
{
    thrd_t a, b, c;
    int r = 0;
    mtx_init(&lock, mtx_plain);
    cnd_init(&some);
    if (thrd_create(&a, pop, NULL) != thrd_success || thrd_create(&b, pop, NULL) != thrd_success ||
        thrd_create(&c, push, NULL) != thrd_success)
        abort();
    thrd_join(a, &r);
    assert(r == 7);
    thrd_join(b, NULL);
    thrd_join(c, NULL);
    assert(length == 0);
}
