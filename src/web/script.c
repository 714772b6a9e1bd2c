/* Patterns in JavaScript; script.h is the manual. */
#include "web/script.h"
#include "base/mem.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_FUNCTIONS = 400,
    MOST_FIELDS = 12,
    MOST_ADDRESSES = 20,
    MOST_INLINED = 3,
    MOST_READ = 100000
};

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

static const char *skip_space(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

/* Behind a text in quotes that begins at p. */
static const char *skip_text(const char *p)
{
    char quote = *p++;
    while (*p && *p != quote)
        p += *p == '\\' && p[1] ? 2 : 1;
    return *p ? p + 1 : p;
}

static const char *skip_comment(const char *p)
{
    const char *end = p[1] == '/' ? strchr(p, '\n') : strstr(p + 2, "*/");
    return end ? end + (p[1] == '/' ? 1 : 2) : p + strlen(p);
}

/* Behind the bracket that closes the one at p; the end, if none does. */
static const char *skip_bracket(const char *p)
{
    unsigned depth = 0;
    while (*p) {
        if (*p == '"' || *p == '\'') {
            p = skip_text(p);
            continue;
        }
        if (*p == '/' && (p[1] == '/' || p[1] == '*')) {
            p = skip_comment(p);
            continue;
        }
        depth += *p == '(' || *p == '{';
        depth -= *p == ')' || *p == '}';
        p++;
        if (depth == 0)
            break;
    }
    return p;
}

/* ---- functions */

static void read_params(const char *p, const char *end, Strings *out)
{
    while (p < end) {
        p = skip_space(p);
        const char *word = p;
        while (p < end && is_word(*p))
            p++;
        char *name = xstrndup(word, (size_t)(p - word));
        strings_add(out, name);
        free(name);
        while (p < end && *p != ',')
            p++;
        p += p < end;
    }
}

void scripts_add(Scripts *s, const char *code)
{
    for (const char *p = strstr(code, "function"); p && s->len < MOST_FUNCTIONS;
         p = strstr(p, "function")) {
        p = skip_space(p + 8);
        const char *word = p;
        while (is_word(*p))
            p++;
        const char *open = skip_space(p);
        if (p == word || *open != '(')
            continue;
        const char *behind = skip_bracket(open), *body = skip_space(behind);
        if (*body != '{' || behind == open + 1)
            continue;
        ScriptFunction *f = vec_grow(s);
        f->name = xstrndup(word, (size_t)(p - word));
        read_params(open + 1, behind - 1, &f->params);
        p = skip_bracket(body);
        f->body = xstrndup(body, (size_t)(p - body));
    }
}

void scripts_release(Scripts *s)
{
    for (size_t i = 0; i < s->len; i++) {
        free(s->items[i].name);
        free(s->items[i].body);
        strings_release(&s->items[i].params);
    }
    free(s->items);
    *s = (Scripts){ 0 };
}

/* ---- deeds */

/* Values of a function's parameters. */
typedef struct Bound {
    const Strings *names;
    Strings values;
} Bound;

/* A constant, or a parameter with one; NULL: anything else. To free. */
static char *constant(const char *p, const Bound *b)
{
    p = skip_space(p);
    if (*p == '"' || *p == '\'') {
        const char *end = skip_text(p);
        return end > p + 1 ? xstrndup(p + 1, (size_t)(end - p - 2)) : NULL;
    }
    size_t n = strspn(p, "0123456789.-");
    if (n && !is_word(p[n]))
        return xstrndup(p, n);
    for (n = 0; is_word(p[n]);)
        n++;
    for (size_t i = 0; n && b && i < b->names->len && i < b->values.len; i++)
        if (strlen(b->names->items[i]) == n && strncmp(b->names->items[i], p, n) == 0)
            return xstrdup(b->values.items[i]);
    return NULL;
}

/* The word that ends before p, in the forms x and ['x']; "": none. */
static char *word_before(const char *begin, const char **at)
{
    const char *p = *at;
    if (p > begin && p[-1] == ']') {
        p--;
        const char *end = p > begin && (p[-1] == '\'' || p[-1] == '"') ? --p : p;
        while (p > begin && p[-1] != '\'' && p[-1] != '"' && p[-1] != '[')
            p--;
        char *word = xstrndup(p, (size_t)(end - p));
        while (p > begin && *p != '[')
            p--;
        *at = p;
        return word;
    }
    const char *end = p;
    while (p > begin && is_word(p[-1]))
        p--;
    *at = p;
    return xstrndup(p, (size_t)(end - p));
}

static void set_form(Deed *d, char *name)
{
    static const char *const none[] = { "",         "form", "this",   "document", "forms",
                                        "elements", "self", "window", "all",      NULL };
    if (d->form || str_is_one_of(name, none)) {
        free(name);
        return;
    }
    d->form = name;
}

/* "…FORM.FIELD.value = CONSTANT", seen at ".value". */
static void read_value(const char *begin, const char *dot, const Bound *b, Deed *d)
{
    const char *p = skip_space(dot + 6);
    if (*p != '=' || p[1] == '=' || d->fields.len >= MOST_FIELDS)
        return;
    char *value = constant(p + 1, b);
    const char *at = dot;
    char *field = value ? word_before(begin, &at) : NULL;
    if (value && field && *field) {
        strings_add(&d->fields, field);
        strings_add(&d->values, value);
        if (at > begin && at[-1] == '.') {
            at--;
            set_form(d, word_before(begin, &at));
        }
    }
    free(field);
    free(value);
}

static void read_action(const char *begin, const char *dot, const Bound *b, Deed *d)
{
    const char *p = skip_space(dot + 7), *at = dot;
    if (*p != '=' || p[1] == '=')
        return;
    char *value = constant(p + 1, b);
    if (value)
        set_form(d, word_before(begin, &at));
    free(d->action);
    d->action = value;
}

static void add_address(Deed *d, char *text)
{
    if (text && strstr(text, ".php") && d->addresses.len < MOST_ADDRESSES)
        strings_add(&d->addresses, text);
    free(text);
}

static void read_code(const Scripts *s, const char *code, const Bound *b, unsigned depth, Deed *d);

static void read_call(const Scripts *s, const ScriptFunction *f, const char *open, const Bound *b,
                      unsigned depth, Deed *d)
{
    const char *end = skip_bracket(open);
    Bound mine = { .names = &f->params };
    for (const char *p = open + 1; p < end && *skip_space(p) != ')';) {
        char *value = constant(p, b);
        strings_add(&mine.values, value ? value : "1");
        free(value);
        while (p < end && *p != ',' && *p != ')')
            p = *p == '"' || *p == '\'' ? skip_text(p) : *p == '(' ? skip_bracket(p) : p + 1;
        p += p < end;
    }
    read_code(s, f->body, &mine, depth + 1, d);
    strings_release(&mine.values);
}

static const ScriptFunction *function_named(const Scripts *s, const char *name, size_t n)
{
    for (size_t i = 0; i < s->len; i++)
        if (strlen(s->items[i].name) == n && strncmp(s->items[i].name, name, n) == 0)
            return &s->items[i];
    return NULL;
}

static const char *read_word(const Scripts *s, const char *p, const Bound *b, unsigned depth,
                             Deed *d)
{
    const char *word = p;
    while (is_word(*p))
        p++;
    const char *next = skip_space(p);
    const ScriptFunction *f = *next == '(' ? function_named(s, word, (size_t)(p - word)) : NULL;
    if (f && depth < MOST_INLINED)
        read_call(s, f, next, b, depth, d);
    return p;
}

static void read_code(const Scripts *s, const char *code, const Bound *b, unsigned depth, Deed *d)
{
    for (const char *p = code; *p && d->left; d->left--) {
        if (*p == '/' && (p[1] == '/' || p[1] == '*')) {
            p = skip_comment(p);
        } else if (*p == '"' || *p == '\'') {
            const char *end = skip_text(p);
            if (end > p + 1)
                add_address(d, xstrndup(p + 1, (size_t)(end - p - 2)));
            p = end;
        } else if (strncmp(p, ".value", 6) == 0 && !is_word(p[6])) {
            read_value(code, p, b, d);
            p += 6;
        } else if (strncmp(p, ".action", 7) == 0 && !is_word(p[7])) {
            read_action(code, p, b, d);
            p += 7;
        } else if (strncmp(p, ".submit", 7) == 0 && !is_word(p[7])) {
            const char *at = p;
            set_form(d, word_before(code, &at));
            p += 7;
        } else if (is_word(*p)) {
            p = read_word(s, p, b, depth, d);
        } else {
            p++;
        }
    }
}

void script_deed(const Scripts *s, const char *code, Deed *out)
{
    *out = (Deed){ .left = MOST_READ };
    read_code(s, code, NULL, 0, out);
}

void deed_release(Deed *d)
{
    free(d->form);
    free(d->action);
    strings_release(&d->fields);
    strings_release(&d->values);
    strings_release(&d->addresses);
}
