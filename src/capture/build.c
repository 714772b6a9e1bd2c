/*
 * The wrapper is mounted over every compiler, linker and archiver (tools.h). Where
 * nothing can be mounted, it stands in by name: the shims are links to sundew-cc, one for
 * every such name that the PATH has (a name that is not there must not seem to be there
 * to a configure script), and their folder comes first on the PATH.
 *
 * The wrappers leave a line each in the build's log (a temporary file):
 *
 *     captured ID       failed ID      foreign ID
 *     program PATH      other NAME     check NAME      error TEXT
 *     refused PATH      the real compiler failed on this source, or the linker
 */
#include "capture/build.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include "base/units.h"
#include "capture/capture_int.h"
#include "capture/tools.h"
#include "capture/elf.h"
#include "capture/wrapper.h"
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Removes the stand-ins for tools that the PATH has no more. */
static void sweep_shims(const char *shims)
{
    Strings names = { 0 };
    dir_list(shims, &names, NULL);
    for (size_t i = 0; i < names.len; i++) {
        char *real = path_search(names.items[i], NULL);
        char *link = path_join(shims, names.items[i]);
        if (!real)
            unlink(link);
        free(link);
        free(real);
    }
    strings_release(&names);
}

static bool make_shims(Workspace *ws, const char *wrapper, Err *err)
{
    char *shims = workspace_path(ws, "shims"), *real = path_real(shims);
    sweep_shims(shims);
    for (const char *p = path_list(); *p;) {
        size_t n = strcspn(p, ":");
        char *dir = xstrndup(p, n), *there = path_real(dir);
        Strings names = { 0 };
        if (there && real && strcmp(there, real) != 0)
            dir_list(dir, &names, NULL);
        for (size_t i = 0; i < names.len; i++) {
            char *tool = path_join(dir, names.items[i]);
            bool wanted = tool_kind(names.items[i]) != TOOL_NONE && file_is_regular(tool) &&
                          access(tool, X_OK) == 0;
            free(tool);
            if (!wanted)
                continue;
            char *link = path_join(shims, names.items[i]);
            char *temp = xprintf("%s.%ld", link, (long)getpid());
            if (symlink(wrapper, temp) != 0 || rename(temp, link) != 0) {
                err_errno(err, "%s", link);
                unlink(temp);
            }
            free(temp);
            free(link);
        }
        strings_release(&names);
        free(there);
        free(dir);
        p += n + (p[n] == ':');
    }
    free(shims);
    free(real);
    return !err || !*err->msg;
}

/* Without mounts: the shims stand first on the PATH. */
static bool stand_in_by_name(Workspace *ws, const char *wrapper, Err *err)
{
    char *shims = workspace_path(ws, "shims");
    char *with = xprintf("%s:%s", shims, path_list());
    bool ok = make_shims(ws, wrapper, err);
    setenv("PATH", with, 1);
    free(with);
    free(shims);
    return ok;
}

/* ---- reading */

/* A unit that is part of a program of this build; each counts once. */
static void count_unit(const Unit *u, Map *seen, BuildReport *r)
{
    if (!map_put(seen, u->id, NULL))
        return;
    if (u->status == UNIT_FOREIGN) {
        strings_addf(&r->notes, "%s: %s", u->source, u->reason);
        return;
    }
    r->linked++;
    if (u->status == UNIT_CAPTURED)
        r->linked_captured++;
    else
        strings_addf(&r->problems, "%s: %s", u->source, u->reason);
    if (u->dropped.len) {
        Str line = { 0 };
        str_addf(&line, "%s: compiled for bitcode without", u->source);
        for (size_t i = 0; i < u->dropped.len; i++)
            str_addf(&line, " %s", u->dropped.items[i]);
        vec_push(&r->notes, str_take(&line));
    }
}

/* A program that is gone, or has nothing captured in it: its record tells. */
static void count_record(Workspace *ws, const char *path, Map *seen, BuildReport *r)
{
    Strings ids = { 0 }, missing = { 0 };
    program_record(ws, path, &ids, &missing);
    for (size_t i = 0; i < ids.len; i++) {
        const Unit *u = workspace_unit(ws, ids.items[i]);
        if (u)
            count_unit(u, seen, r);
    }
    for (size_t i = 0; i < missing.len; i++) {
        if (!map_put(seen, missing.items[i], NULL))
            continue;
        r->linked++;
        strings_addf(&r->problems, "%s: not compiled under capture", missing.items[i]);
    }
    strings_release(&ids);
    strings_release(&missing);
}

