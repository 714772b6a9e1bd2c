/*
 * The words of the command are walked once:
 *
 *     -o FILE         our own
 *     -Map…           left out: the user's map is not ours to write
 *     a.o             left out if all its units are replaced
 *     libx.a, -lx     a copy without the members that are replaced
 *     a.c             (one command compiles and links) left out if replaced,
 *                     else compiled again by the command itself
 *     anything else   as it is
 *
 * Our objects stand first: no -x and no library order concerns them there.
 */
#include "capture/relink.h"
#include "base/file.h"
#include "base/proc.h"
#include "capture/capture_int.h"
#include "capture/cmdline.h"
#include "capture/elf.h"
#include "capture/wrapper.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct Relinking {
    Workspace *ws;
    const CapturedProgram *program;
    const Relink *plan;
    Strings folders;             /* of -L, absolute */
    bool is_ld;                  /* the command calls the linker, no compiler */
    bool statically;             /* libraries are taken from archives */
    bool map_follows;            /* the next word for the linker names a map */
    unsigned archives;           /* copied so far */
    const CapturedProgram *whole;   /* the program; `program` is one of its libraries while
                                     * that is taken apart, and paths are absolute then */
    Map *taken;                  /* paths of libraries that have been */
    Strings *argv;
} Relinking;

/* A flag of the command. */
typedef struct Flag {
    const char *word;
    const char *name;            /* in the table of cmdline.c; NULL: not there */
    const char *value;           /* joined or the next word; NULL */
    unsigned words;              /* 1 or 2 */
} Flag;

/* Are all units of this object replaced? `some`: is one? */
static bool is_replaced(const Relinking *r, const char *data, size_t n, bool *some)
{
    Strings ids = { 0 };
    size_t hits = 0;
    bool has = object_ids(r->ws, data, n, &ids);
    for (size_t i = 0; i < ids.len; i++)
        hits += map_has(r->plan->units, ids.items[i]);
    *some |= hits > 0;
    bool all = has && hits == ids.len;
    strings_release(&ids);
    return all;
}

/* An archive of the members that stay. With none: nothing. */
static bool copy_archive(Relinking *r, const ArchiveMembers *members, const bool *gone, Err *err)
{
    char *dir = xprintf("%s/archive%u", r->plan->scratch, r->archives++);
    char *out = xprintf("%s.a", dir);
    Strings argv = { 0 };
    strings_add(&argv, "ar");
    strings_add(&argv, "rcs");
    strings_add(&argv, out);
    bool ok = dir_make(dir, err);
    for (size_t i = 0; ok && i < members->len; i++) {
        const ArchiveMember *m = &members->items[i];
        if (gone[i])
            continue;
        char *safe = path_safe_name(m->name);
        char *path = xprintf("%s/%zu-%s", dir, i, safe);
        ok = file_write(path, m->data, m->size, err);
        strings_add(&argv, path);
        free(path);
        free(safe);
    }
    if (ok && argv.len > 3) {
        ProcResult res = { 0 };
        Proc p = { .argv = strings_argv(&argv), .capture = true };
        ok = proc_run(&p, &res, err);
        if (ok && res.status != 0)
            ok = err_set(err, "ar: %s", str_c(&res.err));
        proc_result_release(&res);
        strings_add(r->argv, out);
    }
    strings_release(&argv);
    free(out);
    free(dir);
    return ok;
}

static void add_spare(const Relinking *r, const ArchiveMember *m)
{
    Strings ids = { 0 };
    object_ids(r->ws, m->data, m->size, &ids);
    for (size_t i = 0; i < ids.len; i++) {
        const Unit *u = workspace_unit(r->ws, ids.items[i]);
        if (u && u->status == UNIT_CAPTURED)
            strings_add(r->plan->spare, u->bitcode);
    }
    strings_release(&ids);
}

static void add_file(Relinking *r, const char *word, const char *path);

