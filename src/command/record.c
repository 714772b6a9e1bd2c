/* sundew record, sundew show trace: what a program did. */
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "base/tempdir.h"
#include "base/units.h"
#include "capture/capture.h"
#include "command/command_rows.h"
#include "engine/record/record.h"
#include "engine/record/trace.h"
#include "run/run.h"
#include "session/session.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- record */

/* A new folder: that of -o, which must not hold a trace yet, or the next number
 * in the workspace. */
static char *trace_folder(Session *s, Err *err)
{
    const char *asked = session_option(s, "output");
    Strings names = { 0 };

    if (asked) {
        char *path = path_absolute(asked);
        bool ok = session_claim(s, path, err) && dir_make(path, err) && dir_list(path, &names, err);
        if (ok && names.len)
            ok = err_set(err, "%s is not empty: a trace needs a folder of its own", asked);
        strings_release(&names);
        if (ok)
            return path;
        free(path);
        return NULL;
    }
    char *all = path_join(workspace_dir(session_workspace(s)), "traces");
    bool ok = dir_make(all, err);
    for (unsigned n = 1; ok; n++) {
        char *path = xprintf("%s/%u", all, n);
        if (mkdir(path, 0777) == 0) {
            free(all);
            return path;
        }
        if (errno != EEXIST)
            ok = err_set(err, "%s: %s", path, strerror(errno));
        free(path);
    }
    free(all);
    return NULL;
}

/* Standard input is passed on if it is a file; a pipe might never end. The
 * caller frees it; NULL: empty. */
static char *input_file(Session *s)
{
    struct stat st;
    char path[4096];

    if (fstat(0, &st) != 0 || S_ISCHR(st.st_mode))
        return NULL;
    ssize_t n = S_ISREG(st.st_mode) ? readlink("/proc/self/fd/0", path, sizeof path - 1) : -1;
    if (n < 0) {
        session_note(s, "standard input is no file; the program gets an empty one "
                        "(sundew record … <FILE)");
        return NULL;
    }
    path[n] = 0;
    return xstrdup(path);
}

static void say_note(void *session, const char *text) { session_note(session, "%s", text); }

static bool run_recorded(Session *s, const char *program, const char *folder, uint64_t budget,
                         RunResult *result, Err *err)
{
    size_t n;
    char **tail = session_tail(s, &n), *input = input_file(s);
    double seconds = session_time(s);
    RecordRun run = { .original = program_captured(session_program(s)),
                      .woven = program,
                      .words = tail,
                      .nwords = n,
                      .folder = folder,
                      .root = session_root(s),
                      .budget = budget,
                      .writable = session_option_all(s, "writable"),
                      .network = session_flag(s, "network"),
                      .unprotected = session_flag(s, "no-sandbox"),
                      .input_file = input,
                      .seconds = seconds ? seconds : 600,
                      .keep_output = 64 << 20,
                      .note = say_note,
                      .arg = s };
    bool ok = record_run(&run, result, err);
    free(input);
    return ok;
}

typedef struct Counted {
    uint64_t events, calls, returns, objects, processes, cut;
} Counted;

static bool count(const char *folder, const Program *p, Counted *out, Err *err)
{
    Trace *t = trace_open(folder, p, err);

    if (!t)
        return false;
    for (const Event *e; (e = trace_next(t));) {
        out->events++;
        out->calls += e->kind == EVENT_CALL;
        out->returns += e->kind == EVENT_RETURN;
        out->objects += e->kind == EVENT_ALLOC;
        if (e->process > out->processes)
            out->processes = e->process;
    }
    out->cut = trace_cut_short(t);
    trace_close(t);
    return true;
}

