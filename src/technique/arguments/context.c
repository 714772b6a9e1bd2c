/*
 * Comments and branches around a call, read from the text: the index has neither.
 */
#include "technique/arguments/context.h"
#include "base/file.h"
#include "base/str.h"
#include <assert.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

/* A file's text, and the part of it that is looked at. */
typedef struct Passage {
    Str text;
    const char *from, *to;
} Passage;

static bool says_exchange(const char *s, const char *end)
{
    static const char *const words[] = {
        "swap",        "flip",         "revers",         "exchang",        "invert",
        "mirror",      "transpos",     "other way",      "backward",       "intention",
        "deliberat",   "on purpose",   "not a bug",      "opposite",       "wrong order",
        "other order", "order of arg", "argument order", "order of param",
    };
    for (; s < end; s++)
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            size_t n = strlen(words[i]);
            if ((size_t)(end - s) >= n && strncasecmp(s, words[i], n) == 0)
                return true;
        }
    return false;
}

/* The end of the comment, string or character constant at `s`; NULL: there is none. */
static const char *end_of_token(const char *s, const char *end)
{
    if (s + 1 < end && s[0] == '/' && s[1] == '*') {
        const char *close = memmem(s + 2, (size_t)(end - s) - 2, "*/", 2);
        return close ? close + 2 : end;
    }
    if (s + 1 < end && s[0] == '/' && s[1] == '/') {
        const char *close = memchr(s, '\n', (size_t)(end - s));
        return close ? close : end;
    }
    if (*s != '"' && *s != '\'')
        return NULL;
    for (const char *c = s + 1; c < end && *c != '\n'; c++) {
        if (*c == '\\')
            c++;
        else if (*c == *s)
            return c + 1;
    }
    return s + 1;
}

/* The next comment at or behind `*s` that reaches into the passage and is not for Sundew:
 * its part in there, from `*s` to the result. NULL: there is none. */
static const char *next_comment(const Passage *p, const char **s)
{
    const char *end = p->text.data + p->text.len;

    for (const char *c = *s, *after; c < p->to; c = after ? after : c + 1) {
        after = end_of_token(c, end);
        if (after && after > p->from && *c == '/' &&
            !memmem(c, (size_t)(after - c), "sundew:", 7)) {
            *s = c < p->from ? p->from : c;
            return after;
        }
    }
    return NULL;
}

/* The lines above the call, its own, and the rest of its last one. */
static bool passage_open(Passage *p, const AstCall *call)
{
    enum { LINES_ABOVE = 4 };

    *p = (Passage){ 0 };
    if (!file_read(call->place.file->path, &p->text, NULL) || call->place.offset >= p->text.len) {
        str_release(&p->text);
        return false;
    }
    const char *at = p->text.data + call->place.offset, *end = p->text.data + p->text.len;
    const char *to = memchr(at, ';', (size_t)(end - at));
    to = to ? memchr(to, '\n', (size_t)(end - to)) : NULL;
    p->from = at;
    for (int i = 0; i <= LINES_ABOVE && p->from > p->text.data; i++)
        do
            p->from--;
        while (p->from > p->text.data && p->from[-1] != '\n');
    p->to = to ? to : end;
    return true;
}

bool context_speaks_of_exchange(const AstCall *call)
{
    Passage p;
    bool found = false;

    if (!passage_open(&p, call))
        return false;
    const char *s = p.text.data, *after;
    while (!found && (after = next_comment(&p, &s))) {
        found = says_exchange(s, after);
        s = after;
    }
    str_release(&p.text);
    return found;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The first place of `word`, as a whole word, from `s` on; NULL: there is none. */
static const char *find_word(const char *s, const char *end, const char *word)
{
    size_t n = strlen(word);

    for (const char *c = s; n && (size_t)(end - c) >= n; c++)
        if (strncasecmp(c, word, n) == 0 && (c == s || !is_word(c[-1])) &&
            (c + n == end || !is_word(c[n])))
            return c;
    return NULL;
}

bool context_names_in_order(const AstCall *call, const char *first, const char *second)
{
    Passage p;
    bool found = false;

    assert(first && second);
    if (!passage_open(&p, call))
        return false;
    const char *s = p.text.data, *after;
    while (!found && (after = next_comment(&p, &s))) {
        const char *a = find_word(s, after, first);
        const char *b = find_word(s, after, second);
        found = a && b && a < b && !find_word(b, after, first);
        s = after;
    }
    str_release(&p.text);
    return found;
}

/* Does an else stand between the two, outside of what both are in? Leaving a block or a
 * statement behind the else ends its branch. */
static bool is_else_between(const char *s, const char *to)
{
    int depth = 0, outermost = 0;
    bool seen = false;

    for (const char *after; s < to; s = after) {
        after = end_of_token(s, to);
        if (after)
            continue;
        after = s + 1;
        if (is_word(*s)) {
            while (after < to && is_word(*after))
                after++;
            if (depth == outermost && after - s == 4 && memcmp(s, "else", 4) == 0)
                seen = true;
        } else if (*s == '{') {
            depth++;
        } else if (*s == '}') {
            depth--;
            outermost = depth < outermost ? depth : outermost;
        }
        if ((*s == '}' || *s == ';') && depth == outermost)
            seen = false;
    }
    return seen;
}

bool context_is_other_branch(const AstCall *a, const AstCall *b)
{
    bool found = false;
    Str text = { 0 };

    if (a->place.file != b->place.file || a->caller != b->caller)
        return false;
    unsigned from = a->place.offset, to = b->place.offset;
    if (from > to)
        from = b->place.offset, to = a->place.offset;
    if (file_read(a->place.file->path, &text, NULL) && to < text.len)
        found = is_else_between(text.data + from, text.data + to);
    str_release(&text);
    return found;
}
