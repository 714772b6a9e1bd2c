/* A module that uses bag.h inside. */
struct shelf;
struct shelf *shelf_new(void);
void shelf_free(struct shelf *s);
void shelf_fill(struct shelf *s, int x);
int shelf_report(struct shelf *s);
int shelf_top(struct shelf *s);
void shelf_page(struct shelf *s, int x);
int shelf_current(struct shelf *s);
void shelf_begin(struct shelf *s);
int shelf_next(struct shelf *s);
void shelf_flush(struct shelf *s);
int shelf_foreign(void);
void shelf_away(struct shelf *s);
