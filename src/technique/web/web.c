/*
 * web - failures of PHP applications. src/web/ does the work; this is the
 * command around it.
 */
#include "technique/web/web.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/tempdir.h"
#include "base/progress.h"
#include "base/units.h"
#include "technique/web/web_int.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const Option options[] = {
    { "entry", 0, "SCRIPT", "the first page, below the application's folder", "index.php" },
    { "db", 0, "WHAT",
      "sqlite:FILE, copied into the application's folder; or mysql:FILE.sql[:NAME], "
      "loaded into a private MariaDB server",
      NULL },
    { "login", 0, "USER:PASSWORD", "credentials that forms with a password are given (repeatable)",
      NULL },
    { "strategy", 0, "NAME", "full, crawl, random or mutate", "full" },
    { "stateless", 0, NULL, "one level: every request from the first state", NULL },
    { "only-entry", 0, NULL, "reach scripts by links and forms only", NULL },
    { "depth", 0, "N", "requests in a chain at most", "8" },
    { "requests", 0, "N", "end after so many requests", NULL },
    { "timeout", 0, "DURATION", "CPU time that one request may take", "5s" },
    { "ini", 0, "NAME=VALUE", "a setting of PHP (repeatable)", NULL },
    { "env", 0, "NAME=VALUE", "a variable of the application's environment (repeatable)", NULL },
    { "prepend", 0, "FILE", "a PHP file that runs before each script", NULL },
    { "no-html", 0, NULL, "don't judge the HTML", NULL },
    { "no-deprecated", 0, NULL, "don't report deprecations", NULL },
    { "no-security", 0, NULL, "don't try hostile values", NULL },
    { "no-sandbox", 0, NULL, "run PHP without a sandbox", NULL },
    { "cgi", 0, NULL, "the application is programs under CGI, in C say: every file that can be run",
      NULL },
    { "serve", 0, NULL, "try nothing: record and judge what you do in a browser", NULL },
    { "port", 0, "N", "where --serve listens, on 127.0.0.1; else any that is free", NULL },
    { "replay", 0, "N",
      "run the chain of fault N of the last run again; 0: all that --serve recorded", NULL },
    { 0 },
};

static const Rule rules[] = {
    { "web/crash", LEVEL_ERROR, "A request ends with a fatal error or an uncaught exception." },
    { "web/warning", LEVEL_WARNING, "A request makes the interpreter warn." },
    { "web/deprecated", LEVEL_NOTE, "A request uses what PHP will drop." },
    { "web/hang", LEVEL_ERROR, "A request does not end." },
    { "web/html-error", LEVEL_WARNING, "A page has broken HTML." },
    { "web/html-warning", LEVEL_NOTE, "A page has doubtful HTML." },
    { "web/sql", LEVEL_ERROR, "A parameter changes the meaning of an SQL query." },
    { "web/reflected", LEVEL_ERROR, "A parameter reaches the page unescaped." },
    { "web/include", LEVEL_ERROR, "A parameter chooses the file that is included." },
    { "web/redirect", LEVEL_WARNING, "A parameter chooses the site that a page redirects to." },
    { "web/file", LEVEL_ERROR, "A parameter chooses the file that is read or written." },
    { "web/shell", LEVEL_ERROR, "A parameter is a command of the shell." },
    { "web/eval", LEVEL_ERROR, "A parameter is code that is run." },
    { "web/mail", LEVEL_WARNING, "A parameter adds headers to a mail." },
    { "web/network", LEVEL_WARNING, "A parameter chooses the host that is asked." },
    { "web/access", LEVEL_ERROR, "A page of one role is open to another." },
    { 0 },
};

static void add_login(Session *s, const char *text, Credential *out)
{
    const char *colon = strchr(text, ':');
    (void)s;
    out->user = xstrndup(text, colon ? (size_t)(colon - text) : strlen(text));
    out->password = xstrdup(colon ? colon + 1 : "");
}

static bool read_count(Session *s, const char *name, uint64_t *out, Err *err)
{
    const char *text = session_option(s, name);
    char *end;
    *out = 0;
    if (!text)
        return true;
    unsigned long long n = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || n == 0)
        return err_set(err, "--%s %s: no number above 0", name, text);
    *out = n;
    return true;
}

/* mysql, mysql:FILE or mysql:FILE:NAME; texts live as long as the process. */
static bool read_mysql(const char *db, WebPlan *plan, Err *err)
{
    static char file[4096], name[256];
    plan->mysql = true;
    if (!db[5])
        return true;
    const char *colon = strrchr(db + 6, ':');
    size_t n = colon ? (size_t)(colon - db - 6) : strlen(db + 6);
    snprintf(file, sizeof file, "%.*s", (int)n, db + 6);
    snprintf(name, sizeof name, "%s", colon ? colon + 1 : path_base(file));
    if (!colon && strrchr(name, '.'))
        *strrchr(name, '.') = '\0';
    if (!file_is_regular(file))
        return err_set(err, "--db %s: there is no such file", db);
    plan->mysql_file = file;
    plan->mysql_name = name;
    return true;
}

