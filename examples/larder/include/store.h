/*
 * store - texts kept under names.
 *
 * The kinds of store share one table of operations and behave alike. Putting
 * adds or replaces a text, which may be empty. Getting one that is not there
 * gives NULL, and removing it gives LARDER_NOT_FOUND. What get returns stays
 * valid until the store is changed.
 */
#ifndef STORE_H
#define STORE_H

/* Every kind of store begins with this. */
struct store {
    const struct store_ops *ops;
};

struct store_ops {
    int (*open)(struct store **out);
    int (*put)(struct store *s, const char *key, const char *text);
    const char *(*get)(const struct store *s, const char *key);
    int (*remove)(struct store *s, const char *key);
    void (*close)(struct store *s);
};

extern const struct store_ops store_list;       /* a block for each text */
extern const struct store_ops store_packed;     /* one block for all */

#endif
