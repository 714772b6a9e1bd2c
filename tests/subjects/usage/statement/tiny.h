/* tiny - a database with three commands: driver, connection, statement. */
#ifndef TINY_H
#define TINY_H

struct driver;
struct conn;
struct stmt;
struct command;

struct driver *driver_new(void);
void driver_free(struct driver *d);

/* The url is "mem:tiny"; all else gives NULL. The driver must stay. */
struct conn *driver_connect(struct driver *d, const char *url, const char *user);
int conn_tables(const struct conn *c);
const char *conn_error(const struct conn *c);
void conn_close(struct conn *c);

struct stmt *conn_statement(struct conn *c);
struct stmt *stmt_new(struct conn *c);
/* 0, or -1 with conn_error(). */
int stmt_execute(struct stmt *s, const char *sql);
int stmt_update(struct stmt *s, const char *sql);       /* rows, or -1 */
struct command *tiny_parse(struct stmt *s, const char *sql);
void stmt_close(struct stmt *s);
#endif
