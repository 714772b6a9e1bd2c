/* The builds: see builds.h. */
#include "build/builds.h"
#include "base/file.h"
#include "base/map.h"
#include "capture/recompile.h"
#include "capture/relink.h"
#include "build/build.h"
#include "build/driver.h"
#include "build/woven.h"
#include "analysis/symbolic/standins.h"
#include "analysis/symbolic/symbolic.h"
#include "weave/weave.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- driver */

/* A build in the making. */
typedef struct Making {
    const BuildsPlan *plan;
    const char *driver;          /* the C text that calls plan->function; NULL */
} Making;

/* The driver as a file; the caller frees the path. */
static char *write_driver(const Making *m, Err *err)
{
    char *path = path_join(m->plan->folder, "driver.c");
    assert(m->driver);
    if (file_write(path, m->driver, strlen(m->driver), err))
        return path;
    free(path);
    return NULL;
}

/* Puts it into the module, if one function is explored. */
static bool weave_function(const Making *m, Woven *w, Err *err)
{
    const BuildsPlan *plan = m->plan;
    if (!m->driver)
        return true;
    char *clang = clang_find(), *source = write_driver(m, err);
    char *out = path_join(plan->folder, "driver.bc");
    char *argv[] = { clang,  "-O1", "-fPIC", "-w", "-fno-builtin", "-emit-llvm", "-c",
                     source, "-o",  out,     NULL };
    bool ok =
        source &&
        (clang ? recompile_tool(argv, NULL, NULL, err) : err_set(err, "clang-19 is missing")) &&
        weave_driver(w, plan->function->symbol, out, err);
    free(clang);
    free(source);
    free(out);
    return ok;
}

/* The kept build, made if need be and if there is a make(). Builds of different
 * functions differ; two static functions may have the same driver. */
static char *get(const BuildsPlan *plan, BuildRecipe r, Err *err)
{
    Str driver = { 0 };
    if (plan->function && !driver_write(plan->function, &driver, err)) {
        str_release(&driver);
        return NULL;
    }
    Making m = { .plan = plan, .driver = plan->function ? str_c(&driver) : NULL };
    char *variant =
        xprintf("%s %s", plan->function ? plan->function->symbol : "", r.variant ? r.variant : "");
    r.program = plan->program;
    r.libexec = plan->libexec;
    r.driver = m.driver;
    r.variant = variant;
    r.arg = &m;
    char *path = r.make ? build_get(&r, err) : build_kept(&r);
    free(variant);
    str_release(&driver);
    return path;
}

/* ---- counting, tracing */

static bool make_coverage(void *arg, const char *out, Err *err)
{
    const Making *m = arg;
    const BuildsPlan *plan = m->plan;
    Woven *w = weave_begin(plan->program, err);
    bool ok = w && weave_function(m, w, err) && weave_coverage(w, plan->edges, err) &&
              weave_input(w, plan->libexec, err) &&
              weave_runtime(w, plan->libexec, "coverage", err) &&
              woven_build(w, &(WovenBuild){ .out = out }, err);
    weave_end(w);
    return ok || err_ctx(err, "the build that counts branches");
}

char *build_coverage(const BuildsPlan *plan, Err *err)
{
    static const char *const runtimes[] = { "input", "coverage", NULL };
    return get(plan,
               (BuildRecipe){
                   .name = "explore-coverage", .runtimes = runtimes, .make = make_coverage },
               err);
}

/* Standins, probes, input, runtimes; in this order. */
static bool weave_all(const Making *m, const Standins *standins, const char *out, Err *err)
{
    const BuildsPlan *plan = m->plan;
    const Function *target = program_function(plan->program, "LLVMFuzzerTestOneInput");
    const Function *entry = plan->function              ? plan->function
                            : target && target->defined ? target
                                                        : NULL;
    SymbolicPlan how = { .argv = plan->argv,
                         .env = plan->env,
                         .function = entry ? entry->symbol : NULL };
    Symbolic *sym =
        plan->calls && !plan->everything ? symbolic_new(plan->program, plan->calls, &how) : NULL;
    ConcolicPlan concolic = { .symbolic = sym, .edges = plan->edges, .standins = standins };
    Woven *w = weave_begin(plan->program, err);
    bool ok = w && weave_function(m, w, err) && weave_standins(w, standins, plan->libexec, err) &&
              weave_concolic(w, &concolic, err) && weave_input(w, plan->libexec, err) &&
              weave_runtime(w, plan->libexec, "concolic", err) &&
              weave_runtime(w, plan->libexec, "forkserver", err) &&
              woven_build(w, &(WovenBuild){ .out = out }, err);
    weave_end(w);
    symbolic_free(sym);
    return ok;
}

static bool make_concolic(void *arg, const char *out, Err *err)
{
    const Making *m = arg;
    char *folder = path_join(m->plan->share, "standins");
    Standins *standins = standins_new();
    bool ok = standins_read_folder(standins, folder, err) && weave_all(m, standins, out, err);
    standins_free(standins);
    free(folder);
    return ok || err_ctx(err, "the build that follows its input");
}

