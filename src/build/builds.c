/* The builds: see builds.h. */
#include "build/builds.h"
#include "base/file.h"
#include "base/map.h"
#include "capture/recompile.h"
#include "capture/relink.h"
#include "build/driver.h"
#include "analysis/symbolic/standins.h"
#include "analysis/symbolic/symbolic.h"
#include "weave/weave.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ------------------------------------------------------------ kept builds */

static bool is_newer(const char *path, const struct stat *than)
{
    struct stat st;
    return stat(path, &st) == 0 && (st.st_mtim.tv_sec > than->st_mtim.tv_sec ||
                                    (st.st_mtim.tv_sec == than->st_mtim.tv_sec &&
                                     st.st_mtim.tv_nsec > than->st_mtim.tv_nsec));
}

/* Is the kept build younger than Sundew and its runtime? (What it is made of names it.) */
static bool is_good(const BuildsPlan *plan, const char *path)
{
    struct stat st;
    Strings names = {0};
    char *folder = path_join(plan->libexec, "runtime");
    bool good = stat(path, &st) == 0 && !is_newer("/proc/self/exe", &st) &&
                dir_list(folder, &names, NULL);
    for (size_t i = 0; good && i < names.len; i++) {
        char *file = path_join(folder, names.items[i]);
        good = !is_newer(file, &st);
        free(file);
    }
    strings_release(&names);
    free(folder);
    return good;
}

typedef bool Make(const BuildsPlan *plan, const char *out, Err *err);

static char *place_of(const BuildsPlan *plan, const char *name)
{
    return program_captured(plan->program) ? program_cache_path(plan->program, name)
                                           : path_join(plan->folder, name);
}

/* The kept build of that name, made if need be. */
static char *build(const BuildsPlan *plan, const char *name, Make *make, Err *err)
{
    char *path = place_of(plan, name);
    char *new = path_join(plan->folder, name);
    if (!is_good(plan, path)) {
        Str data = {0};
        bool ok = make(plan, new, err);
        if (ok && strcmp(new, path) != 0)
            ok = file_read(new, &data, err) && file_write(path, str_c(&data), data.len, err) &&
                 (chmod(path, 0755) == 0 || err_errno(err, "%s", path));
        str_release(&data);
        if (!ok) {
            free(path);
            path = NULL;
        }
    }
    free(new);
    return path;
}

/* ----------------------------------------------------------------- driver */

/* The C of the driver; the caller frees the path. */
static char *write_driver(const BuildsPlan *plan, Err *err)
{
    char *path = path_join(plan->folder, "driver.c");
    Str text = {0};
    bool ok = driver_write(plan->function, &text, err) &&
              file_write(path, str_c(&text), text.len, err);
    str_release(&text);
    if (ok)
        return path;
    free(path);
    return NULL;
}

/* Puts it into the module, if one function is explored. */
static bool weave_function(const BuildsPlan *plan, Woven *w, Err *err)
{
    if (!plan->function)
        return true;
    char *clang = clang_find(), *source = write_driver(plan, err);
    char *out = path_join(plan->folder, "driver.bc");
    char *argv[] = { clang, "-O1", "-fPIC", "-w", "-fno-builtin", "-emit-llvm", "-c", source,
                     "-o", out, NULL };
    bool ok = source && (clang ? recompile_tool(argv, NULL, NULL, err)
                               : err_set(err, "clang-19 is missing")) &&
              weave_driver(w, plan->function->symbol, out, err);
    free(clang);
    free(source);
    free(out);
    return ok;
}

/* The builds of different functions differ. */
static char *name_of(const BuildsPlan *plan, const char *what)
{
    if (!plan->function)
        return xstrdup(what);
    char *safe = path_safe_name(plan->function->symbol);
    char *name = xprintf("%s-%s", what, safe);
    free(safe);
    return name;
}

/* ------------------------------------------------------ counting, tracing */

static bool make_coverage(const BuildsPlan *plan, const char *out, Err *err)
{
    Woven *w = weave_begin(plan->program, err);
    bool ok = w && weave_function(plan, w, err) && weave_coverage(w, plan->edges, err) &&
              weave_input(w, plan->libexec, err) &&
              weave_runtime(w, plan->libexec, "coverage", err) &&
              weave_build(w, &(WeaveBuild){ .out = out }, err);
    weave_end(w);
    return ok || err_ctx(err, "the build that counts branches");
}

char *build_coverage(const BuildsPlan *plan, Err *err)
{
    char *name = name_of(plan, "explore-coverage"), *path = build(plan, name, make_coverage, err);
    free(name);
    return path;
}

/* Standins, probes, input, runtimes; in this order. */
static bool weave_all(const BuildsPlan *plan, const Standins *standins, const char *out,
                      Err *err)
{
    const Function *target = program_function(plan->program, "LLVMFuzzerTestOneInput");
    const Function *entry = plan->function ? plan->function : target && target->defined ? target : NULL;
    SymbolicPlan how = { .argv = plan->argv, .env = plan->env,
                         .function = entry ? entry->symbol : NULL };
    Symbolic *sym = plan->calls && !plan->everything
                        ? symbolic_new(plan->program, plan->calls, &how) : NULL;
    ConcolicPlan concolic = { .symbolic = sym, .edges = plan->edges, .standins = standins };
    Woven *w = weave_begin(plan->program, err);
    bool ok = w && weave_function(plan, w, err) && weave_standins(w, standins, plan->libexec, err) &&
              weave_concolic(w, &concolic, err) && weave_input(w, plan->libexec, err) &&
              weave_runtime(w, plan->libexec, "concolic", err) &&
              weave_runtime(w, plan->libexec, "forkserver", err) &&
              weave_build(w, &(WeaveBuild){ .out = out }, err);
    weave_end(w);
    symbolic_free(sym);
    return ok;
}

