/*
 * Help, manual pages and shell completion, all from the rows of the command
 * table.
 */
#include "base/escape.h"
#include "base/file.h"
#include "base/str.h"
#include "session/session_int.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds text wrapped at 78 columns, each line indented. */
static void wrap(Str *out, const char *text, int indent, int column)
{
    while (*text) {
        size_t n = strcspn(text, " \n");
        if (column > indent && column + (int)n + 1 > 78) {
            str_addf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            str_addc(out, ' ');
            column++;
        }
        str_addn(out, text, n);
        column += (int)n;
        text += n;
        if (text[0] == '\n') {
            str_addf(out, "\n%s%*s", text[1] == '\n' ? "\n" : "", indent, "");
            column = indent;
            text += strspn(text, "\n");
        }
        text += strspn(text, " ");
    }
    str_addc(out, '\n');
}

static void option_words(const Option *o, Str *out)
{
    if (o->letter)
        str_addf(out, "-%c, ", o->letter);
    str_addf(out, "--%s", o->name);
    if (o->arg)
        str_addf(out, " %s", o->arg);
}

static void option_list(const Option *o, Str *out)
{
    for (; o && o->name; o++) {
        Str words = { 0 };
        option_words(o, &words);
        str_addf(out, "  %-22s", str_c(&words));
        if (words.len > 21)
            str_addf(out, "\n%24s", "");
        Str text = { 0 };
        str_add(&text, o->help);
        if (o->otherwise)
            str_addf(&text, " (default: %s)", o->otherwise);
        wrap(out, str_c(&text), 24, 24);
        str_release(&text);
        str_release(&words);
    }
}

void help_overview(const Command *const *all, Str *out)
{
    str_add(out, "Sundew fights bugs in C programs. Capture a build once, then ask:\n\n"
                 "  sundew check                  build, run all that fits, one answer\n"
                 "  sundew capture -- make        capture a build\n"
                 "  sundew report --html r.html   all findings on one page\n\n"
                 "Commands:\n");
    for (const Command *const *c = all; *c; c++)
        if (!(*c)->hidden)
            str_addf(out, "  %-16s %s\n", (*c)->name, (*c)->summary);
    str_add(out, "\nOptions of every command:\n");
    option_list(common_options, out);
    str_add(out, "\nExit status: 0 nothing found (notes apart), 1 findings, 2 the "
                 "command could not do its work.\n`sundew help COMMAND` tells more about one.\n");
}

static void usage(const Command *c, Str *out)
{
    str_addf(out, "sundew %s%s%s%s", c->name, c->options ? " [OPTION…]" : "", c->args ? " " : "",
             c->args ? c->args : "");
}

void help_command(const Command *c, Str *out)
{
    str_add(out, "Usage: ");
    usage(c, out);
    str_addf(out, "\n\n");
    Str first = { 0 };
    str_addf(&first, "%s.", c->summary);
    first.data[0] =
        (char)(first.data[0] >= 'a' && first.data[0] <= 'z' ? first.data[0] - 32 : first.data[0]);
    wrap(out, str_c(&first), 0, 0);
    str_release(&first);
    if (c->about) {
        str_addc(out, '\n');
        wrap(out, c->about, 0, 0);
    }
    if (c->options) {
        str_add(out, "\nOptions:\n");
        option_list(c->options, out);
    }
    if (c->examples) {
        str_add(out, "\nExamples:\n");
        for (const char *p = c->examples; *p;) {
            size_t n = strcspn(p, "\n");
            str_addf(out, "  %.*s\n", (int)n, p);
            p += n + (p[n] == '\n');
        }
    }
    if (c->rules) {
        str_add(out, "\nRules (sundew explain RULE tells more):\n");
        for (const Rule *r = c->rules; r->id; r++)
            str_addf(out, "  %-26s %s\n", r->id, r->summary);
    }
    str_add(out, "\nOptions of every command: sundew help\n");
}

/* ---- man pages */