static void count_program(Workspace *ws, const char *path, Map *seen, BuildReport *r)
{
    const CapturedProgram *p = file_is_regular(path) ? workspace_program(ws, path, NULL) : NULL;
    r->programs++;
    if (!p) {
        count_record(ws, path, seen, r);
        return;
    }
    for (size_t i = 0; i < p->nunits; i++)
        count_unit(p->units[i], seen, r);
    for (size_t i = 0; i < p->nfailed; i++)
        count_unit(p->failed[i], seen, r);
    for (size_t i = 0; i < p->nforeign; i++)
        count_unit(p->foreign[i], seen, r);
    for (size_t i = 0; i < p->nmissing; i++) {
        if (!map_put(seen, p->missing[i].object, NULL))
            continue;
        r->linked++;
        strings_addf(&r->problems, "%s: %s", p->missing[i].object, p->missing[i].reason);
    }
}

/* Reads the log: counts, and which programs were linked. */
static void read_log(Workspace *ws, const char *log, BuildReport *r)
{
    Str text = { 0 };
    Map programs = { 0 }, seen = { 0 }, units = { 0 };
    file_read(log, &text, NULL);
    str_add(&text, "");
    char *save = NULL;
    for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *arg = strchr(line, ' ');
        if (!arg)
            continue;
        *arg++ = 0;
        r->calls++;
        if (strcmp(line, "program") == 0)
            map_put(&programs, arg, NULL);
        else if (strcmp(line, "check") == 0)
            r->checks++;
        else if (strcmp(line, "refused") == 0)
            strings_add(&r->refused, arg);
        else if (strcmp(line, "error") == 0) {
            r->linked++;              /* something is not as it should be */
            strings_addf(&r->problems, "%s", arg);
        } else if (strcmp(line, "other") != 0)
            map_put(&units, arg, NULL);
    }
    for (size_t i = 0; i < programs.len; i++)
        count_program(ws, programs.entries[i].key, &seen, r);
    for (size_t i = 0; i < units.len; i++) {
        const Unit *u = workspace_unit(ws, units.entries[i].key);
        if (!u)
            continue;
        r->compiled += u->status == UNIT_CAPTURED;
        r->failed += u->status == UNIT_FAILED;
        r->foreign += u->status == UNIT_FOREIGN;
        if (!programs.len)
            count_unit(u, &seen, r);    /* a build that makes only objects */
    }
    map_release(&programs);
    map_release(&seen);
    map_release(&units);
    str_release(&text);
}

/* ---- nothing captured */

/* nftw() hands its callback no argument. */
static struct {
    time_t since;
    Str compiler, file;
} newer;

static int look(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)ftw;
    if (type != FTW_F || !S_ISREG(st->st_mode) || st->st_mtime < newer.since ||
        st->st_size > 64 << 20)
        return 0;
    Str data = { 0 };
    int stop = 0;
    if (file_read(path, &data, NULL)) {
        Strings ids = { 0 };
        if (elf_ids(str_c(&data), data.len, &ids) && !ids.len &&
            elf_kind(str_c(&data), data.len) != ELF_OTHER) {
            str_add(&newer.file, path);
            elf_compiler(str_c(&data), data.len, &newer.compiler);
            stop = 1;
        }
        strings_release(&ids);
    }
    str_release(&data);
    return stop;
}

/* The value of a line NAME=VALUE in the file; NULL: there is none. */
static char *value_in(const char *path, const char *name)
{
    Str text = { 0 };
    char *found = NULL;
    if (file_read(path, &text, NULL)) {
        const char *at = strstr(str_c(&text), name);
        at = at ? at + strlen(name) : NULL;
        found = at ? xstrndup(at, strcspn(at, "\r\n")) : NULL;
    }
    str_release(&text);
    return found;
}

/* The folder that the build command builds in: after --build or -C, else this one. */
static const char *build_folder(char *const *argv)
{
    for (size_t i = 1; argv[0] && argv[i]; i++)
        if ((strcmp(argv[i], "--build") == 0 || strcmp(argv[i], "-C") == 0) && argv[i + 1])
            return argv[i + 1];
    return ".";
}

