/* Memory is freed through a pointer while another thread reads it. */
#include <pthread.h>
#include <stdlib.h>

static char *text;
static void (*release)(void *) = free;

static void *ends(void *unused)
{
    release(text);
    return unused;
}

static void *looks(void *unused)
{
    return text[0] ? unused : NULL;
}

int main(void)
{
    pthread_t a, b;
    free(malloc(1));
    text = calloc(8, 1);
    pthread_create(&a, NULL, looks, NULL);
    pthread_create(&b, NULL, ends, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
