/*
 * database - a MariaDB server of our own, for applications that want MySQL.
 *
 * Started in folder/db with a socket there and no port, without privileges (as
 * the user mysql, if we are root), and without passwords: whatever user and
 * host the application names is let in. All tables are MyISAM, also those that
 * ask for another engine: a table is then two files, and the state of a
 * database is a state of files (state.h), once the server was told to close them.
 *
 *     Database *d = database_start(folder, err);
 *     database_load(d, "app.sql", "shop", err);
 *     … requests …
 *     database_flush(d, err);        before its files are read or replaced
 *     database_stop(d);
 *
 * Transactions and foreign keys therefore do nothing here.
 */
#ifndef SUNDEW_WEB_DATABASE_H
#define SUNDEW_WEB_DATABASE_H
#include "base/err.h"
#include <stdbool.h>

typedef struct Database Database;

const char *database_missing(void);     /* NULL: MariaDB is installed */
Database *database_start(const char *folder, Err *err);
void database_stop(Database *d);        /* NULL is fine */
/* Makes the database `name` and runs the statements of a file in it. */
bool database_load(Database *d, const char *sql_file, const char *name, Err *err);
/* All tables are on disk and closed. A server that died is started again. */
bool database_flush(Database *d, Err *err);
#endif
