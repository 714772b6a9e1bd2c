/*
 * States of an application; state.h is the manual.
 *
 * `now` is what we believe to be on disk: for each file its size, time of
 * change and inode. After a request the folder is walked, and only files for
 * which one of these differs are read. The application may have put links into the
 * folder: they are never followed (below.h).
 */
#include "web/state.h"
#include "base/below.h"
#include "base/file.h"
#include "base/str.h"
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct Blob {
    uint64_t hash;             /* of what it means: see meaning() */
    size_t n;
    char data[];
};

typedef struct OnDisk {
    const Blob *blob;          /* NULL: as it was in the beginning */
    off_t size;
    struct timespec changed;
    ino_t inode;
    bool here, seen;
} OnDisk;

struct States {
    char *folder;
    Map now;                   /* path → OnDisk; all that ever were */
    Map base;                  /* path → Blob, of the beginning, once it was needed */
    Map blobs;                 /* content hash → Blob */
    Map programs;              /* paths of files that could be run in the beginning */
    Vec(State *) states;
    Map by_key;                /* hash of exact content → State */
};

enum { MOST_FILE = 64 << 20, MOST_DEPTH = 24 };

/* SQLite counts every change in its header; that is no difference in meaning. */
static uint64_t meaning(const char *data, size_t n)
{
    if (n < 100 || memcmp(data, "SQLite format 3", 16) != 0)
        return hash_bytes(data, n);
    char *copy = xmemdup(data, n);
    memset(copy + 24, 0, 4);
    memset(copy + 92, 0, 8);
    uint64_t h = hash_bytes(copy, n);
    free(copy);
    return h;
}

static const Blob *blob_of(States *st, const char *data, size_t n)
{
    uint64_t key[2] = { hash_bytes(data, n), n };
    void **slot = map_slotn(&st->blobs, key, sizeof key);
    if (!*slot) {
        Blob *b = xmalloc(sizeof *b + n);
        b->hash = meaning(data, n);
        b->n = n;
        memcpy(b->data, data, n);
        *slot = b;
    }
    return *slot;
}

static const Blob *read_blob(States *st, const char *path)
{
    Str s = { 0 };
    const Blob *b = NULL;
    if (below_read(st->folder, path, MOST_FILE, &s, NULL))
        b = blob_of(st, str_c(&s), s.len);
    str_release(&s);
    return b;
}

/* ---- looking at the disk */

/* Of db/, only files of databases (db/data/NAME/…) are the application's. */
static bool is_server_file(const char *path)
{
    if (!str_starts(path, "db/"))
        return false;
    return !str_starts(path, "db/data/") || !strchr(path + 8, '/');
}

typedef void OnFile(States *st, const char *path, const struct stat *info);

static void walk(States *st, int in, const char *below, unsigned depth, OnFile *each)
{
    int fd = openat(in, *below ? path_base(below) : st->folder,
                    O_RDONLY | O_DIRECTORY | O_CLOEXEC | (*below ? O_NOFOLLOW : 0));
    DIR *d = depth < MOST_DEPTH && fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat info;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            fstatat(dirfd(d), e->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        char *path = *below ? xprintf("%s/%s", below, e->d_name) : xstrdup(e->d_name);
        if (S_ISDIR(info.st_mode))
            walk(st, dirfd(d), path, depth + 1, each);
        else if (S_ISREG(info.st_mode) && !is_server_file(path))
            each(st, path, &info);
        free(path);
    }
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
}

static OnDisk *on_disk(States *st, const char *path)
{
    void **slot = map_slot(&st->now, path);
    if (!*slot)
        *slot = xcalloc(1, sizeof(OnDisk));
    return *slot;
}

static void note(OnDisk *d, const struct stat *info)
{
    d->here = d->seen = true;
    d->size = info->st_size;
    d->changed = info->st_ctim;
    d->inode = info->st_ino;
}

static void note_first(States *st, const char *path, const struct stat *info)
{
    OnDisk *d = on_disk(st, path);
    note(d, info);
    d->blob = NULL;
    if (info->st_mode & S_IXUSR)
        map_put(&st->programs, path, st);
}

static void note_change(States *st, const char *path, const struct stat *info)
{
    OnDisk *d = on_disk(st, path);
    d->seen = true;
    if (d->here && d->size == info->st_size && d->inode == info->st_ino &&
        d->changed.tv_sec == info->st_ctim.tv_sec && d->changed.tv_nsec == info->st_ctim.tv_nsec)
        return;
    d->blob = read_blob(st, path);
    note(d, info);
    const Blob *first = map_get(&st->base, path);
    if (first && first == d->blob)
        d->blob = NULL;
}

