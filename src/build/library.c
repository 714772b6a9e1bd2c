#include "build/library.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include "build/build.h"
#include "build/woven.h"
#include "capture/cmdline.h"
#include "capture/recompile.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- links */

/* A library by its path, as CMake writes them all. The loader finds it where the linker did. */
static void add_by_path(const CapturedProgram *c, const char *word, Strings *argv)
{
    char *path = path_in(c->link_directory, word), *folder = path_dir(path);
    if (strstr(path_base(path), ".so") && file_is_regular(path)) {
        strings_add(argv, path);
        strings_addf(argv, "-Wl,-rpath,%s", folder);
    }
    free(path);
    free(folder);
}

static void add_folder(const CapturedProgram *c, const char *word, Strings *argv)
{
    char *folder = path_in(c->link_directory, word);
    strings_addf(argv, "-L%s", folder);
    strings_addf(argv, "-Wl,-rpath,%s", folder);
    free(folder);
}

static void add_libraries(const CapturedProgram *c, const LibraryPlan *plan, Strings *argv)
{
    for (size_t i = 1; i < c->link.len; i++) {
        const char *word = c->link.items[i];
        if (word[0] != '-' || !word[1]) {
            add_by_path(c, word, argv);
            continue;
        }
        CmdlineFlag f = cmdline_flag(word, i + 1 < c->link.len ? c->link.items[i + 1] : NULL);
        i += f.words - 1;
        if (strcmp(word, "-pthread") == 0)
            strings_add(argv, word);
        else if (f.name && f.value && strcmp(f.name, "-L") == 0)
            add_folder(c, f.value, argv);
        else if (f.name && f.value && strcmp(f.name, "-l") == 0)
            strings_addf(argv, "-l%s", f.value);
    }
    for (char *const *w = plan->link; w && *w; w++)
        strings_add(argv, *w);
    strings_add(argv, "-lm");
}

/* The words so far, and what every link of the library ends with: what the
 * archive has besides (assembler), and libraries. */
static bool run_link(const CapturedProgram *c, const LibraryPlan *plan, Strings *argv, Err *err)
{
    if (c->kind == PROGRAM_ARCHIVE && (c->nforeign || c->nmissing || c->nfailed))
        strings_add(argv, c->path);
    add_libraries(c, plan, argv);
    bool ok = recompile_tool(strings_argv(argv), *c->link_directory ? c->link_directory : NULL,
                             NULL, err);
    strings_release(argv);
    return ok;
}

/* An object becomes a shared library. */
static bool link_shared(const CapturedProgram *c, const LibraryPlan *plan, const char *object,
                        const char *out, Err *err)
{
    Strings argv = { 0 };
    strings_add(&argv, "cc");
    strings_add(&argv, "-shared");
    strings_add(&argv, "-Wl,--unresolved-symbols=ignore-all");
    strings_add(&argv, "-Wl,-Bsymbolic");     /* the code may not be made for sharing */
    strings_add(&argv, "-o");
    strings_add(&argv, out);
    strings_add(&argv, object);
    return run_link(c, plan, &argv, err);
}

/* ---- cover and mutants */

/* One of the shared objects in the making. */
typedef struct Making {
    const Program *program;
    const LibraryPlan *plan;
    Woven *woven;                /* for cover and mutants */
    const char *clang;           /* for strict */
} Making;

bool library_link_woven(Woven *w, const LibraryPlan *plan, const char *out, Err *err)
{
    const char *scratch = tempdir_new(NULL, err);
    if (!scratch)
        return false;
    char *object = path_join(scratch, "woven.o");
    WovenBuild how = { .out = object, .object_only = true, .level = 1, .visible = true };
    bool ok = weave_share(w, err) && woven_build(w, &how, err) &&
              link_shared(program_captured(weave_program(w)), plan, object, out, err);
    free(object);
    tempdir_remove(scratch);
    return ok;
}

static bool make_woven(void *arg, const char *out, Err *err)
{
    const Making *m = arg;
    return library_link_woven(m->woven, m->plan, out, err);
}

static BuildRecipe recipe(Making *m, const char *name, BuildMake *make)
{
    return (BuildRecipe){
        .program = m->program, .name = name, .link = m->plan->link, .make = make, .arg = m
    };
}

