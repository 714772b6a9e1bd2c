/* Samples of regular expressions; regex.h is the manual. Reading and making
 * are one: an atom is read again for each time that it repeats. */
#include "web/regex.h"
#include "base/str.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct Sampler {
    const char *p, *end;
    Rng *rng;
    unsigned depth;
    bool extended;             /* flag x: blanks in the pattern mean nothing */
} Sampler;

static void alternatives(Sampler *s, Str *out);

/* A member of \d, \w, \s and their like; the character itself otherwise. */
static char escaped(Sampler *s, char c)
{
    switch (c) {
    case 'd': return (char)('0' + rng_below(s->rng, 10));
    case 'w': return (char)('a' + rng_below(s->rng, 26));
    case 's':
    case 'h': return ' ';
    case 'D':
    case 'S': return 'a';
    case 'W': return '-';
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    default: return c;
    }
}

static void add_named_class(bool *set, const char *name, size_t n)
{
    for (int c = 1; c < 127; c++) {
        bool in = (n == 5 && memcmp(name, "alpha", 5) == 0 && isalpha(c)) ||
                  (n == 5 && memcmp(name, "digit", 5) == 0 && isdigit(c)) ||
                  (n == 5 && memcmp(name, "alnum", 5) == 0 && isalnum(c)) ||
                  (n == 5 && memcmp(name, "lower", 5) == 0 && islower(c)) ||
                  (n == 5 && memcmp(name, "upper", 5) == 0 && isupper(c)) ||
                  (n == 5 && memcmp(name, "space", 5) == 0 && c == ' ') ||
                  (n == 5 && memcmp(name, "punct", 5) == 0 && ispunct(c));
        set[c] = set[c] || in;
    }
}

static void add_escape(bool *set, char c)
{
    for (int i = 1; i < 127; i++)
        if ((c == 'd' && isdigit(i)) || (c == 'w' && (isalnum(i) || i == '_')) ||
            (c == 's' && i == ' ') || (c == 'D' && !isdigit(i) && isprint(i)) ||
            (c == 'W' && ispunct(i)) || (c == 'S' && isgraph(i)))
            set[i] = true;
    if (!strchr("dwsDWS", c))
        set[(unsigned char)c & 127] = true;
}

static void one_of_set(Sampler *s, const bool *set, bool negate, Str *out)
{
    char room[128];
    size_t n = 0;
    for (int c = 32; c < 127; c++)
        if (set[c] != negate && (!negate || isalnum(c) || n == 0))
            room[n++] = (char)c;
    if (n)
        str_addc(out, room[rng_below(s->rng, n)]);
}

static void class(Sampler *s, Str *out)
{
    bool set[128] = { false }, negate = false, first = true;
    if (s->p < s->end && *s->p == '^') {
        negate = true;
        s->p++;
    }
    for (; s->p < s->end && (*s->p != ']' || first); first = false) {
        const char *close =
            s->p + 1 < s->end && s->p[0] == '[' && s->p[1] == ':' ? strstr(s->p, ":]") : NULL;
        if (close && close < s->end) {
            add_named_class(set, s->p + 2, (size_t)(close - s->p - 2));
            s->p = close + 2;
        } else if (*s->p == '\\' && s->p + 1 < s->end) {
            add_escape(set, s->p[1]);
            s->p += 2;
        } else if (s->p + 2 < s->end && s->p[1] == '-' && s->p[2] != ']') {
            for (int c = (unsigned char)s->p[0]; c <= (unsigned char)s->p[2] && c < 128; c++)
                set[c] = true;
            s->p += 3;
        } else {
            set[(unsigned char)*s->p++ & 127] = true;
        }
    }
    s->p += s->p < s->end;
    one_of_set(s, set, negate, out);
}

/* Behind "(": what kind of group. False: it matches nothing by itself. */
static bool group_begin(Sampler *s)
{
    if (s->p >= s->end || *s->p != '?')
        return true;
    s->p++;
    char c = s->p < s->end ? *s->p : 0;
    if (c == '=' || c == '!')
        return s->p++, false;
    if (c == '<' && s->p + 1 < s->end && (s->p[1] == '=' || s->p[1] == '!'))
        return s->p += 2, false;
    while (s->p < s->end && *s->p != ':' && *s->p != '>' && *s->p != '\'' && *s->p != ')')
        s->p++;
    if (s->p < s->end && *s->p != ')')
        s->p++;
    return true;
}

