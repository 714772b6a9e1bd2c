/* Answers and errno of every function that a scheduled program has replaced, for a
 * comparison with the plain program. Nothing here depends on the order of threads. */
#include "subject.h"
#include <sched.h>
#include <semaphore.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define SAY(call) (errno = 77, printf("%s: %d", #call, (int)(call)), printf(" errno %d\n", errno))

static const struct timespec past = { 1, 0 }, soon = { 0, 1000 }, wrong = { 0, -1 };

static void *nothing(void *p)
{
    return p;
}

static void locks(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
    pthread_spinlock_t s;
    SAY(pthread_mutex_lock(&m));
    SAY(pthread_mutex_trylock(&m));
    SAY(pthread_mutex_timedlock(&m, &past));
    SAY(pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &past));
    SAY(pthread_mutex_unlock(&m));
    SAY(pthread_rwlock_rdlock(&l));
    SAY(pthread_rwlock_tryrdlock(&l));
    SAY(pthread_rwlock_trywrlock(&l));
    SAY(pthread_rwlock_timedwrlock(&l, &past));
    SAY(pthread_rwlock_unlock(&l));
    SAY(pthread_rwlock_unlock(&l));
    SAY(pthread_spin_init(&s, 0));
    SAY(pthread_spin_lock(&s));
    SAY(pthread_spin_trylock(&s));
    SAY(pthread_spin_unlock(&s));
}

static void signals(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    pthread_barrier_t b;
    sem_t s;
    pthread_mutex_lock(&m);
    SAY(pthread_cond_timedwait(&c, &m, &past));
    SAY(pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &past));
    SAY(pthread_cond_signal(&c));
    SAY(pthread_cond_broadcast(&c));
    SAY(pthread_barrier_init(&b, NULL, 0));
    SAY(pthread_barrier_init(&b, NULL, 1));
    SAY(pthread_barrier_wait(&b));
    sem_init(&s, 0, 1);
    SAY(sem_wait(&s));
    SAY(sem_trywait(&s));
    SAY(sem_timedwait(&s, &past));
    SAY(sem_post(&s));
}

static int answer(void *p)
{
    (void)p;
    return -5;
}

static void threads(void)
{
    pthread_t t;
    thrd_t c;
    void *result;
    int r;
    SAY(pthread_create(&t, NULL, nothing, &t));
    SAY(pthread_join(t, &result));
    printf("%d\n", result == &t);
    SAY(pthread_create(&t, NULL, nothing, NULL));
    SAY(pthread_detach(t));
    SAY(thrd_create(&c, answer, NULL));
    SAY(thrd_join(c, &r));
    printf("%d\n", r);
    SAY(sched_yield());
}

static void timing(void)
{
    struct timespec t, before;
    struct timeval v;
    clock_gettime(CLOCK_MONOTONIC, &before);
    SAY(nanosleep(&soon, NULL));
    SAY(nanosleep(&wrong, NULL));
    SAY(usleep(1));
    SAY(sleep(0));
    SAY(clock_nanosleep(CLOCK_MONOTONIC, 0, &soon, NULL));
    SAY(clock_nanosleep(99, 0, &soon, NULL));
    SAY(clock_gettime(99, &t));
    SAY(gettimeofday(&v, NULL));
    clock_gettime(CLOCK_MONOTONIC, &t);
    printf("time goes on: %d, it is late: %d\n", t.tv_sec > before.tv_sec || t.tv_nsec > before.tv_nsec,
           time(NULL) > 1700000000);
}

int main(void)
{
    locks();
    signals();
    threads();
    timing();
    char *p = realloc(NULL, 10);
    p = realloc(p, 100000);
    free(p);
    free(NULL);
}
