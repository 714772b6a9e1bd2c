/*
 * files COMMAND: modules over stdio, SQLite and locks; each command is a run that goes
 * well, or one that breaks the rules of an API. FIXED: none does.
 */
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- c: a stream that is closed twice */

struct log {
    FILE *f;
};

static void log_open(struct log *l, const char *path) { l->f = fopen(path, "w"); }

static void log_put(struct log *l, const char *text)
{
    if (l->f)
        fputs(text, l->f);
}

static void log_close(struct log *l)
{
#ifdef FIXED
    if (!l->f)
        return;
#endif
    fclose(l->f);
#ifdef FIXED
    l->f = NULL;
#endif
}

/* ---- f: a file that is not there */

static int read_config(const char *path)
{
    char line[80];
    FILE *f = fopen(path, "r");
    if (!f)
        return -1;
    while (fgets(line, sizeof line, f))
        ;
    fclose(f);
    return 0;
}

/* Does not ask whether there is a file. */
static int read_first(const char *path)
{
    FILE *f = fopen(path, "r");
#ifdef FIXED
    if (!f)
        return -1;
#endif
    int c = fgetc(f);
    fclose(f);
    return c;
}

/* ---- unfinished: one path forgets the stream */

static int count_lines(const char *path)
{
    char line[80];
    int n = 0;
    FILE *f = fopen(path, "r");
    if (!f)
        return -1;
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '!') {
#ifdef FIXED
            fclose(f);
#endif
            return -1;
        }
        n++;
    }
    fclose(f);
    return n;
}

/* ---- b and d: statements */

struct table {
    sqlite3 *db;
    sqlite3_stmt *get;
};

static void table_open(struct table *t)
{
    sqlite3_open(":memory:", &t->db);
    sqlite3_exec(t->db, "create table t(x); insert into t values(1); insert into t values(2);", 0, 0,
                 0);
    sqlite3_prepare_v2(t->db, "select x from t where x >= ?", -1, &t->get, 0);
}

static void table_clear(struct table *t)
{
    sqlite3_finalize(t->get);
#ifdef FIXED
    t->get = NULL;
#endif
}

static int table_fetch(struct table *t)
{
#ifdef FIXED
    if (!t->get)
        return -1;
#endif
    return sqlite3_step(t->get) == SQLITE_ROW ? sqlite3_column_int(t->get, 0) : -1;
}

static void table_put(struct table *t, int x)
{
#ifdef FIXED
    sqlite3_reset(t->get);
#endif
    sqlite3_bind_int(t->get, 1, x);
}

/* The same, and the caller hears of it. */
static int table_try(struct table *t, int x) { return sqlite3_bind_int(t->get, 1, x); }

static void table_close(struct table *t)
{
    if (t->get)
        sqlite3_finalize(t->get);
    sqlite3_close(t->db);
}

static void table_good(void)
{
    struct table t = { 0 };
    table_open(&t);
    sqlite3_bind_int(t.get, 1, 1);
    while (table_fetch(&t) >= 0)
        ;
    sqlite3_reset(t.get);
    sqlite3_bind_int(t.get, 1, 2);
    table_fetch(&t);
    sqlite3_reset(t.get);
    table_close(&t);
}

/* ---- locks */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void add(int n)
{
    pthread_mutex_lock(&lock);
    counter += n;
    pthread_mutex_unlock(&lock);
}

static void add_twice(int n)
{
    pthread_mutex_lock(&lock);
    counter += n;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    pthread_mutex_lock(&lock);
    counter += n;
    pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    struct table t = { 0 };
    struct log l = { 0 };
    if (!strcmp(what, "log")) {
        log_open(&l, "log.out");
        log_put(&l, "x\n");
        log_close(&l);
    } else if (!strcmp(what, "log-twice")) {
        log_open(&l, "log.out");
        log_put(&l, "x\n");
        log_close(&l);
        log_close(&l);
    } else if (!strcmp(what, "config")) {
        read_config(argv[2]);
    } else if (!strcmp(what, "first")) {
        read_first(argv[2]);
    } else if (!strcmp(what, "count")) {
        for (int i = 2; i < argc; i++)
            printf("%d\n", count_lines(argv[i]));
    } else if (!strcmp(what, "table")) {
        table_good();
    } else if (!strcmp(what, "cleared")) {
        table_open(&t);
        table_put(&t, 1);
        table_fetch(&t);
        table_clear(&t);
        table_fetch(&t);
    } else if (!strcmp(what, "put")) {
        table_open(&t);
        table_put(&t, 1);
        table_fetch(&t);
        table_put(&t, 2);
        table_close(&t);
    } else if (!strcmp(what, "try")) {
        table_open(&t);
        table_try(&t, 1);
        table_fetch(&t);
        table_try(&t, 2);
        table_close(&t);
    } else if (!strcmp(what, "killed")) {
        log_open(&l, "log.out");
        raise(SIGKILL);
    } else if (!strcmp(what, "locks")) {
        add(1);
        add(2);
    } else if (!strcmp(what, "locked")) {
        add_twice(1);
    }
    return 0;
}
