/* Three preemptions: the reader must see 1 and then 3, of 1, 0, 3, 0. FIXED: it looks once. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int shown;

static void *write_all(void *unused)
{
    static const int values[] = { 1, 0, 3, 0 };
    for (int i = 0; i < 4; i++)
        atomic_store(&shown, values[i]);
    return unused;
}

static void *read_twice(void *unused)
{
    int first = atomic_load(&shown);
#ifdef FIXED
    int second = first;
#else
    int second = atomic_load(&shown);
#endif
    assert(!(first == 1 && second == 3));
    return unused;
}

int main(void)
{
    pthread_t writer, reader;
    if (pthread_create(&writer, NULL, write_all, NULL) || pthread_create(&reader, NULL, read_twice, NULL))
        return 2;
    pthread_join(writer, NULL);
    pthread_join(reader, NULL);
    return 0;
}
