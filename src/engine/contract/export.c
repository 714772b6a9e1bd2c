/* Contracts and samples in the forms of other tools: see export.h. */
#include "engine/contract/export.h"
#include "base/escape.h"
#include "base/file.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- Daikon */

enum { MOST_REPEATED = 100 };

/* Blanks and backslashes are escaped in its names. */
static void put_name(Str *out, const char *name)
{
    for (; *name; name++)
        if (*name == ' ' || *name == '\\')
            str_addf(out, "\\%c", *name == ' ' ? '_' : '\\');
        else if ((unsigned char)*name > 32 && (unsigned char)*name < 127)
            str_addc(out, *name);
}

static const char *rep_type(const Var *v)
{
    switch (v->kind) {
    case VAR_FLOAT: return "double";
    case VAR_POINTER: return "hashcode";
    case VAR_STRING: return "java.lang.String";
    default: return "int";
    }
}

/* orig() is Daikon's own; placeholders and copies are left out. */
static bool is_declared(const Var *v) { return *v->name && !v->orig; }

static void declare_point(Str *out, const FunctionSamples *f, const Point *p)
{
    str_add(out, "ppt ");
    put_name(out, f->name);
    str_addf(out, "():::%s\nppt-type %s\n", p->is_exit ? "EXIT0" : "ENTER",
             p->is_exit ? "subexit" : "enter");
    for (unsigned i = 0; i < p->nvars; i++) {
        const Var *v = &p->vars[i];
        if (!is_declared(v))
            continue;
        str_add(out, "variable ");
        put_name(out, v->kind == VAR_STRING ? v->key : v->name);
        str_addf(out, "\n  var-kind %s\n  dec-type ",
                 v->role == ROLE_RESULT && strcmp(v->name, "return") == 0 ? "return" : "variable");
        put_name(out, *v->type ? v->type : "int");
        str_addf(out, "\n  rep-type %s\n  comparability %d\n", rep_type(v),
                 v->unit                  ? (int)v->unit
                 : v->kind == VAR_POINTER ? 1
                                          : -1);
    }
    str_addc(out, '\n');
}

static void put_value(Str *out, const Samples *s, const Var *v, const Row *r, unsigned i)
{
    if (!r->known[i]) {
        str_add(out, "\nnonsensical\n2\n");
        return;
    }
    str_addc(out, '\n');
    if (v->kind == VAR_FLOAT) {
        str_addf(out, "%.17g", r->cells[i].d);
    } else if (v->kind == VAR_STRING) {
        const char *text = samples_text(s, r->cells[i].i);
        str_addc(out, '"');
        for (; *text; text++)
            if (*text == '"' || *text == '\\')
                str_addf(out, "\\%c", *text);
            else if ((unsigned char)*text < 32 || *text == 127)
                str_addf(out, "\\%03o", (unsigned char)*text);
            else
                str_addc(out, *text);
        str_addc(out, '"');
    } else {
        str_addf(out, "%" PRId64, r->cells[i].i);
    }
    str_add(out, "\n1\n");
}

static void put_sample(Str *out, const Samples *s, const FunctionSamples *f, const Point *p,
                       const Row *r, uint64_t nonce)
{
    put_name(out, f->name);
    str_addf(out, "():::%s\nthis_invocation_nonce\n%" PRIu64, p->is_exit ? "EXIT0" : "ENTER",
             nonce);
    str_addc(out, '\n');
    for (unsigned i = 0; i < p->nvars; i++) {
        const Var *v = &p->vars[i];
        if (!is_declared(v))
            continue;
        put_name(out, v->kind == VAR_STRING ? v->key : v->name);
        put_value(out, s, v, r, i);
    }
    str_addc(out, '\n');
}

/* An exit knows its entry: both are written, with one number. */
static void put_calls(Str *out, const Samples *s, const FunctionSamples *f, uint64_t *nonce)
{
    Arena a = { 0 };
    Row entry = { .cells = arena_array(&a, Cell, f->entry.nvars + 1),
                  .known = arena_array(&a, uint8_t, f->entry.nvars + 1) };

    for (size_t r = 0; r < f->exit.rows.len; r++) {
        const Row *row = &f->exit.rows.items[r];
        row_at_entry(&f->exit, &f->entry, row, &entry);
        for (uint64_t k = 0; k < row->count && k < MOST_REPEATED; k++) {
            put_sample(out, s, f, &f->entry, &entry, *nonce);
            put_sample(out, s, f, &f->exit, row, (*nonce)++);
        }
    }
    arena_release(&a);
}

