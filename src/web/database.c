/* The private MariaDB server; database.h is the manual. Statements go through
 * one mariadb client that stays, over a pipe: each ends with a row that we made
 * up, and we read until it comes.
 *
 * The application may tell the server anything, and it could write logs and tables
 * wherever its user can, and load code: so the server is confined to its folder, has no network, and looks for
 * libraries where there are none. The application may also put a
 * socket of its own in the server's place: so the client hands no files out. A file with statements
 * may hold commands for the client, which would run with the user's rights: so it takes none. */
#include "web/database.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/units.h"
#include "run/confine.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SAID = 1 << 20 };  /* in answer to one statement of ours */
static const uint64_t MOST_MEMORY = 4ull << 30;

struct Database {
    char *folder, *data, *socket, *log;
    pid_t server, client;
    int to, from;              /* the client's standard input and output */
    unsigned asked;
};

const char *database_missing(void)
{
    char *server = path_search("mariadbd", NULL);
    if (!server && file_exists("/usr/sbin/mariadbd"))
        server = xstrdup("/usr/sbin/mariadbd");
    char *client = path_search("mariadb", NULL);
    bool there = server && client;
    free(server);
    free(client);
    return there ? NULL : "--db mysql needs MariaDB: run tools/install-deps web";
}

/* ---- the server */

/* Root's server is another user's. The application, which is in our group, may pass through its
 * folder to the socket; other users of the machine may not. */
static bool give_to_mysql(const char *path)
{
    const struct passwd *p = geteuid() == 0 ? getpwnam("mysql") : NULL;
    return !p || (chown(path, p->pw_uid, getegid()) == 0 && chmod(path, 0710) == 0);
}

/* The way to the folder must be open for the server's user. */
static void open_way(const char *folder)
{
    if (geteuid() == 0)
        chmod(folder, 0711);
}

static bool wait_for_socket(Database *d, Err *err)
{
    double end = clock_seconds() + 60;
    while (clock_seconds() < end) {
        struct stat info;
        if (stat(d->socket, &info) == 0 && S_ISSOCK(info.st_mode))
            return true;
        if (waitpid(d->server, NULL, WNOHANG) == d->server) {
            d->server = 0;
            break;
        }
        usleep(50000);
    }
    Str said = { 0 };
    file_read_left(d->log, MOST_SAID, &said, NULL);
    size_t n = said.len > 300 ? said.len - 300 : 0;
    err_set(err, "MariaDB does not start: %s", str_c(&said) + n);
    str_release(&said);
    return false;
}

/* What the child needs before it executes. */
typedef struct Entry {
    char *folder;
    int log;
} Entry;

static bool enter(void *arg)
{
    const Entry *e = arg;
    return dup2(e->log, 1) == 1 && dup2(e->log, 2) == 2 && confine(e->folder);
}

/* A new file: the application may have left a pipe or a link in its place. */
static int open_log(const char *path)
{
    unlink(path);
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static bool start_server(Database *d, Err *err)
{
    Entry entry = { d->folder, open_log(d->log) };
    if (entry.log < 0)
        return err_errno(err, "%s", d->log);
    const char *file = file_exists("/usr/sbin/mariadbd") ? "/usr/sbin/mariadbd" : "mariadbd";
    Strings argv = { 0 };
    strings_add(&argv, file);
    strings_add(&argv, "--no-defaults");
    if (geteuid() == 0)
        strings_add(&argv, "--user=mysql");
    strings_addf(&argv, "--datadir=%s", d->data);
    strings_addf(&argv, "--socket=%s", d->socket);
    strings_addf(&argv, "--pid-file=%s/db/pid", d->folder);
    strings_addf(&argv, "--tmpdir=%s", d->data);
    strings_addf(&argv, "--secure-file-priv=%s", d->data);
    static const char *const fixed[] = {
        "--skip-networking",
        "--plugin-dir=/dev/null",
        "--skip-grant-tables",
        "--skip-innodb",
        "--default-storage-engine=MyISAM",
        "--sql-mode=STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO",
        "--skip-log-bin",
        "--flush-time=0",
        "--max-connections=50",
        "--key-buffer-size=8M",
        "--skip-external-locking",
        "--skip-symbolic-links",
        "--skip-local-infile",
    };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        strings_add(&argv, fixed[i]);
    unlink(d->socket);
    Proc p = { .argv = strings_argv(&argv),
               .in = "/dev/null",
               .enter = enter,
               .enter_arg = &entry,
               .memory = MOST_MEMORY,
               .death_signal = SIGKILL };
    d->server = proc_start(&p, err);
    close(entry.log);
    strings_release(&argv);
    return d->server > 0 && wait_for_socket(d, err);
}

/* ---- the client */

static void close_client(Database *d)
{
    if (d->to >= 0)
        close(d->to);
    if (d->from >= 0)
        close(d->from);
    d->to = d->from = -1;
    if (d->client > 0) {
        kill(d->client, SIGKILL);
        waitpid(d->client, NULL, 0);
    }
    d->client = 0;
}

static bool start_client(Database *d, Err *err)
{
    int in[2], out[2];
    char *socket = xprintf("--socket=%s", d->socket);
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
        free(socket);
        return err_errno(err, "pipe");
    }
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(in[0], 0);
        dup2(out[1], 1);
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 2);
        execlp("mariadb", "mariadb", "--no-defaults", socket, "--unbuffered", "--batch", "--force",
               "--skip-column-names", "--local-infile=0", "--binary-mode", (char *)NULL);
        _exit(127);
    }
    free(socket);
    close(in[0]);
    close(out[1]);
    d->to = in[1];
    d->from = out[0];
    d->client = pid;
    return pid > 0 || err_errno(err, "fork");
}