/* roff: a leading dot or quote is a request, a backslash an escape. */
static void roff(Str *out, const char *text)
{
    bool start = true;
    for (const char *p = text; *p; p++) {
        if (start && (*p == '.' || *p == '\''))
            str_add(out, "\\&");
        if (*p == '\\')
            str_add(out, "\\e");
        else if (*p == '-')
            str_add(out, "\\-");
        else if (*p == '\n' && p[1] == '\n')
            str_add(out, "\n.PP\n"), p++;
        else
            str_addc(out, *p);
        start = *p == '\n';
    }
}

static void man_options(const Option *o, Str *out)
{
    for (; o && o->name; o++) {
        Str words = { 0 };
        option_words(o, &words);
        str_add(out, ".TP\n.B ");
        roff(out, str_c(&words));
        str_addc(out, '\n');
        roff(out, o->help);
        if (o->otherwise) {
            str_add(out, " (default: ");
            roff(out, o->otherwise);
            str_addc(out, ')');
        }
        str_addc(out, '\n');
        str_release(&words);
    }
}

static void man_head(Str *out, const char *title, const char *name, const char *summary)
{
    str_addf(out, ".TH %s 1 \"\" \"Sundew %s\" \"Sundew manual\"\n.SH NAME\n", title,
             SUNDEW_VERSION);
    roff(out, name);
    str_add(out, " \\- ");
    roff(out, summary);
    str_add(out, "\n.SH SYNOPSIS\n");
}

static char *man_name(const Command *c)
{
    char *name = xprintf("sundew-%s", c->name);
    for (char *p = name; *p; p++)
        if (*p == ' ')
            *p = '-';
    return name;
}

static void man_command(const Command *c, Str *out)
{
    char *name = man_name(c);
    Str title = { 0 }, use = { 0 };
    for (const char *p = name; *p; p++)
        str_addc(&title, (char)(*p >= 'a' && *p <= 'z' ? *p - 32 : *p));
    man_head(out, str_c(&title), name, c->summary);
    usage(c, &use);
    str_add(out, ".B ");
    roff(out, str_c(&use));
    if (c->about) {
        str_add(out, "\n.SH DESCRIPTION\n");
        roff(out, c->about);
    }
    if (c->options) {
        str_add(out, "\n.SH OPTIONS\nThe options of every command are in\n"
                     ".BR sundew (1).\n");
        man_options(c->options, out);
    }
    if (c->examples) {
        str_add(out, "\n.SH EXAMPLES\n.nf\n");
        roff(out, c->examples);
        str_add(out, ".fi\n");
    }
    str_add(out, "\n.SH EXIT STATUS\n0 nothing found (notes apart), 1 findings, 2 the command "
                 "could not do its work.\n.SH SEE ALSO\n.BR sundew (1)\n");
    str_release(&title);
    str_release(&use);
    free(name);
}

static void man_overview(const Command *const *all, Str *out)
{
    man_head(out, "SUNDEW", "sundew", "fight bugs in C programs");
    str_add(out, ".B sundew\n.I COMMAND\n[OPTION\\&...] [ARG\\&...]\n"
                 ".SH DESCRIPTION\nA C program is captured once, from its own "
                 "build, without a change to its sources. Every technique then "
                 "works on that one capture and reports what it can show.\n"
                 ".SH COMMANDS\n");
    for (const Command *const *c = all; *c; c++) {
        if ((*c)->hidden)
            continue;
        str_addf(out, ".TP\n.B %s\n", (*c)->name);
        roff(out, (*c)->summary);
        str_addc(out, '\n');
    }
    str_add(out, ".SH OPTIONS\n");
    man_options(common_options, out);
    str_add(out, ".SH EXIT STATUS\n.TP\n0\nnothing found\n.TP\n1\nfindings\n.TP\n2\n"
                 "the command could not do its work\n.TP\n130\ninterrupted\n"
                 ".SH FILES\n.TP\n.I .sundew/\nthe workspace\n"
                 ".TP\n.I sundew.ini\nthe project's settings: long options as\n"
                 ".I name = value\nlines, under\n.I [command]\nfor one command only\n"
                 ".TP\n.I sundew.baseline, sundew.ignore\naccepted findings and "
                 "suppressions\n.SH ENVIRONMENT\n.TP\n.B SUNDEW_CC\n"
                 "the compiler behind\n.B sundew cc\n.TP\n.B SUNDEW_LLVM_PREFIX\n"
                 "where LLVM 19 is\n.TP\n.B NO_COLOR\nno colours\n");
}

