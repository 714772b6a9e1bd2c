/*
 * name:   a pointer that is only compared, or whose address goes to const T **, could point to const
 * run:    sundew capture -q -- cc -g $file -o prog && sundew mutability prog; sundew mutability prog --patch > p.patch && grep '^+' p.patch | grep -c const
 * expect: $file:17:12: mutability: before: end could point to const
 * expect: $file:25:12: mutability: word: s could point to const
 * expect: 2
 * absent: unused
 * absent: moved
 * status: 0
 */
#include <stdio.h>

struct mark { const char *at; };
static char *kept;

/* end is never looked into */
static int before(const struct mark *m, char *end) { return m->at < end; }

static int unused(char *never, int n) { (void)never; return n; }

static int skip(const char **s) { return **s ? (++*s)[0] : 0; }
static int move(char **s) { kept = *s; return **s; }

/* skip() moves the pointer, and can't write */
static int word(char *s) { return skip((const char **)&s) + skip((const char **)&s) + *s; }

/* its twin: const char * is nothing that move() takes */
static int moved(char *s) { return move(&s); }

int main(int argc, char **argv)
{
    struct mark m = { argv[0] };
    int n = before(&m, argv[0]) + unused(argv[0], argc) + word(argv[0]) + moved(argv[0]);
    kept[0] = 'x';
    printf("%d\n", n);
    return 0;
}
