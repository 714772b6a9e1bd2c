/*
 * The project's own shared libraries. A program whose code is in its .so is woven whole:
 * the units of the libraries stand beside its own, and what the link command says
 * about such a library is replaced by what the library was linked from (relink.c).
 *
 * Libraries of libraries follow. One that is loaded with dlopen() is not seen.
 */
#include "base/file.h"
#include "capture/capture_int.h"
#include "capture/cmdline.h"
#include "capture/elf.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct Finder {
    Workspace *ws;
    Vec(const CapturedProgram *) found;
    Map seen;                    /* paths without links */
} Finder;

/* A source that the library's own command compiled and that is not captured can't be
 * compiled by another command. Other languages may need another linker. */
static bool can_join(const CapturedProgram *p)
{
    if (!p->link.len || p->kind != PROGRAM_SHARED || !p->nunits || p->ndamaged)
        return false;
    for (size_t i = 0; i < p->nfailed; i++)
        if (strcmp(p->failed[i]->output, p->path) == 0)
            return false;
    for (size_t i = 0; i < p->nforeign; i++)
        if (strcmp(p->foreign[i]->language, "assembler") != 0 ||
            strcmp(p->foreign[i]->output, p->path) == 0)
            return false;
    return true;
}

static void look_into(Finder *f, const CapturedProgram *p);

/* True: there is such a file, whether captured or not. */
static bool try_file(Finder *f, const char *path)
{
    char *real = path_real(path);
    bool there = real && file_is_regular(real);
    if (there && map_put(&f->seen, real, NULL)) {
        Str data = { 0 };
        Strings ids = { 0 };
        if (file_read(real, &data, NULL) && elf_kind(str_c(&data), data.len) == ELF_SHARED)
            elf_ids(str_c(&data), data.len, &ids);
        const CapturedProgram *p = ids.len ? workspace_program(f->ws, real, NULL) : NULL;
        if (p && can_join(p)) {
            vec_push(&f->found, p);
            look_into(f, p);
        }
        strings_release(&ids);
        str_release(&data);
    }
    free(real);
    return there;
}

static void try_name(Finder *f, const Strings *folders, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < folders->len && !found; i++) {
        char *path = name[0] == ':' ? xprintf("%s/%s", folders->items[i], name + 1)
                                    : xprintf("%s/lib%s.so", folders->items[i], name);
        found = try_file(f, path);
        free(path);
    }
}

/* The shared libraries that its link command names. */
static void look_into(Finder *f, const CapturedProgram *p)
{
    Strings folders = { 0 };
    for (size_t i = 1; i < p->link.len; i++) {
        const char *word = p->link.items[i];
        const char *next = i + 1 < p->link.len ? p->link.items[i + 1] : NULL;
        if (word[0] != '-' || !word[1]) {
            char *path = path_in(p->link_directory, word);
            if (strstr(path_base(path), ".so"))
                try_file(f, path);
            free(path);
            continue;
        }
        CmdlineFlag flag = cmdline_flag(word, next);
        if (flag.name && flag.value && strcmp(flag.name, "-L") == 0)
            vec_push(&folders, path_in(p->link_directory, flag.value));
        if (flag.name && flag.value && strcmp(flag.name, "-l") == 0)
            try_name(f, &folders, flag.value);
        i += flag.words - 1;
    }
    strings_release(&folders);
}

/* `p` with the units of its libraries behind its own, each once. */
static CapturedProgram *join(const Finder *f, const CapturedProgram *p, Arena *a)
{
    CapturedProgram *all = arena_new(a, CapturedProgram);
    size_t units = p->nunits, failed = p->nfailed, missing = p->nmissing;
    Map seen = { 0 };
    *all = *p;
    for (size_t i = 0; i < f->found.len; i++) {
        units += f->found.items[i]->nunits;
        failed += f->found.items[i]->nfailed;
        missing += f->found.items[i]->nmissing;
    }
    all->units = arena_array(a, const Unit *, units + 1);
    all->failed = arena_array(a, const Unit *, failed + 1);
    all->missing = arena_array(a, MissingObject, missing + 1);
    all->libraries = arena_array(a, const CapturedProgram *, f->found.len);
    all->ends = arena_array(a, size_t, f->found.len + 1);
    all->nunits = all->nfailed = all->nmissing = 0;
    for (size_t k = 0; k <= f->found.len; k++) {
        const CapturedProgram *from = k ? f->found.items[k - 1] : p;
        for (size_t i = 0; i < from->nunits; i++)
            if (map_put(&seen, from->units[i]->id, NULL))
                all->units[all->nunits++] = from->units[i];
        for (size_t i = 0; i < from->nfailed; i++)
            if (map_put(&seen, from->failed[i]->id, NULL))
                all->failed[all->nfailed++] = from->failed[i];
        for (size_t i = 0; i < from->nmissing; i++)
            all->missing[all->nmissing++] = from->missing[i];
        all->ends[k] = all->nunits;
        if (k)
            all->libraries[all->nlibraries++] = from;
    }
    assert(all->nunits <= units && all->ends[all->nlibraries] == all->nunits);
    map_release(&seen);
    return all;
}

const CapturedProgram *workspace_with_libraries(Workspace *ws, const CapturedProgram *p)
{
    Finder f = { .ws = ws };
    assert(p && !p->nlibraries);
    if (p->kind == PROGRAM_EXECUTABLE)
        look_into(&f, p);
    if (f.found.len)
        p = join(&f, p, workspace_arena(ws));
    vec_release(&f.found);
    map_release(&f.seen);
    return p;
}

bool library_exports(const CapturedProgram *library, Map *names)
{
    Str data = { 0 };
    bool ok = file_read(library->path, &data, NULL) && elf_exports(str_c(&data), data.len, names);
    str_release(&data);
    return ok;
}
