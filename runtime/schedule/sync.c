/*
 * Locks, conditions, barriers, semaphores and once.
 *
 * A lock is taken with the real try function. If it is taken already, the thread
 * waits here, where the scheduler sees it, until somebody lets go. So the real
 * lock always has the right state, and code that is not woven can use it too. A
 * condition, a barrier and a once have no such function; who waits for them is
 * known here only.
 */
#include "runtime/schedule/schedule_int.h"

/* ----------------------------------------------------------------- locks */

typedef int Try(void *lock);

static int try_mutex(void *m) { return pthread_mutex_trylock(m); }

static int try_read(void *l) { return pthread_rwlock_tryrdlock(l); }

static int try_write(void *l) { return pthread_rwlock_trywrlock(l); }

static int try_spin(void *l) { return pthread_spin_trylock((pthread_spinlock_t *)l); }

static void taken(SchedThread *me, void *lock, bool shared)
{
    SchedObject *o = sundew_object(lock);
    sundew_acquire(me, o);
    sundew_hold(me, lock);
    if (o && !shared)
        o->owner = me->number;
}

static unsigned owner_of(void *lock)
{
    SchedObject *o = sundew_object(lock);
    return o ? o->owner : NOBODY;
}

/* Does the real function answer at once, because it checks who asks? */
static bool checks_owner(const SchedThread *me, const void *lock, unsigned kind, Try *attempt)
{
    const pthread_mutex_t *m = lock;
    return kind == SUNDEW_AT_LOCK && attempt == try_mutex && owner_of((void *)lock) == me->number &&
           (m->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK_NP;
}

/* Waits until it is taken; the point before it has been passed. */
static int take(SchedThread *me, void *lock, unsigned kind, Try *attempt, const uint64_t *until)
{
    for (;;) {
        int r = attempt(lock);
        if (r == 0 || r == EOWNERDEAD) {
            taken(me, lock, kind == SUNDEW_AT_READ_LOCK);
            return r;
        }
        if (r != EBUSY && r != EAGAIN)
            return r;
        if (checks_owner(me, lock, kind, attempt))
            return EDEADLK;
        if (!sundew_wait(me, kind, lock, owner_of(lock), until) && until)
            return sundew_refused(me, ETIMEDOUT);
    }
}

static int lock_at(SchedThread *me, void *lock, unsigned kind, Try *attempt, const uint64_t *until)
{
    int kept = errno;
    sundew_point(me, kind, lock);
    int r = take(me, lock, kind, attempt, until);
    sundew_leave(me);
    errno = kept;
    return r;
}

static int try_at(SchedThread *me, void *lock, unsigned kind, Try *attempt)
{
    int kept = errno;
    sundew_point(me, kind, lock);
    int r = attempt(lock);
    if (r == 0 || r == EOWNERDEAD)
        taken(me, lock, kind == SUNDEW_AT_READ_LOCK);
    sundew_leave(me);
    errno = kept;
    return sundew_refused(me, r);
}

/* Before the real function lets go. */
static void letting_go(SchedThread *me, void *lock)
{
    SchedObject *o = sundew_object(lock);
    sundew_release(me, o);
    sundew_let_go(me, lock);
    for (uint32_t i = 0; i < me->nheld; i++)
        if (me->held[i] == (uint64_t)(uintptr_t)lock)
            return;                              /* held once more: recursive */
    if (o && o->owner == me->number)
        o->owner = NOBODY;
}

static void has_let_go(SchedThread *me, void *lock)
{
    sundew_wake(lock, SUNDEW_AT_LOCK, SUNDEW_AT_READ_LOCK);
    sundew_note(me, SUNDEW_AT_UNLOCK, lock);
}

typedef int Unlock(void *lock);

static int unlock_mutex(void *m) { return pthread_mutex_unlock(m); }

static int unlock_rwlock(void *l) { return pthread_rwlock_unlock(l); }

static int unlock_spin(void *l) { return pthread_spin_unlock((pthread_spinlock_t *)l); }

static int unlock_at(SchedThread *me, void *lock, Unlock *real)
{
    int kept = errno;
    letting_go(me, lock);
    int r = real(lock);
    has_let_go(me, lock);
    sundew_leave(me);
    errno = kept;
    return r;
}

/* The plain function, for who is not scheduled. */
#define LOCKS(NAME, TYPE, KIND, TRY)                                                               \
    int sundew_sched_##NAME(TYPE *lock);                                                           \
    int sundew_sched_##NAME(TYPE *lock)                                                            \
    {                                                                                              \
        SchedThread *me = sundew_enter();                                                          \
        return me ? lock_at(me, (void *)lock, KIND, TRY, NULL) : NAME(lock);                       \
    }
#define TRIES(NAME, TYPE, KIND, TRY)                                                               \
    int sundew_sched_##NAME(TYPE *lock);                                                           \
    int sundew_sched_##NAME(TYPE *lock)                                                            \
    {                                                                                              \
        SchedThread *me = sundew_enter();                                                          \
        return me ? try_at(me, (void *)lock, KIND, TRY) : sundew_refused(NULL, NAME(lock));        \
    }
#define TIMED(NAME, TYPE, KIND, TRY)                                                               \
    int sundew_sched_##NAME(TYPE *lock, const struct timespec *at);                                \
    int sundew_sched_##NAME(TYPE *lock, const struct timespec *at)                                 \
    {                                                                                              \
        SchedThread *me = sundew_enter();                                                          \
        uint64_t until = me ? sundew_until(CLOCK_REALTIME, at) : 0;                                \
        return me ? lock_at(me, (void *)lock, KIND, TRY, &until) : NAME(lock, at);                 \
    }
#define UNLOCKS(NAME, TYPE, REAL)                                                                  \
    int sundew_sched_##NAME(TYPE *lock);                                                           \
    int sundew_sched_##NAME(TYPE *lock)                                                            \
    {                                                                                              \
        SchedThread *me = sundew_enter();                                                          \
        return me ? unlock_at(me, (void *)lock, REAL) : NAME(lock);                                \
    }

LOCKS(pthread_mutex_lock, pthread_mutex_t, SUNDEW_AT_LOCK, try_mutex)
TRIES(pthread_mutex_trylock, pthread_mutex_t, SUNDEW_AT_LOCK, try_mutex)
TIMED(pthread_mutex_timedlock, pthread_mutex_t, SUNDEW_AT_LOCK, try_mutex)
UNLOCKS(pthread_mutex_unlock, pthread_mutex_t, unlock_mutex)
LOCKS(pthread_rwlock_rdlock, pthread_rwlock_t, SUNDEW_AT_READ_LOCK, try_read)
LOCKS(pthread_rwlock_wrlock, pthread_rwlock_t, SUNDEW_AT_LOCK, try_write)
TRIES(pthread_rwlock_tryrdlock, pthread_rwlock_t, SUNDEW_AT_READ_LOCK, try_read)
TRIES(pthread_rwlock_trywrlock, pthread_rwlock_t, SUNDEW_AT_LOCK, try_write)
TIMED(pthread_rwlock_timedrdlock, pthread_rwlock_t, SUNDEW_AT_READ_LOCK, try_read)
TIMED(pthread_rwlock_timedwrlock, pthread_rwlock_t, SUNDEW_AT_LOCK, try_write)
UNLOCKS(pthread_rwlock_unlock, pthread_rwlock_t, unlock_rwlock)
LOCKS(pthread_spin_lock, pthread_spinlock_t, SUNDEW_AT_LOCK, try_spin)
TRIES(pthread_spin_trylock, pthread_spinlock_t, SUNDEW_AT_LOCK, try_spin)
UNLOCKS(pthread_spin_unlock, pthread_spinlock_t, unlock_spin)

int sundew_sched_pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
                                         const struct timespec *at);
