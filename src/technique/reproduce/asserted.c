/*
 * Assertions of what a function is handed:
 *
 *     void bufput(struct buf *buf, const void *data, size_t size)
 *     {
 *         assert(buf && buf->unit);
 *
 * Here bufput() is handed the damage, as if it had touched a bad pointer: its own test fails
 * wherever else the fix is. It is so if the text names parameters only, and if the function does
 * not mention them before, but for other assertions.
 */
#include "base/file.h"
#include "technique/reproduce/reproduce_int.h"
#include <ctype.h>
#include <string.h>

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The next identifier that stands for something: no member, number, call or constant. */
static const char *next_name(const char *text, const char *end, size_t *n)
{
    for (const char *p = text; p < end; p++) {
        const char *from = p;
        bool constant = true;
        for (; p < end && is_word(*p); p++)
            constant &= !islower((unsigned char)*p);
        *n = (size_t)(p - from);
        bool member = (from > text && from[-1] == '.') ||
                      (from - text > 1 && from[-1] == '>' && from[-2] == '-');
        bool call = p + strspn(p, " ") < end && p[strspn(p, " ")] == '(';
        if (*n && !member && !constant && !call && !isdigit((unsigned char)*from))
            return from;
    }
    return NULL;
}

static bool is_parameter(const Function *fn, const char *name, size_t n)
{
    for (unsigned i = 0; i < fn->nparams; i++)
        if (strlen(fn->params[i].name) == n && memcmp(fn->params[i].name, name, n) == 0)
            return true;
    return false;
}

/* Does the text name parameters, and nothing else? */
static bool names_parameters(const Function *fn, const char *from, const char *to)
{
    bool any = false;
    size_t n;
    for (const char *p = from; (p = next_name(p, to, &n)); p += n) {
        if (!is_parameter(fn, p, n))
            return false;
        any = true;
    }
    return any;
}

/* Is one of them mentioned in a line? */
static bool mentions(const Function *fn, const char *line, const char *end)
{
    size_t n;
    for (const char *p = line; (p = next_name(p, end, &n)); p += n)
        if (is_parameter(fn, p, n))
            return true;
    return false;
}

/* Is the assertion of a line the first that the function does with its parameters? */
static bool comes_first(const Function *fn, unsigned line)
{
    Str text = { 0 };
    bool ok = fn->file && fn->line && line > fn->line && file_read(fn->file, &text, NULL);
    bool inside = false;
    const char *at = ok ? str_c(&text) : "";
    for (unsigned k = 1; ok && k < line && *at; k++) {
        const char *end = at + strcspn(at, "\n"), *open = memchr(at, '{', (size_t)(end - at));
        if (k >= fn->line && inside && !memmem(at, (size_t)(end - at), "assert", 6))
            ok = !mentions(fn, at, end);
        inside |= k >= fn->line && open;
        at = *end ? end + 1 : end;
    }
    str_release(&text);
    return ok && inside;
}

bool asserted_argument(const Ending *e, const Candidate *c)
{
    const Place *site = e->stack.len ? &e->stack.items[0] : NULL;
    const char *from = strstr(e->text, "Assertion `"), *to = from ? strrchr(from, '\'') : NULL;
    return e->kind == FAILURE_ASSERTION && to && site && c->fn && !c->distance &&
           strcmp(site->function, c->fn->name) == 0 &&
           names_parameters(c->fn, from + strlen("Assertion `"), to) &&
           comes_first(c->fn, site->line);
}
