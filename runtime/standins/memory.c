/* mem…, b…, and their wide kin. Copies are intrinsics, which the weave knows. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/standins/list.h"
#include "runtime/standins/standins.h"
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>

typedef const unsigned char *Bytes;

void *sundew_standin_memcpy(void *to, const void *from, size_t n)
{
    return __builtin_memcpy(to, from, n);
}

void *sundew_standin_mempcpy(void *to, const void *from, size_t n)
{
    __builtin_memcpy(to, from, n);
    return (char *)to + n;
}

void *sundew_standin_memmove(void *to, const void *from, size_t n)
{
    return __builtin_memmove(to, from, n);
}

void *sundew_standin_memset(void *to, int c, size_t n) { return __builtin_memset(to, c, n); }

void sundew_standin_bzero(void *to, size_t n) { __builtin_memset(to, 0, n); }

void sundew_standin_bcopy(const void *from, void *to, size_t n) { __builtin_memmove(to, from, n); }

static int concrete(const void *a, const void *b, size_t n)
{
    return !sundew_alive || (!sundew_is_symbolic(a, n) && !sundew_is_symbolic(b, n));
}

int sundew_standin_memcmp(const void *a, const void *b, size_t n)
{
    Bytes p = a, q = b;
    if (concrete(a, b, n))
        return memcmp(a, b, n);
    if (n > CHAIN) {
        for (size_t i = 0; i < n; i++)
            if (p[i] != q[i])
                return p[i] - q[i];
        return 0;
    }
    int r = 1;
    unsigned equal = 1;
    for (size_t i = n; i-- > 0;) {
        int d = p[i] - q[i];
        r = d ? d : r;
        equal &= p[i] == q[i];
    }
    return equal ? 0 : r;
}

void *sundew_standin_memchr(const void *s, int c, size_t n)
{
    Bytes p = s;
    if (!sundew_alive)
        return memchr(s, c, n);
    for (size_t i = 0; i < n; i++)
        if (p[i] == (unsigned char)c)
            return (void *)(p + i);
    return NULL;
}

void *sundew_standin_memrchr(const void *s, int c, size_t n)
{
    Bytes p = s;
    if (!sundew_alive)
        return memrchr(s, c, n);
    while (n-- > 0)
        if (p[n] == (unsigned char)c)
            return (void *)(p + n);
    return NULL;
}

void *sundew_standin_rawmemchr(const void *s, int c)
{
    Bytes p = s;
    while (*p != (unsigned char)c)
        p++;
    return (void *)p;
}

void *sundew_standin_memccpy(void *to, const void *from, int c, size_t n)
{
    unsigned char *t = to;
    Bytes f = from;
    for (size_t i = 0; i < n; i++) {
        t[i] = f[i];
        if (f[i] == (unsigned char)c)
            return t + i + 1;
    }
    return NULL;
}

void *sundew_standin_memmem(const void *s, size_t n, const void *what, size_t k)
{
    Bytes p = s, q = what;
    if (!sundew_alive || (!sundew_is_symbolic(s, n) && !sundew_is_symbolic(what, k)))
        return memmem(s, n, what, k);
    for (size_t i = 0; i + k <= n; i++) {
        unsigned equal = 1;
        for (size_t j = 0; j < k; j++)
            equal &= p[i + j] == q[j];
        if (equal)
            return (void *)(p + i);
    }
    return NULL;
}

/* ---- byte order */

uint32_t sundew_standin_htonl(uint32_t v) { return __builtin_bswap32(v); }

uint16_t sundew_standin_htons(uint16_t v) { return __builtin_bswap16(v); }

void sundew_standin_swab(const void *from, void *to, ssize_t n)
{
    Bytes f = from;
    unsigned char *t = to;
    for (ssize_t i = 0; i + 1 < n; i += 2) {
        unsigned char a = f[i], b = f[i + 1];
        t[i] = b;
        t[i + 1] = a;
    }
}

/* ---- memory itself: what was there is not there any more, what moves takes its labels
 * along */

/* ---- wide characters */

size_t sundew_standin_wcslen(const wchar_t *s)
{
    size_t n = 0;
    if (!sundew_alive)
        return wcslen(s);
    while (s[n])
        n++;
    return n;
}

size_t sundew_standin_wcsnlen(const wchar_t *s, size_t most)
{
    size_t n = 0;
    while (n < most && s[n])
        n++;
    return n;
}

int sundew_standin_wcsncmp(const wchar_t *a, const wchar_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
        if (!a[i])
            break;
    }
    return 0;
}

int sundew_standin_wcscmp(const wchar_t *a, const wchar_t *b)
{
    return sundew_standin_wcsncmp(a, b, SIZE_MAX);
}

int sundew_standin_wmemcmp(const wchar_t *a, const wchar_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

wchar_t *sundew_standin_wcscpy(wchar_t *to, const wchar_t *from)
{
    size_t i = 0;
    while ((to[i] = from[i]))
        i++;
    return to;
}

wchar_t *sundew_standin_wcsncpy(wchar_t *to, const wchar_t *from, size_t n)
{
    size_t i = 0;
    for (; i < n && from[i]; i++)
        to[i] = from[i];
    for (; i < n; i++)
        to[i] = 0;
    return to;
}

wchar_t *sundew_standin_wcscat(wchar_t *to, const wchar_t *from)
{
    sundew_standin_wcscpy(to + sundew_standin_wcslen(to), from);
    return to;
}

wchar_t *sundew_standin_wcschr(const wchar_t *s, wchar_t c)
{
    for (;; s++) {
        if (*s == c)
            return (wchar_t *)s;
        if (!*s)
            return NULL;
    }
}

wchar_t *sundew_standin_wcsrchr(const wchar_t *s, wchar_t c)
{
    const wchar_t *found = NULL;
    for (;; s++) {
        if (*s == c)
            found = s;
        if (!*s)
            return (wchar_t *)found;
    }
}

wchar_t *sundew_standin_wmemcpy(wchar_t *to, const wchar_t *from, size_t n)
{
    return __builtin_memcpy(to, from, n * sizeof *to);
}

wchar_t *sundew_standin_wmemmove(wchar_t *to, const wchar_t *from, size_t n)
{
    return __builtin_memmove(to, from, n * sizeof *to);
}

wchar_t *sundew_standin_wmemset(wchar_t *to, wchar_t c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = c;
    return to;
}
