/* str…, strn…, strcase… */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/standins/list.h"
#include "runtime/standins/standins.h"
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef const unsigned char *Bytes;

int sundew_plain_locale(void)
{
    const char *name = setlocale(LC_CTYPE, NULL);
    return !name || (name[0] == 'C' && (!name[1] || name[1] == '.')) || strcmp(name, "POSIX") == 0;
}

/* ---- lengths */

/* The first zero among n bytes, as one value; n if there is none. */
static size_t first_zero(const char *s, size_t n)
{
    size_t r = n;
    for (size_t i = n; i-- > 0;)
        r = s[i] ? r : i;
    return r;
}

static size_t length(const char *s, size_t n, size_t most)
{
    size_t there = readable(s, n < most ? n + 1 : most, CHAIN < most ? CHAIN : most);
    if (n < CHAIN)
        return first_zero(s, there);
    size_t i = 0;
    while (i < most && s[i])
        i++;
    return i;
}

size_t sundew_standin_strlen(const char *s)
{
    size_t n = strlen(s);
    if (!sundew_alive || !sundew_is_symbolic(s, n + 1))
        return n;
    return length(s, n, SIZE_MAX);
}

size_t sundew_standin_strnlen(const char *s, size_t most)
{
    size_t n = strnlen(s, most);
    if (!sundew_alive || !sundew_is_symbolic(s, n < most ? n + 1 : n))
        return n;
    return length(s, n, most);
}

/* ---- comparing */

/* As strings, n bytes of each being readable; `equal`: are they if these are? One value,
 * no branches. Where both are equal, the end of one is that of the other: that of a string
 * without labels makes a simpler value. */
static int compare_chain(Bytes a, Bytes b, size_t n, int fold, unsigned equal)
{
    int r = 1, ends_in_b = !sundew_is_symbolic(b, n);
    for (size_t i = n; i-- > 0;) {
        unsigned x = a[i], y = b[i];
        if (fold) {
            x = lower(x);
            y = lower(y);
        }
        unsigned end = ends_in_b ? y == 0 : x == 0;
        int d = (int)x - (int)y;
        r = d ? d : r;                 /* looked at only if they differ */
        equal = (x == y) & (end | equal);
    }
    return equal ? 0 : r;
}

static int compare_bytes_one_by_one(Bytes a, Bytes b, size_t most, int fold)
{
    for (size_t i = 0; i < most; i++) {
        unsigned x = fold ? lower(a[i]) : a[i], y = fold ? lower(b[i]) : b[i];
        if (x != y)
            return (int)x - (int)y;
        if (!x)
            break;
    }
    return 0;
}

/* At most `most` bytes count. */
static int compare_strings(const char *a, const char *b, size_t most, int fold)
{
    size_t na = strnlen(a, most), nb = strnlen(b, most);
    size_t shorter = na < nb ? na : nb, longer = na < nb ? nb : na;
    if (longer >= CHAIN)
        return compare_bytes_one_by_one((Bytes)a, (Bytes)b, most, fold);
    size_t wanted = longer < most ? longer + 1 : most;
    size_t n = readable(na < nb ? a : b, shorter < most ? shorter + 1 : most, wanted);
    return compare_chain((Bytes)a, (Bytes)b, n, fold, n == most);
}

static int concrete(const char *a, const char *b, size_t most)
{
    if (!sundew_alive)
        return 1;
    size_t na = strnlen(a, most), nb = strnlen(b, most);
    return !sundew_is_symbolic(a, na < most ? na + 1 : na) &&
           !sundew_is_symbolic(b, nb < most ? nb + 1 : nb);
}

int sundew_standin_strcmp(const char *a, const char *b)
{
    if (concrete(a, b, SIZE_MAX))
        return strcmp(a, b);
    return compare_strings(a, b, SIZE_MAX, 0);
}