int sundew_sched_pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
                                         const struct timespec *at)
{
    SchedThread *me = sundew_enter();
    uint64_t until = me ? sundew_until(clock, at) : 0;
    return me ? lock_at(me, m, SUNDEW_AT_LOCK, try_mutex, &until)
              : pthread_mutex_clocklock(m, clock, at);
}

/* C11's locks are the same objects; only the answers have other names. */
static int as_thrd(int r)
{
    return r == 0           ? thrd_success
           : r == EBUSY     ? thrd_busy
           : r == ETIMEDOUT ? thrd_timedout
                            : thrd_error;
}

int sundew_sched_mtx_lock(mtx_t *m);
int sundew_sched_mtx_lock(mtx_t *m)
{
    SchedThread *me = sundew_enter();
    return me ? as_thrd(lock_at(me, m, SUNDEW_AT_LOCK, try_mutex, NULL)) : mtx_lock(m);
}

int sundew_sched_mtx_trylock(mtx_t *m);
int sundew_sched_mtx_trylock(mtx_t *m)
{
    SchedThread *me = sundew_enter();
    return me ? as_thrd(try_at(me, m, SUNDEW_AT_LOCK, try_mutex)) : mtx_trylock(m);
}

int sundew_sched_mtx_timedlock(mtx_t *m, const struct timespec *at);
int sundew_sched_mtx_timedlock(mtx_t *m, const struct timespec *at)
{
    SchedThread *me = sundew_enter();
    uint64_t until = me ? sundew_until(CLOCK_REALTIME, at) : 0;
    return me ? as_thrd(lock_at(me, m, SUNDEW_AT_LOCK, try_mutex, &until)) : mtx_timedlock(m, at);
}