bool export_daikon(const Samples *s, const char *path, Err *err)
{
    Str out = { 0 };
    uint64_t nonce = 1;

    str_add(&out, "decl-version 2.0\nvar-comparability implicit\n\n");
    for (size_t i = 0; i < s->functions.len; i++) {
        declare_point(&out, s->functions.items[i], &s->functions.items[i]->entry);
        declare_point(&out, s->functions.items[i], &s->functions.items[i]->exit);
    }
    for (size_t i = 0; i < s->functions.len; i++)
        put_calls(&out, s, s->functions.items[i], &nonce);
    bool ok = file_write(path, out.data, out.len, err);
    str_release(&out);
    return ok;
}

/* --- ACSL */

/* "orig(x)" becomes "\old(x)", "return" "\result", "NULL" "\null". */
static void as_acsl(const char *text, Str *out)
{
    static const struct {
        const char *c, *acsl;
    } words[] = { { "orig(", "\\old(" }, { "return", "\\result" }, { "NULL", "\\null" } };

    while (*text) {
        bool replaced = false;
        for (unsigned i = 0; i < sizeof words / sizeof *words && !replaced; i++) {
            size_t n = strlen(words[i].c);
            if (strncmp(text, words[i].c, n) == 0 &&
                (text[n - 1] == '(' || (!isalnum((unsigned char)text[n]) && text[n] != '_'))) {
                str_add(out, words[i].acsl);
                text += n;
                replaced = true;
            }
        }
        if (!replaced) {
            char word = *text++;
            str_addc(out, word);
            while ((isalnum((unsigned char)word) || word == '_') &&
                   (isalnum((unsigned char)*text) || *text == '_'))
                str_addc(out, word = *text++);
        }
    }
}

/* strcmp() and strlen() have no meaning there. */
static bool is_acsl(const Invariant *inv, const Point *p)
{
    if (!inv_is_c(inv, p))
        return false;
    for (unsigned i = 0; i < inv_arity(inv->kind); i++)
        if (p->vars[inv->v[i]].kind == VAR_STRING || strstr(p->vars[inv->v[i]].name, "strlen(") ||
            p->vars[inv->v[i]].role == ROLE_ERRNO)
            return false;
    return true;
}

/* index < size(p) becomes \valid(p + index). */
static bool put_valid(const Invariant *inv, const Point *p, const char *word, Str *out)
{
    if (inv->kind != INV_LESS || inv->guard || !str_starts(p->vars[inv->v[1]].name, "size("))
        return false;
    const char *name = p->vars[inv->v[1]].name;
    str_addf(out, "  %s \\valid(%.*s + (0 .. ", word, (int)strlen(name) - 6, name + 5);
    str_addf(out, "%s%s));\n", p->vars[inv->v[0]].name, inv->k[0].i < 0 ? "" : " - 1");
    return true;
}

static void put_acsl(const Contracts *c, const Point *p, const Invariants *list, const char *word,
                     Str *out)
{
    for (size_t i = 0; i < list->len; i++) {
        if (put_valid(&list->items[i], p, word, out) || !is_acsl(&list->items[i], p))
            continue;
        Str text = { 0 };
        inv_print(&list->items[i], p, c->samples, &text);
        str_addf(out, "  %s ", word);
        as_acsl(str_c(&text), out);
        str_add(out, ";\n");
        str_release(&text);
    }
}

void export_acsl(const Contracts *c, Str *out)
{
    for (size_t i = 0; i < c->functions.len; i++) {
        const FunctionContract *f = &c->functions.items[i];
        Str body = { 0 };
        put_acsl(c, &f->f->entry, &f->pre, "requires", &body);
        put_acsl(c, &f->f->exit, &f->post, "ensures", &body);
        if (body.len) {
            str_addf(out, "/*@\n%s*/\n%s;\n\n", str_c(&body), f->f->signature);
        }
        str_release(&body);
    }
}

