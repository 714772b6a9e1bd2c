/*
 * name:   a callback of the client asks a library for what it keeps
 * run:    sundew capture -q -- sh -c 'cc -g -c $file -o l.o && ar rc libl.a l.o' && sundew mutability libl.a --verdicts --sound
 * expect: quiet(p): immutable
 * absent: use(p): immutable
 * status: 0
 */
struct item { long a; };
static struct item *current, *other;

struct item *get_current(void) { return current; }
long count_other(void) { return other != 0; }

void use(struct item *p, void (*tick)(void))
{
    current = p;
    tick();
}

void quiet(struct item *p, void (*tick)(void))
{
    other = p;
    tick();
}