/* `word` is what the command says, `path` the archive it means. */
static bool add_archive(Relinking *r, const char *word, const char *path, const Str *data, Err *err)
{
    ArchiveMembers members = { 0 };
    bool some = false;
    if (!archive_members(path, str_c(data), data->len, &members, NULL)) {
        add_file(r, word, path);
        return true;
    }
    bool *gone = xcalloc(members.len + 1, sizeof *gone);
    for (size_t i = 0; i < members.len; i++) {
        gone[i] = is_replaced(r, members.items[i].data, members.items[i].size, &some);
        if (!gone[i] && r->plan->spare)
            add_spare(r, &members.items[i]);
    }
    bool ok = true;
    if (some)
        ok = copy_archive(r, &members, gone, err);
    else
        add_file(r, word, path);
    free(gone);
    archive_members_release(&members);
    return ok;
}

/* The library of the program that this file is; NULL: none of them. */
static const CapturedProgram *library_at(const Relinking *r, const char *path)
{
    char *real = path_real(path);
    const CapturedProgram *found = NULL;
    for (size_t i = 0; real && !found && i < r->whole->nlibraries; i++) {
        char *own = path_real(r->whole->libraries[i]->path);
        if (own && strcmp(own, real) == 0)
            found = r->whole->libraries[i];
        free(own);
    }
    free(real);
    return found;
}

/* A word that names a file: as it is, but absolute in a library's command. */
static void add_file(Relinking *r, const char *word, const char *path)
{
    strings_add(r->argv, r->program == r->whole ? word : path);
}

static bool take_apart(Relinking *r, const CapturedProgram *library, Err *err);

/* A source that the command itself compiled: its unit has our output. */
static bool is_replaced_source(const Relinking *r, const char *path, bool is_stdin)
{
    const CapturedProgram *p = r->program;
    for (size_t i = 0; i < p->nunits; i++) {
        const Unit *u = p->units[i];
        bool same = is_stdin ? str_ends(u->source, ".stdin.c") : strcmp(u->source, path) == 0;
        if (same && map_has(r->plan->units, u->id))
            return true;
    }
    return false;
}

static bool add_input(Relinking *r, const char *word, Err *err)
{
    char *path = path_in(r->program->link_directory, word);
    Str data = { 0 };
    bool ok = true, some = false;
    const CapturedProgram *library = library_at(r, path);
    if (library) {
        ok = take_apart(r, library, err);
    } else if (is_replaced_source(r, path, cmdline_is_stdin(word))) {
        /* gone */
    } else if (!file_is_regular(path) || !file_read(path, &data, NULL)) {
        add_file(r, word, path);              /* the linker says what is wrong */
    } else if (archive_is(str_c(&data), data.len)) {
        ok = add_archive(r, word, path, &data, err);
    } else if (elf_kind(str_c(&data), data.len) == ELF_SHARED ||
               !is_replaced(r, str_c(&data), data.len, &some)) {
        add_file(r, word, path);
        if (some)
            ok = err_set(err,
                         "%s holds several units, of which some could not be "
                         "captured: it can't be replaced",
                         path);
    }
    str_release(&data);
    free(path);
    return ok;
}

/* -lNAME: only an archive in one of the build's own folders concerns us. */
static bool add_library(Relinking *r, const char *word, const char *name, Err *err)
{
    for (size_t i = 0; i < r->folders.len; i++) {
        const char *dir = r->folders.items[i];
        char *shared = xprintf("%s/lib%s.so", dir, name);
        char *archive =
            name[0] == ':' ? xprintf("%s/%s", dir, name + 1) : xprintf("%s/lib%s.a", dir, name);
        bool found = !r->statically && file_exists(shared), ok = true;
        const CapturedProgram *library = found ? library_at(r, shared) : NULL;
        if (library) {
            free(shared);
            free(archive);
            return take_apart(r, library, err);
        }
        Str data = { 0 };
        bool is = !found && file_is_regular(archive) && file_read(archive, &data, NULL) &&
                  archive_is(str_c(&data), data.len);
        if (is)
            ok = add_archive(r, word, archive, &data, err);
        str_release(&data);
        free(shared);
        free(archive);
        if (is)
            return ok;
        if (found)
            break;
    }
    strings_add(r->argv, word);
    return true;
}