/* --- a header */

static void put_comments(const Contracts *c, const Point *p, const Invariants *list,
                         const char *word, Str *out)
{
    for (size_t i = 0; i < list->len; i++) {
        Str text = { 0 };
        inv_print(&list->items[i], p, c->samples, &text);
        str_addf(out, " *   %-9s", word);
        escape_c_comment(out, str_c(&text), text.len);
        str_addc(out, '\n');
        str_release(&text);
    }
}

void export_header(const Contracts *c, const char *program, Str *out)
{
    str_add(out, "/* Contracts of ");
    escape_c_comment(out, program, strlen(program));
    str_add(out,
            ", likely from its runs. Include it behind the headers that declare the types. */\n");
    for (size_t i = 0; i < c->functions.len; i++) {
        const FunctionContract *f = &c->functions.items[i];
        if (!f->f->is_public || strcmp(f->f->name, "main") == 0 || (!f->pre.len && !f->post.len))
            continue;
        str_add(out, "\n/*\n");
        put_comments(c, &f->f->entry, &f->pre, "requires", out);
        put_comments(c, &f->f->exit, &f->post, "ensures", out);
        str_addf(out, " */\n%s;\n", f->f->signature);
    }
}

/* --- assert() */

/* One place in a source file where lines are put in. */
typedef struct Insertion {
    const char *file;
    size_t line;              /* from 0: before this one */
    char *text;               /* whole lines */
    unsigned nlines;
} Insertion;

typedef Vec(Insertion) Insertions;

static void split_lines(const Str *text, Strings *out)
{
    const char *at = str_c(text);

    while (*at) {
        const char *end = strchrnul(at, '\n');
        char *line = xstrndup(at, (size_t)(end - at));
        strings_add(out, line);
        free(line);
        at = *end ? end + 1 : end;
    }
}

/* The line behind the brace that opens the body of the function named at `line`
 * (from 1); 0: not found, or something stands behind the brace. */
static size_t body_line(const Strings *lines, unsigned line)
{
    int depth = 0;

    for (size_t i = line ? line - 1 : 0; i < lines->len && i < line + 20; i++)
        for (const char *p = lines->items[i]; *p; p++) {
            if (p[0] == '/' && (p[1] == '/' || p[1] == '*'))
                break;
            depth += (*p == '(') - (*p == ')');
            if (*p == ';' && depth == 0)
                return 0;
            if (*p == '{' && depth == 0)
                return p[1 + strspn(p + 1, " \t\r")] ? 0 : i + 1;
        }
    return 0;
}

/* Preconditions over parameters; a field is looked at only behind a pointer that is
 * known not to be NULL. */
static bool is_asserted(const FunctionContract *f, const Invariant *inv)
{
    const Point *p = &f->f->entry;

    if (!inv_is_c(inv, p) || inv->guard)
        return false;
    for (unsigned i = 0; i < inv_arity(inv->kind); i++) {
        const Var *v = &p->vars[inv->v[i]];
        bool guarded = v->role == ROLE_PARAM;
        if (v->kind == VAR_STRING || v->kind == VAR_FLOAT || strchr(v->name, '(') ||
            strchr(v->name, '['))
            return false;
        const char *arrow = strstr(v->name, "->");
        if (v->role == ROLE_GLOBAL || (arrow && strstr(arrow + 2, "->")) || v->name[0] == '*')
            return false;
        for (size_t k = 0; !guarded && k < f->pre.len; k++) {
            const Invariant *other = &f->pre.items[k];
            const Var *x = &p->vars[other->v[0]];
            guarded = other->kind == INV_NONZERO && x->role == ROLE_PARAM && x->param == v->param;
        }
        if (!guarded)
            return false;
    }
    return true;
}

static void add_asserts(const Contracts *c, const FunctionContract *f, const Strings *lines,
                        Insertions *out)
{
    Str text = { 0 };
    unsigned n = 0;
    size_t at = body_line(lines, f->f->line);

    for (int first = 1; first >= 0 && at; first--)        /* != NULL before the rest */
        for (size_t i = 0; i < f->pre.len; i++) {
            const Invariant *inv = &f->pre.items[i];
            const Var *v = &f->f->entry.vars[inv->v[0]];
            bool null = inv->kind == INV_NONZERO && v->kind == VAR_POINTER && v->role == ROLE_PARAM;
            if (null != first || !is_asserted(f, inv))
                continue;
            str_add(&text, "    assert(");
            inv_print(inv, &f->f->entry, c->samples, &text);
            str_add(&text, ");\n");
            n++;
        }
    if (n)
        vec_push(out, ((Insertion){ f->f->file, at, str_take(&text), n }));
    str_release(&text);
}