int sundew_standin_strncmp(const char *a, const char *b, size_t n)
{
    if (concrete(a, b, n))
        return strncmp(a, b, n);
    return compare_strings(a, b, n, 0);
}

int sundew_standin_strcasecmp(const char *a, const char *b)
{
    if (concrete(a, b, SIZE_MAX) || !sundew_plain_locale())
        return strcasecmp(a, b);
    return compare_strings(a, b, SIZE_MAX, 1);
}

int sundew_standin_strncasecmp(const char *a, const char *b, size_t n)
{
    if (concrete(a, b, n) || !sundew_plain_locale())
        return strncasecmp(a, b, n);
    return compare_strings(a, b, n, 1);
}

int sundew_standin_strcoll(const char *a, const char *b)
{
    if (concrete(a, b, SIZE_MAX) || !sundew_plain_locale())
        return strcoll(a, b);
    return compare_strings(a, b, SIZE_MAX, 0);
}

/* ---- copying: the place of the end decides, so byte by byte */

static int concrete_string(const char *s, size_t most)
{
    if (!sundew_alive)
        return 1;
    size_t n = strnlen(s, most);
    return !sundew_is_symbolic(s, n < most ? n + 1 : n);
}

/* memcpy() of the weave's clears what was at `to`. */
static void copy(char *to, const char *from, size_t n) { __builtin_memcpy(to, from, n); }

char *sundew_standin_stpcpy(char *to, const char *from)
{
    if (concrete_string(from, SIZE_MAX)) {
        size_t n = strlen(from);
        copy(to, from, n + 1);
        return to + n;
    }
    while ((*to = *from)) {
        to++;
        from++;
    }
    return to;
}

char *sundew_standin_strcpy(char *to, const char *from)
{
    sundew_standin_stpcpy(to, from);
    return to;
}

char *sundew_standin_stpncpy(char *to, const char *from, size_t n)
{
    size_t i = 0;
    while (i < n && from[i]) {
        to[i] = from[i];
        i++;
    }
    __builtin_memset(to + i, 0, n - i);
    return to + i;
}

char *sundew_standin_strncpy(char *to, const char *from, size_t n)
{
    sundew_standin_stpncpy(to, from, n);
    return to;
}

/* The end of what is there; its place stays what it is. */
static char *end_of(const char *s)
{
    size_t n = strlen(s);
    if (sundew_alive && sundew_is_symbolic(s, n + 1))
        for (n = 0; s[n];)
            n++;
    return (char *)s + n;
}

char *sundew_standin_strcat(char *to, const char *from)
{
    sundew_standin_stpcpy(end_of(to), from);
    return to;
}

char *sundew_standin_strncat(char *to, const char *from, size_t n)
{
    char *at = end_of(to);
    size_t i = 0;
    while (i < n && from[i]) {
        at[i] = from[i];
        i++;
    }
    at[i] = 0;
    return to;
}

char *sundew_standin_strdup(const char *s)
{
    char *to = malloc(strlen(s) + 1);
    if (to)
        sundew_standin_stpcpy(to, s);
    return to;
}

char *sundew_standin_strndup(const char *s, size_t n)
{
    size_t have = strnlen(s, n);
    char *to = malloc(have + 1);
    if (!to)
        return NULL;
    sundew_standin_stpncpy(to, s, have);
    to[have] = 0;
    return to;
}

size_t sundew_standin_strlcpy(char *to, const char *from, size_t n)
{
    size_t i = 0;
    while (from[i]) {
        if (i + 1 < n)
            to[i] = from[i];
        i++;
    }
    if (n)
        to[i < n ? i : n - 1] = 0;
    return i;
}

/* ---- searching */

/* Where a symbolic character stands in a text that is not: one read of a table, and only whether
 * it is there at all is a branch. Decoders look their digits up in this way. */
