/*
 * monitor - an executable that remembers the arguments of the functions on its
 * stack, and leaves a crash file when it fails.
 *
 * The weave puts the probes in (src/weave/monitor/monitor.c), the runtime does the rest
 * inside the program (runtime/). README.md explains the technique.
 */
#include "base/escape.h"
#include "base/file.h"
#include "engine/record/crash.h"
#include "base/json.h"
#include "base/progress.h"
#include "analysis/pointsto/calls.h"
#include "program/program.h"
#include "session/session.h"
#include "technique/monitor/monitor.h"
#include "build/woven.h"
#include "weave/weave.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const Option options[] = {
    { "output", 'o', "FILE", "the executable to make", "PROGRAM.monitored" },
    { "copy", 0, "STRATEGY",
      "what is copied when a function is entered: "
      "reference, shallow, used-fields, deep",
      "used-fields" },
    { "overhead", 0, "PERCENT", "how much time monitoring may cost; 0: no limit", "15" },
    { "asan", 0, NULL, "with the address sanitizer: its reports leave crash files too", NULL },
    { "second-chance", 0, NULL, "monitor only functions of earlier crashes", NULL },
    { "redact", 0, "TYPE.FIELD", "a field that crash files never hold (repeatable)", NULL },
    { "only", 0, "FUNCTION", "monitor only these (repeatable)", NULL },
    { "build-id-text", 0, "TEXT", "your name for this build, kept in crash files", NULL },
    { "summaries", 0, "FILE", "more summaries of library functions (repeatable)", NULL },
    { 0 },
};

/* ---- what was asked */

static bool read_overhead(Session *s, unsigned *out, Err *err)
{
    const char *text = session_option(s, "overhead");
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*end == '%')
        end++;
    if (end == text || *end || *text == '-' || n > 10000)
        return err_set(err, "--overhead: not a number of percent: %s", text);
    *out = (unsigned)n;
    return true;
}

/* The program that was built stays. */
static bool check_output(const char *out, const char *program, Err *err)
{
    char *real = path_real(out), *built = path_real(program);
    bool ok = !real || !built || strcmp(real, built) != 0;
    free(real);
    free(built);
    return ok || err_set(err, "-o %s: that is the program itself", out);
}

static bool has_field(const Type *t, const char *field)
{
    t = type_plain(t);
    for (unsigned i = 0; type_is_record(t) && i < t->nfields; i++)
        if (strcmp(t->fields[i].name, field) == 0)
            return true;
    return false;
}

/* A word that hides nothing would be a promise that is not kept. */
static bool check_redacted(const Program *p, char *const *words, Err *err)
{
    for (; words && *words; words++) {
        const char *dot = strrchr(*words, '.');
        if (!dot || dot == *words || !dot[1])
            return err_set(err, "--redact: '%s' is not TYPE.FIELD", *words);
        char *name = xstrndup(*words, (size_t)(dot - *words));
        bool found = false;
        static const char *const tags[] = { "", "struct ", "union " };
        for (unsigned k = 0; k < 3 && !found; k++) {
            char *full = xprintf("%s%s", tags[k], name);
            const Type *t;
            for (unsigned i = 0; !found && (t = types_find(program_types(p), full, i)); i++)
                found = has_field(t, dot + 1);
            free(full);
        }
        if (!found)
            err_set(err,
                    "--redact: no field '%s' in a type '%s' of this program "
                    "(sundew show types lists them)",
                    dot + 1, name);
        free(name);
        if (!found)
            return false;
    }
    return true;
}

/* ---- doing it */

static bool weave(Session *s, const Program *p, MonitorPlan *plan, const char *out,
                  size_t *monitored, size_t *trivial, Err *err)
{
    Progress progress = progress_start("monitor", 3);
    progress_step(&progress, 0, "who may write what");
    bool known = session_need(s, NEEDS_CALLS, err);
    Woven *w = known ? weave_begin(p, err) : NULL;
    plan->calls = known ? session_calls(s) : NULL;
    progress_step(&progress, 1, "probes");
    if (w && session_flag(s, "asan"))
        weave_asan(w);
    bool ok =
        w && weave_monitor(w, plan, err) && weave_runtime(w, session_libexec(s), "monitor", err);
    progress_step(&progress, 2, "optimise and link");
    if (ok) {
        weave_monitor_figures(w, monitored, trivial);
        ok = woven_build(w, &(WovenBuild){ .out = out }, err);
    }
    progress_end(&progress);
    weave_end(w);
    return ok;
}

/* What decides how the code comes out. */
static uint32_t variant_of(const MonitorPlan *plan, bool asan)
{
    Str how = { 0 };
    str_addf(&how, "monitor " SUNDEW_VERSION " second chance %d", plan->second_chance);
    if (asan)
        str_add(&how, " asan");
    for (char *const *o = plan->only; o && *o; o++)
        str_addf(&how, " only %s", *o);
    uint32_t variant = crash_variant(str_c(&how));
    str_release(&how);
    return variant;
}

