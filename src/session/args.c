/*
 * sundew [OPTION…] COMMAND [OPTION…] [ARG…] [-- ARG…]
 *
 * Options stand anywhere before "--"; those of the command after its name. A
 * long option may be shortened as far as it stays unique.
 */
#include "base/escape.h"
#include "base/str.h"
#include "session/session_int.h"
#include <stdlib.h>
#include <string.h>

const Option common_options[] = {
    { "workspace", 'w', "DIR",
      "the workspace; without it .sundew in the nearest "
      "parent that has one, else here",
      NULL },
    { "time", 0, "DURATION", "stop after this long: 90s, 5m, 1h30m", NULL },
    { "jobs", 'j', "N", "use that many processor cores", NULL },
    { "memory", 0, "SIZE", "use at most this much memory: 512M, 4G", NULL },
    { "seed", 0, "N", "for repeatable random choices", "1" },
    { "json", 0, NULL, "write JSON to standard output", NULL },
    { "tap", 0, NULL, "write findings as TAP", NULL },
    { "github", 0, NULL, "write findings as GitHub annotations", NULL },
    { "sarif", 0, "FILE", "write findings as SARIF 2.1.0 too", NULL },
    { "junit", 0, "FILE", "write findings as JUnit XML too", NULL },
    { "html", 0, "FILE", "write findings as one HTML page too", NULL },
    { "gitlab", 0, "FILE", "write findings as GitLab's code quality report too", NULL },
    { "markdown", 0, "FILE", "write a summary as Markdown too", NULL },
    { "label", 0, "NAME",
      "keep these findings under this name, beside those of other runs on the program", NULL },
    { "docs-url", 0, "URL", "where the pages of share/rules/ are on the web, for links in SARIF",
      SUNDEW_DOCS_URL },
    { "all", 0, NULL, "show suppressed and baseline findings too", NULL },
    { "quiet", 'q', NULL, "only results and errors", NULL },
    { "verbose", 'v', NULL, "say more", NULL },
    { "color", 0, "WHEN", "auto, always or never", "auto" },
    { "config", 0, "FILE",
      "the project's settings; without it sundew.ini in the "
      "project's folder",
      NULL },
    { "print-config", 0, NULL,
      "show every setting and where it comes from, then "
      "stop",
      NULL },
    { "help", 'h', NULL, "help for the command", NULL },
    { 0 },
};

static const Option *search(const Option *list, const char *name, size_t n, bool exact,
                            size_t *hits)
{
    const Option *found = NULL;
    for (; list && list->name; list++) {
        if (strncmp(list->name, name, n) != 0 || (exact && list->name[n]))
            continue;
        found = list;
        ++*hits;
    }
    return found;
}

const Option *option_find(const Command *c, const char *name)
{
    size_t hits = 0, n = strlen(name);
    const Option *o = c ? search(c->options, name, n, true, &hits) : NULL;
    return o ? o : search(common_options, name, n, true, &hits);
}

/* By an unambiguous beginning. */
static const Option *by_beginning(const Command *c, const char *name, size_t n)
{
    size_t hits = 0;
    const Option *own = c ? search(c->options, name, n, false, &hits) : NULL;
    const Option *common = search(common_options, name, n, false, &hits);
    return hits != 1 ? NULL : own ? own : common;
}

static bool unknown_option(const Command *c, const char *word, Err *err)
{
    Vec(const char *) names = { 0 };
    for (const Option *o = c ? c->options : NULL; o && o->name; o++)
        vec_push(&names, o->name);
    for (const Option *o = common_options; o->name; o++)
        vec_push(&names, o->name);
    vec_push(&names, NULL);
    Str shown = { 0 };
    escape_terminal_z(&shown, word);
    const char *near = str_nearest(word + strspn(word, "-"), names.items);
    if (near)
        err_set(err, "unknown option %s; did you mean --%s?", str_c(&shown), near);
    else
        err_set(err, "unknown option %s; see: sundew help%s%s", str_c(&shown), c ? " " : "",
                c ? c->name : "");
    str_release(&shown);
    vec_release(&names);
    return false;
}

static void set(Session *s, const Option *o, const char *text)
{
    Value *v = vec_grow(&s->values);
    v->option = o;
    v->text = xstrdup(text);
    v->origin = xstrdup("command line");
}

