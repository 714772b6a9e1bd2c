/* A queue that waits: bqueue_take() waits for a number. It is thread-safe: all functions but
 * bqueue_free() may be called by several threads at the same time. */
#ifndef BQUEUE_H
#define BQUEUE_H

struct bqueue;

struct bqueue *bqueue_new(void);
void bqueue_free(struct bqueue *q);
int bqueue_put(struct bqueue *q, int n);        /* -1: full */
int bqueue_take(struct bqueue *q);
int bqueue_count(struct bqueue *q);
#endif
