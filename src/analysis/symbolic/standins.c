/* Reading lines of share/standins: a kind, then names or a name and numbers. */
#include "analysis/symbolic/standins.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include <ctype.h>
#include <string.h>

struct Standins {
    Arena arena;
    Map functions;           /* name -> Standin */
};

static const char *const kinds[] = {
    [STANDIN_OWN] = "own",       [STANDIN_ALWAYS] = "always",
    [STANDIN_PIN] = "pin",       [STANDIN_CONCRETISE] = "concretise",
    [STANDIN_IGNORE] = "ignore", NULL,
};

const char *standin_kind_name(StandinKind k) { return kinds[k]; }

typedef struct Parser {
    Standins *all;
    const char *path;
    unsigned line;
    Err *err;
} Parser;

static bool bad(Parser *p, const char *what, const char *word)
{
    return err_set(p->err, "%s:%u: %s '%.60s'", p->path, p->line, what, word);
}

static bool is_name(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && s[i] != '_')
            return false;
    return n > 0 && n < 200 && !isdigit((unsigned char)*s);
}

static Standin *add(Parser *p, StandinKind kind, const char *name)
{
    Standins *all = p->all;
    Standin *m = arena_new(&all->arena, Standin);
    m->name = arena_strdup(&all->arena, name);
    m->kind = kind;
    m->where = arena_printf(&all->arena, "%s:%u", p->path, p->line);
    map_put(&all->functions, name, m);
    return m;
}

/* NAME or NAME=OTHER. */
static bool add_own(Parser *p, StandinKind kind, char *word)
{
    char *equals = strchr(word, '=');
    const char *other = equals ? equals + 1 : word;
    if (equals)
        *equals = 0;
    if (!is_name(word, strlen(word)) || !is_name(other, strlen(other)))
        return bad(p, "not the name of a function:", word);
    Standin *m = add(p, kind, word);
    m->own = arena_printf(&p->all->arena, "sundew_standin_%s", other);
    return true;
}

static bool add_argument(Parser *p, Standin *m, const char *word)
{
    char *end;
    unsigned long n = strtoul(word, &end, 10);
    if (*end || n < 1 || n > 32)
        return bad(p, "not the number of an argument (1 to 32):", word);
    m->arguments |= 1u << (n - 1);
    return true;
}

static bool kind_of(const char *word, StandinKind *kind)
{
    for (size_t i = 0; kinds[i]; i++)
        if (strcmp(kinds[i], word) == 0) {
            *kind = (StandinKind)i;
            return true;
        }
    return false;
}

static bool parse_line(Parser *p, char *line)
{
    char *state, *word = strtok_r(line, " \t\r", &state);
    StandinKind kind;
    Standin *pinned = NULL;
    size_t n = 0;
    if (!word)
        return true;
    if (!kind_of(word, &kind)) {
        const char *near = str_nearest(word, kinds);
        return near ? err_set(p->err, "%s:%u: no kind '%.60s'; did you mean '%s'?", p->path,
                              p->line, word, near)
                    : bad(p, "no kind", word);
    }
    while ((word = strtok_r(NULL, " \t\r", &state))) {
        n++;
        if (pinned) {
            if (!add_argument(p, pinned, word))
                return false;
        } else if (kind == STANDIN_OWN || kind == STANDIN_ALWAYS) {
            if (!add_own(p, kind, word))
                return false;
        } else if (!is_name(word, strlen(word))) {
            return bad(p, "not the name of a function:", word);
        } else {
            Standin *m = add(p, kind, word);
            pinned = kind == STANDIN_PIN ? m : NULL;
        }
    }
    return n > 0 || bad(p, "a function's name is missing behind", kinds[kind]);
}

Standins *standins_new(void) { return xcalloc(1, sizeof(Standins)); }

void standins_free(Standins *all)
{
    if (!all)
        return;
    map_release(&all->functions);
    arena_release(&all->arena);
    free(all);
}

bool standins_read_text(Standins *all, const char *text, const char *path, Err *err)
{
    Parser p = { all, path, 0, err };
    bool ok = true;
    while (ok && *text) {
        size_t n = strcspn(text, "\n"), cut = strcspn(text, "#\n");
        char *line = xstrndup(text, cut < n ? cut : n);
        p.line++;
        ok = parse_line(&p, line);
        free(line);
        text += n + (text[n] == '\n');
    }
    return ok;
}

bool standins_read(Standins *all, const char *path, Err *err)
{
    Str text = { 0 };
    bool ok = file_read(path, &text, err);
    if (ok && strlen(str_c(&text)) != text.len)
        ok = err_set(err, "%s: not a text file", path);
    ok = ok && standins_read_text(all, str_c(&text), path, err);
    str_release(&text);
    return ok;
}

bool standins_read_folder(Standins *all, const char *folder, Err *err)
{
    Strings names = { 0 };
    bool ok = dir_list(folder, &names, err);
    for (size_t i = 0; ok && i < names.len; i++)
        if (str_ends(names.items[i], ".txt")) {
            char *path = path_join(folder, names.items[i]);
            ok = standins_read(all, path, err);
            free(path);
        }
    strings_release(&names);
    return ok;
}

const Standin *standins_find(const Standins *all, const char *name)
{
    static const char *const before[] = { "__isoc99_", "__isoc23_", NULL };
    const Standin *m = map_get(&all->functions, name);
    for (size_t i = 0; !m && before[i]; i++)
        if (str_starts(name, before[i]))
            m = map_get(&all->functions, name + strlen(before[i]));
    size_t n = strlen(name);
    if (!m && n > 2 && strcmp(name + n - 2, "64") == 0)
        m = map_getn(&all->functions, name, n - 2);
    return m;
}

size_t standins_count(const Standins *all) { return all->functions.len; }

const Standin *standins_at(const Standins *all, size_t i)
{
    return all->functions.entries[i].value;
}
