/* A record is copied with memcpy() while it is written. */
#include "subject.h"
typedef struct Point {
    int x, y;
} Point;
static Lock lock = PTHREAD_MUTEX_INITIALIZER;
static Point shared;

static void *move(void *unused)
{
    LOCK(lock);
    shared.x = 1;
    shared.y = 1;
    UNLOCK(lock);
    return unused;
}

static void *look(void *unused)
{
    Point p;
#ifdef FIXED
    LOCK(lock);
#endif
    memcpy(&p, &shared, sizeof p);
#ifdef FIXED
    UNLOCK(lock);
#endif
    assert(p.x == p.y);
    return unused;
}

int main(void)
{
    TOGETHER(move, look);
}
