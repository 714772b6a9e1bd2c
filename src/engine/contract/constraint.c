/* Constraints as text, and the points that they relate: see constraint.h. */
#include "engine/contract/constraint.h"
#include "base/escape.h"
#include "base/file.h"
#include <assert.h>
#include <ctype.h>
#include <string.h>

static const struct {
    const char *name;
    bool from_exit, to_exit;  /* rows go from `from` to `to`, but for Follows */
} rows[CONSTRAINT_N] = {
    [CONSTRAINT_ONLY_VARIABLE] = { "OnlyCareAboutVariable", false, false },
    [CONSTRAINT_ONLY_FIELD] = { "OnlyCareAboutField", false, false },
    [CONSTRAINT_SUBDOMAIN] = { "Subdomain", false, false },
    [CONSTRAINT_SUBRANGE] = { "Subrange", true, true },
    [CONSTRAINT_CAN_FOLLOW] = { "CanFollow", true, false },
    [CONSTRAINT_FOLLOWS] = { "Follows", false, true },
    [CONSTRAINT_CONCORD] = { "Concord", true, true },
};

static const struct {
    const char *text;
    Guard guard;
} conditions[] = {
    { "return == 0", GUARD_ZERO },    { "return == NULL", GUARD_ZERO },
    { "return != 0", GUARD_NONZERO }, { "return != NULL", GUARD_NONZERO },
    { "return < 0", GUARD_NEGATIVE }, { "return >= 0", GUARD_NOT_NEGATIVE },
};

const char *constraint_kind_name(ConstraintKind k)
{
    assert(k < CONSTRAINT_N);
    return rows[k].name;
}

static bool is_only(ConstraintKind k)
{
    return k == CONSTRAINT_ONLY_VARIABLE || k == CONSTRAINT_ONLY_FIELD;
}

/* --- reading */

static char *trimmed(Arena *a, const char *s, size_t n)
{
    while (n && isspace((unsigned char)*s)) {
        s++;
        n--;
    }
    while (n && isspace((unsigned char)s[n - 1]))
        n--;
    return arena_strndup(a, s, n);
}

/* "a, b, c" as a list that ends with NULL. */
static char **split_list(Arena *a, const char *s, size_t n)
{
    size_t room = 2, k = 0;

    for (size_t i = 0; i < n; i++)
        room += s[i] == ',';
    char **list = arena_array(a, char *, room + 1);
    while (n) {
        const char *comma = memchr(s, ',', n);
        size_t len = comma ? (size_t)(comma - s) : n;
        list[k++] = trimmed(a, s, len);
        s += len + (comma != NULL);
        n -= len + (comma != NULL);
    }
    return list;
}

static bool parse_condition(char *function, Guard *when, Err *err)
{
    char *colon = strchr(function, ':');

    *when = GUARD_NONE;
    if (!colon || colon[1] == ':' || (colon > function && strchr(colon + 1, ':')))
        colon = NULL;
    for (char *c = function; (c = strchr(c, ':')); c++)
        if (c[1] == ' ')
            colon = c;
    if (!colon || colon[1] != ' ')
        return true;
    const char *text = colon + 1;
    while (*text == ' ')
        text++;
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        if (strcmp(conditions[i].text, text) == 0) {
            *when = conditions[i].guard;
            while (colon > function && colon[-1] == ' ')
                colon--;
            *colon = 0;
            return true;
        }
    return err_set(err, "'%s' is no condition; write return == 0, != 0, < 0 or >= 0", text);
}

static bool parse_only(Arena *a, Constraint *c, const char *inside, size_t n, Err *err)
{
    const char *colon = memchr(inside, ':', n);

    for (const char *p = inside; p + 1 < inside + n; p++)
        if (p[0] == ':' && p[1] == ' ')
            colon = p;
    if (!colon)
        return err_set(err, "write %s(FUNCTION: NAME, …)", constraint_kind_name(c->kind));
    c->from = trimmed(a, inside, (size_t)(colon - inside));
    c->to = "";
    c->names = split_list(a, colon + 1, n - (size_t)(colon + 1 - inside));
    return *c->from && c->names[0] && *c->names[0] ? true : err_set(err, "a name is missing");
}

static bool parse_pair(Arena *a, Constraint *c, const char *inside, size_t n, Err *err)
{
    char **list = split_list(a, inside, n);

    if (!list[0] || !list[1] || list[2] || !*list[0] || !*list[1])
        return err_set(err, "write %s(FUNCTION, FUNCTION)", constraint_kind_name(c->kind));
    if (!parse_condition(list[0], &c->when, err))
        return false;
    if (c->when && c->kind != CONSTRAINT_CAN_FOLLOW)
        return err_set(err, "only CanFollow takes a condition");
    c->from = list[0];
    c->to = list[1];
    return true;
}

