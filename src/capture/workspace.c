#include "base/file.h"
#include "base/sha256.h"
#include "base/tempdir.h"
#include "capture/capture_int.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORKSPACE_VERSION "1"

struct Workspace {
    char *dir, *root;
    Arena arena;
    Map units;                /* id -> Unit * */
};

/* The nearest .sundew at or above the current folder, or NULL. */
static char *nearest(void)
{
    char *dir = path_absolute(".");
    for (;;) {
        char *found = path_join(dir, ".sundew");
        if (file_is_dir(found)) {
            free(dir);
            return found;
        }
        free(found);
        if (strcmp(dir, "/") == 0)
            break;
        char *up = path_dir(dir);
        free(dir);
        dir = up;
    }
    free(dir);
    return NULL;
}

/* Makes the folders; the version file comes last, so that a workspace that has
 * one is whole. */
static bool populate(const char *dir, Err *err)
{
    static const char *const folders[] = { "units", "objects", "programs",
                                           "builds", "shims", "tmp" };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *path = path_join(dir, folders[i]);
        bool ok = dir_make(path, err);
        free(path);
        if (!ok)
            return false;
    }
    char *ignore = path_join(dir, ".gitignore");
    if (!file_exists(ignore))
        file_write(ignore, "*\n", 2, NULL);
    free(ignore);
    char *version = path_join(dir, "version");
    bool ok = file_write(version, WORKSPACE_VERSION "\n", 2, err);
    free(version);
    return ok;
}

static bool check_version(const char *dir, bool create, Err *err)
{
    char *path = path_join(dir, "version");
    Str text = {0};
    bool there = file_exists(path);
    bool ok = !there || file_read(path, &text, err);
    if (ok && !there) {
        ok = create ? populate(dir, err)
                    : err_set(err, "%s is no Sundew workspace (it has no "
                              "'version' file); capture a build first: "
                              "sundew capture -- make", dir);
    } else if (ok && strcmp(str_c(&text), WORKSPACE_VERSION "\n") != 0) {
        ok = err_set(err, "%s is of another version of Sundew or damaged; "
                     "remove the folder and capture again", dir);
    } else if (ok && create) {
        char *shims = path_join(dir, "shims");
        if (!file_is_dir(shims))
            ok = populate(dir, err);
        free(shims);
    }
    str_release(&text);
    free(path);
    return ok;
}

/* A folder that holds something else must not become a workspace. */
static bool may_become(const char *dir, Err *err)
{
    Strings names = {0};
    char *version = path_join(dir, "version");
    bool ok = file_exists(version) || !file_is_dir(dir) ||
              str_ends(dir, "/.sundew") || !dir_list(dir, &names, NULL) ||
              !names.len ||
              err_set(err, "%s is not empty and no workspace; name another "
                      "folder with -w", dir);
    free(version);
    strings_release(&names);
    return ok;
}

Workspace *workspace_open(const char *dir, bool create, Err *err)
{
    if ((dir && !*dir) || !path_cwd_exists()) {
        err_set(err, dir && !*dir ? "-w needs the name of a folder"
                                  : "the current folder is gone");
        return NULL;
    }
    char *path = dir ? path_absolute(dir) : nearest();
    if (!path && create)
        path = path_absolute(".sundew");
    if (!path) {
        err_set(err, "no workspace here; capture a build first: "
                "sundew capture -- make");
        return NULL;
    }
    bool ok = file_is_dir(path) ||
              (create ? dir_make(path, err)
                      : err_set(err, "no workspace %s; capture a build first: "
                                "sundew -w %s capture -- make", path, path));
    if (!ok || (create && !may_become(path, err)) ||
        !check_version(path, create, err)) {
        free(path);
        return NULL;
    }
    Workspace *ws = xcalloc(1, sizeof *ws);
    ws->dir = path;
    ws->root = path_dir(path);
    return ws;
}

void workspace_close(Workspace *ws)
{
    if (!ws)
        return;
    for (size_t i = 0; i < ws->units.len; i++) {
        Unit *u = ws->units.entries[i].value;
        if (u) {
            strings_release(&u->arguments);
            strings_release(&u->dropped);
        }
    }
    map_release(&ws->units);
    arena_release(&ws->arena);
    free(ws->dir);
    free(ws->root);
    free(ws);
}

void workspace_discard(const Workspace *ws)
{
    static const char *const folders[] = { "units", "programs", "builds" };
    size_t n = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        Strings names = {0};
        char *path = workspace_path(ws, "%s", folders[i]);
        dir_list(path, &names, NULL);
        n += names.len;
        strings_release(&names);
        free(path);
    }
    if (n == 0)
        dir_remove(ws->dir);
}

const char *workspace_dir(const Workspace *ws)
{
    return ws->dir;
}

const char *workspace_root(const Workspace *ws)
{
    return ws->root;
}

const char *workspace_tempdir(const Workspace *ws, Err *err)
{
    char *parent = workspace_path(ws, "tmp");
    const char *dir = dir_make(parent, err) ? tempdir_new(parent, err) : NULL;
    free(parent);
    return dir;
}

