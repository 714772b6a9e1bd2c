#include "conf.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct conf {
    int limit;
    long room;
    double ratio;
    char name[32];
    const struct conf *parent;
};

struct conf *conf_new(void)
{
    struct conf *c = calloc(1, sizeof *c);
    if (c)
        c->limit = 10;
    return c;
}

struct conf *conf_make(const char *what, ...)
{
    struct conf *c = conf_new();
    va_list list;
    if (!c)
        return NULL;
    va_start(list, what);
    for (; *what; what++) {
        if (*what == 'n')
            snprintf(c->name, sizeof c->name, "%s", va_arg(list, const char *));
        else if (*what == 'l')
            c->limit = va_arg(list, int);
        else if (*what == 'r')
            c->ratio = va_arg(list, double);
    }
    va_end(list);
    return c;
}

void conf_free(struct conf *c)
{
    free(c);
}

static int set_limit(struct conf *c, int limit)
{
    if (limit < 0 || limit > 1000)
        return -1;
    c->limit = limit;
    return limit > 100;
}

int conf_set(struct conf *c, enum conf_key key, ...)
{
    int result = 0;
    va_list list;
    va_start(list, key);
    switch (key) {
    case CONF_LIMIT:
        result = set_limit(c, va_arg(list, int));
        break;
    case CONF_ROOM:
        c->room = va_arg(list, long);
        result = c->room > 5000000000 ? 2 : 0;
        break;
    case CONF_RATIO:
        c->ratio = va_arg(list, double);
        result = c->ratio < 0 ? -1 : 0;
        break;
    case CONF_NAME: {
        const char *name = va_arg(list, const char *);
        result = name ? (int)strlen(name) : -1;
        snprintf(c->name, sizeof c->name, "%s", name ? name : "");
        break;
    }
    case CONF_PARENT:
        c->parent = va_arg(list, const struct conf *);
        break;
    default:
        result = -2;
    }
    va_end(list);
    return result;
}

int conf_limit(const struct conf *c)
{
    return c->limit;
}

long conf_room(const struct conf *c)
{
    return c->room;
}

double conf_ratio(const struct conf *c)
{
    return c->ratio;
}

const char *conf_name(const struct conf *c)
{
    return c->name;
}

int conf_depth(const struct conf *c)
{
    return c->parent != NULL;
}

int conf_measure(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(NULL, 0, format, list);
    va_end(list);
    return n;
}

int conf_read(const struct conf *c, enum conf_key key, ...)
{
    va_list list;
    va_start(list, key);
    if (key == CONF_LIMIT)
        *va_arg(list, int *) = c->limit;
    va_end(list);
    return key == CONF_LIMIT ? 0 : -1;
}

int conf_note(struct conf *c, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(c->name, sizeof c->name, format, list);
    va_end(list);
    return n;
}
