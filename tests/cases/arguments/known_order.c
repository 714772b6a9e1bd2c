/*
 * name:   library functions need no second call to compare with
 * run:    sundew arguments $file
 * expect: $file:27:5: arguments: memset: arguments 2 and 3 look swapped [arguments/known-order]
 * expect: 'sizeof *s' stands before '0'
 * expect: $file:28:15: arguments: calloc: arguments 1 and 2 look swapped
 * expect: $file:29:5: arguments: fseek: arguments 2 and 3 look swapped
 * expect: 'SEEK_END' stands before '0'
 * expect: $file:30:5: arguments: rename: arguments 1 and 2 may be swapped
 * expect: 'new_path' is passed as 'old'
 * expect: 4 findings
 * absent: $file:32:5: arguments
 * absent: $file:34:15: arguments
 * absent: $file:34:5: arguments
 * absent: $file:35:5: arguments
 * status: 1
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct s { int n; };

void *wrong(struct s *s, FILE *f, const char *old_path, const char *new_path,
            size_t n)
{
    memset(s, sizeof *s, 0);
    void *p = calloc(sizeof(int), n);
    fseek(f, SEEK_END, 0);
    rename(new_path, old_path);
    return p;
}

void *right(struct s *s, FILE *f, const char *old_path, const char *new_path,
            size_t n)
{
    memset(s, 0, sizeof *s);
    void *p = calloc(n, sizeof(int));
    fseek(f, 0, SEEK_END);
    rename(old_path, new_path);
    return p;
}
