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
#include "base/fault.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/tempdir.h"
#include "capture/capture_int.h"
#include "capture/elf.h"
#include "capture/linkmap.h"
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
#include <unistd.h>

typedef struct Call {
    ToolKind kind;
    char *cwd;
    char *real;               /* what to execute */
    Strings argv;             /* what the build said, argv[0] first */
    size_t compiler;          /* index of the compiler's name in argv: 1 behind
                               * a launcher such as ccache, else 0 */
    const char *shims;        /* our folder on the PATH; NULL: unknown */
    Workspace *ws;            /* NULL: could not be opened; just pass through */
} Call;

/* --------------------------------------------------------- who are we? */

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
    static const struct { const char *name; ToolKind kind; } tools[] = {
        { "cc", TOOL_CC },     { "gcc", TOOL_CC },     { "clang", TOOL_CC },
        { "c99", TOOL_CC },    { "c89", TOOL_CC },     { "c++", TOOL_CXX },
        { "g++", TOOL_CXX },   { "clang++", TOOL_CXX },
        { "ar", TOOL_AR },     { "gcc-ar", TOOL_AR },  { "llvm-ar", TOOL_AR },
        { "ld", TOOL_LD },     { "ld.bfd", TOOL_LD },  { "ld.gold", TOOL_LD },
        { "ld.lld", TOOL_LD }, { "ccache", TOOL_LAUNCHER },
        { "distcc", TOOL_LAUNCHER },
        { "sccache", TOOL_LAUNCHER },
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
    const char *path = getenv("PATH");
    Str out = {0};
    char *real = shims ? path_real(shims) : NULL;
    for (const char *p = path ? path : ""; *p;) {
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

static char *find_real(const char *name)
{
    if (strchr(name, '/') && access(name, X_OK) == 0)
        return xstrdup(name);
    return path_search(path_base(name), getenv("PATH"), NULL);
}

/* ---------------------------------------------------------- the real one */

static _Noreturn void become(const Call *c)
{
    Strings argv = c->argv;
    execv(c->real, strings_argv(&argv));
    fprintf(stderr, "sundew cc: cannot execute %s: %s\n", c->real,
            strerror(errno));
    exit(127);
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
    Strings argv = {0};
    for (size_t i = 0; i < c->argv.len; i++)
        strings_add(&argv, c->argv.items[i]);
    if (more)
        strings_add(&argv, more);
    Proc p = { .argv = strings_argv(&argv), .file = c->real, .in = in };
    Err err = {0};
    pid_t pid = proc_start(&p, &err);
    if (pid < 0) {
        fprintf(stderr, "sundew cc: %s\n", err.msg);
        exit(127);
    }
    strings_release(&argv);
    return pid;
}

/* One line in the log of this build; short lines appended by several processes
 * do not mix. */
static void log_line(const char *word, const char *text)
{
    const char *path = getenv("SUNDEW_LOG");
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    Str line = {0};
    str_addf(&line, "%s %s\n", word, text);
    for (size_t i = 0; i + 1 < line.len; i++)
        if (line.data[i] == '\n')
            line.data[i] = ' ';
    file_write_fd(fd, line.data, line.len, NULL);
    str_release(&line);
    close(fd);
}

/* --------------------------------------------------------------- bitcode */

/* A source of this call on its way to a unit. */
typedef struct Job {
    const CmdlineInput *in;
    char *source;             /* absolute; what clang reads */
    char *output;             /* absolute: the object, or the linked file */
    char *bitcode, *said;     /* temporary: clang's output, and its messages */
    Strings flags;            /* for clang */
    Strings dropped;
    pid_t pid;                /* of clang; 0: none is running */
    char id[ID_LEN + 1];      /* filled by finish_job() */
} Job;
typedef Vec(Job) Jobs;

static char *clang_path(void)
{
    const char *prefix = getenv("SUNDEW_LLVM_PREFIX");
    char *path = xprintf("%s/bin/clang", prefix ? prefix : SUNDEW_LLVM);
    if (access(path, X_OK) == 0)
        return path;
    free(path);
    return path_search("clang-19", getenv("PATH"), NULL);
}

static void start_clang(Job *j)
{
    static char *clang;
    if (!clang)
        clang = clang_path();
    if (!clang)
        return;
    Strings argv = {0};
    strings_add(&argv, clang);
    for (size_t i = 0; i < j->flags.len; i++)
        strings_add(&argv, j->flags.items[i]);
    static const char *const ours[] = {
        "-O0", "-Xclang", "-disable-O0-optnone", "-g",
        "-Qunused-arguments", "-fno-caret-diagnostics", "-fno-color-diagnostics",
        "-emit-llvm", "-c",
    };
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        strings_add(&argv, ours[i]);
    strings_addf(&argv, "-x%s", j->in->language);
    strings_add(&argv, j->source);
    strings_add(&argv, "-o");
    strings_add(&argv, j->bitcode);
    /* These ask every compiler for dependency files: the build's business. */
    unsetenv("DEPENDENCIES_OUTPUT");
    unsetenv("SUNPRO_DEPENDENCIES");
    Proc p = { .argv = strings_argv(&argv), .in = "/dev/null",
               .out = "/dev/null", .err_out = j->said };
    pid_t pid = proc_start(&p, NULL);
    j->pid = pid > 0 ? pid : 0;
    strings_release(&argv);
}

/* Removes from the flags those that clang's messages name; true if any was. */
static bool drop_refused(Job *j, const char *said)
{
    bool any = false;
    for (size_t i = 0; i < j->flags.len;) {
        const char *flag = j->flags.items[i];
        Str quoted = {0};
        str_addf(&quoted, "'%s'", flag);
        bool named = flag[0] == '-' && strstr(said, str_c(&quoted)) &&
                     (strstr(said, "unknown argument") ||
                      strstr(said, "unsupported") || strstr(said, "invalid"));
        /* -march=foo is refused as: unknown target CPU 'foo' */
        const char *value = strchr(flag, '=');
        if (!named && value && str_starts(flag, "-m")) {
            str_reset(&quoted);
            str_addf(&quoted, "'%s'", value + 1);
            named = strstr(said, str_c(&quoted)) != NULL;
        }
        str_release(&quoted);
        if (!named) {
            i++;
            continue;
        }
        any = true;
        vec_push(&j->dropped, j->flags.items[i]);
        memmove(&j->flags.items[i], &j->flags.items[i + 1],
                (j->flags.len - i - 1) * sizeof *j->flags.items);
        j->flags.len--;
    }
    return any;
}

/* A header that only gcc's own folder has (omp.h, say): look there last. */
static bool add_compiler_headers(const Call *c, Job *j, const char *said)
{
    if (!strstr(said, "file not found"))
        return false;
    for (size_t i = 0; i < j->flags.len; i++)
        if (strcmp(j->flags.items[i], "-idirafter") == 0 &&
            strstr(j->flags.items[i + 1], "/gcc/"))
            return false;
    const char *name = c->compiler ? c->argv.items[c->compiler] : c->real;
    char *argv[] = { (char *)name, "-print-file-name=include", NULL };
    Proc p = { .argv = argv, .capture = true, .seconds = 20 };
    ProcResult r = {0};
    bool ok = proc_run(&p, &r, NULL) && r.status == 0 && r.out.len > 1 &&
              r.out.data[0] == '/';
    if (ok) {
        r.out.data[strcspn(r.out.data, "\n")] = 0;
        strings_add(&j->flags, "-idirafter");
        strings_add(&j->flags, r.out.data);
    }
    proc_result_release(&r);
    return ok;
}

/* gcc's precompiled header beside an -include: clang takes it for its own and
 * refuses it; a copy of the header elsewhere has none beside it. */
static bool avoid_foreign_pch(Job *j, const char *said, const char *cwd)
{
    bool any = false;
    if (!strstr(said, ".gch"))
        return false;
    for (size_t i = 0; i + 1 < j->flags.len; i++) {
        if (strcmp(j->flags.items[i], "-include") != 0)
            continue;
        char *header = path_in(cwd, j->flags.items[i + 1]);
        char *gch = xprintf("%s.gch", header);
        if (file_exists(gch) && file_exists(header)) {
            char *copy = xprintf("%s.%zu.h", j->bitcode, i);
            Str text = {0};
            str_addf(&text, "#include \"%s\"\n", header);
            any |= file_write(copy, text.data, text.len, NULL);
            str_release(&text);
            free(j->flags.items[i + 1]);
            j->flags.items[i + 1] = copy;
        }
        free(gch);
        free(header);
    }
    return any;
}

static void first_error(const char *said, Str *out)
{
    const char *p = strstr(said, "error: ");
    const char *line = p ? p : said;
    while (line > said && line[-1] != '\n')
        line--;
    str_addn(out, line, strcspn(line, "\n"));
    if (!out->len)
        str_add(out, "clang-19 failed without a message");
}

/* Waits for clang, trying again without what it refuses. True: the bitcode is
 * there; else `reason` says why not. */
static bool await_clang(const Call *c, Job *j, Str *reason)
{
    if (!j->pid) {
        str_add(reason, "clang-19 could not be started (sundew doctor)");
        return false;
    }
    for (int attempt = 0;; attempt++) {
        ProcResult r = {0};
        Str said = {0};
        proc_wait(j->pid, &r);
        j->pid = 0;
        if (r.status == 0 && file_size(j->bitcode) > 0)
            return true;
        file_read(j->said, &said, NULL);
        bool again = attempt < 6 && r.signal == 0 &&
                     (drop_refused(j, str_c(&said)) ||
                      avoid_foreign_pch(j, str_c(&said), c->cwd) ||
                      add_compiler_headers(c, j, str_c(&said)));
        if (again)
            start_clang(j);
        if (!again || !j->pid) {
            if (r.signal)
                str_addf(reason, "clang-19 died with signal %d", r.signal);
            else
                first_error(str_c(&said), reason);
            str_release(&said);
            return false;
        }
        str_release(&said);
    }
}

/* An id for a unit without bitcode: of the command, so that it stays the same
 * when the build is repeated. */
static void id_of_command(const Call *c, Job *j)
{
    Sha256 s;
    sha256_init(&s);
    sha256_add(&s, j->source, strlen(j->source) + 1);
    sha256_add(&s, c->cwd, strlen(c->cwd) + 1);
    for (size_t i = 0; i < c->argv.len; i++)
        sha256_add(&s, c->argv.items[i], strlen(c->argv.items[i]) + 1);
    sha256_end_id(&s, j->id);
}

/* Moves the bitcode into the workspace under the name of its content. */
static bool keep_bitcode(const Call *c, Job *j, Str *reason)
{
    Str data = {0};
    Err err = {0};
    bool ok = file_read(j->bitcode, &data, &err);
    if (ok) {
        sha256_id(data.data, data.len, j->id);
        char *path = unit_bitcode_path(c->ws, j->id);
        if (rename(j->bitcode, path) != 0)
            ok = file_write(path, data.data, data.len, &err);
        free(path);
    }
    if (!ok)
        str_add(reason, err.msg);
    str_release(&data);
    return ok;
}

/* Makes the unit of a source whose object is there. */
static void finish_job(const Call *c, Job *j)
{
    Str reason = {0};
    Unit u = { .source = j->source, .directory = c->cwd, .output = j->output,
               .language = j->in->language, .dropped = j->dropped };
    if (!cmdline_is_c(j->in->language)) {
        u.status = UNIT_FOREIGN;
        str_addf(&reason, "%s source, passed through", j->in->language);
        id_of_command(c, j);
    } else if (await_clang(c, j, &reason) && keep_bitcode(c, j, &reason)) {
        u.status = UNIT_CAPTURED;
    } else {
        u.status = UNIT_FAILED;
        id_of_command(c, j);
    }
    if (u.status == UNIT_CAPTURED)
        u.language = "c";
    u.id = j->id;
    u.reason = str_c(&reason);
    for (size_t i = c->compiler; i < c->argv.len; i++)
        vec_push(&u.arguments, c->argv.items[i]);
    Err err = {0};
    if (!unit_write(c->ws, &u, &err)) {
        log_line("error", err.msg);
        j->id[0] = 0;
    } else {
        log_line(unit_status_name(u.status), j->id);
    }
    vec_release(&u.arguments);
    str_release(&reason);
}

static void release_jobs(Jobs *jobs)
{
    for (size_t i = 0; i < jobs->len; i++) {
        Job *j = &jobs->items[i];
        if (j->pid) {
            ProcResult r = {0};
            kill(j->pid, SIGKILL);
            proc_wait(j->pid, &r);
        }
        free(j->source);
        free(j->output);
        free(j->bitcode);
        free(j->said);
        strings_release(&j->flags);
        strings_release(&j->dropped);
    }
    vec_release(jobs);
}

/* Standard input can be read only once: both compilers get a copy. */
static char *copy_stdin(const char *temp)
{
    Str text = {0};
    char *path = path_join(temp, "stdin.c");
    file_read_fd(0, &text, NULL);
    file_write(path, str_c(&text), text.len, NULL);
    str_release(&text);
    return path;
}

/* A job for each source of the command; those in C start at once. */
static void start_jobs(const Call *c, const Cmdline *cmd, const char *temp,
                       const char *in, Jobs *jobs)
{
    for (size_t i = 0; i < cmd->inputs.len; i++) {
        const CmdlineInput *input = &cmd->inputs.items[i];
        if (!input->language)
            continue;
        Job *j = vec_grow(jobs);
        j->in = input;
        j->source = strcmp(input->path, "-") == 0 && in
                        ? xstrdup(in) : path_in(c->cwd, input->path);
        if (cmd->output) {
            j->output = path_in(c->cwd, cmd->output);
        } else {
            char *name = cmd->mode == CMDLINE_LINK
                             ? xstrdup("a.out") : cmdline_object_name(input->path);
            j->output = path_in(c->cwd, name);
            free(name);
        }
        j->bitcode = xprintf("%s/%zu.bc", temp, i);
        j->said = xprintf("%s/%zu.err", temp, i);
        clang_flags(cmd, c->argv.items[c->compiler], &j->flags);
        for (size_t k = 0; k < cmd->dropped.len; k++)
            strings_add(&j->dropped, cmd->dropped.items[k]);
        if (cmdline_is_c(input->language))
            start_clang(j);
    }
}

/* ------------------------------------------------------------ tag, link */

/* Replaces a file by new content with its old mode and times; the file may be
 * linked into a compiler cache, so it is never written in place. */
static bool replace_file(const char *path, const Str *data, Err *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return err_errno(err, "%s", path);
    if (!file_write(path, data->data, data->len, err))
        return false;
    struct timespec times[2] = { st.st_atim, st.st_mtim };
    chmod(path, st.st_mode & 07777);
    utimensat(AT_FDCWD, path, times, 0);
    return true;
}

/* Puts the ids that the file lacks into it. */
static void tag_file(const Call *c, const char *path, const Strings *wanted)
{
    Str data = {0}, out = {0};
    Strings ids = {0};
    Err err = {0};
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
        replace_file(path, &out, &err);
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
    static const char *const folders[] = { "/usr/lib/", "/usr/lib64/", "/lib/",
                                           "/lib64/", "/usr/local/lib/gcc/",
                                           "/usr/x86_64-", "/usr/aarch64-" };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (str_starts(path, folders[i]))
            return true;
    return false;
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

/* The ids of one object, "path" or "archive(member)". False: it has none. */
static bool ids_of_object(const Call *c, const char *object, Map *archives,
                          Strings *ids)
{
    char *member = NULL, *archive = linkmap_archive(object, &member);
    size_t before = ids->len;
    if (!archive) {
        file_ids(c->ws, object, ids, NULL, NULL);
    } else {
        OpenArchive *o = open_archive(archive, archives);
        for (size_t k = 0; k < o->members.len; k++) {
            ArchiveMember *m = &o->members.items[k];
            if (strcmp(path_base(m->name), path_base(member)) == 0)
                object_ids(c->ws, m->data, m->size, ids);
        }
    }
    free(archive);
    free(member);
    return ids->len > before;
}

/* lld's map does not name the bitcode files of an LTO link. So objects that the
 * command names, and bitcode members of the archives it names, are taken too;
 * the latter may be a few more than lld took. */
static void named_objects(const Call *c, const Cmdline *cmd, Map *archives,
                          Strings *objects)
{
    for (size_t i = 0; i < cmd->inputs.len; i++) {
        if (cmd->inputs.items[i].language)
            continue;
        char *path = path_in(c->cwd, cmd->inputs.items[i].path);
        if (str_ends(path, ".o"))
            strings_add(objects, path);
        OpenArchive *o = str_ends(path, ".a") && !is_system_file(path)
                             ? open_archive(path, archives) : NULL;
        for (size_t k = 0; o && k < o->members.len; k++) {
            ArchiveMember *m = &o->members.items[k];
            if (elf_kind(m->data, m->size) == ELF_NONE)
                strings_addf(objects, "%s(%s)", path, m->name);
        }
        free(path);
    }
}

/* Reads the objects that went into a link: their ids, and which have none. */
static void objects_of_link(const Call *c, const Cmdline *cmd, const char *map,
                            Strings *ids, Strings *missing)
{
    Str text = {0};
    Strings objects = {0};
    Map archives = {0}, seen = {0};
    if (file_read(map, &text, NULL))
        linkmap_objects(str_c(&text), c->cwd, &objects);
    named_objects(c, cmd, &archives, &objects);
    for (size_t i = 0; i < objects.len; i++) {
        const char *object = objects.items[i];
        if (map_put(&seen, object, NULL) && !is_system_file(object) &&
            !ids_of_object(c, object, &archives, ids))
            strings_add(missing, object);
    }
    close_archives(&archives);
    map_release(&seen);
    strings_release(&objects);
    str_release(&text);
}

static void note_program(const Call *c, const char *output,
                         const Strings *missing)
{
    LinkRecord r = { .path = output, .missing = missing };
    Err err = {0};
    if (program_write(c->ws, &r, &err))
        log_line("program", output);
    else
        log_line("error", err.msg);
}

/* ------------------------------------------------------------- the kinds */

static _Noreturn void compile(Call *c, const Cmdline *cmd, const char *temp)
{
    Jobs jobs = {0};
    char *in = cmd->reads_stdin ? copy_stdin(temp) : NULL;
    pid_t pid = start_real(c, in, NULL);
    start_jobs(c, cmd, temp, in, &jobs);
    ProcResult r = {0};
    proc_wait(pid, &r);
    for (size_t i = 0; r.status == 0 && i < jobs.len; i++) {
        Job *j = &jobs.items[i];
        if (!file_is_regular(j->output))      /* -o /dev/null */
            continue;
        finish_job(c, j);
        Strings one = {0};
        if (*j->id)
            strings_add(&one, j->id);
        tag_file(c, j->output, &one);
        strings_release(&one);
    }
    release_jobs(&jobs);
    free(in);
    end_like(&r);
}

static _Noreturn void link_program(Call *c, const Cmdline *cmd, const char *temp)
{
    Jobs jobs = {0};
    Strings ids = {0}, missing = {0};
    char *in = cmd->reads_stdin ? copy_stdin(temp) : NULL;
    char *map = cmd->map ? path_in(c->cwd, cmd->map) : path_join(temp, "map");
    char *ask = xprintf("%s%s", c->kind == TOOL_LD ? "-Map=" : "-Wl,-Map=", map);
    char *output = path_in(c->cwd, cmd->output ? cmd->output : "a.out");
    pid_t pid = start_real(c, in, cmd->map ? NULL : ask);
    start_jobs(c, cmd, temp, in, &jobs);
    ProcResult r = {0};
    proc_wait(pid, &r);
    if (r.status == 0 && file_is_regular(output)) {
        for (size_t i = 0; i < jobs.len; i++) {
            finish_job(c, &jobs.items[i]);
            if (*jobs.items[i].id)
                strings_add(&ids, jobs.items[i].id);
        }
        objects_of_link(c, cmd, map, &ids, &missing);
        tag_file(c, output, &ids);
        note_program(c, output, &missing);
    }
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
    Strings words = {0};
    cmdline_expand((int)c->argv.len, c->argv.items, c->cwd, &words);
    const char *name = archive_written(&words);
    if (!name)
        become(c);
    pid_t pid = start_real(c, NULL, NULL);
    ProcResult r = {0};
    proc_wait(pid, &r);
    char *path = path_in(c->cwd, name);
    if (r.status == 0 && file_is_regular(path) && !is_configure_check(c->cwd, path))
        note_program(c, path, NULL);
    free(path);
    strings_release(&words);
    end_like(&r);
}

/* -o and -Map of an ld command line; everything else is the linker's. */
static void parse_ld(const Call *c, Cmdline *cmd)
{
    Strings words = {0};
    cmdline_expand((int)c->argv.len, c->argv.items, c->cwd, &words);
    cmd->mode = CMDLINE_OTHER;
    for (size_t i = 1; i < words.len; i++) {
        const char *w = words.items[i];
        char **to = NULL;
        const char *value = NULL;
        if (strcmp(w, "-o") == 0 || strcmp(w, "--output") == 0)
            to = &cmd->output, value = words.items[++i < words.len ? i : i - 1];
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
    Cmdline cmd = {0};
    if (!c->ws)
        become(c);
    if (c->kind == TOOL_AR)
        archive(c);
    if (c->kind == TOOL_LD)
        parse_ld(c, &cmd);
    else
        cmdline_parse(&cmd, (int)(c->argv.len - c->compiler),
                      c->argv.items + c->compiler, c->cwd, c->kind == TOOL_CXX);
    const char *what = cmd.mode == CMDLINE_OTHER ? "other"
                       : is_check(c, &cmd)       ? "check" : NULL;
    if (what) {
        log_line(what, c->argv.items[0]);
        become(c);
    }
    Err err = {0};
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
        memmove(c->argv.items + 1, c->argv.items + 2,
                (c->argv.len - 2) * sizeof *c->argv.items);
        c->argv.len--;
        return;
    }
    free(c->argv.items[0]);
    c->argv.items[0] = xstrdup(name && *name ? name : "cc");
}

int wrapper_main(int argc, char **argv)
{
    Call c = {0};
    Err err = {0};
    char cwd[PATH_MAX];
    fault_from_environment();
    for (int i = 0; i < argc; i++)
        strings_add(&c.argv, argv[i]);
    c.cwd = xstrdup(getcwd(cwd, sizeof cwd) ? cwd : "/");
    char *self = called_as(argv[0]);
    char *folder = path_dir(self);
    const char *dir = getenv("SUNDEW_WORKSPACE");
    char *own = NULL;
    if (str_ends(folder, "/shims")) {
        c.shims = folder;
        if (!dir || !*dir)
            dir = own = path_dir(folder);
    }
    c.ws = workspace_open(dir && *dir ? dir : NULL, true, &err);
    if (!c.ws)
        log_line("error", err.msg);
    if (!c.shims && c.ws)
        c.shims = workspace_path(c.ws, "shims");
    leave_shims(c.shims);
    const char *base = path_base(argv[0]);
    if (str_starts(base, "sundew"))
        named_compiler(&c);
    base = path_base(c.argv.items[0]);
    c.kind = tool_kind(base);
    c.real = str_starts(path_base(argv[0]), "sundew")
                 ? find_real(c.argv.items[0])
                 : path_search(base, getenv("PATH"), NULL);
    if (!c.real) {
        fprintf(stderr, "sundew cc: no compiler '%s' on the PATH\n", base);
        return 127;
    }
    if (strchr(c.argv.items[0], '/')) {
        /* gcc looks for its parts beside the path it is called by */
        free(c.argv.items[0]);
        c.argv.items[0] = xstrdup(c.real);
    }
    if (c.kind == TOOL_LAUNCHER) {
        /* "ccache gcc …": the compiler behind it must be the real one too */
        ToolKind inner = argc > 1 ? tool_kind(path_base(argv[1])) : TOOL_NONE;
        if (inner != TOOL_CC && inner != TOOL_CXX)
            become(&c);
        char *real = path_search(path_base(argv[1]), getenv("PATH"), NULL);
        if (real) {
            free(c.argv.items[1]);
            c.argv.items[1] = real;
        }
        c.kind = inner;
        c.compiler = 1;
    }
    free(own);
    run_tool(&c);
}
