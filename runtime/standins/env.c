/* The environment: what setenv() puts there keeps its labels. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/standins/list.h"
#include "runtime/standins/standins.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The name of each variable is compared, one question each. */
char *sundew_standin_getenv(const char *name)
{
    if (!sundew_alive || !sundew_is_symbolic(name, strlen(name) + 1))
        return getenv(name);
    for (char **e = environ; e && *e; e++) {
        const char *equals = strchr(*e, '=');
        size_t n = equals ? (size_t)(equals - *e) : 0;
        char one[CHAIN];
        if (!n || n >= sizeof one)
            continue;
        __builtin_memcpy(one, *e, n);
        one[n] = 0;
        if (sundew_standin_strcmp(name, one) == 0)
            return *e + n + 1;
    }
    return getenv(name);
}

int sundew_standin_setenv(const char *name, const char *value, int overwrite)
{
    size_t n = name ? strlen(name) : 0;
    if (!sundew_alive || !n || !sundew_is_symbolic(value, strlen(value) + 1))
        return setenv(name, value, overwrite);
    if (strchr(name, '=')) {
        errno = EINVAL;
        return -1;
    }
    if (!overwrite && getenv(name))
        return 0;
    char *text = malloc(n + strlen(value) + 2);
    if (!text)
        return -1;
    __builtin_memcpy(text, name, n);
    text[n] = '=';
    sundew_standin_strcpy(text + n + 1, value);
    return putenv(text);
}
