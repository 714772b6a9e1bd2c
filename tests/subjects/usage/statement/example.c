/* The client of the example: two statements, each used its own way. */
#include "tiny.h"
#include <stdio.h>

int main(void)
{
    struct driver *d = driver_new();
    struct conn *c = driver_connect(d, "mem:tiny", NULL);
    struct stmt *s2 = conn_statement(c);
    stmt_execute(s2, "create table test (name char(25), id int)");
    stmt_update(s2, "insert into test (name, id) values ('Bob', 1)");
    stmt_close(s2);
    struct stmt *s1 = conn_statement(c);
    stmt_execute(s1, "drop table test");
    stmt_close(s1);
    printf("%d tables\n", conn_tables(c));
    conn_close(c);
    driver_free(d);
    return 0;
}