static bool make_concolic(const BuildsPlan *plan, const char *out, Err *err)
{
    char *folder = path_join(plan->share, "standins");
    Standins *standins = standins_new();
    bool ok = standins_read_folder(standins, folder, err) && weave_all(plan, standins, out, err);
    standins_free(standins);
    free(folder);
    return ok || err_ctx(err, "the build that follows its input");
}

static char *concolic_name(const BuildsPlan *plan)
{
    char *what = xprintf("explore-concolic%s%s", plan->argv ? "-argv" : "",
                         plan->env ? "-env" : "");
    char *name = name_of(plan, what);
    free(what);
    return name;
}

bool build_concolic_is_kept(const BuildsPlan *plan)
{
    char *name = concolic_name(plan), *path = place_of(plan, name);
    bool kept = is_good(plan, path);
    free(name);
    free(path);
    return kept;
}

char *build_concolic(const BuildsPlan *plan, Err *err)
{
    char *name = concolic_name(plan);
    char *path = build(plan, name, make_concolic, err);
    free(name);
    return path;
}

/* -------------------------------------------------------------- sanitizers */

static const char *const sanitizer_flags[] = {
    "-O1", "-g", "-w", "-Wno-error", "-fno-lto", "-fno-omit-frame-pointer",
    "-U_FORTIFY_SOURCE", "-fsanitize=address,undefined", NULL,
};

/* A unit with sanitizers; its main() gets the name that runtime/input/input.c calls. */
static bool compile_unit(const BuildsPlan *plan, const Unit *u, size_t number,
                         Strings *objects, Err *err)
{
    Strings flags = {0};
    char *object = xprintf("%s/unit%zu.o", plan->folder, number);
    char *global = xprintf("--globalize-symbol=%s", plan->function ? plan->function->name : "");
    char *edit[] = { "objcopy", plan->function ? "--redefine-sym=main=sundew_unused_main"
                                               : "--redefine-sym=main=sundew_program_main",
                     plan->function ? global : object, plan->function ? object : NULL, NULL };
    recompile_flags(u, &flags);
    for (const char *const *f = sanitizer_flags; *f; f++)
        strings_add(&flags, *f);
    bool ok = recompile_run(u, &flags, u->source, object, err) &&
              recompile_tool(edit, NULL, NULL, err);
    if (!ok)
        err_ctx(err, "%s", u->source);
    strings_add(objects, object);
    strings_release(&flags);
    free(global);
    free(object);
    return ok;
}

static bool compile_driver(const BuildsPlan *plan, Strings *objects, Err *err)
{
    if (!plan->function)
        return true;
    char *source = write_driver(plan, err), *object = path_join(plan->folder, "driver.o");
    char *argv[] = { "cc", "-O1", "-g", "-w", "-fPIC", "-fsanitize=address,undefined", "-c", source,
                     "-o", object, NULL };
    bool ok = source && recompile_tool(argv, NULL, NULL, err);
    strings_add(objects, object);
    free(source);
    free(object);
    return ok;
}

/* runtime/NAME.bc as an object. */
static bool compile_runtime(const BuildsPlan *plan, const char *name, Strings *objects,
                            Err *err)
{
    char *clang = clang_find();
    char *from = xprintf("%s/runtime/%s.bc", plan->libexec, name);
    char *to = xprintf("%s/%s.o", plan->folder, name);
    char *argv[] = { clang, "-O1", "-fPIC", "-w", "-c", from, "-o", to, NULL };
    bool ok = clang ? recompile_tool(argv, NULL, NULL, err)
                    : err_set(err, "clang-19 is missing");
    strings_add(objects, to);
    free(clang);
    free(from);
    free(to);
    return ok;
}

static bool link_sanitized(const BuildsPlan *plan, Strings *objects, const char *out,
                           Err *err)
{
    const CapturedProgram *c = program_captured(plan->program);
    char *more[] = { "-fsanitize=address,undefined", NULL };
    Map units = {0};
    Strings argv = {0};
    for (size_t i = 0; i < c->nunits; i++)
        map_put(&units, c->units[i]->id, NULL);
    Relink r = { .units = &units, .objects = strings_argv(objects), .more = more,
                 .out = out, .scratch = plan->folder, .no_fuzzer = true };
    bool ok = relink_command(program_workspace(plan->program), c, &r, &argv, err) &&
              recompile_tool(strings_argv(&argv), c->link_directory, NULL, err);
    map_release(&units);
    strings_release(&argv);
    return ok;
}

static bool make_sanitized(const BuildsPlan *plan, const char *out, Err *err)
{
    const CapturedProgram *c = program_captured(plan->program);
    Strings objects = {0};
    bool ok = c || err_set(err, "made from bitcode alone");
    for (size_t i = 0; ok && i < c->nunits; i++)
        ok = compile_unit(plan, c->units[i], i, &objects, err);
    ok = ok && compile_driver(plan, &objects, err) &&
         compile_runtime(plan, "input", &objects, err) &&
         compile_runtime(plan, "forkserver", &objects, err) &&
         link_sanitized(plan, &objects, out, err);
    strings_release(&objects);
    return ok || err_ctx(err, "the build with sanitizers");
}

char *build_sanitized(const BuildsPlan *plan, Err *err)
{
    char *name = name_of(plan, "explore-sanitized"), *path = build(plan, name, make_sanitized, err);
    free(name);
    return path;
}
