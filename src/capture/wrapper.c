/*
 * One compiler call, from top to bottom:
 *
 *     compile  start the real compiler; at the same time clang-19 for each C
 *              source, into the workspace. If the real one fails, that is all.
 *              Else each object gets its unit's id.
 *     link     the real linker, asked for a map. The objects in the map that
 *              carry no id are what is missing. Ids that did not come through
 *              by themselves (sources compiled in the same command, LTO) are
 *              put into the linked file.
 *     ar       the real archiver; the archive is noted.
 *     rest     becomes the real program at once.
 */
#include "capture/wrapper.h"
#include "base/escape.h"
#include "base/fault.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/units.h"
#include "capture/tools.h"
#include "capture/elf.h"
#include "capture/linkmap.h"
#include "capture/wrapper_int.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- who are we? */

/* gcc, gcc-12, x86_64-linux-gnu-gcc-12 are all "gcc". */
static bool is_called(const char *name, const char *tool)
{
    const char *p = name;
    size_t n = strlen(tool);
    while ((p = strstr(p, tool))) {
        bool begins = p == name || p[-1] == '-';
        const char *rest = p + n;
        if (*rest == '-' && isdigit((unsigned char)rest[1]))
            rest += strspn(rest, "-0123456789.");
        if (begins && *rest == 0)
            return true;
        p++;
    }
    return false;
}

ToolKind tool_kind(const char *name)
{
    static const struct {
        const char *name;
        ToolKind kind;
    } tools[] = {
        { "cc", TOOL_CC },           { "gcc", TOOL_CC },          { "clang", TOOL_CC },
        { "c99", TOOL_CC },          { "c89", TOOL_CC },          { "c++", TOOL_CXX },
        { "g++", TOOL_CXX },         { "clang++", TOOL_CXX },     { "ar", TOOL_AR },
        { "gcc-ar", TOOL_AR },       { "llvm-ar", TOOL_AR },      { "ld", TOOL_LD },
        { "ld.bfd", TOOL_LD },       { "ld.gold", TOOL_LD },      { "ld.lld", TOOL_LD },
        { "ccache", TOOL_LAUNCHER }, { "distcc", TOOL_LAUNCHER }, { "sccache", TOOL_LAUNCHER },
    };
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (is_called(name, tools[i].name))
            return tools[i].kind;
    return TOOL_NONE;
}

/* The path that the kernel was asked to execute: the shim, not its target. */
static char *called_as(const char *argv0)
{
    const char *exec = (const char *)getauxval(AT_EXECFN);
    return path_absolute(exec && *exec ? exec : argv0);
}

/* $PATH without the folder of the shims: the real tools, and for what they
 * call in turn. */
static void leave_shims(const char *shims)
{
    Str out = { 0 };
    char *real = shims ? path_real(shims) : NULL;
    for (const char *p = path_list(); *p;) {
        size_t n = strcspn(p, ":");
        char *dir = xstrndup(p, n), *there = path_real(dir);
        if (!(real && there && strcmp(real, there) == 0)) {
            if (out.len)
                str_addc(&out, ':');
            str_add(&out, dir);
        }
        free(dir);
        free(there);
        p += n + (p[n] == ':');
    }
    setenv("PATH", str_c(&out), 1);
    str_release(&out);
    free(real);
}

/* A stand-in is a link to this program: the real tool is the next one. `*file`, if it is
 * not NULL, gets the file of one that we are mounted over. */
static char *find_real(const char *name, char **file)
{
    char *first = path_search(path_base(name), NULL);
    char *covered = first ? tools_real(first) : NULL;
    bool found = covered != NULL;
    if (file)
        *file = covered;
    else
        free(covered);
    if (found)
        return first;
    free(first);
    return path_search(path_base(name), "/proc/self/exe");
}

/* ---- the real one */

static void complain(const char *what, const char *why)
{
    Str text = { 0 };
    escape_terminal_z(&text, what);
    fprintf(stderr, "sundew cc: %s: %s\n", str_c(&text), why);
    str_release(&text);
}

/* A clang finds its headers beside its own file, and runs that file again. One that we
 * are mounted over lies elsewhere: so it is told where it belongs. */
