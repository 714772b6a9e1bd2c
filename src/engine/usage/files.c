/*
 * Files that the example asks the library for.
 *
 * A text in a call that is the name of a file is taken for one. What is in the file goes
 * with the usage, so that sequences and tests find it wherever they run: in a folder of
 * their own, under its name without folders. Calls get that name.
 *
 *     doc_open("../data/lines.txt")      doc_open("lines.txt"), and lines.txt is there
 *
 * Commands (make check) may run programs in any folder of the project, so names are looked
 * for in all of them.
 */
#include "base/file.h"
#include "engine/usage/usage_int.h"
#include <string.h>
#include <sys/stat.h>

enum {
    MOST_FILES = 32,
    LARGEST = 64 << 10,
    LONGEST_NAME = 200,
    MOST_FOLDERS = 400,
    DEEPEST = 4,
};

typedef struct Finder {
    Usage *usage;
    Strings folders;             /* in which names are looked for */
    Map seen;                    /* texts that were looked at -> SeqFile * or NULL */
} Finder;

static void add_folders(Strings *out, const char *folder, unsigned depth)
{
    Strings names = { 0 };
    if (out->len >= MOST_FOLDERS)
        return;
    strings_add(out, folder);
    if (depth < DEEPEST && dir_list(folder, &names, NULL))
        for (size_t i = 0; i < names.len; i++) {
            char *path = path_join(folder, names.items[i]);
            struct stat st;
            if (names.items[i][0] != '.' && lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
                add_folders(out, path, depth + 1);
            free(path);
        }
    strings_release(&names);
}

static bool may_be_name(const SeqValue *v)
{
    if (v->kind != VALUE_STRING || !v->n || v->n > LONGEST_NAME || memchr(v->bytes, 0, v->n))
        return false;
    for (size_t i = 0; i < v->n; i++)
        if (v->bytes[i] < 32 || v->bytes[i] == 127)
            return false;
    return v->bytes[v->n - 1] != '/' && !(v->n == 1 && v->bytes[0] == '.');
}

/* A text that has the name of a file by chance is no file: names of the function or of its
 * parameter have to say so. */
static bool wants_file(const ApiFunction *f, unsigned place)
{
    static const char *const words[] = { "file", "path", "open", "load", "read" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(f->name, words[i]) || strcasestr(f->params[place].name, words[i]))
            return f->params[place].role == ROLE_STRING;
    return false;
}

static bool read_small(const char *path, Str *out)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= LARGEST &&
           file_read(path, out, NULL);
}

/* The content of the file that a name means; false: there is none. */
static bool find(Finder *f, const char *name, Str *out)
{
    if (*name == '/')
        return f->folders.len && str_starts(name, f->folders.items[0]) && read_small(name, out);
    for (size_t i = 0; i < f->folders.len; i++) {
        char *path = path_join(f->folders.items[i], name);
        bool ok = read_small(path, out);
        free(path);
        if (ok)
            return true;
    }
    return false;
}

static bool is_taken(const Usage *m, const char *name)
{
    for (size_t i = 0; i < m->files.len; i++)
        if (strcmp(m->files.items[i].name, name) == 0)
            return true;
    return false;
}

/* The file's name in the folder of a test; NULL: it is no file. */
static const char *file_of(Finder *f, const char *name)
{
    Usage *m = f->usage;
    void **slot = map_slot(&f->seen, name);
    Str text = { 0 };
    if (*slot)
        return *slot == (void *)f ? NULL : *slot;
    *slot = f;
    const char *base = path_base(name);
    if (m->files.len < MOST_FILES && *base && strcmp(base, "..") != 0 && !is_taken(m, base) &&
        find(f, name, &text)) {
        uint8_t *bytes = arena_array(&m->arena, uint8_t, text.len + 1);
        memcpy(bytes, str_c(&text), text.len);
        SeqFile file = { arena_strdup(&m->arena, base), bytes, text.len };
        vec_push(&m->files, file);
        *slot = (void *)file.name;
    }
    str_release(&text);
    return *slot == (void *)f ? NULL : *slot;
}

void files_find(Usage *m, RawUsage *raw, const char *root)
{
    Finder f = { .usage = m };
    char *here = path_absolute(".");
    add_folders(&f.folders, root ? root : here, 0);
    strings_add(&f.folders, here);
    for (size_t i = 0; i < raw->calls.len; i++) {
        RawCall *c = &raw->calls.items[i];
        for (unsigned k = 0; c->api && c->via == VIA_EXAMPLE && k < c->nparams; k++) {
            if (!wants_file(c->api, k) || !may_be_name(&c->values[k]))
                continue;
            char *said = xstrndup((const char *)c->values[k].bytes, c->values[k].n);
            const char *name = file_of(&f, said);
            if (name)
                c->values[k] = value_string(&m->arena, name);
            free(said);
        }
    }
    free(here);
    strings_release(&f.folders);
    map_release(&f.seen);
}