int sundew_sched_mtx_unlock(mtx_t *m);
int sundew_sched_mtx_unlock(mtx_t *m)
{
    SchedThread *me = sundew_enter();
    return me ? as_thrd(unlock_at(me, m, unlock_mutex)) : mtx_unlock(m);
}

/* ------------------------------------------------------------ conditions */

static int wait_at(SchedThread *me, void *cond, pthread_mutex_t *m, const uint64_t *until)
{
    int kept = errno;
    sundew_point(me, SUNDEW_AT_WAIT, cond);
    sundew_look_for_cancel(me);
    letting_go(me, m);
    int r = pthread_mutex_unlock(m);
    if (r == 0) {
        has_let_go(me, m);
        bool woken = sundew_wait(me, SUNDEW_AT_WAIT, cond, NOBODY, until);
        sundew_acquire(me, sundew_object(cond));
        r = take(me, m, SUNDEW_AT_LOCK, try_mutex, NULL);
        r = r ? r : woken || !until ? 0 : sundew_refused(me, ETIMEDOUT);
        sundew_look_for_cancel(me);
    }
    sundew_leave(me);
    errno = kept;
    return r;
}

static int signal_at(SchedThread *me, void *cond, bool all)
{
    int kept = errno;
    sundew_point(me, all ? SUNDEW_AT_BROADCAST : SUNDEW_AT_SIGNAL, cond);
    sundew_release(me, sundew_object(cond));
    if (all)
        sundew_wake(cond, SUNDEW_AT_WAIT, SUNDEW_AT_WAIT);
    else
        sundew_wake_one(me, cond);
    sundew_leave(me);
    errno = kept;
    return 0;
}

int sundew_sched_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int sundew_sched_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    SchedThread *me = sundew_enter();
    return me ? wait_at(me, c, m, NULL) : pthread_cond_wait(c, m);
}

/* Which clock a condition uses stands in its attributes; glibc keeps it in a flag. */
static clockid_t clock_of(const pthread_cond_t *c)
{
    return c->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

int sundew_sched_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                        const struct timespec *at);
int sundew_sched_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                        const struct timespec *at)
{
    SchedThread *me = sundew_enter();
    uint64_t until = me ? sundew_until(clock_of(c), at) : 0;
    return me ? wait_at(me, c, m, &until) : pthread_cond_timedwait(c, m, at);
}

int sundew_sched_pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
                                        const struct timespec *at);
int sundew_sched_pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
                                        const struct timespec *at)
{
    SchedThread *me = sundew_enter();
    uint64_t until = me ? sundew_until(clock, at) : 0;
    return me ? wait_at(me, c, m, &until) : pthread_cond_clockwait(c, m, clock, at);
}

int sundew_sched_pthread_cond_signal(pthread_cond_t *c);
int sundew_sched_pthread_cond_signal(pthread_cond_t *c)
{
    SchedThread *me = sundew_enter();
    return me ? signal_at(me, c, false) : pthread_cond_signal(c);
}

int sundew_sched_pthread_cond_broadcast(pthread_cond_t *c);
int sundew_sched_pthread_cond_broadcast(pthread_cond_t *c)
{
    SchedThread *me = sundew_enter();
    return me ? signal_at(me, c, true) : pthread_cond_broadcast(c);
}

int sundew_sched_cnd_wait(cnd_t *c, mtx_t *m);
int sundew_sched_cnd_wait(cnd_t *c, mtx_t *m)
{
    SchedThread *me = sundew_enter();
    return me ? as_thrd(wait_at(me, c, (pthread_mutex_t *)(void *)m, NULL)) : cnd_wait(c, m);
}

int sundew_sched_cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *at);
int sundew_sched_cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *at)
{
    SchedThread *me = sundew_enter();
    uint64_t until = me ? sundew_until(CLOCK_REALTIME, at) : 0;
    return me ? as_thrd(wait_at(me, c, (pthread_mutex_t *)(void *)m, &until))
              : cnd_timedwait(c, m, at);
}

int sundew_sched_cnd_signal(cnd_t *c);
int sundew_sched_cnd_signal(cnd_t *c)
{
    SchedThread *me = sundew_enter();
    return me ? signal_at(me, c, false) : cnd_signal(c);
}

int sundew_sched_cnd_broadcast(cnd_t *c);
int sundew_sched_cnd_broadcast(cnd_t *c)
{
    SchedThread *me = sundew_enter();
    return me ? signal_at(me, c, true) : cnd_broadcast(c);
}

/* -------------------------------------------------------------- barriers */

int sundew_sched_pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attr,
                                      unsigned count);
int sundew_sched_pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attr,
                                      unsigned count)
{
    SchedObject *o = sundew_sched_self ? sundew_object(b) : NULL;
    if (o) {
        o->count = count;
        o->arrived = 0;
    }
    return pthread_barrier_init(b, attr, count);
}