/* `make` NULL: only if it is kept. */
static char *get_concolic(const BuildsPlan *plan, BuildMake *make, Err *err)
{
    static const char *const runtimes[] = { "standins", "concolic", "input", "forkserver", NULL };
    char *standins = path_join(plan->share, "standins");
    char *summaries = path_join(plan->share, "summaries");
    char *variant = xprintf("%s%s%s%s", plan->argv ? "argv " : "", plan->env ? "env " : "",
                            plan->everything ? "everything " : "", plan->calls ? "calls" : "");
    const char *const files[] = { standins, summaries, NULL };
    char *path = get(plan,
                     (BuildRecipe){ .name = "explore-concolic",
                                    .variant = variant,
                                    .runtimes = runtimes,
                                    .files = files,
                                    .make = make },
                     err);
    free(standins);
    free(summaries);
    free(variant);
    return path;
}

bool build_concolic_is_kept(const BuildsPlan *plan)
{
    char *path = get_concolic(plan, NULL, NULL);
    free(path);
    return path != NULL;
}

char *build_concolic(const BuildsPlan *plan, Err *err)
{
    return get_concolic(plan, make_concolic, err);
}

/* ---- sanitizers */

static const char *const sanitizer_flags[] = {
    "-O1",
    "-g",
    "-w",
    "-Wno-error",
    "-fno-lto",
    "-fno-omit-frame-pointer",
    "-U_FORTIFY_SOURCE",
    "-fsanitize=address,undefined",
    NULL,
};

/* A unit with sanitizers; its main() gets the name that runtime/input/input.c calls. */
static bool compile_unit(const BuildsPlan *plan, const Unit *u, size_t number, Strings *objects,
                         Err *err)
{
    Strings flags = { 0 };
    char *object = xprintf("%s/unit%zu.o", plan->folder, number);
    char *global = xprintf("--globalize-symbol=%s", plan->function ? plan->function->name : "");
    char *edit[] = { "objcopy",
                     plan->function ? "--redefine-sym=main=sundew_unused_main"
                                    : "--redefine-sym=main=sundew_program_main",
                     plan->function ? global : object, plan->function ? object : NULL, NULL };
    recompile_flags(u, &flags);
    for (const char *const *f = sanitizer_flags; *f; f++)
        strings_add(&flags, *f);
    bool ok =
        recompile_run(u, &flags, u->source, object, err) && recompile_tool(edit, NULL, NULL, err);
    if (!ok)
        err_ctx(err, "%s", u->source);
    strings_add(objects, object);
    strings_release(&flags);
    free(global);
    free(object);
    return ok;
}

static bool compile_driver(const Making *m, Strings *objects, Err *err)
{
    const BuildsPlan *plan = m->plan;
    if (!m->driver)
        return true;
    char *source = write_driver(m, err), *object = path_join(plan->folder, "driver.o");
    char *argv[] = { "cc", "-O1",  "-g", "-w",   "-fPIC", "-fsanitize=address,undefined",
                     "-c", source, "-o", object, NULL };
    bool ok = source && recompile_tool(argv, NULL, NULL, err);
    strings_add(objects, object);
    free(source);
    free(object);
    return ok;
}

/* runtime/NAME.bc as an object. */
static bool compile_runtime(const BuildsPlan *plan, const char *name, Strings *objects, Err *err)
{
    char *clang = clang_find();
    char *from = xprintf("%s/runtime/%s.bc", plan->libexec, name);
    char *to = xprintf("%s/%s.o", plan->folder, name);
    char *argv[] = { clang, "-O1", "-fPIC", "-w", "-c", from, "-o", to, NULL };
    bool ok = clang ? recompile_tool(argv, NULL, NULL, err) : err_set(err, "clang-19 is missing");
    strings_add(objects, to);
    free(clang);
    free(from);
    free(to);
    return ok;
}

static bool link_sanitized(const BuildsPlan *plan, Strings *objects, const char *out, Err *err)
{
    const CapturedProgram *c = program_captured(plan->program);
    char *more[] = { "-fsanitize=address,undefined", NULL };
    Map units = { 0 };
    Strings argv = { 0 };
    for (size_t i = 0; i < c->nunits; i++)
        map_put(&units, c->units[i]->id, NULL);
    Relink r = { .units = &units,
                 .objects = strings_argv(objects),
                 .more = more,
                 .out = out,
                 .scratch = plan->folder,
                 .no_fuzzer = true };
    bool ok = relink_command(program_workspace(plan->program), c, &r, &argv, err) &&
              recompile_tool(strings_argv(&argv), c->link_directory, NULL, err);
    map_release(&units);
    strings_release(&argv);
    return ok;
}

static bool make_sanitized(void *arg, const char *out, Err *err)
{
    const Making *m = arg;
    const BuildsPlan *plan = m->plan;
    const CapturedProgram *c = program_captured(plan->program);
    Strings objects = { 0 };
    bool ok = c || err_set(err, "made from bitcode alone");
    for (size_t i = 0; ok && i < c->nunits; i++)
        ok = compile_unit(plan, c->units[i], i, &objects, err);
    ok = ok && compile_driver(m, &objects, err) && compile_runtime(plan, "input", &objects, err) &&
         compile_runtime(plan, "forkserver", &objects, err) &&
         link_sanitized(plan, &objects, out, err);
    strings_release(&objects);
    return ok || err_ctx(err, "the build with sanitizers");
}

char *build_sanitized(const BuildsPlan *plan, Err *err)
{
    static const char *const runtimes[] = { "input", "forkserver", NULL };
    return get(plan,
               (BuildRecipe){
                   .name = "explore-sanitized", .runtimes = runtimes, .make = make_sanitized },
               err);
}
