#include "finding/db.h"
#include "base/escape.h"
#include "base/fault.h"
#include "base/file.h"
#include "base/mem.h"
#include <assert.h>
#include <unistd.h>

enum { BUSY_MS = 30000 };

/* What a failure means for the person who sees it. */
/* clang-format off */
static const struct {
    int code;
    const char *says;
} meanings[] = {
    { SQLITE_NOTADB,   "the file is no database, or damaged: move it away and "
                       "run the techniques again" },
    { SQLITE_CORRUPT,  "the file is damaged: move it away and run the "
                       "techniques again" },
    { SQLITE_READONLY, "it can't be written: see who owns the file and its "
                       "folder" },
    { SQLITE_PERM,     "no permission: see who owns the file and its folder" },
    { SQLITE_CANTOPEN, "it can't be opened: see that its folder is there and "
                       "can be written" },
    { SQLITE_FULL,     "the disk is full: make room and run this again" },
    { SQLITE_IOERR,    "reading or writing failed: is the disk full or gone?" },
    { SQLITE_BUSY,     "another process has kept it locked for 30 s: wait for "
                       "it, or end it" },
    { SQLITE_NOMEM,    "out of memory" },
};
/* clang-format on */

static bool fail(sqlite3 *db, int code, Err *err)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if ((code & 0xff) == meanings[i].code)
            return err_set(err, "%s", meanings[i].says);
    return err_set(err, "%s", sqlite3_errmsg(db));
}

