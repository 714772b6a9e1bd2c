/* Making threads, waiting for their end, and their end. */
#include "runtime/schedule/schedule_int.h"
#include <sched.h>

int sundew_sched_sched_yield(void);

static pthread_key_t key;
static bool has_key;
/* Who gets a stack comes after who had it. The address sanitizer gives a thread its stack
 * for locals when it begins to run; for players that is turned off (engine/schedule/run.c),
 * so that a thread which ran before another began is no earlier than that. */
static char stacks;

/* Values of a thread's keys are destroyed in rounds, ours in the last: the
 * program's own destructors run scheduled. */
static void at_end(void *rounds)
{
    SchedThread *me = sundew_sched_self;
    uintptr_t n = (uintptr_t)rounds;
    if (n > 1) {
        pthread_setspecific(key, (void *)(n - 1));
        return;
    }
    if (!me)
        return;
    me->inside = true;
    sundew_release(me, sundew_object(me));
    sundew_release(me, sundew_object(&stacks));
    sundew_thread_over(me);
    sundew_sched_self = NULL;
}

static void ends_here(void)
{
    if (!has_key)
        has_key = pthread_key_create(&key, at_end) == 0;
    pthread_setspecific(key, (void *)(uintptr_t)4);
}

static void *begin(void *p)
{
    SchedThread *me = p;
    sundew_thread_await(me);
    ends_here();
    sundew_acquire(me, sundew_object(me));
    if (!sundew_is_played)
        sundew_acquire(me, sundew_object(&stacks));
    return me->routine(me->arg);
}

static int create_at(SchedThread *me, pthread_t *thread, const pthread_attr_t *attr,
                     void *(*routine)(void *), void *arg)
{
    int kept = errno;
    if (!has_key)
        ends_here();                             /* main() may end by pthread_exit() */
    SchedThread *t = sundew_thread_new();
    if (!t)
        sundew_end(SUNDEW_SCHEDULE_CROWDED);
    t->routine = routine;
    t->arg = arg;
    int detached = PTHREAD_CREATE_JOINABLE;
    if (attr)
        pthread_attr_getdetachstate(attr, &detached);
    t->joined = detached == PTHREAD_CREATE_DETACHED;
    sundew_release(me, sundew_object(t));
    sundew_acquire(t, sundew_object(&stacks));   /* of who is over by now */
    int r = pthread_create(thread, attr, begin, t);
    if (r != 0) {
        t->state = THREAD_OVER;
        t->joined = true;
    } else {
        t->handle = *thread;
        sundew_thread_arrived(t);
        sundew_schedule_on = 1;
        sundew_point(me, SUNDEW_AT_CREATE, t);
    }
    sundew_leave(me);
    errno = kept;
    return r;
}

int sundew_sched_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                                void *(*routine)(void *), void *arg);
int sundew_sched_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                                void *(*routine)(void *), void *arg)
{
    SchedThread *me = sundew_enter();
    return me ? create_at(me, thread, attr, routine, arg)
              : pthread_create(thread, attr, routine, arg);
}

/* The thread with that handle. Handles are used again, but not of who can be joined. */
static SchedThread *with_handle(pthread_t handle)
{
    for (unsigned i = sundew_nsched; i-- > 1;)
        if (pthread_equal(sundew_sched_threads[i].handle, handle) &&
            !(sundew_sched_threads[i].joined && sundew_sched_threads[i].state == THREAD_OVER))
            return &sundew_sched_threads[i];
    return NULL;
}

/* Waits until it is over, so that the real join does not take long. */
static bool await_end(SchedThread *me, SchedThread *t, const uint64_t *until)
{
    sundew_point(me, SUNDEW_AT_JOIN, t);
    while (t->state != THREAD_OVER) {
        if (!sundew_wait(me, SUNDEW_AT_JOIN, t, t->number, until) && until)
            return false;
        sundew_look_for_cancel(me);
    }
    sundew_acquire(me, sundew_object(t));
    t->joined = true;
    return true;
}

static void join_at(SchedThread *me, pthread_t handle)
{
    int kept = errno;
    SchedThread *t = with_handle(handle);
    if (t)
        await_end(me, t, NULL);
    sundew_leave(me);
    errno = kept;
}