static bool parse_line(Arena *a, const char *line, Constraint *c, Err *err)
{
    const char *open = strchr(line, '('), *end = open ? strrchr(line, ')') : NULL;

    if (!end || end[1])
        return err_set(err, "no constraint; write KIND(FUNCTION, FUNCTION)");
    char *kind = trimmed(a, line, (size_t)(open - line));
    const char *known[CONSTRAINT_N + 1] = { 0 };
    for (unsigned k = 0; k < CONSTRAINT_N; k++) {
        known[k] = rows[k].name;
        if (strcmp(rows[k].name, kind) != 0)
            continue;
        *c = (Constraint){ .kind = (ConstraintKind)k };
        size_t n = (size_t)(end - open - 1);
        return is_only(c->kind) ? parse_only(a, c, open + 1, n, err)
                                : parse_pair(a, c, open + 1, n, err);
    }
    const char *near = str_nearest(kind, known);
    return err_set(err, "no kind of constraint is called '%s'%s%s%s", kind,
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

bool constraints_parse(const char *text, const char *path, Constraints *out, Err *err)
{
    unsigned number = 0;

    for (const char *line = text; *line;) {
        const char *end = strchrnul(line, '\n');
        const char *hash = memchr(line, '#', (size_t)(end - line));
        char *plain = trimmed(&out->arena, line, (size_t)((hash ? hash : end) - line));
        Constraint c;
        number++;
        if (*plain) {
            if (!parse_line(&out->arena, plain, &c, err))
                return err_ctx(err, "%s:%u", path, number);
            c.line = number;
            vec_push(&out->items, c);
        }
        line = *end ? end + 1 : end;
    }
    return true;
}

bool constraints_read(const char *path, Constraints *out, Err *err)
{
    Str text = { 0 };
    bool ok = file_read(path, &text, err);

    if (ok && memchr(str_c(&text), 0, text.len))
        ok = err_set(err, "%s: not a text file", path);
    ok = ok && constraints_parse(str_c(&text), path, out, err);
    str_release(&text);
    return ok;
}

void constraints_release(Constraints *c)
{
    vec_release(&c->items);
    arena_release(&c->arena);
}

void constraint_print(const Constraint *c, Str *out)
{
    str_addf(out, "%s(", constraint_kind_name(c->kind));
    escape_terminal_z(out, c->from);
    for (size_t i = 0; c->when && i < sizeof conditions / sizeof *conditions; i++)
        if (conditions[i].guard == c->when) {
            str_addf(out, ": %s", conditions[i].text);
            break;
        }
    for (char *const *n = c->names; n && *n; n++) {
        str_add(out, n == c->names ? ": " : ", ");
        escape_terminal_z(out, *n);
    }
    if (!is_only(c->kind)) {
        str_add(out, ", ");
        escape_terminal_z(out, c->to);
    }
    str_addc(out, ')');
}

/* --- what is related */

bool constraint_points(const Constraint *c, const Samples *s, const FunctionSamples **from,
                       const FunctionSamples **to, bool *from_exit, bool *to_exit)
{
    if (is_only(c->kind))
        return false;
    const FunctionSamples *a = samples_find(s, c->from), *b = samples_find(s, c->to);
    bool turned = c->kind == CONSTRAINT_FOLLOWS;
    if (!a || !b)
        return false;
    *from = turned ? b : a;
    *to = turned ? a : b;
    *from_exit = rows[c->kind].from_exit;
    *to_exit = rows[c->kind].to_exit;
    return true;
}

/*
 * Between an exit and an entry lies time: only state matches, memory and globals.
 * Between two entries or two exits parameters and results match, too. Their keys
 * are equal only if the functions have as many parameters.
 */
int constraint_match(ConstraintKind k, const Point *from, const Point *to, unsigned v)
{
    const Var *x = &to->vars[v];
    bool across = k == CONSTRAINT_CAN_FOLLOW || k == CONSTRAINT_FOLLOWS;

    if (!*x->key)
        return -1;
    if (across && (x->orig || (x->role != ROLE_MEMORY && x->role != ROLE_GLOBAL)))
        return -1;
    int at = point_key(from, x->key);
    if (at < 0 || from->vars[at].kind != x->kind ||
        (across && from->vars[at].role != ROLE_MEMORY && from->vars[at].role != ROLE_GLOBAL))
        return -1;
    return at;
}

static bool have_common(ConstraintKind k, const Point *from, const Point *to)
{
    for (unsigned v = 0; v < to->nvars; v++)
        if (constraint_match(k, from, to, v) >= 0)
            return true;
    return false;
}

static bool function_exists(const Samples *s, const char *name, const Constraint *c, Err *err)
{
    if (samples_find(s, name))
        return true;
    const char **names = xcalloc(s->functions.len + 1, sizeof *names);
    for (size_t i = 0; i < s->functions.len; i++)
        names[i] = s->functions.items[i]->name;
    const char *near = str_nearest(name, names);
    Str text = { 0 };
    constraint_print(c, &text);
    err_set(err, "line %u: %s: no function '%s' was recorded%s%s%s", c->line, str_c(&text), name,
            near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    str_release(&text);
    free(names);
    return false;
}

static bool names_exist(const Samples *s, const Constraint *c, Err *err)
{
    const FunctionSamples *f = samples_find(s, c->from);

    for (char *const *n = c->names; *n; n++) {
        bool found = false;
        for (unsigned v = 0; !found && v < f->entry.nvars; v++)
            found = strstr(f->entry.vars[v].name, *n) != NULL;
        if (!found && f->entry.nvars)
            return err_set(err, "line %u: %s has no variable or field '%s'", c->line, c->from, *n);
    }
    return true;
}

bool constraints_match(const Constraints *all, const Samples *s, Err *err)
{
    for (size_t i = 0; i < all->items.len; i++) {
        const Constraint *c = &all->items.items[i];
        const FunctionSamples *from, *to;
        bool from_exit, to_exit;
        if (!function_exists(s, c->from, c, err) || (*c->to && !function_exists(s, c->to, c, err)))
            return false;
        if (c->names && !names_exist(s, c, err))
            return false;
        if (!constraint_points(c, s, &from, &to, &from_exit, &to_exit))
            continue;
        const Point *p = from_exit ? &from->exit : &from->entry;
        const Point *q = to_exit ? &to->exit : &to->entry;
        if (p->nvars && q->nvars && !have_common(c->kind, p, q)) {
            Str text = { 0 };
            constraint_print(c, &text);
            err_set(err, "line %u: %s: the two have no variable in common", c->line, str_c(&text));
            str_release(&text);
            return false;
        }
    }
    return true;
}
