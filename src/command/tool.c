/* sundew help, version and doctor: about the tool itself. */
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "base/proc.h"
#include "base/units.h"
#include "capture/capture.h"
#include "command/command_rows.h"
#include "finding/store.h"
#include "finding/version.h"
#include "program/version.h"
#include "run/run.h"
#include "session/main.h"
#include "session/session.h"
#include "solve/version.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const Option help_options[] = {
    { "man-pages", 0, "DIR", "write the manual pages there", NULL },
    { "completion", 0, "SHELL", "print completion code: bash, zsh or fish", NULL },
    { 0 },
};

static bool run_help(Session *s, Err *err)
{
    size_t n;
    char **args = session_args(s, &n);
    const char *man = session_option(s, "man-pages");
    const char *shell = session_option(s, "completion");
    if (man)
        return session_man_pages(s, man, err);
    if (shell)
        return session_completion(s, shell, session_out(s), err);
    char *name = n == 0 ? NULL : n == 1 ? xstrdup(args[0]) : xprintf("%s %s", args[0], args[1]);
    bool ok = session_help(s, name, session_out(s), err);
    free(name);
    return ok;
}

const Command command_help = {
    .name = "help",
    .args = "[COMMAND]",
    .summary = "help for Sundew or for one command",
    .examples = "sundew help\nsundew help capture\n"
                "sundew help --completion bash\n",
    .options = help_options,
    .run = run_help,
};

static bool run_version(Session *s, Err *err)
{
    (void)err;
    if (session_flag(s, "json")) {
        json_t *o = json_pack("{s:s, s:s, s:s, s:s}", "sundew", SUNDEW_VERSION, "llvm",
                              program_llvm_version(), "z3", solve_z3_version(), "sqlite",
                              finding_sqlite_version());
        json_print(o, session_out(s));
        json_decref(o);
        return true;
    }
    str_addf(session_out(s), "sundew %s (LLVM %s, Z3 %s, SQLite %s)\n", SUNDEW_VERSION,
             program_llvm_version(), solve_z3_version(), finding_sqlite_version());
    return true;
}

const Command command_version = {
    .name = "version",
    .summary = "the versions of Sundew and of what it uses",
    .examples = "sundew --version\nsundew version --json\n",
    .run = run_version,
};

/* ---- doctor */

/* One thing to look at. A check fills `found` and returns whether it is well. */
typedef struct Check {
    const char *name;
    bool needed;               /* without it Sundew can't do its main work */
    const char *without;       /* what stops working */
    bool (*look)(Session *s, Str *found);
} Check;

static bool first_line(char *const *argv, Str *found)
{
    Proc p = { .argv = argv, .capture = true, .seconds = 20 };
    ProcResult r = { 0 };
    bool ok = proc_run(&p, &r, NULL) && r.status == 0;
    const char *text = r.out.len ? str_c(&r.out) : str_c(&r.err);
    if (ok)
        str_addn(found, text, strcspn(text, "\n"));
    proc_result_release(&r);
    return ok;
}

static bool look_clang(Session *s, Str *found)
{
    (void)s;
    char *path = clang_find();
    bool ok = path && first_line((char *[]){ path, "--version", NULL }, found);
    if (ok)
        str_addf(found, ", %s", path);
    free(path);
    return ok && strstr(str_c(found), "version 19");
}

static bool look_cc(Session *s, Str *found)
{
    (void)s;
    return first_line((char *[]){ "cc", "--version", NULL }, found);
}

static bool look_wrapper(Session *s, Str *found)
{
    char *path = path_join(session_libexec(s), "sundew-cc");
    bool ok = access(path, X_OK) == 0;
    str_add(found, path);
    free(path);
    return ok;
}

static bool look_share(Session *s, Str *found)
{
    char *path = path_join(session_share(s), "rules");
    bool ok = file_is_dir(path);
    str_add(found, session_share(s));
    free(path);
    return ok;
}

static bool look_dot(Session *s, Str *found)
{
    (void)s;
    return first_line((char *[]){ "dot", "-V", NULL }, found);
}

static bool look_worker(Session *s, Str *found)
{
    char *path = path_join(session_libexec(s), "sundew-run");
    bool ok = access(path, X_OK) == 0;
    str_add(found, path);
    free(path);
    return ok;
}

static bool look_aslr(Session *s, Str *found)
{
    (void)s;
    int old = personality(0xffffffff);
    bool ok = old >= 0 && personality((unsigned long)old | ADDR_NO_RANDOMIZE) >= 0;
    if (ok)
        personality((unsigned long)old);
    str_add(found, ok ? "can be turned off for subjects" : "");
    return ok;
}

static bool look_disk(Session *s, Str *found)
{
    struct statvfs v;
    char size[32];
    if (statvfs(session_root(s), &v) != 0)
        return false;
    uint64_t free_bytes = (uint64_t)v.f_bavail * v.f_frsize;
    str_addf(found, "%s free at %s", size_format(free_bytes, size), session_root(s));
    return free_bytes > 1u << 30;
}

