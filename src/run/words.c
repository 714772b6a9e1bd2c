/*
 * Files that the words of a command name, in folders that a subject has of its own.
 *
 *     record ./prog -- -v --in=/tmp/a.txt /tmp/b     the sandbox shows /tmp/a.txt and /tmp/b
 *
 * A word names a path as a whole, behind "=", or from its first "/" on ("-I/tmp/x"). It may come
 * from a stranger: the tests of a project that is checked start programs with words of their choice.
 * So a word never opens a way out. These stay hidden: a private folder as a whole, sockets, pipes
 * and devices, and a folder with one of these in it (through a socket of a terminal's or a desktop's
 * a subject could run commands outside).
 */
#include "base/file.h"
#include "base/str.h"
#include "run/run_int.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_NAMED = 32,           /* as many mounts */
    MOST_ENTRIES = 20000,      /* of a folder, with all below it */
    DEEPEST = 64,
};

/* Are there only files, folders and links below the folder? Takes the descriptor. */
static bool is_harmless(int dir, unsigned depth, unsigned *left)
{
    DIR *d = depth < DEEPEST ? fdopendir(dir) : NULL;
    struct dirent *e;
    bool ok = d != NULL;
    while (ok && (e = readdir(d))) {
        struct stat st;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        ok = (*left)-- > 1 && fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0;
        if (ok && S_ISDIR(st.st_mode)) {
            int below = openat(dir, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            ok = below >= 0 && is_harmless(below, depth + 1, left);
        } else if (ok) {
            ok = S_ISREG(st.st_mode) || S_ISLNK(st.st_mode);
        }
    }
    if (d)
        closedir(d);
    else
        close(dir);
    return ok;
}

/* Why the path stays hidden; NULL: it need not. */
static const char *objection(const char *path, const struct stat *st)
{
    unsigned left = MOST_ENTRIES;
    if (S_ISREG(st->st_mode))
        return NULL;
    if (!S_ISDIR(st->st_mode))
        return "it is neither a file nor a folder";
    for (size_t i = 0; i < 4; i++)
        if (strcmp(path, sandbox_private[i]) == 0)
            return "subjects have one of their own; name a file or a folder in it";
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return dir >= 0 && is_harmless(dir, 0, &left)
               ? NULL
               : "it is large, can't be read, or has more than files and folders in it";
}

static bool has(const Strings *list, const char *path)
{
    for (size_t i = 0; i < list->len; i++)
        if (strcmp(list->items[i], path) == 0)
            return true;
    return false;
}

static void look_at(const char *word, Strings *named, Str *hidden)
{
    char *path = *word ? path_absolute(word) : NULL, *real = *word ? path_real(word) : NULL;
    struct stat st;
    if (path && real && sandbox_hides(path) && stat(path, &st) == 0 && !has(named, path)) {
        const char *why =
            named->len == MOST_NAMED ? "too many words name files" : objection(real, &st);
        if (!why)
            strings_add(named, path);
        else if (!strstr(str_c(hidden), path))
            str_addf(hidden, "%s%s is hidden from the program: %s", hidden->len ? "; " : "", path,
                     why);
    }
    free(path);
    free(real);
}

char *words_named(char *const *words, Strings *named)
{
    Str hidden = { 0 };
    for (char *const *w = words && *words ? words + 1 : NULL; w && *w; w++) {
        const char *value = strchr(*w, '='), *slash = strchr(*w, '/');
        look_at(*w, named, &hidden);
        if (value)
            look_at(value + 1, named, &hidden);
        if (slash && slash != *w && (!value || slash != value + 1))
            look_at(slash, named, &hidden);
    }
    return hidden.len ? str_take(&hidden) : NULL;
}
