#include "session/session.h"
#include "program/program.h"
#include "base/escape.h"
#include "base/fault.h"
#include "base/file.h"
#include "base/progress.h"
#include "base/units.h"
#include "session/session_int.h"
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

/* ---- the asked */

static const Value *value_of(const Session *s, const char *name)
{
    const Value *found = NULL;
    for (size_t i = 0; i < s->values.len; i++)
        if (strcmp(s->values.items[i].option->name, name) == 0)
            found = &s->values.items[i];
    return found;
}

const char *session_option(Session *s, const char *name)
{
    const Value *v = value_of(s, name);
    if (v)
        return v->text;
    const Option *o = option_find(s->command, name);
    return o ? o->otherwise : NULL;
}

bool session_flag(Session *s, const char *name) { return value_of(s, name) != NULL; }

char **session_option_all(Session *s, const char *name)
{
    Vec(char *) all = { 0 };
    for (size_t i = 0; i < s->values.len; i++)
        if (strcmp(s->values.items[i].option->name, name) == 0)
            vec_push(&all, s->values.items[i].text);
    vec_push(&all, NULL);
    return all.items;       /* a command's own few; freed with the process */
}

char **session_args(Session *s, size_t *n)
{
    *n = s->args.len;
    return strings_argv(&s->args);
}

void session_adopt(Session *s, const char *option, const char *value)
{
    if (!option) {
        strings_add(&s->args, value);
        return;
    }
    const Option *o = option_find(s->command, option);
    assert(o);
    vec_push(&s->values, ((Value){ o, xstrdup(value), xstrdup("a kept file") }));
}

char **session_tail(Session *s, size_t *n)
{
    *n = s->tail.len;
    return strings_argv(&s->tail);
}

bool session_has_tail(Session *s) { return s->has_tail; }

