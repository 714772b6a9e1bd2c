/* Memory that a caller and a library share. The rules are in no header: only an example shows them. */
#ifndef LEND_H
#define LEND_H
#include <stddef.h>

/* Callers fill these in. */
struct item {
    const char *name;
    struct item *next;
    int n;
};

/* A bag takes what it is given: the memory has to come from malloc(). */
struct bag;
struct bag *bag_new(void);
void bag_free(struct bag *b);
void bag_label(struct bag *b, char *label);    /* taken */
void bag_fill(struct bag *b, char *bytes, size_t n);   /* taken */
int bag_weight(const struct bag *b);

/* Names of all items of a list, none of them NULL. */
size_t list_length(const struct item *list);

/* The bytes from `first` to `after_last` that are digits. */
int count_digits(const char *first, const char *after_last);

/* All words have to be there. */
size_t words_length(const char *const *words, int n);

/* A circle: nobody can make it anew from one call. */
struct ring {
    const struct ring *next;
    int n;
};
int ring_sum(const struct ring *r);

/* The functions are static: callers reach them through the table alone. */
struct scale;
struct scale_ops {
    const char *name;
    int (*open)(struct scale **out, int grams);
    int (*weigh)(struct scale *s, int pieces);
    void (*close)(struct scale *s);
};
extern const struct scale_ops fine_scale;

/* The words of a text. What is in it before is written over. */
struct span {
    char *text, *at;
    long words, letters;
};
int span_read(struct span *s, const char *text);
int span_words(const struct span *s);
void span_clear(struct span *s);

/* A file, read. NULL: there is none. */
struct doc;
struct doc *doc_open(const char *path);
int doc_lines(const struct doc *d);
void doc_close(struct doc *d);
#endif
