/*
 * name:   a va_list of the convention of Windows is one pointer
 * run:    sundew capture -q -- cc -g $file -o prog && sundew mutability ./prog --verdicts --sound
 * absent: here(p): immutable
 * absent: handed(p): immutable
 * expect: reads(p): immutable
 * status: 0
 */
#ifdef __x86_64__
#define CONVENTION __attribute__((ms_abi))
#define LIST       __builtin_ms_va_list
#define START      __builtin_ms_va_start
#define END        __builtin_ms_va_end
#else
#define CONVENTION
#define LIST  __builtin_va_list
#define START __builtin_va_start
#define END   __builtin_va_end
#endif

struct item { int n; };

CONVENTION static struct item *first(int n, ...)
{
    LIST list;
    START(list, n);
    struct item *p = __builtin_va_arg(list, struct item *);
    END(list);
    return p;
}

CONVENTION static int take(LIST list, int more)
{
    struct item *p = __builtin_va_arg(list, struct item *);
    return more ? p->n++ : p->n;
}

CONVENTION static int give(int n, ...)
{
    LIST list;
    START(list, n);
    int got = take(list, n);
    END(list);
    return got;
}

void here(struct item *p) { first(1, p)->n = 1; }
int handed(struct item *p) { return give(1, p); }
int reads(struct item *p) { return first(1, p)->n; }

int main(void)
{
    struct item all[3] = { { 0 } };
    here(all);
    return handed(all + 1) + reads(all + 2);
}
