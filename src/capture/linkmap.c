/*
 * GNU ld and gold:
 *
 *     Archive member included to satisfy reference by file (symbol)
 *     libfoo.a(bar.o)               main.o (bar)
 *     …
 *     LOAD main.o
 *      .text          0x0000000000001139       0x15 main.o
 *
 * lld and mold:
 *
 *        VMA      LMA     Size Align Out     In      Symbol
 *     201120   201120        5     1         main.o:(.text)
 *
 * A line of another kind may look alike, so a name counts only if there is
 * such a file.
 */
#include "capture/linkmap.h"
#include "base/file.h"
#include "base/map.h"
#include "base/str.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

char *linkmap_archive(const char *object, char **member)
{
    size_t n = strlen(object);
    const char *open = strrchr(object, '(');
    if (!open || open == object || object[n - 1] != ')')
        return NULL;
    *member = xstrndup(open + 1, (size_t)(object + n - 1 - open - 1));
    return xstrndup(object, (size_t)(open - object));
}

/* A file named in the map that is there; `known` saves asking twice. */
static bool exists(const char *path, Map *known)
{
    void **slot = map_slot(known, path);
    if (!*slot)
        *slot = file_is_regular(path) ? "y" : "n";
    return **(char **)slot == 'y';
}

/* libx.so, libx.so.1.2 */
static bool is_shared_name(const char *path)
{
    const char *so = strstr(path_base(path), ".so");
    return so && so[3 + strspn(so + 3, ".0123456789")] == 0;
}

static void offer(const char *name, size_t n, const char *cwd, Map *seen, Map *known, Strings *out)
{
    while (n && isspace((unsigned char)name[n - 1]))
        n--;
    if (!n)
        return;
    char *text = xstrndup(name, n), *member = NULL;
    if (!map_put(seen, text, NULL)) {
        free(text);
        return;
    }
    char *archive = linkmap_archive(text, &member);
    char *path = path_in(cwd, archive ? archive : text);
    if (exists(path, known)) {
        if (archive)
            strings_addf(out, "%s(%s)", path, member);
        else if (!str_ends(path, ".a") && !is_shared_name(path))
            strings_add(out, path);
    }
    free(path);
    free(archive);
    free(member);
    free(text);
}

/* Skips a number, hexadecimal or not; NULL if there is none. */
static const char *number(const char *p, bool prefixed)
{
    while (*p == ' ')
        p++;
    if (prefixed) {
        if (p[0] != '0' || p[1] != 'x')
            return NULL;
        p += 2;
    }
    const char *begin = p;
    while (isxdigit((unsigned char)*p))
        p++;
    return p > begin && (*p == ' ' || *p == 0) ? p : NULL;
}

/* " .text  0xADDRESS  0xSIZE FILE", the section's name being optional. */
static const char *gnu_section(const char *line)
{
    const char *p = strstr(line, " 0x");
    if (line[0] != ' ' || !p)
        return NULL;
    p = number(p, true);
    p = p ? number(p, true) : NULL;
    return p && *p == ' ' ? p + 1 : NULL;
}

/* "VMA LMA SIZE ALIGN   FILE:(SECTION)"; *n is the length of FILE. */
static const char *lld_section(const char *line, size_t *n)
{
    const char *p = line;
    for (int i = 0; p && i < 4; i++)
        p = number(p, false);
    if (!p)
        return NULL;
    p += strspn(p, " ");
    const char *end = strstr(p, ":(");
    if (!end)
        return NULL;
    *n = (size_t)(end - p);
    return p;
}

void linkmap_objects(const char *map, const char *cwd, Strings *out)
{
    Map seen = { 0 }, known = { 0 };
    bool included = false;
    for (const char *line = map, *next; *line; line = next) {
        size_t n = strcspn(line, "\n");
        next = line + n + (line[n] == '\n');
        char *text = xstrndup(line, n);
        const char *name;
        size_t len;
        if (str_starts(text, "Archive member included"))
            included = true;
        else if (included && n && text[0] != ' ' && !strchr(text, '('))
            included = false;
        if (included && text[0] != ' ' && strstr(text, ".a(")) {
            const char *close = strchr(strstr(text, ".a("), ')');
            if (close)
                offer(text, (size_t)(close + 1 - text), cwd, &seen, &known, out);
        } else if (str_starts(text, "LOAD ")) {
            offer(text + 5, n - 5, cwd, &seen, &known, out);
        } else if ((name = gnu_section(text))) {
            offer(name, strlen(name), cwd, &seen, &known, out);
        } else if ((name = lld_section(text, &len))) {
            offer(name, len, cwd, &seen, &known, out);
        }
        free(text);
    }
    map_release(&seen);
    map_release(&known);
}
