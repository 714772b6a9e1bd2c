/*
 * Assertions of what a function is handed:
 *
 *     void bufput(struct buf *buf, const void *data, size_t size)
 *     {
 *         assert(buf && buf->unit);
 *
 * Here bufput() is handed the damage, as if it had touched a bad pointer: its own test fails
 * wherever else the fix is. It is so if the function calls nothing before the assertion: then it
 * has only looked at what it has.
 */
#include "base/file.h"
#include "technique/reproduce/reproduce_int.h"
#include <ctype.h>
#include <string.h>

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Names in capitals are macros: they are no calls here, and assert() is none. */
static bool is_call(const char *name, size_t n)
{
    static const char *const words[] = { "if",     "for",    "while",         "switch",
                                         "sizeof", "assert", "static_assert", "return" };
    bool lower = false;
    for (size_t i = 0; i < n; i++)
        lower |= islower((unsigned char)name[i]) != 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && memcmp(words[i], name, n) == 0)
            return false;
    return lower;
}

static bool has_call(const char *line, const char *end)
{
    for (const char *p = line; p < end; p++) {
        const char *from = p;
        while (p < end && is_word(*p))
            p++;
        const char *next = p + strspn(p, " ");
        if (p > from && next < end && *next == '(' && is_call(from, (size_t)(p - from)))
            return true;
    }
    return false;
}

/* Is there no call in the function's text before a line? */
static bool calls_nothing_before(const Function *fn, unsigned line)
{
    Str text = { 0 };
    bool ok = fn->file && fn->line && line > fn->line && file_read(fn->file, &text, NULL);
    bool inside = false;
    const char *at = ok ? str_c(&text) : "";
    for (unsigned k = 1; ok && k < line && *at; k++) {
        const char *end = at + strcspn(at, "\n"), *open = memchr(at, '{', (size_t)(end - at));
        if (k >= fn->line && inside)
            ok = !has_call(at, end);
        inside |= k >= fn->line && open;
        at = *end ? end + 1 : end;
    }
    str_release(&text);
    return ok && inside;
}

bool asserted_argument(const Ending *e, const Candidate *c)
{
    const Place *site = e->stack.len ? &e->stack.items[0] : NULL;
    return e->kind == FAILURE_ASSERTION && site && site->line && c->fn && !c->distance &&
           c->fn->nparams && strcmp(site->function, c->fn->name) == 0 &&
           calls_nothing_before(c->fn, site->line);
}
