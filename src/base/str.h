/*
 * str - a string that grows. A Str of {0} is empty and ready.
 *
 *     Str s = {0};
 *     str_addf(&s, "%d calls", n);
 *     puts(str_c(&s));
 *     str_release(&s);            or: char *p = str_take(&s);
 *
 * Bytes may include NUL; `len` counts. str_c() is always NUL-terminated.
 */
#ifndef SUNDEW_STR_H
#define SUNDEW_STR_H
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>

typedef struct Str {
    char *data;
    size_t len, cap;
} Str;

void str_add(Str *s, const char *text);
void str_addn(Str *s, const char *bytes, size_t n);
void str_addc(Str *s, char c);
void str_addf(Str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_addv(Str *s, const char *fmt, va_list ap);
const char *str_c(const Str *s);
char *str_take(Str *s);       /* the caller frees it; s is empty again */
void str_reset(Str *s);
void str_release(Str *s);

/* On ordinary strings. */
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
bool str_is_one_of(const char *s, const char *const *list);   /* to NULL */
/* The candidate nearest to `word` by edit distance, or NULL if none is near. */
const char *str_nearest(const char *word, const char *const *candidates);
#endif