unsigned session_jobs(Session *s)
{
    const char *text = session_option(s, "jobs");
    long n = text ? strtol(text, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 1024 ? 1024 : (unsigned)n;
}

double session_time(Session *s)
{
    double seconds = 0;
    const char *text = session_option(s, "time");
    return text && duration_parse(text, &seconds) ? seconds : 0;
}

uint64_t session_memory(Session *s)
{
    uint64_t bytes = 0;
    const char *text = session_option(s, "memory");
    return text && size_parse(text, &bytes) ? bytes : 0;
}

uint64_t session_seed(Session *s) { return s->seed; }

Rng *session_rng(Session *s) { return &s->rng; }

Workspace *session_workspace(Session *s) { return s->workspace; }

Store *session_store(Session *s) { return s->store; }

const char *session_root(Session *s) { return s->root; }

const char *session_share(Session *s) { return s->share; }

const char *session_libexec(Session *s) { return s->libexec; }

const char *session_command_line(Session *s) { return s->command_line; }

bool session_verbose(Session *s) { return session_flag(s, "verbose"); }

bool session_quiet(Session *s) { return session_flag(s, "quiet"); }

bool session_color(Session *s)
{
    const char *when = session_option(s, "color");
    if (strcmp(when, "always") == 0)
        return true;
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return strcmp(when, "never") != 0 && isatty(1) && !(no && *no) &&
           !(term && strcmp(term, "dumb") == 0);
}

bool session_time_is_over(const Session *s)
{
    return s->deadline > 0 && clock_seconds() > s->deadline;
}

bool session_interrupted(Session *s) { return interrupted || session_time_is_over(s); }

bool session_was_asked_to_stop(void) { return interrupted; }

bool session_take_stop(void)
{
    if (!interrupted)
        return false;
    usleep(50 * 1000);         /* timeout(1) sends a second one at once */
    interrupted = 0;
    return true;
}

double session_time_left(const Session *s, double otherwise)
{
    if (s->deadline <= 0)
        return otherwise;
    double left = s->deadline - clock_seconds();
    return left > 0.001 ? left : 0.001;
}

/* ---- what comes out */

Str *session_out(Session *s) { return &s->out; }

void session_note(Session *s, const char *fmt, ...)
{
    if (session_quiet(s))
        return;
    Str text = { 0 }, shown = { 0 };
    va_list ap;
    va_start(ap, fmt);
    str_addv(&text, fmt, ap);
    va_end(ap);
    escape_terminal(&shown, str_c(&text), text.len);
    fprintf(stderr, "sundew: %s\n", str_c(&shown));
    str_release(&text);
    str_release(&shown);
}

void session_status(Session *s, int status) { s->status = status; }

void session_incomplete(Session *s, const char *fmt, ...)
{
    if (s->incomplete.len)
        str_add(&s->incomplete, "; ");
    va_list ap;
    va_start(ap, fmt);
    str_addv(&s->incomplete, fmt, ap);
    va_end(ap);
}

void session_examined(Session *s, const char *fmt, ...)
{
    if (s->examined.len)
        str_add(&s->examined, ", ");
    va_list ap;
    va_start(ap, fmt);
    str_addv(&s->examined, fmt, ap);
    va_end(ap);
}

void session_json(Session *s, const char *key, json_t *value)
{
    if (!s->json)
        s->json = json_object();
    json_object_set_new(s->json, key, value);
}

bool session_begin(Session *s, const char *scope, Err *err)
{
    const char *label = session_option(s, "label");
    scope = label && *label ? label : scope;
    if (!scope) {
        store_close(s->store);
        s->store = store_open(":memory:", s->root, err);
        scope = "part";
    }
    if (!s->store)
        return false;
    assert(!s->reported);        /* one run a command */
    s->scope = xstrdup(scope);
    s->reported = true;
    s->run = store_run_begin(s->store, s->command->name, scope, s->command_line, s->seed, err);
    return s->run != NULL;
}

bool session_report(Session *s, const Finding *f, Err *err)
{
    assert(s->run);              /* session_begin() came first */
    Arena a = { 0 };
    Finding mine = evidence_placed(s, &a, f);
    bool ok = store_run_add(s->run, &mine, err);
    arena_release(&a);
    return ok;
}

void session_saw(Session *s, const char *file) { store_run_saw(s->run, file); }

/* ---- preparation */

/* The tool runs from its build folder and installed:
 *
 *     SOURCE/build/sundew    SOURCE/share      SOURCE/build/sundew-cc
 *     PREFIX/bin/sundew      PREFIX/lib/sundew/share   PREFIX/lib/sundew/…
 */
static void find_home(Session *s)
{
    char *self = path_real("/proc/self/exe");
    char *bin = path_dir(self ? self : "/usr/local/bin/sundew");
    char *installed = path_in(bin, "../lib/sundew");
    if (file_is_dir(installed)) {
        s->libexec = xstrdup(installed);
        s->share = path_join(installed, "share");
    } else {
        s->libexec = xstrdup(bin);
        s->share = path_in(bin, "../share");
    }
    free(installed);
    free(bin);
    free(self);
}

/* The first one asks for an orderly end; one that comes a second later or more ends
 * it. timeout(1) sends each signal twice, to the process and to its group. */
static void on_interrupt(int sig)
{
    static double first;
    double now = clock_seconds();
    if (interrupted && now - first >= 1) {
        signal(sig, SIG_DFL);
        raise(sig);
    }
    first = interrupted ? first : now;
    interrupted = 1;
}

static bool check_values(Session *s, Err *err)
{
    double seconds;
    uint64_t bytes;
    char *end;
    const char *text = session_option(s, "time");
    if (text && !duration_parse(text, &seconds))
        return err_set(err, "--time %s: not a duration (90s, 5m, 1h30m)", text);
    text = session_option(s, "memory");
    if (text && !size_parse(text, &bytes))
        return err_set(err, "--memory %s: not a size (512M, 4G)", text);
    text = session_option(s, "jobs");
    if (text && (strtol(text, &end, 10) < 1 || *end))
        return err_set(err, "--jobs %s: not a number from 1 on", text);
    text = session_option(s, "color");
    if (strcmp(text, "auto") && strcmp(text, "always") && strcmp(text, "never"))
        return err_set(err, "--color %s: auto, always or never", text);
    text = session_option(s, "seed");
    errno = 0;
    s->seed = strtoull(text, &end, 0);
    if (!*text || *end || errno || *text == '-')
        return err_set(err, "--seed %s: not a number", text);
    s->rng = rng_seeded(s->seed);
    if (session_time(s) > 0)
        s->deadline = clock_seconds() + session_time(s);
    return true;
}

/* The project's folder: where the workspace is, or would be. */
static bool read_config(Session *s, Err *err)
{
    const char *named = session_option(s, "config");
    if (named)
        return config_read(s, named, false, err);
    char *path = path_join(s->root, "sundew.ini");
    bool ok = !file_exists(path) || config_read(s, path, true, err);
    free(path);
    return ok;
}

static bool open_workspace(Session *s, Err *err)
{
    const char *dir = session_option(s, "workspace");
    unsigned folder = s->command ? s->command->needs & NEEDS_FOLDER : NEEDS_NOTHING;
    Err why = { 0 };
    s->workspace = workspace_open(dir, false, &why);
    if (s->workspace) {
        s->root = xstrdup(workspace_root(s->workspace));
        return true;
    }
    s->root = dir ? path_in(dir, "..") : path_absolute(".");
    char *full = dir ? path_absolute(dir) : NULL;
    if (full) {
        free(s->root);
        s->root = path_dir(full);
        free(full);
    }
    if (folder == NEEDS_NOTHING)
        return true;
    if (folder != NEEDS_STORE)
        return err_set(err, "%s", why.msg);
    s->workspace = workspace_open(dir, true, err);
    s->made_workspace = s->workspace != NULL;
    return s->made_workspace;
}

static bool open_store(Session *s, Err *err)
{
    unsigned folder = s->command->needs & NEEDS_FOLDER;
    if (folder < NEEDS_FINDINGS)
        return true;
    char *path = path_join(workspace_dir(s->workspace), "findings.db");
    if (folder == NEEDS_FINDINGS && !file_exists(path)) {
        free(path);
        return err_set(err, "no technique has run here yet; for example: "
                            "sundew arguments");
    }
    s->store = store_open(path, s->root, err);
    free(path);
    return s->store != NULL;
}

static void note_command_line(Session *s, int argc, char **argv)
{
    Str line = { 0 };
    str_add(&line, "sundew");
    for (int i = 1; i < argc; i++) {
        str_addc(&line, ' ');
        escape_shell(&line, argv[i]);
    }
    s->command_line = str_take(&line);
}

static void release(Session *s)
{
    for (size_t i = 0; i < s->values.len; i++) {
        free(s->values.items[i].text);
        free(s->values.items[i].origin);
    }
    vec_release(&s->values);
    evidence_release(s);
    claims_release(s);
    strings_release(&s->args);
    strings_release(&s->tail);
    if (s->run)
        store_run_drop(s->run);
    store_close(s->store);
    workspace_close(s->workspace);
    json_decref(s->json);
    str_release(&s->out);
    str_release(&s->incomplete);
    str_release(&s->examined);
    free(s->command_line);
    free(s->share);
    free(s->libexec);
    free(s->root);
    free(s->scope);
}

/* Standard output is written whole, at the end; a full disk shows here. */
static bool write_out(Session *s, Err *err)
{
    return file_write_fd(1, str_c(&s->out), s->out.len, err) || err_ctx(err, "standard output");
}

static bool is_stopped(void *s) { return session_interrupted(s); }

/* No result because a build was ended: that is no error, but a run that is not complete. */
static bool give_up_in_time(Session *s, Err *err)
{
    if (!s->workspace || !workspace_has_stopped(s->workspace) || !s->program || s->reported)
        return false;
    session_incomplete(s, "%s", err->msg);
    return !s->command->rules || session_begin(s, program_captured(s->program)->name, err);
}

static bool run_command(Session *s, int argc, char **argv, Err *err)
{
    note_command_line(s, argc, argv);
    find_home(s);
    if (!args_parse(s, argc, argv, err))
        return false;
    if (!s->command && session_flag(s, "print-config"))
        return open_workspace(s, err) && read_config(s, err) && check_values(s, err) &&
               (config_print(s, &s->out), true);
    if (!s->command) {
        help_overview(s->commands, &s->out);
        if (!session_flag(s, "help"))
            s->status = 2;
        return true;
    }
    if (session_flag(s, "help")) {
        help_command(s->command, &s->out);
        return true;
    }
    if (!open_workspace(s, err) || !read_config(s, err) || !check_values(s, err))
        return false;
    if (!s->command->args && s->args.len)
        return err_set(err, "sundew %s takes no argument '%s'", s->command->name, s->args.items[0]);
    if (session_flag(s, "print-config")) {
        config_print(s, &s->out);
        return true;
    }
    if (session_quiet(s))
        progress_mode(PROGRESS_OFF);
    struct sigaction act = { .sa_handler = on_interrupt };
    if (s->command->rules || s->command->until_time) {
        sigaction(SIGINT, &act, NULL);
        progress_beat(s->command->name);
    }
    const Command *c = s->command;
    if ((c->check && !c->check(s, err)) || !open_store(s, err) || !session_need(s, c->needs, err))
        return false;
    if (s->workspace && (c->rules || c->until_time))
        workspace_on_stop(s->workspace, is_stopped, s);
    if (!c->run(s, err) && !give_up_in_time(s, err))
        return false;
    return !s->reported || report_finish(s, err);
}

int session_main(const Command *const *commands, int argc, char **argv)
{
    Session s = { .commands = commands, .status = -1 };
    Err err = { 0 };
    fault_from_environment();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);          /* a file that may not grow is an error like others */
    bool ok = file_exists("/proc/self/exe") ||
              err_set(&err, "/proc is not mounted: Sundew finds its own parts there");
    ok = ok && run_command(&s, argc, argv, &err);
    int status = ok ? s.status : 2;
    if (ok && !write_out(&s, &err)) {
        /* a reader that has seen enough (| head) is no failure of ours */
        ok = errno == EPIPE;
        status = ok ? s.status : 2;
    }
    if (ok && (s.finished || s.incomplete.len))
        session_note(&s, s.incomplete.len ? "INCOMPLETE (%s)" : "complete", str_c(&s.incomplete));
    if (!ok) {
        Str shown = { 0 };
        escape_terminal_z(&shown, err.msg);
        fprintf(stderr, "sundew: %s\n", str_c(&shown));
        str_release(&shown);
    }
    if (!ok && s.made_workspace) {
        store_close(s.store);
        s.store = NULL;
        workspace_discard(s.workspace);
    }
    release(&s);
    if (interrupted)
        return 130;
    return status < 0 ? 0 : status;
}

const Command *const *session_commands(Session *s) { return s->commands; }

const Rule *const *session_rules(Session *s)
{
    Vec(const Rule *) all = { 0 };
    for (const Command *const *c = s->commands; *c; c++)
        for (const Rule *r = (*c)->rules; r && r->id; r++)
            vec_push(&all, r);
    vec_push(&all, NULL);
    return (const Rule *const *)all.items;   /* once per process */
}
