/* Threads that share memory, and some that only seem to. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int slots[2];                 /* each worker has its own */
static long printed;                 /* nobody locks it */
static int joined_value;             /* used when the other thread has ended */
static int settings;                 /* set before threads start */
static int counted;                  /* under a lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct job {
    int value, full;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};
static struct job queue = { 0, 0, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER };
static int handed;                   /* the queue orders its accesses */

static void *partition(void *arg)
{
    int *mine = &slots[*(int *)arg];
    *mine += 1 + settings;
    return NULL;
}

static void *print(void *arg)
{
    printed += *(int *)arg;
    return NULL;
}

static void *set_joined(void *arg)
{
    joined_value = *(int *)arg;
    return NULL;
}

static void *count(void *arg)
{
    pthread_mutex_lock(&lock);
    counted += *(int *)arg;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *take(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&queue.lock);
    while (!queue.full)
        pthread_cond_wait(&queue.changed, &queue.lock);
    pthread_mutex_unlock(&queue.lock);
    handed++;
    return NULL;
}

static void run_two(void *(*f)(void *))
{
    pthread_t t[2];
    static int numbers[] = { 0, 1 };
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, f, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
}

/* Threads that functions of the program start: the root goes through arguments, or lies in a field. */
static long begun, begun_locked, kept, kept_locked;
struct task {
    void *(*run)(void *);
};
static struct task task, locked_task;
static void *begin_here(void *arg)
{
    begun += *(int *)arg;
    return NULL;
}
static void *begin_locked(void *arg)
{
    pthread_mutex_lock(&lock);
    begun_locked += *(int *)arg;
    pthread_mutex_unlock(&lock);
    return NULL;
}
static void *keep_here(void *arg)
{
    kept += *(int *)arg;
    return NULL;
}
static void *keep_locked(void *arg)
{
    pthread_mutex_lock(&lock);
    kept_locked += *(int *)arg;
    pthread_mutex_unlock(&lock);
    return NULL;
}
static int begin(pthread_t *t, void *(*f)(void *), void *arg)
{
    return pthread_create(t, NULL, f, arg);
}
static void begin_both(void *(*f)(void *))
{
    static int one = 1;
    pthread_t a, b;
    begin(&a, f, &one);
    begin(&b, f, &one);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
static void run_task(struct task *t)
{
    static int one = 1;
    pthread_t a[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&a[i], NULL, t->run, &one);
    for (int i = 0; i < 2; i++)
        pthread_join(a[i], NULL);
}
static void begin_all(void)
{
    task.run = keep_here;
    locked_task.run = keep_locked;
    begin_both(begin_here);
    begin_both(begin_locked);
    run_task(&task);
    run_task(&locked_task);
}

static void hand_over(void)
{
    pthread_t t;
    pthread_create(&t, NULL, take, NULL);
    handed = 1;
    pthread_mutex_lock(&queue.lock);
    queue.full = 1;
    pthread_cond_signal(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
    pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    pthread_t t;
    int one = 1;
    settings = 2;
    if (!strcmp(what, "partition")) {
        pthread_t a, b;
        int zero = 0;
        pthread_create(&a, NULL, partition, &zero);
        pthread_create(&b, NULL, partition, &one);
        pthread_join(a, NULL);
        pthread_join(b, NULL);
    } else if (!strcmp(what, "print")) {
        pthread_t a, b;
        pthread_create(&a, NULL, print, &one);
        pthread_create(&b, NULL, print, &one);
        pthread_join(a, NULL);
        pthread_join(b, NULL);
    } else if (!strcmp(what, "joined")) {
        pthread_create(&t, NULL, set_joined, &one);
        pthread_join(t, NULL);
        joined_value++;
    } else if (!strcmp(what, "count")) {
        pthread_t a, b;
        pthread_create(&a, NULL, count, &one);
        pthread_create(&b, NULL, count, &one);
        pthread_join(a, NULL);
        pthread_join(b, NULL);
    } else if (!strcmp(what, "pool")) {
        hand_over();
    } else if (!strcmp(what, "two")) {
        run_two(print);
    } else if (!strcmp(what, "begin")) {
        begin_all();
    }
    return 0;
}
