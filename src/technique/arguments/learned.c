/*
 * The table of words that programs pass straight and crossed.
 *
 * A name has several words, so a pair of parameters has several rows. The row that
 * knows most calls is the one that counts.
 */
#include "technique/arguments/learned.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

typedef struct Row {
    unsigned straight, crossed;           /* both arguments tell */
    unsigned half_straight, half_crossed; /* one of them does */
} Row;

struct Learned {
    Arena arena;
    Map rows;                  /* "one two", in the order of the alphabet -> Row */
    Row all;
};

Learned *learned_new(void) { return xcalloc(1, sizeof(Learned)); }

void learned_free(Learned *l)
{
    if (!l)
        return;
    map_release(&l->rows);
    arena_release(&l->arena);
    free(l);
}

static const char *key_of(const char *u, const char *w, char *buffer, size_t size)
{
    bool sorted = strcmp(u, w) < 0;

    snprintf(buffer, size, "%s %s", sorted ? u : w, sorted ? w : u);
    return buffer;
}

bool learned_add_line(Learned *l, const char *line, Err *err)
{
    char u[64], w[64], key[160];
    Row row;
    int end = 0;

    line += strspn(line, " \t");
    if (!*line || *line == '#')
        return true;
    if (sscanf(line, "%63s %63s %u %u %u %u %*u %n", u, w, &row.straight, &row.crossed,
               &row.half_straight, &row.half_crossed, &end) != 6 ||
        !end || line[end])
        return err_set(err, "needs two words and five numbers: %.60s", line);
    if (!strcmp(u, "*")) {
        l->all = row;
        return true;
    }
    Row *kept = arena_new(&l->arena, Row);
    *kept = row;
    map_put(&l->rows, key_of(u, w, key, sizeof key), kept);
    return true;
}

bool learned_read(Learned *l, const char *path, Err *err)
{
    Str text = { 0 };
    bool ok = file_read(path, &text, err);
    unsigned number = 0;

    for (char *line = ok ? text.data : NULL, *next; ok && line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        number++;
        ok = learned_add_line(l, line, err) || err_ctx(err, "%s:%u", path, number);
    }
    str_release(&text);
    return ok;
}

static bool has(const Tokens *t, const char *word)
{
    for (size_t i = 0; i < t->n; i++)
        if (!strcmp(t->words[i], word))
            return true;
    return false;
}

/* The words of a name that another one doesn't have. */
static void own_words(Words *w, const char *name, const char *other, Tokens *out)
{
    Tokens mine = { 0 }, theirs = { 0 };

    out->n = 0;
    words_of(w, name, &mine);
    words_of(w, other, &theirs);
    for (size_t i = 0; i < mine.n; i++)
        if (mine.words[i][1] && !has(&theirs, mine.words[i]))
            out->words[out->n++] = mine.words[i];
}

typedef struct Share {
    unsigned crossed, calls;
    bool known;
} Share;

static Share share_of(const Learned *l, const char *u, const char *w, unsigned tell)
{
    char key[160];
    const Row *r = map_get(&l->rows, key_of(u, w, key, sizeof key));
    Share s = { .known = r != NULL };

    assert(tell == 1 || tell == 2);
    r = r ? r : &l->all;
    s.crossed = tell == 2 ? r->crossed : r->half_crossed;
    s.calls = s.crossed + (tell == 2 ? r->straight : r->half_straight);
    return s;
}

double learned_crossed(const Learned *l, Words *w, const char *p, const char *q, const char *a,
                       const char *b, unsigned *calls)
{
    Tokens one, two, x, y;
    Share best = { 0 };

    own_words(w, p, q, &one);
    own_words(w, q, p, &two);
    own_words(w, a, b, &x);
    own_words(w, b, a, &y);
    for (size_t i = 0; i < one.n; i++)
        for (size_t k = 0; k < two.n; k++) {
            unsigned tell = (unsigned)has(&x, two.words[k]) + (unsigned)has(&y, one.words[i]);
            if (!tell || has(&x, one.words[i]) || has(&y, two.words[k]))
                continue;
            Share s = share_of(l, one.words[i], two.words[k], tell);
            if (s.known > best.known || (s.known == best.known && s.calls > best.calls))
                best = s;
        }
    *calls = best.calls;
    return best.calls ? (double)best.crossed / best.calls : 0;
}