/* The application may have told it to end. */
static bool server_is_gone(Database *d)
{
    if (d->server > 0 && waitpid(d->server, NULL, WNOHANG) == d->server)
        d->server = 0;
    return d->server <= 0;
}

/* Runs a statement; true when the row behind it came back. */
static bool say(Database *d, const char *statement)
{
    char mark[64], room[4096];
    snprintf(mark, sizeof mark, "sundew-%u\n", ++d->asked);
    char *text = xprintf("%s;\nSELECT 'sundew-%u';\n", statement, d->asked);
    bool ok = d->to >= 0 && file_write_fd(d->to, text, strlen(text), NULL);
    free(text);
    Str got = { 0 };
    double end = clock_seconds() + 20;
    while (ok && !strstr(str_c(&got), mark)) {
        struct pollfd p = { .fd = d->from, .events = POLLIN };
        while (ok && poll(&p, 1, 100) <= 0)
            ok = clock_seconds() < end && !server_is_gone(d);
        ssize_t n = ok ? read(d->from, room, sizeof room) : 0;
        ok = n > 0 && got.len < MOST_SAID;
        if (ok)
            str_addn(&got, room, (size_t)n);
    }
    str_release(&got);
    return ok;
}

/* ---- together */

static bool start_both(Database *d, Err *err)
{
    return start_server(d, err) && start_client(d, err) &&
           (say(d, "SELECT 1") || err_set(err, "MariaDB does not answer"));
}

Database *database_start(const char *folder, Err *err)
{
    Database *d = xcalloc(1, sizeof *d);
    d->to = d->from = -1;
    d->folder = xstrdup(folder);
    d->data = xprintf("%s/db/data", folder);
    d->socket = xprintf("%s/db/socket", folder);
    d->log = xprintf("%s/db/log", folder);
    char *db = xprintf("%s/db", folder);
    const char *missing = database_missing();
    bool ok = !missing || err_set(err, "%s", missing);
    ok = ok && dir_make(d->data, err);
    open_way(folder);
    ok = ok && ((give_to_mysql(db) && give_to_mysql(d->data)) || err_errno(err, "%s", db)) &&
         start_both(d, err);
    free(db);
    if (!ok) {
        database_stop(d);
        return NULL;
    }
    return d;
}

void database_stop(Database *d)
{
    if (!d)
        return;
    signal(SIGPIPE, SIG_IGN);
    close_client(d);
    if (d->server > 0) {
        kill(d->server, SIGKILL);
        waitpid(d->server, NULL, 0);
    }
    free(d->folder);
    free(d->data);
    free(d->socket);
    free(d->log);
    free(d);
}

bool database_load(Database *d, const char *sql_file, const char *name, Err *err)
{
    for (const char *c = name; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", *c))
            return err_set(err, "%s: no name for a database", name);
    char *make = xprintf("CREATE DATABASE IF NOT EXISTS `%s`", name);
    bool ok = say(d, make);
    free(make);
    if (!ok)
        return err_set(err, "MariaDB refuses the database %s", name);
    char *socket = xprintf("--socket=%s", d->socket);
    char *argv[] = { "mariadb",          "--no-defaults", socket,       "--force",
                     "--local-infile=0", "--binary-mode", (char *)name, NULL };
    Proc p = { .argv = argv, .in = sql_file, .capture = true, .seconds = 120 };
    ProcResult r = { 0 };
    ok = proc_run(&p, &r, err);
    if (ok && r.status != 0)
        ok = err_set(err, "%s: %.300s", sql_file, str_c(&r.err));
    proc_result_release(&r);
    free(socket);
    return ok && database_flush(d, err);
}

bool database_flush(Database *d, Err *err)
{
    signal(SIGPIPE, SIG_IGN);
    if (say(d, "FLUSH TABLES"))
        return true;
    close_client(d);
    if (d->server > 0) {
        kill(d->server, SIGKILL);
        waitpid(d->server, NULL, 0);
    }
    return start_both(d, err) &&
           (say(d, "FLUSH TABLES") || err_set(err, "MariaDB does not answer"));
}