static bool look_files(Session *s, Str *found)
{
    (void)s;
    struct rlimit r;
    getrlimit(RLIMIT_NOFILE, &r);
    str_addf(found, "%llu open files", (unsigned long long)r.rlim_cur);
    return r.rlim_cur >= 256;
}

static const Check checks[] = {
    { "clang-19", true, "no bitcode: nothing can be captured", look_clang },
    { "C compiler", true, "`sundew cc` has no compiler behind it", look_cc },
    { "sundew-cc", true, "builds can't be captured", look_wrapper },
    { "share", true, "no rule pages and library tables", look_share },
    { "disk space", false, "captures of large programs may not fit", look_disk },
    { "limits", false, "large programs may not open", look_files },
    { "sundew-run", false, "subjects can't be run", look_worker },
    { "ASLR", false, "addresses differ from run to run", look_aslr },
    { "Graphviz", false, "call graphs are shown as text", look_dot },
};

/* One line, and one row of the JSON list. */
static void tell(Session *s, json_t *list, const Check *c, bool ok, const char *found)
{
    Str *out = session_out(s);
    json_array_append_new(list, json_pack("{s:s, s:b, s:b, s:o, s:s}", "name", c->name, "ok", ok,
                                          "needed", c->needed, "found", json_text(found), "without",
                                          c->without));
    if (session_flag(s, "json"))
        return;
    str_addf(out, "%-8s %-18s ", ok ? "ok" : c->needed ? "MISSING" : "missing", c->name);
    if (ok)
        escape_terminal_z(out, found);
    else
        str_addf(out, "without it: %s", c->without);
    str_addc(out, '\n');
}

/* What the kernel grants to a sandbox is found out by making one. */
static void tell_protections(Session *s, json_t *list)
{
    Err err = { 0 };
    Runner *r = runner_new(NULL, &err);
    if (!r) {
        Check c = { "sandbox", false, err.msg, NULL };
        tell(s, list, &c, false, "");
        return;
    }
    size_t n;
    const Protection *p = runner_protections(r, &n);
    for (size_t i = 0; i < n; i++) {
        Check c = { p[i].name, false, p[i].without, NULL };
        tell(s, list, &c, p[i].granted, p[i].granted ? "granted" : p[i].why);
    }
    runner_free(r);
}

/* What is damaged in the workspace, a line each. */
typedef struct Damage {
    Session *s;
    json_t *list;
} Damage;

static void tell_damage(void *arg, const char *what, const char *why)
{
    Damage *d = arg;
    Str *out = session_out(d->s);
    json_array_append_new(d->list,
                          json_pack("{s:s, s:b, s:b, s:o, s:s}", "name", "workspace", "ok", 0,
                                    "needed", 1, "found", json_text(what), "without", why));
    if (session_flag(d->s, "json"))
        return;
    str_addf(out, "%-8s %-18s ", "DAMAGED", "workspace");
    escape_terminal_z(out, what);
    str_addf(out, ": %s\n", why);
}

static size_t check_store(Session *s, Damage *d)
{
    Err err = { 0 };
    char *path = path_join(workspace_dir(session_workspace(s)), "findings.db");
    bool ok = !file_exists(path) || store_check(path, &err);
    if (!ok)
        tell_damage(d, path, err.msg);
    free(path);
    return !ok;
}

/* Nothing is said of a folder without a workspace. */
static size_t tell_workspace(Session *s, json_t *list)
{
    Damage d = { s, list };
    Workspace *ws = session_workspace(s);
    const char *dir = session_option(s, "workspace");
    Err err = { 0 };
    if (!ws && file_is_dir(dir ? dir : ".sundew") && !workspace_open(dir, false, &err)) {
        tell_damage(&d, dir ? dir : ".sundew", err.msg);
        return 1;
    }
    if (!ws)
        return 0;
    size_t n = workspace_check(ws, tell_damage, &d) + check_store(s, &d);
    Check c = { "workspace", true, "", NULL };
    if (!n)
        tell(s, list, &c, true, workspace_dir(ws));
    return n;
}

static bool run_doctor(Session *s, Err *err)
{
    size_t bad = 0, n = sizeof checks / sizeof *checks;
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        Str found = { 0 };
        bool ok = checks[i].look(s, &found);
        bad += !ok && checks[i].needed;
        tell(s, list, &checks[i], ok, str_c(&found));
        str_release(&found);
    }
    tell_protections(s, list);
    bad += tell_workspace(s, list);
    if (session_flag(s, "json"))
        json_print(list, session_out(s));
    json_decref(list);
    session_status(s, bad ? 2 : 0);
    (void)err;
    return true;
}

const Command command_doctor = {
    .name = "doctor",
    .summary = "is everything here that Sundew needs, and is the workspace whole?",
    .examples = "sundew doctor\nsundew doctor --json\n",
    .run = run_doctor,
};
