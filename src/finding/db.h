/*
 * db - the few things we ask of SQLite, with errors that say what to do.
 *
 *     sqlite3_stmt *q = db_prepare(db, "SELECT a FROM t WHERE b = ?", err);
 *     if (q) {
 *         db_bind(q, 1, text);                    values are bound, always
 *         int row;
 *         while ((row = db_step(q, err)) == DB_ROW) …
 *     }
 *     sqlite3_finalize(q);
 *
 * Each asks fault_hits() once, so that a test can make it fail.
 */
#ifndef SUNDEW_DB_H
#define SUNDEW_DB_H
#include "base/err.h"
#include <sqlite3.h>
#include <stddef.h>

enum { DB_DONE, DB_ROW, DB_FAILED };

/* Read-write in WAL mode, made if it is not there; read-only where the file or
 * its folder can't be written (*readonly says so). */
sqlite3 *db_open(const char *path, bool *readonly, Err *err);

/*
 * Brings the schema to the newest version. steps[v] takes version v to v + 1;
 * the list ends with NULL. All in one transaction, so that a kill or a full
 * disk leaves the version that was there. A newer version, and a database that
 * is not ours, are refused.
 */
#define DB_APPLICATION_ID 0x53756e64 /* "Sund" */
bool db_migrate(sqlite3 *db, const char *const *steps, Err *err);

bool db_exec(sqlite3 *db, const char *sql, Err *err);
sqlite3_stmt *db_prepare(sqlite3 *db, const char *sql, Err *err);
void db_bind(sqlite3_stmt *q, int i, const char *text);     /* NULL is NULL */
void db_bind_blob(sqlite3_stmt *q, int i, const void *data, size_t n);
int db_step(sqlite3_stmt *q, Err *err);
/* Runs what gives no rows, and makes it ready for other values. */
bool db_run(sqlite3_stmt *q, Err *err);
#endif
