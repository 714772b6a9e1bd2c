/*
 * A program is known by its file: the section .sundew names its units. The
 * record in programs/ adds what the file can't tell, the objects that were
 * linked without being captured. It is found by the file's path, else by its
 * units: a file may have been moved or copied since.
 */
#include "base/file.h"
#include "capture/capture_int.h"
#include "capture/elf.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool object_remember(Workspace *ws, const char *data, size_t n, const char *id, Err *err)
{
    char hash[ID_LEN + 1];
    assert(strlen(id) == ID_LEN);
    sha256_id(data, n, hash);
    char *path = workspace_path(ws, "objects/%s", hash);
    bool ok = file_write(path, id, strlen(id), err);
    free(path);
    return ok;
}

bool object_ids(const Workspace *ws, const char *data, size_t n, Strings *ids)
{
    size_t before = ids->len;
    elf_ids(data, n, ids);
    if (ids->len > before)
        return true;
    if (elf_kind(data, n) != ELF_NONE)
        return false;
    char hash[ID_LEN + 1];
    sha256_id(data, n, hash);
    char *path = workspace_path(ws, "objects/%s", hash);
    Str id = { 0 };
    if (file_exists(path) && file_read(path, &id, NULL) && id.len == ID_LEN)
        strings_add(ids, str_c(&id));
    str_release(&id);
    free(path);
    return ids->len > before;
}

bool file_ids(const Workspace *ws, const char *path, Strings *ids, Strings *missing, Err *err)
{
    Str data = { 0 };
    bool ok = file_read(path, &data, err);
    if (ok && archive_is(str_c(&data), data.len)) {
        ArchiveMembers members = { 0 };
        ok = archive_members(path, str_c(&data), data.len, &members, err);
        for (size_t i = 0; i < members.len; i++) {
            ArchiveMember *m = &members.items[i];
            if (!object_ids(ws, m->data, m->size, ids) && missing)
                strings_addf(missing, "%s(%s)", path, m->name);
        }
        archive_members_release(&members);
    } else if (ok) {
        object_ids(ws, str_c(&data), data.len, ids);
    }
    str_release(&data);
    return ok;
}

static bool kind_of(const char *path, ProgramKind *kind, Err *err)
{
    Str data = { 0 };
    bool ok = file_read(path, &data, err);
    if (ok && archive_is(str_c(&data), data.len)) {
        *kind = PROGRAM_ARCHIVE;
    } else if (ok) {
        switch (elf_kind(str_c(&data), data.len)) {
        case ELF_OBJECT: *kind = PROGRAM_OBJECT; break;
        case ELF_SHARED: *kind = PROGRAM_SHARED; break;
        case ELF_EXECUTABLE: *kind = PROGRAM_EXECUTABLE; break;
        default:
            ok = err_set(err,
                         "%s: neither executable, shared library, archive "
                         "nor object",
                         path);
        }
    }
    str_release(&data);
    return ok;
}

/* Spreads the ids over the lists of the program, each unit once. */
static void sort_units(Workspace *ws, CapturedProgram *p, const Strings *ids, const char *path,
                       Strings *missing, Arena *a)
{
    Map seen = { 0 };
    p->units = arena_array(a, const Unit *, ids->len + 1);
    p->failed = arena_array(a, const Unit *, ids->len + 1);
    p->foreign = arena_array(a, const Unit *, ids->len + 1);
    for (size_t i = 0; i < ids->len; i++) {
        const char *id = ids->items[i];
        if (!map_put(&seen, id, NULL))
            continue;
        const Unit *u = workspace_unit(ws, id);
        if (!u)
            strings_addf(missing, "%s: unit %s", path, id);
        else if (u->status == UNIT_CAPTURED)
            p->units[p->nunits++] = u;
        else if (u->status == UNIT_FAILED)
            p->failed[p->nfailed++] = u;
        else
            p->foreign[p->nforeign++] = u;
    }
    assert(p->nunits + p->nfailed + p->nforeign <= seen.len);
    map_release(&seen);
}

/* Is the unit one that was captured here? The record of the program names those. */
static bool was_here(const char *object, const Strings *recorded)
{
    const char *unit = strstr(object, ": unit ");
    for (size_t i = 0; unit && i < recorded->len; i++)
        if (strcmp(recorded->items[i], unit + strlen(": unit ")) == 0)
            return true;
    return false;
}

static void add_missing(CapturedProgram *p, const Strings *missing, const json_t *record, Arena *a)
{
    Strings recorded = { 0 };
    json_get_strings(record, "units", &recorded);
    p->missing = arena_array(a, MissingObject, missing->len);
    for (size_t i = 0; i < missing->len; i++) {
        MissingObject *m = &p->missing[p->nmissing++];
        m->object = arena_strdup(a, missing->items[i]);
        m->damaged = was_here(m->object, &recorded);
        p->ndamaged += m->damaged;
        m->reason = m->damaged ? "gone from the workspace; build it again"
                    : strstr(m->object, ": unit ")
                        ? "captured in another workspace"
                        : "not compiled under capture (built before it, or by "
                          "a compiler that Sundew does not stand in for)";
    }
    for (size_t i = 0; i < p->nfailed; i++)
        p->ndamaged += p->failed[i]->damaged;
    strings_release(&recorded);
}