/* Names and lines of functions are needed where the build throws them away. */
static bool is_stripping(const char *word)
{
    static const char *const words[] = { "-s", "-S", "--strip-all", "--strip-debug", NULL };
    return str_is_one_of(word, words);
}

/* "-a,-Map=x,-b" without its map, as a -Wl, word; NULL: nothing is left. */
static char *without_map(const char *list, bool *name_follows)
{
    Str out = { 0 };
    char *copy = xstrdup(list), *save = NULL;
    for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
        bool named = *name_follows;
        *name_follows = strcmp(w, "-Map") == 0 || strcmp(w, "--Map") == 0;
        if (named || *name_follows || str_starts(w, "-Map=") || str_starts(w, "--Map=") ||
            strcmp(w, "-M") == 0 || strcmp(w, "--print-map") == 0 || is_stripping(w))
            continue;
        str_addf(&out, ",%s", w);
    }
    free(copy);
    if (!out.len)
        return NULL;
    char *all = xprintf("-Wl%s", str_c(&out));
    str_release(&out);
    return all;
}

/* -fsanitize=fuzzer,address without the first; NULL: nothing is left. */
static char *without_fuzzer(const char *word)
{
    Str out = { 0 };
    char *copy = xstrdup(strchr(word, '=') + 1), *save = NULL;
    for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save))
        if (strcmp(w, "fuzzer") != 0)
            str_addf(&out, "%s%s", out.len ? "," : "-fsanitize=", w);
    char *all = out.len ? xstrdup(str_c(&out)) : NULL;
    str_release(&out);
    free(copy);
    return all;
}

/* ---- flags */

static void add_words(Relinking *r, const Flag *f)
{
    strings_add(r->argv, f->word);
    if (f->words == 2)
        strings_add(r->argv, f->value);
}

/* The part that is left of a word; frees it. */
static void add_rest(Relinking *r, char *rest)
{
    if (rest)
        strings_add(r->argv, rest);
    free(rest);
}

static bool leave_out(Relinking *r, const Flag *f, Err *err)
{
    (void)r, (void)f, (void)err;
    return true;
}

static bool take_linker_words(Relinking *r, const Flag *f, Err *err)
{
    (void)err;
    r->statically |= strcmp(f->word, "-Wl,-Bstatic") == 0;
    r->statically &= strcmp(f->word, "-Wl,-Bdynamic") != 0;
    add_rest(r, without_map(f->value, &r->map_follows));
    return true;
}

static bool take_linker_word(Relinking *r, const Flag *f, Err *err)
{
    char *rest = without_map(f->value ? f->value : "", &r->map_follows);
    (void)err;
    if (rest)
        add_words(r, f);
    free(rest);
    return true;
}

static bool take_folder(Relinking *r, const Flag *f, Err *err)
{
    const char *dir = f->value ? f->value : "";
    (void)err;
    char *full = path_in(r->program->link_directory, dir);
    strings_addf(r->argv, "-L%s", r->program == r->whole ? dir : full);
    vec_push(&r->folders, full);
    return true;
}

static bool take_library(Relinking *r, const Flag *f, Err *err)
{
    char *word = xprintf("-l%s", f->value ? f->value : "");
    bool ok = add_library(r, word, word + 2, err);
    free(word);
    return ok;
}

static bool take_sanitizers(Relinking *r, const Flag *f, Err *err)
{
    (void)err;
    if (r->plan->no_fuzzer && f->value && f->value[0] == '=')
        add_rest(r, without_fuzzer(f->word));
    else
        add_words(r, f);
    return true;
}

static bool has_sanitizer(const Relink *plan)
{
    for (char *const *m = plan->more; m && *m; m++)
        if (str_starts(*m, "-fsanitize="))
            return true;
    return false;
}

/* A sanitizer's library can't be linked into a static program: that one becomes dynamic. Its
 * objects need not be position-independent. */
