/* The input "race" makes two threads take from one balance; with -DFIXED they lock. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int balance = 10;
static char word[4];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *take(void *arg)
{
    (void)arg;
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    if (memcmp(word, "race", 4) == 0 && balance >= 10)
        balance -= 10;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    if (read(0, word, 4) != 4)
        return 0;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, take, NULL) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (balance < 0)
        abort();
    return 0;
}