/* --name, --name=value, --name value */
static bool long_option(Session *s, int argc, char **argv, int *i, Err *err)
{
    const char *name = argv[*i] + 2, *equals = strchr(name, '=');
    char *alone = equals ? xstrndup(name, (size_t)(equals - name)) : xstrdup(name);
    const Option *o = option_find(s->command, alone);
    if (!o)
        o = by_beginning(s->command, alone, strlen(alone));
    bool ok = true;
    if (!o)
        ok = unknown_option(s->command, argv[*i], err);
    else if (!o->arg && equals)
        ok = err_set(err, "--%s takes no value", o->name);
    else if (o->arg && !equals && *i + 1 >= argc)
        ok = err_set(err, "--%s needs a value: %s", o->name, o->arg);
    else
        set(s, o, !o->arg ? "" : equals ? equals + 1 : argv[++*i]);
    free(alone);
    return ok;
}

static const Option *by_letter(const Command *c, char letter)
{
    const Option *lists[] = { c ? c->options : NULL, common_options };
    for (int k = 0; k < 2; k++)
        for (const Option *o = lists[k]; o && o->name; o++)
            if (o->letter == letter)
                return o;
    return NULL;
}

/* -q, -qv, -wDIR, -w DIR */
static bool short_options(Session *s, int argc, char **argv, int *i, Err *err)
{
    for (const char *p = argv[*i] + 1; *p; p++) {
        const Option *o = by_letter(s->command, *p);
        if (!o)
            return unknown_option(s->command, argv[*i], err);
        if (!o->arg) {
            set(s, o, "");
            continue;
        }
        if (!p[1] && *i + 1 >= argc)
            return err_set(err, "-%c needs a value: %s", *p, o->arg);
        set(s, o, p[1] ? p + 1 : argv[++*i]);
        return true;
    }
    return true;
}

/* The command named by argv[i], or by two words; *i moves to the last. */
static bool find_command(Session *s, int argc, char **argv, int *i, Err *err)
{
    const char *word = argv[*i];
    char *two = *i + 1 < argc ? xprintf("%s %s", word, argv[*i + 1]) : xstrdup(word);
    Vec(const char *) names = { 0 };
    bool group = false;
    for (const Command *const *c = s->commands; *c; c++) {
        if (strcmp((*c)->name, two) == 0) {
            s->command = *c;
            ++*i;
            break;
        }
        if (strcmp((*c)->name, word) == 0)
            s->command = *c;
        size_t n = strlen(word);
        group |= strncmp((*c)->name, word, n) == 0 && (*c)->name[n] == ' ';
        if (!(*c)->hidden)
            vec_push(&names, (*c)->name);
    }
    vec_push(&names, NULL);
    if (!s->command) {
        Str shown = { 0 };
        escape_terminal_z(&shown, group ? two : word);
        const char *near = str_nearest(group ? two : word, names.items);
        if (group && !near) {
            Str all = { 0 };
            for (size_t k = 0; k + 1 < names.len; k++)
                if (str_starts(names.items[k], word) && names.items[k][strlen(word)] == ' ')
                    str_addf(&all, "%s%s", all.len ? ", " : "", names.items[k] + strlen(word) + 1);
            err_set(err, "sundew %s what? One of: %s", word, str_c(&all));
            str_release(&all);
        } else if (near) {
            err_set(err, "no command '%s'; did you mean '%s'?", str_c(&shown), near);
        } else {
            err_set(err, "no command '%s'; see: sundew help", str_c(&shown));
        }
        str_release(&shown);
    }
    free(two);
    vec_release(&names);
    return s->command != NULL;
}

bool args_parse(Session *s, int argc, char **argv, Err *err)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (s->has_tail) {
            strings_add(&s->tail, word);
        } else if (s->command && (s->command->raw || (s->command->runs && s->args.len))) {
            strings_add(&s->args, word);
        } else if (strcmp(word, "--") == 0) {
            s->has_tail = true;
        } else if (!s->command && strcmp(word, "--version") == 0) {
            char *rest[] = { "version" };
            int at = 0;
            return find_command(s, 1, rest, &at, err);
        } else if (str_starts(word, "--")) {
            if (!long_option(s, argc, argv, &i, err))
                return false;
        } else if (word[0] == '-' && word[1]) {
            if (!short_options(s, argc, argv, &i, err))
                return false;
        } else if (!s->command) {
            if (!find_command(s, argc, argv, &i, err))
                return false;
        } else {
            strings_add(&s->args, word);
        }
    }
    return true;
}
