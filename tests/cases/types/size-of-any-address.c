/*
 * name:   a socket address stands for all kinds of them
 * run:    sundew types --own-only $file
 * absent: types:
 * status: 0
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
    memset(s, 0, sizeof(struct sockaddr_in)); (void)p;
}
