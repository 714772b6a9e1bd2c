/* Copies of the files in a folder. */
#include "base/file.h"
#include "technique/reproduce/reproduce_int.h"
#include <string.h>

#define MOST_BYTES (16 << 20)
#define MOST_FILES 1000

/* Workspaces, version control and our own results are no input. */
static bool is_left_out(const char *name)
{
    return name[0] == '.' || str_ends(name, ".tests") || str_ends(name, ".crash");
}

static bool add_folder(Files *f, const char *folder, const char *prefix, size_t *bytes,
                       unsigned depth)
{
    Strings names = { 0 };
    bool ok = depth < 16 && dir_list(folder, &names, NULL);
    for (size_t i = 0; ok && i < names.len; i++) {
        if (is_left_out(names.items[i]))
            continue;
        char *path = path_join(folder, names.items[i]);
        const char *name = arena_printf(&f->arena, "%s%s", prefix, names.items[i]);
        int64_t size = file_is_regular(path) ? file_size(path) : -1;
        Str data = { 0 };
        if (file_is_dir(path)) {
            ok = add_folder(f, path, arena_printf(&f->arena, "%s/", name), bytes, depth + 1);
        } else if (size >= 0) {
            *bytes += (size_t)size;
            ok = *bytes <= MOST_BYTES && f->len < MOST_FILES;
            if (ok && file_read(path, &data, NULL)) {
                char *copy = arena_array(&f->arena, char, data.len + 1);
                memcpy(copy, str_c(&data), data.len);
                f->items = vec_room(f->items, f->len, &f->cap, sizeof *f->items);
                f->items[f->len++] = (RunFile){ name, copy, data.len };
            }
        }
        str_release(&data);
        free(path);
    }
    strings_release(&names);
    return ok;
}

bool files_read(Files *f, const char *folder)
{
    size_t bytes = 0;
    if (add_folder(f, folder, "", &bytes, 0))
        return true;
    f->len = 0;
    return false;
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
