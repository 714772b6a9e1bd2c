#include "finding/fingerprint.h"
#include "base/mem.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A finding with what it is ordered by. */
typedef struct Item {
    const Finding *f;
    size_t index;
    char base[ID_LEN + 1];     /* without the counter */
} Item;

static void add_number(Sha256 *sum, size_t n)
{
    char digits[32];
    sha256_add(sum, digits, (size_t)sprintf(digits, "%zu:", n));
}

/* With its length, so that "a", "bc" differs from "ab", "c". */
static void add(Sha256 *sum, const char *text, size_t n)
{
    add_number(sum, n);
    sha256_add(sum, text, n);
}

static void add_z(Sha256 *sum, const char *text)
{
    add(sum, text ? text : "", text ? strlen(text) : 0);
}

static void base_of(const Finding *f, Sources *sources, char out[ID_LEN + 1])
{
    Str line = { 0 };
    Sha256 sum;
    source_line_bare(sources_get(sources, f->where.file), f->where.line, &line);
    sha256_init(&sum);
    add_z(&sum, "sundew 1");
    add_z(&sum, f->rule);
    char *file = sources_name(sources, f->where.file);
    add_z(&sum, file);
    free(file);
    add_z(&sum, f->where.function);
    add_z(&sum, f->anchor);
    add(&sum, str_c(&line), line.len);
    sha256_end_id(&sum, out);
    str_release(&line);
}

static void numbered(const char *base, size_t n, char out[ID_LEN + 1])
{
    Sha256 sum;
    sha256_init(&sum);
    add_z(&sum, base);
    add_number(&sum, n);
    sha256_end_id(&sum, out);
}

/* Equal ones together, in source order. */
static int by_base_and_place(const void *a, const void *b)
{
    const Item *x = a, *y = b;
    int c = strcmp(x->base, y->base);
    if (c == 0)
        c = (x->f->where.line > y->f->where.line) - (x->f->where.line < y->f->where.line);
    if (c == 0)
        c = (x->f->where.column > y->f->where.column) - (x->f->where.column < y->f->where.column);
    if (c == 0)
        c = strcmp(x->f->message, y->f->message);
    return c ? c : (x->index > y->index) - (x->index < y->index);
}

static bool repeats(const Item *x, const Item *before)
{
    return x->f->where.line == before->f->where.line &&
           x->f->where.column == before->f->where.column &&
           strcmp(x->f->message, before->f->message) == 0;
}

void fingerprints(const Finding *const *items, size_t n, Sources *sources, char (*out)[ID_LEN + 1])
{
    Item *all = xcalloc(n ? n : 1, sizeof *all);
    for (size_t i = 0; i < n; i++) {
        assert(items[i]->rule && items[i]->message);
        all[i] = (Item){ .f = items[i], .index = i };
        base_of(items[i], sources, all[i].base);
    }
    qsort(all, n, sizeof *all, by_base_and_place);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        bool same = i && strcmp(all[i].base, all[i - 1].base) == 0;
        char *mine = out[all[i].index];
        count = same ? count : 0;
        if (same && repeats(&all[i], &all[i - 1]))
            *mine = 0;
        else if (count++ == 0)
            memcpy(mine, all[i].base, ID_LEN + 1);
        else
            numbered(all[i].base, count, mine);
    }
    free(all);
}
