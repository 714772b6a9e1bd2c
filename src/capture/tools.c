/*
 * The parent prepares all paths. The child makes two mounts for each tool: the real
 * file at its place in the folder, then the wrapper over the real file.
 *
 * The wrapper finds the folder in SUNDEW_TOOLS. A build may clear its environment; then
 * the list of mounts tells, because a file in the folder is named after its tool.
 */
#include "capture/tools.h"
#include "base/file.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/userns.h"
#include "capture/wrapper.h"
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

struct Tools {
    char *wrapper;
    Strings tools;             /* real files; the n-th belongs to … */
    Strings places;            /* … the n-th of these, in the folder */
    UserIds ids;
};

/* "/usr/bin/gcc" as one name: "%usr%bin%gcc". */
static char *name_of(const char *tool)
{
    char *name = xstrdup(tool);
    for (char *p = name; *p; p++)
        if (*p == '/')
            *p = '%';
    return name;
}

/* ---- which tools */

static bool add_tool(Tools *c, const char *folder, const char *tool, Map *seen, Err *err)
{
    char *real = path_real(tool);
    bool ok = true;
    if (real && map_put(seen, real, NULL)) {
        char *name = name_of(real), *place = path_join(folder, name);
        /* a name longer than a file's may be is left uncovered */
        if (strlen(name) < 250 && (ok = file_write(place, "", 0, err))) {
            strings_add(&c->tools, real);
            strings_add(&c->places, place);
        }
        free(place);
        free(name);
    }
    free(real);
    return ok;
}

static bool add_folder(Tools *c, const char *folder, const char *dir, Map *seen, Err *err)
{
    Strings names = { 0 };
    bool ok = true;
    dir_list(dir, &names, NULL);
    for (size_t i = 0; ok && i < names.len; i++) {
        char *tool = path_join(dir, names.items[i]);
        if (tool_kind(names.items[i]) != TOOL_NONE && file_is_regular(tool) &&
            access(tool, X_OK) == 0)
            ok = add_tool(c, folder, tool, seen, err);
        free(tool);
    }
    strings_release(&names);
    return ok;
}

/* The PATH, and places of compilers that a PATH need not have. */
static void folders_of_tools(Strings *out)
{
    for (const char *p = path_list(); *p;) {
        size_t n = strcspn(p, ":");
        if (n && *p == '/')
            strings_addf(out, "%.*s", (int)n, p);
        p += n + (p[n] == ':');
    }
    static const char *const others[] = { "/usr/bin", "/usr/lib/ccache", "/usr/lib/llvm-*/bin",
                                          "/usr/local/bin", "/opt/*/bin" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        glob_t g = { 0 };
        if (glob(others[i], GLOB_ONLYDIR, NULL, &g) == 0)
            for (size_t k = 0; k < g.gl_pathc; k++)
                strings_add(out, g.gl_pathv[k]);
        globfree(&g);
    }
}

Tools *tools_new(const char *folder, const char *wrapper, Err *err)
{
    Tools *c = xcalloc(1, sizeof *c);
    Strings folders = { 0 };
    Map seen = { 0 };
    c->wrapper = path_real(wrapper);
    c->ids = userns_ids();
    bool ok = c->wrapper ? dir_make(folder, err) : err_errno(err, "%s", wrapper);
    if (ok)
        map_put(&seen, c->wrapper, NULL);        /* a link to ourselves is no tool */
    folders_of_tools(&folders);
    for (size_t i = 0; ok && i < folders.len; i++)
        ok = add_folder(c, folder, folders.items[i], &seen, err);
    map_release(&seen);
    strings_release(&folders);
    if (ok)
        return c;
    tools_free(c);
    return NULL;
}

void tools_free(Tools *c)
{
    if (!c)
        return;
    strings_release(&c->tools);
    strings_release(&c->places);
    free(c->wrapper);
    free(c);
}

/* ---- in the child */

/* An ordinary user needs a user namespace for it. Root does not get one: there it could
 * give files to nobody but itself. */
static bool enter_namespace(const Tools *c)
{
    if (unshare(CLONE_NEWNS) != 0 && (geteuid() == 0 || !userns_enter(&c->ids, CLONE_NEWNS)))
        return false;
    return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0;
}

bool tools_mount(void *tools)
{
    const Tools *c = tools;
    if (!enter_namespace(c))
        return false;
    for (size_t i = 0; i < c->tools.len; i++)
        if (mount(c->tools.items[i], c->places.items[i], NULL, MS_BIND, NULL) != 0 ||
            mount(c->wrapper, c->tools.items[i], NULL, MS_BIND, NULL) != 0)
            return false;
    return true;
}

bool tools_can_mount(Tools *c, Err *err)
{
    if (getenv("SUNDEW_TOOLS"))
        return err_set(err, "this is itself part of a build under capture");
    pid_t pid = fork();
    if (pid == 0)
        _exit(tools_mount(c) ? 0 : errno > 0 && errno < 255 ? errno : 255);
    ProcResult r = { 0 };
    if (pid > 0)
        proc_wait(pid, &r);
    if (pid > 0 && r.status == 0)
        return true;
    errno = pid > 0 && !r.signal ? r.status : EPERM;
    return err_errno(err, "files can't be mounted here");
}

/* ---- in the wrapper */

/* The mount point that is called `name`, by the list of mounts. A mount point in it has
 * no blanks: they are written as \040. */
static char *mounted_as(const char *name)
{
    Str text = { 0 };
    char *found = NULL, *save = NULL;
    file_read("/proc/self/mountinfo", &text, NULL);
    str_add(&text, "");
    for (char *line = strtok_r(text.data, "\n", &save); line && !found;
         line = strtok_r(NULL, "\n", &save)) {
        char *inner = NULL, *point = strtok_r(line, " ", &inner);
        for (int field = 1; field < 5 && point; field++)
            point = strtok_r(NULL, " ", &inner);
        if (point && strcmp(path_base(point), name) == 0 && !strchr(point, '\\'))
            found = xstrdup(point);
    }
    str_release(&text);
    return found;
}

char *tools_real(const char *tool)
{
    const char *folder = getenv("SUNDEW_TOOLS");
    char *real = path_real(tool), *self = path_real("/proc/self/exe"), *found = NULL;
    char *name = real ? name_of(real) : NULL;
    if (name && folder) {
        found = path_join(folder, name);
        if (!file_is_regular(found) || access(found, X_OK) != 0) {
            free(found);
            found = NULL;
        }
    } else if (name && self && strcmp(real, self) == 0 && !str_starts(path_base(self), "sundew")) {
        found = mounted_as(name);
    }
    free(name);
    free(self);
    free(real);
    return found;
}