static void group(Sampler *s, Str *out)
{
    Str inner = { 0 };
    bool counts = group_begin(s);
    s->depth++;
    alternatives(s, &inner);
    s->depth--;
    if (s->p < s->end && *s->p == ')')
        s->p++;
    if (counts)
        str_addn(out, str_c(&inner), inner.len);
    str_release(&inner);
}

static void atom(Sampler *s, Str *out)
{
    char c = *s->p++;
    if (c == '(' && s->depth < 20)
        group(s, out);
    else if (c == '[')
        class(s, out);
    else if (c == '.')
        str_addc(out, 'x');
    else if (c == '\\' && s->p < s->end) {
        c = *s->p++;
        if (!strchr("bBAzZG", c))
            str_addc(out, escaped(s, c));
    } else if (c != '^' && c != '$' && !(s->extended && isspace((unsigned char)c)))
        str_addc(out, c);
}

/* *, +, ?, {n,m} and their lazy forms behind an atom. */
static void quantifier(Sampler *s, unsigned *least, unsigned *most)
{
    *least = *most = 1;
    if (s->p >= s->end)
        return;
    char *after = (char *)s->p;
    if (*s->p == '*')
        *least = 0, *most = 2, after++;
    else if (*s->p == '+')
        *least = 1, *most = 3, after++;
    else if (*s->p == '?')
        *least = 0, *most = 1, after++;
    else if (*s->p == '{' && isdigit((unsigned char)s->p[1])) {
        *least = *most = (unsigned)strtoul(s->p + 1, &after, 10);
        if (*after == ',') {
            unsigned top = (unsigned)strtoul(after + 1, &after, 10);
            *most = top > *least ? (top < *least + 3 ? top : *least + 3) : *least;
        }
        after += *after == '}';
    }
    s->p = after;
    if (s->p > (char *)0 && s->p < s->end && (*s->p == '?' || *s->p == '+') && *most != *least)
        s->p++;
    *least = *least > 200 ? 200 : *least;
    *most = *most > 200 ? 200 : *most;
}

static void sequence(Sampler *s, Str *out)
{
    while (s->p < s->end && *s->p != '|' && *s->p != ')') {
        const char *begin = s->p;
        Str once = { 0 };
        unsigned least, most;
        atom(s, &once);
        const char *behind = s->p;
        quantifier(s, &least, &most);
        const char *next = s->p;
        unsigned times = least + (most > least ? (unsigned)rng_below(s->rng, most - least + 1) : 0);
        for (unsigned i = 0; i < times; i++) {
            if (i) {
                str_reset(&once);
                s->p = begin;
                atom(s, &once);
            }
            str_addn(out, str_c(&once), once.len);
        }
        (void)behind;
        s->p = next;
        str_release(&once);
        if (out->len > 4096)
            return;
    }
}

static void alternatives(Sampler *s, Str *out)
{
    Str chosen = { 0 };
    unsigned n = 0;
    for (;;) {
        Str one = { 0 };
        sequence(s, &one);
        if (rng_below(s->rng, ++n) == 0) {
            str_release(&chosen);
            chosen = one;
        } else {
            str_release(&one);
        }
        if (s->p >= s->end || *s->p != '|')
            break;
        s->p++;
    }
    str_addn(out, str_c(&chosen), chosen.len);
    str_release(&chosen);
}

char *regex_sample(const char *pattern, Rng *rng)
{
    while (isspace((unsigned char)*pattern))
        pattern++;
    static const char open[] = "([{<", close[] = ")]}>";
    const char *pair = *pattern ? strchr(open, *pattern) : NULL;
    if (!*pattern || isalnum((unsigned char)*pattern))
        return NULL;
    const char *end = strrchr(pattern + 1, pair ? close[pair - open] : *pattern);
    if (!end)
        return NULL;
    Sampler s = { .p = pattern + 1, .end = end, .rng = rng, .extended = strchr(end, 'x') };
    Str out = { 0 };
    alternatives(&s, &out);
    if (!out.data)
        str_add(&out, "");
    return str_take(&out);
}