static void clang_words(const char *home, const char *called, Strings *argv)
{
    char *folder = path_dir(home), *beside = path_join(folder, path_base(called));
    bool there = file_exists(beside);
    strings_add(argv, there ? beside : home);
    strings_add(argv, "-no-canonical-prefixes");
    if (!there && strstr(path_base(called), "++"))
        strings_add(argv, "--driver-mode=g++");
    free(beside);
    free(folder);
}

/* The words for the real tool. */
static void real_words(const Call *c, Strings *argv)
{
    char *home = c->file ? path_real(c->real) : NULL;
    bool clang = home && str_starts(path_base(home), "clang") &&
                 !(c->argv.len > 1 && str_starts(c->argv.items[1], "-cc1"));
    if (clang)
        clang_words(home, c->argv.items[0], argv);
    for (size_t i = clang; i < c->argv.len; i++)
        strings_add(argv, c->argv.items[i]);
    free(home);
}

static _Noreturn void become(const Call *c)
{
    Strings argv = { 0 };
    real_words(c, &argv);
    execv(c->file ? c->file : c->real, strings_argv(&argv));
    complain(c->real, strerror(errno));
    exit(127);
}

/* Out of memory: the build must still get what it asked for. */
static struct {
    char **argv;              /* as we were called */
    const Call *call;         /* NULL: too early to know */
    pid_t started;            /* the real tool, if it is running */
} rescue;

/* Becomes the real tool without a byte of heap. */
static void become_early(char **argv)
{
    char file[PATH_MAX];
    struct stat self, st;
    const char *name = path_base(argv[0]);
    if (str_starts(name, "sundew"))
        name = getenv("SUNDEW_CC") ? getenv("SUNDEW_CC") : "cc";
    stat("/proc/self/exe", &self);
    for (const char *p = path_list(); *p;) {
        size_t n = strcspn(p, ":");
        snprintf(file, sizeof file, "%.*s/%s", (int)n, p, name);
        if (stat(file, &st) == 0 && st.st_ino != self.st_ino) {
            argv[0] = file;
            execv(file, argv);
        }
        p += n + (p[n] == ':');
    }
}

static _Noreturn void end_like(const ProcResult *r);

static void out_of_memory(void)
{
    ProcResult r = { 0 };
    if (rescue.started) {
        proc_wait(rescue.started, &r);
        end_like(&r);
    }
    if (rescue.call)
        become(rescue.call);
    become_early(rescue.argv);
}

static _Noreturn void end_like(const ProcResult *r)
{
    if (r->signal) {
        signal(r->signal, SIG_DFL);
        raise(r->signal);
    }
    exit(r->status);
}

static pid_t start_real(const Call *c, const char *in, const char *more)
{
    Strings argv = { 0 };
    real_words(c, &argv);
    if (more)
        strings_add(&argv, more);
    Proc p = { .argv = strings_argv(&argv),
               .file = c->file ? c->file : c->real,
               .in = in,
               .death_signal = SIGTERM };
    pid_t pid = proc_start(&p, NULL);
    if (pid < 0)
        become(c);
    rescue.started = pid;
    strings_release(&argv);
    return pid;
}

/* One line in the log of this build; short lines appended by several processes
 * do not mix. */
void log_line(const char *word, const char *text)
{
    const char *path = getenv("SUNDEW_LOG");
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    Str line = { 0 };
    str_addf(&line, "%s %s\n", word, text);
    for (size_t i = 0; i + 1 < line.len; i++)
        if (line.data[i] == '\n')
            line.data[i] = ' ';
    file_write_fd(fd, line.data, line.len, NULL);
    str_release(&line);
    close(fd);
}

/* ---- tag, link */

/* Puts the ids that the file lacks into it. */
static void tag_file(const Call *c, const char *path, const Strings *wanted)
{
    Str data = { 0 }, out = { 0 };
    Strings ids = { 0 };
    Err err = { 0 };
    bool lacks = false;
    if (!file_is_regular(path) || !file_read(path, &data, &err))
        goto out;
    elf_ids(data.data, data.len, &ids);
    for (size_t i = 0; i < wanted->len; i++) {
        bool there = false;
        for (size_t k = 0; k < ids.len && !there; k++)
            there = strcmp(ids.items[k], wanted->items[i]) == 0;
        if (!there)
            strings_add(&ids, wanted->items[i]);
        lacks |= !there;
    }
    if (!lacks)
        goto out;
    if (elf_kind(str_c(&data), data.len) == ELF_NONE) {
        /* bitcode of an LTO build, for example */
        if (wanted->len == 1)
            object_remember(c->ws, str_c(&data), data.len, wanted->items[0], &err);
    } else if (elf_with_ids(data.data, data.len, ids.items, ids.len, &out, &err)) {
        /* never in place: it may be linked into a compiler cache */
        file_replace(path, out.data, out.len, &err);
    }
out:
    if (*err.msg)
        log_line("error", err.msg);
    strings_release(&ids);
    str_release(&data);
    str_release(&out);
}

