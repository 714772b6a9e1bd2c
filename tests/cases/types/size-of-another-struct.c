/*
 * name:   the size of a struct that no argument is
 * run:    sundew types --own-only $file
 * expect: $file:35:18: types: memset: argument 3 is the size of something else
 * expect: 39 of 40 callers pass the size of argument 1's object
 * status: 1
 */
#include <netinet/in.h>
#include <string.h>

struct point { int x, y; };

void clear_all(struct point a, struct sockaddr *s, struct point *p)
{
    memset(&a, 0, sizeof a); memset(&a, 0, sizeof a);
    memset(&a, 0, sizeof a); memset(&a, 0, sizeof a);
    memset(&a, 0, sizeof a); memset(&a, 0, sizeof a);
    memset(&a, 0, sizeof a); memset(&a, 0, sizeof a);
    memset(&a, 0, sizeof a); memset(&a, 0, sizeof a);
    memset(&a, 0, sizeof a); memset(&a, 0, sizeof a);
    memset(&a, 0, sizeof a); memset(&a, 0, sizeof a);
    memset(&a, 0, sizeof a); memset(&a, 0, sizeof a);
    memset(&a, 0, sizeof a); memset(&a, 0, sizeof a);
    memset(&a, 0, sizeof a); memset(&a, 0, sizeof a);
    memset(&a, 0, sizeof a); memset(&a, 0, sizeof a);
    memset(&a, 0, sizeof a); memset(&a, 0, sizeof a);
    memset(&a, 0, sizeof a); memset(&a, 0, sizeof a);
    memset(&a, 0, sizeof a); memset(&a, 0, sizeof a);
    memset(&a, 0, sizeof a); memset(&a, 0, sizeof a);
    memset(&a, 0, sizeof a); memset(&a, 0, sizeof a);
    memset(&a, 0, sizeof a); memset(&a, 0, sizeof a);
    memset(&a, 0, sizeof a); memset(&a, 0, sizeof a);
    memset(&a, 0, sizeof a); memset(&a, 0, sizeof a);
    memset(&a, 0, sizeof a);
    memset(p, 0, sizeof(struct sockaddr_in)); (void)s;
}