bool db_exec(sqlite3 *db, const char *sql, Err *err)
{
    int code = fault_hits() ? SQLITE_FULL : sqlite3_exec(db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK || fail(db, code, err);
}

sqlite3_stmt *db_prepare(sqlite3 *db, const char *sql, Err *err)
{
    sqlite3_stmt *q = NULL;
    int code = fault_hits() ? SQLITE_IOERR : sqlite3_prepare_v2(db, sql, -1, &q, NULL);
    if (code != SQLITE_OK)
        fail(db, code, err);
    return q;
}

/* A failed bind (no memory) shows as a failed step: SQLite remembers it. */
void db_bind(sqlite3_stmt *q, int i, const char *text)
{
    sqlite3_bind_text(q, i, text, -1, SQLITE_STATIC);
}

void db_bind_blob(sqlite3_stmt *q, int i, const void *data, size_t n)
{
    sqlite3_bind_blob64(q, i, n ? data : "", n, SQLITE_STATIC);
}

int db_step(sqlite3_stmt *q, Err *err)
{
    int code = fault_hits() ? SQLITE_FULL : sqlite3_step(q);
    if (code == SQLITE_ROW)
        return DB_ROW;
    if (code == SQLITE_DONE)
        return DB_DONE;
    fail(sqlite3_db_handle(q), code, err);
    return DB_FAILED;
}

bool db_run(sqlite3_stmt *q, Err *err)
{
    int row = db_step(q, err);
    assert(row != DB_ROW);             /* that is db_step()'s */
    sqlite3_reset(q);
    return row == DB_DONE;
}

/* A pragma's or query's single number. */
static bool number(sqlite3 *db, const char *sql, int *n, Err *err)
{
    sqlite3_stmt *q = db_prepare(db, sql, err);
    int row = q ? db_step(q, err) : DB_FAILED;
    if (row == DB_ROW)
        *n = sqlite3_column_int(q, 0);
    sqlite3_finalize(q);
    return row != DB_FAILED;
}

static bool is_ours(sqlite3 *db, int version, Err *err)
{
    int id = 0, tables = 0;
    if (!number(db, "PRAGMA application_id", &id, err) ||
        !number(db, "SELECT count(*) FROM sqlite_master", &tables, err))
        return false;
    if (version < 0 || (version == 0 ? tables > 0 : id != DB_APPLICATION_ID))
        return err_set(err, "this database is not a store of Sundew's: move it "
                            "away, or use another workspace (-w)");
    return true;
}

/* Reads the version; false if it can't be used, *done if it is the newest. */
static bool examine(sqlite3 *db, int newest, int *version, Err *err)
{
    if (!number(db, "PRAGMA user_version", version, err) || !is_ours(db, *version, err))
        return false;
    if (*version > newest)
        return err_set(err,
                       "written by a newer Sundew (schema %d, this one "
                       "knows %d): update Sundew, or use another "
                       "workspace (-w)",
                       *version, newest);
    return true;
}

static bool apply_steps(sqlite3 *db, const char *const *steps, int newest, Err *err)
{
    int version = 0;
    /* Again, now that nobody else can write: another process may have done it. */
    assert(!sqlite3_get_autocommit(db));       /* all steps or none */
    if (!examine(db, newest, &version, err))
        return false;
    assert(version >= 0);
    for (; version < newest; version++)
        if (!db_exec(db, steps[version], err))
            return err_ctx(err, "schema %d", version + 1);
    char end[100];
    sqlite3_snprintf(sizeof end, end, "PRAGMA application_id = %d; PRAGMA user_version = %d",
                     DB_APPLICATION_ID, newest);
    return db_exec(db, end, err) && db_exec(db, "COMMIT", err);
}

bool db_migrate(sqlite3 *db, const char *const *steps, Err *err)
{
    int newest = 0, version = 0;
    while (steps[newest])
        newest++;
    if (!examine(db, newest, &version, err))
        return false;
    if (version == newest)
        return true;
    if (sqlite3_db_readonly(db, "main") == 1)
        return err_set(err, "written by an older Sundew, and it can't be "
                            "written here to bring it up to date");
    if (!db_exec(db, "BEGIN IMMEDIATE", err))
        return false;
    if (apply_steps(db, steps, newest, err))
        return true;
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

/* A file that is there and that we may only read. What other processes have
 * not yet brought from the log into the file could not be seen, so then it is
 * an error. */
static bool only_readable(const char *path)
{
    char *dir = path_dir(path);
    char *log = xprintf("%s-wal", path);
    bool yes = file_exists(path) && file_size(log) <= 0 &&
               (access(path, W_OK) != 0 || access(dir, W_OK) != 0);
    free(dir);
    free(log);
    return yes;
}

static int open_file(const char *path, bool readonly, sqlite3 **db)
{
    if (!readonly)
        return sqlite3_open_v2(path, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    Str uri = { 0 };
    str_add(&uri, "file:");
    escape_uri(&uri, path);
    str_add(&uri, "?immutable=1");
    int code = sqlite3_open_v2(str_c(&uri), db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    str_release(&uri);
    return code;
}

/* Changing the mode needs the file for oneself, and SQLite does not wait for
 * that. */
static bool use_log(sqlite3 *db, Err *err)
{
    int code;
    for (int waited = 0;; waited += 20) {
        code = fault_hits() ? SQLITE_IOERR
                            : sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        if ((code & 0xff) != SQLITE_BUSY || waited >= BUSY_MS)
            break;
        usleep(20000);
    }
    return code == SQLITE_OK || fail(db, code, err);
}

static sqlite3 *open_as(const char *path, bool readonly, Err *err)
{
    sqlite3 *db = NULL;
    int code = fault_hits() ? SQLITE_CANTOPEN : open_file(path, readonly, &db);
    if (code != SQLITE_OK)
        fail(db, code, err);
    else {
        sqlite3_busy_timeout(db, BUSY_MS);
        if ((readonly || use_log(db, err)) && db_exec(db,
                                                      "PRAGMA foreign_keys = ON;"
                                                      "PRAGMA trusted_schema = OFF;"
                                                      "PRAGMA synchronous = NORMAL",
                                                      err))
            return db;
    }
    sqlite3_close(db);
    return NULL;
}

/* On a full disk not even the log can be made; what is in the file can be read all the
 * same. */
static bool can_be_read(const char *path)
{
    char *log = xprintf("%s-wal", path);
    bool yes = file_size(path) > 0 && file_size(log) <= 0 && access(path, R_OK) == 0;
    free(log);
    return yes;
}

sqlite3 *db_open(const char *path, bool *readonly, Err *err)
{
    Err first = { 0 };
    *readonly = only_readable(path);
    sqlite3 *db = open_as(path, *readonly, &first);
    if (!db && !*readonly && can_be_read(path)) {
        db = open_as(path, true, NULL);
        *readonly = db != NULL;
    }
    if (!db)
        err_set(err, "%s", first.msg);
    return db;
}
