/* A module over SQLite. */
struct table;
struct table *table_new(void);
void table_put(struct table *t, int x);
int table_fetch(struct table *t);
void table_clear(struct table *t);
void table_free(struct table *t);
