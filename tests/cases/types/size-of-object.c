/*
 * name:   the same size written in three ways
 * run:    sundew types --own-only $file
 * absent: types:
 * status: 0
 */
#include <stddef.h>

struct point { int x, y; };
void put(const void *buffer, size_t size);

void put_all(struct point a, struct point *p)
{
    put(&a, sizeof a); put(&a, sizeof a); put(&a, sizeof a);
    put(&a, sizeof a); put(&a, sizeof a); put(&a, sizeof a);
    put(&a, sizeof a); put(&a, sizeof a); put(&a, sizeof a);
    put(&a, sizeof a); put(&a, sizeof a); put(&a, sizeof a);
    put(&a, sizeof a); put(&a, sizeof a); put(&a, sizeof a);
    put(&a, sizeof a); put(&a, sizeof a); put(&a, sizeof a);
    put(&a, sizeof a); put(&a, sizeof a); put(&a, sizeof a);
    put(&a, sizeof a); put(&a, sizeof a); put(&a, sizeof a);
    put(&a, sizeof a); put(&a, sizeof a); put(&a, sizeof a);
    put(&a, sizeof a); put(&a, sizeof a);
    put(p, sizeof *p); put(p, sizeof(struct point));
}
