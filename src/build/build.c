/*
 * One key, one path, one rename: see build.h.
 *
 * A file counts by its content; the runtimes are small. The tool counts by the id that
 * the linker made of its content. A compiler counts by its path, size and time, because
 * it is large and comes from a package.
 */
#include "build/build.h"
#include "base/apart.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/tempdir.h"
#include <assert.h>
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { KEY = 16, UNUSED_DAYS = 7 };

/* ---- the key */

/* Each part has its length, so that two parts never read as one. */
static void add(Sha256 *h, const void *data, size_t n)
{
    uint64_t size = n;
    sha256_add(h, &size, sizeof size);
    sha256_add(h, data, n);
}

static void add_text(Sha256 *h, const char *text)
{
    add(h, text ? text : "", text ? strlen(text) : 0);
}

static void add_list(Sha256 *h, char *const *list)
{
    for (; list && *list; list++)
        add_text(h, *list);
    add_text(h, "end of list");
}

static void add_content(Sha256 *h, const char *path)
{
    Str data = { 0 };
    bool there = file_is_regular(path) && file_read(path, &data, NULL);
    add_text(h, there ? "content" : "not there");
    add(h, str_c(&data), data.len);
    str_release(&data);
}

/* A file, or each file of a folder. */
static void add_file(Sha256 *h, const char *path)
{
    Strings names = { 0 };
    if (!file_is_dir(path)) {
        add_content(h, path);
        return;
    }
    dir_list(path, &names, NULL);
    for (size_t i = 0; i < names.len; i++) {
        char *file = path_join(path, names.items[i]);
        add_text(h, names.items[i]);
        add_content(h, file);
        free(file);
    }
    strings_release(&names);
}

static void add_compiler(Sha256 *h, char *found)
{
    char *path = found ? path_real(found) : NULL;
    struct stat st;
    if (path && stat(path, &st) == 0) {
        int64_t stamp[] = { st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec };
        add(h, stamp, sizeof stamp);
    }
    add_text(h, path);
    free(path);
    free(found);
}

/* Files that the link takes over as they are: what the capture could not compile,
 * and objects that it never saw. "libx.a(member)" counts as libx.a. */
static void add_uncaptured(Sha256 *h, const CapturedProgram *c)
{
    for (size_t i = 0; i < c->nforeign; i++)
        add_content(h, c->foreign[i]->output);
    for (size_t i = 0; i < c->nfailed; i++)
        add_content(h, c->failed[i]->output);
    for (size_t i = 0; i < c->nmissing; i++) {
        const char *object = c->missing[i].object, *member = strrchr(object, '(');
        char *archive = member && str_ends(object, ")")
                            ? xstrndup(object, (size_t)(member - object))
                            : xstrdup(object);
        add_content(h, archive);
        free(archive);
    }
}

static void add_program(Sha256 *h, const Program *p)
{
    const CapturedProgram *c = program_captured(p);
    add_text(h, program_key(p));
    add_text(h, c ? c->path : "");
    for (size_t i = 0; c && i < c->link.len; i++)
        add_text(h, c->link.items[i]);
    add_text(h, c ? c->link_directory : "");
    for (size_t i = 0; c && i < c->nunits; i++)      /* some builds compile them again */
        for (size_t k = 0; k < c->units[i]->arguments.len; k++)
            add_text(h, c->units[i]->arguments.items[k]);
    if (c)
        add_uncaptured(h, c);
}

static void add_runtimes(Sha256 *h, const BuildRecipe *r)
{
    for (const char *const *name = r->runtimes; name && *name; name++) {
        char *path = xprintf("%s/runtime/%s.bc", r->libexec, *name);
        add_text(h, *name);
        add_content(h, path);
        free(path);
    }
    add_text(h, "end of runtimes");
}

/* The id that the linker gave this executable, a sum over its content. `h` is a Sha256. */
static int add_build_id(struct dl_phdr_info *image, size_t size, void *h)
{
    (void)size;
    for (unsigned i = 0; i < image->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &image->dlpi_phdr[i];
        const uint8_t *at = (const uint8_t *)image->dlpi_addr + p->p_vaddr, *end = at + p->p_memsz;
        while (p->p_type == PT_NOTE && (size_t)(end - at) > sizeof(ElfW(Nhdr)) + 4) {
            const ElfW(Nhdr) *n = (const void *)at;
            const uint8_t *name = at + sizeof *n, *id = name + ((n->n_namesz + 3) & ~3u);
            if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && !memcmp(name, "GNU", 4)) {
                add(h, id, n->n_descsz);
                return 1;
            }
            at = id + ((n->n_descsz + 3) & ~3u);
        }
    }
    return -1;                     /* the first image is the program: look no further */
}