static bool is_system_file(const char *path)
{
    static const char *const folders[] = { "/usr/lib/",    "/usr/lib64/",         "/lib/",
                                           "/lib64/",      "/usr/local/lib/gcc/", "/usr/x86_64-",
                                           "/usr/aarch64-" };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (str_starts(path, folders[i]))
            return true;
    const char *base = path_base(path);
    base += strspn(base, "Sgr");
    return str_starts(base, "crt") && strlen(base) < 14;     /* crtbeginS.o */
}

/* An archive, opened once for all its members in a link. */
typedef struct OpenArchive {
    Str data;
    ArchiveMembers members;
} OpenArchive;

static OpenArchive *open_archive(const char *path, Map *archives)
{
    OpenArchive *o = map_get(archives, path);
    if (o)
        return o;
    o = xcalloc(1, sizeof *o);
    map_put(archives, path, o);
    if (file_read(path, &o->data, NULL))
        archive_members(path, str_c(&o->data), o->data.len, &o->members, NULL);
    return o;
}

static void close_archives(Map *archives)
{
    for (size_t i = 0; i < archives->len; i++) {
        OpenArchive *o = archives->entries[i].value;
        archive_members_release(&o->members);
        str_release(&o->data);
        free(o);
    }
    map_release(archives);
}

/* A compiler leaves its name in .comment; what has none was assembled, or is
 * data that was made into an object. */
static bool was_compiled(const char *data, size_t n)
{
    Str compiler = { 0 };
    elf_compiler(data, n, &compiler);
    bool bitcode = n > 4 && memcmp(data, "BC\xc0\xde", 4) == 0;
    bool compiled = compiler.len || bitcode;
    str_release(&compiler);
    return compiled;
}

/* The ids of one object, "path" or "archive(member)". False: it has none, and
 * was made by a compiler. */
static bool ids_of_object(const Call *c, const char *object, Map *archives, Strings *ids)
{
    char *member = NULL, *archive = linkmap_archive(object, &member);
    size_t before = ids->len;
    bool compiled = false;
    if (!archive) {
        Str data = { 0 };
        if (file_read(object, &data, NULL) && !object_ids(c->ws, str_c(&data), data.len, ids))
            compiled = was_compiled(str_c(&data), data.len);
        str_release(&data);
    } else {
        OpenArchive *o = open_archive(archive, archives);
        for (size_t k = 0; k < o->members.len; k++) {
            ArchiveMember *m = &o->members.items[k];
            if (strcmp(path_base(m->name), path_base(member)) == 0 &&
                !object_ids(c->ws, m->data, m->size, ids))
                compiled |= was_compiled(m->data, m->size);
        }
    }
    free(archive);
    free(member);
    return ids->len > before || !compiled;
}

/* lld's map does not name the bitcode files of an LTO link. So objects that the
 * command names, and bitcode members of the archives it names, are taken too;
 * the latter may be a few more than lld took. */
static void named_objects(const Call *c, const Cmdline *cmd, Map *archives, Strings *objects)
{
    for (size_t i = 0; i < cmd->inputs.len; i++) {
        if (cmd->inputs.items[i].language)
            continue;
        char *path = path_in(c->cwd, cmd->inputs.items[i].path);
        if (str_ends(path, ".o"))
            strings_add(objects, path);
        OpenArchive *o =
            str_ends(path, ".a") && !is_system_file(path) ? open_archive(path, archives) : NULL;
        for (size_t k = 0; o && k < o->members.len; k++) {
            ArchiveMember *m = &o->members.items[k];
            if (elf_kind(m->data, m->size) == ELF_NONE)
                strings_addf(objects, "%s(%s)", path, m->name);
        }
        free(path);
    }
}

