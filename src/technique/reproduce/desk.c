/*
 * Which program a crash file is of, and a crash at the desk: monitor, run, find
 * the file.
 */
#include "base/file.h"
#include "technique/reproduce/reproduce_int.h"
#include <string.h>
#include <unistd.h>

Program *desk_program(Session *s, const Crash *c, Err *err)
{
    Workspace *ws = session_workspace(s);
    size_t n, named = 0;
    const CapturedProgram **all = workspace_programs(ws, &n, err);
    if (!all)
        return NULL;
    for (int round = 0; round < 2; round++)      /* first those of that name */
        for (size_t i = 0; i < n; i++) {
            bool same = strcmp(all[i]->name, crash_program(c)) == 0;
            if (same != (round == 0) || all[i]->kind != PROGRAM_EXECUTABLE)
                continue;
            named += same;
            Program *p = program_open(ws, all[i], NULL);
            if (p && strcmp(program_key(p), crash_key(c)) == 0)
                return p;
            program_close(p);
        }
    if (!n)
        err_set(err, "no program is captured here: go to the project that built '%s', or "
                "name its workspace with -w", crash_program(c));
    else if (named)
        err_set(err, "the crash is of another build of '%s' than the one captured here: "
                "build those sources again (sundew capture -- make), or monitor this build "
                "and wait for the next crash", crash_program(c));
    else
        err_set(err, "the crash is of '%s', which is not captured here", crash_program(c));
    return NULL;
}

char *desk_monitored(Session *s, const Crash *c, Err *err)
{
    char *safe = path_safe_name(crash_key(c));
    char *folder = xprintf("%s/monitored/%s", workspace_dir(session_workspace(s)), safe);
    Strings names = {0};
    char *found = NULL;
    dir_list(folder, &names, NULL);
    for (size_t i = 0; !found && i < names.len; i++) {
        char *path = path_join(folder, names.items[i]);
        if (file_is_regular(path) && access(path, X_OK) == 0)
            found = path;
        else
            free(path);
    }
    if (!found)
        err_set(err, "the monitored program that crashed is not in this workspace (%s): it "
                "is needed to name functions; run `sundew monitor` on the same build again",
                folder);
    strings_release(&names);
    free(folder);
    free(safe);
    return found;
}

char *desk_crash(Session *s, const char *program, Err *err)
{
    (void)s;
    (void)program;
    err_set(err, "not a crash file");
    return NULL;
}