/* What the application has done since we looked last. */
static void look(States *st)
{
    for (size_t i = 0; i < st->now.len; i++)
        ((OnDisk *)st->now.entries[i].value)->seen = false;
    walk(st, AT_FDCWD, "", 0, note_change);
    for (size_t i = 0; i < st->now.len; i++) {
        OnDisk *d = st->now.entries[i].value;
        if (!d->seen) {
            d->here = false;
            d->blob = NULL;
        }
    }
}

/* ---- the beginning */

static bool copy_tree(const char *from, const char *to, unsigned depth, Err *err)
{
    Strings names = { 0 };
    if (depth >= MOST_DEPTH)
        return err_set(err, "%s: too deep, or a link leads back", from);
    bool ok = dir_make(to, err) && dir_list(from, &names, err);
    for (size_t i = 0; ok && i < names.len; i++) {
        char *a = path_join(from, names.items[i]), *b = path_join(to, names.items[i]);
        if (strcmp(names.items[i], ".sundew") == 0 || strcmp(names.items[i], ".git") == 0) {
            /* ours, or of no use to a page */
        } else if (file_is_dir(a)) {
            ok = copy_tree(a, b, depth + 1, err);
        } else if (file_is_regular(a)) {
            Str s = { 0 };
            ok = file_read(a, &s, err) && file_write(b, str_c(&s), s.len, err) &&
                 (access(a, X_OK) != 0 || chmod(b, 0755) == 0);
            str_release(&s);
        }
        free(a);
        free(b);
    }
    strings_release(&names);
    return ok;
}

/* Contents of the beginning are kept: the application may change any file. */
static void remember_base(States *st)
{
    for (size_t i = 0; i < st->now.len; i++) {
        OnDisk *d = st->now.entries[i].value;
        const char *path = st->now.entries[i].key;
        if (!d->here || map_has(&st->base, path))
            continue;
        const Blob *b = read_blob(st, path);
        if (b)
            map_put(&st->base, path, (void *)b);
    }
}

static State *add_state(States *st)
{
    State *s = xcalloc(1, sizeof *s);
    s->number = (unsigned)st->states.len;
    vec_push(&st->states, s);
    return s;
}

States *states_new(const char *source, const char *folder, Err *err)
{
    States *st = xcalloc(1, sizeof *st);
    st->folder = xstrdup(folder);
    static const char *const parts[] = { "app", "sessions", "tmp" };
    for (size_t i = 0; i < 3; i++) {
        char *p = path_join(folder, parts[i]);
        bool ok = dir_make(p, err) && (i || copy_tree(source, p, 0, err));
        free(p);
        if (!ok) {
            states_free(st);
            err_ctx(err, "%s", source);
            return NULL;
        }
    }
    walk(st, AT_FDCWD, "", 0, note_first);
    remember_base(st);
    add_state(st);
    return st;
}

bool states_add_file(States *st, const char *from, const char *name, Err *err)
{
    assert(st->states.len == 1);
    Str s = { 0 };
    char *to = xprintf("%s/app/%s", st->folder, name);
    bool ok = file_read(from, &s, err) && file_write(to, str_c(&s), s.len, err);
    free(to);
    str_release(&s);
    if (!ok)
        return false;
    walk(st, AT_FDCWD, "", 0, note_first);
    remember_base(st);
    return true;
}

static void state_free(State *s)
{
    for (size_t i = 0; i < s->files.len; i++)
        free(s->files.items[i].path);
    vec_release(&s->files);
    strings_release(&s->cookies);
    strings_release(&s->labels);
    strings_release(&s->stored);
    free(s);
}

void states_free(States *st)
{
    if (!st)
        return;
    for (size_t i = 0; i < st->states.len; i++)
        state_free(st->states.items[i]);
    vec_release(&st->states);
    for (size_t i = 0; i < st->now.len; i++)
        free(st->now.entries[i].value);
    for (size_t i = 0; i < st->blobs.len; i++)
        free(st->blobs.entries[i].value);
    map_release(&st->now);
    map_release(&st->base);
    map_release(&st->blobs);
    map_release(&st->programs);
    map_release(&st->by_key);
    free(st->folder);
    free(st);
}

const State *states_first(const States *st) { return st->states.items[0]; }
size_t states_count(const States *st) { return st->states.len; }

/* ---- save */

