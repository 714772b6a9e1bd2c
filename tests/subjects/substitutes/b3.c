/* B3: add_all says whether the list has changed; of a chapter it says whether it worked.
 * B4: supports_parent() differs, and should. FIXED: add_all is alike. */
#include <stdio.h>
#include <stdlib.h>

struct list {
    int items[32];
    int n;
};
struct list_ops {
    struct list *(*make)(void);
    int (*add)(struct list *l, int x);
    int (*add_all)(struct list *l, const struct list *from);
    int (*supports_parent)(const struct list *l);
    int (*depth)(const struct list *l);
    void (*drop)(struct list *l);
};

static struct list *make(void) { return calloc(1, sizeof(struct list)); }

static int add(struct list *l, int x)
{
    if (l->n == 32)
        return 0;
    l->items[l->n++] = x;
    return 1;
}

static int array_add_all(struct list *l, const struct list *from)
{
    int n = from->n;
    for (int i = 0; i < n; i++)
        if (!add(l, from->items[i]))
            break;
    return n > 0;
}

static int chapter_add_all(struct list *l, const struct list *from)
{
#ifdef FIXED
    return array_add_all(l, from);
#else
    array_add_all(l, from);
    return 1;
#endif
}

static int no(const struct list *l) { return l == NULL; }
static int yes(const struct list *l) { return l != NULL; }
static int one(const struct list *l) { return l ? 1 : 0; }
static int two(const struct list *l) { return l ? 2 : 0; }
static void drop(struct list *l) { free(l); }

const struct list_ops array_ops = { make, add, array_add_all, no, one, drop };
const struct list_ops chapter_ops = { make, add, chapter_add_all, yes, two, drop };

int main(void)
{
    struct list *l = array_ops.make();
    printf("%d %d\n", array_ops.add(l, 1), chapter_ops.add_all(l, l));
    array_ops.drop(l);
    return 0;
}
