#include "project/recognise.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/str.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A row fits a folder that has one of its files and none of `unless`. $OUT is the folder to build
 * in, $J the number of jobs. Rows that leave the tree alone stand above those that don't. */
static const struct system {
    const char *name;
    const char *files[5];
    const char *unless[3];
    const char *tool;
    const char *command;
    const char *clean;
    bool in_place;
    const char *older; /* a script that must be there, and be older than the first, or not
                                  * be autoconf's, whose Makefile is the project's own as often */
} systems[] = {
    { "make",
      { "GNUmakefile", "makefile", "Makefile" },
      { "configure", "configure.ac", "config.status" },
      "make",
      "make -j$J",
      "{ make clean || make -B -j$J; }",
      true,
      NULL },
    /* configured already */
    { "make", { "config.status" }, { NULL }, "make", "make -j$J", "make clean", true, NULL },
    { "make", /* by a script that is not autoconf's */
      { "GNUmakefile", "makefile", "Makefile" },
      { "config.status" },
      "make",
      "make -j$J",
      "make clean",
      true,
      "configure" },
    { "CMake",
      { "CMakeLists.txt" },
      { NULL },
      "cmake",
      "cmake -S . -B $OUT -DCMAKE_EXPORT_COMPILE_COMMANDS=ON && cmake --build $OUT -j$J",
      "cmake --build $OUT --target clean",
      false,
      NULL },
    { "Meson",
      { "meson.build" },
      { NULL },
      "meson",
      "{ test -f $OUT/build.ninja || meson setup $OUT .; } && meson compile -C $OUT -j$J",
      "ninja -C $OUT clean",
      false,
      NULL },
    { "configure",
      { "configure" },
      { "config.status" },
      "make",
      "$CONFIGURE && make -j$J",
      "make clean",
      true,
      NULL },
    { "autogen.sh",
      { "autogen.sh" },
      { "configure" },
      "autoreconf",
      "NOCONFIGURE=1 sh ./autogen.sh && $CONFIGURE && make -j$J",
      "make clean",
      true,
      NULL },
    /* also where a configure script is there, and does not work any more */
    { "autoreconf",
      { "configure.ac", "configure.in" },
      { NULL },
      "autoreconf",
      "autoreconf -fi && $CONFIGURE && make -j$J",
      "make clean",
      true,
      NULL },
    { "script",
      { "build.sh", "compile.sh", "make.sh", "build" },
      { NULL },
      "sh",
      "sh ./$FILE",
      "",
      true,
      NULL },
};

enum { SYSTEMS = sizeof systems / sizeof *systems };

static const char *first_there(const char *folder, const char *const *names, size_t n)
{
    const char *found = NULL;
    for (size_t i = 0; i < n && names[i] && !found; i++) {
        char *path = path_join(folder, names[i]);
        found = file_is_regular(path) ? names[i] : NULL;
        free(path);
    }
    return found;
}

static bool has_file(const char *folder, const char *name)
{
    return first_there(folder, &name, 1) != NULL;
}

static bool is_older(const char *folder, const char *name, const char *than)
{
    char *a = path_join(folder, name), *b = path_join(folder, than);
    struct stat x, y;
    bool is = stat(a, &x) == 0 && stat(b, &y) == 0 &&
              (x.st_mtim.tv_sec != y.st_mtim.tv_sec ? x.st_mtim.tv_sec < y.st_mtim.tv_sec
                                                    : x.st_mtim.tv_nsec < y.st_mtim.tv_nsec);
    free(a);
    free(b);
    return is;
}

/* Some are written for another shell than sh, and say so in their first line. */
static const char *call_of_configure(const char *folder)
{
    char *path = path_join(folder, "configure");
    bool runs = access(path, X_OK) == 0;
    free(path);
    return runs ? "./configure" : "sh ./configure";
}

static char *filled_in(const char *text, const char *folder, const char *out, unsigned jobs,
                       const char *file)
{
    Str s = { 0 };
    for (const char *p = text; *p;)
        if (str_starts(p, "$OUT")) {
            escape_shell(&s, out);
            p += 4;
        } else if (str_starts(p, "$FILE")) {
            escape_shell(&s, file);
            p += 5;
        } else if (str_starts(p, "$CONFIGURE")) {
            str_add(&s, call_of_configure(folder));
            p += 10;
        } else if (str_starts(p, "$J")) {
            str_addf(&s, "%u", jobs);
            p += 2;
        } else {
            str_addc(&s, *p++);
        }
    return str_take(&s);
}

static void add_build(const struct system *sys, const char *folder, const char *file,
                      const char *workspace, unsigned jobs, Builds *out)
{
    Build *b = vec_grow(out);
    char *name = path_safe_name(path_base(folder)), *tool = path_search(sys->tool, NULL);
    char *to = xprintf("%s/build-%s-%s", workspace, sys->name, name);
    b->system = sys->name;
    b->folder = xstrdup(folder);
    b->command = filled_in(sys->command, folder, to, jobs, file);
    b->clean = filled_in(sys->clean, folder, to, jobs, file);
    b->out = sys->in_place ? xstrdup("") : xstrdup(to);
    b->needs = xstrdup(tool ? "" : sys->tool);
    b->in_place = sys->in_place;
    free(tool);
    free(to);
    free(name);
}

/* ---- what a file says */

static bool file_has(const char *folder, const char *name, const char *text)
{
    Str s = { 0 };
    char *path = path_join(folder, name);
    bool has = file_exists(path) && file_read(path, &s, NULL) && strstr(str_c(&s), text);
    str_release(&s);
    free(path);
    return has;
}

/* ---- builds */

