/*
 * schedule - what a program that is woven for scheduling calls.
 *
 * One thread runs at a time, chosen at points (runtime/format/schedule.h). All
 * functions here do exactly what the function does whose name they carry, for a
 * program that is not scheduled (SUNDEW_SCHEDULE is not in the environment), or
 * has one thread.
 *
 * The weave puts sundew_sched_access() before accesses that threads may share.
 * Its `what` holds the size and SUNDEW_ACCESS_… flags. Nothing here calls the
 * program's allocator, and errno stays as the function leaves it.
 */
#ifndef SUNDEW_SCHEDULE_H
#define SUNDEW_SCHEDULE_H
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#pragma GCC visibility push(hidden)

enum {
    SUNDEW_ACCESS_SIZE = 0xffffff,            /* bits of `what` */
    SUNDEW_ACCESS_WRITE = 1 << 24,
    SUNDEW_ACCESS_ATOMIC = 1 << 25,
    SUNDEW_ACCESS_POINT = 1 << 27,            /* always a point: volatile, a fence */
};

/* More than one thread is scheduled: points count. */
extern int sundew_schedule_on;
void sundew_schedule_point(const void *at, uint32_t what, uint32_t site);

/* The probe: does nothing while one thread runs. */
void sundew_sched_access(const void *at, uint32_t what, uint32_t site);

/* The next call of a function below is made at this site. */
extern _Thread_local uint32_t sundew_schedule_site __attribute__((tls_model("initial-exec")));

/* For a player: the calls between the two are scheduled; threads are made with
 * sundew_sched_pthread_create(). */
void sundew_schedule_begin(void);
void sundew_schedule_end(void);

/* A row for each function that calls go to instead. */
/* clang-format off */
#define SUNDEW_SCHEDULED(X) \
    X(pthread_create) X(pthread_join) X(pthread_tryjoin_np) X(pthread_timedjoin_np) \
    X(pthread_detach) X(pthread_cancel) X(pthread_testcancel) \
    X(pthread_mutex_lock) X(pthread_mutex_trylock) X(pthread_mutex_timedlock) \
    X(pthread_mutex_clocklock) X(pthread_mutex_unlock) \
    X(pthread_rwlock_rdlock) X(pthread_rwlock_wrlock) X(pthread_rwlock_tryrdlock) \
    X(pthread_rwlock_trywrlock) X(pthread_rwlock_timedrdlock) \
    X(pthread_rwlock_timedwrlock) X(pthread_rwlock_unlock) \
    X(pthread_spin_lock) X(pthread_spin_trylock) X(pthread_spin_unlock) \
    X(pthread_cond_wait) X(pthread_cond_timedwait) X(pthread_cond_clockwait) \
    X(pthread_cond_signal) X(pthread_cond_broadcast) \
    X(pthread_barrier_init) X(pthread_barrier_wait) \
    X(sem_wait) X(sem_trywait) X(sem_timedwait) X(sem_post) \
    X(pthread_once) X(pthread_yield) X(sched_yield) \
    X(sleep) X(usleep) X(nanosleep) X(clock_nanosleep) \
    X(clock_gettime) X(gettimeofday) X(time) X(free) X(realloc) \
    X(thrd_create) X(thrd_join) X(thrd_yield) X(thrd_sleep) \
    X(mtx_lock) X(mtx_trylock) X(mtx_timedlock) X(mtx_unlock) \
    X(cnd_wait) X(cnd_timedwait) X(cnd_signal) X(cnd_broadcast) X(call_once)
/* clang-format on */

#pragma GCC visibility pop
#endif
