/* A table, filled with a prepared statement, asked and changed. */
#include <sqlite3.h>
#include <stdio.h>

static void ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s;

    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) {
        printf("%s\n", sqlite3_errmsg(db));
        return;
    }
    while (sqlite3_step(s) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(s); i++)
            printf("%s=%s%c", sqlite3_column_name(s, i), sqlite3_column_text(s, i),
                   i + 1 < sqlite3_column_count(s) ? ' ' : '\n');
    sqlite3_finalize(s);
}

int main(void)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    char *message = NULL;

    sqlite3_open(":memory:", &db);
    sqlite3_exec(db, "create table people (id integer primary key, name text, age int)", NULL,
                 NULL, &message);
    sqlite3_prepare_v2(db, "insert into people (name, age) values (?, ?)", -1, &s, NULL);
    static const char *const names[] = { "Ann", "Bob", "Carla" };
    for (int i = 0; i < 3; i++) {
        sqlite3_bind_text(s, 1, names[i], -1, SQLITE_STATIC);
        sqlite3_bind_int(s, 2, 20 + 5 * i);
        sqlite3_step(s);
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    printf("%lld rows, last %lld\n", (long long)sqlite3_total_changes(db),
           (long long)sqlite3_last_insert_rowid(db));
    ask(db, "select name, age from people where age > 20 order by name desc");
    ask(db, "select count(*), avg(age) from people");
    ask(db, "select nothing from nowhere");
    sqlite3_exec(db, "begin; update people set age = age + 1; commit", NULL, NULL, NULL);
    sqlite3_exec(db, "delete from people where id = 2", NULL, NULL, NULL);
    printf("%d changed\n", sqlite3_changes(db));
    ask(db, "select name, upper(name) || '!' from people");
    sqlite3_close(db);
    return 0;
}
