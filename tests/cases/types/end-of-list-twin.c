/*
 * name:   each list ends with a pointer
 * run:    sundew types --own-only $file
 * absent: types:
 * status: 0
 */
#include <stddef.h>

void join(char *out, ...);

void join_all(char *s)
{
    join(s, s, NULL); join(s, s, NULL); join(s, s, NULL);
    join(s, s, NULL); join(s, s, NULL); join(s, s, NULL);
    join(s, s, NULL); join(s, s, NULL); join(s, s, NULL);
    join(s, s, NULL); join(s, s, NULL); join(s, s, NULL);
    join(s, s, NULL); join(s, s, NULL); join(s, s, NULL);
    join(s, s, NULL); join(s, s, NULL); join(s, s, NULL);
    join(s, s, NULL); join(s, s, NULL); join(s, s, NULL);
    join(s, s, NULL); join(s, s, NULL); join(s, s, NULL);
    join(s, s, NULL); join(s, s, NULL); join(s, s, NULL);
    join(s, s, NULL); join(s, s, NULL); join(s, s, NULL);
    join(s, s, (char *)0); join(s, NULL);
}
