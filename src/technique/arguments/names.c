#include "technique/arguments/names.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include <assert.h>
#include <ctype.h>
#include <string.h>

struct Words {
    Arena arena;
    Map texts;                 /* interned */
    Map meanings;              /* spelling -> word */
};

static const char *intern(Words *w, const char *s, size_t n)
{
    void **slot = map_slotn(&w->texts, s, n);
    if (!*slot)
        *slot = arena_strndup(&w->arena, s, n);
    return *slot;
}

Words *words_new(void) { return xcalloc(1, sizeof(Words)); }

void words_free(Words *w)
{
    if (!w)
        return;
    map_release(&w->texts);
    map_release(&w->meanings);
    arena_release(&w->arena);
    free(w);
}

void words_add_line(Words *w, const char *line)
{
    const char *meaning = NULL;
    for (const char *at = line; *at && *at != '#' && *at != '\n';) {
        size_t n = strcspn(at, " \t\n#");
        if (n) {
            const char *word = intern(w, at, n);
            if (!meaning)
                meaning = word;
            map_put(&w->meanings, word, (void *)meaning);
        }
        at += n;
        at += strspn(at, " \t");
    }
}

void words_learn(Words *w, const char *word)
{
    const char *kept = intern(w, word, strlen(word));
    void **slot = map_slot(&w->meanings, kept);
    if (!*slot)
        *slot = (void *)kept;
}

bool words_read(Words *w, const char *path, Err *err)
{
    Str s = { 0 };
    if (!file_read(path, &s, err))
        return err_ctx(err, "table of words");
    for (const char *at = str_c(&s); *at;) {
        words_add_line(w, at);
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    str_release(&s);
    return true;
}

static void push(Words *w, Tokens *out, const char *s, size_t n)
{
    assert(n && out->n <= MOST_TOKENS);
    const char *known = map_getn(&w->meanings, s, n);
    if (!known && n > 3 && s[n - 1] == 's' && s[n - 2] != 's') {
        n--;
        known = map_getn(&w->meanings, s, n);
    }
    if (out->n < MOST_TOKENS)
        out->words[out->n++] = known ? known : intern(w, s, n);
}

/* The end of sx, dpy, nextx is a coordinate. */
static bool is_coordinate(const Words *w, const char *s, size_t n)
{
    return (s[n - 1] == 'x' || s[n - 1] == 'y') &&
           (n == 2 || n == 3 || (n > 3 && map_getn(&w->meanings, s, n - 1)));
}

static bool knows(const Words *w, const char *s, size_t n)
{
    return n >= 2 && (map_getn(&w->meanings, s, n) ||
                      (n > 3 && s[n - 1] == 's' && map_getn(&w->meanings, s, n - 1)));
}

/* Where a part that is no known word is cut in two; 0: nowhere. */
static size_t cut_of(const Words *w, const char *s, size_t n)
{
    if (n < 2 || knows(w, s, n))
        return 0;
    if (is_coordinate(w, s, n))
        return n - 1;
    for (size_t cut = n - 2; n >= 4 && cut >= 2; cut--)     /* newname */
        if (knows(w, s, cut) && knows(w, s + cut, n - cut))
            return cut;
    for (size_t cut = 1; cut <= 3 && cut + 3 <= n; cut++)   /* spos, prbeg */
        if (knows(w, s + cut, n - cut))
            return cut;
    if (n == 3 && (!memcmp(s + 1, "id", 2) || !memcmp(s + 1, "fd", 2)))   /* eid, sfd */
        return 1;
    for (size_t rest = 1; rest <= 2 && rest + 4 <= n; rest++)   /* startp */
        if (knows(w, s, n - rest))
            return n - rest;
    return 0;
}

/* One part, small letters only: as it is, or as the two words in it. */
static void push_letters(Words *w, Tokens *out, const char *s, size_t n)
{
    size_t cut = cut_of(w, s, n);
    assert(cut < n);
    if (cut)
        push(w, out, s, cut);
    push(w, out, s + cut, n - cut);
}

/* Where the part that begins at s[i] ends. */
static size_t part_end(const char *s, size_t i)
{
    size_t e = i + 1;
    if (isdigit((unsigned char)s[i])) {
        while (isdigit((unsigned char)s[e]))
            e++;
        return e;
    }
    if (isupper((unsigned char)s[i]) && isupper((unsigned char)s[e])) {
        while (isupper((unsigned char)s[e]))
            e++;
        /* HTTPServer: the last capital begins the next part */
        return islower((unsigned char)s[e]) && e - i > 1 ? e - 1 : e;
    }
    while (islower((unsigned char)s[e]) || (unsigned char)s[e] >= 0x80)
        e++;
    return e;
}

void words_of(Words *w, const char *name, Tokens *out)
{
    char part[64];
    out->n = 0;
    for (size_t i = 0; name[i];) {
        unsigned char c = (unsigned char)name[i];
        if (!isalnum(c) && c < 0x80) {
            i++;
            continue;
        }
        size_t end = part_end(name, i), n = end - i;
        assert(end > i);
        if (n > sizeof part)
            n = sizeof part;
        for (size_t k = 0; k < n; k++)
            part[k] = (char)tolower((unsigned char)name[i + k]);
        if (isdigit(c))
            push(w, out, part, n);
        else
            push_letters(w, out, part, n);
        i = end;
    }
}
