#include "table.h"
#include <sqlite3.h>
#include <stdlib.h>

struct table {
    sqlite3 *db;
    sqlite3_stmt *all;
};

struct table *table_new(void)
{
    struct table *t = calloc(1, sizeof *t);
    sqlite3_open(":memory:", &t->db);
    sqlite3_exec(t->db, "create table t(x)", NULL, NULL, NULL);
    sqlite3_prepare_v2(t->db, "select x from t", -1, &t->all, NULL);
    return t;
}

void table_put(struct table *t, int x)
{
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(t->db, "insert into t values(?)", -1, &s, NULL) != SQLITE_OK)
        return;
    sqlite3_bind_int(s, 1, x);
    sqlite3_step(s);
    sqlite3_finalize(s);
}

int table_fetch(struct table *t)
{
#ifdef FIXED
    if (!t->all)
        return -1;
#endif
    int x = sqlite3_step(t->all) == SQLITE_ROW ? sqlite3_column_int(t->all, 0) : -1;
    return x;
}

void table_clear(struct table *t)
{
    sqlite3_finalize(t->all);
#ifdef FIXED
    t->all = NULL;
#endif
}

void table_free(struct table *t)
{
#ifdef FIXED
    if (t->all)
        sqlite3_finalize(t->all);
#endif
    sqlite3_close_v2(t->db);
    free(t);
}
