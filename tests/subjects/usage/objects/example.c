#include "things.h"
#include <stdio.h>

static int odd(struct item *i, void *user)
{
    ++*(int *)user;
    return item_number(i) % 2;
}

static void texts(void)
{
    struct text *t = text_new();
    t = text_append(t, "hello", 5);
    t = text_append(t, ", world", 7);
    printf("%zu\n", text_length(t));
    text_free(t);
}

static void lists(void)
{
    struct list *l;
    struct cursor c;
    int seen = 0;

    list_open(&l);
    list_push(l, item_new(1));
    list_push(l, item_new(2));
    printf("first %d\n", item_number(list_first(l)));
    cursor_init(&c, l);
    while (cursor_next(&c) >= 0)
        ;
    cursor_end(&c);
    printf("%d of %d odd\n", list_each(l, odd, &seen), seen);
    list_close(l);
    struct item *alone = item_new(3);
    item_free(alone);
}

static void pools(void)
{
    struct pool *p = pool_new(3);
    struct node *a = node_alloc(p), *b = node_alloc(p);
    node_set(a, 1);
    node_free(a);
    struct node *again = node_alloc(p);        /* the memory of a */
    node_free(again);
    node_set(b, 2);
    node_set(b, 3);
    node_free(b);
    pool_free(p);
}

int main(void)
{
    texts();
    lists();
    pools();
    return 0;
}