static void add_link(CapturedProgram *p, const json_t *record, Arena *a)
{
    Strings words = { 0 };
    json_get_strings(record, "link", &words);
    p->link.items = arena_array(a, char *, words.len + 1);
    for (size_t i = 0; i < words.len; i++)
        p->link.items[p->link.len++] = arena_strdup(a, words.items[i]);
    p->link_directory = arena_strdup(a, record ? json_str(record, "directory") : "");
    strings_release(&words);
}

/* `record` is NULL if the file was not seen being linked. */
static CapturedProgram *load(Workspace *ws, Arena *a, const char *path, const json_t *record,
                             Err *err)
{
    Strings ids = { 0 }, missing = { 0 };
    CapturedProgram *p = arena_new(a, CapturedProgram);
    p->name = arena_strdup(a, path_base(path));
    p->path = arena_strdup(a, path);
    bool ok = kind_of(path, &p->kind, err) && file_ids(ws, path, &ids, &missing, err);
    if (ok) {
        json_get_strings(record, "missing", &missing);
        sort_units(ws, p, &ids, path, &missing, a);
        add_missing(p, &missing, record, a);
        add_link(p, record, a);
    }
    strings_release(&ids);
    strings_release(&missing);
    return ok ? p : NULL;
}

/* All records, by path. */
static bool read_records(Workspace *ws, Map *records, Err *err)
{
    Strings names = { 0 };
    char *dir = workspace_path(ws, "programs");
    bool ok = dir_list(dir, &names, err);
    for (size_t i = 0; ok && i < names.len; i++) {
        char *path = path_join(dir, names.items[i]);
        json_t *o = str_ends(path, ".json") ? json_read(path, err) : NULL;
        if (str_ends(path, ".json") && (!o || !*json_str(o, "path"))) {
            ok = err_set(err,
                         "%s is damaged: remove it and build that program "
                         "again",
                         path);
            json_decref(o);
        } else if (o && !map_has(records, json_str(o, "path"))) {
            map_put(records, json_str(o, "path"), o);
        } else {
            json_decref(o);
        }
        free(path);
    }
    strings_release(&names);
    free(dir);
    return ok;
}

static void release_records(Map *records)
{
    for (size_t i = 0; i < records->len; i++)
        json_decref(records->entries[i].value);
    map_release(records);
}

static bool same_units(const json_t *record, const Strings *ids)
{
    Strings units = { 0 };
    json_get_strings(record, "units", &units);
    bool same = ids->len && units.len == ids->len;
    for (size_t i = 0; same && i < ids->len; i++)
        same = strcmp(units.items[i], ids->items[i]) == 0;
    strings_release(&units);
    return same;
}

/* The record of a file that was moved or copied. */
static const json_t *record_by_units(Workspace *ws, const Map *records, const char *path)
{
    Strings ids = { 0 };
    const json_t *found = NULL;
    file_ids(ws, path, &ids, NULL, NULL);
    for (size_t i = 0; !found && i < records->len; i++)
        if (same_units(records->entries[i].value, &ids))
            found = records->entries[i].value;
    strings_release(&ids);
    return found;
}

/* Where the file of a record is now, `mv prog.tmp prog` being a common last
 * step: beside its old place. NULL: gone. */
static char *moved_to(Workspace *ws, const Map *records, const char *path, const json_t *record)
{
    char *dir = path_dir(path), *found = NULL;
    Strings names = { 0 };
    dir_list(dir, &names, NULL);
    for (size_t i = 0; !found && i < names.len; i++) {
        char *file = path_join(dir, names.items[i]);
        Strings ids = { 0 };
        ProgramKind kind;
        if (!map_has(records, file) && file_is_regular(file) && kind_of(file, &kind, NULL) &&
            kind != PROGRAM_OBJECT && file_ids(ws, file, &ids, NULL, NULL) &&
            same_units(record, &ids)) {
            found = file;
            file = NULL;
        }
        strings_release(&ids);
        free(file);
    }
    strings_release(&names);
    free(dir);
    return found;
}

static int by_path(const void *a, const void *b)
{
    return strcmp((*(const CapturedProgram *const *)a)->path,
                  (*(const CapturedProgram *const *)b)->path);
}

const CapturedProgram **workspace_programs(Workspace *ws, size_t *n, Err *err)
{
    Map records = { 0 };
    Arena *a = workspace_arena(ws);
    *n = 0;
    if (!read_records(ws, &records, err)) {
        release_records(&records);
        return NULL;
    }
    const CapturedProgram **all = arena_array(a, const CapturedProgram *, records.len + 1);
    for (size_t i = 0; i < records.len; i++) {
        const char *path = records.entries[i].key;
        const json_t *record = records.entries[i].value;
        char *now = file_is_regular(path) ? xstrdup(path) : moved_to(ws, &records, path, record);
        CapturedProgram *p = now ? load(ws, a, now, record, NULL) : NULL;
        if (p)
            all[(*n)++] = p;
        free(now);
    }
    qsort(all, *n, sizeof *all, by_path);
    release_records(&records);
    return all;
}