/* The weave is done in any case: it says which points there are. */
static bool make_cover(const Program *p, const LibraryPlan *plan, Library *out, Err *err)
{
    Making m = { .program = p, .plan = plan, .woven = weave_begin(p, err) };
    BuildRecipe r = recipe(&m, "cover.so", make_woven);
    out->points = m.woven ? weave_cover(m.woven, err) : NULL;
    out->cover = out->points ? build_get(&r, err) : NULL;
    weave_end(m.woven);
    return out->cover != NULL;
}

static bool make_mutants(const Program *p, const LibraryPlan *plan, Library *out, Err *err)
{
    Making m = { .program = p, .plan = plan, .woven = weave_begin(p, err) };
    BuildRecipe r = recipe(&m, "mutants.so", make_woven);
    char *most = xprintf("%zu", plan->most_mutants);
    r.variant = most;
    bool ok = m.woven != NULL;
    size_t n = 0;
    out->faults = ok ? weave_mutants(m.woven, plan->most_mutants) : NULL;
    if (ok && mutants_all(out->faults, &n) && n) {
        out->mutants = build_get(&r, err);
        ok = out->mutants != NULL;
    } else {                                  /* a library that only hands on */
        mutants_free(out->faults);
        out->faults = NULL;
    }
    weave_end(m.woven);
    free(most);
    return ok;
}

/* ---- strict */

static const char *const strict_flags[] = {
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=undefined",
    "-fno-sanitize=function,vptr",
    /* the machine does these as the library means them: no crash, and no test is lost */
    "-fno-sanitize=alignment,pointer-overflow",
    "-shared-libasan",
    "-fno-omit-frame-pointer",
    "-fPIC",
    "-O1",
    "-gline-tables-only",
    "-w",
    "-fvisibility=default",
    NULL,
};

static const CompileCommand *command_of(const CompileCommands *all, const Unit *u)
{
    const CompileCommand *found = NULL;
    for (size_t i = 0; i < all->len; i++) {
        if (strcmp(all->items[i].file, u->source) != 0)
            continue;
        if (strcmp(all->items[i].output, u->output) == 0)
            return &all->items[i];
        found = found ? found : &all->items[i];
    }
    return found;
}

static void compile_words(const char *clang, const CompileCommand *c, const char *object,
                          Strings *argv)
{
    strings_add(argv, clang);
    for (size_t i = 0; i < c->clang.len; i++)
        strings_add(argv, c->clang.items[i]);
    for (const char *const *f = strict_flags; *f; f++)
        strings_add(argv, *f);
    strings_add(argv, "-c");
    strings_add(argv, c->file);
    strings_add(argv, "-o");
    strings_add(argv, object);
}

typedef struct Compiling {
    pid_t pid;
    Strings argv;
} Compiling;

static bool wait_for(Compiling *c, const char *what, Err *err)
{
    ProcResult r = { 0 };
    proc_wait(c->pid, &r);
    bool ok = r.status == 0 || err_set(err, "%s can't be compiled with sanitizers", what);
    proc_result_release(&r);
    strings_release(&c->argv);
    return ok;
}

static bool compile_units(const Program *p, const LibraryPlan *plan, const char *clang,
                          const char *scratch, Strings *objects, Err *err)
{
    const CapturedProgram *c = program_captured(p);
    CompileCommands all = { 0 };
    unsigned jobs = plan->jobs ? plan->jobs : 1;
    Compiling *running = xcalloc(c->nunits + 1, sizeof *running);
    bool ok = commands_of_workspace(program_workspace(p), &all, err);
    size_t begun = 0, ended = 0;
    for (; ok && begun < c->nunits; begun++) {
        const CompileCommand *cmd = command_of(&all, c->units[begun]);
        if (begun - ended >= jobs) {
            ok = wait_for(&running[ended], c->units[ended]->source, err);
            ended++;
        }
        if (ok && !cmd)
            ok = err_set(err, "%s: its command is not known", c->units[begun]->source);
        if (!ok)
            break;
        strings_addf(objects, "%s/%zu.o", scratch, begun);
        compile_words(clang, cmd, objects->items[begun], &running[begun].argv);
        Proc proc = { .argv = strings_argv(&running[begun].argv),
                      .cwd = cmd->directory,
                      .out = "/dev/null",
                      .err_out = "/dev/null" };
        running[begun].pid = proc_start(&proc, err);
        ok = running[begun].pid > 0;
    }
    for (; ended < begun; ended++)
        if (running[ended].pid > 0)
            ok = wait_for(&running[ended], c->units[ended]->source, ok ? err : NULL) && ok;
    assert(!ok || objects->len == c->nunits);
    commands_release(&all);
    free(running);
    return ok;
}

