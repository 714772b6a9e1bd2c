/* Pointers in odd places: unions, tags, lists inside structs, copies of bytes,
 * structs in registers, a pool of the program's own. */
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node { struct node *next; };
struct item { int id; struct node link; char *name; };
union any { void *p; double d; uint64_t n; };
struct two { char *a, *b; };
struct big { char *a, *b, *c; };
struct ops { char *(*pick)(struct two); struct ops *(*next)(void); };

static struct node *head;
static char pool[4096], *pool_at = pool;
static jmp_buf out;

static void *pool_get(size_t n)
{
    void *p = pool_at;
    pool_at += (n + 15) & ~(size_t)15;
    return p;
}

static struct item *add(const char *name)
{
    struct item *i = pool_get(sizeof *i);
    i->name = strdup(name);
    i->link.next = head;
    head = &i->link;
    return i;
}

static char *first(struct two t) { return t.a; }
static char *second(struct two t) { return t.b; }
static struct two swap(struct two t) { struct two r = { t.b, t.a }; return r; }
static char *third(struct big b) { return b.c; }
static struct ops *none(void) { return NULL; }
static struct ops ops_b = { second, none };
static struct ops *to_b(void) { return &ops_b; }
static struct ops ops_a = { first, to_b };

static void bytes(char *to, const char *from, size_t n)
{
    while (n--)
        *to++ = *from++;
}

int main(void)
{
    char here[] = "here", *there = malloc(8);
    union any u, copy;
    strcpy(there, "there");
    add("one");
    add("two");
    for (struct node *n = head; n; n = n->next) {
        struct item *i = (struct item *)((char *)n - offsetof(struct item, link));
        printf("%s\n", i->name);
    }
    u.p = there;
    bytes((char *)&copy, (char *)&u, sizeof copy);
    char **table = malloc(10 * sizeof *table), **at = table;
    for (int i = 0; i < 10; i++)
        *at++ = i & 1 ? here : copy.p;
    uintptr_t tagged = (uintptr_t)table[2] | 1;
    char *untagged = (char *)(tagged & ~(uintptr_t)1);
    struct two t = { here, untagged };
    struct big b = { NULL, here, there };
    for (struct ops *o = &ops_a; o; o = o->next())
        printf("%s\n", o->pick(swap(t)));
    printf("%s %s\n", third(b), table[at - table - 1]);
    struct two *moved = malloc(sizeof *moved);
    memcpy(moved, &t, sizeof t);
    if (!setjmp(out)) {
        moved->a = there;
        longjmp(out, 1);
    }
    printf("%s %s\n", moved->a, moved->b);
    return 0;
}
