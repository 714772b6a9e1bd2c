/*
 * Rule pages as HTML: headings, paragraphs, lists of one level, code blocks
 * (fenced, or indented by four blanks), `code`, **bold** and *emphasis*. Links
 * become their text. Everything else is text; no markup gets through.
 */
#include "base/escape.h"
#include "finding/html_int.h"
#include <ctype.h>

/* What the lines since the last blank one are part of. */
typedef enum {
    BLOCK_NONE,
    BLOCK_TEXT,
    BLOCK_BULLETS,
    BLOCK_NUMBERS,
    BLOCK_CODE,
} Block;

static const char *const opens[] = { "", "<p>", "<ul><li>", "<ol><li>", "<pre><code>" };
static const char *const closes[] = { "", "</p>\n", "</li></ul>\n", "</li></ol>\n",
                                      "</code></pre>\n" };

static void switch_to(Str *out, Block *now, Block next)
{
    str_add(out, closes[*now]);
    str_add(out, opens[next]);
    *now = next;
}

static void inline_text(Str *out, const char *s, size_t n);

/* Text between two marks, as <tag>; the length it took, or 0. */
static size_t enclosed(Str *out, const char *s, size_t n, const char *mark, const char *tag)
{
    size_t m = strlen(mark);
    if (n < 2 * m + 1 || memcmp(s, mark, m) != 0 || isspace((unsigned char)s[m]))
        return 0;
    const char *end = memmem(s + m, n - m, mark, m);
    if (!end || end == s + m || isspace((unsigned char)end[-1]))
        return 0;
    str_addf(out, "<%s>", tag);
    if (*mark == '`')
        escape_html(out, s + m, (size_t)(end - s) - m);
    else
        inline_text(out, s + m, (size_t)(end - s) - m);
    str_addf(out, "</%s>", tag);
    return (size_t)(end - s) + m;
}

/* [text](target): the text. */
static size_t link_text(Str *out, const char *s, size_t n)
{
    const char *close = *s == '[' ? memmem(s, n, "](", 2) : NULL;
    const char *end = close ? memchr(close, ')', n - (size_t)(close - s)) : NULL;
    if (!end)
        return 0;
    inline_text(out, s + 1, (size_t)(close - s) - 1);
    return (size_t)(end - s) + 1;
}

static void inline_text(Str *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t took = enclosed(out, s + i, n - i, "`", "code");
        if (!took)
            took = enclosed(out, s + i, n - i, "**", "strong");
        if (!took)
            took = enclosed(out, s + i, n - i, "*", "em");
        if (!took)
            took = link_text(out, s + i, n - i);
        if (!took) {
            unsigned cp;
            took = utf8_decode(s + i, n - i, &cp);
            took = took ? took : 1;
            escape_html(out, s + i, took);
        }
        i += took;
    }
}

static size_t heading_level(const char *s, size_t n)
{
    size_t level = 0;
    while (level < n && s[level] == '#')
        level++;
    return level && level < n && s[level] == ' ' ? level : 0;
}

/* "- ", "* " or "1. ": its length, else 0. */
static size_t list_mark(const char *s, size_t n, Block *kind)
{
    if (n > 1 && (s[0] == '-' || s[0] == '*') && s[1] == ' ') {
        *kind = BLOCK_BULLETS;
        return 2;
    }
    size_t i = 0;
    while (i < n && isdigit((unsigned char)s[i]))
        i++;
    if (i == 0 || i + 1 >= n || s[i] != '.' || s[i + 1] != ' ')
        return 0;
    *kind = BLOCK_NUMBERS;
    return i + 2;
}

static void text_line(Str *out, const char *s, size_t n, Block *now)
{
    size_t level = heading_level(s, n);
    Block kind = BLOCK_NONE;
    size_t mark = list_mark(s, n, &kind);
    if (n == 0)
        switch_to(out, now, BLOCK_NONE);
    else if (level) {
        const char *tag = level < 3 ? "h4" : "h5";
        switch_to(out, now, BLOCK_NONE);
        str_addf(out, "<%s>", tag);
        inline_text(out, s + level + 1, n - level - 1);
        str_addf(out, "</%s>\n", tag);
    } else if (mark && *now == kind) {
        str_add(out, "</li><li>");
        inline_text(out, s + mark, n - mark);
    } else if (mark) {
        switch_to(out, now, kind);
        inline_text(out, s + mark, n - mark);
    } else {
        if (*now == BLOCK_NONE)
            switch_to(out, now, BLOCK_TEXT);
        else
            str_addc(out, '\n');
        inline_text(out, s, n);
    }
}

static void code_line(Str *out, const char *s, size_t n, CState *state)
{
    html_code(out, s, n, state, 0, 0);
    str_addc(out, '\n');
}

/* A line outside of fences. */
static void plain_line(Str *out, const char *s, size_t n, Block *now)
{
    CState code = CSYNTAX_CODE;
    size_t blanks = strspn(s, " ");
    while (n && isspace((unsigned char)s[n - 1]))
        n--;
    blanks = blanks < n ? blanks : n;
    bool indented = blanks >= 4 && (*now == BLOCK_NONE || *now == BLOCK_CODE);
    if (indented && *now == BLOCK_NONE)
        switch_to(out, now, BLOCK_CODE);
    if (indented) {
        code_line(out, s + 4, n - 4, &code);
        return;
    }
    if (*now == BLOCK_CODE)
        switch_to(out, now, BLOCK_NONE);
    text_line(out, s + blanks, n - blanks, now);
}

void html_markdown(Str *out, const char *text)
{
    Block now = BLOCK_NONE;
    bool fenced = false;
    CState state = CSYNTAX_CODE;
    while (*text) {
        size_t n = strcspn(text, "\n");
        if (str_starts(text, "```")) {
            switch_to(out, &now, fenced ? BLOCK_NONE : BLOCK_CODE);
            fenced = !fenced;
            state = CSYNTAX_CODE;
        } else if (fenced)
            code_line(out, text, n, &state);
        else
            plain_line(out, text, n, &now);
        text += n + (text[n] == '\n');
    }
    switch_to(out, &now, BLOCK_NONE);
}
