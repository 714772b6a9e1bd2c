/* The builds: see builds.h. */
#include "build/builds.h"
#include "base/file.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/sha256.h"
#include "capture/recompile.h"
#include "capture/relink.h"
#include "build/build.h"
#include "build/driver.h"
#include "build/woven.h"
#include "analysis/symbolic/standins.h"
#include "analysis/symbolic/symbolic.h"
#include "runtime/clock/clock.h"
#include "weave/weave.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* ---- time */

/* Does this program have one thread? Then it never has to wait. Threads and processes wait for each
 * other, and take a sleep for it. */
static bool waits_for_nobody(const Program *p)
{
    static const char *const others[] = { "pthread_create", "thrd_create",  "fork",
                                          "vfork",          "clone",        "alarm",
                                          "setitimer",      "timer_create", "timerfd_create" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (program_function(p, others[i]))
            return false;
    return true;
}

static bool weave_time(const BuildsPlan *plan, Woven *w, Err *err)
{
    return !waits_for_nobody(plan->program) || weave_clock(w, plan->libexec, err);
}

/* objcopy's words for functions of an object that wait or tell the time. */
static void rename_waits(const Program *p, Strings *words)
{
#define X(name) #name,
    static const char *const names[] = { SUNDEW_CLOCK_FUNCTIONS(X) };
#undef X
    for (size_t i = 0; waits_for_nobody(p) && i < sizeof names / sizeof *names; i++) {
        const Function *fn = program_function(p, names[i]);
        if (fn && !fn->defined)
            strings_addf(words, "--redefine-sym=%s=sundew_clock_%s", names[i], names[i]);
    }
}

/* ---- counting, tracing */

static bool make_coverage(void *arg, const char *out, Err *err)
{
    const Making *m = arg;
    const BuildsPlan *plan = m->plan;
    Woven *w = weave_begin(plan->program, err);
    bool ok = w && weave_function(m, w, err) && weave_coverage(w, plan->edges, err) &&
              weave_time(plan, w, err) && weave_input(w, plan->libexec, err) &&
              weave_runtime(w, plan->libexec, "coverage", err) &&
              woven_build(w, &(WovenBuild){ .out = out, .level = 1, .lines_only = true }, err);
    weave_end(w);
    return ok || err_ctx(err, "the build that counts branches");
}

char *build_coverage(const BuildsPlan *plan, Err *err)
{
    static const char *const runtimes[] = { "input", "coverage", "clock", NULL };
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
    ConcolicPlan concolic = {
        .symbolic = sym, .edges = plan->edges, .standins = standins, .reached = plan->reached
    };
    Woven *w = weave_begin(plan->program, err);
    bool ok = w && weave_function(m, w, err) && weave_standins(w, standins, plan->libexec, err) &&
              weave_concolic(w, &concolic, err) && weave_time(plan, w, err) &&
              weave_input(w, plan->libexec, err) &&
              weave_runtime(w, plan->libexec, "concolic", err) &&
              weave_runtime(w, plan->libexec, "forkserver", err) &&
              woven_build(w, &(WovenBuild){ .out = out, .lines_only = true }, err);
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

/* Names the functions that are woven; "": all. The caller frees it. */
static char *name_reached(const BuildsPlan *plan)
{
    Sha256 h;
    char id[ID_LEN + 1];
    if (!plan->reached)
        return xstrdup("");
    sha256_init(&h);
    sha256_add(&h, plan->reached, program_index_limit(plan->program));
    sha256_end_id(&h, id);
    return xprintf(" reached %s", id);
}

/* `make` NULL: only if it is kept. */
static char *get_concolic(const BuildsPlan *plan, BuildMake *make, Err *err)
{
    static const char *const runtimes[] = {
        "standins", "concolic", "input", "forkserver", "clock", NULL,
    };
    char *standins = path_join(plan->share, "standins");
    char *summaries = path_join(plan->share, "summaries");
    char *reached = name_reached(plan);
    char *variant = xprintf("%s%s%s%s%s", plan->argv ? "argv " : "", plan->env ? "env " : "",
                            plan->everything ? "everything " : "",
                            plan->calls || plan->calls_later ? "calls" : "", reached);
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
    free(reached);
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

static char *object_of(const BuildsPlan *plan, size_t number)
{
    return xprintf("%s/unit%zu.o", plan->folder, number);
}

/* A unit with sanitizers; its main() gets the name that runtime/input/input.c calls. */
static bool compile_unit(const BuildsPlan *plan, const Unit *u, size_t number, Err *err)
{
    Strings flags = { 0 };
    char *object = object_of(plan, number);
    Strings edit = { 0 };
    strings_add(&edit, "objcopy");
    strings_add(&edit, plan->function ? "--redefine-sym=main=sundew_unused_main"
                                      : "--redefine-sym=main=sundew_program_main");
    if (plan->function)
        strings_addf(&edit, "--globalize-symbol=%s", plan->function->name);
    rename_waits(plan->program, &edit);
    strings_add(&edit, object);
    recompile_flags(u, &flags);
    for (const char *const *f = sanitizer_flags; *f; f++)
        strings_add(&flags, *f);
    bool ok = recompile_run(u, &flags, u->source, object, err) &&
              recompile_tool(strings_argv(&edit), NULL, NULL, err);
    if (!ok)
        err_ctx(err, "%s", u->source);
    strings_release(&flags);
    strings_release(&edit);
    free(object);
    return ok;
}

/* Every `step`th unit from `first` on. */
static bool compile_some(const BuildsPlan *plan, size_t first, size_t step, Err *err)
{
    const CapturedProgram *c = program_captured(plan->program);
    bool ok = true;
    assert(step);
    for (size_t i = first; ok && i < c->nunits; i += step)
        ok = compile_unit(plan, c->units[i], i, err);
    return ok;
}

/* Processes of their own compile a share each, and say in a file why not. */
static bool compile_units(const BuildsPlan *plan, Strings *objects, Err *err)
{
    const CapturedProgram *c = program_captured(plan->program);
    size_t jobs = plan->jobs > 1 ? plan->jobs : 1;
    jobs = jobs < c->nunits ? jobs : c->nunits;
    bool ok = jobs > 1 || compile_some(plan, 0, 1, err);
    pid_t *pids = xcalloc(jobs + 1, sizeof *pids);
    fflush(NULL);
    for (size_t i = 0; jobs > 1 && i < jobs; i++)
        if ((pids[i] = proc_fork()) == 0) {
            Err why = { 0 };
            char *said = xprintf("%s/share%zu.err", plan->folder, i);
            bool done = compile_some(plan, i, jobs, &why) ||
                        !file_write(said, why.msg, strlen(why.msg), NULL);
            _exit(done ? 0 : 1);
        }
    for (size_t i = 0; jobs > 1 && i < jobs; i++) {
        int status = -1;
        char *said = xprintf("%s/share%zu.err", plan->folder, i);
        Str why = { 0 };
        while (pids[i] > 0 && waitpid(pids[i], &status, 0) < 0 && errno == EINTR)
            ;
        if (status != 0 && ok)
            ok = err_set(err, "%s", file_read(said, &why, NULL) ? str_c(&why) : "compiling failed");
        str_release(&why);
        free(said);
    }
    for (size_t i = 0; i < c->nunits; i++) {
        char *object = object_of(plan, i);
        strings_add(objects, object);
        free(object);
    }
    free(pids);
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
    ok = ok && compile_units(plan, &objects, err) && compile_driver(m, &objects, err) &&
         compile_runtime(plan, "input", &objects, err) &&
         compile_runtime(plan, "forkserver", &objects, err) &&
         compile_runtime(plan, "clock", &objects, err) && link_sanitized(plan, &objects, out, err);
    strings_release(&objects);
    return ok || err_ctx(err, "the build with sanitizers");
}

char *build_sanitized(const BuildsPlan *plan, Err *err)
{
    static const char *const runtimes[] = { "input", "forkserver", "clock", NULL };
    return get(plan,
               (BuildRecipe){
                   .name = "explore-sanitized", .runtimes = runtimes, .make = make_sanitized },
               err);
}
