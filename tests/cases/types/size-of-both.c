/*
 * name:   the same function passes both sizes: it knows them, so this is a note
 * run:    sundew types --own-only $file
 * expect: $file:41:22: types: memset: argument 3 is the size of something else
 * expect: 1 finding (1 note)
 * status: 0
 */
#include <string.h>

struct old { int x; };
struct point { int x, y; };

void clear_all(struct point a)
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
}

void clear(struct point *p, int version)
{
    if (version > 1)
        memset(p, 0, sizeof *p);
    else
        memset(p, 0, sizeof(struct old));
}