/* The sanitizer's shared library, which must come first in the process. */
static char *find_preload(const char *clang, Err *err)
{
    char *argv[] = { (char *)clang, "-print-file-name=libclang_rt.asan-x86_64.so", NULL };
    Proc p = { .argv = argv, .capture = true };
    ProcResult r = { 0 };
    char *path = NULL;
    if (proc_run(&p, &r, err)) {
        size_t n = strcspn(str_c(&r.out), "\n");
        path = xstrndup(str_c(&r.out), n);
        if (path[0] != '/' || !file_exists(path)) {
            free(path);
            path = NULL;
            err_set(err, "clang's address sanitizer is not installed");
        }
    }
    proc_result_release(&r);
    return path;
}

static bool link_strict(const Program *p, const LibraryPlan *plan, const char *clang,
                        const Strings *objects, const char *out, Err *err)
{
    const CapturedProgram *c = program_captured(p);
    Strings argv = { 0 };
    strings_add(&argv, clang);
    strings_add(&argv, "-shared");
    strings_add(&argv, "-fsanitize=address,undefined");
    strings_add(&argv, "-shared-libasan");
    strings_add(&argv, "-o");
    strings_add(&argv, out);
    for (size_t i = 0; i < objects->len; i++)
        strings_add(&argv, objects->items[i]);
    return run_link(c, plan, &argv, err);
}

static bool make_sanitized(void *arg, const char *out, Err *err)
{
    const Making *m = arg;
    const char *scratch = tempdir_new(NULL, err);
    Strings objects = { 0 };
    bool ok = scratch && compile_units(m->program, m->plan, m->clang, scratch, &objects, err) &&
              link_strict(m->program, m->plan, m->clang, &objects, out, err);
    strings_release(&objects);
    if (scratch)
        tempdir_remove(scratch);
    return ok;
}

static bool make_strict(const Program *p, const LibraryPlan *plan, Library *out, Err *err)
{
    char *clang = clang_find();
    if (!clang)
        return err_set(err, "clang-19 is not there");
    Making m = { .program = p, .plan = plan, .clang = clang };
    BuildRecipe r = recipe(&m, "strict.so", make_sanitized);
    out->preload = find_preload(clang, err);
    out->strict = out->preload ? build_get(&r, err) : NULL;
    free(clang);
    return out->strict != NULL;
}

char *library_find_asan(Err *err)
{
    char *clang = clang_find();
    char *path = clang ? find_preload(clang, err) : NULL;
    if (!clang)
        err_set(err, "clang-19 is not there");
    free(clang);
    return path;
}

bool library_make(const Program *p, const LibraryPlan *plan, Library *out, Err *err)
{
    Err why = { 0 };
    assert(program_captured(p));
    if (!make_cover(p, plan, out, err) || (plan->with_mutants && !make_mutants(p, plan, out, err)))
        return false;
    if (!make_strict(p, plan, out, &why))
        snprintf(out->why_not_strict, sizeof out->why_not_strict, "%s", why.msg);
    return true;
}

bool library_make_exposed(const Program *p, const LibraryPlan *plan, Library *out, Err *err)
{
    Err none = { 0 };
    assert(program_captured(p) && !out->exposed);
    out->preload = plan->plain ? NULL : library_find_asan(&none);
    Making m = { .program = p, .plan = plan, .woven = weave_begin(p, err) };
    BuildRecipe r = recipe(&m, "exposed.so", make_woven);
    r.variant = out->preload ? "asan" : "plain";
    if (!m.woven)
        return false;
    weave_expose(m.woven);
    out->points = weave_cover(m.woven, err);
    if (out->points && out->preload)
        weave_asan(m.woven);
    out->exposed = out->points ? build_get(&r, err) : NULL;
    weave_end(m.woven);
    return out->exposed != NULL;
}

void library_release(Library *l)
{
    free(l->exposed);
    free(l->cover);
    free(l->strict);
    free(l->mutants);
    free(l->preload);
    cover_free(l->points);
    mutants_free(l->faults);
    *l = (Library){ 0 };
}
