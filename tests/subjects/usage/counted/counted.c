#include "counted.h"
#include <stdlib.h>
#include <string.h>

char *counted_new(const char *text)
{
    size_t n = strlen(text);
    size_t *all = malloc(sizeof n + n + 1);
    if (!all)
        return NULL;
    *all = n;
    return memcpy(all + 1, text, n + 1);
}

size_t counted_length(const char *counted)
{
    return ((const size_t *)counted)[-1];
}

void counted_clear(char *counted)
{
    ((size_t *)counted)[-1] = 0;
    *counted = 0;
}

void counted_free(char *counted)
{
    free((size_t *)counted - 1);
}

char **counted_split(const char *text, char at, int *n)
{
    char **all = calloc(strlen(text) + 1, sizeof *all);
    for (*n = 0; all && *text; (*n)++) {
        char part[40] = "";
        size_t k = strcspn(text, (char[]){ at, 0 });
        memcpy(part, text, k < sizeof part ? k : sizeof part - 1);
        all[*n] = counted_new(part);
        text += k + (text[k] == at);
    }
    return all;
}

void counted_free_all(char **all, int n)
{
    for (int i = 0; i < n; i++)
        counted_free(all[i]);
    free(all);
}

int text_words(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += *text != ' ' && (text[1] == ' ' || !text[1]);
    return n;
}
