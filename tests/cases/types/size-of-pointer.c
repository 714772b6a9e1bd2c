/*
 * name:   the size of the pointer instead of the object
 * run:    sundew types --own-only $file
 * expect: $file:25:12: types: put: argument 2 is the size of the pointer
 * expect: 29 of 30 callers pass the size of argument 1's object
 * status: 1
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
    put(p, sizeof(p));
}