/* Standard output is the program's own, but for --json. */
static void tell(Session *s, const char *folder, const Counted *c, const RunResult *r)
{
    if (session_flag(s, "json")) {
        json_t *j = json_object();
        json_object_set_new(j, "trace", json_text(folder));
        json_object_set_new(j, "events", json_integer((json_int_t)c->events));
        json_object_set_new(j, "calls", json_integer((json_int_t)c->calls));
        json_object_set_new(j, "returns", json_integer((json_int_t)c->returns));
        json_object_set_new(j, "objects", json_integer((json_int_t)c->objects));
        json_object_set_new(j, "processes", json_integer((json_int_t)c->processes));
        json_object_set_new(j, "cut_short", json_integer((json_int_t)c->cut));
        json_object_set_new(j, "end", json_text(failure_kind_name(r->failure.kind)));
        json_object_set_new(j, "status", json_integer(r->failure.status));
        json_print(j, session_out(s));
        json_decref(j);
        return;
    }
    session_note(s, "trace %s: %" PRIu64 " call%s, %" PRIu64 " allocation%s, %" PRIu64 " process%s",
                 folder, c->calls, c->calls == 1 ? "" : "s", c->objects, c->objects == 1 ? "" : "s",
                 c->processes, c->processes == 1 ? "" : "es");
    if (c->cut)
        session_note(s, "%" PRIu64 " stream%s cut short: the process was killed", c->cut,
                     c->cut == 1 ? " was" : "s were");
}

/* It says so itself, and could have been let. */
static bool was_kept_from_writing(Session *s, const RunResult *r)
{
    char **more = session_option_all(s, "writable");
    const char *said = str_c(&r->err.text);
    return !session_flag(s, "no-sandbox") && !(more && more[0]) &&
           (strstr(said, "Read-only file system") || strstr(said, "Permission denied"));
}

/* As it is, unless a terminal would obey it. */
static void pass_stream(FILE *to, const Str *text)
{
    Str shown = { 0 };
    const char *p = str_c(text), *end = p + text->len;
    for (const char *next; isatty(fileno(to)) && p < end; p = next) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        next = newline ? newline + 1 : end;
        escape_terminal(&shown, p, (size_t)((newline ? newline : end) - p));
        str_add(&shown, newline ? "\n" : "");
    }
    fwrite(str_c(&shown), 1, shown.len, to);
    fwrite(p, 1, (size_t)(end - p), to);
    fflush(to);
    str_release(&shown);
}

/* What the program itself wrote goes where it would have gone; with --json
 * standard output is ours. */
static void pass_on(Session *s, const RunResult *r)
{
    if (!session_flag(s, "json"))
        pass_stream(stdout, &r->out.text);
    pass_stream(stderr, &r->err.text);
    if (r->out.truncated || r->err.truncated)
        session_note(s, "the program wrote more than is passed on: the middle of its output is "
                        "missing here");
    if (was_kept_from_writing(s, r))
        session_note(s, "the program may not write there: --writable DIR lets it "
                        "elsewhere too");
    if (failure_is(&r->failure))
        session_note(s, "the program ended with %s", failure_kind_name(r->failure.kind));
    else if (r->failure.status)
        session_note(s, "the program ended with status %d", r->failure.status);
}

static bool was_recorded(const char *folder, Err *err)
{
    Strings names = { 0 };
    bool any = dir_list(folder, &names, err) && names.len;
    strings_release(&names);
    return any || err_set(err, "%s: the program recorded nothing; is the disk full?", folder);
}