static bool read_database(Session *s, WebPlan *plan, Err *err)
{
    const char *db = session_option(s, "db");
    if (!db)
        return true;
    if (strcmp(db, "mysql") == 0 || strncmp(db, "mysql:", 6) == 0)
        return read_mysql(db, plan, err);
    if (strncmp(db, "sqlite:", 7) != 0)
        return err_set(err, "--db %s: sqlite:FILE or mysql:FILE.sql is expected", db);
    if (!file_is_regular(db + 7))
        return err_set(err, "--db %s: there is no such file", db);
    plan->database = db + 7;
    return true;
}

static bool over(void *session) { return session_interrupted(session); }

/* Ctrl-C ends the clicking; the next one ends what comes after. */
static bool clicked_enough(void *session)
{
    return session_take_stop() || session_time_is_over(session);
}

static void told(void *session, const char *text)
{
    progress_wipe();
    session_note(session, "%s", text);
}

static void progress(void *session, const char *what, uint64_t n)
{
    static double shown;
    double now = clock_seconds();
    (void)session;
    if (now - shown < 0.5)
        return;
    shown = now;
    char *text = xprintf("%llu %s", (unsigned long long)n, what);
    progress_say(text);
    free(text);
}

static bool read_port(Session *s, WebPlan *plan, Err *err)
{
    uint64_t port;
    plan->serve = session_flag(s, "serve");
    if (!read_count(s, "port", &port, err))
        return false;
    if (port && !plan->serve)
        return err_set(err, "--port goes with --serve");
    plan->port = (unsigned)port;
    return port < 65536 || err_set(err, "--port %s: 65535 at most", session_option(s, "port"));
}

static bool read_plan(Session *s, WebPlan *plan, Err *err)
{
    uint64_t depth;
    size_t n;
    char **args = session_args(s, &n);
    if (n != 1)
        return err_set(err, "which folder is the application in?");
    if (!file_is_dir(args[0]))
        return err_set(err, "%s: no folder", args[0]);
    plan->app = args[0];
    plan->entry = session_option(s, "entry");
    if (plan->cgi && strcmp(plan->entry, "index.php") == 0)
        plan->entry = "index.cgi";
    if (plan->cgi && (session_flag(s, "serve") || session_option(s, "db")))
        return err_set(err, "--cgi goes neither with --serve nor with --db");
    char *entry = path_join(plan->app, plan->entry);
    bool there = file_is_regular(entry);
    free(entry);
    if (!there)
        return err_set(err, "--entry %s: there is no such script in %s", plan->entry, plan->app);
    if (!web_strategy_parse(session_option(s, "strategy"), &plan->strategy))
        return err_set(err, "--strategy %s: full, crawl, random or mutate?",
                       session_option(s, "strategy"));
    if (!read_count(s, "depth", &depth, err) ||
        !read_count(s, "requests", &plan->most_requests, err) || !read_database(s, plan, err))
        return false;
    if (!read_port(s, plan, err))
        return false;
    if (!duration_parse(session_option(s, "timeout"), &plan->request_seconds) ||
        plan->request_seconds <= 0)
        return err_set(err, "--timeout %s: no duration", session_option(s, "timeout"));
    plan->depth = (unsigned)(depth < 15 ? depth : 15);
    return true;
}

static void read_switches(Session *s, WebPlan *plan)
{
    plan->stateless = session_flag(s, "stateless");
    plan->only_entry = session_flag(s, "only-entry");
    plan->no_html = session_flag(s, "no-html");
    plan->no_deprecated = session_flag(s, "no-deprecated");
    plan->no_security = session_flag(s, "no-security");
    plan->unprotected = session_flag(s, "no-sandbox");
    plan->ini = session_option_all(s, "ini");
    plan->env = session_option_all(s, "env");
    plan->prepend = session_option(s, "prepend");
    plan->libexec = session_libexec(s);
    plan->seed = session_seed(s);
    plan->seconds = session_time_left(s, 0);
    plan->enough = clicked_enough;
    plan->told = told;
    plan->stop = over;
    plan->stop_arg = s;
    plan->progress = progress;
    plan->progress_arg = s;
}