/* With -save-temps the command's own objects stay: prog-a.o of a.c. */
static bool is_own_object(const Cmdline *cmd, const char *object)
{
    const char *base = path_base(object);
    for (size_t i = 0; i < cmd->inputs.len; i++) {
        if (!cmd->inputs.items[i].language)
            continue;
        char *own = cmdline_object_name(cmd->inputs.items[i].path);
        size_t n = strlen(base), m = strlen(own);
        bool same = n >= m && strcmp(base + n - m, own) == 0 && (n == m || base[n - m - 1] == '-');
        free(own);
        if (same)
            return true;
    }
    return false;
}

/* Reads the objects that went into a link: their ids, and which have none. */
static void objects_of_link(const Call *c, const Cmdline *cmd, const char *map, Strings *ids,
                            Strings *missing)
{
    Str text = { 0 };
    Strings objects = { 0 };
    Map archives = { 0 }, seen = { 0 };
    if (map && file_read(map, &text, NULL))
        linkmap_objects(str_c(&text), c->cwd, &objects);
    else if (map)
        log_line("error", "the linker wrote no map: what it took is not known");
    named_objects(c, cmd, &archives, &objects);
    for (size_t i = 0; i < objects.len; i++) {
        const char *object = objects.items[i];
        if (map_put(&seen, object, NULL) && !is_system_file(object) &&
            !is_own_object(cmd, object) && !ids_of_object(c, object, &archives, ids))
            strings_add(missing, object);
    }
    close_archives(&archives);
    map_release(&seen);
    strings_release(&objects);
    str_release(&text);
}

/* The command that links, to be run again later: without a launcher, response
 * files (often temporary) read, the compiler by its path. */
static void link_words(const Call *c, Strings *out)
{
    cmdline_expand((int)(c->argv.len - c->compiler), c->argv.items + c->compiler, c->cwd, out);
    if (c->compiler == 0) {
        free(out->items[0]);
        out->items[0] = xstrdup(c->real);
    }
}

static void note_program(const Call *c, const char *output, const Strings *missing,
                         const Strings *command)
{
    Strings ids = { 0 };
    Err err = { 0 };
    file_ids(c->ws, output, &ids, NULL, NULL);
    LinkRecord r = {
        .path = output, .ids = &ids, .missing = missing, .command = command, .directory = c->cwd
    };
    if (program_write(c->ws, &r, &err))
        log_line("program", output);
    else
        log_line("error", err.msg);
    strings_release(&ids);
}

/* ---- the kinds */

/* Standard input can be read only once: both compilers get a copy,
 * which stays as the unit's source. */
static char *copy_stdin(const Call *c)
{
    Str text = { 0 };
    char id[ID_LEN + 1];
    file_read_fd(0, &text, NULL);
    sha256_id(str_c(&text), text.len, id);
    char *path = workspace_path(c->ws, "units/%s.stdin.c", id);
    file_write(path, str_c(&text), text.len, NULL);
    str_release(&text);
    return path;
}

/* Of several sources in a command that failed, some objects are made all the same. */
static bool is_made(const Job *j, const struct timespec *since)
{
    struct stat st;
    return stat(j->output, &st) == 0 && st.st_size > 0 &&
           (st.st_mtim.tv_sec > since->tv_sec ||
            (st.st_mtim.tv_sec == since->tv_sec && st.st_mtim.tv_nsec >= since->tv_nsec));
}

static _Noreturn void compile(Call *c, const Cmdline *cmd, const char *temp)
{
    Jobs jobs = { 0 };
    char *in = cmd->reads_stdin ? copy_stdin(c) : NULL;
    double begin = clock_seconds();
    struct timespec since;
    clock_gettime(CLOCK_REALTIME_COARSE, &since);      /* the clock of files */
    pid_t pid = start_real(c, in, NULL);
    start_jobs(c, cmd, temp, in, &jobs);
    ProcResult r = { 0 };
    proc_wait(pid, &r);
    double seconds = clock_seconds() - begin;
    for (size_t i = 0; (r.status == 0 || jobs.len > 1) && i < jobs.len; i++) {
        Job *j = &jobs.items[i];
        if (!file_is_regular(j->output) ||    /* -o /dev/null */
            (r.status != 0 && !is_made(j, &since)))
            continue;
        finish_job(c, j, seconds);
        Strings one = { 0 };
        if (*j->id)
            strings_add(&one, j->id);
        tag_file(c, j->output, &one);
        strings_release(&one);
    }
    if (r.status != 0 && cmd->inputs.len)
        log_line("refused", cmd->inputs.items[0].path);
    release_jobs(&jobs);
    free(in);
    end_like(&r);
}

