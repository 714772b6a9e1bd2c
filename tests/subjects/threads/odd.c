/* Programs that a scheduler can't schedule, or not wholly; the argument says which. */
#include "subject.h"
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static Lock lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static int n;

static void *add(void *unused)
{
    LOCK(lock);
    n++;
    UNLOCK(lock);
    return unused;
}

static void *meet(void *unused)
{
    pthread_barrier_wait(&barrier);
    return unused;
}

static void crowd(void)
{
    pthread_t t[100];
    pthread_barrier_init(&barrier, NULL, 100);
    for (int i = 0; i < 100; i++)
        pthread_create(&t[i], NULL, meet, NULL);
    for (int i = 0; i < 100; i++)
        pthread_join(t[i], NULL);
}

static void queue(void)
{
    for (int i = 0; i < 100; i++) {
        pthread_t t;
        pthread_create(&t, NULL, add, NULL);
        pthread_join(t, NULL);
    }
    assert(n == 100);
}

static sem_t over;

static void *tells(void *unused)
{
    add(unused);
    sem_post(&over);
    return unused;
}

/* Nobody joins them: a new one may come before the last one has wholly gone. */
static void detached(void)
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    sem_init(&over, 0, 0);
    for (int i = 0; i < 500; i++) {
        pthread_t t;
        if (pthread_create(&t, &attr, tells, NULL) == 0)
            sem_wait(&over);
    }
}

static void *for_ever(void *unused)
{
    for (;;)
        add(unused);
}

static void *forks(void *unused)
{
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        add(NULL);                               /* nobody else is there to hold it … */
        _exit(3);
    }
    assert(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
    return unused;
}

static void *reads(void *unused)
{
    int ends[2];
    char c;
    if (pipe(ends) == 0)
        (void)!read(ends[0], &c, 1);
    return unused;
}

/* glibc makes a thread for this timer and calls us in it. */
static void from_timer(union sigval unused)
{
    (void)unused;
    LOCK(lock);
    n = 1;
    pthread_cond_signal(&never);
    UNLOCK(lock);
}

static void library(void)
{
    struct sigevent e = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = from_timer };
    timer_t timer;
    assert(timer_create(CLOCK_MONOTONIC, &e, &timer) == 0);
    timer_settime(timer, 0, &(struct itimerspec){ .it_value = { 3600, 0 } }, NULL);
    LOCK(lock);
    while (n == 0)
        pthread_cond_wait(&never, &lock);
    UNLOCK(lock);
}

static void let_go(void *l)
{
    pthread_mutex_unlock(l);
}

static void *waits(void *unused)
{
    LOCK(lock);
    pthread_cleanup_push(let_go, &lock);
    for (;;)
        pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(0);
    return unused;
}

static void cancel(void)
{
    pthread_t t;
    void *result;
    pthread_create(&t, NULL, waits, NULL);
    pthread_cancel(t);
    pthread_join(t, &result);
    assert(result == PTHREAD_CANCELED);
    assert(pthread_mutex_trylock(&lock) == 0);
    UNLOCK(lock);
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "none";
    switch (*which) {
    case 'n': break;
    case 'd': detached(); break;
    case 'q': queue(); break;
    case 'e': TOGETHER(for_ever, for_ever); break;
    case 'f': TOGETHER(forks, add); break;
    case 'r': TOGETHER(reads, add); break;
    case 'l': library(); break;
    case 'c': which[1] == 'r' ? crowd() : cancel(); break;
    }
}
