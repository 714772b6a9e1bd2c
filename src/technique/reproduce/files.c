/* Copies of the files in a folder. */
#include "base/file.h"
#include "technique/reproduce/reproduce_int.h"
#include <stdio.h>
#include <string.h>

#define MOST_BYTES (16 << 20)
#define MOST_FILES 1000

/* Workspaces, version control and our own results are no input. */
static bool is_left_out(const char *name)
{
    return name[0] == '.' || str_ends(name, ".tests") || str_ends(name, ".crash");
}

typedef struct Reading {
    Files *files;
    char *const *words;            /* of the command line; or NULL */
    size_t bytes;
} Reading;

/* Does a word of the command line name it? */
static bool is_named(const Reading *r, const char *name)
{
    for (char *const *w = r->words; *w; w++)
        if (strstr(*w, path_base(name)))
            return true;
    return false;
}

/* What a build leaves: the program hardly reads that. */
static bool is_product(const char *path)
{
    char head[8] = { 0 };
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(head, 1, sizeof head - 1, f) : 0;
    if (f)
        fclose(f);
    return n >= 4 && (memcmp(head, "\177ELF", 4) == 0 || memcmp(head, "BC\xc0\xde", 4) == 0 ||
                      strcmp(head, "!<arch>") == 0);
}

static void add_file(Files *f, const char *name, const void *data, size_t n)
{
    char *copy = arena_array(&f->arena, char, n + 1);
    memcpy(copy, data, n);
    f->items = vec_room(f->items, f->len, &f->cap, sizeof *f->items);
    f->items[f->len++] = (RunFile){ name, copy, n };
}

static bool add_folder(Reading *r, const char *folder, const char *prefix, unsigned depth)
{
    Files *f = r->files;
    size_t *bytes = &r->bytes;
    Strings names = { 0 };
    bool ok = depth < 16 && dir_list(folder, &names, NULL);
    for (size_t i = 0; ok && i < names.len; i++) {
        if (is_left_out(names.items[i]))
            continue;
        char *path = path_join(folder, names.items[i]);
        if (r->words && !is_named(r, names.items[i]) && file_is_regular(path) && is_product(path)) {
            free(path);
            continue;
        }
        const char *name = arena_printf(&f->arena, "%s%s", prefix, names.items[i]);
        int64_t size = file_is_regular(path) ? file_size(path) : -1;
        Str data = { 0 };
        if (file_is_dir(path)) {
            ok = add_folder(r, path, arena_printf(&f->arena, "%s/", name), depth + 1);
        } else if (size >= 0) {
            *bytes += (size_t)size;
            ok = *bytes <= MOST_BYTES && f->len < MOST_FILES;
            if (ok && file_read(path, &data, NULL))
                add_file(f, name, str_c(&data), data.len);
        }
        str_release(&data);
        free(path);
    }
    strings_release(&names);
    return ok;
}

bool files_read(Files *f, const char *folder, char *const *words)
{
    Reading r = { .files = f, .words = words };
    if (add_folder(&r, folder, "", 0))
        return true;
    f->len = 0;
    return false;
}

static bool has_file(const Files *f, const char *name)
{
    for (size_t i = 0; i < f->len; i++)
        if (strcmp(f->items[i].name, name) == 0)
            return true;
    return false;
}

void files_of_crash(Files *f, const Crash *c)
{
    size_t n;
    const CrashFile *all = crash_files(c, &n);
    for (size_t i = 0; i < n; i++)
        if (all[i].name && !has_file(f, all[i].name))
            add_file(f, arena_strdup(&f->arena, all[i].name), all[i].bytes, all[i].n);
}

bool files_write(const Files *f, const char *folder, Err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < f->len; i++) {
        char *path = path_join(folder, f->items[i].name), *dir = path_dir(path);
        ok = dir_make(dir, err) && file_write(path, f->items[i].data, f->items[i].len, err);
        free(dir);
        free(path);
    }
    return ok;
}

void files_release(Files *f)
{
    free(f->items);
    arena_release(&f->arena);
    *f = (Files){ 0 };
}