static void look(const char *folder, const char *workspace, unsigned jobs, Builds *out)
{
    for (size_t i = 0; i < SYSTEMS; i++) {
        const struct system *sys = &systems[i];
        const char *file = first_there(folder, sys->files, 5);
        if (!file || first_there(folder, sys->unless, 3) ||
            (sys->older && !is_older(folder, sys->older, file) &&
             (file_has(folder, sys->older, "Autoconf") || !has_file(folder, sys->older))))
            continue;
        add_build(sys, folder, file, workspace, jobs, out);
    }
}

/* Was its config.status made by a configure of the folder above? */
static bool is_configured_for(const char *folder, const char *source)
{
    char *absolute = xprintf("\nsrcdir='%s'\n", source);
    bool is = file_has(folder, "config.status", "\nsrcdir='..'\n") ||
              file_has(folder, "config.status", absolute);
    free(absolute);
    return is;
}

/* A folder in it that its configure was run in is the build that the user has chosen. */
static bool look_below(const char *folder, const char *workspace, unsigned jobs, Builds *out)
{
    static const char *const configured[] = { "configure", "configure.ac", "configure.in" };
    Strings names = { 0 };
    size_t before = out->len;
    char *here = path_join(folder, "config.status");
    if (first_there(folder, configured, 3) && !file_exists(here))
        dir_list(folder, &names, NULL);
    for (size_t i = 0; i < names.len; i++) {
        char *below = path_join(folder, names.items[i]);
        if (*names.items[i] != '.' && file_is_dir(below) && is_configured_for(below, folder))
            look(below, workspace, jobs, out);
        free(below);
    }
    free(here);
    strings_release(&names);
    return out->len > before;
}

void recognise(const char *root, const char *workspace, unsigned jobs, Builds *out)
{
    if (!look_below(root, workspace, jobs, out))
        look(root, workspace, jobs, out);
    Strings names = { 0 };
    if (!out->len)
        dir_list(root, &names, NULL);
    for (size_t i = 0; i < names.len; i++) {
        char *folder = path_join(root, names.items[i]);
        if (*names.items[i] != '.' && file_is_dir(folder))
            look(folder, workspace, jobs, out);
        free(folder);
    }
    strings_release(&names);
}

/* ---- trees that were configured before */

/* A tree has this file, and the file this text, with the source's folder. */
static const struct configured {
    const char *system, *file, *before, *after;
    const char *command, *clean;
} trees[] = {
    { "CMake", "CMakeCache.txt", "CMAKE_HOME_DIRECTORY:INTERNAL=", "\n", "cmake --build $OUT -j$J",
      "cmake --build $OUT --target clean" },
    { "Meson", "meson-info/intro-buildsystem_files.json", "\"", "/meson.build\"",
      "meson compile -C $OUT -j$J", "ninja -C $OUT clean" },
};

static bool is_tree_of(const struct configured *t, const char *tree, const char *source)
{
    char *text = xprintf("%s%s%s", t->before, source, t->after);
    bool is = file_has(tree, t->file, text);
    free(text);
    return is;
}

/* The nearest folder above `path`; NULL: none. */
static char *find_tree(const struct configured *t, const char *path, const char *source)
{
    char *tree = path_dir(path);
    while (!is_tree_of(t, tree, source)) {
        char *above = path_dir(tree);
        bool end = strcmp(above, tree) == 0;
        free(tree);
        if (end) {
            free(above);
            return NULL;
        }
        tree = above;
    }
    return tree;
}

bool recognise_tree(Build *b, const char *path, unsigned jobs)
{
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        const struct configured *t = &trees[i];
        char *tree = strcmp(t->system, b->system) == 0 ? find_tree(t, path, b->folder) : NULL;
        if (!tree)
            continue;
        free(b->command);
        free(b->clean);
        free(b->out);
        b->command = filled_in(t->command, tree, tree, jobs, "");
        b->clean = filled_in(t->clean, tree, tree, jobs, "");
        b->out = tree;
        return true;
    }
    return false;
}

void builds_release(Builds *b)
{
    for (size_t i = 0; i < b->len; i++) {
        free(b->items[i].folder);
        free(b->items[i].command);
        free(b->items[i].clean);
        free(b->items[i].out);
        free(b->items[i].needs);
    }
    vec_release(b);
}

/* Does make know this target? It runs nothing. */
static bool has_target(const char *folder, const char *target)
{
    char *argv[] = { "make", "-n", (char *)target, NULL };
    Proc p = { .argv = argv, .cwd = folder, .seconds = 20, .capture = true };
    ProcResult r = { 0 };
    bool ok = proc_run(&p, &r, NULL) && r.status == 0 && !r.timed_out &&
              !str_starts(str_c(&r.out), "make: Nothing to be done for");
    proc_result_release(&r);
    return ok;
}

static void tests_of_make(const Build *b, Strings *out)
{
    static const char *const targets[] = { "check", "test", "tests" };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (has_target(b->folder, targets[i]))
            strings_addf(out, "make %s", targets[i]);
}

static void add_command(const char *before, const char *folder, Strings *out)
{
    Str s = { 0 };
    str_add(&s, before);
    escape_shell(&s, folder);
    strings_add(out, str_c(&s));
    str_release(&s);
}

void recognise_tests(const Build *b, Strings *out)
{
    if (strcmp(b->system, "CMake") == 0) {
        if (file_has(b->out, "CTestTestfile.cmake", "add_test") ||
            file_has(b->out, "CTestTestfile.cmake", "subdirs"))
            add_command("ctest --timeout 60 --test-dir ", b->out, out);
    } else if (strcmp(b->system, "Meson") == 0) {
        if (file_has(b->out, "meson-info/intro-tests.json", "{"))
            add_command("meson test --no-rebuild -C ", b->out, out);
    } else if (strcmp(b->system, "script") != 0) {
        tests_of_make(b, out);
    }
}
