#include "table.h"
#include <stdio.h>

int main(void)
{
    Table *table = table_new();
    table_add(table, 3);
    table_add(table, 4);
    Row *first = table_row(table, 0);
    row_set(first, 5);
    printf("%d\n", row_number(first));
    table_drop(table, 0);
    Row *other = table_row(table, 0);
    row_set(other, 7);
    table_drop(table, 0);
    printf("%d\n", table_size(table));
    table_free(table);
    return 0;
}
