#include "tiny.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TABLES = 8 };
enum verb { CREATE, INSERT, DROP };

struct driver { int connections; };
struct table { char name[32]; int rows; };
struct conn {
    struct driver *driver;
    struct table tables[MOST_TABLES];
    int ntables, open;
    char error[80];
};
struct command { enum verb verb; char table[32]; };
struct stmt { struct conn *conn; struct command *command; int executed; };

struct driver *driver_new(void) { return calloc(1, sizeof(struct driver)); }

void driver_free(struct driver *d)
{
    if (d->connections)
        abort();                         /* a connection is still open */
    free(d);
}

struct conn *driver_connect(struct driver *d, const char *url, const char *user)
{
    if (strcmp(url, "mem:tiny") != 0 || user)
        return NULL;
    struct conn *c = calloc(1, sizeof *c);
    c->driver = d;
    d->connections++;
    return c;
}

int conn_tables(const struct conn *c) { return c->ntables; }
const char *conn_error(const struct conn *c) { return c->error; }

void conn_close(struct conn *c)
{
    if (c->open)
        abort();                         /* a statement is still open */
    c->driver->connections--;
    free(c);
}

struct stmt *stmt_new(struct conn *c)
{
    struct stmt *s = calloc(1, sizeof *s);
    s->conn = c;
    c->open++;
    return s;
}

struct stmt *conn_statement(struct conn *c) { return stmt_new(c); }

static struct table *find(struct conn *c, const char *name)
{
    for (int i = 0; i < c->ntables; i++)
        if (strcmp(c->tables[i].name, name) == 0)
            return &c->tables[i];
    return NULL;
}

static int fail(struct conn *c, const char *what, const char *name)
{
    snprintf(c->error, sizeof c->error, "%s %s", what, name);
    return -1;
}

/* These look at the statement and leave it as it is. */
static struct command *new_command(const struct stmt *s, enum verb v)
{
    struct command *k = s->conn ? calloc(1, sizeof *k) : NULL;
    if (k)
        k->verb = v;
    return k;
}

static struct command *drop_table(const struct stmt *s) { return new_command(s, DROP); }
static struct command *create_table(const struct stmt *s) { return new_command(s, CREATE); }
static struct command *insert_into(const struct stmt *s) { return new_command(s, INSERT); }

struct command *tiny_parse(struct stmt *s, const char *sql)
{
    static const struct { const char *words; struct command *(*make)(const struct stmt *); }
    verbs[] = {
        { "drop table ", drop_table }, { "create table ", create_table },
        { "insert into ", insert_into },
    };
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(verbs[i].words);
        if (strncmp(sql, verbs[i].words, n) != 0)
            continue;
        struct command *k = verbs[i].make(s);
        sscanf(sql + n, "%31[a-z]", k->table);
        free(s->command);
        s->command = k;
        return k;
    }
    fail(s->conn, "syntax", sql);
    return NULL;
}

static int stmt_set(struct stmt *s)
{
    struct conn *c = s->conn;
    struct command *k = s->command;
    struct table *t = find(c, k->table);

    s->executed++;
    if (k->verb == CREATE) {
        if (t || c->ntables == MOST_TABLES)
            return fail(c, "cannot create", k->table);
        t = &c->tables[c->ntables++];
        t->rows = 0;
        strcpy(t->name, k->table);
        return 0;
    }
    if (!t)
        return fail(c, "no table", k->table);
    if (k->verb == INSERT)
        return ++t->rows, 0;
    *t = c->tables[--c->ntables];
    return 0;
}

int stmt_execute(struct stmt *s, const char *sql)
{
    return tiny_parse(s, sql) ? stmt_set(s) : -1;
}

int stmt_update(struct stmt *s, const char *sql)
{
    if (!tiny_parse(s, sql) || stmt_set(s) < 0)
        return -1;
    struct table *t = find(s->conn, s->command->table);
    return t ? t->rows : 0;
}

void stmt_close(struct stmt *s)
{
    s->conn->open--;
    free(s->command);
    free(s);
}
