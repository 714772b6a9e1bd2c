/*
 * name:   a function that writes what it gets as const, and whose address is given away
 * run:    sundew capture -q -- sh -c 'cc -g -c $file -o l.o && ar rc libl.a l.o' && sundew mutability libl.a --verdicts --sound
 * absent: shows(p): immutable
 * absent: own immutable
 * status: 0
 */
struct item { long a; };

static void writes(const struct item *p) { ((struct item *)p)->a = 1; }

void shows(struct item *p, void (*f)(const struct item *, void (*)(const struct item *))) { f(p, writes); }