/* A file that is there, by its path. */
static const CapturedProgram *by_file(Workspace *ws, const char *path, const Map *records, Err *err)
{
    char *full = path_absolute(path), *real = path_real(path);
    const json_t *record = map_get(records, full);
    if (!record && real)
        record = map_get(records, real);
    if (!record)
        record = record_by_units(ws, records, full);
    CapturedProgram *p = load(ws, workspace_arena(ws), full, record, err);
    if (p && !p->nunits && !p->nfailed && !p->nforeign && !p->ndamaged) {
        err_set(err,
                "%s was not built under capture: no unit of this "
                "workspace is in it; build it again from clean: "
                "sundew capture -- make",
                path);
        p = NULL;
    }
    free(full);
    free(real);
    return p;
}

/* The value of NAME='VALUE' in a file of libtool's; NULL: none, or empty. */
static char *libtool_value(const char *text, const char *name)
{
    char *line = xprintf("\n%s='", name);
    const char *at = strstr(text, line);
    at = at ? at + strlen(line) : NULL;
    size_t n = at ? strcspn(at, "'\n") : 0;
    free(line);
    return n ? xstrndup(at, n) : NULL;
}

/* libtool puts a script in the place of a program, and a text in that of a library, and
 * both files into .libs/. NULL: `path` is neither. */
static char *libtool_target(const char *path)
{
    Str text = { 0 };
    char *name = NULL;
    if (!file_read_left(path, 1 << 20, &text, NULL)) {
        /* a link or a large file: no script */
    } else if (str_starts(str_c(&text), "#!") &&
               strstr(str_c(&text), "temporary wrapper script for")) {
        name = xstrdup(path_base(path));
    } else if (str_starts(str_c(&text), "# ") && strstr(str_c(&text), "libtool library file")) {
        name = libtool_value(str_c(&text), "dlname");
        if (!name)
            name = libtool_value(str_c(&text), "old_library");
    }
    str_release(&text);
    if (!name)
        return NULL;
    char *dir = path_dir(path), *file = xprintf("%s/.libs/%s", dir, name);
    bool there = !strchr(name, '/') && file_is_regular(file);
    free(dir);
    free(name);
    if (there)
        return file;
    free(file);
    return NULL;
}

/* Is `file` the shared library that the linker knows as `name`: libx.so.0.1 as libx.so or
 * libx.so.0? */
static bool is_version_of(const char *file, const char *name)
{
    size_t n = strlen(name);
    if (!strstr(path_base(name), ".so") || strncmp(file, name, n) != 0 || file[n] != '.')
        return false;
    return file[n + strspn(file + n, ".0123456789")] == 0;
}

/* bin/prog, as sundew check shows it, of a program /build/bin/prog */
static bool is_end_of(const char *path, const char *name)
{
    size_t n = strlen(path), end = strlen(name);
    return *name != '/' && n > end && path[n - end - 1] == '/' && strcmp(path + n - end, name) == 0;
}

/* The programs that `name` means, a path or a name in the workspace: those of exactly that name,
 * only if there is none a shared library with a version, and then what ends so. The number; the first
 * in *found. */
static size_t by_name(const CapturedProgram *const *all, size_t n, const char *name,
                      const CapturedProgram **found)
{
    char *full = strchr(name, '/') ? path_absolute(name) : NULL;
    size_t hits = 0;
    for (int how = 0; !hits && how < 3; how++)
        for (size_t i = 0; i < n; i++) {
            const char *is = full ? all[i]->path : all[i]->name, *want = full ? full : name;
            bool same = how == 0   ? strcmp(is, want) == 0
                        : how == 1 ? is_version_of(is, want)
                                   : is_end_of(all[i]->path, name);
            if (same && !hits++)
                *found = all[i];
        }
    free(full);
    return hits;
}

const CapturedProgram *workspace_program(Workspace *ws, const char *name, Err *err)
{
    Map records = { 0 };
    const CapturedProgram *p = NULL;
    if (!read_records(ws, &records, err))
        goto out;
    if (file_is_regular(name)) {
        char *file = libtool_target(name);
        p = by_file(ws, file ? file : name, &records, err);
        free(file);
        goto out;
    }
    size_t n;
    const CapturedProgram **all = workspace_programs(ws, &n, err);
    size_t hits = all ? by_name(all, n, name, &p) : 0;
    if (hits > 1)
        p = NULL;
    if (hits > 1)
        err_set(err,
                "'%s' names %zu programs of this workspace; give the path "
                "of one (sundew show programs lists them)",
                name, hits);
    else if (!hits)
        err_set(err,
                "no program '%s': no such file, and none of that name in "
                "the workspace (sundew show programs lists them)",
                name);
out:
    release_records(&records);
    return p;
}
