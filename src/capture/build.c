/*
 * The shims are links to sundew-cc, one for every compiler, linker and
 * archiver name that the PATH has: a name that is not there must not seem to
 * be there to a configure script. Their folder comes first on the PATH.
 *
 * The wrappers leave a line each in the build's log (a temporary file):
 *
 *     captured ID       failed ID      foreign ID
 *     program PATH      other NAME     check NAME      error TEXT
 */
#include "capture/build.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include "base/units.h"
#include "capture/capture_int.h"
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

static void set_environment(Workspace *ws, const char *log)
{
    char *shims = workspace_path(ws, "shims");
    char *with = xprintf("%s:%s", shims, path_list());
    setenv("PATH", with, 1);
    setenv("SUNDEW_WORKSPACE", workspace_dir(ws), 1);
    setenv("SUNDEW_LOG", log, 1);
    free(with);
    free(shims);
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
    if (r->checks) {
        str_add(&r->nothing, "only the checks of a configuration were compiled; "
                             "capture the build too, or both at once: "
                             "sundew capture -- sh -c './configure && make'");
        return;
    }
    newer.since = since;
    nftw(".", look, 32, FTW_PHYS);
    if (newer.file.len)
        str_addf(&r->nothing,
                 "the build made %s with a compiler that Sundew does "
                 "not stand in for%s%s: call it by name (CC=gcc, not by an "
                 "absolute path) or use CC='sundew-cc'",
                 str_c(&newer.file), newer.compiler.len ? ", " : "", str_c(&newer.compiler));
    else if (r->calls)
        str_add(&r->nothing, "compilers were called, but none compiled a C file "
                             "to an object");
    else
        str_add(&r->nothing, "no compiler was called: the build had nothing to do "
                             "(clean first, for example `make clean`)");
    str_release(&newer.file);
    str_release(&newer.compiler);
}

json_t *build_report_json(const BuildReport *r)
{
    return json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "status",
                     r->status, "calls", (json_int_t)r->calls, "checks", (json_int_t)r->checks,
                     "compiled", (json_int_t)r->compiled, "failed", (json_int_t)r->failed,
                     "foreign", (json_int_t)r->foreign, "programs", (json_int_t)r->programs,
                     "linked", (json_int_t)r->linked, "captured", (json_int_t)r->linked_captured,
                     "problems", json_strings(r->problems.items, r->problems.len), "notes",
                     json_strings(r->notes.items, r->notes.len), "nothing",
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

bool build_capture(Workspace *ws, char *const *argv, const char *wrapper, bool quiet_stdout,
                   BuildReport *r, Err *err)
{
    const char *temp = workspace_tempdir(ws, err);
    if (!temp || !make_shims(ws, wrapper, err))
        return false;
    char *log = path_join(temp, "log");
    bool ok = file_write(log, "", 0, err);
    time_t since = time(NULL);
    ProcResult result = { 0 };
    if (ok) {
        set_environment(ws, log);
        Proc p = { .argv = argv, .out_to_err = quiet_stdout, .death_signal = SIGTERM };
        /* The build gets Ctrl-C too and ends by itself; we then still say what
         * was captured. */
        void (*old)(int) = signal(SIGINT, ignore);
        Err started = { 0 };
        pid_t pid = proc_start(&p, &started);
        if (pid > 0)
            proc_wait(pid, &result);
        else
            ok = err_set(err, "%s", started.msg);
        signal(SIGINT, old);
    }
    if (ok) {
        r->status = result.status;
        read_log(ws, log, r);
        if (!r->compiled && !r->linked_captured && r->status == 0)
            say_why_nothing(argv, since, r);
        write_report(ws, argv, r);
    }
    free(log);
    tempdir_remove(temp);
    return ok;
}

void build_report_release(BuildReport *r)
{
    strings_release(&r->problems);
    strings_release(&r->notes);
    str_release(&r->nothing);
}