/* What all requests of the recording showed. */
static void say_all(Str *out, const Recorded *r, const Faults *found)
{
    for (size_t i = 0; i < found->len; i++) {
        const Fault *f = &found->items[i];
        escape_terminal_z(out, f->file);
        str_addf(out, ":%u: %s: ", f->line, fault_kind_name(f->kind));
        escape_terminal_z(out, f->message);
        str_add(out, "\n");
    }
    str_addf(out, "%zu requests, %zu faults\n", r->n, found->len);
}

/* The chain again; says whether the fault is still there. */
static bool replay(Session *s, WebPlan *plan, const char *number, Err *err)
{
    Recorded again;
    if (!chain_read(s, number, &again, err))
        return false;
    plan->app = again.app;
    plan->cgi = again.cgi;
    Faults found = { 0 };
    bool all = strcmp(number, "0") == 0;
    const char *missing = web_missing(session_libexec(s), again.cgi);
    Reply *r = NULL;
    if (missing)
        err_set(err, "%s", missing);
    else if (read_database(s, plan, err))
        r = web_replay(plan, again.chain, again.n, all, &found, err);
    Str *out = session_out(s);
    for (size_t i = 0; r && i < again.n; i++) {
        str_addf(out, "%zu. ", i + 1);
        request_describe(again.chain[i], out);
        str_add(out, "\n");
    }
    if (r && all) {
        say_all(out, &again, &found);
        session_status(s, found.len != 0);
    } else if (r) {
        bool page = r->status == 200 && r->body.len;
        bool there = str_starts(again.key, "access|") ? page : faults_have(&found, again.key);
        str_addf(out, "status %d, %zu bytes; the fault %s\n", r->status, r->body.len,
                 there ? "is there again" : "is gone");
        session_status(s, there);
    }
    bool ok = r != NULL;
    faults_release(&found);
    reply_free(r);
    recorded_release(&again);
    return ok;
}

static bool run(Session *s, Err *err)
{
    WebPlan plan = { 0 };
    const char *number = session_option(s, "replay");
    plan.cgi = session_flag(s, "cgi");
    const char *missing = number ? NULL : web_missing(session_libexec(s), plan.cgi);
    if (missing)
        return err_set(err, "%s", missing);
    if (!number && !read_plan(s, &plan, err))
        return false;
    read_switches(s, &plan);
    plan.folder = tempdir_new(NULL, err);
    if (!plan.folder)
        return false;
    if (number)
        return replay(s, &plan, number, err);
    Credential logins[16];
    char **all = session_option_all(s, "login");
    for (; all && *all && plan.nlogins < 16; all++)
        add_login(s, *all, &logins[plan.nlogins++]);
    plan.logins = logins;
    Web *w = web_run(&plan, err);
    progress_wipe();
    bool ok = w && report_web(s, &plan, w, err);
    web_free(w);
    for (size_t i = 0; i < plan.nlogins; i++) {
        free(logins[i].user);
        free(logins[i].password);
    }
    tempdir_remove(plan.folder);
    return ok;
}

const Command technique_web = {
    .name = "web",
    .args = "FOLDER",
    .summary = "requests that make a PHP application fail",
    .about = "Runs a PHP application request by request, on a private copy. Each run\n"
             "tells which conditions on its parameters were decided how; the other way\n"
             "is solved for and tried. Links and forms of a page are followed in the\n"
             "state that the page left behind: files, SQLite databases, sessions and\n"
             "cookies.\n"
             "\n"
             "With --serve nothing is tried: the application is on 127.0.0.1 for your\n"
             "browser, on its private copy, and each request is recorded and judged. Use\n"
             "one browser. Ctrl-C ends the clicking; then the faults are made small.\n"
             "\n"
             "With --cgi the application is programs under CGI, in C say. Sundew sees the\n"
             "text that they compare their parameters with, and solves for that; the rest\n"
             "is links, forms and values of its own. Build them with sanitizers.\n"
             "\n"
             "Reported are fatal errors, uncaught exceptions, warnings, broken HTML,\n"
             "and what hostile values do. Each fault comes with the smallest condition\n"
             "and chain of requests that show it, as a curl script and a PHPUnit test.\n"
             "\n"
             "The application's folder is only read. PHP runs in a sandbox, without\n"
             "network, mail and shell; its clock and randomness are fixed. --time is\n"
             "the budget; a part of it makes the faults small.",
    .examples = "sundew web shop --time 2m\n"
                "sundew web shop --entry login.php --login alice:secret\n"
                "sundew web shop --db sqlite:test.db --strategy random\n"
                "sundew web --serve shop\n"
                "sundew web --replay 3\n",
    .options = options,
    .rules = rules,
    .needs = NEEDS_STORE,
    .budget = true,
    .plan = web_plan,
    .run = run,
};
