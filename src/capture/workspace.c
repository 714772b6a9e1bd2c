#include "base/escape.h"
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
    bool (*stop)(void *arg);
    void *stop_arg;
    bool has_stopped;
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
    static const char *const folders[] = {
        "units", "objects", "programs", "builds", "shims", "tmp"
    };
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

/* The project's folder: the nearest parent that a version control or sundew.ini marks,
 * else the current folder. */
static char *find_project(void)
{
    static const char *const marks[] = { ".git", ".hg", ".svn", "sundew.ini" };
    char *here = path_absolute("."), *dir = xstrdup(here);
    while (strcmp(dir, "/") != 0) {
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
            char *mark = path_join(dir, marks[i]);
            bool there = file_exists(mark);
            free(mark);
            if (there) {
                free(here);
                return dir;
            }
        }
        char *up = path_dir(dir);
        free(dir);
        dir = up;
    }
    free(dir);
    return here;
}

/* Beside .sundew is the project. A workspace of another name may lie anywhere: it
 * remembers the project that it was made for. */
static bool write_root(const char *dir, Err *err)
{
    if (str_ends(dir, "/.sundew"))
        return true;
    char *path = path_join(dir, "root"), *root = find_project();
    bool ok = file_write(path, root, strlen(root), err);
    free(root);
    free(path);
    return ok;
}

static char *read_root(const char *dir)
{
    char *path = path_join(dir, "root");
    Str text = { 0 };
    bool ok = file_exists(path) && file_read(path, &text, NULL) && text.len &&
              text.data[0] == '/' && file_is_dir(str_c(&text));
    char *root = ok ? xstrdup(str_c(&text)) : path_dir(dir);
    str_release(&text);
    free(path);
    return root;
}

static bool check_version(const char *dir, bool create, Err *err)
{
    char *path = path_join(dir, "version");
    Str text = { 0 };
    bool there = file_exists(path);
    bool ok = !there || file_read(path, &text, err);
    if (ok && !there) {
        ok = create ? write_root(dir, err) && populate(dir, err)
                    : err_set(err,
                              "%s is no Sundew workspace (it has no "
                              "'version' file); capture a build first: "
                              "sundew capture -- make",
                              dir);
    } else if (ok && strcmp(str_c(&text), WORKSPACE_VERSION "\n") != 0) {
        ok = err_set(err,
                     "%s is of another version of Sundew or damaged; "
                     "remove the folder and capture again",
                     dir);
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
    Strings names = { 0 };
    char *version = path_join(dir, "version");
    bool ok = file_exists(version) || !file_is_dir(dir) || str_ends(dir, "/.sundew") ||
              !dir_list(dir, &names, NULL) || !names.len ||
              err_set(err,
                      "%s is not empty and no workspace; name another "
                      "folder with -w",
                      dir);
    free(version);
    strings_release(&names);
    return ok;
}

Workspace *workspace_open(const char *dir, bool create, Err *err)
{
    if ((dir && !*dir) || !path_cwd_exists()) {
        err_set(err, dir && !*dir ? "-w needs the name of a folder" : "the current folder is gone");
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
    bool ok = file_is_dir(path) || (create ? dir_make(path, err)
                                           : err_set(err,
                                                     "no workspace %s; capture a build first: "
                                                     "sundew -w %s capture -- make",
                                                     path, path));
    if (!ok || (create && !may_become(path, err)) || !check_version(path, create, err)) {
        free(path);
        return NULL;
    }
    Workspace *ws = xcalloc(1, sizeof *ws);
    ws->dir = path;
    ws->root = read_root(path);
    return ws;
}

void workspace_on_stop(Workspace *ws, bool (*stop)(void *arg), void *arg)
{
    ws->stop = stop;
    ws->stop_arg = arg;
}

bool workspace_can_stop(const Workspace *ws) { return ws->stop != NULL; }

bool workspace_is_stopped(const Workspace *ws) { return ws->stop && ws->stop(ws->stop_arg); }

void workspace_note_stop(Workspace *ws) { ws->has_stopped = true; }

bool workspace_has_stopped(const Workspace *ws) { return ws->has_stopped; }

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
        Strings names = { 0 };
        char *path = workspace_path(ws, "%s", folders[i]);
        dir_list(path, &names, NULL);
        n += names.len;
        strings_release(&names);
        free(path);
    }
    if (n == 0)
        dir_remove(ws->dir);
}