/* -Map=FILE; in a folder FILE it is OUTPUT.map; % stands for OUTPUT. */
static char *users_map(const Call *c, const Cmdline *cmd, const char *output)
{
    char *path = path_in(c->cwd, cmd->map);
    const char *percent = strchr(cmd->map, '%');
    char *name = NULL;
    if (file_is_dir(path)) {
        name = xprintf("%s/%s.map", path, path_base(output));
    } else if (percent) {
        const char *base = cmd->output ? cmd->output : "a.out";
        char *word = xprintf("%.*s%s%s%s", (int)(percent - cmd->map), cmd->map, base,
                             percent[1] ? "" : ".map", percent + 1);
        name = path_in(c->cwd, word);
        free(word);
    }
    if (name)
        free(path);
    return name ? name : path;
}

static _Noreturn void link_program(Call *c, const Cmdline *cmd, const char *temp)
{
    Jobs jobs = { 0 };
    Strings ids = { 0 }, missing = { 0 }, command = { 0 };
    char *in = cmd->reads_stdin ? copy_stdin(c) : NULL;
    link_words(c, &command);      /* before the linker can remove its files */
    char *output = path_in(c->cwd, cmd->output ? cmd->output : "a.out");
    char *map = cmd->prints_map ? NULL
                : cmd->map      ? users_map(c, cmd, output)
                                : path_join(temp, "map");
    char *ask = xprintf("%s%s", c->kind == TOOL_LD ? "-Map=" : "-Wl,-Map=", map ? map : "");
    double begin = clock_seconds();
    pid_t pid = start_real(c, in, map && !cmd->map ? ask : NULL);
    start_jobs(c, cmd, temp, in, &jobs);
    ProcResult r = { 0 };
    proc_wait(pid, &r);
    double seconds = clock_seconds() - begin;
    if (r.status == 0 && file_is_regular(output)) {
        for (size_t i = 0; i < jobs.len; i++) {
            finish_job(c, &jobs.items[i], seconds);
            if (*jobs.items[i].id)
                strings_add(&ids, jobs.items[i].id);
        }
        objects_of_link(c, cmd, map, &ids, &missing);
        tag_file(c, output, &ids);
        note_program(c, output, &missing, &command);
    }
    if (r.status != 0)
        log_line("refused", output);
    strings_release(&command);
    release_jobs(&jobs);
    strings_release(&ids);
    strings_release(&missing);
    free(in);
    free(map);
    free(ask);
    free(output);
    end_like(&r);
}

/* `ar rcs lib.a …`, `ar -r -c lib.a …`, `ar --plugin X crs lib.a …`. */
static const char *archive_written(const Strings *argv)
{
    bool writes = false, seen_op = false;
    for (size_t i = 1; i < argv->len; i++) {
        const char *w = argv->items[i];
        if (str_starts(w, "--")) {
            if (strcmp(w, "--plugin") == 0 || strcmp(w, "--target") == 0)
                i++;
            continue;
        }
        if (!seen_op || w[0] == '-') {
            seen_op = true;
            writes |= strchr(w, 'r') || strchr(w, 'q');
            continue;
        }
        return writes ? w : NULL;
    }
    return NULL;
}

static _Noreturn void archive(Call *c)
{
    Strings words = { 0 };
    cmdline_expand((int)c->argv.len, c->argv.items, c->cwd, &words);
    const char *name = archive_written(&words);
    if (!name)
        become(c);
    pid_t pid = start_real(c, NULL, NULL);
    ProcResult r = { 0 };
    proc_wait(pid, &r);
    char *path = path_in(c->cwd, name);
    if (r.status == 0 && file_is_regular(path) && !is_configure_check(c->cwd, path))
        note_program(c, path, NULL, NULL);
    free(path);
    strings_release(&words);
    end_like(&r);
}