static bool take_static(Relinking *r, const Flag *f, Err *err)
{
    (void)err;
    bool whole = strcmp(f->word, "-static") == 0 || strcmp(f->word, "-static-pie") == 0;
    if (whole && has_sanitizer(r->plan)) {
        strings_add(r->argv, strcmp(f->word, "-static") == 0 ? "-no-pie" : "-pie");
        return true;
    }
    r->statically |= strcmp(f->word, "-static") == 0;
    add_words(r, f);
    return true;
}

/* Flags of ld whose value is the next word, and which the compilers' table does not
 * know so. */
static const char *const ld_with_value[] = {
    "-m",
    "-h",
    "-b",
    "-y",
    "-Y",
    "-R",
    "-G",
    "-f",
    "-a",
    "-assert",
    "-init",
    "-fini",
    "-rpath-link",
    "--rpath-link",
    "--rpath",
    "--soname",
    "-dynamic-linker",
    "--dynamic-linker",
    "-version-script",
    "--version-script",
    "-dynamic-list",
    "--dynamic-list",
    "-defsym",
    "--defsym",
    "-wrap",
    "--wrap",
    "-script",
    "--script",
    "-plugin",
    "--plugin",
    "-plugin-opt",
    "--entry",
    "--undefined",
    "--library-path",
    "--retain-symbols-file",
    "-retain-symbols-file",
    "--format",
    "--oformat",
    "-oformat",
    NULL,
};

/*
 * Flags that are not taken over as they are, by their names in the table of
 * cmdline.c. Those of ld stand first: to a compiler "-Map" would be a -M.
 */
static const struct ld_map {
    const char *name;
    unsigned words;
    bool prefix;
} maps[] = {
    { "-Map", 2, false },  { "--Map", 2, false },       { "-Map=", 1, true },
    { "--Map=", 1, true }, { "--print-map", 1, false },
};
static const struct taker {
    const char *name;
    bool (*take)(Relinking *r, const Flag *f, Err *err);
} takers[] = {
    { "-o", leave_out },           { "--output", leave_out },         { "--output=", leave_out },
    { "-Wl,", take_linker_words }, { "-Xlinker", take_linker_word },  { "-L", take_folder },
    { "-l", take_library },        { "-fsanitize", take_sanitizers }, { "-static", take_static },
};

static const struct ld_map *map_of(const char *word)
{
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        if (maps[i].prefix ? str_starts(word, maps[i].name) : strcmp(word, maps[i].name) == 0)
            return &maps[i];
    return NULL;
}

/* The flag at a word of the command, and what it takes with it. */
static Flag flag_at(const Strings *words, size_t i, bool is_ld)
{
    const char *word = words->items[i];
    const char *next = i + 1 < words->len ? words->items[i + 1] : NULL;
    if (is_ld && strcmp(word, "-x") == 0)          /* no language: local symbols go */
        return (Flag){ .word = word, .words = 1 };
    if (str_is_one_of(word, ld_with_value) || str_starts(word, "-oformat="))
        return (Flag){ .word = word, .value = next, .words = next && !strchr(word, '=') ? 2 : 1 };
    CmdlineFlag f = cmdline_flag(word, next);
    return (Flag){ .word = word, .name = f.name, .value = f.value, .words = f.words };
}

/* One word, and the value that belongs to it; `*i` goes to the last. */
static bool walk(Relinking *r, const Strings *words, size_t *i, Err *err)
{
    const char *word = words->items[*i];
    if (word[0] != '-' || !word[1])
        return add_input(r, word, err);
    if (is_stripping(word))
        return true;
    const struct ld_map *map = map_of(word);
    if (map) {
        *i += map->words - 1;
        return true;
    }
    Flag f = flag_at(words, *i, r->is_ld);
    assert(f.words == 1 || (f.words == 2 && f.value));
    *i += f.words - 1;
    for (size_t k = 0; f.name && k < sizeof takers / sizeof *takers; k++)
        if (strcmp(takers[k].name, f.name) == 0)
            return takers[k].take(r, &f, err);
    r->statically |= strcmp(word, "-Bstatic") == 0;
    r->statically &= strcmp(word, "-Bdynamic") != 0;
    add_words(r, &f);
    return true;
}

