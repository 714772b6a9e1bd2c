/*
 * How a call of the candidate is made on the reference: the functions that create an
 * object are not part of the common interface, so somebody has to say which equals which.
 *
 *     fast_open(int, size_t) -> tree_open(2)             its second argument
 *     fast_open(int, size_t) -> tree_open(2, "default")  … and a text
 *     fast_open(int, size_t) -> tree_open(=0, NULL)      the number 0, NULL
 *
 * Without a line for it, a creator of the candidate equals the creator of the reference
 * with the same parameter types; of several the one whose name is most alike.
 */
#include "base/file.h"
#include "technique/substitutes/substitutes_int.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- the file */

static char *trim(char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    size_t n = strlen(s);
    while (n && isspace((unsigned char)s[n - 1]))
        s[--n] = 0;
    return s;
}

/* "name(inside)": both, in place. */
static bool split_call(char *s, char **name, char **inside)
{
    char *open = strchr(s, '('), *close = strrchr(s, ')');
    if (!open || !close || close < open || *trim(close + 1))
        return false;
    *open = *close = 0;
    *name = trim(s);
    *inside = trim(open + 1);
    return **name != 0;
}

static bool parse_arg(Arena *a, char *word, ArgFrom *out)
{
    size_t n = strlen(word);
    char *end;
    *out = (ArgFrom){ .place = -1 };
    if (n >= 2 && word[0] == '"' && word[n - 1] == '"') {
        word[n - 1] = 0;
        out->value = value_string(a, word + 1);
        return true;
    }
    if (strcmp(word, "NULL") == 0) {
        out->value = value_null();
        return true;
    }
    bool constant = *word == '=';
    long long v = strtoll(word + constant, &end, 0);
    if (end == word + constant || *end)
        return false;
    if (constant)
        out->value = value_integer((uint64_t)v);
    else
        out->place = (int)v - 1;
    return constant || (v >= 1 && v <= 64);
}

static bool parse_row(Arena *a, char *line, MappingRow *row)
{
    char *arrow = strstr(line, "->"), *from, *to, *types, *args, *rest;
    row->text = arena_strdup(a, trim(line));
    if (!arrow)
        return false;
    *arrow = 0;
    if (!split_call(line, &from, &types) || !split_call(arrow + 2, &to, &args))
        return false;
    row->from = arena_strdup(a, from);
    row->to = arena_strdup(a, to);
    row->args = arena_array(a, ArgFrom, 64);
    for (char *w = strtok_r(args, ",", &rest); w && row->nargs < 64; w = strtok_r(NULL, ",", &rest))
        if (!parse_arg(a, trim(w), &row->args[row->nargs++]))
            return false;
    return true;
}

bool mapping_read(const char *path, Arena *a, Mapping *out, Err *err)
{
    Str text = { 0 };
    bool ok = file_read(path, &text, err);
    unsigned number = 0;
    for (char *s = text.data, *next; ok && s; s = next) {
        next = strchr(s, '\n');
        if (next)
            *next++ = 0;
        number++;
        s[strcspn(s, "#")] = 0;
        if (!*trim(s))
            continue;
        MappingRow row = { 0 };
        ok = parse_row(a, s, &row) ||
             err_set(err, "%s:%u: expected CANDIDATE(TYPES) -> REFERENCE(1, =2, \"text\")", path,
                     number);
        vec_push(out, row);
    }
    str_release(&text);
    return ok;
}

/* ---- maps */

bool mapping_apply(const MappingRow *row, const ApiFunction *to, Arena *a, CallMap *out)
{
    if (row->nargs != to->nparams)
        return false;
    out->to = to;
    out->args = arena_array(a, ArgFrom, to->nparams + 1);
    memcpy(out->args, row->args, row->nargs * sizeof *row->args);
    out->mapping = row->text;
    return true;
}

void mapping_identity(Arena *a, const ApiFunction *to, CallMap *out)
{
    out->to = to;
    out->args = arena_array(a, ArgFrom, to->nparams + 1);
    for (unsigned i = 0; i < to->nparams; i++) {
        bool pinned = to->pinned && i < to->nfixed && to->pinned[i].kind == VALUE_FUNCTION;
        out->args[i] = pinned ? (ArgFrom){ -1, to->pinned[i] } : (ArgFrom){ .place = (int)i };
    }
}

static bool same_parameters(const ApiFunction *a, const ApiFunction *b)
{
    if (a->nparams != b->nparams)
        return false;
    for (unsigned i = 0; i < a->nparams; i++) {
        const Type *x = type_plain(a->params[i].type), *y = type_plain(b->params[i].type);
        if (x != y)
            return false;
    }
    return true;
}

static size_t alike(const char *a, const char *b)
{
    size_t n = 0, m = 0, la = strlen(a), lb = strlen(b);
    while (a[n] && a[n] == b[n])
        n++;
    while (m < la && m < lb && a[la - 1 - m] == b[lb - 1 - m])
        m++;
    return n + m;
}

bool mapping_guess(Arena *a, const ApiFunction *f, const ApiFunction *const *creators, size_t n,
                   CallMap *out)
{
    const ApiFunction *best = NULL;
    size_t points = 0;
    for (size_t i = 0; i < n; i++) {
        size_t now = alike(f->name, creators[i]->name);
        if (same_parameters(f, creators[i]) && (!best || now > points)) {
            best = creators[i];
            points = now;
        }
    }
    if (!best)
        return false;
    mapping_identity(a, best, out);
    out->mapping =
        best->fn == f->fn && !best->pinned
            ? NULL
            : arena_printf(a, "%s() -> %s(): %s", f->name, best->name,
                           best->fn == f->fn ? "the table is its argument" : "equal parameters");
    return true;
}
