/*
 * name:   a weak function of a library may be another one in the program
 * run:    sundew capture -q -- sh -c 'cc -g -c $file -o l.o && ar rc libl.a l.o' && sundew mutability libl.a --verdicts --sound
 * expect: calm(p): immutable
 * absent: asks(p): immutable
 * absent: asks_by_pointer(p): immutable
 * absent: asks_variable(p): immutable
 * status: 0
 */
struct item { long a; };

long part(struct item *p);
__attribute__((weak)) long part(struct item *p) { return p->a; }
long sure(struct item *p);
long sure(struct item *p) { return p->a; }

extern long (*const hook)(struct item *);
__attribute__((weak)) long (*const hook)(struct item *) = sure;

long asks(struct item *p) { return part(p); }
long asks_by_pointer(struct item *p)
{
    long (*f)(struct item *) = part;
    return f(p);
}
long asks_variable(struct item *p) { return hook(p); }
long calm(struct item *p) { return sure(p); }
