/* An open vault has a list that is not locked; nobody guesses the secret. FIXED: a lock. */
#include "vault.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct vault {
    pthread_mutex_t lock;
    int open, n;
    int *numbers;
};

struct vault *vault_new(void)
{
    struct vault *v = calloc(1, sizeof *v);
    if (v)
        pthread_mutex_init(&v->lock, NULL);
    return v;
}

void vault_free(struct vault *v)
{
    if (v) {
        pthread_mutex_destroy(&v->lock);
        free(v->numbers);
    }
    free(v);
}

static unsigned hash(const char *text)
{
    unsigned h = 5381;
    for (; *text; text++)
        h = h * 33 + (unsigned char)*text;
    return h;
}

int vault_open(struct vault *v, const char *file)
{
    char secret[40] = "";
    FILE *f = fopen(file, "r");
    if (f && !fgets(secret, sizeof secret, f))
        *secret = 0;
    if (f)
        fclose(f);
    pthread_mutex_lock(&v->lock);
    if (hash(secret) == 1836691668u)
        v->open = 1;
    int r = v->open ? 0 : -1;
    pthread_mutex_unlock(&v->lock);
    return r;
}

int vault_put(struct vault *v, int n)
{
    int r = -1;
    pthread_mutex_lock(&v->lock);
    int open = v->open;
#ifndef FIXED
    pthread_mutex_unlock(&v->lock);
#endif
    if (open && v->n < 100) {
        v->numbers = realloc(v->numbers, (size_t)(v->n + 1) * sizeof *v->numbers);
        v->numbers[v->n++] = n;
        r = 0;
    }
#ifdef FIXED
    pthread_mutex_unlock(&v->lock);
#endif
    return r;
}

int vault_sum(const struct vault *v)
{
    unsigned sum = 0;
    pthread_mutex_lock((pthread_mutex_t *)&v->lock);
    for (int i = 0; i < v->n; i++)
        sum += (unsigned)v->numbers[i];
    pthread_mutex_unlock((pthread_mutex_t *)&v->lock);
    return (int)sum;
}
