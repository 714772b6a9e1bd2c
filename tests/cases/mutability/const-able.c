/*
 * name:   a parameter that is only read could point to const, its twins not
 * run:    sundew capture -q -- cc -g $file -o prog && sundew mutability prog --shallow
 * expect: $file:19:12: mutability: count: l could point to const
 * expect: $file:27:12: mutability: total: l could point to const; only what lies deeper is written
 * absent: drop
 * absent: keep
 * absent: already
 * absent: main
 * status: 0
 */
#include <stddef.h>

struct list { struct list *next; int *value; };

static struct list *kept;

/* read, by recursion */
static int count(struct list *l)
{
    return l ? 1 + count(l->next) : 0;
}

static int already(const struct list *l) { return l->next == NULL; }

/* what it points to is read; what that points to is written */
static int total(struct list *l)
{
    *l->value = 0;
    return already(l);
}

static void drop(struct list *l) { l->next = NULL; }

/* never written, but const would not be accepted where it goes */
static void keep(struct list *l) { kept = l; }

int main(void)
{
    int v = 1;
    struct list a = { NULL, &v };
    keep(&a);
    drop(kept);
    return count(&a) + total(&a);
}
