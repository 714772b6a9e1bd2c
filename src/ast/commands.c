/* Which units a user means with the paths of a command. */
#include "base/file.h"
#include "ast/ast.h"
#include <string.h>

bool ast_wanted(const char *file, char *const *paths, size_t n)
{
    bool wanted = n == 0;
    for (size_t i = 0; i < n && !wanted; i++) {
        char *path = path_absolute(paths[i]);
        size_t len = strlen(path);
        wanted =
            str_ends(path, ".json") || (strncmp(file, path, len) == 0 &&
                                        (!file[len] || file[len] == '/' || path[len - 1] == '/'));
        free(path);
    }
    return wanted;
}

static bool find_database(const char *root, CompileCommands *out, bool *found, Err *err)
{
    static const char *const places[] = {
        "compile_commands.json",
        "build/compile_commands.json",
    };
    for (size_t i = 0; i < sizeof places / sizeof *places && !*found; i++) {
        char *path = path_join(root, places[i]);
        bool ok = true;
        if (file_exists(path)) {
            *found = true;
            ok = commands_read(path, out, err);
        }
        free(path);
        if (!ok)
            return false;
    }
    return true;
}

/* A source that nobody has a command for. */
static void add_plain(CompileCommands *out, char *path)
{
    CompileCommand *c = vec_grow(out);
    char *dir = path_dir(path);
    c->directory = dir;
    c->file = path;
    c->output = xstrdup("");
    strings_add(&c->arguments, "cc");
    strings_add(&c->arguments, "-c");
    strings_add(&c->arguments, path);
}

/* Files of the build are judged by the whole build: all commands stay, and the
 * techniques report on what is wanted. Of other files the build knows nothing. */
static void keep_wanted(CompileCommands *c, char *const *paths, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_ends(paths[i], ".h"))
            return;
    for (size_t i = 0; i < c->len; i++)
        if (ast_wanted(c->items[i].file, paths, n))
            return;
    for (size_t i = 0; i < c->len; i++)
        command_release(&c->items[i]);
    c->len = 0;
}

static bool has_command(const CompileCommands *c, const char *file)
{
    for (size_t i = 0; i < c->len; i++)
        if (strcmp(c->items[i].file, file) == 0)
            return true;
    return false;
}

static bool add_sources(CompileCommands *out, char *const *paths, size_t n, Err *err)
{
    for (size_t i = 0; i < n; i++) {
        char *path = path_absolute(paths[i]);
        if (!file_exists(path)) {
            err_set(err, "%s: there is no such file", paths[i]);
            free(path);
            return false;
        }
        if (str_ends(path, ".c") && !has_command(out, path))
            add_plain(out, path);
        else
            free(path);
    }
    return true;
}

bool ast_commands(Workspace *ws, const char *root, char *const *paths, size_t n,
                  CompileCommands *out, Err *err)
{
    bool found = false;
    for (size_t i = 0; i < n; i++)
        if (str_ends(paths[i], ".json")) {
            found = true;
            if (!commands_read(paths[i], out, err))
                return false;
        }
    if (!found && ws && !commands_of_workspace(ws, out, err))
        return false;
    if (!found && !out->len && root && !find_database(root, out, &found, err))
        return false;
    keep_wanted(out, paths, n);
    if (!add_sources(out, paths, n, err))
        return false;
    if (!out->len && n)
        return err_set(err,
                       "%s: no C source, and none below it that is part of "
                       "a captured build or a compile_commands.json",
                       paths[0]);
    if (!out->len)
        return err_set(err, "no C sources are known here: capture a build "
                            "(sundew capture -- make), or name C files or a "
                            "compile_commands.json");
    return true;
}
