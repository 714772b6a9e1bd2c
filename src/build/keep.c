#include "build/keep.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/map.h"
#include "capture/wrapper.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

static bool is_current(const CapturedProgram *p)
{
    struct stat program, source;
    if (stat(p->path, &program) != 0)
        return false;
    for (size_t i = 0; i < p->nunits; i++)
        if (stat(p->units[i]->source, &source) != 0 || is_newer(&source.st_mtim, &program.st_mtim))
            return false;
    return true;
}

static bool write_script(const KeepPlan *plan, const char *tool, const char *script, Err *err)
{
    Str text = { 0 };
    str_add(&text, "#!/bin/sh\n# A stand-in for a compiler; written by Sundew for one command.\n");
    escape_shell(&text, tool);
    str_add(&text, " \"$@\"\nstatus=$?\nprogram=");
    escape_shell(&text, plan->path);
    str_add(&text, "\nwoven=");
    escape_shell(&text, plan->standin);
    str_add(
        &text,
        "\nif [ $status = 0 ] && [ -f \"$program\" ] && ! cmp -s \"$program\" \"$woven\"; then\n"
        "    cp \"$woven\" \"$program.sundew\" && mv -f \"$program.sundew\" \"$program\"\n"
        "fi\nexit $status\n");
    bool ok = file_write(script, str_c(&text), text.len, err);
    if (ok && chmod(script, 0755) != 0)
        ok = err_errno(err, "%s", script);
    str_release(&text);
    return ok;
}

/* The first tool of each name counts, as the shell has it. */
static bool cover_folder(const KeepPlan *plan, const char *dir, const char *tools, Map *seen,
                         Err *err)
{
    Strings names = { 0 };
    bool ok = true;
    dir_list(dir, &names, NULL);
    for (size_t i = 0; ok && i < names.len; i++) {
        ToolKind kind = tool_kind(names.items[i]);
        char *tool = path_join(dir, names.items[i]);
        if ((kind == TOOL_CC || kind == TOOL_CXX || kind == TOOL_LD) && file_is_regular(tool) &&
            access(tool, X_OK) == 0 && map_put(seen, names.items[i], NULL)) {
            char *script = path_join(tools, names.items[i]);
            ok = write_script(plan, tool, script, err);
            free(script);
        }
        free(tool);
    }
    strings_release(&names);
    return ok;
}

static bool cover_path(const KeepPlan *plan, const char *path, const char *tools, Err *err)
{
    Map seen = { 0 };
    bool ok = dir_make(tools, err);
    for (const char *p = path; ok && *p;) {
        size_t n = strcspn(p, ":");
        char *dir = xstrndup(p, n);
        if (*dir == '/')
            ok = cover_folder(plan, dir, tools, &seen, err);
        free(dir);
        p += n + (p[n] == ':');
    }
    map_release(&seen);
    return ok;
}

bool keep_environment(const KeepPlan *plan, Strings *env, Err *err)
{
    assert(plan->program && plan->path && plan->standin && plan->folder);
    char *const *from = plan->env ? plan->env : environ;
    bool ok = true, keeps = plan->program->kind != PROGRAM_ARCHIVE && is_current(plan->program);
    for (; ok && *from; from++) {
        if (!keeps || !str_starts(*from, "PATH=")) {
            strings_add(env, *from);
            continue;
        }
        char *tools = path_join(plan->folder, "tools");
        ok = cover_path(plan, *from + 5, tools, err);
        strings_addf(env, "PATH=%s:%s", tools, *from + 5);
        free(tools);
    }
    return ok;
}