static int by_line(const void *a, const void *b)
{
    const Insertion *x = a, *y = b;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Lines of a text that goes into a hunk. */
static void put_added(const char *text, Str *out)
{
    while (*text) {
        const char *end = strchrnul(text, '\n');
        str_addc(out, '+');
        str_addn(out, text, (size_t)(end - text));
        str_addc(out, '\n');
        text = *end ? end + 1 : end;
    }
}

/* One hunk for insertions that are close to each other. */
static size_t put_hunk(const Insertions *all, size_t i, const Strings *lines, size_t *shift,
                       Str *out)
{
    enum { CONTEXT = 3 };
    size_t last = i, added = 0;

    while (last + 1 < all->len && all->items[last + 1].line <= all->items[last].line + 2 * CONTEXT)
        last++;
    size_t from = all->items[i].line > CONTEXT ? all->items[i].line - CONTEXT : 0;
    size_t to = all->items[last].line + CONTEXT;
    to = to > lines->len ? lines->len : to;
    for (size_t k = i; k <= last; k++)
        added += all->items[k].nlines;
    str_addf(out, "@@ -%zu,%zu +%zu,%zu @@\n", from + 1, to - from, from + 1 + *shift,
             to - from + added);
    for (size_t l = from; l < to; l++) {
        for (size_t k = i; k <= last; k++)
            if (all->items[k].line == l)
                put_added(all->items[k].text, out);
        str_addf(out, " %s\n", lines->items[l]);
    }
    for (size_t k = i; k <= last; k++)
        if (all->items[k].line == to)
            put_added(all->items[k].text, out);
    *shift += added;
    return last + 1;
}

static bool includes_assert(const Strings *lines, size_t *last)
{
    bool found = false;

    for (size_t i = 0; i < lines->len; i++) {
        const char *p = lines->items[i] + strspn(lines->items[i], " \t");
        if (str_starts(p, "#include")) {
            *last = i + 1;
            found |= strstr(p, "<assert.h>") != NULL;
        }
        if (str_starts(p, "#if"))
            return found;              /* what follows may be left out */
    }
    return found;
}

static bool put_file(const Contracts *c, const char *file, const char *root, Str *out, Err *err)
{
    Str text = { 0 };
    Strings lines = { 0 };
    Insertions all = { 0 };
    size_t last = 0, shift = 0;

    if (!file_read(file, &text, err))
        return false;
    split_lines(&text, &lines);
    for (size_t i = 0; i < c->functions.len; i++)
        if (strcmp(c->functions.items[i].f->file, file) == 0)
            add_asserts(c, &c->functions.items[i], &lines, &all);
    if (all.len && !includes_assert(&lines, &last))
        vec_push(&all, ((Insertion){ file, last, xstrdup("#include <assert.h>\n"), 1 }));
    if (all.len) {
        char *name = path_relative(file, root);
        qsort(all.items, all.len, sizeof *all.items, by_line);
        str_addf(out, "--- a/%s\n+++ b/%s\n", name, name);
        for (size_t i = 0; i < all.len;)
            i = put_hunk(&all, i, &lines, &shift, out);
        free(name);
    }
    for (size_t i = 0; i < all.len; i++)
        free(all.items[i].text);
    vec_release(&all);
    strings_release(&lines);
    str_release(&text);
    return true;
}

bool export_asserts(const Contracts *c, const char *root, Str *out, Err *err)
{
    Map done = { 0 };
    bool ok = true;

    for (size_t i = 0; i < c->functions.len && ok; i++) {
        const char *file = c->functions.items[i].f->file;
        if (*file && file_exists(file) && map_put(&done, file, (void *)1))
            ok = put_file(c, file, root, out, err);
    }
    map_release(&done);
    return ok;
}