int sundew_sched_pthread_join(pthread_t handle, void **result);
int sundew_sched_pthread_join(pthread_t handle, void **result)
{
    SchedThread *me = sundew_enter();
    if (me)
        join_at(me, handle);
    return pthread_join(handle, result);
}

int sundew_sched_pthread_tryjoin_np(pthread_t handle, void **result);
int sundew_sched_pthread_tryjoin_np(pthread_t handle, void **result)
{
    SchedThread *me = sundew_enter(), *t = me ? with_handle(handle) : NULL;
    if (me) {
        sundew_point(me, SUNDEW_AT_JOIN, t);
        sundew_leave(me);
    }
    if (t && t->state != THREAD_OVER)
        return EBUSY;
    if (t)
        t->joined = true;
    return t ? pthread_join(handle, result) : pthread_tryjoin_np(handle, result);
}

int sundew_sched_pthread_timedjoin_np(pthread_t handle, void **result, const struct timespec *at);
int sundew_sched_pthread_timedjoin_np(pthread_t handle, void **result, const struct timespec *at)
{
    SchedThread *me = sundew_enter(), *t = me ? with_handle(handle) : NULL;
    uint64_t until = me ? sundew_until(CLOCK_REALTIME, at) : 0;
    bool over = !t || await_end(me, t, &until);
    if (me)
        sundew_leave(me);
    return !t     ? pthread_timedjoin_np(handle, result, at)
           : over ? pthread_join(handle, result)
                  : ETIMEDOUT;
}

int sundew_sched_pthread_detach(pthread_t handle);
int sundew_sched_pthread_detach(pthread_t handle)
{
    SchedThread *me = sundew_enter(), *t = me ? with_handle(handle) : NULL;
    if (t)
        t->joined = true;
    if (me)
        sundew_leave(me);
    return pthread_detach(handle);
}

/* Who waits where it can be cancelled stops waiting, and looks. */
int sundew_sched_pthread_cancel(pthread_t handle);
int sundew_sched_pthread_cancel(pthread_t handle)
{
    SchedThread *me = sundew_enter(), *t = me ? with_handle(handle) : NULL;
    if (!me)
        return pthread_cancel(handle);
    sundew_point(me, SUNDEW_AT_SIGNAL, t);
    int r = pthread_cancel(handle);
    if (t && r == 0) {
        t->cancelled = true;
        if (t->state == THREAD_WAITS && t->kind != SUNDEW_AT_LOCK &&
            t->kind != SUNDEW_AT_READ_LOCK && t->kind != SUNDEW_AT_BARRIER &&
            t->kind != SUNDEW_AT_ONCE) {
            t->state = THREAD_READY;
            t->woken = true;
        }
    }
    sundew_leave(me);
    return r;
}

void sundew_sched_pthread_testcancel(void);
void sundew_sched_pthread_testcancel(void)
{
    sundew_sched_sched_yield();
    pthread_testcancel();
}

/* glibc's C11 threads are its POSIX ones, and a result is a number. */
int sundew_sched_thrd_create(thrd_t *thread, int (*routine)(void *), void *arg);
int sundew_sched_thrd_create(thrd_t *thread, int (*routine)(void *), void *arg)
{
    SchedThread *me = sundew_enter();
    if (!me)
        return thrd_create(thread, routine, arg);
    union {
        int (*number)(void *);
        void *(*pointer)(void *);
    } f = { .number = routine };
    return create_at(me, thread, NULL, f.pointer, arg) == 0 ? thrd_success : thrd_error;
}

int sundew_sched_thrd_join(thrd_t thread, int *result);
int sundew_sched_thrd_join(thrd_t thread, int *result)
{
    SchedThread *me = sundew_enter();
    if (me)
        join_at(me, thread);
    return thrd_join(thread, result);
}

static void yield_at(SchedThread *me)
{
    int kept = errno;
    sundew_yield(me, SUNDEW_AT_YIELD);
    sundew_leave(me);
    errno = kept;
}

int sundew_sched_sched_yield(void)
{
    SchedThread *me = sundew_enter();
    if (!me)
        return sched_yield();
    yield_at(me);
    return 0;
}

int sundew_sched_pthread_yield(void);
int sundew_sched_pthread_yield(void) { return sundew_sched_sched_yield(); }

void sundew_sched_thrd_yield(void);
void sundew_sched_thrd_yield(void) { sundew_sched_sched_yield(); }