/* -o and -Map of an ld command line; everything else is the linker's. */
static void parse_ld(const Call *c, Cmdline *cmd)
{
    Strings words = { 0 };
    cmdline_expand((int)c->argv.len, c->argv.items, c->cwd, &words);
    cmd->mode = CMDLINE_OTHER;
    for (size_t i = 1; i < words.len; i++) {
        const char *w = words.items[i];
        char **to = NULL;
        const char *value = NULL;
        if (strcmp(w, "-o") == 0 || strcmp(w, "--output") == 0)
            to = &cmd->output, value = words.items[++i < words.len ? i : i - 1];
        else if (str_starts(w, "--output="))
            to = &cmd->output, value = strchr(w, '=') + 1;
        else if (str_starts(w, "-o") && !str_starts(w, "-oformat"))
            to = &cmd->output, value = w + 2;
        else if (strcmp(w, "-M") == 0 || strcmp(w, "--print-map") == 0)
            cmd->prints_map = true;
        else if (str_starts(w, "-Map=") || str_starts(w, "--Map="))
            to = &cmd->map, value = strchr(w, '=') + 1;
        else if (strcmp(w, "-Map") == 0)
            to = &cmd->map, value = words.items[++i < words.len ? i : i - 1];
        else if (w[0] != '-')
            cmd->mode = CMDLINE_LINK;
        if (to) {
            free(*to);
            *to = xstrdup(value);
        }
    }
    strings_release(&words);
}

static bool is_check(const Call *c, const Cmdline *cmd)
{
    for (size_t i = 0; i < cmd->inputs.len; i++)
        if (is_configure_check(c->cwd, cmd->inputs.items[i].path))
            return true;
    return cmd->output && is_configure_check(c->cwd, cmd->output);
}

static _Noreturn void run_tool(Call *c)
{
    Cmdline cmd = { 0 };
    if (!c->ws)
        become(c);
    if (c->kind == TOOL_AR)
        archive(c);
    if (c->kind == TOOL_LD)
        parse_ld(c, &cmd);
    else
        cmdline_parse(&cmd, (int)(c->argv.len - c->compiler), c->argv.items + c->compiler, c->cwd,
                      c->kind == TOOL_CXX);
    const char *what = cmd.mode == CMDLINE_OTHER ? "other" : is_check(c, &cmd) ? "check" : NULL;
    if (what) {
        log_line(what, c->argv.items[0]);
        become(c);
    }
    Err err = { 0 };
    const char *temp = workspace_tempdir(c->ws, &err);
    if (!temp) {
        log_line("error", err.msg);
        become(c);
    }
    if (cmd.mode == CMDLINE_COMPILE)
        compile(c, &cmd, temp);
    link_program(c, &cmd, temp);
}

/* `sundew cc [--cc=NAME] …`: argv[0] becomes the compiler's name. */
static void named_compiler(Call *c)
{
    const char *name = getenv("SUNDEW_CC");
    if (c->argv.len > 1 && str_starts(c->argv.items[1], "--cc=")) {
        free(c->argv.items[0]);
        c->argv.items[0] = xstrdup(c->argv.items[1] + 5);
        free(c->argv.items[1]);
        memmove(c->argv.items + 1, c->argv.items + 2, (c->argv.len - 2) * sizeof *c->argv.items);
        c->argv.len--;
        return;
    }
    free(c->argv.items[0]);
    c->argv.items[0] = xstrdup(name && *name ? name : "cc");
}

/* A build may clear its environment. The path WORKSPACE/tmp/BUILD/tools/TOOL tells what
 * stood in it. */
static void mend_environment(const char *file)
{
    if (getenv("SUNDEW_TOOLS"))
        return;
    char *tools = path_dir(file), *build = path_dir(tools), *tmp = path_dir(build);
    char *workspace = path_dir(tmp), *log = path_join(build, "log");
    setenv("SUNDEW_TOOLS", tools, 1);
    setenv("SUNDEW_WORKSPACE", workspace, 1);
    setenv("SUNDEW_LOG", log, 1);
    free(log);
    free(workspace);
    free(tmp);
    free(build);
    free(tools);
}

/* The workspace of this call, and with it the folder of the stand-ins, which
 * is left for all that the real tools call. */