bool help_man_pages(const Command *const *all, const char *folder, Err *err)
{
    Str page = { 0 };
    man_overview(all, &page);
    char *path = path_join(folder, "sundew.1");
    bool ok = dir_make(folder, err) && file_write(path, str_c(&page), page.len, err);
    free(path);
    for (const Command *const *c = all; ok && *c; c++) {
        if ((*c)->hidden)
            continue;
        str_reset(&page);
        man_command(*c, &page);
        char *name = man_name(*c);
        path = xprintf("%s/%s.1", folder, name);
        ok = file_write(path, str_c(&page), page.len, err);
        free(path);
        free(name);
    }
    str_release(&page);
    return ok;
}

/* ---- completion */

static void option_names(const Option *o, Str *out)
{
    for (; o && o->name; o++)
        str_addf(out, " --%s", o->name);
}

static void bash_completion(const Command *const *all, Str *out)
{
    str_add(out, "# bash completion for sundew\n_sundew()\n{\n"
                 "    local cur=${COMP_WORDS[COMP_CWORD]} cmd= w i\n"
                 "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                 "        w=${COMP_WORDS[i]}\n"
                 "        case $w in\n"
                 "            -w|--workspace|-j|--jobs|--time|--memory|--seed) ((i++)) ;;\n"
                 "            --) compopt -o default; COMPREPLY=(); return ;;\n"
                 "            -*) ;;\n"
                 "            *) cmd=\"${cmd:+$cmd }$w\" ;;\n"
                 "        esac\n    done\n"
                 "    local words=\n    case $cmd in\n");
    for (const Command *const *c = all; *c; c++) {
        if ((*c)->hidden)
            continue;
        str_addf(out, "        \"%s\"*) words=\"", (*c)->name);
        option_names((*c)->options, out);
        str_add(out, "\" ;;\n");
    }
    str_add(out, "        show) words=\"");
    for (const Command *const *c = all; *c; c++)
        if (str_starts((*c)->name, "show "))
            str_addf(out, " %s", (*c)->name + 5);
    str_add(out, "\" ;;\n        baseline) words=\"set prune\" ;;\n"
                 "        \"\") words=\"");
    for (const Command *const *c = all; *c; c++)
        if (!(*c)->hidden)
            str_addf(out, " %.*s", (int)strcspn((*c)->name, " "), (*c)->name);
    str_add(out, "\" ;;\n    esac\n    if [[ $cur == -* ]]; then\n"
                 "        words=\"$words");
    option_names(common_options, out);
    str_add(out, "\"\n    fi\n"
                 "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                 "    if [[ ${#COMPREPLY[@]} == 0 ]]; then\n"
                 "        compopt -o default\n    fi\n}\n"
                 "complete -F _sundew sundew\n");
}

/* zsh's and fish's descriptions: single quotes inside single quotes. */
static void quoted(Str *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        if (*p == '\'')
            str_add(out, "'\\''");
        else if (*p == '[' || *p == ']' || *p == ':')
            str_addc(out, ' ');
        else
            str_addc(out, *p);
    }
}

static void zsh_options(const Option *o, Str *out)
{
    for (; o && o->name; o++) {
        str_addf(out, "'--%s%s[", o->name, o->arg ? "=" : "");
        quoted(out, o->help);
        str_addf(out, "]%s%s%s' ", o->arg ? ":" : "", o->arg ? o->arg : "",
                 o->arg && (!strcmp(o->arg, "FILE") || !strcmp(o->arg, "DIR")) ? ":_files"
                 : o->arg                                                      ? ":"
                                                                               : "");
    }
}

static void zsh_completion(const Command *const *all, Str *out)
{
    str_add(out, "#compdef sundew\n_sundew() {\n  local -a commands\n"
                 "  commands=(\n");
    for (const Command *const *c = all; *c; c++) {
        if ((*c)->hidden)
            continue;
        str_addf(out, "    '%s:", (*c)->name);
        quoted(out, (*c)->summary);
        str_add(out, "'\n");
    }
    str_add(out, "  )\n  if (( CURRENT == 2 )); then\n"
                 "    _describe command commands\n    return\n  fi\n"
                 "  local cmd=$words[2]\n"
                 "  [[ $cmd == (show|baseline) ]] && cmd=\"$cmd $words[3]\"\n"
                 "  case $cmd in\n");
    for (const Command *const *c = all; *c; c++) {
        if ((*c)->hidden)
            continue;
        str_addf(out, "    '%s') _arguments ", (*c)->name);
        zsh_options((*c)->options, out);
        zsh_options(common_options, out);
        str_add(out, "'*:file:_files' ;;\n");
    }
    str_add(out, "    *) _files ;;\n  esac\n}\n_sundew \"$@\"\n");
}

static void fish_option(const Option *o, const char *when, Str *out)
{
    str_addf(out, "complete -c sundew %s -l %s", when, o->name);
    if (o->letter)
        str_addf(out, " -s %c", o->letter);
    if (o->arg)
        str_add(out, " -r");
    str_add(out, " -d '");
    quoted(out, o->help);
    str_add(out, "'\n");
}

static void fish_completion(const Command *const *all, Str *out)
{
    str_add(out, "# fish completion for sundew\n");
    for (const Command *const *c = all; *c; c++) {
        if ((*c)->hidden)
            continue;
        size_t n = strcspn((*c)->name, " ");
        if ((*c)->name[n])
            str_addf(out,
                     "complete -c sundew -n '__fish_seen_subcommand_from "
                     "%.*s' -a %s -d '",
                     (int)n, (*c)->name, (*c)->name + n + 1);
        else
            str_addf(out, "complete -c sundew -n __fish_use_subcommand -a %s -d '", (*c)->name);
        quoted(out, (*c)->summary);
        str_add(out, "'\n");
        for (const Option *o = (*c)->options; o && o->name; o++) {
            char *when = xprintf("-n '__fish_seen_subcommand_from %s'", (*c)->name);
            fish_option(o, when, out);
            free(when);
        }
    }
    for (const Option *o = common_options; o->name; o++)
        fish_option(o, "", out);
}

bool help_completion(const Command *const *all, const char *shell, Str *out, Err *err)
{
    if (strcmp(shell, "bash") == 0)
        bash_completion(all, out);
    else if (strcmp(shell, "zsh") == 0)
        zsh_completion(all, out);
    else if (strcmp(shell, "fish") == 0)
        fish_completion(all, out);
    else
        return err_set(err, "no completion for '%s': bash, zsh or fish", shell);
    return true;
}

/* ---- for the help command */

bool session_help(Session *s, const char *name, Str *out, Err *err)
{
    bool any = false;
    if (!name) {
        help_overview(s->commands, out);
        return true;
    }
    for (const Command *const *c = s->commands; *c; c++) {
        size_t n = strlen(name);
        bool group = strncmp((*c)->name, name, n) == 0 && (*c)->name[n] == ' ';
        if (!group && strcmp((*c)->name, name) != 0)
            continue;
        if (any)
            str_add(out, "\n----\n\n");
        help_command(*c, out);
        any = true;
    }
    return any || err_set(err, "no command '%s'; see: sundew help", name);
}

bool session_man_pages(Session *s, const char *folder, Err *err)
{
    return help_man_pages(s->commands, folder, err);
}

bool session_completion(Session *s, const char *shell, Str *out, Err *err)
{
    return help_completion(s->commands, shell, out, err);
}
