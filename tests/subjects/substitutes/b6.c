/* B6: a table takes any payload; that of properties takes texts, and its names() reads
 * them. A third one is built on properties. The tables are filled at run time. B8: names()
 * of an empty table fails in all of them. FIXED: names() asks what the payload is. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table;
struct table_ops {
    void (*put_number)(struct table *t, int number);
    void (*put_text)(struct table *t, const char *text);
    int (*names)(struct table *t);
    int (*first)(struct table *t);
};
struct slot {
    int number;
    char *text;
};
struct table {
    struct table_ops ops;
    struct slot slots[64];
    size_t length;
    int n;
};

static void put_number(struct table *t, int number)
{
    if (t->n < 64)
        t->slots[t->n++] = (struct slot){ .number = number };
}

static void put_text(struct table *t, const char *text)
{
    if (t->n < 64)
        t->slots[t->n++] = (struct slot){ .text = strdup(text) };
}

static int hash_names(struct table *t) { return t->n; }

static int props_names(struct table *t)
{
    int n = 0;
    for (int i = 0; i < t->n; i++) {
#ifdef FIXED
        if (!t->slots[i].text) {
            n++;
            continue;
        }
#endif
        t->length += strlen(t->slots[i].text);
        n++;
    }
    return n;
}

static int first(struct table *t)
{
    assert(t->n > 0);
    return t->slots[0].number;
}

struct table *hash_new(void)
{
    struct table *t = calloc(1, sizeof *t);
    t->ops.put_number = put_number;
    t->ops.put_text = put_text;
    t->ops.names = hash_names;
    t->ops.first = first;
    return t;
}

struct table *props_new(void)
{
    struct table *t = calloc(1, sizeof *t);
    t->ops.put_number = put_number;
    t->ops.put_text = put_text;
    t->ops.names = props_names;
    t->ops.first = first;
    return t;
}

struct table *schema_new(void)
{
    struct table *t = calloc(1, sizeof *t);
    t->ops.put_number = put_number;
    t->ops.put_text = put_text;
    t->ops.names = props_names;
    t->ops.first = first;
    t->n = 0;
    return t;
}

int main(void)
{
    struct table *t = hash_new();
    t->ops.put_number(t, 3);
    printf("%d\n", t->ops.names(t));
    t = props_new();
    t->ops.put_text(t, "x");
    printf("%d\n", t->ops.names(t));
    return schema_new() == NULL;
}
