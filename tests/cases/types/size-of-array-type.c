/*
 * name:   the size of an array type is that of its objects
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
    put(p, sizeof(struct point[3])); put(p, 3 * sizeof *p);
}
