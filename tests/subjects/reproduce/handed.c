/* Whose test is told to be handed a null pointer, and which one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define DEFECT 1

struct text { int length; char *bytes; };
/* Many pointers are null; the last is the damage. */
struct wide { struct text *others[16], *more[16], *most[16]; struct text *name, *last; };
static struct text *now;              /* the program asks whether it is null */

static int length(const struct text *t)
{
    return t->length + t->bytes[0];
}

static int shown(const struct text *t)
{
    return t ? length(t) : 0;
}

static int total(const struct wide *w)
{
    return shown(w->name) + length(w->last);
}

static int several(struct wide *w, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += total(w);
    return sum;
}

static int current(int n, const wchar_t *unit)
{
#if !DEFECT
    if (!now)
        return 0;
#endif
    return length(now) * n + (int)wcslen(unit);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    struct wide *w = calloc(1, sizeof *w);
    struct text *t = calloc(1, sizeof *t);
    t->bytes = strdup("a");
    if (!DEFECT)
        w->last = t;
    if (strcmp(what, "set") == 0)
        now = t;
    if (strcmp(what, "wide") == 0)
        printf("%d\n", several(w, argc));
    if (now)
        puts("now");
    if (strcmp(what, "current") == 0)
        printf("%d\n", current(argc, L"cm"));
    return 0;
}