/* A crash file's addresses are those of this very file, symbols and all. */
static bool keep_copy(Session *s, const Program *p, const char *out, const MonitorPlan *plan,
                      Err *err)
{
    char *path = crash_executable(workspace_dir(session_workspace(s)), program_key(p),
                                  program_captured(p)->name, copy_strategy_name(plan->strategy),
                                  plan->variant);
    char *dir = path_dir(path);
    Str data = { 0 };
    bool ok = dir_make(dir, err) && file_read(out, &data, err) &&
              file_write(path, str_c(&data), data.len, err);
    str_release(&data);
    free(path);
    free(dir);
    return ok;
}

static void say(Session *s, const Program *p, const MonitorPlan *plan, const char *out,
                size_t monitored, size_t trivial)
{
    size_t n, defined = 0;
    const Function *const *fns = program_functions(p, &n);
    for (size_t i = 0; i < n; i++)
        defined += fns[i]->defined;
    if (session_flag(s, "json")) {
        json_t *j = json_pack("{s:o, s:o, s:I, s:I, s:I, s:o, s:i, s:b, s:s}", "program",
                              json_text(program_captured(p)->path), "out", json_text(out),
                              "functions", (json_int_t)defined, "monitored", (json_int_t)monitored,
                              "trivial", (json_int_t)trivial, "strategy",
                              json_text(copy_strategy_name(plan->strategy)), "overhead",
                              (int)plan->overhead, "second_chance", plan->second_chance, "key",
                              program_key(p));
        json_print(j, session_out(s));
        json_decref(j);
        return;
    }
    escape_terminal_z(session_out(s), out);
    str_addf(session_out(s), ": %zu of %zu functions monitored, %zu trivial; %s%s\n", monitored,
             defined, trivial, copy_strategy_name(plan->strategy),
             plan->second_chance ? ", second chance" : "");
}

static bool read_plan(Session *s, MonitorPlan *plan, Err *err)
{
    return copy_strategy_parse(session_option(s, "copy"), &plan->strategy, err) &&
           read_overhead(s, &plan->overhead, err);
}

static bool check(Session *s, Err *err)
{
    MonitorPlan unused;
    return read_plan(s, &unused, err);
}

static bool run(Session *s, Err *err)
{
    MonitorPlan plan = { .second_chance = session_flag(s, "second-chance"),
                         .build = session_option(s, "build-id-text") };
    const Program *p = session_program(s);
    const CapturedProgram *c = program_captured(p);
    if (!read_plan(s, &plan, err) || !session_executable(s, "monitored", err))
        return false;
    char **hidden = session_option_all(s, "redact"), **only = session_option_all(s, "only");
    plan.hidden = hidden && *hidden ? hidden : NULL;
    plan.only = only && *only ? only : NULL;
    plan.variant = variant_of(&plan, session_flag(s, "asan"));
    const char *asked = session_option(s, "output");
    char *out = asked && strcmp(asked, "PROGRAM.monitored") != 0 ? xstrdup(asked)
                                                                 : xprintf("%s.monitored", c->name);
    size_t monitored = 0, trivial = 0;
    bool ok = check_output(out, c->path, err) && check_redacted(p, plan.hidden, err) &&
              weave(s, p, &plan, out, &monitored, &trivial, err) &&
              keep_copy(s, p, out, &plan, err);
    if (ok)
        say(s, p, &plan, out, monitored, trivial);
    free(out);
    return ok;
}

const Command technique_monitor = {
    .name = "monitor",
    .args = "PROGRAM",
    .summary = "make an executable that remembers its arguments",
    .about =
        "Makes an executable from a captured program. It behaves like the program and runs nearly "
        "as fast, but remembers the arguments of the functions on its stack. When it crashes "
        "(a fatal signal, abort(), a failed assertion, or a call of sundew_dump() of "
        "sundew.h) it leaves PROGRAM.PID.crash, which `sundew reproduce` turns into C tests "
        "that fail in the same way. It runs on machines without Sundew.\n\n"
        "At the entry of a function it copies what the function may change: nothing (reference), "
        "what its arguments point to (shallow), that and what the fields it uses point to "
        "(used-fields), or all that is reachable (deep). It monitors "
        "functions that cost too much less closely while the program runs, to stay within "
        "--overhead.\n\n"
        "With --second-chance all functions are off, at next to no cost. A crash then leaves "
        "the stack only, and its functions are monitored from the next start on.\n\n"
        "With --asan the program has the address sanitizer in it, and its reports leave crash "
        "files too. That costs what the sanitizer costs, and needs its library.\n\n"
        "The monitored program's environment: SUNDEW_CRASH_DIR, where crash files go (else "
        "the current folder, TMPDIR or /tmp); SUNDEW_CRASH_SIZE, how many MiB of its memory a "
        "crash file holds (1 to 64, default 1); SUNDEW_CHANCE, the second-chance list (else "
        "PROGRAM.chance beside the crash files); SUNDEW_MONITOR=off, no monitoring at all; "
        "SUNDEW_CRASH_VERBOSE, say on standard error which file was written.",
    .examples = "sundew monitor ./prog -o prog.monitored\n"
                "sundew monitor ./prog --copy deep --overhead 0\n"
                "sundew monitor ./prog --second-chance --build-id-text 2.1-rc3\n"
                "sundew monitor ./prog --redact user.password\n",
    .options = options,
    .needs = NEEDS_CAPTURE | NEEDS_PROGRAM,
    .check = check,
    .plan = monitor_plan,
    .run = run,
};