static int by_path(const void *a, const void *b)
{
    return strcmp(((const StateFile *)a)->path, ((const StateFile *)b)->path);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void gather(States *st, State *s)
{
    for (size_t i = 0; i < st->now.len; i++) {
        const OnDisk *d = st->now.entries[i].value;
        const char *path = st->now.entries[i].key;
        bool first = map_has(&st->base, path);
        if (d->here ? d->blob != NULL : first)
            vec_push(&s->files, ((StateFile){ xstrdup(path), d->here ? d->blob : NULL }));
    }
    if (s->files.len)
        qsort(s->files.items, s->files.len, sizeof *s->files.items, by_path);
}

static uint64_t mix(uint64_t h, const void *p, size_t n)
{
    return (h ^ hash_bytes(p, n)) * 0x9E3779B97F4A7C15u;
}

static uint64_t hash_state(const State *s)
{
    uint64_t h = 1;
    for (size_t i = 0; i < s->files.len; i++) {
        const StateFile *f = &s->files.items[i];
        if (str_starts(f->path, "tmp/"))
            continue;
        h = mix(h, f->path, strlen(f->path));
        uint64_t content = f->blob ? f->blob->hash : 0;
        h = mix(h, &content, sizeof content);
    }
    for (size_t i = 0; i < s->cookies.len; i++)
        h = mix(h, s->cookies.items[i], strlen(s->cookies.items[i]));
    return h;
}

const State *states_save(States *st, const Strings *cookies, const Strings *labels,
                         const Strings *stored, Err *err)
{
    (void)err;
    look(st);
    State *s = xcalloc(1, sizeof *s);
    gather(st, s);
    for (size_t i = 0; cookies && i < cookies->len; i++)
        strings_add(&s->cookies, cookies->items[i]);
    for (size_t i = 0; labels && i < labels->len; i++)
        strings_add(&s->labels, labels->items[i]);
    for (size_t i = 0; stored && i < stored->len; i++)
        strings_add(&s->stored, stored->items[i]);
    if (s->cookies.len)
        qsort(s->cookies.items, s->cookies.len, sizeof *s->cookies.items, by_text);
    s->hash = hash_state(s);
    st->states.items[0]->hash = hash_state(st->states.items[0]);
    State *old = s->hash == st->states.items[0]->hash
                     ? st->states.items[0]
                     : map_getn(&st->by_key, &s->hash, sizeof s->hash);
    if (old) {
        state_free(s);
        return old;
    }
    s->number = (unsigned)st->states.len;
    vec_push(&st->states, s);
    map_putn(&st->by_key, &s->hash, sizeof s->hash, s);
    return s;
}

/* ---- restore */

static const StateFile *file_in(const State *s, const char *path)
{
    StateFile key = { .path = (char *)path };
    return s->files.len ? bsearch(&key, s->files.items, s->files.len, sizeof key, by_path) : NULL;
}

static bool put_file(States *st, const char *path, const Blob *b, OnDisk *d, Err *err)
{
    struct stat info;
    bool ok = below_write(st->folder, path, b->data, b->n, err);
    /* The database server has a user of its own. */
    if (ok && str_starts(path, "db/"))
        ok = below_give(st->folder, path, 0660, err);
    else if (ok && map_has(&st->programs, path))
        ok = below_give(st->folder, path, 0755, err);
    if (ok && below_look(st->folder, path, &info))
        note(d, &info);
    return ok;
}

bool states_restore_touches(States *st, const State *s, const char *below)
{
    for (size_t i = 0; i < st->now.len; i++) {
        const char *path = st->now.entries[i].key;
        const OnDisk *d = st->now.entries[i].value;
        const StateFile *f = file_in(s, path);
        const Blob *first = map_get(&st->base, path);
        const Blob *have = !d->here ? NULL : d->blob ? d->blob : first;
        if (str_starts(path, below) && (f ? f->blob : first) != have)
            return true;
    }
    return false;
}

bool states_restore(States *st, const State *s, Err *err)
{
    for (size_t i = 0; i < st->now.len; i++) {
        const char *path = st->now.entries[i].key;
        OnDisk *d = st->now.entries[i].value;
        const StateFile *f = file_in(s, path);
        const Blob *first = map_get(&st->base, path);
        const Blob *want = f ? f->blob : first;
        const Blob *have = !d->here ? NULL : d->blob ? d->blob : first;
        if (want == have)
            continue;
        if (want) {
            if (!put_file(st, path, want, d, err))
                return false;
            d->blob = f ? f->blob : NULL;
        } else {
            below_remove(st->folder, path);
            d->here = false;
            d->blob = NULL;
        }
    }
    return true;
}

/* ---- cookies */

void state_cookie_header(const State *s, Str *out)
{
    for (size_t i = 0; i < s->cookies.len; i++) {
        if (i)
            str_add(out, "; ");
        str_add(out, s->cookies.items[i]);
    }
}

void cookies_set(Strings *jar, const char *header)
{
    size_t n = strcspn(header, ";"), eq = strcspn(header, "=");
    if (eq >= n)
        return;
    bool gone = n == eq + 1 || strstr(header, "Max-Age=0") || strstr(header, "=deleted;");
    for (size_t i = 0; i < jar->len; i++)
        if (strncmp(jar->items[i], header, eq + 1) == 0) {
            free(jar->items[i]);
            jar->items[i] = jar->items[--jar->len];
            break;
        }
    if (!gone) {
        char *c = xstrndup(header, n);
        strings_add(jar, c);
        free(c);
    }
}
