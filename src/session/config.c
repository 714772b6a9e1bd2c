/*
 * sundew.ini, the project's settings: the long options by name.
 *
 *     # for every command
 *     jobs = 2
 *     [arguments]
 *     threshold = 0.6
 *
 * What the command line says wins. A section for another command is checked
 * only for its name.
 *
 * A project that was fetched brings its sundew.ini along. So a file that was found, and not named with
 * --config, can't take protections away, name commands, or name files outside of the project.
 */
#include "base/escape.h"
#include "base/file.h"
#include "session/session_int.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static char *trim(char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    char *end = p + strlen(p);
    while (end > p && isspace((unsigned char)end[-1]))
        *--end = 0;
    return p;
}

static const Command *command_named(const Session *s, const char *name)
{
    for (const Command *const *c = s->commands; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

static bool is_off(const char *text)
{
    return strcmp(text, "no") == 0 || strcmp(text, "false") == 0 || strcmp(text, "off") == 0 ||
           strcmp(text, "0") == 0;
}

static bool is_on(const char *text)
{
    return strcmp(text, "yes") == 0 || strcmp(text, "true") == 0 || strcmp(text, "on") == 0 ||
           strcmp(text, "1") == 0;
}

/* Is `path` in the project's folder, links followed as far as there is something? */
static bool is_inside(const Session *s, const char *path)
{
    char *full = path_absolute(path), *root = path_real(s->root), *real = NULL;
    for (;;) {
        real = path_real(full);
        char *slash = strrchr(full, '/');
        if (real || !slash || slash == full)
            break;
        *slash = 0;
    }
    size_t n = root ? strlen(root) : 0;
    bool inside = root && real && strncmp(real, root, n) == 0 && (!real[n] || real[n] == '/');
    free(full);
    free(root);
    free(real);
    return inside;
}

static bool may_set(const Session *s, const Option *o, const char *value)
{
    static const char *const never[] = {
        "no-sandbox", "network", "writable", "udf", "oracle", NULL
    };
    static const char *const paths[] = { "FILE", "DIR", "PATH", NULL };
    return !str_is_one_of(o->name, never) && (!o->arg || !str_is_one_of(o->arg, paths) ||
                                              strcmp(value, "-") == 0 || is_inside(s, value));
}

/* Settings of the project stand before those of the command line, so that the
 * last one wins. */
static bool setting(Session *s, const Command *in, const char *file, int line, char *key,
                    char *value, bool found, size_t *at, Err *err)
{
    const Option *o = option_find(in, key);
    if (!o || strcmp(key, "workspace") == 0 || strcmp(key, "config") == 0 ||
        strcmp(key, "help") == 0 || strcmp(key, "print-config") == 0)
        return err_set(err, "%s:%d: no setting '%s'", file, line, key);
    if (found && !(!o->arg && is_off(value)) && !may_set(s, o, value))
        return err_set(err,
                       "%s:%d: a project may not set '%s' to this: say it on the command line, or "
                       "name the file with --config",
                       file, line, key);
    if (!o->arg && is_off(value))
        return true;
    if (!o->arg && !is_on(value))
        return err_set(err, "%s:%d: %s is yes or no", file, line, key);
    vec_grow(&s->values);
    memmove(&s->values.items[*at + 1], &s->values.items[*at],
            (s->values.len - 1 - *at) * sizeof *s->values.items);
    Value *v = &s->values.items[(*at)++];
    v->option = o;
    v->text = xstrdup(o->arg ? value : "");
    v->origin = xprintf("%s:%d", path_base(file), line);
    return true;
}

bool config_read(Session *s, const char *path, bool found, Err *err)
{
    Str text = { 0 };
    if (!file_read(path, &text, err))
        return false;
    bool ok = true, mine = true;
    const Command *in = s->command;      /* without a command: all are read */
    size_t at = 0;
    int line = 0;
    for (char *p = text.data, *next; ok && p && *p; p = next) {
        size_t n = strcspn(p, "\n");
        next = p + n + (p[n] == '\n');
        p[n] = 0;
        line++;
        char *word = trim(p);
        char *equals = strchr(word, '=');
        if (!*word || *word == '#' || *word == ';')
            continue;
        size_t len = strlen(word);
        if (*word == '[' && word[len - 1] == ']') {
            word[len - 1] = 0;
            char *section = trim(word + 1);
            in = command_named(s, section);
            mine = in && (!s->command || in == s->command);
            if (!in)
                ok = err_set(err, "%s:%d: no command '%s'", path, line, section);
        } else if (!equals) {
            ok = err_set(err, "%s:%d: expected 'name = value' or '[command]'", path, line);
        } else if (mine) {
            *equals = 0;
            ok = setting(s, in, path, line, trim(word), trim(equals + 1), found, &at, err);
        }
    }
    str_release(&text);
    return ok;
}

static void print_one(Session *s, const Option *o, Str *out)
{
    const char *text = o->otherwise, *origin = "default";
    for (size_t i = 0; i < s->values.len; i++) {
        if (s->values.items[i].option != o)
            continue;
        text = o->arg ? s->values.items[i].text : "yes";
        origin = s->values.items[i].origin;
    }
    if (!text)
        text = o->arg ? "" : "no";
    str_addf(out, "%s = ", o->name);
    escape_terminal_z(out, text);
    str_add(out, "    # ");
    escape_terminal_z(out, origin);
    str_addc(out, '\n');
}

void config_print(Session *s, Str *out)
{
    for (const Option *o = common_options; o->name; o++)
        print_one(s, o, out);
    for (const Command *const *c = s->commands; *c; c++) {
        if ((s->command && *c != s->command) || !(*c)->options)
            continue;
        str_addf(out, "[%s]\n", (*c)->name);
        for (const Option *o = (*c)->options; o->name; o++)
            print_one(s, o, out);
    }
}