const char *workspace_dir(const Workspace *ws) { return ws->dir; }

const char *workspace_root(const Workspace *ws) { return ws->root; }

const char *workspace_tempdir(const Workspace *ws, Err *err)
{
    char *parent = workspace_path(ws, "tmp");
    const char *dir = dir_make(parent, err) ? tempdir_new(parent, err) : NULL;
    free(parent);
    return dir;
}

Arena *workspace_arena(Workspace *ws) { return &ws->arena; }

char *workspace_path(const Workspace *ws, const char *fmt, ...)
{
    Str s = { 0 };
    str_addf(&s, "%s/", ws->dir);
    va_list ap;
    va_start(ap, fmt);
    str_addv(&s, fmt, ap);
    va_end(ap);
    return str_take(&s);
}

/* ---- units */

static const char *const status_names[] = {
    [UNIT_CAPTURED] = "captured",
    [UNIT_FAILED] = "failed",
    [UNIT_FOREIGN] = "foreign",
};

const char *unit_status_name(UnitStatus s) { return status_names[s]; }

static char *json_path(const Workspace *ws, const char *id)
{
    return workspace_path(ws, "units/%s.json", id);
}

char *unit_bitcode_path(const Workspace *ws, const char *id)
{
    return workspace_path(ws, "units/%s.bc", id);
}

/* As the file has it: what is no UTF-8 is written in another form. */
static void add_text(Sha256 *h, const char *text)
{
    Str s = { 0 };
    escape_utf8(&s, text, strlen(text));
    sha256_add(h, str_c(&s), s.len + 1);
    str_release(&s);
}

/* A checksum over all that the file of a unit says. */
static void unit_sum(const Unit *u, char sum[ID_LEN + 1])
{
    const char *texts[] = { u->id,     u->source,   u->directory,
                            u->output, u->language, unit_status_name(u->status),
                            u->reason };
    Sha256 h;
    sha256_init(&h);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        add_text(&h, texts[i]);
    for (size_t i = 0; i < u->arguments.len; i++)
        add_text(&h, u->arguments.items[i]);
    sha256_add(&h, "", 1);
    for (size_t i = 0; i < u->dropped.len; i++)
        add_text(&h, u->dropped.items[i]);
    sha256_end_id(&h, sum);
}