/* In the place of a library of our own: what it was linked from. Its flags are those of
 * a library and are left out, but for libraries and their folders. */
static bool take_apart(Relinking *r, const CapturedProgram *library, Err *err)
{
    static const char *const kept[] = { "-l", "-L", "-pthread", "-fopenmp", NULL };
    Relinking inner = *r;
    bool ok = true;
    if (!map_put(r->taken, library->path, NULL))
        return true;
    inner.program = library;
    inner.folders = (Strings){ 0 };
    inner.statically = false;
    for (size_t i = 1; ok && i < library->link.len; i++) {
        const char *word = library->link.items[i];
        if (word[0] != '-' || !word[1]) {
            ok = add_input(&inner, word, err);
            continue;
        }
        Flag f = flag_at(&library->link, i, inner.is_ld);
        if (f.name && str_is_one_of(f.name, kept))
            ok = walk(&inner, &library->link, &i, err);
        else
            i += f.words - 1;
    }
    r->archives = inner.archives;
    strings_release(&inner.folders);
    return ok;
}

/* What the libraries showed to others the program shows now: a module that it loads may
 * need it. Of two definitions of a name the first counts, as for the loader. */
static bool add_exports(Relinking *r, Err *err)
{
    const char *wl = r->is_ld ? "" : "-Wl,";
    char *list = path_join(r->plan->scratch, "exports.list");
    Map names = { 0 };
    Str text = { 0 };
    for (size_t i = 0; i < r->whole->nlibraries; i++)
        library_exports(r->whole->libraries[i], &names);
    str_add(&text, "{\n");
    for (size_t i = 0; i < names.len; i++)
        str_addf(&text, "\"%s\";\n", names.entries[i].key);
    str_add(&text, "};\n");
    bool ok = dir_make(r->plan->scratch, err) &&
              (!names.len || file_write(list, str_c(&text), text.len, err));
    if (names.len)
        strings_addf(r->argv, "%s--dynamic-list=%s", wl, list);
    strings_addf(r->argv, "%s",
                 r->is_ld ? "--allow-multiple-definition" : "-Wl,--allow-multiple-definition");
    map_release(&names);
    str_release(&text);
    free(list);
    return ok;
}

bool relink_command(Workspace *ws, const CapturedProgram *p, const Relink *plan, Strings *argv,
                    Err *err)
{
    Map taken = { 0 };
    Relinking r = {
        .ws = ws, .program = p, .whole = p, .plan = plan, .taken = &taken, .argv = argv
    };
    bool ok = true;
    if (p->kind == PROGRAM_ARCHIVE)
        return err_set(err,
                       "%s is an archive, which nobody links by itself: name "
                       "a program or shared library that uses it",
                       p->path);
    if (!p->link.len)
        return err_set(err,
                       "%s: how it was linked is not known: build it again "
                       "from clean (sundew capture -- make)",
                       p->path);
    r.is_ld = tool_kind(path_base(p->link.items[0])) == TOOL_LD;
    strings_add(argv, p->link.items[0]);
    for (char *const *o = plan->objects; *o; o++)
        strings_add(argv, *o);
    for (size_t i = 1; ok && i < p->link.len; i++)
        ok = walk(&r, &p->link, &i, err);
    ok = ok && (!p->nlibraries || add_exports(&r, err));
    map_release(&taken);
    for (char *const *m = plan->more; m && *m; m++)
        strings_add(argv, *m);
    strings_add(argv, "-o");
    strings_add(argv, plan->out);
    if (!r.is_ld)
        strings_add(argv, "-static-libgcc");
    strings_release(&r.folders);
    return ok;
}

bool relink_is_static(const CapturedProgram *p)
{
    static const char *const words[] = { "-no-pie", "-nopie", "-static", NULL };
    for (size_t i = 1; i < p->link.len; i++)
        if (str_is_one_of(p->link.items[i], words))
            return true;
    return false;
}