/* The command that configures a build again, now with Sundew's names in it. */
static void say_configure_again(char *const *argv, Str *out)
{
    const char *folder = build_folder(argv);
    char *cache = path_join(folder, "CMakeCache.txt");
    char *source = value_in(cache, "CMAKE_HOME_DIRECTORY:INTERNAL=");
    Str script = { 0 };
    if (source) {
        str_add(&script, "cmake --fresh -S ");
        escape_shell(&script, source);
        str_add(&script, " -B ");
        escape_shell(&script, folder);
        str_add(&script, " && cmake --build ");
        escape_shell(&script, folder);
        str_add(out, "; configure it again under capture: sundew capture -- sh -c ");
        escape_shell(out, str_c(&script));
    } else {
        str_add(out, "; call the compiler by its name (CC=gcc, not by an absolute path), "
                     "configure again, or use CC='sundew-cc'");
    }
    str_release(&script);
    free(source);
    free(cache);
}

static void say_compiler_unseen(char *const *argv, BuildReport *r)
{
    str_addf(&r->nothing, "the build made %s with a compiler that Sundew does not stand in for%s%s",
             str_c(&newer.file), newer.compiler.len ? ", " : "", str_c(&newer.compiler));
    if (r->by_name.len) {
        str_addf(&r->nothing, ". Compilers that are called by their path are not seen: %s",
                 str_c(&r->by_name));
        say_configure_again(argv, &r->nothing);
    }
}

/* Objects that this build made without us tell that it has another compiler. */
static void say_why_nothing(char *const *argv, time_t since, BuildReport *r)
{
    const char *tool = path_base(argv[0]);
    if (strcmp(tool, "docker") == 0 || strcmp(tool, "podman") == 0) {
        str_addf(&r->nothing,
                 "the build runs in a container (%s), where Sundew's "
                 "compilers are not on the PATH; run `sundew capture` inside it",
                 tool);
        return;
    }
    if (r->failed) {
        str_addf(&r->nothing,
                 "clang-19 could compile none of %zu C units; the "
                 "first: %s",
                 r->failed, r->problems.len ? r->problems.items[0] : "?");
        return;
    }
    if (r->refused.len) {
        str_addf(&r->nothing, "the build's own compiler or linker failed %zu time%s; the first: %s",
                 r->refused.len, r->refused.len == 1 ? "" : "s", r->refused.items[0]);
        return;
    }
    if (r->checks) {
        str_add(&r->nothing, "only the checks of a configuration were compiled; "
                             "capture the build too, or both at once: "
                             "sundew capture -- sh -c './configure && make'");
        return;
    }
    newer.since = since;
    nftw(".", look, 32, FTW_PHYS);
    if (newer.file.len)
        say_compiler_unseen(argv, r);
    else if (r->calls)
        str_add(&r->nothing, "compilers were called, but none compiled a C file "
                             "to an object");
    else
        str_add(&r->nothing, "no compiler was called: the build had nothing to do "
                             "(clean first, for example `make clean`)");
    str_release(&newer.file);
    str_release(&newer.compiler);
}

/* ---- a tree that depends on us */

/* nftw() hands its callback no argument. */
static struct {
    const char *shims;
    Str file;
} caches;

static int look_at_cache(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    if (type != FTW_F || strcmp(path + ftw->base, "CMakeCache.txt") != 0)
        return 0;
    Str text = { 0 };
    bool ours = file_read(path, &text, NULL) && strstr(str_c(&text), caches.shims);
    str_release(&text);
    if (ours)
        str_add(&caches.file, str_starts(path, "./") ? path + 2 : path);
    return ours;
}

/* CMake writes down the path of the compiler that it finds: by name, that is a shim. */
static void find_dependence(Workspace *ws, BuildReport *r)
{
    char *shims = workspace_path(ws, "shims/");
    caches.shims = shims;
    nftw(".", look_at_cache, 32, FTW_PHYS);
    if (caches.file.len)
        strings_addf(&r->depends,
                     "%s names compilers of the workspace: configure that tree again "
                     "(cmake --fresh) before you remove %s",
                     str_c(&caches.file), workspace_dir(ws));
    str_release(&caches.file);
    free(shims);
}

