#include "table.h"
#include <stdlib.h>
#include <string.h>

struct Row { Row *self; int number; };
struct Table { Row *rows[16]; int n; };

Table *table_new(void) { return calloc(1, sizeof(Table)); }

void table_free(Table *table)
{
    for (int i = 0; table && i < table->n; i++)
        free(table->rows[i]);
    free(table);
}

int table_add(Table *table, int number)
{
    if (!table || table->n == 16 || !(table->rows[table->n] = malloc(sizeof(Row))))
        return -1;
    *table->rows[table->n] = (Row){ table->rows[table->n], number };
    return table->n++;
}

int table_drop(Table *table, int at)
{
    if (!table || at < 0 || at >= table->n)
        return -1;
    table->rows[at]->self = NULL;
    free(table->rows[at]);
    table->n--;
    memmove(table->rows + at, table->rows + at + 1, (size_t)(table->n - at) * sizeof *table->rows);
    return table->n;
}

int table_size(const Table *table) { return table ? table->n : 0; }

Row *table_row(const Table *table, int at)
{
    return table && at >= 0 && at < table->n ? table->rows[at] : NULL;
}

static Row *check(const Row *row)
{
    if (row->self != row)
        abort();                 /* it is not there any more */
    return row->self;
}

int row_number(const Row *row) { return row ? check(row)->number : 0; }

void row_set(Row *row, int number)
{
    if (row)
        check(row)->number = number;
#ifdef BUG
    if (row && number == 7)
        row[1].self = NULL;      /* one too far; malloc() has room for it */
#endif
}
