#include "pieces.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct coder {
    char *salt;
    size_t least;
    const char **aliases;
};

int place_parse(struct place *place, char *text)
{
    memset(place, 0, sizeof *place);
    if (!*text)
        return -1;
    place->host = text;
    char *query = strchr(text, '?');
    if (query) {
        *query = 0;
        place->query = query + 1;
    }
    char *path = strchr(place->host, '/');
    if (path) {
        *path = 0;
        place->path = path + 1;
    }
    char *port = strchr(place->host, ':');
    if (port) {
        *port = 0;
        place->port = atoi(port + 1);
    }
    return 0;
}

int pieces_split(char *line, char **parts, int max_parts)
{
    int n = 0;
    while (line && *line && n < max_parts) {
        char *slash = strchr(line, '/');
        parts[n++] = line;
        if (slash)
            *slash++ = 0;
        line = slash;
    }
    return n ? n : -1;
}

int pieces_pairs(char *text, char delimiter, struct pair *pairs, int max_pairs)
{
    int n = 0;
    while (text && *text && n < max_pairs) {
        char *end = strchr(text, delimiter), *equals = strchr(text, '=');
        if (end)
            *end++ = 0;
        if (equals)
            *equals = 0;
        pairs[n].key = text;
        pairs[n++].value = equals ? equals + 1 : NULL;
        text = end;
    }
    return n;
}

struct coder *coder_new(const char *salt, size_t min_name_length)
{
    struct coder *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->salt = strdup(salt);
    c->least = min_name_length;
    return c;
}

void coder_free(struct coder *c)
{
    if (c)
        free(c->salt);
    free(c);
}

int coder_name(struct coder *c, char *buffer, int numbers_count, const int *numbers)
{
    size_t n = 0;
    for (int i = 0; i < numbers_count; i++) {
        n += (size_t)sprintf(buffer + n, "%s%d", i ? "-" : "", numbers[i] + (int)strlen(c->salt));
    }
    while (n < c->least)
        buffer[n++] = '.';
    buffer[n] = 0;
    return (int)n;
}

int coder_numbers(struct coder *c, const char *name, int *numbers, int numbers_max)
{
    int n = 0;
    while (*name && *name != '.' && n < numbers_max) {
        numbers[n++] = atoi(name) - (int)strlen(c->salt);
        name += strcspn(name, "-.");
        name += *name == '-';
    }
    return n;
}

void coder_aliases(struct coder *c, const char **aliases) { c->aliases = aliases; }

const char *coder_alias(const struct coder *c, int which)
{
    for (int i = 0; c->aliases && c->aliases[i]; i++)
        if (i == which)
            return c->aliases[i];
    return NULL;
}


void decorate(const char *text, char *into) { sprintf(into, "<%s>", text); }

int key_ends(const char *key, int key_len) { return key_len + (key[key_len] == 0 ? 100 : 0); }

int words_turn(int argc, char *argv[])
{
    char *first = argc ? argv[0] : NULL;
    if (!first || !*first)
        return -1;
    for (int i = 0; i + 1 < argc; i++)
        argv[i] = argv[i + 1];
    argv[argc - 1] = first;
    return argc;
}

int rate_of(const char *name, const struct rate *rates)
{
    for (; rates->name; rates++)
        if (strcmp(rates->name, name) == 0)
            return rates->percent;
    return -1000;
}

struct bell {
    int (*ring)(void);
};

struct bell *bell_new(int (*ring)(void))
{
    struct bell *b = malloc(sizeof *b);
    if (b)
        b->ring = ring;
    return b;
}

int bell_ring(const struct bell *b) { return b->ring(); }

void bell_free(struct bell *b) { free(b); }

int sum_of_four(const int numbers[4]) { return numbers[0] + numbers[1] + numbers[2] + numbers[3]; }