static bool run_record(Session *s, Err *err)
{
    RecordPlan plan = { .libexec = session_libexec(s), .only = session_option_all(s, "function") };
    uint64_t budget;

    if (plan.only && !plan.only[0])
        plan.only = NULL;
    if (!copy_strategy_parse(session_option(s, "copy"), &plan.strategy, err))
        return false;
    if (!size_parse(session_option(s, "budget"), &budget))
        return err_set(err, "--budget %s is no size: 100M, 2G", session_option(s, "budget"));
    const Program *p = session_program(s);
    const CapturedProgram *c = program_captured(p);
    const char *build_only = session_option(s, "build");
    const char *scratch = tempdir_new(NULL, err);
    bool ok = scratch;
    if (ok) {
        char *program = build_only ? path_absolute(build_only) : path_join(scratch, c->name);
        size_t functions;
        ok = record_weave(p, &plan, program, &functions, err);
        if (ok && build_only) {
            session_note(s, "%zu functions are recorded when SUNDEW_TRACE names a folder",
                         functions);
        } else if (ok) {
            char *folder = trace_folder(s, err);
            RunResult result = { 0 };
            Counted counted = { 0 };
            ok = folder && run_recorded(s, program, folder, budget, &result, err);
            if (ok)
                pass_on(s, &result);
            ok = ok && was_recorded(folder, err) && count(folder, p, &counted, err);
            if (ok)
                tell(s, folder, &counted, &result);
            run_result_release(&result);
            free(folder);
        }
        free(program);
        tempdir_remove(scratch);
    }
    return ok;
}

static const Option record_options[] = {
    { "output", 'o', "DIR", "where the trace goes; .sundew/traces/N otherwise", NULL },
    { "function", 'f', "NAME", "record this function only; may be repeated", NULL },
    { "copy", 0, "HOW",
      "what arguments point to: reference (nothing), shallow, "
      "used-fields or deep",
      "used-fields" },
    { "budget", 0, "SIZE", "the most that one process writes", "1G" },
    { "build", 0, "FILE", "only make the recorded program", NULL },
    { "writable", 0, "DIR", "the program may write there too; may be repeated", NULL },
    { "network", 0, NULL, "the program may use the network", NULL },
    { "no-sandbox", 0, NULL, "run it as if started by hand", NULL },
    { 0 },
};

const Command command_record = {
    .name = "record",
    .args = "PROGRAM [-- ARGS]",
    .summary = "what a program did: its calls, arguments, results, allocations",
    .about =
        "Runs a captured program with probes at the entries and returns of its functions "
        "and leaves a trace of what was called with what, in the order in which it happened, "
        "for all threads and processes. Bytes that arguments point to are copied with them.\n"
        "\n"
        "The program runs in the current folder; standard input is passed on if it is a file. It may write "
        "to the trace and to what --writable names, and has no network unless --network is given. What it "
        "writes elsewhere in the project is gone when it ends.\n"
        "\n"
        "sundew show trace prints a trace. With --build the recorded program is kept instead; it "
        "records whenever SUNDEW_TRACE names a folder.",
    .examples = "sundew record ./prog -- input.txt\n"
                "sundew record ./prog -f list_add -f list_remove --copy deep -- input.txt\n"
                "sundew show trace ./prog\n",
    .options = record_options,
    .needs = NEEDS_CAPTURE | NEEDS_PROGRAM,
    .run = run_record,
};

/* ---- show trace */

/* The folder that was named, or the last one in the workspace. */
static char *last_trace(Session *s, Err *err)
{
    char *all = path_join(workspace_dir(session_workspace(s)), "traces");
    Strings names = { 0 };
    unsigned long last = 0;

    if (file_is_dir(all) && dir_list(all, &names, NULL))
        for (size_t i = 0; i < names.len; i++) {
            unsigned long n = strtoul(names.items[i], NULL, 10);
            if (n > last)
                last = n;
        }
    strings_release(&names);
    char *path = last ? xprintf("%s/%lu", all, last) : NULL;
    free(all);
    if (!path)
        err_set(err, "there is no trace yet: sundew record makes one");
    return path;
}

static json_t *value_json(const Event *e, const TraceValue *v)
{
    json_t *j = json_object();
    Str text = { 0 };

    if (*v->name)
        json_object_set_new(j, "name", json_text(v->name));
    event_print_value(e, v, &text);
    json_object_set_new(j, "value", json_text(str_c(&text)));
    if (v->object)
        json_object_set_new(j, "object", json_integer(v->object->id));
    str_release(&text);
    return j;
}

