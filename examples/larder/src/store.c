#include "store.h"
#include "larder.h"
#include <stdlib.h>
#include <string.h>

/* Each text has a block of its own, "key\0text\0". */
struct entry {
    struct entry *next;
    char bytes[];
};

struct list {
    struct store base;
    struct entry *first;
};

static int list_open(struct store **out)
{
    struct list *li = calloc(1, sizeof *li);

    if (li == NULL)
        return LARDER_NO_MEMORY;
    li->base.ops = &store_list;
    *out = (struct store *)li;
    return LARDER_OK;
}

static int list_remove(struct store *s, const char *key)
{
    struct entry **e = &((struct list *)s)->first;

    while (*e != NULL && strcmp((*e)->bytes, key) != 0)
        e = &(*e)->next;
    if (*e == NULL)
        return LARDER_NOT_FOUND;
    struct entry *gone = *e;
    *e = gone->next;
    free(gone);
    return LARDER_OK;
}

static int list_put(struct store *s, const char *key, const char *text)
{
    struct list *li = (struct list *)s;
    size_t key_size = strlen(key) + 1, text_size = strlen(text) + 1;
    struct entry *e = malloc(sizeof *e + key_size + text_size);

    if (e == NULL)
        return LARDER_NO_MEMORY;
    memcpy(e->bytes, key, key_size);
    memcpy(e->bytes + key_size, text, text_size);
    list_remove(s, key);
    e->next = li->first;
    li->first = e;
    return LARDER_OK;
}

static const char *list_get(const struct store *s, const char *key)
{
    const struct entry *e = ((const struct list *)s)->first;

    while (e != NULL && strcmp(e->bytes, key) != 0)
        e = e->next;
    return e ? e->bytes + strlen(key) + 1 : NULL;
}

static void list_close(struct store *s)
{
    struct list *li = (struct list *)s;

    while (li->first)
        list_remove(s, li->first->bytes);
    free(li);
}

const struct store_ops store_list = {
    .open = list_open,
    .put = list_put,
    .get = list_get,
    .remove = list_remove,
    .close = list_close,
};

/* All texts are in one block, "key\0text\0key\0...", which only ever grows:
 * the last text of a key counts, and an empty one means it was removed. */
struct packed {
    struct store base;
    char *block;
    size_t used;
};

static int packed_open(struct store **out)
{
    struct packed *p = calloc(1, sizeof *p);

    if (p == NULL)
        return LARDER_NO_MEMORY;
    p->base.ops = &store_packed;
    *out = (struct store *)p;
    return LARDER_OK;
}

static int packed_put(struct store *s, const char *key, const char *text)
{
    struct packed *p = (struct packed *)s;
    size_t key_size = strlen(key) + 1, text_size = strlen(text) + 1;
    char *grown = malloc(p->used + key_size + text_size);

    if (grown == NULL)
        return LARDER_NO_MEMORY;
    if (p->used > 0)
        memcpy(grown, p->block, p->used);
    memcpy(grown + p->used, key, key_size);
    memcpy(grown + p->used + key_size, text, text_size);
    p->used += key_size + text_size;
    free(p->block);                 /* the text may have come from there */
    p->block = grown;
    return LARDER_OK;
}

static const char *packed_get(const struct store *s, const char *key)
{
    const struct packed *p = (const struct packed *)s;
    const char *found = NULL;

    for (size_t at = 0; at < p->used; ) {
        const char *name = p->block + at;
        const char *text = name + strlen(name) + 1;
        if (strcmp(name, key) == 0)
            found = *text != '\0' ? text : NULL;
        at += strlen(name) + 1 + strlen(text) + 1;
    }
    return found;
}

static int packed_remove(struct store *s, const char *key)
{
    if (packed_get(s, key) == NULL)
        return LARDER_NOT_FOUND;
    return packed_put(s, key, "");
}

static void packed_close(struct store *s)
{
    free(((struct packed *)s)->block);
    free(s);
}

const struct store_ops store_packed = {
    .open = packed_open,
    .put = packed_put,
    .get = packed_get,
    .remove = packed_remove,
    .close = packed_close,
};
