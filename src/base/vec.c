#include "base/vec.h"
#include <stdarg.h>
#include <stdio.h>

void strings_add(Strings *v, const char *s)
{
    vec_push(v, xstrdup(s));
}

void strings_addf(Strings *v, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *s = xmalloc((size_t)n + 1);
    va_start(ap, fmt);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    va_end(ap);
    vec_push(v, s);
}

void strings_release(Strings *v)
{
    for (size_t i = 0; i < v->len; i++)
        free(v->items[i]);
    vec_release(v);
}

char **strings_argv(Strings *v)
{
    vec_push(v, NULL);
    v->len--;
    return v->items;
}