int sundew_sched_pthread_barrier_wait(pthread_barrier_t *b);
int sundew_sched_pthread_barrier_wait(pthread_barrier_t *b)
{
    SchedThread *me = sundew_enter();
    SchedObject *o = me ? sundew_object(b) : NULL;
    if (!o || !o->count) {                       /* made by code that is not woven */
        if (me)
            sundew_leave(me);
        return pthread_barrier_wait(b);
    }
    int kept = errno;
    sundew_point(me, SUNDEW_AT_BARRIER, b);
    sundew_release(me, o);
    bool last = ++o->arrived == o->count;
    if (last) {
        o->arrived = 0;
        sundew_wake(b, SUNDEW_AT_BARRIER, SUNDEW_AT_BARRIER);
    } else {
        sundew_wait(me, SUNDEW_AT_BARRIER, b, NOBODY, NULL);
    }
    sundew_acquire(me, o);
    sundew_leave(me);
    errno = kept;
    return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

/* ------------------------------------------------------------ semaphores */

static int wait_sem(SchedThread *me, sem_t *s, const uint64_t *until, bool only_try)
{
    int kept = errno, r;
    sundew_point(me, SUNDEW_AT_SEM_WAIT, s);
    while ((r = sem_trywait(s)) != 0 && errno == EAGAIN && !only_try) {
        if (!sundew_wait(me, SUNDEW_AT_SEM_WAIT, s, NOBODY, until) && until) {
            sundew_leave(me);
            errno = sundew_refused(me, ETIMEDOUT);
            return -1;
        }
        sundew_look_for_cancel(me);
    }
    if (r == 0) {
        sundew_acquire(me, sundew_object(s));
        errno = kept;
    } else {
        sundew_refused(me, EBUSY);
    }
    sundew_leave(me);
    return r;
}

int sundew_sched_sem_wait(sem_t *s);
int sundew_sched_sem_wait(sem_t *s)
{
    SchedThread *me = sundew_enter();
    return me ? wait_sem(me, s, NULL, false) : sem_wait(s);
}

int sundew_sched_sem_trywait(sem_t *s);
int sundew_sched_sem_trywait(sem_t *s)
{
    SchedThread *me = sundew_enter();
    return me ? wait_sem(me, s, NULL, true) : sem_trywait(s);
}

int sundew_sched_sem_timedwait(sem_t *s, const struct timespec *at);
int sundew_sched_sem_timedwait(sem_t *s, const struct timespec *at)
{
    SchedThread *me = sundew_enter();
    uint64_t until = me ? sundew_until(CLOCK_REALTIME, at) : 0;
    return me ? wait_sem(me, s, &until, false) : sem_timedwait(s, at);
}

int sundew_sched_sem_post(sem_t *s);
int sundew_sched_sem_post(sem_t *s)
{
    SchedThread *me = sundew_enter();
    if (!me)
        return sem_post(s);
    sundew_point(me, SUNDEW_AT_SEM_POST, s);
    sundew_release(me, sundew_object(s));
    int r = sem_post(s);
    int kept = errno;
    sundew_wake(s, SUNDEW_AT_SEM_WAIT, SUNDEW_AT_SEM_WAIT);
    sundew_leave(me);
    errno = kept;
    return r;
}

/* ------------------------------------------------------------------ once */

static void nothing(void) {}

/* The first runs the function; who comes meanwhile waits. The real once learns
 * of it afterwards. */
static void once_at(SchedThread *me, pthread_once_t *once, void (*routine)(void))
{
    SchedObject *o = sundew_object(once);
    sundew_point(me, SUNDEW_AT_ONCE, once);
    while (o && o->state == 1)
        sundew_wait(me, SUNDEW_AT_ONCE, once, o->owner, NULL);
    if (o && o->state == 0) {
        o->state = 1;
        o->owner = me->number;
        sundew_leave(me);
        routine();
        me->inside = true;
        pthread_once(once, nothing);
        o->state = 2;
        o->owner = NOBODY;
        sundew_release(me, o);
        sundew_wake(once, SUNDEW_AT_ONCE, SUNDEW_AT_ONCE);
    }
    sundew_acquire(me, o);
    sundew_leave(me);
}

int sundew_sched_pthread_once(pthread_once_t *once, void (*routine)(void));
int sundew_sched_pthread_once(pthread_once_t *once, void (*routine)(void))
{
    SchedThread *me = sundew_enter();
    if (!me)
        return pthread_once(once, routine);
    int kept = errno;
    once_at(me, once, routine);
    errno = kept;
    return 0;
}

void sundew_sched_call_once(once_flag *once, void (*routine)(void));
void sundew_sched_call_once(once_flag *once, void (*routine)(void))
{
    SchedThread *me = sundew_enter();
    if (!me) {
        call_once(once, routine);
        return;
    }
    once_at(me, (pthread_once_t *)(void *)once, routine);
}
