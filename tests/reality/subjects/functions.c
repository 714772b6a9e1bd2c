/* Functions on their ways to calls: tables, casts, unions, variable arguments, fields
 * that are written without their name, structs copied in pieces. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*Two)(void *, int);
struct ops { const char *name; Two f; int (*g)(void *); };
struct twin { const char *name; Two f; int (*g)(void *); };
struct outer { long n; struct ops in; union { Two f; void *p; long n; } u; };
struct entry { const char *name; void (*any)(void); };

static int sum;
static int two(void *p, int n) { (void)p; return sum += n; }
static int other(void *p, int n) { (void)p; return sum -= n; }
static int third(void *p, int n) { (void)p; return sum ^= n; }
static int one(void *p) { (void)p; return sum++; }
static int uno(void *p) { (void)p; return sum--; }
static void none(void) { sum *= 2; }

static const struct ops table[] = { { "two", two, one }, { "other", other, uno } };
static const struct entry entries[] = { { "two", (void (*)(void))two },
                                        { "one", (void (*)(void))one }, { "none", none } };
static Two plain[3] = { two, other };

static void each(Two f, int n) { for (int i = 0; i < n; i++) f(NULL, i); }
static int call(const struct ops *o) { return o->f((void *)o->name, 2) + (o->g ? o->g(NULL) : 0); }
static int copied(const struct ops *p) { struct ops o = *p; return o.f(NULL, 3) + o.g(NULL); }
static void set(Two *to, Two f) { *to = f; }

static void vary(int n, ...)
{
    va_list a;

    va_start(a, n);
    while (n--)
        va_arg(a, Two)(NULL, n);
    va_end(a);
}

static void by_name(const char *name)
{
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(entries[i].name, name))
            continue;
        if (i == 0)
            ((Two)entries[i].any)(NULL, 7);
        else if (i == 1)
            ((int (*)(void *))entries[i].any)(NULL);
        else
            entries[i].any();
    }
}

static struct ops made(Two f, int n)
{
    struct ops o = { n ? "made" : "new", f, one };
    return o;
}

static void store(struct ops *to, Two f, int n)
{
    struct ops o = { n ? "a" : "b", f, uno };
    *to = o;
}

int main(int argc, char **argv)
{
    struct ops *heap = malloc(4 * sizeof *heap), local;
    struct outer out = { 0 };
    struct twin twin = { "twin", third, uno };
    uintptr_t tagged = (uintptr_t)two | 1;

    (void)argv;
    for (int i = 0; i < 2; i++)
        call(&table[i]);
    for (int i = 0; i < 2; i++)
        copied(&table[i]);
    each(two, 3);
    each((Two)(void (*)(void))one, 2);
    vary(2, two, other);
    by_name("two");
    by_name("one");
    by_name("none");
    heap[0] = made(third, argc);
    store(&heap[1], other, argc);
    memcpy(&heap[2], &table[1], sizeof *heap);
    memset(&heap[3], 0, sizeof *heap);
    set(&heap[3].f, two);
    for (int i = 0; i < 4; i++)
        call(&heap[i]);
    local = heap[argc];
    call(&local);
    out.in = local;
    call(&out.in);
    out.u.p = (void *)(uintptr_t)third;
    out.u.f(NULL, 3);
    call((struct ops *)&twin);
    ((void **)&local)[1] = (void *)(uintptr_t)two;
    call(&local);
    set(&plain[2], third);
    for (int i = 0; i < 3; i++)
        plain[i](NULL, i);
    ((Two)(tagged & ~(uintptr_t)1))(NULL, 9);
    printf("%d\n", sum);
    free(heap);
    return 0;
}
