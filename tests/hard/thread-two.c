/*
 * thread
 *
 * input: stdin
 * seed: aaaaaaaa
 * solution: \xef\xa8\xa4\xff\x99(\x895
 * fails: abort
 */
#include "hard.h"
#include <pthread.h>

static unsigned in[2], out[2];

static void *work(void *arg)
{
    unsigned i = *(unsigned *)arg;
    out[i] = in[i] * (i ? 5 : 3) + 1;
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    unsigned which[2] = { 0, 1 };
    if (read(0, in, 8) != 8)
        return 0;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&t[i], NULL, work, &which[i]) != 0)
            return 0;
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    if (out[0] == 0xfeedface && out[1] == 0x0badcafe)
        BUG();
    return 0;
}
