/* A thread fails; the other one waits for it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFECT 1

struct job {
    int n;
    char *text;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static struct job *next;

static int weigh(const struct job *j)
{
    int sum = 0;
    for (int i = 0; i < j->n; i++)
        sum += j->text[i];
    return sum;
}

static int work(struct job *j, int k)
{
    if (j->n > 100 && DEFECT)
        j->text = NULL;
    return weigh(j) + k;
}

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    while (!next)
        pthread_cond_wait(&more, &lock);
    struct job *j = next;
    next = NULL;
    pthread_mutex_unlock(&lock);
    printf("%d\n", work(j, 3));
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t;
    struct job *j = calloc(1, sizeof *j);
    (void)argv;
    j->n = argc > 1 ? 200 : 2;
    j->text = calloc(1, 200);
    pthread_create(&t, NULL, worker, NULL);
    pthread_mutex_lock(&lock);
    next = j;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&lock);
    pthread_join(t, NULL);
    return 0;
}
