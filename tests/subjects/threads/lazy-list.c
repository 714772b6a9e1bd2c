/* Hand over hand: a list node is unlinked while another thread stands on it. */
#include "subject.h"
typedef struct Node {
    struct Node *next;
    Lock lock;
    int value;
} Node;
static Node head = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void *find(void *unused)
{
    LOCK(head.lock);
    Node *n = head.next;
#ifdef FIXED
    if (n)
        LOCK(n->lock);
    UNLOCK(head.lock);
#else
    UNLOCK(head.lock);
    if (n)
        LOCK(n->lock);
#endif
    if (n) {
        assert(n->value == 3);
        UNLOCK(n->lock);
    }
    return unused;
}

static void *cut(void *unused)
{
    LOCK(head.lock);
    Node *n = head.next;
    LOCK(n->lock);
    head.next = n->next;
    UNLOCK(n->lock);
    UNLOCK(head.lock);
    free(n);
    return unused;
}

int main(void)
{
    Node *n = calloc(1, sizeof *n);
    pthread_mutex_init(&n->lock, NULL);
    n->value = 3;
    head.next = n;
    TOGETHER(find, cut);
}
