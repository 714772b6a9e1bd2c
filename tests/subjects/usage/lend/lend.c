#include "lend.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bag {
    char *label, *bytes;
    size_t n;
};

struct bag *bag_new(void) { return calloc(1, sizeof(struct bag)); }

void bag_free(struct bag *b)
{
    free(b->label);
    free(b->bytes);
    free(b);
}

void bag_label(struct bag *b, char *label)
{
    free(b->label);
    b->label = label;
}

void bag_fill(struct bag *b, char *bytes, size_t n)
{
    free(b->bytes);
    b->bytes = bytes;
    b->n = n;
}

int bag_weight(const struct bag *b)
{
    int sum = b->label ? (int)strlen(b->label) : 0;
    for (size_t i = 0; i < b->n; i++)
        sum += b->bytes[i];
    return sum;
}

size_t list_length(const struct item *list)
{
    size_t n = 0;
    for (; list; list = list->next)
        n += strlen(list->name) + (size_t)list->n;
    return n;
}

int count_digits(const char *first, const char *after_last)
{
    int n = 0;
    for (; first != after_last; first++)
        n += *first >= '0' && *first <= '9';
    return n;
}

size_t words_length(const char *const *words, int n)
{
    size_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += strlen(words[i]);
    return sum;
}

int ring_sum(const struct ring *r)
{
    int sum = 0;
    for (const struct ring *p = r; sum == 0 || p != r; p = p->next)
        sum += p->n;
    return sum;
}

struct scale {
    int grams, sum;
};

static int fine_open(struct scale **out, int grams)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return -1;
    (*out)->grams = grams;
    return 0;
}

static int fine_weigh(struct scale *s, int pieces)
{
    s->sum += pieces * s->grams;
    return s->sum;
}

static void fine_close(struct scale *s) { free(s); }

const struct scale_ops fine_scale = { "fine", fine_open, fine_weigh, fine_close };

static const struct {
    void *(*get)(size_t n);
    void (*give)(void *memory);
} memory = { malloc, free };

static void span_reset(struct span *s)
{
    unsigned char *bytes = (unsigned char *)s;
    for (size_t i = 0; i < sizeof *s; i++)
        bytes[i] = 0;
}

int span_read(struct span *s, const char *text)
{
    span_reset(s);
    s->text = memory.get(strlen(text) + 1);
    if (!s->text)
        return -1;
    strcpy(s->text, text);
    for (s->at = s->text; *s->at; s->at++) {
        s->letters += *s->at != ' ';
        s->words += *s->at != ' ' && (s->at == s->text || s->at[-1] == ' ');
    }
    return s->words ? 0 : -1;
}

int span_words(const struct span *s) { return (int)s->words; }

void span_clear(struct span *s)
{
    memory.give(s->text);
    span_reset(s);
}

struct doc {
    int lines;
};

struct doc *doc_open(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f)
        return NULL;
    struct doc *d = calloc(1, sizeof *d);
    for (int c; d && (c = getc(f)) != EOF;)
        d->lines += c == '\n';
    fclose(f);
    return d;
}

int doc_lines(const struct doc *d) { return d->lines; }

void doc_close(struct doc *d)
{
    d->lines = -1;
    free(d);
}
