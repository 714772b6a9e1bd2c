/*
 * name:   a 0 ends the list where all others write NULL
 * run:    sundew types --own-only $file
 * expect: $file:24:16: types: join: argument 3 is the int 0
 * expect: 30 of 31 callers pass a null pointer
 * status: 1
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
    join(s, s, 0);
}
