#include "build/symbols.h"
#include "base/str.h"
#include "capture/recompile.h"
#include <stdlib.h>
#include <string.h>

/* "name |0000000000000040| T | FUNC|0000000000000012| |.text" */
static void read_line(char *line, Arena *a, Map *out)
{
    char *part[7] = { 0 };
    for (int i = 0; i < 7; i++)
        part[i] = strsep(&line, "|");
    if (!part[6])
        return;
    part[0][strcspn(part[0], " ")] = 0;
    ObjectSymbol *s = arena_new(a, ObjectSymbol);
    s->kind = part[2][strspn(part[2], " ")];
    if (str_starts(part[6], ".data.rel.ro"))
        s->kind = 'r';                     /* written by the loader only */
    s->address = strtoull(part[1], NULL, 16);
    s->size = strtoull(part[4], NULL, 16);
    map_put(out, part[0], s);
}

void symbols_read(const char *file, Arena *a, Map *out)
{
    char *argv[] = { "nm", "-f", "sysv", (char *)file, NULL };
    Str text = { 0 };
    char *save = NULL;
    recompile_tool(argv, NULL, &text, NULL);
    for (char *l = text.data ? strtok_r(text.data, "\n", &save) : NULL; l;
         l = strtok_r(NULL, "\n", &save))
        read_line(l, a, out);
    str_release(&text);
}

bool symbol_is_global_function(const ObjectSymbol *s)
{
    return s && (s->kind == 'T' || s->kind == 'W');
}
