/* A table and its rows, which belong to it: a row is good until it is dropped. */
typedef struct Table Table;
typedef struct Row Row;
Table *table_new(void);
void table_free(Table *table);
int table_add(Table *table, int number);
int table_drop(Table *table, int at);
int table_size(const Table *table);
Row *table_row(const Table *table, int at);
int row_number(const Row *row);
void row_set(Row *row, int number);
