/* Work of one thread for bench/threads: sorting, hashing and lists in shared
 * memory. A second thread is made at the very end. The argument: rounds. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 20000, ROWS = 4096 };
typedef struct Node {
    struct Node *next;
    uint32_t key, count;
} Node;
static uint32_t numbers[N];
static Node *table[ROWS], room[N];
static uint32_t used;

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void count(uint32_t key)
{
    Node **at = &table[key % ROWS];
    for (Node *n = *at; n; n = n->next)
        if (n->key == key) {
            n->count++;
            return;
        }
    room[used] = (Node){ *at, key, 1 };
    *at = &room[used++];
}

static uint32_t sift(uint32_t *a, unsigned n)
{
    uint32_t sum = 0;
    for (unsigned i = 1; i < n; i++) {
        uint32_t v = a[i];
        unsigned k = i;
        for (; k > 0 && a[k - 1] > v && i - k < 16; k--)
            a[k] = a[k - 1];
        a[k] = v;
        sum += a[i / 2];
    }
    return sum;
}

static void *nothing(void *p)
{
    return p;
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
    uint32_t x = 1, sum = 0;
    for (unsigned r = 0; r < rounds; r++) {
        for (unsigned i = 0; i < N; i++)
            numbers[i] = x = x * 1664525u + 1013904223u;
        sum += sift(numbers, N);
        used = 0;
        for (unsigned i = 0; i < ROWS; i++)
            table[i] = NULL;
        for (unsigned i = 0; i < N; i++)
            count(numbers[i] >> 12);
        qsort(numbers, N, sizeof *numbers, compare);
        sum += numbers[N / 2] + used;
    }
    pthread_t t;
    pthread_create(&t, NULL, nothing, NULL);
    pthread_join(t, NULL);
    printf("%u\n", sum);
}
