/*
 * Bitcode beside the object: clang-19 reads the same source with the flags that
 * decide which program it is. What it refuses is left out and it is tried
 * again; what it can't compile at all is a unit without bitcode, with the
 * reason.
 */
#include "base/escape.h"
#include "base/file.h"
#include "base/proc.h"
#include "base/units.h"
#include "capture/wrapper_int.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* __FILE__ is the path as the build's command has it, not the absolute one. */
static void add_macro_prefix(const Job *j, Strings *argv)
{
    const char *said = j->in->path;
    if (*said == '/' || cmdline_is_stdin(said))
        return;
    size_t dir = (size_t)(path_base(j->source) - j->source);
    size_t short_dir = (size_t)(path_base(said) - said);
    strings_addf(argv, "-fmacro-prefix-map=%.*s=%.*s", (int)dir, j->source, (int)short_dir, said);
}

static void start_clang(Job *j)
{
    static char *clang;
    if (!clang)
        clang = clang_find();
    if (!clang)
        return;
    Strings argv = { 0 };
    strings_add(&argv, clang);
    for (size_t i = 0; i < j->flags.len; i++)
        strings_add(&argv, j->flags.items[i]);
    static const char *const ours[] = {
        "-O0",
        "-Xclang",
        "-disable-O0-optnone",
        "-g",
        /* To clang it has the function's type in it, which assert() prints. */
        "-D__PRETTY_FUNCTION__=__func__",
        "-Qunused-arguments",
        "-fno-caret-diagnostics",
        "-fno-color-diagnostics",
        "-emit-llvm",
        "-c",
    };
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        strings_add(&argv, ours[i]);
    add_macro_prefix(j, &argv);
    strings_addf(&argv, "-x%s", j->in->language);
    strings_add(&argv, j->source);
    strings_add(&argv, "-o");
    strings_add(&argv, j->bitcode);
    /* These ask every compiler for dependency files: the build's business. */
    unsetenv("DEPENDENCIES_OUTPUT");
    unsetenv("SUNPRO_DEPENDENCIES");
    Proc p = { .argv = strings_argv(&argv),
               .in = "/dev/null",
               .out = "/dev/null",
               .err_out = j->said,
               .death_signal = SIGKILL };
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
        Str quoted = { 0 };
        str_addf(&quoted, "'%s'", flag);
        bool named = flag[0] == '-' && strstr(said, str_c(&quoted)) &&
                     (strstr(said, "unknown argument") || strstr(said, "unsupported") ||
                      strstr(said, "invalid"));
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
        if (strcmp(j->flags.items[i], "-idirafter") == 0 && strstr(j->flags.items[i + 1], "/gcc/"))
            return false;
    const char *name = c->compiler ? c->argv.items[c->compiler] : c->real;
    char *argv[] = { (char *)name, "-print-file-name=include", NULL };
    Proc p = { .argv = argv, .capture = true, .seconds = 20 };
    ProcResult r = { 0 };
    bool ok = proc_run(&p, &r, NULL) && r.status == 0 && r.out.len > 1 && r.out.data[0] == '/';
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
            Str text = { 0 };
            str_add(&text, "#include ");
            escape_c_include(&text, header);
            str_addc(&text, '\n');
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
static bool await_clang(const Call *c, Job *j, double seconds, Str *reason)
{
    double deadline = clock_seconds() + (seconds * 20 > 60 ? seconds * 20 : 60);
    if (!j->pid) {
        str_add(reason, j->unreadable ? "the source can be read only once"
                                      : "clang-19 could not be started (sundew doctor)");
        return false;
    }
    for (int attempt = 0;; attempt++) {
        ProcResult r = { 0 };
        Str said = { 0 };
        bool in_time = proc_wait_until(j->pid, deadline, &r);
        if (!in_time) {
            kill(j->pid, SIGKILL);
            proc_wait(j->pid, &r);
        }
        j->pid = 0;
        if (!in_time) {
            str_add(reason, "clang-19 took too long");
            return false;
        }
        if (r.status == 0 && file_size(j->bitcode) > 0)
            return true;
        file_read(j->said, &said, NULL);
        bool again = attempt < 6 && r.signal == 0 &&
                     (drop_refused(j, str_c(&said)) || avoid_foreign_pch(j, str_c(&said), c->cwd) ||
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
    Str data = { 0 };
    Err err = { 0 };
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
void finish_job(const Call *c, Job *j, double seconds)
{
    Str reason = { 0 };
    Unit u = { .source = j->source,
               .directory = c->cwd,
               .output = j->output,
               .language = j->in->language,
               .dropped = j->dropped };
    if (!cmdline_is_c(j->in->language)) {
        u.status = UNIT_FOREIGN;
        str_addf(&reason, "%s source, passed through", j->in->language);
        id_of_command(c, j);
    } else if (await_clang(c, j, seconds, &reason) && keep_bitcode(c, j, &reason)) {
        u.status = UNIT_CAPTURED;
    } else {
        u.status = UNIT_FAILED;
        id_of_command(c, j);
    }
    if (u.status == UNIT_CAPTURED)
        u.language = "c";
    u.id = j->id;
    u.reason = str_c(&reason);
    cmdline_expand((int)(c->argv.len - c->compiler), c->argv.items + c->compiler, c->cwd,
                   &u.arguments);
    Err err = { 0 };
    if (!unit_write(c->ws, &u, &err)) {
        log_line("error", err.msg);
        j->id[0] = 0;
    } else {
        log_line(unit_status_name(u.status), j->id);
    }
    strings_release(&u.arguments);
    str_release(&reason);
}

void release_jobs(Jobs *jobs)
{
    for (size_t i = 0; i < jobs->len; i++) {
        Job *j = &jobs->items[i];
        if (j->pid) {
            ProcResult r = { 0 };
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

/* A job for each source of the command; those in C start at once. */
void start_jobs(const Call *c, const Cmdline *cmd, const char *temp, const char *in, Jobs *jobs)
{
    for (size_t i = 0; i < cmd->inputs.len; i++) {
        const CmdlineInput *input = &cmd->inputs.items[i];
        if (!input->language)
            continue;
        Job *j = vec_grow(jobs);
        j->in = input;
        j->source =
            cmdline_is_stdin(input->path) && in ? xstrdup(in) : path_in(c->cwd, input->path);
        j->unreadable = !file_is_regular(j->source);
        if (cmd->output) {
            j->output = path_in(c->cwd, cmd->output);
        } else {
            char *name =
                cmd->mode == CMDLINE_LINK ? xstrdup("a.out") : cmdline_object_name(input->path);
            j->output = path_in(c->cwd, name);
            free(name);
        }
        j->bitcode = xprintf("%s/%zu.bc", temp, i);
        j->said = xprintf("%s/%zu.err", temp, i);
        clang_flags(cmd, c->argv.items[c->compiler], &j->flags);
        for (size_t k = 0; k < cmd->dropped.len; k++)
            strings_add(&j->dropped, cmd->dropped.items[k]);
        if (cmdline_is_c(input->language) && !j->unreadable)
            start_clang(j);
    }
}
