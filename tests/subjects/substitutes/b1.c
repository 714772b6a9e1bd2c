/* B1: the fast map keeps its entries in a store of its own and overrides every slot but
 * one. FIXED: that one, too. */
#include <stdio.h>
#include <stdlib.h>

struct map;
struct map_ops {
    void (*put)(struct map *m, int key, struct map *value);
    struct map *(*poll_last)(struct map *m);
    unsigned (*hash)(struct map *m);
    int (*size)(struct map *m);
};
struct entry {
    int key;
    struct map *value;
};
struct map {
    const struct map_ops *ops;
    struct entry *entries, *inner;
    int n, ninner;
};

static void add(struct entry **list, int *n, int key, struct map *value)
{
    int at = 0;
    *list = realloc(*list, (size_t)(*n + 1) * sizeof **list);
    while (at < *n && (*list)[at].key < key)
        at++;
    if (at == *n || (*list)[at].key != key) {
        for (int i = *n; i > at; i--)
            (*list)[i] = (*list)[i - 1];
        ++*n;
    }
    (*list)[at] = (struct entry){ key, value };
}

static unsigned sum(const struct entry *list, int n)
{
    unsigned h = 7;
    for (int i = 0; i < n; i++)
        h = h * 31 + (unsigned)list[i].key +
            (list[i].value ? list[i].value->ops->hash(list[i].value) : 0);
    return h;
}

static void tree_put(struct map *m, int key, struct map *v) { add(&m->entries, &m->n, key, v); }
static struct map *tree_poll_last(struct map *m) { return m->n ? m->entries[--m->n].value : NULL; }
static unsigned tree_hash(struct map *m) { return sum(m->entries, m->n); }
static int tree_size(struct map *m) { return m->n; }

static void fast_put(struct map *m, int key, struct map *v) { add(&m->inner, &m->ninner, key, v); }
static unsigned fast_hash(struct map *m) { return sum(m->inner, m->ninner); }
static int fast_size(struct map *m) { return m->ninner; }
#ifdef FIXED
static struct map *fast_poll_last(struct map *m)
{
    return m->ninner ? m->inner[--m->ninner].value : NULL;
}
#else
#define fast_poll_last tree_poll_last
#endif

static const struct map_ops tree_ops = { tree_put, tree_poll_last, tree_hash, tree_size };
static const struct map_ops fast_ops = { fast_put, fast_poll_last, fast_hash, fast_size };

struct map *tree_new(void)
{
    struct map *m = calloc(1, sizeof *m);
    m->ops = &tree_ops;
    return m;
}

struct map *fast_new(void)
{
    struct map *m = calloc(1, sizeof *m);
    m->ops = &fast_ops;
    return m;
}

int main(void)
{
    struct map *m = tree_new(), *f = fast_new();
    m->ops->put(m, 1, f);
    printf("%d %d\n", m->ops->size(m), f->ops->size(f));
    return 0;
}
