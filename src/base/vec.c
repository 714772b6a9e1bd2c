#include "base/vec.h"
#include <stdarg.h>

void strings_add(Strings *v, const char *s) { vec_push(v, xstrdup(s)); }

void strings_addf(Strings *v, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vec_push(v, xvprintf(fmt, ap));
    va_end(ap);
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