Arena *workspace_arena(Workspace *ws)
{
    return &ws->arena;
}

char *workspace_path(const Workspace *ws, const char *fmt, ...)
{
    Str s = {0};
    str_addf(&s, "%s/", ws->dir);
    va_list ap;
    va_start(ap, fmt);
    str_addv(&s, fmt, ap);
    va_end(ap);
    return str_take(&s);
}

/* ---- units */

static const char *const status_names[] = {
    [UNIT_CAPTURED] = "captured", [UNIT_FAILED] = "failed",
    [UNIT_FOREIGN] = "foreign",
};

const char *unit_status_name(UnitStatus s)
{
    return status_names[s];
}

static char *json_path(const Workspace *ws, const char *id)
{
    return workspace_path(ws, "units/%s.json", id);
}

char *unit_bitcode_path(const Workspace *ws, const char *id)
{
    return workspace_path(ws, "units/%s.bc", id);
}

bool unit_write(Workspace *ws, const Unit *u, Err *err)
{
    json_t *o = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "source",
        json_text(u->source), "directory", json_text(u->directory), "output",
        json_text(u->output), "language", json_text(u->language), "status",
        json_text(unit_status_name(u->status)), "reason", json_text(u->reason),
        "arguments", json_strings(u->arguments.items, u->arguments.len),
        "dropped", json_strings(u->dropped.items, u->dropped.len));
    char *path = json_path(ws, u->id);
    bool ok = json_write(path, o, err);
    free(path);
    json_decref(o);
    return ok;
}

static Unit *read_unit(Workspace *ws, const char *id)
{
    char *path = json_path(ws, id);
    json_t *o = json_read(path, NULL);
    free(path);
    if (!o)
        return NULL;
    Arena *a = &ws->arena;
    Unit *u = arena_new(a, Unit);
    u->id = arena_strdup(a, id);
    u->source = arena_strdup(a, json_str(o, "source"));
    u->directory = arena_strdup(a, json_str(o, "directory"));
    u->output = arena_strdup(a, json_str(o, "output"));
    u->language = arena_strdup(a, json_str(o, "language"));
    u->reason = arena_strdup(a, json_str(o, "reason"));
    u->status = UNIT_FAILED;
    for (size_t i = 0; i < sizeof status_names / sizeof *status_names; i++)
        if (strcmp(json_str(o, "status"), status_names[i]) == 0)
            u->status = (UnitStatus)i;
    json_get_strings(o, "arguments", &u->arguments);
    json_get_strings(o, "dropped", &u->dropped);
    char *bitcode = unit_bitcode_path(ws, id);
    u->bitcode = "";
    if (u->status == UNIT_CAPTURED && file_exists(bitcode)) {
        u->bitcode = arena_strdup(a, bitcode);
    } else if (u->status == UNIT_CAPTURED) {
        u->status = UNIT_FAILED;
        u->reason = "its bitcode is gone from the workspace; build it again";
    }
    free(bitcode);
    json_decref(o);
    return u;
}

const Unit *workspace_unit(Workspace *ws, const char *id)
{
    if (!map_has(&ws->units, id))
        map_put(&ws->units, id, read_unit(ws, id));
    return map_get(&ws->units, id);
}

/* ---- programs */

static const char *const kind_names[] = {
    [PROGRAM_EXECUTABLE] = "executable", [PROGRAM_SHARED] = "shared",
    [PROGRAM_ARCHIVE] = "archive", [PROGRAM_OBJECT] = "object",
};

const char *program_kind_name(ProgramKind k)
{
    return kind_names[k];
}

static char *program_json_path(const Workspace *ws, const char *path)
{
    char id[ID_LEN + 1];
    sha256_id(path, strlen(path), id);
    return workspace_path(ws, "programs/%s.json", id);
}

bool program_write(Workspace *ws, const LinkRecord *r, Err *err)
{
    static const Strings none = {0};
    const Strings *missing = r->missing ? r->missing : &none;
    const Strings *ids = r->ids ? r->ids : &none;
    const Strings *command = r->command ? r->command : &none;
    json_t *o = json_pack("{s:o, s:o, s:o, s:o, s:o}", "path",
                          json_text(r->path), "units",
                          json_strings(ids->items, ids->len), "missing",
                          json_strings(missing->items, missing->len), "link",
                          json_strings(command->items, command->len), "directory",
                          json_text(r->directory ? r->directory : ""));
    char *path = program_json_path(ws, r->path);
    bool ok = json_write(path, o, err);
    free(path);
    json_decref(o);
    return ok;
}

void program_record(Workspace *ws, const char *path, Strings *ids,
                    Strings *missing)
{
    char *file = program_json_path(ws, path);
    json_t *o = json_read(file, NULL);
    json_get_strings(o, "units", ids);
    json_get_strings(o, "missing", missing);
    json_decref(o);
    free(file);
}
