#include "capture/recompile.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/proc.h"
#include "capture/cmdline.h"
#include <stdlib.h>
#include <string.h>

bool recompile_tool(char *const *argv, const char *cwd, Str *out, Err *err)
{
    ProcResult r = { 0 };
    Proc p = { .argv = argv, .cwd = cwd, .capture = true, .seconds = 600, .in = "/dev/null" };
    bool ok = proc_run(&p, &r, err);
    if (ok && r.status != 0) {
        const char *at = strstr(str_c(&r.err), "undefined reference");
        at = at ? at : strstr(str_c(&r.err), "multiple definition");
        at = at ? at : strstr(str_c(&r.err), "error: ");
        at = at ? at : str_c(&r.err);
        Str line = { 0 };
        escape_terminal(&line, at, strcspn(at, "\n"));
        ok = err_set(err, "%s: %s", path_base(argv[0]), str_c(&line));
        str_release(&line);
    }
    if (ok && out)
        str_addn(out, str_c(&r.out), r.out.len);
    proc_result_release(&r);
    return ok;
}

/* What stands in the command for this one unit's output and dependencies. */
static size_t words_to_drop(const Strings *words, size_t i, const Cmdline *c)
{
    static const char *const two[] = { "-o", "-MF",      "-MT",       "-MQ",
                                       "-x", "-Xlinker", "-aux-info", NULL };
    static const char *const one[] = { "-c",
                                       "-MD",
                                       "-MMD",
                                       "-MP",
                                       "-M",
                                       "-MM",
                                       "-MG",
                                       "-S",
                                       "-E",
                                       "-Werror",
                                       "-pedantic-errors",
                                       "-static",
                                       "-shared",
                                       "-pie",
                                       "-rdynamic",
                                       "-save-temps",
                                       "-flto",
                                       "-s",
                                       NULL };
    const char *w = words->items[i];
    if (str_is_one_of(w, two))
        return 2;
    if (str_is_one_of(w, one) || str_starts(w, "-Wl,") || str_starts(w, "-l") ||
        str_starts(w, "-L") || str_starts(w, "-flto=") || str_starts(w, "-Werror=") ||
        str_starts(w, "-Wp,-M") || (w[0] == '-' && w[1] == 'o'))
        return 1;
    for (size_t k = 0; k < c->inputs.len; k++)
        if (strcmp(w, c->inputs.items[k].path) == 0)
            return 1;
    return 0;
}

void recompile_flags(const Unit *u, Strings *flags)
{
    const Strings *words = &u->arguments;
    Cmdline c = { 0 };
    cmdline_parse(&c, (int)words->len, words->items, u->directory, false);
    for (size_t i = 0; i < words->len;) {
        size_t drop = i ? words_to_drop(words, i, &c) : 0;
        if (!drop)
            strings_add(flags, words->items[i]);
        i += drop ? drop : 1;
    }
    cmdline_release(&c);
}

static bool has_text(const Strings *all, const char *text)
{
    for (size_t i = 0; i < all->len; i++)
        if (strcmp(all->items[i], text) == 0)
            return true;
    return false;
}

static void add_include_folders(const Unit *u, Strings *out)
{
    static const char *const flags[] = { "-I", "-isystem", "-iquote", "-idirafter" };
    for (size_t i = 1; i < u->arguments.len; i++)
        for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
            const char *word = u->arguments.items[i];
            if (!str_starts(word, flags[k]))
                continue;
            const char *dir = word + strlen(flags[k]);
            if (!*dir && i + 1 < u->arguments.len)
                dir = u->arguments.items[i + 1];
            char *full = path_in(u->directory, dir);
            if (*dir && file_is_dir(full) && !has_text(out, full))
                strings_add(out, full);
            free(full);
        }
}

void recompile_include_folders(const CapturedProgram *p, Strings *out)
{
    for (size_t i = 0; i < p->nunits; i++)
        add_include_folders(p->units[i], out);
}

bool recompile_run(const Unit *u, const Strings *flags, const char *source, const char *object,
                   Err *err)
{
    Strings argv = { 0 };
    for (size_t i = 0; i < flags->len; i++)
        strings_add(&argv, flags->items[i]);
    strings_add(&argv, "-c");
    strings_add(&argv, source);
    strings_add(&argv, "-o");
    strings_add(&argv, object);
    bool ok = recompile_tool(strings_argv(&argv), u->directory, NULL, err);
    strings_release(&argv);
    return ok;
}