static void find_workspace(Call *c, const char *self)
{
    Err err = { 0 };
    char *folder = path_dir(self);
    const char *named = getenv("SUNDEW_WORKSPACE");
    char *own = str_ends(folder, "/shims") ? path_dir(folder) : NULL;
    c->ws = workspace_open(named && *named ? named : own, true, &err);
    if (!c->ws)
        log_line("error", err.msg);
    char *shims = own ? xstrdup(folder) : c->ws ? workspace_path(c->ws, "shims") : NULL;
    leave_shims(shims);
    free(shims);
    free(own);
    free(folder);
}

/* "ccache gcc …": the compiler behind it must be the real one too, but one
 * that the build names by its path stays. */
static void find_behind_launcher(Call *c)
{
    const char *name = c->argv.len > 1 ? c->argv.items[1] : "";
    ToolKind inner = tool_kind(path_base(name));
    if (inner != TOOL_CC && inner != TOOL_CXX)
        become(c);
    char *folder = path_dir(name);
    bool ours = !strchr(name, '/') || str_ends(folder, "/shims");
    char *real = ours ? find_real(name, NULL) : NULL;
    free(folder);
    if (real) {
        free(c->argv.items[1]);
        c->argv.items[1] = real;
    }
    c->kind = inner;
    c->compiler = 1;
}

/* We are mounted over a tool. What a real tool of this build calls in turn is its own
 * business; so is a name that is none of ours, of a file that has several. */
static void become_if_inside(Call *c, const char *self)
{
    c->file = tools_real(self);
    if (!c->file)
        return;
    c->real = xstrdup(self);
    mend_environment(c->file);
    if (getenv("SUNDEW_INSIDE") || tool_kind(path_base(c->argv.items[0])) == TOOL_NONE)
        become(c);
}

static void find_tool(Call *c, const char *name, bool by_hand)
{
    if (!c->file && by_hand && strchr(name, '/')) {
        c->real = xstrdup(name);
        c->file = tools_real(name);
    } else if (!c->file) {
        c->real = find_real(name, &c->file);
    }
    setenv("SUNDEW_INSIDE", "1", 1);
}

/* ccache knows a compiler by its file's size and time, which are ours here. */
static void tell_ccache(const Call *c)
{
    char *behind = c->compiler ? tools_real(c->argv.items[c->compiler]) : NULL;
    const char *name = path_base(c->argv.items[0]);
    for (const char *p = path_list(); !c->compiler && !behind && *p;) {
        size_t n = strcspn(p, ":");
        char *tool = xprintf("%.*s/%s", (int)n, p, name), *real = path_real(tool);
        if (real && tool_kind(path_base(real)) != TOOL_LAUNCHER)
            behind = tools_real(tool);
        free(real);
        free(tool);
        p += n + (p[n] == ':');
    }
    struct stat st;
    if (behind && stat(behind, &st) == 0) {
        char *check = xprintf("string:%lld-%lld", (long long)st.st_size, (long long)st.st_mtime);
        setenv("CCACHE_COMPILERCHECK", check, 1);
        free(check);
    }
    free(behind);
}

int wrapper_main(int argc, char **argv)
{
    Call c = { 0 };
    char cwd[PATH_MAX];
    rescue.argv = argv;
    mem_out_of_memory_hook(out_of_memory);
    fault_from_environment();
    for (int i = 0; i < argc; i++)
        strings_add(&c.argv, argv[i]);
    c.cwd = xstrdup(getcwd(cwd, sizeof cwd) ? cwd : "/");
    char *self = called_as(argv[0]);
    bool by_hand = str_starts(path_base(argv[0]), "sundew");
    if (!by_hand)
        become_if_inside(&c, self);
    find_workspace(&c, self);
    if (by_hand)
        named_compiler(&c);
    const char *name = c.argv.items[0];
    c.kind = tool_kind(path_base(name));
    find_tool(&c, name, by_hand);
    free(self);
    if (!c.real) {
        complain(path_base(name), "no such compiler on the PATH");
        return 127;
    }
    rescue.call = &c;
    /* gcc looks for its parts beside the path it is called by, or that the PATH
     * has for its name. */
    char *first = path_search(path_base(name), NULL);
    if (strchr(name, '/') || !first || strcmp(first, c.real) != 0) {
        free(c.argv.items[0]);
        c.argv.items[0] = xstrdup(c.real);
    }
    free(first);
    if (c.kind == TOOL_LAUNCHER)
        find_behind_launcher(&c);
    if (c.file)
        tell_ccache(&c);
    run_tool(&c);
}