/* Hashing it whole would take longer than many a command. */
static void add_self(Sha256 *h)
{
    if (dl_iterate_phdr(add_build_id, h) != 1)
        add_content(h, "/proc/self/exe");
}

static void key_of(const BuildRecipe *r, char key[ID_LEN + 1])
{
    Sha256 h;
    sha256_init(&h);
    add_self(&h);
    add_program(&h, r->program);
    add_text(&h, r->name);
    add_text(&h, r->variant);
    add_text(&h, r->driver);
    add_list(&h, r->link);
    add_runtimes(&h, r);
    for (const char *const *f = r->files; f && *f; f++)
        add_file(&h, *f);
    add_compiler(&h, clang_find());
    add_compiler(&h, path_search("cc", NULL));
    sha256_end_id(&h, key);
}

/* ---- the path */

char *build_path(const BuildRecipe *r)
{
    char key[ID_LEN + 1];
    assert(r->program && r->name && *r->name && !strchr(r->name, '/'));
    assert(r->libexec || !r->runtimes);
    key_of(r, key);
    char *what = xprintf("%.*s.%s", KEY, key, r->name);
    char *path = program_cache_path(r->program, what);
    free(what);
    return path;
}

/* Builds of this program and name under other keys, of an older Sundew for
 * example, go when nobody has used them for a week. */
static void sweep(const BuildRecipe *r)
{
    char *base = program_cache_path(r->program, ""), *dir = path_dir(base);
    char *end = xprintf(".%s", r->name);
    size_t n = strlen(path_base(base)) + KEY;
    time_t oldest = time(NULL) - UNUSED_DAYS * 24 * 3600;
    Strings names = { 0 };
    dir_list(dir, &names, NULL);
    for (size_t i = 0; i < names.len; i++) {
        char *path = path_join(dir, names.items[i]);
        struct stat st;
        if (str_starts(path, base) && strlen(names.items[i]) == n + strlen(end) &&
            strcmp(names.items[i] + n, end) == 0 && stat(path, &st) == 0 && st.st_mtime < oldest)
            unlink(path);
        free(path);
    }
    strings_release(&names);
    free(base);
    free(dir);
    free(end);
}

static bool make(const BuildRecipe *r, const char *path, Err *err)
{
    char *dir = path_dir(path);
    const char *scratch = tempdir_new(dir, err);
    char *out = scratch ? path_join(scratch, r->name) : NULL;
    bool ok = scratch && r->make(r->arg, out, err) &&
              (rename(out, path) == 0 || err_errno(err, "%s", path));
    if (scratch)
        tempdir_remove(scratch);
    free(out);
    free(dir);
    return ok;
}

typedef struct Making {
    const BuildRecipe *recipe;
    const char *path;
} Making;

static bool make_file(void *arg, Err *err)
{
    const Making *m = arg;
    return make(m->recipe, m->path, err);
}

static bool is_stopped(void *ws) { return workspace_is_stopped(ws); }

bool build_in_time(const Program *p, bool (*work)(void *arg, Err *err), void *arg, Err *err)
{
    Workspace *ws = program_workspace(p);
    if (!ws || !workspace_can_stop(ws) || workspace_is_stopped(ws))
        return work(arg, err);
    ApartPlan plan = { .work = work, .arg = arg, .stop = is_stopped, .stop_arg = ws };
    ApartEnd end = apart_run(&plan, err);
    if (end != APART_STOPPED)
        return end == APART_DONE;
    workspace_note_stop(ws);
    return err_set(err, "%s was still being built when it was stopped: give more time (--time)",
                   program_captured(p)->name);
}

static bool is_kept(const char *path) { return file_is_regular(path) && file_size(path) > 0; }

char *build_get(const BuildRecipe *r, Err *err)
{
    char *path = build_path(r);
    assert(r->make);
    if (is_kept(path)) {
        utimensat(AT_FDCWD, path, NULL, 0);      /* it is in use: see sweep() */
        return path;
    }
    Making m = { r, path };
    if (build_in_time(r->program, make_file, &m, err)) {
        sweep(r);
        return path;
    }
    free(path);
    return NULL;
}

char *build_kept(const BuildRecipe *r)
{
    char *path = build_path(r);
    if (is_kept(path))
        return path;
    free(path);
    return NULL;
}