static json_t *rest_json(const Event *e)
{
    json_t *all = json_array();

    for (size_t i = 0; i < e->nrest; i++) {
        Str text = { 0 };
        event_print_rest(e, &e->rest[i], &text);
        json_array_append_new(all, json_text(str_c(&text)));
        str_release(&text);
    }
    return all;
}

static json_t *event_json(const Event *e)
{
    json_t *j = json_object(), *values = json_array();

    json_object_set_new(j, "number", json_integer((json_int_t)e->number));
    json_object_set_new(j, "process", json_integer(e->process));
    json_object_set_new(j, "thread", json_integer(e->thread));
    json_object_set_new(j, "kind", json_text(event_kind_name(e->kind)));
    if (e->fn)
        json_object_set_new(j, "function", json_text(e->fn->name));
    if (e->call)
        json_object_set_new(j, "call", json_integer((json_int_t)e->call));
    for (size_t i = 0; i < e->nvalues; i++)
        json_array_append_new(values, value_json(e, &e->values[i]));
    json_object_set_new(j, e->kind == EVENT_RETURN ? "result" : "arguments", values);
    if (e->has_rest)
        json_object_set_new(j, "variadic", rest_json(e));
    if (e->object) {
        json_object_set_new(j, "object", json_integer(e->object->id));
        json_object_set_new(j, "size", json_integer((json_int_t)e->object->size));
    }
    return j;
}

/* A name that is nobody's would show nothing, as if it had not been called. */
static bool all_exist(const Program *p, char *const *names, size_t n, Err *err)
{
    size_t nfns;
    const Function *const *fns = program_functions(p, &nfns);

    for (size_t i = 0; i < n; i++) {
        bool found = false;
        for (size_t k = 0; k < nfns && !found; k++)
            found = strcmp(fns[k]->name, names[i]) == 0;
        if (!found)
            return err_set(err,
                           "no function '%s' in this program "
                           "(sundew show functions lists them)",
                           names[i]);
    }
    return true;
}

static bool is_shown(Session *s, const Event *e)
{
    size_t n;
    char **args = session_args(s, &n);

    if (n <= 2)
        return true;
    for (size_t i = 2; i < n && e->fn; i++)
        if (strcmp(args[i], e->fn->name) == 0)
            return true;
    return false;
}

static void show_events(Session *s, Trace *t)
{
    Str *out = session_out(s);
    json_t *list = json_array();
    bool as_json = session_flag(s, "json");

    for (const Event *e; (e = trace_next(t));) {
        if (!is_shown(s, e))
            continue;
        if (as_json) {
            json_array_append_new(list, event_json(e));
        } else {
            event_print(e, out);
            str_addc(out, '\n');
        }
    }
    if (as_json)
        json_print(list, out);
    json_decref(list);
    if (trace_cut_short(t))
        session_note(s, "%zu of its streams were cut short: the process was killed",
                     trace_cut_short(t));
}

static bool run_show_trace(Session *s, Err *err)
{
    size_t n;
    char **args = session_args(s, &n);
    const Program *p = session_program(s);
    char *folder = n > 1 ? xstrdup(args[1]) : last_trace(s, err);
    Trace *t = folder && (n <= 2 || all_exist(p, args + 2, n - 2, err)) ? trace_open(folder, p, err)
                                                                        : NULL;
    if (t)
        show_events(s, t);
    bool ok = t;
    trace_close(t);
    free(folder);
    return ok;
}

const Command command_show_trace = {
    .name = "show trace",
    .args = "PROGRAM [DIR [FUNCTION…]]",
    .summary = "a trace that record has made, one event a line",
    .about = "Prints the last trace of the workspace, or that in DIR; of the functions that are "
             "named only their calls and returns. Objects have numbers: memory that was "
             "freed and handed out again gets a new one.",
    .examples = "sundew show trace ./prog\n"
                "sundew show trace ./prog .sundew/traces/1 list_add\n",
    .needs = NEEDS_CAPTURE | NEEDS_PROGRAM,
    .run = run_show_trace,
};