bool unit_write(Workspace *ws, const Unit *u, Err *err)
{
    char sum[ID_LEN + 1];
    unit_sum(u, sum);
    json_t *o = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "sum", sum, "source",
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

/* A unit whose file is there and makes no sense. */
static void make_damaged(Unit *u, const char *why)
{
    u->status = UNIT_FAILED;
    u->damaged = true;
    u->reason = why;
    u->bitcode = "";
}

static void take_unit(Arena *a, const json_t *o, Unit *u)
{
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
}

/* Captures before there were sums have none. */
static bool sum_fits(const Unit *u, const char *told)
{
    char sum[ID_LEN + 1];
    unit_sum(u, sum);
    return !*told || strcmp(sum, told) == 0;
}

/* NULL: there is none. */
static Unit *read_unit(Workspace *ws, const char *id)
{
    char *path = json_path(ws, id);
    if (!file_exists(path)) {
        free(path);
        return NULL;
    }
    Arena *a = &ws->arena;
    Unit *u = arena_new(a, Unit);
    json_t *o = json_read(path, NULL);
    u->id = arena_strdup(a, id);
    take_unit(a, o, u);
    char *bitcode = unit_bitcode_path(ws, id);
    u->bitcode = "";
    if (!o || !*u->source || !sum_fits(u, json_str(o, "sum")))
        make_damaged(u, "its file in the workspace is damaged; build it again");
    else if (u->status == UNIT_CAPTURED && !file_exists(bitcode))
        make_damaged(u, "its bitcode is gone from the workspace; build it again");
    else if (u->status == UNIT_CAPTURED && file_size(bitcode) < 4)
        make_damaged(u, "its bitcode in the workspace is empty; build it again");
    else if (u->status == UNIT_CAPTURED)
        u->bitcode = arena_strdup(a, bitcode);
    if (!*u->source)
        u->source = arena_printf(a, "unit %s", id);
    free(path);
    free(bitcode);
    json_decref(o);
    return u;
}

const char *unit_check_bitcode(const Unit *u)
{
    Str data = { 0 };
    char id[ID_LEN + 1];
    if (!str_starts(path_base(u->bitcode), u->id))
        return "";                     /* not from a workspace: named by nothing */
    if (!file_read_left(u->bitcode, (uint64_t)4 << 30, &data, NULL)) {
        str_release(&data);
        return "its bitcode can't be read; build it again";
    }
    sha256_id(data.data, data.len, id);
    str_release(&data);
    return strcmp(id, u->id) == 0 ? "" : "its bitcode is damaged; build it again";
}

const Unit *workspace_unit(Workspace *ws, const char *id)
{
    if (!map_has(&ws->units, id))
        map_put(&ws->units, id, read_unit(ws, id));
    return map_get(&ws->units, id);
}

/* ---- programs */

static const char *const kind_names[] = {
    [PROGRAM_EXECUTABLE] = "executable",
    [PROGRAM_SHARED] = "shared",
    [PROGRAM_ARCHIVE] = "archive",
    [PROGRAM_OBJECT] = "object",
};

const char *program_kind_name(ProgramKind k) { return kind_names[k]; }

static char *program_json_path(const Workspace *ws, const char *path)
{
    char id[ID_LEN + 1];
    sha256_id(path, strlen(path), id);
    return workspace_path(ws, "programs/%s.json", id);
}

bool program_write(Workspace *ws, const LinkRecord *r, Err *err)
{
    static const Strings none = { 0 };
    const Strings *missing = r->missing ? r->missing : &none;
    const Strings *ids = r->ids ? r->ids : &none;
    const Strings *command = r->command ? r->command : &none;
    json_t *o = json_pack("{s:o, s:o, s:o, s:o, s:o}", "path", json_text(r->path), "units",
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

void program_record(Workspace *ws, const char *path, Strings *ids, Strings *missing)
{
    char *file = program_json_path(ws, path);
    json_t *o = json_read(file, NULL);
    json_get_strings(o, "units", ids);
    json_get_strings(o, "missing", missing);
    json_decref(o);
    free(file);
}

/* --------------------------------------------------------------- checking */

static size_t check_units(Workspace *ws, void (*tell)(void *, const char *, const char *),
                          void *arg)
{
    Strings names = { 0 };
    size_t bad = 0;
    char *dir = workspace_path(ws, "units");
    dir_list(dir, &names, NULL);
    for (size_t i = 0; i < names.len; i++) {
        if (!str_ends(names.items[i], ".json"))
            continue;
        names.items[i][strlen(names.items[i]) - 5] = 0;
        const Unit *u = workspace_unit(ws, names.items[i]);
        const char *why = !u            ? "gone"
                          : u->damaged  ? u->reason
                          : *u->bitcode ? unit_check_bitcode(u)
                                        : "";
        if (*why) {
            tell(arg, u ? u->source : names.items[i], why);
            bad++;
        }
    }
    strings_release(&names);
    free(dir);
    return bad;
}

/* Records that can't be read, and units that they name and that are not here. */
static size_t check_programs(Workspace *ws, void (*tell)(void *, const char *, const char *),
                             void *arg)
{
    Strings names = { 0 };
    size_t bad = 0;
    char *dir = workspace_path(ws, "programs");
    dir_list(dir, &names, NULL);
    for (size_t i = 0; i < names.len; i++) {
        if (!str_ends(names.items[i], ".json"))
            continue;
        char *path = path_join(dir, names.items[i]);
        json_t *o = json_read(path, NULL);
        Strings ids = { 0 };
        json_get_strings(o, "units", &ids);
        if (!o || !*json_str(o, "path")) {
            tell(arg, path, "the record of a program is damaged; build it again");
            bad++;
        }
        for (size_t k = 0; k < ids.len; k++)
            if (!workspace_unit(ws, ids.items[k])) {
                tell(arg, json_str(o, "path"),
                     "a unit of it is gone from the workspace; build "
                     "it again");
                bad++;
            }
        strings_release(&ids);
        json_decref(o);
        free(path);
    }
    strings_release(&names);
    free(dir);
    return bad;
}

size_t workspace_check(Workspace *ws, void (*tell)(void *arg, const char *what, const char *why),
                       void *arg)
{
    return check_units(ws, tell, arg) + check_programs(ws, tell, arg);
}