static char *look_up(const char *s, size_t n, int c)
{
    uint16_t place[256] = { 0 };
    for (size_t i = n + 1; i-- > 0;)
        place[(unsigned char)s[i]] = (uint16_t)(i + 1);
    unsigned at = place[(unsigned char)c];
    return at ? (char *)s + at - 1 : NULL;
}

char *sundew_standin_strchr(const char *s, int c)
{
    enum { LONGEST = 1024 };
    int concrete = concrete_string(s, SIZE_MAX);
    if (concrete && (!sundew_alive || !SYMBOLIC(c)))
        return strchr(s, c);
    if (concrete && strlen(s) < LONGEST)
        return look_up(s, strlen(s), c);
    for (;; s++) {
        if (*s == (char)c)
            return (char *)s;
        if (!*s)
            return NULL;
    }
}

char *sundew_standin_strchrnul(const char *s, int c)
{
    for (; *s && *s != (char)c; s++)
        ;
    return (char *)s;
}

char *sundew_standin_strrchr(const char *s, int c)
{
    if (concrete_string(s, SIZE_MAX) && (!sundew_alive || !SYMBOLIC(c)))
        return strrchr(s, c);
    const char *found = NULL;
    for (;; s++) {
        if (*s == (char)c)
            found = s;
        if (!*s)
            return (char *)found;
    }
}

/* Is c one of the set? Without branches but for its end. */
static unsigned among(char c, const char *set)
{
    unsigned in = 0;
    for (; *set; set++)
        in |= c == *set;
    return in;
}

size_t sundew_standin_strspn(const char *s, const char *set)
{
    size_t n = 0;
    while (s[n] && among(s[n], set))
        n++;
    return n;
}

size_t sundew_standin_strcspn(const char *s, const char *set)
{
    size_t n = 0;
    while (s[n] && !among(s[n], set))
        n++;
    return n;
}

char *sundew_standin_strpbrk(const char *s, const char *set)
{
    s += sundew_standin_strcspn(s, set);
    return *s ? (char *)s : NULL;
}

/* Does s begin with n bytes of `what`? One value; s has them. */
static unsigned begins(const char *s, const char *what, size_t n, int fold)
{
    unsigned equal = 1;
    for (size_t i = 0; i < n; i++) {
        unsigned x = (unsigned char)s[i], y = (unsigned char)what[i];
        equal &= fold ? lower(x) == lower(y) : x == y;
    }
    return equal;
}

static char *find(const char *s, const char *what, int fold)
{
    size_t n = strlen(what), m = strlen(s);
    for (size_t i = 0; i + n <= m; i++)
        if (begins(s + i, what, n, fold))
            return (char *)s + i;
    return NULL;
}

char *sundew_standin_strstr(const char *s, const char *what)
{
    if (concrete_string(s, SIZE_MAX) && concrete_string(what, SIZE_MAX))
        return strstr(s, what);
    return find(s, what, 0);
}

char *sundew_standin_strcasestr(const char *s, const char *what)
{
    if ((concrete_string(s, SIZE_MAX) && concrete_string(what, SIZE_MAX)) || !sundew_plain_locale())
        return strcasestr(s, what);
    return find(s, what, 1);
}

char *sundew_standin_strtok_r(char *s, const char *set, char **state)
{
    if (!s)
        s = *state;
    if (!s)
        return NULL;
    s += sundew_standin_strspn(s, set);
    if (!*s) {
        *state = s;
        return NULL;
    }
    char *end = s + sundew_standin_strcspn(s, set);
    if (*end)
        *end++ = 0;
    *state = end;
    return s;
}

char *sundew_standin_strtok(char *s, const char *set)
{
    static char *state;
    return sundew_standin_strtok_r(s, set, &state);
}

char *sundew_standin_strsep(char **s, const char *set)
{
    char *begin = *s;
    if (!begin)
        return NULL;
    char *end = begin + sundew_standin_strcspn(begin, set);
    if (*end)
        *end++ = 0;
    else
        end = NULL;
    *s = end;
    return begin;
}
