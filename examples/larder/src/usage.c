/* Summing up with a pool of threads; each takes every n-th movement. */
#include "internal.h"
#include "tally.h"
#include <pthread.h>

#define MAX_THREADS 16

struct worker {
    pthread_t thread;
    const struct larder *larder;
    struct tally *tally;
    size_t first, step;
    int status;
};

static void *work(void *arg)
{
    struct worker *w = arg;

    for (size_t i = w->first; i < w->larder->count; i += w->step) {
        const struct move *m = &w->larder->moves[i];
        if (m->kind == MOVE_OUT && !m->voided &&
            tally_add(w->tally, m->item->info.sku, m->quantity) < 0)
            w->status = LARDER_NO_MEMORY;
    }
    return NULL;
}

int larder_tally_usage(struct larder *l, struct tally *t, int threads)
{
    struct worker workers[MAX_THREADS];
    int started = 0, failed = 0;

    if (threads < 1 || threads > MAX_THREADS)
        return larder_fail(l, LARDER_INVALID, "%d threads", threads);
    tally_clear(t);
    for (struct worker *w = workers; started < threads; w++, started++) {
        *w = (struct worker){ 0, l, t, (size_t)started, (size_t)threads, 0 };
        if (pthread_create(&w->thread, NULL, work, w) != 0)
            break;
    }
    for (int i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        failed += workers[i].status < 0;
    }
    if (started < threads || failed > 0)
        return larder_fail(l, LARDER_NO_MEMORY, "no memory for the tally");
    return LARDER_OK;
}
