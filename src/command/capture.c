/* sundew capture and sundew cc. */
#include "base/file.h"
#include "base/json.h"
#include "base/str.h"
#include "capture/build.h"
#include "command/command_rows.h"
#include "session/session.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const Option capture_options[] = {
    { "min-share", 0, "PERCENT",
      "fail if fewer of the C units that were linked "
      "are captured; 0 accepts any share",
      "100" },
    { "by-name", 0, NULL,
      "no private mounts: see only compilers that are called by their names "
      "(for builds that use sudo)",
      NULL },
    { 0 },
};

/* The first few of a list; all of them with -v. */
static void say_list(Session *s, const Strings *lines, const char *what)
{
    size_t most = session_verbose(s) ? lines->len : 10;
    for (size_t i = 0; i < lines->len && i < most; i++)
        session_note(s, "%s: %s", what, lines->items[i]);
    if (lines->len > most)
        session_note(s, "… and %zu more (-v shows all)", lines->len - most);
}

static void say(Session *s, const BuildReport *r)
{
    say_list(s, &r->problems, "not captured");
    if (session_verbose(s))
        say_list(s, &r->notes, "note");
    else if (r->notes.len)
        session_note(s, "%zu notes on flags and other languages (-v shows them)", r->notes.len);
    for (size_t i = 0; i < r->depends.len; i++)
        session_note(s, "%s", r->depends.items[i]);
    if (!r->linked && !r->compiled)
        return;
    unsigned percent = r->linked ? (unsigned)(r->linked_captured * 100 / r->linked) : 100;
    session_note(s,
                 "captured %zu of %zu C units linked (%u%%) in %zu program%s; "
                 "%zu compiled in this build%s",
                 r->linked_captured, r->linked, percent, r->programs, r->programs == 1 ? "" : "s",
                 r->compiled, r->foreign ? ", other languages passed through" : "");
}

static bool run_capture(Session *s, Err *err)
{
    size_t nargs, n;
    char **args = session_args(s, &nargs), **tail = session_tail(s, &n);
    char **argv = n ? tail : args;
    if (n + nargs == 0)
        return err_set(err, "capture what? For example: sundew capture -- make");
    if (n && nargs)
        return err_set(err, "'%s' is not expected before '--'", args[0]);
    char *end;
    const char *share = session_option(s, "min-share");
    double least = strtod(share, &end);
    if (*end || least < 0 || least > 100)
        return err_set(err, "--min-share %s: 0 to 100", share);

    char *wrapper = path_join(session_libexec(s), "sundew-cc");
    Workspace *ws = workspace_open(session_option(s, "workspace"), true, err);
    BuildReport r = { 0 };
    BuildPlan plan = { .argv = argv,
                       .wrapper = wrapper,
                       .quiet_stdout = session_flag(s, "json"),
                       .by_name = session_flag(s, "by-name") };
    bool ok = ws && build_capture(ws, &plan, &r, err);
    if (ok) {
        say(s, &r);
        if (session_flag(s, "json")) {
            json_t *o = build_report_json(&r);
            json_print(o, session_out(s));
            json_decref(o);
        }
        session_status(s, r.status);
        if (r.status != 0)
            session_note(s, "the command failed with status %d", r.status);
        else if (r.nothing.len && least == 0)
            session_note(s, "nothing was captured: %s", str_c(&r.nothing));
        else if (r.nothing.len)
            ok = err_set(err, "nothing was captured: %s", str_c(&r.nothing));
        else if ((double)r.linked_captured * 100 < least * (double)r.linked)
            ok = err_set(err,
                         "the capture is partial: %zu of %zu C units "
                         "(--min-share sets what is enough)",
                         r.linked_captured, r.linked);
    }
    build_report_release(&r);
    workspace_close(ws);
    free(wrapper);
    return ok;
}

const Command command_capture = {
    .name = "capture",
    .args = "-- BUILD COMMAND…",
    .summary = "capture a build: its programs and the units they are made of",
    .about =
        "Runs the build command with Sundew's stand-ins for cc, gcc, clang, ld, "
        "ar and their versioned and cross-prefixed names. They are mounted over the "
        "tools, in a namespace that only the build sees, so that a compiler is seen "
        "whatever path it is called by; where nothing can be mounted they stand "
        "first on the PATH. Each does what the build asked for, with the compiler and the flags "
        "that the build chose, and beside it makes LLVM bitcode of every C "
        "source. What the build prints and its exit status stay the same.\n\n"
        "At the end a summary says how many of the C units that were linked are "
        "captured. Nothing captured, or less than --min-share, is exit status "
        "2 with the likely reason.\n\n"
        "A build with a compiler of its own, elsewhere, can be given CC=sundew-cc.",
    .examples = "sundew capture -- make -j2\n"
                "sundew capture -- sh -c './configure && make'\n"
                "sundew -w /tmp/ws capture -- cmake --build out\n",
    .options = capture_options,
    .runs = true,
    .run = run_capture,
};

static bool run_cc(Session *s, Err *err)
{
    size_t n;
    char **args = session_args(s, &n);
    char *wrapper = path_join(session_libexec(s), "sundew-cc");
    const char *ws = session_option(s, "workspace");
    if (ws) {
        char *full = path_absolute(ws);
        setenv("SUNDEW_WORKSPACE", full, 1);
        free(full);
    }
    Strings argv = { 0 };
    strings_add(&argv, "sundew-cc");
    for (size_t i = 0; i < n; i++)
        strings_add(&argv, args[i]);
    signal(SIGPIPE, SIG_DFL);
    execv(wrapper, strings_argv(&argv));
    err_errno(err, "%s", wrapper);
    strings_release(&argv);
    free(wrapper);
    return false;
}

const Command command_cc = {
    .name = "cc",
    .args = "[--cc=COMPILER] ARG…",
    .summary = "stand in for the C compiler and capture what it compiles",
    .about = "For builds that take a compiler by name: make CC='sundew cc', or "
             "CC=sundew-cc where one word is needed. The compiler behind it is "
             "--cc=NAME, else $SUNDEW_CC, else cc.",
    .examples = "make CC='sundew cc'\n"
                "./configure CC=sundew-cc && make\n"
                "sundew cc --cc=gcc-12 -O2 -c main.c\n",
    .raw = true,
    .run = run_cc,
};