json_t *build_report_json(const BuildReport *r)
{
    return json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o}",
                     "status", r->status, "calls", (json_int_t)r->calls, "checks",
                     (json_int_t)r->checks, "compiled", (json_int_t)r->compiled, "failed",
                     (json_int_t)r->failed, "foreign", (json_int_t)r->foreign, "programs",
                     (json_int_t)r->programs, "linked", (json_int_t)r->linked, "captured",
                     (json_int_t)r->linked_captured, "problems",
                     json_strings(r->problems.items, r->problems.len), "notes",
                     json_strings(r->notes.items, r->notes.len), "refused",
                     json_strings(r->refused.items, r->refused.len), "by_name",
                     r->by_name.len ? json_text(str_c(&r->by_name)) : json_null(), "nothing",
                     r->nothing.len ? json_text(str_c(&r->nothing)) : json_null());
}

/* builds/N.json: what this run said, for later. */
static void write_report(Workspace *ws, char *const *argv, const BuildReport *r)
{
    json_t *o = build_report_json(r);
    size_t n = 0;
    while (argv[n])
        n++;
    json_object_set_new(o, "command", json_strings(argv, n));
    Strings names = { 0 };
    char *dir = workspace_path(ws, "builds");
    dir_list(dir, &names, NULL);
    char *path = workspace_path(ws, "builds/%zu.json", names.len + 1);
    json_write(path, o, NULL);
    free(path);
    free(dir);
    strings_release(&names);
    json_decref(o);
}

/* A handler, unlike SIG_IGN, is not inherited by what we execute. */
static void ignore(int sig) { (void)sig; }

/* Mounts, or else names. `*tools` is NULL then. */
static bool stand_in(Workspace *ws, const BuildPlan *plan, const char *temp, Tools **tools,
                     BuildReport *r, Err *err)
{
    Err why = { 0 };
    char *folder = path_join(temp, "tools");
    if (plan->by_name)
        err_set(&why, "--by-name was given");
    else
        *tools = tools_new(folder, plan->wrapper, &why);
    if (*tools && !tools_can_mount(*tools, &why)) {
        tools_free(*tools);
        *tools = NULL;
    }
    bool ok = true;
    if (*tools) {
        setenv("SUNDEW_TOOLS", folder, 1);
    } else {
        str_add(&r->by_name, why.msg);
        ok = stand_in_by_name(ws, plan->wrapper, err);
    }
    free(folder);
    return ok;
}

/* The build gets Ctrl-C too and ends by itself; we then still say what was captured. */
static bool run_build(const BuildPlan *plan, Tools *tools, int *status, Err *err)
{
    Proc p = { .argv = plan->argv,
               .out_to_err = plan->quiet_stdout,
               .death_signal = SIGTERM,
               .enter = tools ? tools_mount : NULL,
               .enter_arg = tools };
    ProcResult result = { 0 };
    void (*old)(int) = signal(SIGINT, ignore);
    pid_t pid = proc_start(&p, err);
    if (pid > 0)
        proc_wait(pid, &result);
    signal(SIGINT, old);
    *status = result.status;
    return pid > 0;
}

bool build_capture(Workspace *ws, const BuildPlan *plan, BuildReport *r, Err *err)
{
    const char *temp = workspace_tempdir(ws, err);
    if (!temp)
        return false;
    Tools *tools = NULL;
    char *log = path_join(temp, "log");
    time_t since = time(NULL);
    setenv("SUNDEW_WORKSPACE", workspace_dir(ws), 1);
    setenv("SUNDEW_LOG", log, 1);
    bool ok = file_write(log, "", 0, err) && stand_in(ws, plan, temp, &tools, r, err) &&
              run_build(plan, tools, &r->status, err);
    if (ok) {
        read_log(ws, log, r);
        if (!r->compiled && !r->linked_captured && r->status == 0)
            say_why_nothing(plan->argv, since, r);
        if (r->by_name.len)
            find_dependence(ws, r);
        write_report(ws, plan->argv, r);
    }
    tools_free(tools);
    free(log);
    tempdir_remove(temp);
    return ok;
}

void build_report_release(BuildReport *r)
{
    strings_release(&r->problems);
    strings_release(&r->notes);
    strings_release(&r->refused);
    strings_release(&r->depends);
    str_release(&r->by_name);
    str_release(&r->nothing);
}
